package parser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// fixed applies the fixes offered for a file.
func fixed(text string, fixes ...diag.Fix) (string, int) {
	var list []diag.Diagnostic
	for _, f := range fixes {
		list = append(list, diag.Diagnostic{Code: diag.UnknownKey, Fixes: []diag.Fix{f}})
	}
	files, applied := ApplyFixes(SoundFixes(list))
	if applied == 0 {
		return text, 0
	}
	return files[0].Text, applied
}

// replaced is the fix that replaces the n-th occurrence of a text.
func replaced(f *source.File, old, text string) diag.Fix {
	lo := strings.Index(f.Text, old)
	return diag.Replace(source.Span{File: f, Lo: lo, Hi: lo + len(old)}, text)
}

func TestFixesKeepTheFormat(t *testing.T) {
	yaml := source.NewFile("a.yaml", "a: {nmae: x, naem: y}\nb: it's\n")
	inJSON := source.NewFile("a.yaml", `{"a": {"nmae": "x", "naem": "y"}, "b": [1]}`)
	for _, c := range []struct {
		name, want string
		file       *source.File
		fixes      []diag.Fix
		applied    int
	}{
		{"a word in quotes stays in quotes", `{"a": {"name": "x", "naem": "y"}, "b": [1]}`, inJSON, []diag.Fix{replaced(inJSON, `"nmae"`, "name")}, 1},
		{"two keys do not become one", `{"a": {"name": "x", "naem": "y"}, "b": [1]}`, inJSON, []diag.Fix{replaced(inJSON, `"nmae"`, "name"), replaced(inJSON, `"naem"`, "name")}, 1},
		{"a bare word in JSON", inJSON.Text, inJSON, []diag.Fix{replaced(inJSON, "1", "one")}, 0},
		{"two keys of YAML", "a: {name: x, naem: y}\nb: it's\n", yaml, []diag.Fix{replaced(yaml, "nmae", "name"), replaced(yaml, "naem", "name")}, 1},
		{"a quote that is never closed", yaml.Text, yaml, []diag.Fix{replaced(yaml, "it's", `"it's`)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, applied := fixed(c.file.Text, c.fixes...)
			if made != c.want || applied != c.applied {
				t.Errorf("%d applied: %s", applied, made)
			}
			if json.Valid([]byte(c.file.Text)) && !json.Valid([]byte(made)) {
				t.Error("it is JSON no longer")
			}
		})
	}
}
