package codegen

import (
	"regexp"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// itemOf is xs[i] or m[key], which is known to be there, of the list or the map held at p.
func (l *lowerer) itemOf(p storage, n *expr.Node) storage {
	t := n.Kids[0].Type.Present()
	key := l.to(l.value(n.Kids[1]), schema.StringType)
	if t.Kind == schema.List {
		key = l.value(n.Kids[1])
	}
	return storage{code: jen.Add(p.whole()).Index(key.code), ptr: t.Elem.Kind == schema.Opt}
}

// whole is the value that a place holds.
func (p storage) whole() jen.Code {
	if p.ptr {
		return jen.Parens(jen.Op("*").Add(p.code))
	}
	return p.code
}

// indexed takes xs[i] or m[key] apart.
func (l *lowerer) indexed(n *expr.Node, needed bool) lowerPresent {
	typ := n.Stored.Present()
	recv, key := n.Kids[0], n.Kids[1]
	t := recv.Type.Present()
	var guards []jen.Code
	p := storage{}
	if recv.Type.Kind == schema.Opt {
		o := l.optional(recv, true)
		guards, p = o.conditions(), o.place
	} else {
		p = l.place(recv)
	}
	xs, optional := p.whole(), t.Elem.Kind == schema.Opt
	if i, ok := key.Value.(int64); ok && key.Op == expr.Lit && t.Kind == schema.List {
		list := p.code
		if p.ptr {
			list = jen.Op("*").Add(list)
		}
		guards = append(guards[:len(guards):len(guards)], jen.Len(list).Op(">").Lit(int(i)))
		return lowerPresent{guards: guards, place: storage{code: jen.Add(xs).Index(jen.Lit(int(i))), ptr: optional}, typ: typ}
	}
	var at lowered
	stmts := l.capture(func() {
		if t.Kind == schema.List {
			at = l.to(l.value(key), schema.IntType)
		} else {
			at = l.to(l.value(key), schema.StringType)
		}
	})
	hint := lowerLastName(n, "item")
	if t.Kind == schema.Map && (len(guards) == 0 || len(stmts) == 0) {
		l.add(stmts...)
		st := storage{code: jen.Add(xs).Index(at.code), ptr: optional}
		if optional {
			return lowerPresent{guards: guards, place: st, typ: typ}
		}
		return l.lookup(hint, st, guards, typ, needed)
	}
	found := jen.Qual(celPath, "At").Call(xs, at.code)
	switch {
	case t.Kind == schema.Map && optional:
		found = jen.Add(xs).Index(at.code)
	case t.Kind == schema.Map:
		found = jen.Qual(celPath, "Key").Call(xs, at.code)
	case optional:
		found = jen.Qual(celPath, "AtOpt").Call(xs, at.code)
	}
	name := l.fresh(hint)
	if len(guards) == 0 {
		l.add(stmts...)
		l.add(jen.Id(ident(name)).Op(":=").Add(found))
	} else {
		l.add(jen.Var().Id(ident(name)).Op("*").Add(l.goType(typ)))
		l.add(jen.If(lowerAll(guards)).Block(append(stmts, jen.Id(ident(name)).Op("=").Add(found))...))
	}
	return lowerPresent{place: storage{code: jen.Id(ident(name)), ptr: true}, typ: typ}
}

var sizeTest = regexp.MustCompile(`^(len\([^<>&|]*\)) > ([0-9]+)$`)

// tooShort is the negation of the guard of an item; nil for other guards.
func tooShort(guard string) jen.Code {
	m := sizeTest.FindStringSubmatch(guard)
	if m == nil {
		return nil
	}
	if m[2] == "0" {
		return jen.Op(expression(m[1])).Op("==").Lit(0)
	}
	return jen.Op(expression(m[1])).Op("<=").Op(numeral(m[2]))
}

// mapping writes {"key": value} as a struct or a map; within a list of them without its type.
func (l *lowerer) mapping(n *expr.Node, typed bool) jen.Code {
	t := n.Type
	var parts []jen.Code
	long := len(n.Kids) > 2
	put := func(key, v jen.Code) {
		long = long || wide(v)
		parts = append(parts, jen.Add(key).Op(":").Add(v))
	}
	if t.Kind == schema.Map {
		for i, k := range n.Kids {
			put(quote(n.Keys[i]), l.exprAs(k, t.Elem))
		}
		return jen.Add(l.goType(t)).Custom(braces(long), parts...)
	}
	values := map[string]jen.Code{}
	for i, k := range n.Kids { // in the order of evaluation
		values[n.Keys[i]] = l.exprAs(k, t.Field(n.Keys[i]).Type)
	}
	for _, f := range t.Fields {
		switch {
		case slices.Contains(n.Keys, f.Name):
			put(jen.Id(ident(fieldName(f))), values[f.Name])
		case f.Default != nil && l.deflt != nil:
			put(jen.Id(ident(fieldName(f))), l.deflt(f))
		}
	}
	if !typed {
		return jen.Custom(braces(long), parts...)
	}
	own := *t
	if t.Go != nil && t.Go.Ptr {
		bare := *t.Go
		bare.Ptr = false
		own.Go = &bare
		return jen.Op("&").Add(l.goType(&own)).Custom(braces(long), parts...)
	}
	return jen.Add(l.goType(t)).Custom(braces(long), parts...)
}
