package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// sole is the only field of the result of a let that is read by this field alone, so that a variable holds the field and
// no struct is around it; nil for other steps.
func (fn *function) sole(s *check.Step) *schema.Field {
	t := s.Node.Result
	if _, ok := s.Node.Verb.(*ir.Let); !ok || t == nil || t.Kind != schema.Struct || len(t.Fields) != 1 || len(s.Fields) != 1 {
		return nil
	}
	if fn.whole[s] || s.Node.Inline || s.Catch || fn.pointer(s) || fn.p.WF.Body.Block != nil {
		return nil
	}
	return t.Fields[0]
}

// alone is where a field is held without a struct, nil when it is in one.
func (fn *function) alone(n *expr.Node) *storage {
	recv := n.Kids[0]
	if n.Op != expr.Field || recv.Sym == nil {
		return nil
	}
	s, ok := recv.Sym.Ref.(*check.Step)
	if !ok {
		return nil
	}
	f := fn.sole(s)
	if f == nil {
		return nil
	}
	return &storage{code: jen.Id(ident(fn.local(s))), ptr: f.Type.Kind == schema.Opt}
}

// letAlone stores the only field of a let.
func (b *block) letAlone(s *check.Step, f *schema.Field) {
	name := jen.Id(ident(b.fn.local(s)))
	if b.fn.outside(variable{kind: resultVar, step: s}) {
		b.add(name.Op("=").Add(b.argument(s.Fields[0])))
		return
	}
	switch v := s.Fields[0].Value.Value.(type) {
	case *ir.Expr:
		if f.Type.Kind != schema.Opt || v.Node.Op != expr.Lit {
			low := b.lower()
			value := low.exprTyped(v.Node, f.Type)
			b.flush(low)
			b.add(name.Op(":=").Add(value))
			return
		}
	case *ir.Template, *ir.Scalar:
		if f.Type.Kind == schema.String && f.Type.Go == nil {
			b.add(name.Op(":=").Add(b.argument(s.Fields[0])))
			return
		}
	case *ir.List, *ir.Object:
		b.add(name.Op(":=").Add(b.argument(s.Fields[0])))
		return
	}
	value := b.argument(s.Fields[0]) // which may be a constant: Go does not choose its type
	b.add(jen.Var().Add(name).Add(b.fn.g.goType(f.Type)).Op("=").Add(value))
}
