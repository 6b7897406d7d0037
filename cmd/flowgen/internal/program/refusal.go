package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/modfile"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
)

// linesSaid and runesSaid bound what an error quotes of the go command.
const (
	linesSaid = 30
	runesSaid = 400
)

// own returns an error for a go.mod that names no module, or one whose packages flowgen's would be: the go command looks
// for those without an end.
func own(mod *modfile.File, goMod string) error {
	if mod.Module == nil {
		return errors.New(shown(goMod) + ": the file names no module; add a line `module example.com/name`")
	}
	path, line := mod.Module.Mod.Path, mod.Module.Syntax.Start.Line
	if path == origin.Module || strings.HasPrefix(path+"/", origin.Runtime+"/") {
		return fmt.Errorf("%s:%d: module %s is flowgen's own, without its packages; rename the module", shown(goMod), line, path)
	}
	return nil
}

// refused is the error of a go command that said text: in the names of the user's files, not of those in the scratch folder.
func (w *workspace) refused(text string) error {
	lines := w.said(text)
	if w.outside != "" {
		lines = append(lines, w.outside)
	}
	if len(lines) == 1 {
		return fmt.Errorf("%s: the go command cannot build the program: %s", shown(w.file), lines[0])
	}
	return fmt.Errorf("%s: the go command cannot build the program:\n  %s", shown(w.file), strings.Join(lines, "\n  "))
}

// said are the lines of the go command that say what is wrong.
func (w *workspace) said(text string) []string {
	var out []string
	join := false
	for line := range strings.Lines(text) {
		join = join || line[0] == '\t' && len(out) > 0
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		line = strings.TrimPrefix(line, "go: ")
		if line == "" || strings.HasPrefix(line, "finding module for ") || strings.HasPrefix(line, "downloading ") || strings.HasPrefix(line, "found ") {
			continue
		}
		line = w.renamed(line)
		if join {
			out[len(out)-1] += " " + strings.TrimSpace(line)
		} else if !slices.Contains(out, line) {
			out = append(out, line)
		}
		join = strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "#")
	}
	if len(out) > linesSaid {
		out = append(out[:linesSaid], fmt.Sprintf("and %d lines more", len(out)-linesSaid))
	}
	for i, line := range out {
		out[i] = printable(line)
	}
	if len(out) == 0 {
		out = []string{"it failed without a message"}
	}
	return out
}

// renamed has a line name files of the user in place of the copies in the scratch folder, and no generated file, which the user
// does not have.
func (w *workspace) renamed(line string) string {
	scratches := []string{w.scratch + string(filepath.Separator)}
	if rel, err := filepath.Rel(w.dir, w.scratch); err == nil { // may end like the absolute name
		scratches = []string{rel + string(filepath.Separator), scratches[0]}
	}
	for _, dir := range scratches {
		for _, name := range []string{"go.mod", "go.sum"} {
			line = strings.ReplaceAll(line, dir+name, shown(filepath.Join(w.root, name)))
		}
		line = strings.ReplaceAll(line, dir+"user_", shown(w.dir)+string(filepath.Separator))
	}
	if at, rest, ok := strings.Cut(line, ".go:"); ok && strings.HasPrefix(at, strings.TrimPrefix(w.pattern, "./")+string(filepath.Separator)) {
		_, what, _ := strings.Cut(rest, ": ")
		line = what
	}
	return line
}

// shown is the name of a file as a message has it: from the working directory where it is below that.
func shown(name string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// printable is a line without what a terminal obeys, and of bounded length.
func printable(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, line)
	if r := []rune(line); len(r) > runesSaid {
		line = string(r[:runesSaid]) + "..."
	}
	return line
}

// unrequired says what a build without a requirement of flowgen does not use, "" for nothing: a workspace or a vendor folder
// cannot be completed in a copy of the go.mod.
func unrequired(root string) string {
	without := Workspace(root)
	if without == "" {
		if without = filepath.Join(root, "vendor"); !files.IsDir(without) {
			return ""
		}
	}
	return fmt.Sprintf("%s does not require %s, so %s is not used; add it with `go get %s`", shown(filepath.Join(root, "go.mod")), origin.Runtime, shown(without), origin.Runtime)
}

// Workspace is the go.work that holds for a folder, "" for none.
func Workspace(dir string) string {
	switch work := os.Getenv("GOWORK"); work {
	case "off":
		return ""
	case "":
	default:
		return work
	}
	for {
		if work := filepath.Join(dir, "go.work"); files.Exists(work) {
			return work
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
