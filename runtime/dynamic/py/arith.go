package py

import (
	"math"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// maxRepeat bounds the length of a repeated text or list.
const maxRepeat = 1 << 20

// Add is a + b for numbers, texts and lists. The error is Python's TypeError, or says that a number is too large.
func Add(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	switch {
	case x.Kind() == runtime.StringKind && y.Kind() == runtime.StringKind:
		return dynamic.Text(x.String() + y.String()), nil
	case x.Kind() == runtime.ListKind && y.Kind() == runtime.ListKind:
		left, _ := a.Items()
		right, _ := b.Items()
		return dynamic.Of(runtime.ListValue(append(left, right...)...)), nil
	}
	return arithmetic("+", x, y, runtime.Add, func(x, y float64) float64 { return x + y })
}

// Sub is a - b.
func Sub(a, b dynamic.Field) (dynamic.Field, error) {
	return arithmetic("-", a.Value(), b.Value(), runtime.Sub, func(x, y float64) float64 { return x - y })
}

// Mul is a * b, which repeats a text or a list.
func Mul(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	if y.Kind() == runtime.StringKind || y.Kind() == runtime.ListKind {
		x, y = y, x
	}
	if n, whole := number(y); whole && n.Kind() == runtime.IntKind && (x.Kind() == runtime.StringKind || x.Kind() == runtime.ListKind) {
		return repeated(x, n.Int())
	}
	return arithmetic("*", a.Value(), b.Value(), runtime.Mul, func(x, y float64) float64 { return x * y })
}

func repeated(v runtime.Value, n int64) (dynamic.Field, error) {
	n = max(n, 0)
	size := int64(v.Len())
	if v.Kind() == runtime.StringKind {
		size = int64(len(v.String()))
	}
	if size > 0 && n > maxRepeat/size {
		return dynamic.Field{}, runtime.Invalid("a value is repeated %d times", n)
	}
	if v.Kind() == runtime.StringKind {
		return dynamic.Text(strings.Repeat(v.String(), int(n))), nil
	}
	items, _ := dynamic.Of(v).Items()
	var all []runtime.Value
	for range n {
		all = append(all, items...)
	}
	return dynamic.Of(runtime.ListValue(all...)), nil
}

// Div is a / b, always with a fraction.
func Div(a, b dynamic.Field) (dynamic.Field, error) {
	x, y := a.Value(), b.Value()
	if n, ok := number(y); ok && n.Float() == 0 {
		if _, ok := number(x); ok {
			return dynamic.Field{}, runtime.Invalid("division by zero")
		}
	}
	return arithmetic("/", x, y, nil, func(x, y float64) float64 { return x / y })
}

// arithmetic calculates with whole numbers as long as both sides are, and whole is not nil.
func arithmetic(op string, a, b runtime.Value, whole func(a, b int64) (int64, error), float func(x, y float64) float64) (dynamic.Field, error) {
	x, ok := number(a)
	y, too := number(b)
	switch {
	case !ok || !too:
		return dynamic.Field{}, runtime.Invalid("unsupported operand type(s) for %s: '%s' and '%s'", op, TypeName(a), TypeName(b))
	case whole != nil && x.Kind() == runtime.IntKind && y.Kind() == runtime.IntKind:
		n, err := whole(x.Int(), y.Int())
		return dynamic.Whole(n), err
	}
	f := float(x.Float(), y.Float())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dynamic.Field{}, runtime.Invalid("the result of %s is no number", op)
	}
	return dynamic.Number(f), nil
}

// TypeName is the name of the type that Python gives a value.
func TypeName(v runtime.Value) string {
	return map[runtime.ValueKind]string{runtime.BoolKind: "bool", runtime.IntKind: "int", runtime.FloatKind: "float", runtime.StringKind: "str",
		runtime.ListKind: "list", runtime.MapKind: "dict"}[v.Kind()] + map[bool]string{true: "NoneType"}[v.IsNull()]
}

// Str is str(v): text as it is, and anything else as Python writes it.
func Str(f dynamic.Field) string {
	if v := f.Value(); v.Kind() == runtime.StringKind {
		return v.String()
	}
	var b strings.Builder
	repr(&b, f.Value(), 0)
	return b.String()
}

// repr writes a value as repr(v) does.
func repr(b *strings.Builder, v runtime.Value, depth int) {
	switch v.Kind() {
	case runtime.NullKind:
		b.WriteString("None")
	case runtime.BoolKind:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v.Bool()])
	case runtime.FloatKind:
		b.WriteString(reprFloat(v.Float()))
	case runtime.StringKind:
		reprText(b, v.String())
	case runtime.ListKind, runtime.MapKind:
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

func reprParts(b *strings.Builder, v runtime.Value, depth int) {
	keys, brackets := v.Keys(), "[]"
	if v.Kind() == runtime.MapKind {
		brackets = "{}"
	}
	b.WriteByte(brackets[0])
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if v.Kind() == runtime.MapKind {
			reprText(b, keys[i])
			b.WriteString(": ")
		}
		repr(b, v.Index(i), depth+1)
	}
	b.WriteByte(brackets[1])
}
