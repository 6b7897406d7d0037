package codegen

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// template lowers text with expressions in it to a string: constants and conversions joined by +. Neighbouring constants
// are merged.
func (l *lowerer) template(t *expr.Template) jen.Code {
	var parts []lowered
	for i := range t.Segments {
		s := &t.Segments[i]
		part := l.literal(s.Lit)
		if s.Expr != nil {
			part = l.segment(s)
		}
		if n := len(parts) - 1; n >= 0 && parts[n].lit != nil && part.lit != nil {
			parts[n] = l.concat(parts[n], part)
			continue
		}
		parts = append(parts, part)
	}
	out := l.literal("")
	for _, part := range parts {
		out = l.concat(out, part)
	}
	return out.code
}

func (l *lowerer) segment(s *expr.Segment) lowered {
	v := l.value(s.Expr)
	switch s.Filter {
	case "json":
		if v.lit != nil {
			v = lowerPrimary(l.typedLiteral(v, s.Expr.Type), s.Expr.Type)
		}
		return lowerPrimary(jen.Qual(valuePath, "JSON").Call(v.code), schema.StringType)
	case expr.PyText:
		name, arg := "Text", v.code
		switch v.typ.Kind {
		case schema.Any:
		case schema.Bool, schema.Int, schema.Float, schema.String, schema.Enum:
			arg = l.to(v, schema.AnyType).code
		default: // what cannot fail, as Text cannot, where no node could
			name = "TextOf"
		}
		return lowerPrimary(jen.Qual(runtimePath+"/dynamic/py", ident(name)).Call(arg), schema.StringType)
	case "lines":
		return l.joined(v, "\n")
	case "join":
		return l.joined(v, s.FilterArg)
	}
	return l.text(v)
}

// joined writes the items of a list with a separator between them.
func (l *lowerer) joined(v lowered, separator string) lowered {
	texts := v
	if !l.same(v.typ, lowerStringList) {
		item := l.fresh("v")
		var w lowered
		stmts := l.capture(func() { w = l.text(lowerPrimary(jen.Id(ident(item)), v.typ.Elem)) })
		if len(stmts) == 0 {
			texts = lowerPrimary(l.convertCall("ConvertList", v.code, item, v.typ.Elem, schema.StringType, w), lowerStringList)
		} else {
			name := l.fresh("texts")
			l.add(jen.Id(ident(name)).Op(":=").Make(jen.Index().String(), jen.Lit(0), jen.Len(v.code)))
			stmts = append(stmts, jen.Id(ident(name)).Op("=").Append(jen.Id(ident(name)), w.code))
			l.add(jen.For(jen.List(jen.Id("_"), jen.Id(ident(item))).Op(":=").Range().Add(v.code)).Block(stmts...))
			texts = lowerPrimary(jen.Id(ident(name)), lowerStringList)
		}
	}
	return lowerPrimary(jen.Qual("strings", "Join").Call(texts.code, quote(separator)), schema.StringType)
}

var lowerStringList = &schema.Type{Kind: schema.List, Elem: schema.StringType}

// text is the text form of a value: language.md, "Expressions".
func (l *lowerer) text(v lowered) lowered {
	str := func(code jen.Code) lowered { return lowerPrimary(code, schema.StringType) }
	switch v.typ.Kind {
	case schema.Bool:
		if b, ok := v.lit.(bool); ok {
			return l.literal(strconv.FormatBool(b))
		}
		return str(jen.Qual("strconv", "FormatBool").Call(l.to(v, schema.BoolType).code))
	case schema.Int:
		return l.intText(v)
	case schema.Float:
		return str(jen.Qual(valuePath, "FormatFloat").Call(l.to(v, schema.FloatType).code))
	case schema.Time:
		return str(jen.Add(l.to(v, schema.TimeType).in(lowerAtom)).Dot("Format").Call(jen.Qual("time", "RFC3339Nano")))
	case schema.Duration:
		return str(jen.Add(l.to(v, schema.DurationType).in(lowerAtom)).Dot("String").Call())
	case schema.Bytes:
		return str(jen.Qual("encoding/base64", "StdEncoding").Dot("EncodeToString").Call(l.to(v, schema.BytesType).code))
	}
	return l.to(v, schema.StringType)
}

func (l *lowerer) intText(v lowered) lowered {
	if n, ok := v.lit.(int64); ok {
		return l.literal(strconv.FormatInt(n, 10))
	}
	if l.same(v.typ, lowerGoInt) {
		return lowerPrimary(jen.Qual("strconv", "Itoa").Call(v.code), schema.StringType)
	}
	return lowerPrimary(jen.Qual("strconv", "FormatInt").Call(l.to(v, schema.IntType).code, jen.Lit(10)), schema.StringType)
}
