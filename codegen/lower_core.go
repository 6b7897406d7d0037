package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

const dynamicPath = schema.DynamicPath

// A coreLowerer writes what only bodies that translators make have. Without one a lowerer has no place for it.
type coreLowerer struct {
	handle func(n *expr.Node) []jen.Code // a Handle: of the slots of a state there may be any number
	lambda func(n *expr.Node, sig *schema.Signature) jen.Code
	whole  func(t *schema.Type) // an open state is made one value
}

// coreValue lowers what no language has text for.
func (l *lowerer) coreValue(n *expr.Node) lowered {
	switch n.Op {
	case expr.Intrinsic, expr.Handle:
		c := l.invoke(n)
		if fails(n) {
			name := lowerLastName(n, "v")
			if n.Op == expr.Handle {
				name = n.Use.Name
			}
			return l.hoist(c, name, n.Type)
		}
		return lowerPrimary(c, n.Type)
	case expr.Make:
		return lowerPrimary(l.makeValue(n), n.Type)
	case expr.Lambda:
		return lowerPrimary(l.inside().lambda(n, n.Type.Func), n.Type)
	}
	out := l.literal("")
	for _, k := range n.Kids { // Concat
		out = l.concat(out, l.to(l.value(k), schema.StringType))
	}
	return out
}

func (l *lowerer) inside() *coreLowerer {
	if l.core == nil {
		panic(refused{"a place for a handle or a lambda", "an expression of its own"})
	}
	return l.core
}

// fails reports whether an expression is a call that gives an error besides.
func fails(n *expr.Node) bool {
	switch n.Op {
	case expr.Intrinsic:
		return n.Func.Fails
	case expr.Handle:
		if t, ok := n.Use.Ref.(*ir.TextFunc); ok {
			return t.Fails
		}
		return n.Use.Kind == expr.UseFlow
	}
	return false
}

// invoke is the call of an Intrinsic or of what a Handle names, as it stands: one that fails gives an error besides. More
// are arguments at its end.
func (l *lowerer) invoke(n *expr.Node, more ...jen.Code) *jen.Statement {
	if n.Op == expr.Handle {
		return l.invokeHandle(n)
	}
	f, args := n.Func, n.Kids
	var name *jen.Statement
	if f.Method && args[0].Op == expr.Handle && args[0].Use.Kind == expr.UseAddress { // Go takes the address by itself
		name = jen.Add(l.value(args[0].Kids[0]).in(lowerAtom)).Dot(ident(f.Name))
		args = args[1:]
	} else if f.Method {
		name = jen.Add(l.to(l.value(args[0]), f.Params[0]).in(lowerAtom)).Dot(ident(f.Name))
		args = args[1:]
	} else {
		name = jen.Qual(importPath(f.Path), ident(f.Name))
	}
	if f.Const {
		return name
	}
	if len(f.TypeArgs) > 0 {
		var types []jen.Code
		for _, t := range f.TypeArgs {
			types = append(types, l.goType(t))
		}
		name.Types(types...)
	}
	var codes []jen.Code
	first := len(n.Kids) - len(args)
	rest := args[min(len(args), max(0, len(f.Params)-1-len(n.Kids)+len(args))):]
	lines := f.Variadic && len(rest) > 1 && slices.ContainsFunc(rest, func(k *expr.Node) bool { return k.Op == expr.Make && k.Struct != nil })
	for i, k := range args {
		if k.Op == expr.Handle && k.Use.Kind == expr.UseSlots {
			slots := l.inside().handle(k)
			codes, lines = append(codes, slots...), lines || len(slots) > 0
			continue
		}
		codes = append(codes, l.exprAs(k, f.Param(first+i)))
	}
	return name.Custom(parens(lines), append(codes, more...)...)
}

// invokeHandle is what a Handle names; text functions are called.
func (l *lowerer) invokeHandle(n *expr.Node) *jen.Statement {
	name := jen.Add(l.inside().handle(n)[0])
	t, ok := n.Use.Ref.(*ir.TextFunc)
	if !ok {
		return name
	}
	var args []jen.Code
	for i, k := range n.Kids {
		args = append(args, l.exprAs(k, t.Params[i].Type))
	}
	return name.Call(args...)
}

// makeValue writes an object of dynamic data or a struct.
func (l *lowerer) makeValue(n *expr.Node) *jen.Statement {
	parts, lines := l.makeFields(n)
	if n.Struct == nil {
		return jen.Qual(dynamicPath, "Object").Custom(parens(lines), parts...)
	}
	if n.Struct.Go != nil && n.Struct.Go.Ptr {
		own := *n.Struct.Go
		own.Ptr = false
		t := *n.Struct
		t.Go = &own
		return jen.Op("&").Add(l.goType(&t)).Custom(braces(lines), parts...)
	}
	return jen.Add(l.goType(n.Struct)).Custom(braces(lines), parts...)
}

// makeFields are the fields of an object or a struct, and whether each is on a line of its own.
func (l *lowerer) makeFields(n *expr.Node) (parts []jen.Code, lines bool) {
	nested := false
	for i, key := range n.Keys {
		nested = nested || n.Kids[i].Op == expr.Make
		if n.Struct == nil {
			parts = append(parts, put(key, l.exprAs(n.Kids[i], schema.DynamicType)))
			continue
		}
		nested = nested || lengthy(n.Kids[i]) || len(n.Keys) > 1 && tall(n.Kids[i])
		f := n.Struct.Field(key)
		parts = append(parts, field(fieldName(f), l.exprAs(n.Kids[i], f.Type)))
	}
	return parts, len(parts) > 2 || nested
}

// tall reports a list, which with other fields next to it makes a struct are on several lines.
func tall(n *expr.Node) bool { return n.Op == expr.ListLit && len(n.Kids) > 0 }

// lengthy reports whether a field of a struct is on a line of its own: text with values in it, and calls that make
// something.
func lengthy(n *expr.Node) bool {
	switch n.Op {
	case expr.Lit:
		text, _ := n.Value.(string)
		return len(text) > 40
	case expr.Intrinsic:
		return slices.ContainsFunc(n.Kids, func(k *expr.Node) bool { return k.Op == expr.Make })
	}
	return n.Op == expr.Concat
}

// toDynamic makes a value whose type only a run knows of one whose type is known.
func (l *lowerer) toDynamic(v lowered) lowered {
	simple := func(name string, t *schema.Type) lowered {
		return lowerPrimary(jen.Qual(dynamicPath, ident(name)).Call(l.to(v, t).code), schema.DynamicType)
	}
	switch v.typ.Kind {
	case schema.Dynamic:
		return v
	case schema.Null:
		return lowerPrimary(jen.Qual(dynamicPath, "Null").Call(), schema.DynamicType)
	case schema.Bool:
		return simple("Flag", schema.BoolType)
	case schema.Int:
		return simple("Whole", schema.IntType)
	case schema.Float:
		return simple("Number", schema.FloatType)
	case schema.String, schema.Enum:
		return simple("Text", schema.StringType)
	case schema.Opt:
		return l.optDynamic(v)
	case schema.Struct:
		if v.typ.Open && len(v.typ.Fields) == 0 {
			return lowerPrimary(jen.Qual(dynamicPath, "Object").Call(), schema.DynamicType)
		}
		if v.typ.Open || !slices.ContainsFunc(v.typ.Fields, func(f *schema.Field) bool { return f.Type.Kind != schema.Dynamic }) {
			l.inside().whole(v.typ)
			return lowerPrimary(jen.Add(v.in(lowerAtom)).Dot("snapshot").Call(), schema.DynamicType)
		}
	}
	return lowerPrimary(jen.Qual(dynamicPath, "Of").Call(l.toAny(v).code), schema.DynamicType)
}

// optDynamic keeps what is absent absent.
func (l *lowerer) optDynamic(v lowered) lowered {
	name, from := l.fresh(l.hintOr("v")), l.fresh("from")
	l.add(jen.Var().Id(ident(name)).Qual(dynamicPath, "Field"))
	body := l.capture(func() {
		w := l.toDynamic(l.deref(storage{code: jen.Id(ident(from)), ptr: true}, v.typ.Elem))
		l.add(jen.Id(ident(name)).Op("=").Add(w.code))
	})
	l.add(jen.If(jen.Id(ident(from)).Op(":=").Add(v.code), jen.Id(ident(from)).Op("!=").Nil()).Block(body...))
	return lowerPrimary(jen.Id(ident(name)), schema.DynamicType)
}

// at reads a path below a dynamic value; nil when n does not.
func (l *lowerer) at(n *expr.Node) *lowered {
	var path []string
	below := n
	for (below.Op == expr.Field || below.Op == expr.OptField) && below.Sym == nil && below.Kids[0].Type.Kind == schema.Dynamic {
		path = append([]string{below.Text}, path...)
		below = below.Kids[0]
	}
	if len(path) == 0 {
		return nil
	}
	v := lowerPrimary(jen.Add(l.value(below).in(lowerAtom)).Dot("At").Call(quoteAll(path)...), schema.DynamicType)
	return &v
}

// missing is a field that an open state does not have; nil when n is another one.
func (l *lowerer) missing(n *expr.Node) *lowered {
	if n.Op != expr.Field || n.Sym != nil || n.Kids[0].Type.Kind != schema.Struct || !n.Kids[0].Type.Open || n.Kids[0].Type.Field(n.Text) != nil {
		return nil
	}
	v := lowerPrimary(jen.Qual(dynamicPath, "Field").Values(), schema.DynamicType)
	return &v
}

// lambdaHead writes the head of a function literal.
func (fn *function) lambdaHead(f *expr.Function, sig *schema.Signature, named bool) *jen.Statement {
	var params []jen.Code
	for _, p := range f.Params {
		params = append(params, jen.Id(ident(fn.paramName(p))).Add(fn.g.goType(p.Type)))
	}
	return fn.g.results(jen.Func().Params(params...), sig, named)
}

// results writes what a function returns. Those with names can be set and returned by statements below them.
func (g *generator) results(head *jen.Statement, sig *schema.Signature, named bool) *jen.Statement {
	var results []jen.Code
	add := func(name string, t jen.Code) {
		if named {
			t = jen.Id(ident(name)).Add(t)
		}
		results = append(results, t)
	}
	if sig.Result != nil {
		add("out", g.goType(sig.Result))
	}
	if sig.Fails {
		add("err", jen.Error())
	}
	switch {
	case len(results) == 1 && !named:
		head.Add(results[0])
	case len(results) > 0:
		head.Params(results...)
	}
	return head
}

// zero is the zero value of a type, as a function returns it before an error.
func (g *generator) zero(t *schema.Type) jen.Code {
	switch {
	case t.Go != nil && t.Go.Ptr, t.Func != nil, t.Kind == schema.List, t.Kind == schema.Map, t.Kind == schema.Opt:
		return jen.Nil()
	}
	switch t.Kind {
	case schema.Bool:
		return jen.False()
	case schema.Int, schema.Float, schema.Duration:
		return jen.Lit(0)
	case schema.String, schema.Enum:
		return jen.Lit("")
	case schema.Any:
		return jen.Qual(valuePath, "Null").Call()
	}
	return g.goType(t).Values()
}

// slotValues are the fields of an open state as writes see them.
func (g *generator) slotValues(p *check.Program) []jen.Code {
	var out []jen.Code
	for i, s := range p.WF.State {
		fields := []jen.Code{field("Name", quote(s.Name.Name))}
		if t := slotTypes[s.Type.Kind]; t != "" && !s.Loose {
			fields = append(fields, field("Type", jen.Qual(dynamicPath, ident(t))))
		}
		if m := slotMerges[s.Merge.Kind]; m != "" {
			fields = append(fields, field("Merge", jen.Qual(dynamicPath, ident(m))))
		}
		fields = append(fields, field("Field", jen.Op("&").Id("state").Dot(ident(fieldName(p.State.Fields[i])))))
		out = append(out, jen.Qual(dynamicPath, "Slot").Values(fields...))
	}
	return out
}

var (
	slotTypes  = map[schema.Kind]string{schema.String: "String", schema.Float: "Num", schema.Bool: "Bool", schema.Map: "Map", schema.List: "Array"}
	slotMerges = map[ir.MergeKind]string{ir.MergeSetOnce: "Once", ir.MergeAppend: "Append", ir.MergeSum: "Sum"}
)

func put(key string, v jen.Code) jen.Code { return jen.Qual(dynamicPath, "Put").Call(quote(key), v) }

func quoteAll(words []string) []jen.Code {
	var out []jen.Code
	for _, w := range words {
		out = append(out, quote(w))
	}
	return out
}

// parens are the parentheses of a call, over several lines or on one.
func parens(multi bool) jen.Options {
	return jen.Options{Open: "(", Close: ")", Separator: ",", Multi: multi}
}
