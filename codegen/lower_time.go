package codegen

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A clockPart is how Go reads a part of a time: the method, what is added because CEL counts from zero, and the unit of a
// duration.
type clockPart struct {
	method string
	typed  bool // the method returns a type of its own
	less   bool
	unit   string
}

var clockParts = map[string]clockPart{
	"getFullYear": {method: "Year"}, "getMonth": {method: "Month", typed: true, less: true}, "getDate": {method: "Day"}, "getDayOfMonth": {method: "Day", less: true},
	"getDayOfWeek": {method: "Weekday", typed: true}, "getDayOfYear": {method: "YearDay", less: true},
	"getHours": {method: "Hour", unit: "Hour"}, "getMinutes": {method: "Minute", unit: "Minute"}, "getSeconds": {method: "Second", unit: "Second"},
	"getMilliseconds": {method: "Nanosecond", unit: "Millisecond"},
}

// clock lowers t.getHours() and its like.
func (l *lowerer) clock(n *expr.Node) lowered {
	part, v := clockParts[n.Text], l.value(n.Kids[0])
	if v.typ.Kind == schema.Duration {
		v = l.to(v, schema.DurationType)
		return lowerPrimary(jen.Int64().Call(jen.Add(v.in(lowerMul)).Op("/").Qual("time", ident(part.unit))), schema.IntType)
	}
	code := jen.Add(l.to(v, schema.TimeType).in(lowerAtom)).Dot("UTC").Call().Dot(ident(part.method)).Call()
	if part.typed {
		code = jen.Int().Call(code)
	}
	switch {
	case part.less:
		return lowered{code: code.Op("-").Lit(1), prec: lowerAdd, typ: lowerGoInt}
	case n.Text == "getMilliseconds":
		return lowered{code: code.Op("/").Lit(1_000_000), prec: lowerMul, typ: lowerGoInt}
	}
	return lowerPrimary(code, lowerGoInt)
}

// parsed lowers timestamp(s) and duration(s): of a literal to a constant.
func (l *lowerer) parsed(n *expr.Node) lowered {
	switch v, _ := expr.Moment(n); v := v.(type) {
	case time.Time:
		return lowerPrimary(timeCode(v), schema.TimeType)
	case time.Duration:
		return l.literal(v)
	}
	text := l.to(l.value(n.Kids[0]), schema.StringType).code
	if n.Text == "duration" {
		return l.hoist(jen.Qual(celPath, "ParseDuration").Call(text), "duration", schema.DurationType)
	}
	return l.hoist(jen.Qual(celPath, "ParseTime").Call(text), "when", schema.TimeType)
}

// moments lowers sums and differences of times and durations, which may be out of range.
func (l *lowerer) moments(n *expr.Node, a, b lowered) lowered {
	as := func(v lowered) lowered {
		if v.typ.Kind == schema.Time {
			return l.to(v, schema.TimeType)
		}
		return l.to(v, schema.DurationType)
	}
	a, b = as(a), as(b)
	function, hint := "AddTime", "when"
	switch {
	case n.Type.Kind == schema.Time && n.Text == "-":
		function = "SubTime"
	case n.Type.Kind == schema.Time && b.typ.Kind == schema.Time: // a sum has no order
		a, b = b, a
	case n.Type.Kind == schema.Time:
	case a.typ.Kind == schema.Time:
		function, hint = "Since", "duration"
	case n.Text == "-":
		function, hint = "SubDuration", "duration"
	default:
		function, hint = "AddDuration", "duration"
	}
	return l.hoist(jen.Qual(celPath, ident(function)).Call(a.code, b.code), hint, n.Type)
}
