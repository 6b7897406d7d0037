package codegen

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// stringFuncs are the functions of package strings for those of the language.
var lowerStringFuncs = map[string]string{"contains": "Contains", "startsWith": "HasPrefix", "endsWith": "HasSuffix"}

func (l *lowerer) call(n *expr.Node) lowered {
	switch n.Text {
	case "size":
		return l.size(n.Kids[0])
	case "default":
		return l.defaultCall(n)
	case "first":
		return l.first(n)
	case "matches":
		return l.matches(n)
	case "contains", "startsWith", "endsWith":
	default:
		return l.builtin(n)
	}
	s := l.to(l.value(n.Kids[0]), schema.StringType)
	part := l.to(l.value(n.Kids[1]), schema.StringType)
	return lowerPrimary(jen.Qual("strings", ident(lowerStringFuncs[n.Text])).Call(s.code, part.code), schema.BoolType)
}

// size of a string counts code points.
func (l *lowerer) size(n *expr.Node) lowered {
	v := l.value(n)
	switch v.typ.Kind {
	case schema.String, schema.Enum:
		if s, ok := v.lit.(string); ok {
			return l.literal(int64(utf8.RuneCountInString(s)))
		}
		return lowerPrimary(jen.Qual("unicode/utf8", "RuneCountInString").Call(l.to(v, schema.StringType).code), lowerGoInt)
	}
	return lowerPrimary(jen.Len(v.code), lowerGoInt)
}

func (l *lowerer) matches(n *expr.Node) lowered {
	s := l.to(l.value(n.Kids[0]), schema.StringType)
	pattern, _ := n.Kids[1].Value.(string)
	var re jen.Code
	if l.pattern != nil {
		re = l.pattern(pattern)
	} else {
		re = jen.Qual("regexp", "MustCompile").Call(lowerPattern(pattern))
	}
	return lowerPrimary(jen.Add(re).Dot("MatchString").Call(s.code), schema.BoolType)
}

// lowerPattern writes a regular expression, raw where that saves backslashes.
func lowerPattern(p string) jen.Code {
	if strings.Contains(p, `\`) {
		return quoteOne(p)
	}
	return quote(p)
}

// defaultCall lowers default(x, v). v is evaluated only when x is absent, which is seen only if it can fail.
func (l *lowerer) defaultCall(n *expr.Node) lowered {
	x, other := n.Kids[0], n.Kids[1]
	if x.Type.Kind != schema.Opt {
		return l.value(x)
	}
	t := n.Type
	o := l.optional(x, true)
	var v lowered
	stmts := l.capture(func() { v = l.to(l.value(other), t) })
	if !n.Lazy && len(o.guards) == 0 && len(stmts) == 0 && t.Kind != schema.Opt && l.same(o.typ, t) {
		return lowerPrimary(jen.Qual(flowPath, "Or").Call(o.place.code, v.code), t)
	}
	if o.own && l.same(o.typ, t) { // k, ok := m["k"]; if !ok { k = v }
		stmts = append(stmts, jen.Add(o.place.code).Op("=").Add(v.code))
		l.add(jen.If(lowerJoin(o.absence(), "||")).Block(stmts...))
		return lowerPrimary(o.place.code, t)
	}
	name := l.fresh(lowerLastName(x, "v"))
	var found lowered
	take := l.capture(func() { found = l.to(l.held(o), t) })
	take = append(take, jen.Id(ident(name)).Op("=").Add(found.code))
	if len(stmts) == 0 && !n.Lazy {
		l.guard(name, nil, l.declared(name, v, t), lowerAll(o.conditions()), take)
	} else {
		l.add(jen.Var().Id(ident(name)).Add(l.goType(t)))
		l.add(jen.If(lowerAll(o.conditions())).Block(take...).Else().Block(append(stmts, jen.Id(ident(name)).Op("=").Add(v.code))...))
	}
	return lowerPrimary(jen.Id(ident(name)), t)
}

// held is the value of an optional where it is known to be there.
func (l *lowerer) held(o lowerPresent) lowered { return l.deref(o.place, o.typ) }

// declared is a variable of type t that starts as v.
func (l *lowerer) declared(name string, v lowered, t *schema.Type) jen.Code {
	code := v.code
	if v.lit != nil {
		code = l.typedLiteral(v, t)
	}
	return jen.Id(ident(name)).Op(":=").Add(code)
}

// first lowers first(a, b, ...) to a chain of ifs: each argument is evaluated only when those before it are absent.
func (l *lowerer) first(n *expr.Node) lowered {
	if n.Kids[0].Type.Kind != schema.Opt {
		return l.value(n.Kids[0])
	}
	name := l.fresh(lowerLastName(n.Kids[0], "first"))
	l.add(jen.Var().Id(ident(name)).Add(l.goType(n.Type)))
	l.add(l.firstFrom(n, 0, name)...)
	return lowerPrimary(jen.Id(ident(name)), n.Type)
}

// firstFrom assigns the first present argument from i on to name.
func (l *lowerer) firstFrom(n *expr.Node, i int, name string) []jen.Code {
	k := n.Kids[i]
	var out []jen.Code
	if k.Type.Kind != schema.Opt {
		var v lowered
		out = l.capture(func() { v = l.to(l.value(k), n.Type) })
		return append(out, jen.Id(ident(name)).Op("=").Add(v.code))
	}
	var o lowerPresent
	out = l.capture(func() { o = l.optional(k, true) })
	var found lowered
	take := l.capture(func() {
		if n.Type.Kind == schema.Opt && l.same(o.typ, n.Type.Elem) {
			found = lowerPrimary(o.pointer(), n.Type)
		} else {
			found = l.to(l.held(o), n.Type)
		}
	})
	take = append(take, jen.Id(ident(name)).Op("=").Add(found.code))
	last := i == len(n.Kids)-1
	if last && n.Type.Kind != schema.Opt { // one of them is certainly present
		return append(out, take...)
	}
	s := jen.If(lowerAll(o.conditions())).Block(take...)
	if !last {
		rest := l.firstFrom(n, i+1, name)
		if tail, ok := rest[0].(*jen.Statement); ok && len(rest) == 1 && n.Kids[i+1].Type.Kind == schema.Opt && (i+2 < len(n.Kids) || n.Type.Kind == schema.Opt) {
			s.Else().Add(tail)
		} else {
			s.Else().Block(rest...)
		}
	}
	return append(out, s)
}

// macro lowers exists, all, map and filter to a loop.
func (l *lowerer) macro(n *expr.Node) lowered {
	recv, body := n.Kids[0], n.Kids[1]
	xs := l.value(recv)
	over, elem := xs.code, schema.StringType
	if xs.typ.Kind == schema.Map {
		over = jen.Qual(flowPath, "SortedKeys").Call(over)
	} else {
		elem = xs.typ.Elem
	}
	item := l.fresh(n.Var)
	if sym := lowerMacroSymbol(n); sym != nil {
		if l.locals == nil {
			l.locals = map[*expr.Symbol]storage{}
		}
		l.locals[sym] = storage{code: jen.Id(ident(item))}
	}
	want := schema.BoolType
	switch n.Text {
	case "map":
		want = n.Type.Elem
	case "sortBy":
		want = body.Type
	}
	var v lowered
	stmts := l.capture(func() { v = l.to(l.value(body), want) })
	if n.Text == "sortBy" {
		return l.sortBy(xs, item, want, stmts, v)
	}
	var name string
	t := n.Type
	switch n.Text {
	case "map":
		name = l.fresh(lowerPlural(body))
		l.add(jen.Id(ident(name)).Op(":=").Add(l.emptyList(t, recv, xs)))
		stmts = append(stmts, jen.Id(ident(name)).Op("=").Append(jen.Id(ident(name)), v.code))
	case "filter":
		name = l.fresh("kept")
		kept := jen.Id(ident(item))
		if elem.Kind == schema.Opt && n.Type.Elem.Kind != schema.Opt { // the test has proved it present
			elem, kept = elem.Elem, jen.Op("*").Id(ident(item))
		}
		t = &schema.Type{Kind: schema.List, Elem: elem}
		l.add(jen.Id(ident(name)).Op(":=").Add(l.goType(t)).Values())
		stmts = append(stmts, jen.If(v.code).Block(jen.Id(ident(name)).Op("=").Append(jen.Id(ident(name)), kept)))
	case "exists":
		name = l.fresh("found")
		l.add(jen.Id(ident(name)).Op(":=").False())
		stmts = append(stmts, jen.If(v.code).Block(jen.Id(ident(name)).Op("=").True(), jen.Break()))
	default:
		name = l.fresh("all")
		l.add(jen.Id(ident(name)).Op(":=").True())
		stmts = append(stmts, jen.If(lowerNot(v).code).Block(jen.Id(ident(name)).Op("=").False(), jen.Break()))
	}
	l.add(lowerLoop(item, over, stmts))
	if l.release != nil {
		l.release(item)
	}
	return lowerPrimary(jen.Id(ident(name)), t)
}

// lowerMacroSymbol is the symbol of the macro's variable, or nil when the body does not use it.
func lowerMacroSymbol(n *expr.Node) *expr.Symbol {
	var sym *expr.Symbol
	n.Kids[1].Walk(func(k *expr.Node) bool {
		if k.Op == expr.Name && k.Text == n.Var {
			sym = k.Sym
		}
		return sym == nil
	})
	return sym
}

// lowerPlural names the list that map makes.
func lowerPlural(body *expr.Node) string {
	if body.Op == expr.Field {
		return body.Text + "s"
	}
	return "mapped"
}

// emptyList is a list of type t with room for as many items as xs has, where that is easily told.
func (l *lowerer) emptyList(t *schema.Type, recv *expr.Node, xs lowered) jen.Code {
	list := jen.Add(l.goType(t))
	switch {
	case recv.Op == expr.ListLit:
		return jen.Make(list, jen.Lit(0), jen.Lit(len(recv.Kids)))
	case lowerIsPath(lowerRender(xs.code)):
		return jen.Make(list, jen.Lit(0), jen.Len(xs.code))
	}
	return list.Values()
}

// lowerLoop ranges over a list, without a variable when the body does not use it.
func lowerLoop(item string, over jen.Code, body []jen.Code) jen.Code {
	if lowerUses(body, item) {
		return jen.For(jen.List(jen.Id("_"), jen.Id(ident(item))).Op(":=").Range().Add(over)).Block(body...)
	}
	return jen.For(jen.Range().Add(over)).Block(body...)
}

// lowerUses reports whether code reads the variable name, which no key of a literal and no other variable is called.
func lowerUses(code []jen.Code, name string) bool {
	var s scanner.Scanner
	src := []byte(lowerRender(jen.Block(code...)))
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	after := token.ILLEGAL
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return false
		case tok == token.IDENT && text == name && after != token.PERIOD:
			return true
		}
		after = tok
	}
}
