package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// textOf is the field that has the text which Python makes of another after a node: rules compare it where the value is dynamic,
// a list, a mapping or bytes. nil: values of the field's type can be compared themselves.
func (p *parser) textOf(x *node, f *field) *field {
	switch f.typ.Present().Kind {
	case schema.String, schema.Enum, schema.Bool, schema.Int, schema.Float, schema.Invalid:
		return nil
	}
	text := p.shadows[f]
	if text == nil {
		if p.shadows == nil {
			p.shadows = map[*field]*field{}
		}
		name := f.id.Name + "_text"
		for p.fields[name] != nil {
			name += "_"
		}
		text = &field{id: ir.Ident{Name: name, Span: f.id.Span}, typ: schema.StringType, written: true}
		p.fields[name], p.shadows[f] = text, text
		p.wf.State = append(p.wf.State, &ir.State{Name: text.id, Type: schema.StringType, Init: &schema.Default{JSON: `""`, Span: f.id.Span}, Span: f.id.Span})
	}
	if x.compares[f] {
		return text
	}
	if x.compares == nil {
		x.compares = map[*field]bool{}
	}
	x.compares[f] = true
	x.texts = append(x.texts, func() *ir.Node {
		id := p.part(x, f.id.Name+"_text")
		n := piece{segment: segment{field: f}, at: f.id.Span}.step(id, x.at.Span)
		n.Set = []*ir.Set{{Field: text.id, Value: result(f.id.Span, id.Name)}}
		return n
	})
	return text
}

// isShadow reports whether a field has the text of another.
func (p *parser) isShadow(f *field) bool {
	for _, s := range p.shadows {
		if s == f {
			return true
		}
	}
	return false
}
