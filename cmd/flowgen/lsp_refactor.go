package main

import (
	"fmt"
	"io"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
)

// convertUnsaved is what `flowgen convert` would write for what is in an editor.
func convertUnsaved(name string, from lsp.Inputs) ([]lsp.Rewrite, error) {
	c, err := (&app{stderr: io.Discard}).converted(unsavedDisk(from), name)
	if err != nil {
		return nil, err
	}
	if c.made == nil {
		return nil, fmt.Errorf("%s", firstOf(c.list))
	}
	var out []lsp.Rewrite
	for _, f := range c.made {
		out = append(out, lsp.Rewrite{File: f.Name, New: f.Text, Create: true})
	}
	return out, nil
}

// materializeUnsaved is what `flowgen materialize` would write for what is in an editor.
func materializeUnsaved(name, folder, run, call string, from lsp.Inputs) ([]lsp.Rewrite, error) {
	one := &app{stderr: io.Discard}
	before := one.compile(unsavedDisk(from), name)
	if before.program == nil {
		return nil, fmt.Errorf("%s has mistakes: %s", name, firstOf(before.list))
	}
	where := runSource{dir: folder}
	named, err := where.open(io.Discard)
	if err != nil {
		return nil, err
	}
	id, j, err := named(run)
	if err != nil {
		return nil, err
	}
	rec, err := recorded(j, id, call, where.lister(id))
	if err != nil {
		return nil, err
	}
	m, err := newMaterial(before.workflow, rec)
	if err != nil {
		return nil, err
	}
	if m.file.Module != "" {
		return nil, fmt.Errorf("%s is a file of a Go module, which is never written", m.file.Name)
	}
	text, err := m.write()
	return []lsp.Rewrite{{File: m.file.Name, Old: m.file.Text, New: text}}, err
}
