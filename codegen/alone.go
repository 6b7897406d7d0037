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
	if v, ok := s.Node.Verb.(*ir.Let); !ok || v.Value != nil || t == nil || t.Kind != schema.Struct || len(t.Fields) != 1 || len(s.Fields) != 1 {
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
	b.declare(name, s.Fields[0])
}

// declare writes a variable that holds a.
func (b *block) declare(name *jen.Statement, a *check.Argument) {
	value, typed := b.inferable(a)
	if typed {
		b.add(name.Op(":=").Add(value))
		return
	}
	b.add(jen.Var().Add(name).Add(b.fn.g.goType(a.Field.Type)).Op("=").Add(value))
}

// inferable is the value of a. Unless typed, it may be a constant, whose type Go does not choose.
func (b *block) inferable(a *check.Argument) (value jen.Code, typed bool) {
	t := a.Field.Type
	switch v := a.Value.Value.(type) {
	case *ir.Expr:
		if t.Kind != schema.Opt || v.Node.Op != expr.Lit {
			low := b.lower()
			value := low.exprTyped(v.Node, t)
			b.flush(low)
			return value, true
		}
	case *ir.Template, *ir.Scalar:
		if t.Kind == schema.String && t.Go == nil {
			return b.argument(a), true
		}
	case *ir.List, *ir.Object:
		return b.argument(a), true
	}
	return b.argument(a), false
}

// letValue stores the value of a let that has no fields.
func (b *block) letValue(s *check.Step) {
	a, before := s.Fields[0], len(b.code)
	if b.fn.reads(s) && !b.fn.outside(variable{kind: resultVar, step: s}) && !b.held(s) {
		b.declare(jen.Id(ident(b.fn.local(s))), a)
		return
	}
	value, typed := b.inferable(a)
	if !b.fn.reads(s) && len(b.code) == before && !readsAny(s) {
		return // it cannot fail, and nobody asks for it
	}
	if b.held(s) && b.fn.reads(s) {
		ptr := jen.Qual(flowPath, "Ptr")
		if !typed {
			ptr.Types(b.fn.g.goType(a.Field.Type))
		}
		value = ptr.Call(value)
	}
	name := jen.Id("_")
	if b.fn.reads(s) {
		name = jen.Id(ident(b.fn.local(s)))
	}
	if b.fn.reads(s) && !b.fn.outside(variable{kind: resultVar, step: s}) {
		b.add(name.Op(":=").Add(value))
		return
	}
	b.add(name.Op("=").Add(value))
}

// held reports whether a variable has a pointer to the result of s because s may not run.
func (b *block) held(s *check.Step) bool {
	return b.fn.pointer(s) && s.Node.Result.Kind != schema.Opt
}
