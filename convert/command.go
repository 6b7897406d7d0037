package convert

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// commandTool is a program that a dialect has by a name.
func (c *converter) commandTool(t *ir.Tool, b *ir.CommandTool) value {
	rest := *b
	rest.Args, rest.Stdin, rest.Format, rest.Span = nil, nil, 0, source.Span{}
	c.rest(t.Span, "the tool "+t.Key.Name, &rest)
	m := &mapping{}
	args := &list{}
	for _, a := range b.Args {
		args.add(c.native(a), source.Span{})
	}
	m.add("command", args, source.Span{})
	if t.Description != "" {
		m.add("description", spell(t.Description), source.Span{})
	}
	in := &mapping{flow: true}
	for _, f := range t.In.Fields {
		in.add(f.Name, c.field(f), source.Span{})
	}
	if len(in.entries) > 0 {
		m.add("in", in, source.Span{})
	}
	if b.Stdin != nil {
		m.add("stdin", c.native(b.Stdin), source.Span{})
	}
	if b.Format == ir.FormatJSON {
		m.add("out", c.typ(t.Out, t.Span), source.Span{})
	}
	m.add("effects", scalar(t.Effects.String()), source.Span{})
	if t.Sandbox.Name != "" {
		m.add("sandbox", scalar(t.Sandbox.Name), source.Span{})
	}
	return m
}
