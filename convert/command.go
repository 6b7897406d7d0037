package convert

import (
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// commandTool is a program that a dialect has by a name.
func (c *Converter) commandTool(t *ir.Tool, b *ir.CommandTool) doc.Value {
	rest := *b
	rest.Args, rest.Stdin, rest.Format, rest.Span = nil, nil, 0, source.Span{}
	c.Rest(t.Span, "the tool "+t.Key.Name, &rest)
	m := &doc.Mapping{}
	args := &doc.List{}
	for _, a := range b.Args {
		args.Add(c.Native(a), source.Span{})
	}
	m.Add("command", args, source.Span{})
	if t.Description != "" {
		m.Add("description", doc.Spell(t.Description), source.Span{})
	}
	in := &doc.Mapping{Flow: true}
	for _, f := range t.In.Fields {
		in.Add(f.Name, c.Field(f), source.Span{})
	}
	if len(in.Entries) > 0 {
		m.Add("in", in, source.Span{})
	}
	if b.Stdin != nil {
		m.Add("stdin", c.Native(b.Stdin), source.Span{})
	}
	if b.Format == ir.FormatJSON {
		m.Add("out", c.Typ(t.Out, t.Span), source.Span{})
	}
	m.Add("effects", doc.Scalar(t.Effects.String()), source.Span{})
	if t.Sandbox.Name != "" {
		m.Add("sandbox", doc.Scalar(t.Sandbox.Name), source.Span{})
	}
	return m
}
