package sirenspec

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// memoryPath is where the memory is when the file does not say.
const memoryPath = ".sirenspec/memory"

var memoryShape = &dialect.Shape{What: "`memory`", Open: true, Keys: []dialect.Key{
	{Name: "backend", Doc: "sqlite or file", Form: dialect.OneWord("sqlite", "file")},
	{Name: "path", Doc: "a folder, .sirenspec/memory if it is not written", Form: dialect.Scalar},
	{Name: "ttl", Doc: "how many seconds a value is kept, for ever if it is not written", Form: dialect.Count},
}}

// memory reads the section for values that stay after a run.
func (p *parser) memory(n *yamlnode.Node, m dialect.Mapping) {
	if n == nil {
		return
	}
	s, ok := p.Mapping(n, memoryShape)
	if !ok {
		return
	}
	if b := s.Get("backend"); b != nil && p.Word(b, "the backend of a memory", "sqlite", "file") == "sqlite" {
		p.Differs(b.Span, "", "flowgen keeps the memory in files, one for each value, and does not read the engine's database")
	}
	t := &Store{Path: memoryPath, Seconds: p.Count(s.Get("ttl"), "`ttl`", 1, 1<<40, 0)}
	if id, ok := p.Text(s.Get("path"), "`path`"); ok {
		if id.Name == "" {
			p.Error(diag.BadLiteral, id.Span, "", "this is not the name of a folder")
			return
		}
		t.Path = id.Name
	}
	p.remembers(t, ir.Ident{Name: "memory", Span: m.Key("memory")})
}

// remembers adds the node that reads the memory when a run begins, and the tool that it is read and written with.
func (p *parser) remembers(b *Store, id ir.Ident) {
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + id.Name, Span: id.Span}, Version: "1", Key: id, Effects: ir.EffectsWrites, EffectsSpan: id.Span,
		In: schema.AnyType, Out: schema.AnyType, OutSpan: id.Span, Binding: &ir.Made{}, File: p.File, Span: id.Span}
	p.kept = &Node{ID: id, Span: id.Span, Verb: &ir.ToolCall{Name: id}, Store: b}
	p.wf.Tools = append(p.wf.Tools, t)
}

// memorized puts the node of the memory before all others, under a name that none of them has.
func (p *parser) memorized() {
	if p.kept == nil {
		return
	}
	if !p.tree.Memory { // nothing reads or writes it
		p.wf.Tools = slices.DeleteFunc(p.wf.Tools, func(t *ir.Tool) bool { return t.Key == p.kept.ID })
		return
	}
	was := p.kept.ID
	if p.IsBroken(was.Name) {
		p.kept.ID.Name = "workflow_memory"
	}
	for _, t := range p.wf.Tools {
		if t.Key == was {
			t.Key = p.kept.ID
			p.kept.Verb = &ir.ToolCall{Name: t.Key}
		}
	}
	p.tree.Nodes = slices.Insert(p.tree.Nodes, 0, p.kept)
}

// memoryValue checks a reference to the memory.
func (p *parser) memoryValue(r *dialect.Reference) *dialect.Reference {
	if len(r.Path) == 0 {
		p.Error(diag.UnknownName, r.Text.Span, "write `memory.NAME`", "`memory` is not a value")
		return nil
	}
	p.tree.Memory = true
	return r
}

// memorizes checks a path of the memory that is written.
func (p *parser) memorizes(id ir.Ident) {
	p.tree.Memory = true
	if p.kept == nil {
		p.Warn(diag.IgnoredKey, id.Span, "add `memory: {backend: file}` to the workflow", "the workflow has no `memory`, so that nothing keeps this after the run")
	}
}
