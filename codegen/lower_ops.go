package codegen

import (
	"math"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

func (l *lowerer) unary(n *expr.Node) lowered {
	k := l.value(n.Kids[0])
	if n.Text == "!" {
		return lowerNot(l.to(k, schema.BoolType))
	}
	if n.Type.Kind == schema.Float {
		if f, ok := k.lit.(float64); ok {
			return l.literal(-f)
		}
		return lowered{code: jen.Op("-").Add(l.to(k, schema.FloatType).in(lowerUnary)), prec: lowerUnary, typ: schema.FloatType}
	}
	if x, ok := k.lit.(int64); ok && x != math.MinInt64 {
		return l.literal(-x)
	}
	return l.partial("Neg", lowerLastName(n.Kids[0], "negative"), l.to(k, schema.IntType).code)
}

// lowerNot is !v: the opposite comparison where there is one.
func lowerNot(v lowered) lowered {
	if v.not != nil {
		return *v.not
	}
	if b, ok := v.lit.(bool); ok {
		return lowered{code: jen.Lit(!b), prec: lowerAtom, typ: schema.BoolType, lit: !b}
	}
	return lowered{code: jen.Op("!").Add(v.in(lowerUnary)), prec: lowerUnary, typ: schema.BoolType}
}

// partial calls a function of the runtime that may fail and keeps its result in a variable.
func (l *lowerer) partial(function, hint string, args ...jen.Code) lowered {
	return l.hoist(jen.Qual(flowPath, ident(function)).Call(args...), hint, schema.IntType)
}

// hoist writes `x, err := call` with the way out on error.
func (l *lowerer) hoist(call jen.Code, hint string, t *schema.Type) lowered {
	name := l.fresh(hint)
	l.add(jen.List(jen.Id(ident(name)), jen.Err()).Op(":=").Add(call))
	l.add(jen.If(jen.Err().Op("!=").Nil()).Block(l.fail(jen.Err())...))
	return lowerPrimary(jen.Id(ident(name)), t)
}

func (l *lowerer) binary(n *expr.Node) lowered {
	switch n.Text {
	case "&&", "||":
		return l.shortCircuit(n)
	case "==", "!=":
		if tested := lowerNullTested(n); tested != nil {
			return l.nullTest(n, tested)
		}
	case "in":
		return l.in(n)
	case "+", "-", "*":
		return l.arithmetic(n)
	case "/", "%":
		return l.division(n)
	}
	a := l.value(n.Kids[0])
	b := l.value(n.Kids[1])
	return l.compare(n.Text, a, b)
}

// lowerNullTested is the operand that n compares with null, or nil.
func lowerNullTested(n *expr.Node) *expr.Node {
	isNull := func(n *expr.Node) bool { return n.Op == expr.Lit && n.Value == nil }
	switch a, b := n.Kids[0], n.Kids[1]; {
	case isNull(b):
		return a
	case isNull(a):
		return b
	}
	return nil
}

// shortCircuit lowers && and ||. Statements of the right side run only where it is evaluated.
func (l *lowerer) shortCircuit(n *expr.Node) lowered {
	prec := lowerAnd
	if n.Text == "||" {
		prec = lowerOr
	}
	a := l.to(l.value(n.Kids[0]), schema.BoolType)
	name := ""
	if !n.Kids[1].Inline() {
		name = l.fresh("ok")
	}
	var b lowered
	stmts := l.capture(func() { b = l.to(l.value(n.Kids[1]), schema.BoolType) })
	if len(stmts) == 0 {
		return lowered{code: jen.Add(a.in(prec)).Op(operator(n.Text)).Add(b.in(prec + 1)), prec: prec, typ: schema.BoolType}
	}
	l.add(jen.Id(ident(name)).Op(":=").Add(a.code))
	test := jen.Id(ident(name))
	if n.Text == "||" {
		test = jen.Op("!").Id(ident(name))
	}
	l.add(jen.If(test).Block(append(stmts, jen.Id(ident(name)).Op("=").Add(b.code))...))
	return lowerPrimary(jen.Id(ident(name)), schema.BoolType)
}

func (l *lowerer) nullTest(n, tested *expr.Node) lowered {
	var o lowerPresent
	if tested.Stored.Kind != tested.Type.Kind { // proved present; the test is still written out
		o = lowerPresent{place: l.place(tested)}
		if !o.place.ptr {
			return l.literal(n.Text == "!=")
		}
	} else {
		o = l.optional(tested, false)
	}
	yes, no := lowerGroup(o.conditions(), "&&", lowerAnd), lowerGroup(o.absence(), "||", lowerOr)
	if n.Text == "==" {
		yes, no = no, yes
	}
	yes.not = &no
	return yes
}

// lowerGroup joins conditions, each of which binds at least as strongly as a comparison.
func lowerGroup(codes []jen.Code, op string, prec int) lowered {
	if len(codes) == 1 {
		prec = lowerRel
	}
	return lowered{code: lowerJoin(codes, op), prec: prec, typ: schema.BoolType}
}

// lowerOpposite maps comparisons to their negations. For floats only == and != have one, because of NaN.
var lowerOpposite = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// lowerCompare writes a comparison with a Go operator.
func lowerCompare(op string, a, b lowered) lowered {
	write := func(op string) lowered {
		return lowered{code: jen.Add(a.in(lowerRel + 1)).Op(operator(op)).Add(b.in(lowerRel + 1)), prec: lowerRel, typ: schema.BoolType}
	}
	v := write(op)
	if op == "==" || op == "!=" || a.typ.Kind != schema.Float && b.typ.Kind != schema.Float {
		not := write(lowerOpposite[op])
		v.not = &not
	}
	return v
}

// compare lowers a comparison of two values whose types the checker found alike.
func (l *lowerer) compare(op string, a, b lowered) lowered {
	switch a.typ.Kind {
	case schema.Int, schema.Float:
		a, b = l.numbers(a, b)
	case schema.String, schema.Enum:
		if a.lit == nil && b.lit == nil && !l.same(a.typ, b.typ) {
			a, b = l.to(a, schema.StringType), l.to(b, schema.StringType)
		}
	case schema.Bool:
		return l.compareBools(op, l.to(a, schema.BoolType), l.to(b, schema.BoolType))
	case schema.Time:
		return l.compareTimes(op, l.to(a, schema.TimeType), l.to(b, schema.TimeType))
	case schema.Duration:
		a, b = l.to(a, schema.DurationType), l.to(b, schema.DurationType)
	case schema.Bytes:
		v := lowerPrimary(jen.Qual("bytes", "Equal").Call(l.to(a, schema.BytesType).code, l.to(b, schema.BytesType).code), schema.BoolType)
		if op == "!=" {
			return lowerNot(v)
		}
		return v
	}
	return lowerCompare(op, a, b)
}

// numbers brings two numbers into Go types that can be compared.
func (l *lowerer) numbers(a, b lowered) (lowered, lowered) {
	if a.typ.Kind == schema.Float || b.typ.Kind == schema.Float {
		return l.to(a, schema.FloatType), l.to(b, schema.FloatType)
	}
	if lowerFits(a.lit, b.typ) || lowerFits(b.lit, a.typ) || a.lit == nil && b.lit == nil && l.same(a.typ, b.typ) || a.lit != nil && b.lit != nil {
		return a, b
	}
	return l.to(a, schema.IntType), l.to(b, schema.IntType)
}

// lowerIntRange is what a Go integer type holds on every machine.
func lowerIntRange(t *schema.Type) (lo, hi int64) {
	name := "int64"
	if t.Go != nil {
		name = t.Go.Name
		if t.Go.Path != "" {
			name = "int8" // a named type: its base is not known here
		}
	}
	switch name {
	case "int8":
		return math.MinInt8, math.MaxInt8
	case "int16":
		return math.MinInt16, math.MaxInt16
	case "int", "int32":
		return math.MinInt32, math.MaxInt32
	case "uint8":
		return 0, math.MaxUint8
	case "uint16":
		return 0, math.MaxUint16
	case "uint", "uint32", "uintptr":
		return 0, math.MaxUint32
	case "uint64":
		return 0, math.MaxInt64
	}
	return math.MinInt64, math.MaxInt64
}

// lowerFits reports whether a constant can be next to a value of type t.
func lowerFits(lit any, t *schema.Type) bool {
	n, ok := lit.(int64)
	if !ok {
		return false
	}
	lo, hi := lowerIntRange(t)
	return lo <= n && n <= hi
}

func (l *lowerer) compareBools(op string, a, b lowered) lowered {
	if a.lit != nil {
		a, b = b, a
	}
	if x, ok := b.lit.(bool); ok && a.lit == nil {
		if x == (op == "==") {
			return a
		}
		return lowerNot(a)
	}
	return lowerCompare(op, a, b)
}

func (l *lowerer) compareTimes(op string, a, b lowered) lowered {
	method := map[string]string{"==": "Equal", "!=": "Equal", "<": "Before", ">=": "Before", ">": "After", "<=": "After"}[op]
	v := lowerPrimary(jen.Add(a.in(lowerAtom)).Dot(ident(method)).Call(b.code), schema.BoolType)
	switch op {
	case "!=", ">=", "<=":
		return lowerNot(v)
	}
	return v
}

func (l *lowerer) arithmetic(n *expr.Node) lowered {
	if n.Type.Kind == schema.List {
		return l.concatLists(n)
	}
	a := l.value(n.Kids[0])
	b := l.value(n.Kids[1])
	switch n.Type.Kind {
	case schema.String:
		return l.concat(l.to(a, schema.StringType), l.to(b, schema.StringType))
	case schema.Time, schema.Duration:
		return l.moments(n, a, b)
	case schema.Float:
		return l.floats(n.Text, l.to(a, schema.FloatType), l.to(b, schema.FloatType))
	}
	function, hint := "Add", "sum"
	switch n.Text {
	case "-":
		function, hint = "Sub", "difference"
	case "*":
		function, hint = "Mul", "product"
	}
	x, xok := a.lit.(int64)
	y, yok := b.lit.(int64)
	if xok && yok {
		if v, ok := lowerFoldInt(n.Text, x, y); ok {
			return l.literal(v)
		}
	}
	return l.partial(function, lowerLastName(n.Kids[0], hint), l.to(a, schema.IntType).code, l.to(b, schema.IntType).code)
}

func lowerFoldInt(op string, x, y int64) (v int64, ok bool) {
	switch op {
	case "+":
		v = x + y
		return v, (v > x) == (y > 0)
	case "-":
		v = x - y
		return v, (v < x) == (y > 0)
	}
	if x == 0 || y == 0 {
		return 0, true
	}
	v = x * y
	return v, v/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64)
}

func (l *lowerer) concat(a, b lowered) lowered {
	x, xok := a.lit.(string)
	y, yok := b.lit.(string)
	switch {
	case xok && yok:
		return l.literal(x + y)
	case xok && x == "":
		return b
	case yok && y == "":
		return a
	}
	return lowered{code: jen.Add(a.in(lowerAdd)).Op("+").Add(b.in(lowerAdd)), prec: lowerAdd, typ: schema.StringType}
}

// floats computes with floats. Constants are folded here: Go would fold them exactly, which is another result.
func (l *lowerer) floats(op string, a, b lowered) lowered {
	if a.lit != nil && b.lit != nil {
		x, y := lowerFloat(a.lit), lowerFloat(b.lit)
		switch op {
		case "+":
			return l.literal(x + y)
		case "-":
			return l.literal(x - y)
		}
		return l.literal(x * y)
	}
	if op == "*" {
		return lowered{code: jen.Add(a.in(lowerMul)).Op("*").Add(b.in(lowerMul + 1)), prec: lowerMul, typ: schema.FloatType, stop: true}
	}
	a, b = lowerUnfused(a), lowerUnfused(b)
	return lowered{code: jen.Add(a.in(lowerAdd)).Op(operator(op)).Add(b.in(lowerAdd + 1)), prec: lowerAdd, typ: schema.FloatType}
}

// lowerUnfused keeps a product from being computed together with the sum around it, as some processors would.
func lowerUnfused(v lowered) lowered {
	if v.stop {
		return lowerPrimary(jen.Float64().Call(v.code), v.typ)
	}
	return v
}

// in lowers membership.
func (l *lowerer) in(n *expr.Node) lowered {
	a, list := n.Kids[0], n.Kids[1]
	x := l.value(a)
	if list.Op == expr.ListLit && len(list.Kids) <= 4 {
		if v, ok := l.inLiterals(x, a, list); ok {
			return v
		}
	}
	xs := l.value(list)
	if list.Type.Kind == schema.Map {
		ok := l.fresh("ok")
		l.add(jen.List(jen.Id("_"), jen.Id(ident(ok))).Op(":=").Add(jen.Add(xs.in(lowerAtom)).Index(l.to(x, schema.StringType).code)))
		return lowerPrimary(jen.Id(ident(ok)), schema.BoolType)
	}
	elem := xs.typ.Elem
	switch {
	case elem.Kind == schema.Bytes, elem.Kind == schema.Time, x.typ.Kind == schema.Int && !lowerFits(x.lit, elem) && !l.same(x.typ, elem):
		return l.inLoop(l.simple(x, a), xs)
	}
	return lowerPrimary(jen.Qual("slices", "Contains").Call(xs.code, l.to(x, elem).code), schema.BoolType)
}

// inLiterals lowers `x in ["a", "b"]` to comparisons.
func (l *lowerer) inLiterals(x lowered, a, list *expr.Node) (lowered, bool) {
	for _, k := range list.Kids {
		if k.Op != expr.Lit || k.Value == nil {
			return lowered{}, false
		}
	}
	if len(list.Kids) == 1 {
		return l.compare("==", x, l.value(list.Kids[0])), true
	}
	if x.lit == nil {
		x = l.simple(x, a)
	}
	var tests []jen.Code
	for _, k := range list.Kids {
		tests = append(tests, l.compare("==", x, l.value(k)).in(lowerRel))
	}
	return lowered{code: lowerJoin(tests, "||"), prec: lowerOr, typ: schema.BoolType}, true
}

// inLoop compares item by item, for types that == does not compare in Go.
func (l *lowerer) inLoop(x, xs lowered) lowered {
	found, item := l.fresh("found"), l.fresh("item")
	l.add(jen.Id(ident(found)).Op(":=").False())
	var equal lowered
	body := l.capture(func() { equal = l.compare("==", lowerPrimary(jen.Id(ident(item)), xs.typ.Elem), x) })
	body = append(body, jen.If(equal.code).Block(jen.Id(ident(found)).Op("=").True(), jen.Break()))
	l.add(jen.For(jen.List(jen.Id("_"), jen.Id(ident(item))).Op(":=").Range().Add(xs.code)).Block(body...))
	return lowerPrimary(jen.Id(ident(found)), schema.BoolType)
}

// choice lowers c ? a : b.
func (l *lowerer) choice(n *expr.Node) lowered {
	test := l.to(l.value(n.Kids[0]), schema.BoolType)
	name := l.fresh("choice")
	branch := func(k *expr.Node) []jen.Code {
		var v lowered
		stmts := l.capture(func() { v = l.to(l.value(k), n.Type) })
		return append(stmts, jen.Id(ident(name)).Op("=").Add(v.code))
	}
	isNull := func(k *expr.Node) bool { return k.Type.Kind == schema.Null }
	yes, no := n.Kids[1], n.Kids[2]
	if otherwise, ok := l.constant(no, n.Type); ok { // it can be there before the test
		l.add(jen.Id(ident(name)).Op(":=").Add(otherwise), jen.If(test.code).Block(branch(yes)...))
		return lowerPrimary(jen.Id(ident(name)), n.Type)
	}
	l.add(jen.Var().Id(ident(name)).Add(l.goType(n.Type)))
	switch {
	case isNull(no): // a variable starts as nil
		l.add(jen.If(test.code).Block(branch(yes)...))
	case isNull(yes):
		l.add(jen.If(lowerNot(test).code).Block(branch(no)...))
	default:
		l.add(jen.If(test.code).Block(branch(yes)...).Else().Block(branch(no)...))
	}
	return lowerPrimary(jen.Id(ident(name)), n.Type)
}

// constant is a literal as a value of the type t, if that is what n is.
func (l *lowerer) constant(n *expr.Node, t *schema.Type) (jen.Code, bool) {
	if n.Op != expr.Lit || n.Value == nil || t.Kind == schema.Opt || t.Kind == schema.Any {
		return nil, false
	}
	v := l.value(n)
	if v.lit == nil {
		return nil, false
	}
	return l.typedLiteral(v, t), true
}

func (l *lowerer) list(n *expr.Node) lowered {
	if n.Type.Kind == schema.Dynamic {
		var items []jen.Code
		for _, k := range n.Kids {
			items = append(items, l.exprAs(k, n.Type))
		}
		return lowerPrimary(jen.Qual(dynamicPath, "List").Custom(parens(len(items) > 4), items...), n.Type)
	}
	var items []jen.Code
	if len(n.Kids) == 0 && n.Type.Elem.Kind == schema.Opaque {
		return lowerPrimary(jen.Nil(), n.Type)
	}
	lines := n.Type.Elem.Kind == schema.Opaque && len(n.Kids) > 2
	for _, k := range n.Kids {
		if k.Op == expr.Make && k.Struct != nil && n.Type.Elem.Kind == schema.Opaque { // Go knows its type
			fields, long := l.makeFields(k)
			items, lines = append(items, jen.Custom(braces(long), fields...)), true
			continue
		}
		if k.Op == expr.MapLit && n.Type.Elem.Kind == schema.Struct && (n.Type.Elem.Go == nil || !n.Type.Elem.Go.Ptr) { // Go knows its type
			items = append(items, l.mapping(k, false))
			continue
		}
		items = append(items, l.to(l.value(k), n.Type.Elem).code)
	}
	if n.Type.Elem.Kind == schema.Opaque {
		return lowerPrimary(jen.Add(l.goType(n.Type)).Custom(braces(lines), items...), n.Type)
	}
	return lowerPrimary(jen.Add(l.goType(n.Type)).Values(items...), n.Type)
}
