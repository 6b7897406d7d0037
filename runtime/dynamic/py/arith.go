package py

import (
	"cmp"
	"math"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxRepeat bounds the length of a repeated text or list.
const maxRepeat = 1 << 20

// Add is a + b for numbers, texts and lists. The error is Python's TypeError, or says that a number is too large.
func Add(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	switch {
	case x.Kind() == value.StringKind && y.Kind() == value.StringKind:
		return dynamic.Text(x.String() + y.String()), nil
	case x.Kind() == value.ListKind && y.Kind() == value.ListKind:
		left, _ := a.Items()
		right, _ := b.Items()
		return dynamic.Of(value.List(append(left, right...)...)), nil
	}
	return arithmetic("+", x, y, flow.Add, func(x, y float64) float64 { return x + y })
}

// Sub is a - b.
func Sub(a, b dynamic.Field) (dynamic.Field, error) {
	return arithmetic("-", a.Value(), b.Value(), flow.Sub, func(x, y float64) float64 { return x - y })
}

// Mul is a * b, which repeats a text or a list.
func Mul(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	if y.Kind() == value.StringKind || y.Kind() == value.ListKind {
		x, y = y, x
	}
	if n, whole := number(y); whole && n.Kind() == value.IntKind && (x.Kind() == value.StringKind || x.Kind() == value.ListKind) {
		return repeated(x, n.Int())
	}
	return arithmetic("*", a.Value(), b.Value(), flow.Mul, func(x, y float64) float64 { return x * y })
}

func repeated(v value.Value, n int64) (dynamic.Field, error) {
	n = max(n, 0)
	size := int64(v.Len())
	if v.Kind() == value.StringKind {
		size = int64(len(v.String()))
	}
	if size > 0 && n > maxRepeat/size {
		return dynamic.Field{}, value.Invalid("a value is repeated %d times", n)
	}
	if v.Kind() == value.StringKind {
		return dynamic.Text(strings.Repeat(v.String(), int(n))), nil
	}
	items, _ := dynamic.Of(v).Items()
	var all []value.Value
	for range n {
		all = append(all, items...)
	}
	return dynamic.Of(value.List(all...)), nil
}

// Div is a / b, always with a fraction.
func Div(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	if n, ok := number(y); ok && n.Float() == 0 {
		if _, ok := number(x); ok {
			return dynamic.Field{}, value.Invalid("division by zero")
		}
	}
	return arithmetic("/", x, y, nil, func(x, y float64) float64 { return x / y })
}

// arithmetic calculates with integers as long as both sides are, and whole is not nil.
func arithmetic(op string, a, b value.Value, whole func(a, b int64) (int64, error), float func(x, y float64) float64) (dynamic.Field, error) {
	x, ok := number(a)
	y, too := number(b)
	switch {
	case !ok || !too:
		return dynamic.Field{}, value.Invalid("unsupported operand type(s) for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
	case whole != nil && x.Kind() == value.IntKind && y.Kind() == value.IntKind:
		n, err := whole(x.Int(), y.Int())
		return dynamic.Whole(n), err
	}
	f := float(x.Float(), y.Float())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dynamic.Field{}, value.Invalid("the result of %s is not a number", op)
	}
	return dynamic.Number(f), nil
}

// TypeName is the name of the type that Python gives a value.
func TypeName(v value.Value) string {
	if v.Digits() != "" {
		return "int"
	}
	return map[value.Kind]string{value.BoolKind: "bool", value.IntKind: "int", value.FloatKind: "float", value.StringKind: "str",
		value.ListKind: "list", value.MapKind: "dict"}[v.Kind()] + map[bool]string{true: "NoneType"}[v.IsNull()]
}

// Str is str(v): text as it is, and anything else as Python writes it.
func Str(f dynamic.Field) string {
	if v := f.Value(); v.Kind() == value.StringKind {
		return v.String()
	}
	var b strings.Builder
	repr(&b, f.Value(), 0)
	return b.String()
}

// repr writes a value as repr(v) does.
func repr(b *strings.Builder, v value.Value, depth int) {
	switch v.Kind() {
	case value.NullKind:
		b.WriteString("None")
	case value.BoolKind:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v.Bool()])
	case value.FloatKind:
		b.WriteString(cmp.Or(v.Digits(), reprFloat(v.Float())))
	case value.StringKind:
		reprText(b, v.String())
	case value.ListKind, value.MapKind:
		if depth > maxDepth {
			b.WriteString("...")
			return
		}
		reprParts(b, v, depth)
	default:
		text, _ := v.MarshalJSON()
		b.Write(text)
	}
}

func reprParts(b *strings.Builder, v value.Value, depth int) {
	keys, brackets := v.Keys(), "[]"
	if v.Kind() == value.MapKind {
		brackets = "{}"
	}
	b.WriteByte(brackets[0])
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.Kind() == value.MapKind {
			reprText(b, keys[i])
			b.WriteString(": ")
		}
		repr(b, v.Index(i), depth+1)
	}
	b.WriteByte(brackets[1])
}
