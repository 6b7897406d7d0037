package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// same reports whether values of a and b have the same type in Go.
func (l *lowerer) same(a, b *schema.Type) bool {
	switch {
	case a == b:
		return true
	case a.Kind != b.Kind && !(lowerIsText(a) && lowerIsText(b)):
		return false
	case a.Go != nil || b.Go != nil:
		return lowerSameName(lowerGoName(a), lowerGoName(b), l.same)
	}
	switch a.Kind {
	case schema.List, schema.Map, schema.Opt:
		return l.same(a.Elem, b.Elem)
	case schema.Struct, schema.Union, schema.Enum, schema.String: // named by the generator, in the package being written
		return lowerRender(l.goType(a)) == lowerRender(l.goType(b))
	}
	return true
}

func lowerIsText(t *schema.Type) bool { return t.Kind == schema.String || t.Kind == schema.Enum }

// lowerGoName is how a type is written in Go, the default of its kind made explicit.
func lowerGoName(t *schema.Type) *schema.Go {
	if t.Go != nil {
		return t.Go
	}
	switch t.Kind {
	case schema.Int:
		return &schema.Go{Name: "int64"}
	case schema.Float:
		return &schema.Go{Name: "float64"}
	case schema.Bool:
		return &schema.Go{Name: "bool"}
	case schema.String:
		return &schema.Go{Name: "string"}
	case schema.Enum:
		if t.Decl == nil {
			return &schema.Go{Name: "string"}
		}
	}
	return nil
}

func lowerSameName(a, b *schema.Go, same func(a, b *schema.Type) bool) bool {
	if a == nil || b == nil || a.Path != b.Path || a.Name != b.Name || a.Ptr != b.Ptr || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// to converts v to the Go form of t. Conversions that can fail, and those that take a loop, become statements.
func (l *lowerer) to(v lowered, t *schema.Type) lowered {
	from := v.typ
	switch {
	case t.Kind == schema.Dynamic:
		return l.toDynamic(v)
	case t.Kind == schema.Opaque:
		return v
	case from.Kind == schema.Null:
		if t.Kind == schema.Any {
			return lowerPrimary(jen.Qual(valuePath, "Null").Call(), t)
		}
		return lowered{code: v.code, prec: lowerAtom, typ: t}
	case t.Kind == schema.Invalid || from.Kind == schema.Invalid:
		return v
	case t.Kind == schema.Any:
		return l.toAny(v)
	case from.Kind == schema.Any:
		return l.hoist(jen.Qual(valuePath, "Cast").Types(l.goType(t)).Call(quote(l.hintOr("value")), v.code), l.hintOr("v"), t)
	case from.Kind == schema.Opt:
		return l.fromOpt(v, t)
	case t.Kind == schema.Opt:
		return l.toOpt(v, t)
	case v.lit != nil:
		return l.toLiteral(v, t)
	case l.same(from, t):
		v.typ = t
		return v
	}
	switch t.Kind {
	case schema.Union: // of a variant, which fits without being told
		return lowered{code: v.code, prec: v.prec, typ: t}
	case schema.Int:
		return l.toInt(v, t)
	case schema.Float:
		return l.toFloat(v, t)
	case schema.List, schema.Map:
		return l.toCollection(v, t)
	case schema.Struct:
		return l.toStruct(v, t)
	}
	return l.cast(v, t)
}

// cast is a Go conversion between types of one base.
func (l *lowerer) cast(v lowered, t *schema.Type) lowered {
	return lowerPrimary(jen.Add(l.goType(t)).Call(v.code), t)
}

// toLiteral gives a constant another type, which Go does by itself where it fits.
func (l *lowerer) toLiteral(v lowered, t *schema.Type) lowered {
	switch x := v.lit.(type) {
	case int64:
		if t.Kind == schema.Float && (x > 1<<53 || x < -1<<53) { // folded from smaller ones; the error is the run's
			return l.toFloat(lowerPrimary(jen.Int64().Call(v.code), schema.IntType), t)
		}
		if t.Kind == schema.Float {
			return lowered{code: v.code, prec: v.prec, typ: t, lit: x}
		}
		if !lowerFits(x, t) {
			return l.toInt(lowerPrimary(jen.Int64().Call(v.code), schema.IntType), t)
		}
	case float64:
		if t.Go != nil && t.Go.Name != "float64" {
			return l.cast(lowerPrimary(jen.Float64().Call(v.code), schema.FloatType), t)
		}
	}
	return lowered{code: v.code, prec: v.prec, typ: t, lit: v.lit}
}

// lowerWider lists, for each Go integer type, those that hold all its values.
var lowerWider = map[string]string{
	"int8": "int16 int32 int64 int", "int16": "int32 int64 int", "int32": "int64 int", "int": "int64",
	"uint8": "uint16 uint32 uint64 uint int16 int32 int64 int", "uint16": "uint32 uint64 uint int32 int64 int", "uint32": "uint64 uint int64",
	"uint": "uint64",
}

func lowerHolds(to, from *schema.Go) bool {
	if to.Path != "" || from.Path != "" {
		return false
	}
	for _, name := range strings.Fields(lowerWider[from.Name]) {
		if name == to.Name {
			return true
		}
	}
	return false
}

// toInt converts between integer types of Go; by way of int64, and checked, when the value might not fit.
func (l *lowerer) toInt(v lowered, t *schema.Type) lowered {
	from, to := lowerGoName(v.typ), lowerGoName(t)
	if v.typ.Kind != schema.Int {
		return v
	}
	switch {
	case lowerHolds(to, from):
		return l.cast(v, t)
	case to.Path == "" && to.Name == "int64" && from.Path == "": // from unsigned
		return l.fromUnsigned(v, t)
	case to.Path == "" && to.Name == "int64", from.Path == to.Path && from.Name == to.Name:
		return l.cast(v, t)
	}
	wide := l.to(v, schema.IntType)
	if to.Path != "" { // a named type: its base is not known here
		return l.cast(wide, t)
	}
	return l.hoist(jen.Qual(flowPath, "Int").Types(jen.Id(ident(to.Name))).Call(wide.code), l.hintOr("n"), t)
}

// hintOr is the name of what is being converted, if it has one.
func (l *lowerer) hintOr(other string) string {
	if l.hint != "" {
		return l.hint
	}
	return other
}

// fromUnsigned converts a uint or uint64, which may be too large.
func (l *lowerer) fromUnsigned(v lowered, t *schema.Type) lowered {
	name := l.fresh("n")
	l.add(jen.Id(ident(name)).Op(":=").Int64().Call(v.code))
	l.add(jen.If(jen.Id(ident(name)).Op("<").Lit(0)).Block(l.fail(
		jen.Qual(valuePath, "Invalid").Call(jen.Lit("%d does not fit in an int"), jen.Uint64().Call(jen.Id(ident(name)))))...))
	return lowerPrimary(jen.Id(ident(name)), t)
}

func (l *lowerer) toFloat(v lowered, t *schema.Type) lowered {
	if v.typ.Kind != schema.Int {
		return l.cast(v, t)
	}
	if small := lowerGoName(v.typ); small.Path == "" {
		switch small.Name {
		case "int8", "int16", "int32", "uint8", "uint16", "uint32":
			return l.cast(v, t)
		}
	}
	f := l.hoist(jen.Qual(flowPath, "Float").Call(l.to(v, schema.IntType).code), "float", schema.FloatType)
	return l.to(f, t)
}

// toAny makes a dynamic value.
func (l *lowerer) toAny(v lowered) lowered {
	any := schema.AnyType
	if v.typ.Kind == schema.Any {
		return v
	}
	simple := func(name string, t *schema.Type) lowered {
		return lowerPrimary(jen.Qual(valuePath, ident(name)).Call(l.to(v, t).code), any)
	}
	switch v.typ.Kind {
	case schema.Bool:
		return simple("Bool", schema.BoolType)
	case schema.Int:
		return simple("Int", schema.IntType)
	case schema.Float:
		return simple("Float", schema.FloatType)
	case schema.String, schema.Enum:
		return simple("String", schema.StringType)
	}
	return l.hoist(jen.Qual(valuePath, "Of").Call(v.code), "v", any)
}

// toOpt makes a pointer to a present value.
func (l *lowerer) toOpt(v lowered, t *schema.Type) lowered {
	w := l.to(v, t.Elem)
	code := w.code
	if w.lit != nil {
		code = l.typedLiteral(w, t.Elem)
	}
	if t.Elem.Kind == schema.Union { // what it holds would be taken for the type
		return lowerPrimary(jen.Qual(flowPath, "Ptr").Types(l.goType(t.Elem)).Call(code), t)
	}
	return lowerPrimary(jen.Qual(flowPath, "Ptr").Call(code), t)
}

// fromOpt converts pointers; nil stays nil.
func (l *lowerer) fromOpt(v lowered, t *schema.Type) lowered {
	if t.Kind != schema.Opt { // the checker proved it present
		return l.to(l.deref(storage{code: v.in(lowerAtom), ptr: true}, v.typ.Elem), t)
	}
	if l.same(v.typ.Elem, t.Elem) {
		return lowered{code: v.code, prec: v.prec, typ: t}
	}
	item := l.fresh("v")
	w, stmts := l.converted(item, v.typ.Elem, t.Elem)
	if len(stmts) == 0 {
		return lowerPrimary(l.convertCall("ConvertOpt", v.code, item, v.typ.Elem, t.Elem, w), t)
	}
	name, from := l.fresh("v"), l.fresh("from")
	l.add(jen.Var().Id(ident(name)).Add(l.goType(t)))
	body := append([]jen.Code{jen.Id(ident(item)).Op(":=").Op("*").Id(ident(from))}, stmts...)
	body = append(body, jen.Id(ident(name)).Op("=").Qual(flowPath, "Ptr").Call(w.code))
	l.add(jen.If(jen.Id(ident(from)).Op(":=").Add(v.code), jen.Id(ident(from)).Op("!=").Nil()).Block(body...))
	return lowerPrimary(jen.Id(ident(name)), t)
}

// converted is the variable item converted, and the statements that takes.
func (l *lowerer) converted(item string, from, to *schema.Type) (w lowered, stmts []jen.Code) {
	stmts = l.capture(func() { w = l.to(lowerPrimary(jen.Id(ident(item)), from), to) })
	return w, stmts
}

func (l *lowerer) convertCall(function string, code jen.Code, item string, from, to *schema.Type, w lowered) jen.Code {
	return jen.Qual(flowPath, ident(function)).Call(code,
		jen.Func().Params(jen.Id(ident(item)).Add(l.goType(from))).Add(l.goType(to)).Block(jen.Return(w.code)))
}

// toCollection converts item by item.
func (l *lowerer) toCollection(v lowered, t *schema.Type) lowered {
	from, elem := v.typ.Elem, t.Elem
	if l.same(from, elem) {
		return l.cast(v, t) // a named list or map type
	}
	item := l.fresh("v")
	w, stmts := l.converted(item, from, elem)
	function := "ConvertList"
	if t.Kind == schema.Map {
		function = "ConvertMap"
	}
	if len(stmts) == 0 {
		c := lowerPrimary(l.convertCall(function, v.code, item, from, elem, w), t)
		if t.Go != nil {
			return l.cast(c, t)
		}
		return c
	}
	name := l.fresh("converted")
	if t.Kind == schema.List {
		l.add(jen.Id(ident(name)).Op(":=").Make(l.goType(t), jen.Lit(0), jen.Len(v.code)))
		stmts = append(stmts, jen.Id(ident(name)).Op("=").Append(jen.Id(ident(name)), w.code))
		l.add(jen.For(jen.List(jen.Id("_"), jen.Id(ident(item))).Op(":=").Range().Add(v.code)).Block(stmts...))
		return lowerPrimary(jen.Id(ident(name)), t)
	}
	key := l.fresh("key")
	l.add(jen.Id(ident(name)).Op(":=").Make(l.goType(t), jen.Len(v.code)))
	body := append([]jen.Code{jen.Id(ident(item)).Op(":=").Add(v.in(lowerAtom)).Index(jen.Id(ident(key)))}, stmts...)
	body = append(body, jen.Id(ident(name)).Index(jen.Id(ident(key))).Op("=").Add(w.code))
	l.add(jen.For(jen.List(jen.Id("_"), jen.Id(ident(key))).Op(":=").Range().Qual(flowPath, "SortedKeys").Call(v.code)).Block(body...))
	return lowerPrimary(jen.Id(ident(name)), t)
}

// toStruct converts field by field. Fields that from lacks have a default or are optional.
func (l *lowerer) toStruct(v lowered, t *schema.Type) lowered {
	if a, b := lowerGoName(v.typ), lowerGoName(t); a != nil && b != nil && a.Path == b.Path && a.Name == b.Name && a.Ptr != b.Ptr {
		if a.Ptr {
			return lowered{code: jen.Op("*").Add(v.in(lowerUnary)), prec: lowerUnary, typ: t}
		}
		return lowerPrimary(jen.Qual(flowPath, "Ptr").Call(v.code), t)
	}
	if s := lowerRender(v.code); !lowerIsPath(s) {
		name := l.fresh("v")
		l.add(jen.Id(ident(name)).Op(":=").Add(v.code))
		v = lowerPrimary(jen.Id(ident(name)), v.typ)
	}
	var fields []jen.Code
	for _, f := range t.Fields {
		g := v.typ.Field(f.Name)
		switch {
		case g != nil:
			l.hint = g.Name
			w := l.to(lowered{code: jen.Add(v.in(lowerAtom)).Dot(ident(fieldName(g))), prec: lowerAtom, typ: g.Type}, f.Type)
			fields = append(fields, jen.Id(ident(fieldName(f))).Op(":").Add(w.code))
		case f.Default != nil && l.deflt != nil:
			fields = append(fields, jen.Id(ident(fieldName(f))).Op(":").Add(l.deflt(f)))
		}
	}
	plain := t
	if t.Go != nil && t.Go.Ptr {
		bare, name := *t, *t.Go
		name.Ptr = false
		bare.Go = &name
		plain = &bare
	}
	lit := jen.Add(l.goType(plain)).Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: len(fields) > 2}, fields...)
	if plain != t {
		return lowered{code: jen.Op("&").Add(lit), prec: lowerUnary, typ: t}
	}
	return lowerPrimary(lit, t)
}

// lowerIsPath recognises a name or a chain of fields.
func lowerIsPath(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if !lowerIsIdent(part) {
			return false
		}
	}
	return true
}
