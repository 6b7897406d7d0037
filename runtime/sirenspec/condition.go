package sirenspec

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// A Condition is one evaluation of a `when`. A place that is not there, or an order between values that have none, makes
// the whole of it false, as the exception does that Python raises.
type Condition struct{ failed bool }

// When evaluates a condition.
func When(holds func(c *Condition) bool) bool {
	var c Condition
	return holds(&c) && !c.failed
}

// At is the value below keys of a field.
func (c *Condition) At(f dynamic.Field, path ...string) dynamic.Field {
	f = f.At(path...)
	c.failed = c.failed || !f.Present()
	return f
}

// True is whether Python takes a value for true.
func (c *Condition) True(f dynamic.Field) bool {
	v := f.Value()
	switch v.Kind() {
	case runtime.BoolKind:
		return v.Bool()
	case runtime.IntKind, runtime.FloatKind:
		return v.Float() != 0
	case runtime.StringKind:
		return v.String() != ""
	}
	return v.Len() > 0
}

// Equal is ==.
func (c *Condition) Equal(a, b dynamic.Field) bool { return equal(a.Value(), b.Value(), 0) }

// NotEqual is !=.
func (c *Condition) NotEqual(a, b dynamic.Field) bool { return !c.Equal(a, b) }

// equal is ==: numbers by their value, where True is 1 and False is 0, lists and maps by what is in them.
func equal(a, b runtime.Value, depth int) bool {
	x, numberA := number(a)
	y, numberB := number(b)
	switch {
	case numberA || numberB:
		return numberA && numberB && x == y
	case a.Kind() != b.Kind() || a.Len() != b.Len() && a.Kind() != runtime.StringKind || depth > maxDepth:
		return false
	case a.Kind() == runtime.ListKind:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i), depth+1) {
				return false
			}
		}
		return true
	case a.Kind() == runtime.MapKind:
		for i, key := range a.Keys() {
			other, ok := b.Get(key)
			if !ok || !equal(a.Index(i), other, depth+1) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

func number(v runtime.Value) (float64, bool) {
	switch v.Kind() {
	case runtime.BoolKind:
		if v.Bool() {
			return 1, true
		}
		return 0, true
	case runtime.IntKind, runtime.FloatKind:
		return v.Float(), true
	}
	return 0, false
}

// Less is <.
func (c *Condition) Less(a, b dynamic.Field) bool {
	return c.ordered(a, b, func(n int) bool { return n < 0 })
}

// LessOrEqual is <=.
func (c *Condition) LessOrEqual(a, b dynamic.Field) bool {
	return c.ordered(a, b, func(n int) bool { return n <= 0 })
}

// Greater is >.
func (c *Condition) Greater(a, b dynamic.Field) bool {
	return c.ordered(a, b, func(n int) bool { return n > 0 })
}

// GreaterOrEqual is >=.
func (c *Condition) GreaterOrEqual(a, b dynamic.Field) bool {
	return c.ordered(a, b, func(n int) bool { return n >= 0 })
}

// ordered compares numbers and strings; Python raises TypeError for all else.
func (c *Condition) ordered(a, b dynamic.Field, holds func(int) bool) bool {
	x, numberA := number(a.Value())
	y, numberB := number(b.Value())
	switch {
	case numberA && numberB && x < y:
		return holds(-1)
	case numberA && numberB && x > y:
		return holds(1)
	case numberA && numberB:
		return x == y && holds(0) // NaN is in no order
	case a.Value().Kind() == runtime.StringKind && b.Value().Kind() == runtime.StringKind:
		return holds(strings.Compare(a.Value().String(), b.Value().String()))
	}
	c.failed = true
	return false
}

// In is `a in b`: an item of a list, a key of a map, a part of a string.
func (c *Condition) In(a, b dynamic.Field) bool {
	x, y := a.Value(), b.Value()
	switch {
	case y.Kind() == runtime.ListKind:
		for i := range y.Len() {
			if equal(x, y.Index(i), 0) {
				return true
			}
		}
		return false
	case y.Kind() == runtime.MapKind:
		_, ok := y.Get(x.String())
		return ok && x.Kind() == runtime.StringKind
	case y.Kind() == runtime.StringKind && x.Kind() == runtime.StringKind:
		return strings.Contains(y.String(), x.String())
	}
	c.failed = true
	return false
}
