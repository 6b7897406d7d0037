package codegen

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// This file and its neighbours lower checked expressions to Go.
//
// Expressions are pure, so most become one Go expression. What Go has no expression for (a choice, a loop, a step that
// can fail) becomes statements before the one that uses the result, in the order of evaluation: left to right, and inside
// the branch that short-circuits. An operand written before such statements may be evaluated after them: it reads what
// they do not change.

// storage says how a symbol is held in the Go being written.
type storage struct {
	code jen.Code // a variable or a field
	ptr  bool     // it is a pointer to the value
}

// A lowerer writes the expressions of one place.
type lowerer struct {
	resolve func(sym *expr.Symbol) storage
	alone   func(n *expr.Node) *storage    // where a field is held without the struct around it; nil: nowhere
	goType  func(t *schema.Type) jen.Code  // spells a type
	fail    func(err jen.Code) []jen.Code  // statements that leave the function with err
	fresh   func(hint string) string       // a new local name
	release func(name string)              // gives back a name whose block has ended; nil: names are used once
	pattern func(regexp string) jen.Code   // a compiled pattern kept at package level; nil: compiled in place
	deflt   func(f *schema.Field) jen.Code // the default of a field; nil: its zero value
	locals  map[*expr.Symbol]storage       // macro variables
	hint    string                         // what exprAs converts: a name for variables
	core    *coreLowerer                   // what bodies that translators make have besides; nil: nothing
	guards  map[jen.Code]*guard            // those that were added, by their ifs; nil: nobody asks
	stmts   []jen.Code                     // to be written before the statement that uses the result
}

// expr is the value of n in the Go form of its type: a pointer when that is optional.
func (l *lowerer) expr(n *expr.Node) jen.Code {
	v := l.value(n)
	if v.lit != nil {
		return l.typedLiteral(v, n.Type)
	}
	return l.to(v, n.Type).code
}

// exprAs is the value of n in the Go form of want. A literal stays an untyped constant.
func (l *lowerer) exprAs(n *expr.Node, want *schema.Type) jen.Code { return l.exprOf(n, want).code }

// exprTyped is the same, in a form that Go infers the type from.
func (l *lowerer) exprTyped(n *expr.Node, want *schema.Type) jen.Code {
	w := l.exprOf(n, want)
	if w.lit != nil {
		return l.typedLiteral(w, want)
	}
	return w.code
}

func (l *lowerer) exprOf(n *expr.Node, want *schema.Type) lowered {
	v := l.value(n)
	l.hint = lowerLastName(n, "")
	if n.Must && v.typ.Kind == schema.Opt {
		v = l.hoist(jen.Qual(valuePath, "Present").Call(quote(l.hintOr("value")), v.code), l.hintOr("v"), v.typ.Elem)
	}
	w := l.to(v, want)
	l.hint = ""
	return w
}

// cond is n as a condition.
func (l *lowerer) cond(n *expr.Node) jen.Code { return l.to(l.value(n), schema.BoolType).code }

// not is the negation of n as a condition.
func (l *lowerer) not(n *expr.Node) jen.Code { return lowerNot(l.to(l.value(n), schema.BoolType)).code }

// convert turns code of the Go form of from into that of to. It is code itself when the forms are the same.
func (l *lowerer) convert(code jen.Code, from, to *schema.Type) jen.Code {
	return l.to(lowered{code: code, prec: lowerAtom, typ: from}, to).code
}

// Go's operator precedences.
const (
	lowerOr = iota + 1
	lowerAnd
	lowerRel
	lowerAdd
	lowerMul
	lowerUnary
	lowerAtom
)

// A lowered is a lowered expression.
type lowered struct {
	code jen.Code
	prec int
	typ  *schema.Type // whose Go form the code has
	lit  any          // bool, int64, float64 or string: an untyped constant; code is set too
	not  *lowered     // the negation of a comparison, where Go has an operator for it
	stop bool         // a float product, which must not be fused with a sum: float64(...) keeps results equal on every machine
}

// lowerGoInt is Go's int, the type of len.
var lowerGoInt = &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}

func lowerPrimary(code jen.Code, t *schema.Type) lowered {
	return lowered{code: code, prec: lowerAtom, typ: t}
}

// in is the code of v where Go asks for at least the given precedence.
func (v lowered) in(prec int) jen.Code {
	if v.prec < prec {
		return jen.Parens(v.code)
	}
	return v.code
}

// literal makes a constant.
func (l *lowerer) literal(x any) lowered {
	v := lowered{prec: lowerAtom, lit: x}
	switch x := x.(type) {
	case bool:
		v.typ, v.code = schema.BoolType, jen.Lit(x)
	case int64:
		v.typ, v.code = schema.IntType, wholeNumber(x)
		if x < 0 {
			v.prec = lowerUnary
		}
	case string:
		v.typ, v.code = schema.StringType, quote(x)
		if strings.HasPrefix(x, `{"`) && json.Valid([]byte(x)) { // without escapes it can be read
			v.code = quoteOne(x)
		}
	case float64:
		return l.floatLiteral(x)
	case []byte:
		if x == nil {
			return lowerPrimary(jen.Nil(), schema.BytesType)
		}
		return lowerPrimary(jen.Index().Byte().Call(quoteOne(string(x))), schema.BytesType)
	case time.Duration:
		return lowered{code: durationCode(x), prec: lowerMul, typ: schema.DurationType}
	}
	return v
}

// floatLiteral writes a float. What Go has no constant for is a call.
func (l *lowerer) floatLiteral(x float64) lowered {
	switch {
	case math.IsNaN(x):
		return lowerPrimary(jen.Qual("math", "NaN").Call(), schema.FloatType)
	case math.IsInf(x, 0):
		sign := "1"
		if x < 0 {
			sign = "-1"
		}
		return lowerPrimary(jen.Qual("math", "Inf").Call(jen.Op(numeral(sign))), schema.FloatType)
	case x == 0 && math.Signbit(x):
		return lowerPrimary(jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Op("-1")), schema.FloatType)
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	v := lowered{code: jen.Op(numeral(text)), prec: lowerAtom, typ: schema.FloatType, lit: x}
	if x < 0 {
		v.prec = lowerUnary
	}
	return v
}

// typedLiteral writes a constant so that Go infers the type t from it alone.
func (l *lowerer) typedLiteral(v lowered, t *schema.Type) jen.Code {
	if t.Kind == schema.Opt || t.Kind == schema.Any {
		return l.to(v, t).code
	}
	w := l.to(v, t)
	if w.lit == nil || t.Kind == schema.Bool {
		return w.code
	}
	if t.Kind == schema.Float && (t.Go == nil || t.Go.Path == "" && t.Go.Name == "float64") {
		return l.literal(lowerFloat(v.lit)).code
	}
	typ := l.goType(t)
	if lowerRender(typ) == "string" {
		return w.code
	}
	return jen.Add(typ).Call(w.code)
}

func lowerFloat(x any) float64 {
	if n, ok := x.(int64); ok {
		return float64(n)
	}
	f, _ := x.(float64)
	return f
}

// value lowers n. A value whose type is optional is a pointer.
func (l *lowerer) value(n *expr.Node) lowered {
	switch n.Op {
	case expr.Lit:
		if n.Value == nil {
			return lowerPrimary(jen.Nil(), schema.NullType)
		}
		return l.literal(n.Value)
	case expr.Name, expr.Field, expr.OptField, expr.Index:
		return l.read(n)
	case expr.Call:
		return l.call(n)
	case expr.Macro:
		return l.macro(n)
	case expr.Unary:
		return l.unary(n)
	case expr.Binary:
		return l.binary(n)
	case expr.Cond:
		return l.choice(n)
	case expr.ListLit:
		return l.list(n)
	case expr.MapLit:
		return lowerPrimary(l.mapping(n, true), n.Type)
	case expr.Intrinsic, expr.Make, expr.Lambda, expr.Handle, expr.Concat:
		return l.coreValue(n)
	}
	return lowerPrimary(jen.Nil(), n.Type)
}

// read lowers a name or a field.
func (l *lowerer) read(n *expr.Node) lowered {
	if v := l.at(n); v != nil {
		return *v
	}
	if v := l.missing(n); v != nil {
		return *v
	}
	if n.Type.Kind != schema.Opt {
		return l.deref(l.place(n), n.Type)
	}
	o := l.optional(n, true)
	if len(o.guards) == 0 && o.place.ptr {
		return lowerPrimary(o.place.code, n.Type)
	}
	name := l.fresh(lowerLastName(n, "v"))
	l.guard(name, l.goType(n.Type), nil, lowerAll(o.guards), []jen.Code{jen.Id(ident(name)).Op("=").Add(o.pointer())})
	return lowerPrimary(jen.Id(ident(name)), n.Type)
}

func (l *lowerer) add(code ...jen.Code) { l.stmts = append(l.stmts, code...) }

// capture runs f and returns the statements it added.
func (l *lowerer) capture(f func()) []jen.Code {
	outer := l.stmts
	l.stmts = nil
	f()
	inner := l.stmts
	l.stmts = outer
	return inner
}

// deref is the value behind a place.
func (l *lowerer) deref(p storage, t *schema.Type) lowered {
	if p.ptr {
		return lowered{code: jen.Op("*").Add(p.code), prec: lowerUnary, typ: t}
	}
	return lowerPrimary(p.code, t)
}

// place is where the value of a chain of names and fields is held, every receiver on the way being present.
func (l *lowerer) place(n *expr.Node) storage {
	p := l.stored(n)
	if n.Type != nil && n.Type.Kind == schema.Struct && n.Stored != nil && n.Stored.Present().Kind == schema.Union {
		return l.variantOf(p, n.Type)
	}
	return p
}

// stored is place of a union that is known to be one of its variants as the union.
func (l *lowerer) stored(n *expr.Node) storage {
	if n.Sym != nil {
		st, ok := l.locals[n.Sym]
		if !ok {
			st = l.resolve(n.Sym)
		}
		st.ptr = st.ptr || n.Sym.Type.Kind == schema.Opt
		return st
	}
	if n.Op == expr.Index {
		return l.itemOf(l.place(n.Kids[0]), n)
	}
	if n.Op != expr.Field && n.Op != expr.OptField {
		v := l.value(n)
		return storage{code: l.simple(v, n).code, ptr: v.typ.Kind == schema.Opt}
	}
	if l.alone != nil {
		if st := l.alone(n); st != nil {
			return *st
		}
	}
	recv := n.Kids[0]
	return l.fieldOf(l.place(recv), recv.Type.Present(), n.Text)
}

// fieldOf is field name of the value of type t held at p.
func (l *lowerer) fieldOf(p storage, t *schema.Type, name string) storage {
	code := p.code
	if t.Kind == schema.Map {
		if p.ptr {
			code = jen.Parens(jen.Op("*").Add(code))
		}
		return storage{code: jen.Add(code).Index(quote(name)), ptr: t.Elem.Kind == schema.Opt}
	}
	if t.Kind == schema.Union {
		if p.ptr {
			code = jen.Parens(jen.Op("*").Add(code))
		}
		return storage{code: jen.Add(code).Dot(ident(tagMethod(lowerRender(l.goType(t))))).Call()}
	}
	if p.ptr && t.Go != nil && t.Go.Ptr {
		code = jen.Parens(jen.Op("*").Add(code))
	}
	f := t.Field(name)
	return storage{code: jen.Add(code).Dot(ident(fieldName(f))), ptr: f.Type.Kind == schema.Opt}
}

// simple makes v cheap to write more than once: a name, or a chain of fields.
func (l *lowerer) simple(v lowered, n *expr.Node) lowered {
	switch n.Op {
	case expr.Name, expr.Field, expr.OptField:
		if v.prec == lowerAtom {
			return v
		}
	}
	if s, ok := v.code.(*jen.Statement); ok && lowerIsIdent(lowerRender(s)) {
		return v
	}
	name := l.fresh(lowerLastName(n, "v"))
	l.add(jen.Id(ident(name)).Op(":=").Add(v.code))
	return lowered{code: jen.Id(ident(name)), prec: lowerAtom, typ: v.typ}
}

func lowerIsIdent(s string) bool {
	for i, r := range s {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return s != ""
}

// A lowerPresent is an optional chain taken apart: the value is there when all guards hold and, when place is a pointer, that is
// not nil.
type lowerPresent struct {
	guards []jen.Code
	place  storage
	typ    *schema.Type // of the value when it is there
	own    bool         // place is a variable of the lowerer, which it may set
}

// conditions under which the value is there.
func (o lowerPresent) conditions() []jen.Code {
	if o.place.ptr {
		return append(o.guards[:len(o.guards):len(o.guards)], jen.Add(o.place.code).Op("!=").Nil())
	}
	return o.guards
}

// absence is the negation of the conditions.
func (o lowerPresent) absence() []jen.Code {
	var out []jen.Code
	for _, g := range o.conditions() {
		text := lowerRender(g)
		if code, ok := strings.CutSuffix(text, " != nil"); ok {
			out = append(out, jen.Op(expression(code)).Op("==").Nil())
		} else if short := tooShort(text); short != nil {
			out = append(out, short)
		} else {
			out = append(out, jen.Op("!").Add(g))
		}
	}
	return out
}

// pointer to the value; valid only where the guards hold.
func (o lowerPresent) pointer() jen.Code {
	if o.place.ptr {
		return o.place.code
	}
	return jen.Op("&").Add(o.place.code)
}

func lowerAll(codes []jen.Code) jen.Code { return lowerJoin(codes, "&&") }

func lowerJoin(codes []jen.Code, op string) jen.Code {
	s := jen.Add(codes[0])
	for _, c := range codes[1:] {
		s.Op(operator(op)).Add(c)
	}
	return s
}

// optional takes an optional value apart. Without needed, only whether it is there will be asked.
func (l *lowerer) optional(n *expr.Node, needed bool) lowerPresent {
	typ := n.Stored.Present()
	if n.Op == expr.Index {
		return l.indexed(n, needed)
	}
	if n.Op != expr.Field && n.Op != expr.OptField || n.Sym != nil {
		if n.Op == expr.Name || n.Sym != nil {
			return lowerPresent{place: l.place(n), typ: typ}
		}
		return lowerPresent{place: storage{code: l.simple(l.value(n), n).code, ptr: true}, typ: typ}
	}
	if l.alone != nil {
		if st := l.alone(n); st != nil {
			return lowerPresent{place: *st, typ: typ}
		}
	}
	recv := n.Kids[0]
	t := recv.Type.Present()
	var guards []jen.Code
	p := storage{}
	if recv.Type.Kind == schema.Opt {
		o := l.optional(recv, needed || t.Kind == schema.Map || t.Field(n.Text).Type.Kind == schema.Opt)
		guards, p = o.conditions(), o.place
	} else {
		p = l.place(recv)
	}
	st := l.fieldOf(p, t, n.Text)
	if t.Kind == schema.Map && !st.ptr {
		return l.lookup(n.Text, st, guards, typ, needed)
	}
	return lowerPresent{guards: guards, place: st, typ: typ}
}

// lookup reads a key of a map, which may not be there.
func (l *lowerer) lookup(hint string, st storage, guards []jen.Code, typ *schema.Type, needed bool) lowerPresent {
	ok := l.fresh("ok")
	if len(guards) == 0 {
		name := "_"
		if needed {
			name = l.fresh(hint)
		}
		l.add(jen.List(jen.Id(ident(name)), jen.Id(ident(ok))).Op(":=").Add(st.code))
		return lowerPresent{guards: []jen.Code{jen.Id(ident(ok))}, place: storage{code: jen.Id(ident(name))}, typ: typ, own: true}
	}
	name, found := l.fresh(hint), l.fresh("found")
	l.add(jen.Var().Id(ident(name)).Op("*").Add(l.goType(typ)))
	l.add(jen.If(lowerAll(guards)).Block(
		jen.If(jen.List(jen.Id(ident(found)), jen.Id(ident(ok))).Op(":=").Add(st.code), jen.Id(ident(ok))).Block(jen.Id(ident(name)).Op("=").Op("&").Id(ident(found))),
	))
	return lowerPresent{place: storage{code: jen.Id(ident(name)), ptr: true}, typ: typ}
}

// lowerLastName is the last name of a chain, as a hint for a variable.
func lowerLastName(n *expr.Node, otherwise string) string {
	switch n.Op {
	case expr.Field, expr.OptField:
		return n.Text
	case expr.Index:
		if key, ok := n.Kids[1].Value.(string); ok && n.Kids[1].Op == expr.Lit && lowerIsIdent(key) {
			return key
		}
	case expr.Call:
		if (n.Text == "default" || n.Text == "first") && len(n.Kids) > 0 {
			return lowerLastName(n.Kids[0], otherwise)
		}
	}
	return otherwise
}

// lowerRender writes code out, to compare it or look at it.
func lowerRender(c jen.Code) string { return jen.Add(c).GoString() }
