package parser

import (
	"encoding/json"
	"path"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxFixed is how much text is read again to see what fixes do to it. The fixes that come after it are left out: another
// check offers them.
const maxFixed = 8 * yamlnode.MaxBytes

// SoundFixes is a list without the fixes after which a file would not be readable in its own format: JSON stays JSON, and
// YAML becomes no less readable than it is.
func SoundFixes(list []diag.Diagnostic) []diag.Diagnostic {
	read := 0
	out := slices.Clone(list)
	for i, d := range out {
		if len(d.Fixes) == 0 {
			continue
		}
		out[i].Fixes = slices.DeleteFunc(slices.Clone(d.Fixes), func(f diag.Fix) bool {
			files, applied := diag.ApplyFixes([]diag.Diagnostic{{Fixes: []diag.Fix{f}}})
			for _, made := range files {
				if read += len(made.Text); read > maxFixed || !sound(made) {
					return true
				}
			}
			return applied == 0
		})
	}
	return out
}

// ApplyFixes is diag.ApplyFixes, in which every file stays readable although fixes meet: of those that together would make one
// unreadable, as two misspelled keys that become the same one, the later are left out.
func ApplyFixes(list []diag.Diagnostic) (files []diag.Fixed, applied int) {
	all := func(files []diag.Fixed) bool {
		return !slices.ContainsFunc(files, func(f diag.Fixed) bool { return !sound(f) })
	}
	if files, applied = diag.ApplyFixes(list); all(files) {
		return files, applied
	}
	files, applied = nil, 0
	var taken []diag.Diagnostic
	read := 0
	for _, d := range list {
		made, n := diag.ApplyFixes(append(taken[:len(taken):len(taken)], d))
		for _, f := range made {
			read += len(f.Text)
		}
		if n <= applied || !all(made) {
			continue
		}
		taken, files, applied = append(taken, d), made, n
		if read > maxFixed {
			break
		}
	}
	return files, applied
}

func sound(made diag.Fixed) bool {
	switch path.Ext(made.File.Name) {
	case ".yaml", ".yml", ".json":
	default:
		return true
	}
	if json.Valid([]byte(made.File.Text)) && !json.Valid([]byte(made.Text)) {
		return false
	}
	_, before := yamlnode.Parse(made.File)
	_, after := yamlnode.Parse(source.NewFile(made.File.Name, made.Text))
	return len(after) == 0 || len(after) < len(before)
}
