package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
)

// calculations are the methods of a flow that calculate.
var calculations = map[string]string{"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}

// calculated is a value that is calculated: an error is kept by the flow, for the node that it is an argument of.
func (b *tokenBody) calculated(v ir.Value) jen.Code {
	switch v := v.(type) {
	case *ir.Calc:
		return jen.Id(ident(b.flow)).Dot(ident(calculations[v.Op])).Call(b.value(v.Left), b.operand(v.Right))
	case *ir.Mixed:
		return jen.Qual(dynamicPath, "Text").Call(b.filled(v))
	}
	return jen.Qual(dynamicPath, "Null").Call()
}

// operand is a value in which references inside of maps that have no value are null, and not left out.
func (b *tokenBody) operand(v ir.Value) jen.Code {
	o, ok := v.(*ir.Object)
	if !ok {
		return b.value(v)
	}
	var out []jen.Code
	for _, e := range o.Entries {
		c := b.operand(e.Value)
		if _, ref := e.Value.(*ir.Reference); ref {
			c = jen.Add(c).Dot("OrNull").Call()
		}
		out = append(out, put(e.Key.Name, c))
	}
	return jen.Qual(dynamicPath, "Object").Custom(parens(len(out) > 2), out...)
}

// filled is text with values in it, as Python writes them; what is missing stays as it is written.
func (b *tokenBody) filled(m *ir.Mixed) *jen.Statement {
	var out *jen.Statement
	for _, seg := range m.Segments {
		part := quote(seg.Lit)
		if seg.Ref != nil {
			kept := seg.Ref.Text.Value
			if seg.Ref.Missing != ir.MissingKeep {
				kept = ""
			}
			part = jen.Qual(graphPath, "Fill").Call(b.value(seg.Ref), quote(kept))
		}
		if out == nil {
			out = jen.Add(part)
			continue
		}
		out.Op("+").Add(part)
	}
	return out
}

// calculates reports whether a value has to be calculated by a flow.
func calculates(v ir.Value) bool {
	switch v := v.(type) {
	case *ir.Calc:
		return true
	case *ir.List:
		for _, x := range v.Items {
			if calculates(x) {
				return true
			}
		}
	case *ir.Object:
		for _, e := range v.Entries {
			if calculates(e.Value) {
				return true
			}
		}
	}
	return false
}

// seeds are the fields that the state begins with, unless the input says something else.
func (b *tokenBody) seeds() {
	if b.p.WF.Dynamic.Seeds == nil {
		return
	}
	for _, e := range b.p.WF.Dynamic.Seeds.Entries {
		f := b.value(&ir.Reference{Root: "state", Path: []string{e.Key.Name}})
		b.add(jen.If(jen.Op("!").Add(f).Dot("Present").Call()).Block(jen.Add(f).Op("=").Add(b.value(e.Value))))
	}
}
