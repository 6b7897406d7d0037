package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// builtin lowers a call of a function whose arguments are all present.
func (l *lowerer) builtin(n *expr.Node) lowered {
	switch n.Text {
	case "string":
		return l.text(l.value(n.Kids[0]))
	case "lowerAscii":
		return l.textCall(flowPath, "LowerASCII", n)
	case "upperAscii":
		return l.textCall(flowPath, "UpperASCII", n)
	case "trim":
		return l.textCall("strings", "TrimSpace", n)
	case "split":
		return l.textCall("strings", "Split", n)
	case "replace":
		return l.hoist(l.textCall(flowPath, "Replace", n).code, "replaced", schema.StringType)
	case "math.greatest", "math.least":
		return l.extreme(n)
	case "math.round", "math.ceil", "math.floor", "math.trunc":
		name := strings.TrimPrefix(n.Text, "math.")
		x := l.to(l.value(n.Kids[0]), schema.FloatType)
		return lowerPrimary(jen.Qual("math", ident(strings.ToUpper(name[:1])+name[1:])).Call(x.code), schema.FloatType)
	case "join":
		return l.joinCall(n)
	case "substring":
		return l.substring(n)
	case "timestamp", "duration":
		return l.parsed(n)
	}
	if _, ok := clockParts[n.Text]; ok {
		return l.clock(n)
	}
	return l.listCall(n)
}

// textCall calls a function of texts.
func (l *lowerer) textCall(path, function string, n *expr.Node) lowered {
	var args []jen.Code
	for _, k := range n.Kids {
		args = append(args, l.to(l.value(k), schema.StringType).code)
	}
	return lowerPrimary(jen.Qual(importPath(path), ident(function)).Call(args...), n.Type)
}

// joinCall lowers xs.join(separator).
func (l *lowerer) joinCall(n *expr.Node) lowered {
	xs := l.to(l.value(n.Kids[0]), schema.ListOf(schema.StringType))
	separator := l.literal("")
	if len(n.Kids) == 2 {
		separator = l.to(l.value(n.Kids[1]), schema.StringType)
	}
	return lowerPrimary(jen.Qual("strings", "Join").Call(xs.code, separator.code), schema.StringType)
}

// substring lowers s.substring(start) and s.substring(start, end).
func (l *lowerer) substring(n *expr.Node) lowered {
	args := []jen.Code{l.to(l.value(n.Kids[0]), schema.StringType).code}
	for _, k := range n.Kids[1:] {
		args = append(args, l.to(l.value(k), schema.IntType).code)
	}
	return l.hoist(jen.Qual(celPath, "Substring").Call(args...), "part", schema.StringType)
}

// listCall calls a method of a list.
func (l *lowerer) listCall(n *expr.Node) lowered {
	xs := l.value(n.Kids[0])
	same := &schema.Type{Kind: schema.List, Elem: xs.typ.Elem}
	call := func(function string, args ...jen.Code) jen.Code {
		return jen.Qual(flowPath, ident(function)).Call(append([]jen.Code{xs.code}, args...)...)
	}
	ints := func() (args []jen.Code) {
		for _, k := range n.Kids[1:] {
			args = append(args, l.to(l.value(k), schema.IntType).code)
		}
		return args
	}
	switch n.Text {
	case "flatten":
		return lowerPrimary(call("Flatten"), &schema.Type{Kind: schema.List, Elem: xs.typ.Elem.Elem})
	case "distinct":
		return lowerPrimary(call("Distinct"), same)
	case "sort":
		return lowerPrimary(call("Sort", lowerOrder(xs.typ.Elem)), same)
	case "reverse":
		return lowerPrimary(call("Reverse"), same)
	case "slice":
		return l.hoist(call("Slice", ints()...), "part", same)
	case "chunk":
		return l.hoist(call("Chunk", ints()...), "chunks", schema.ListOf(same))
	}
	if n.Type.Kind == schema.Float {
		xs = l.to(xs, schema.ListOf(schema.FloatType))
		return lowerPrimary(call("SumFloat"), schema.FloatType)
	}
	xs = l.to(xs, schema.ListOf(schema.IntType))
	return l.hoist(call("Sum"), "sum", schema.IntType)
}

// lowerOrder is the function that compares two values of an ordered type.
func lowerOrder(t *schema.Type) jen.Code {
	if t.Kind == schema.Time {
		return jen.Qual("time", "Time").Dot("Compare")
	}
	return jen.Qual("cmp", "Compare")
}

// sortBy lowers xs.sortBy(item, key). A key that cannot fail is computed by a function, any other in a loop before.
func (l *lowerer) sortBy(xs lowered, item string, t *schema.Type, stmts []jen.Code, key lowered) lowered {
	same := &schema.Type{Kind: schema.List, Elem: xs.typ.Elem}
	if l.release != nil {
		defer l.release(item)
	}
	if len(stmts) == 0 {
		name := jen.Id(ident(item))
		if !lowerUses([]jen.Code{key.code}, item) {
			name = jen.Id("_")
		}
		f := jen.Func().Params(name.Add(l.goType(xs.typ.Elem))).Add(l.goType(t)).Block(jen.Return(key.code))
		return lowerPrimary(jen.Qual(flowPath, "SortBy").Call(xs.code, f, lowerOrder(t)), same)
	}
	keys := l.fresh("keys")
	l.add(jen.Id(ident(keys)).Op(":=").Make(jen.Index().Add(l.goType(t)), jen.Lit(0), jen.Len(xs.code)))
	l.add(lowerLoop(item, xs.code, append(stmts, jen.Id(ident(keys)).Op("=").Append(jen.Id(ident(keys)), key.code))))
	return lowerPrimary(jen.Qual(flowPath, "SortByKeys").Call(xs.code, jen.Id(ident(keys)), lowerOrder(t)), same)
}

// extreme lowers math.greatest and math.least.
func (l *lowerer) extreme(n *expr.Node) lowered {
	function, of := "max", "Greatest"
	if n.Text == "math.least" {
		function, of = "min", "Least"
	}
	if n.Type.Kind != schema.Opt {
		var args []jen.Code
		for i, k := range n.Kids {
			v := l.to(l.value(k), n.Type)
			if i == 0 && v.lit != nil { // or else Go would take constants for an int
				v.code = l.typedLiteral(v, n.Type)
			}
			args = append(args, v.code)
		}
		return lowerPrimary(jen.Id(ident(function)).Call(args...), n.Type)
	}
	elem := n.Type.Elem
	xs := l.to(l.value(n.Kids[0]), schema.ListOf(elem))
	return lowerPrimary(jen.Qual(flowPath, ident(of)).Call(xs.code, lowerOrder(elem)), n.Type)
}

// concatLists lowers a + b + ... of lists to one call.
func (l *lowerer) concatLists(n *expr.Node) lowered {
	var args []jen.Code
	var add func(k *expr.Node)
	add = func(k *expr.Node) {
		if k.Op == expr.Binary && k.Text == "+" {
			add(k.Kids[0])
			add(k.Kids[1])
			return
		}
		args = append(args, l.to(l.value(k), n.Type).code)
	}
	add(n)
	return lowerPrimary(jen.Qual(flowPath, "Concat").Call(args...), n.Type)
}
