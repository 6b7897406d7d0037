// Package py is what Python thinks of dynamic values: which are equal, and which is less. What is absent is None.
package py

import (
	"math"
	"math/big"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Equal is a == b. Numbers and booleans are equal when their values are: 1 == 1.0 == True.
func Equal(a, b dynamic.Field) bool { return equal(a.Value(), b.Value()) }

// NotEqual is a != b.
func NotEqual(a, b dynamic.Field) bool { return !Equal(a, b) }

// Less is a < b; false for values that have no order.
func Less(a, b dynamic.Field) bool { n, ok := compare(a.Value(), b.Value()); return ok && n < 0 }

// LessOrEqual is a <= b; false for values that have no order.
func LessOrEqual(a, b dynamic.Field) bool {
	n, ok := compare(a.Value(), b.Value())
	return ok && n <= 0
}

// Greater is a > b; false for values that have no order.
func Greater(a, b dynamic.Field) bool { n, ok := compare(a.Value(), b.Value()); return ok && n > 0 }

// GreaterOrEqual is a >= b; false for values that have no order.
func GreaterOrEqual(a, b dynamic.Field) bool {
	n, ok := compare(a.Value(), b.Value())
	return ok && n >= 0
}

// number makes a number of a boolean.
func number(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.BoolKind:
		if v.Bool() {
			return value.Int(1), true
		}
		return value.Int(0), true
	case value.IntKind, value.FloatKind:
		return v, true
	}
	return v, false
}

func equal(a, b value.Value) bool {
	x, numeric := number(a)
	if y, too := number(b); numeric && too {
		return numbers(x, y) == 0
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case value.ListKind:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case value.MapKind:
		for i, key := range a.Keys() {
			other, ok := b.Get(key)
			if !ok || !equal(a.Index(i), other) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// numbers compares two numbers; integers are compared exactly.
func numbers(a, b value.Value) int {
	if a.Kind() == value.IntKind && b.Kind() == value.IntKind {
		return sign(a.Int(), b.Int())
	}
	const exact = 1 << 53 // below it a float is every integer
	f, g := a.Float(), b.Float()
	if math.Abs(f) < exact && math.Abs(g) < exact {
		return sign(f, g)
	}
	x, y := Big(a), Big(b)
	switch {
	case x != nil && y != nil:
		return x.Cmp(y)
	case x != nil && !math.IsNaN(g):
		return new(big.Float).SetInt(x).Cmp(big.NewFloat(g))
	case y != nil && !math.IsNaN(f):
		return big.NewFloat(f).Cmp(new(big.Float).SetInt(y))
	default:
		return sign(f, g)
	}
}

// Big is an integer of any size, nil for other values.
func Big(v value.Value) *big.Int {
	if v.Kind() == value.IntKind {
		return big.NewInt(v.Int())
	}
	if digits := v.Digits(); digits != "" {
		n, _ := new(big.Int).SetString(digits, 10)
		return n
	}
	return nil
}

func sign[T int64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// maxDepth bounds the nesting of lists that are compared.
const maxDepth = 200

// compare orders numbers, texts and lists; ok is false for anything else.
func compare(a, b value.Value) (n int, ok bool) { return order(a, b, 0) }

func order(a, b value.Value, depth int) (n int, ok bool) {
	x, numeric := number(a)
	if y, too := number(b); numeric && too {
		return numbers(x, y), true
	}
	if a.Kind() != b.Kind() || depth > maxDepth {
		return 0, false
	}
	switch a.Kind() {
	case value.StringKind:
		return sign(a.String(), b.String()), true // UTF-8 has the order of code points
	case value.ListKind:
		for i := range min(a.Len(), b.Len()) {
			if !equal(a.Index(i), b.Index(i)) {
				return order(a.Index(i), b.Index(i), depth+1)
			}
		}
		return sign(int64(a.Len()), int64(b.Len())), true
	}
	return 0, false
}

// True reports whether a value is taken for true: not None, false, zero or empty.
func True(f dynamic.Field) bool {
	switch v := f.Value(); v.Kind() {
	case value.BoolKind:
		return v.Bool()
	case value.IntKind, value.FloatKind:
		return v.Float() != 0
	case value.StringKind:
		return v.String() != ""
	case value.ListKind, value.MapKind:
		return v.Len() > 0
	}
	return false
}

// Compare orders two values; ok is false when they have no order.
func Compare(a, b dynamic.Field) (n int, ok bool) { return compare(a.Value(), b.Value()) }
