package jinja

import (
	"math"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Concat is a ~ b: both as text.
func (t *Text) Concat(a, b dynamic.Field) dynamic.Field {
	var text Text
	text.Show(a)
	text.Show(b)
	return dynamic.Text(text.String())
}

// Plus is a + b: of numbers, texts or lists.
func (t *Text) Plus(a, b dynamic.Field) dynamic.Field {
	x, y := a.Value(), b.Value()
	switch {
	case x.Kind() == value.StringKind && y.Kind() == value.StringKind:
		return dynamic.Text(x.String() + y.String())
	case x.Kind() == value.ListKind && y.Kind() == value.ListKind:
		first, _ := a.Items()
		second, _ := b.Items()
		return dynamic.Of(value.List(append(first, second...)...))
	}
	return t.arith(a, b, "+", func(x, y int64) (int64, bool) { return x + y, (x+y > x) == (y > 0) }, func(x, y float64) float64 { return x + y })
}

// Minus is a - b.
func (t *Text) Minus(a, b dynamic.Field) dynamic.Field {
	return t.arith(a, b, "-", func(x, y int64) (int64, bool) { return x - y, (x-y < x) == (y > 0) }, func(x, y float64) float64 { return x - y })
}

// Times is a * b; a text or list times a number is repeated.
func (t *Text) Times(a, b dynamic.Field) dynamic.Field {
	if a.Value().Kind() == value.StringKind && b.Value().Kind() == value.IntKind {
		n := max(b.Value().Int(), 0)
		if s := a.Value().String(); n*int64(len(s)) <= maxText && n <= maxText {
			return dynamic.Text(strings.Repeat(s, int(n)))
		}
		return t.fail("a text is repeated too often")
	}
	return t.arith(a, b, "*", func(x, y int64) (int64, bool) {
		if x == 0 || y == 0 {
			return 0, true
		}
		return x * y, x*y/y == x
	}, func(x, y float64) float64 { return x * y })
}

// Divide is a / b, a float.
func (t *Text) Divide(a, b dynamic.Field) dynamic.Field {
	return t.divided(a, b, "/", func(x, y float64) float64 { return x / y })
}

// FloorDivide is a // b.
func (t *Text) FloorDivide(a, b dynamic.Field) dynamic.Field {
	return whole(a, b, t.divided(a, b, "//", func(x, y float64) float64 { return math.Floor(x / y) }))
}

// Modulo is a % b, with the sign of b; of a text it is Python's formatting.
func (t *Text) Modulo(a, b dynamic.Field) dynamic.Field {
	if a.Value().Kind() == value.StringKind {
		return t.Format(a, b)
	}
	return whole(a, b, t.divided(a, b, "%", func(x, y float64) float64 { return x - y*math.Floor(x/y) }))
}

// Power is a ** b.
func (t *Text) Power(a, b dynamic.Field) dynamic.Field {
	out := t.arith(a, b, "**", func(x, y int64) (int64, bool) { return 0, false }, math.Pow)
	if y := b.Value(); y.Kind() == value.IntKind && y.Int() >= 0 {
		return whole(a, b, out)
	}
	return out
}

// Negative is -a.
func (t *Text) Negative(a dynamic.Field) dynamic.Field { return t.Minus(dynamic.Whole(0), a) }

// whole makes an integer of a result when both operands are.
func whole(a, b, result dynamic.Field) dynamic.Field {
	v := result.Value()
	if a.Value().Kind() == value.IntKind && b.Value().Kind() == value.IntKind && v.Kind() == value.FloatKind && math.Abs(v.Float()) < 1<<53 {
		return dynamic.Whole(int64(v.Float()))
	}
	return result
}

func numeric(f dynamic.Field) bool {
	k := f.Value().Kind()
	return k == value.IntKind || k == value.FloatKind
}

func (t *Text) arith(a, b dynamic.Field, op string, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64) dynamic.Field {
	x, y := a.Value(), b.Value()
	if !numeric(a) || !numeric(b) {
		return t.fail("unsupported operand type(s) for %s: '%s' and '%s'", op, class(a), class(b))
	}
	if x.Kind() == value.IntKind && y.Kind() == value.IntKind {
		if n, ok := ints(x.Int(), y.Int()); ok {
			return dynamic.Whole(n)
		}
	}
	return t.finite(floats(x.Float(), y.Float()))
}

func (t *Text) finite(f float64) dynamic.Field {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return t.fail("a number is too large")
	}
	return dynamic.Number(f)
}

func (t *Text) divided(a, b dynamic.Field, op string, f func(x, y float64) float64) dynamic.Field {
	if numeric(b) && b.Value().Float() == 0 {
		return t.fail("division by zero")
	}
	return t.arith(a, b, op, func(x, y int64) (int64, bool) { return 0, false }, f)
}

// Equal is a == b. What is undefined equals what is undefined only.
func Equal(a, b dynamic.Field) bool {
	if !a.Present() || !b.Present() {
		return a.Present() == b.Present()
	}
	return py.Equal(a, b)
}

// Less is a < b.
func (t *Text) Less(a, b dynamic.Field) bool { n := t.ordered(a, b); return n < 0 }

// LessOrEqual is a <= b.
func (t *Text) LessOrEqual(a, b dynamic.Field) bool {
	n := t.ordered(a, b)
	return n <= 0 && t.err == nil
}

// Greater is a > b.
func (t *Text) Greater(a, b dynamic.Field) bool { n := t.ordered(a, b); return n > 0 }

// GreaterOrEqual is a >= b.
func (t *Text) GreaterOrEqual(a, b dynamic.Field) bool {
	n := t.ordered(a, b)
	return n >= 0 && t.err == nil
}

func (t *Text) ordered(a, b dynamic.Field) int {
	n, ok := py.Compare(a, b)
	if !ok || !a.Present() || !b.Present() {
		t.fail("%s and %s have no order", kind(a), kind(b))
		return 0
	}
	return n
}

// In is a in b: of the items of a list, the keys of a map, the parts of a text.
func (t *Text) In(a, b dynamic.Field) bool {
	v := b.Value()
	switch v.Kind() {
	case value.StringKind:
		if a.Value().Kind() == value.StringKind {
			return strings.Contains(v.String(), a.Value().String())
		}
	case value.MapKind:
		_, ok := v.Get(a.Value().String())
		return ok && a.Value().Kind() == value.StringKind
	case value.ListKind:
		for i := range v.Len() {
			if py.Equal(a, dynamic.Of(v.Index(i))) {
				return true
			}
		}
		return false
	}
	if !b.Present() {
		return false // nothing is in it
	}
	t.fail("%s has no parts that %s could be one of", kind(b), kind(a))
	return false
}

// Is is a test of one value.
func (t *Text) Is(f dynamic.Field, test string) bool {
	v := f.Value()
	k := v.Kind()
	switch test {
	case "none":
		return f.Present() && v.IsNull()
	case "string":
		return k == value.StringKind
	case "number":
		return k == value.IntKind || k == value.FloatKind || k == value.BoolKind
	case "integer":
		return k == value.IntKind
	case "float":
		return k == value.FloatKind
	case "boolean":
		return k == value.BoolKind
	case "mapping":
		return k == value.MapKind
	case "sequence", "iterable":
		return k == value.ListKind || k == value.MapKind || k == value.StringKind || !f.Present()
	case "true":
		return k == value.BoolKind && v.Bool()
	case "false":
		return k == value.BoolKind && !v.Bool()
	case "odd":
		return k == value.IntKind && v.Int()%2 != 0
	case "even":
		return k == value.IntKind && v.Int()%2 == 0
	case "lower":
		s := py.Str(dynamic.Of(v))
		return s == strings.ToLower(s) && s != strings.ToUpper(s)
	case "upper":
		s := py.Str(dynamic.Of(v))
		return s == strings.ToUpper(s) && s != strings.ToLower(s)
	case "defined":
		return f.Present()
	case "undefined":
		return !f.Present()
	}
	t.fail("unknown test %q", test)
	return false
}

// Divisible reports whether b divides a.
func (t *Text) Divisible(a, b dynamic.Field) bool {
	n := t.Modulo(a, b).Value()
	return t.err == nil && n.Float() == 0
}
