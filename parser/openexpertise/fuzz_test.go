package openexpertise_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/parser"
)

// files are an experience, and a prompt for all names of prompts.
type files struct{ text, prompt string }

func (f files) ReadFile(name string) ([]byte, error) {
	switch {
	case name == "experience.yaml":
		return []byte(f.text), nil
	case strings.HasSuffix(name, ".md"):
		return []byte(f.prompt), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// FuzzExperience: whatever a file holds, its diagnostics have places in it, and what has no mistakes becomes Go.
func FuzzExperience(f *testing.F) {
	names, err := filepath.Glob("../../golden/openexpertise/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		prompt := "{{ a }} {{$item.b|length}}"
		var yaml []string
		for _, file := range txtar.Parse(text).Files {
			switch filepath.Ext(file.Name) {
			case ".yaml":
				yaml = append(yaml, string(file.Data))
			case ".md":
				prompt = string(file.Data)
			}
		}
		for _, y := range yaml {
			f.Add(y, prompt, strings.HasPrefix(string(text), "compat: upstream"))
		}
	}
	f.Fuzz(func(t *testing.T, text, prompt string, upstream bool) {
		opts := parser.Options{Dialect: "openexpertise"}
		if upstream {
			opts.Compat = parser.Upstream
		}
		sink := &diag.Sink{}
		wf := parser.ParseAs(files{text, prompt}, "experience.yaml", opts, sink)
		for _, d := range sink.List() {
			if s := d.Span; s.File != nil && (s.Lo < 0 || s.Hi < s.Lo || s.Hi > len(s.File.Text)) {
				t.Fatalf("%s: no place in the file: %+v", d.Code, s)
			}
		}
		if wf == nil || sink.HasErrors() {
			return
		}
		_ = ir.Dump(wf)
		bound(wf, map[*ir.Workflow]bool{})
		p := check.Check(wf, sink)
		if p == nil || sink.HasErrors() {
			return
		}
		if _, err := codegen.Generate(p, codegen.Options{Package: goname.Package(wf.Name.Name)}); err != nil {
			t.Fatal(err)
		}
	})
}

// bound stands in for the modules of tools.
func bound(wf *ir.Workflow, seen map[*ir.Workflow]bool) {
	if seen[wf] {
		return
	}
	seen[wf] = true
	for _, t := range wf.Tools {
		if b, ok := t.Binding.(*ir.JSTool); ok {
			b.Bundle = "export default () => ({})"
		}
	}
	for _, sub := range wf.Flows {
		bound(sub, seen)
	}
}
