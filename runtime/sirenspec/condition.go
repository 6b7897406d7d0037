package sirenspec

import (
	"math"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Condition is one evaluation of a `when`, which the engine hands to Python. What raises an exception there makes the
// whole of it false, or with Holds, when it is one that the engine does not catch, an error.
type Condition struct {
	failed  bool
	escapes string // the exception that the engine does not catch

	bound map[string]Operand // by :=
}

// When evaluates a condition. Every exception makes it false, as the pages say.
func When(holds func(c *Condition) bool) bool {
	var c Condition
	return holds(&c) && !c.failed
}

// Holds evaluates a condition as the engine does: exceptions that it does not catch end the run.
func Holds(r *flow.Run, n *flow.Node, holds func(c *Condition) bool) (bool, error) {
	var c Condition
	ok := holds(&c)
	if c.escapes != "" {
		return false, r.Fail(n, value.Errorf(value.ValidationError, "%s", c.escapes))
	}
	return ok && !c.failed, nil
}

// An Operand is a value of a condition.
type Operand struct {
	v      value.Value
	dotted bool // a map of the context: its keys are read with points, and nothing else is done with it
	set    bool // a list of different values, in no order
	tuple  bool // a list that does not change, which is equal to no other

	lazy func() []Operand // of a generator: what it gives

	call   func(args []Operand) Operand // of a function
	name   string                       // of an argument that is given by its name
	spread bool                         // a list whose items are in its place
}

// Str is text.
func Str(s string) Operand { return Operand{v: value.String(s)} }

// Int is an integer.
func Int(n int64) Operand { return Operand{v: value.Int(n)} }

// Digits is an integer beyond 64 bits.
func Digits(s string) Operand {
	v, err := value.Parse([]byte(s))
	if err != nil { // too large for a float
		return Float(math.Inf(1))
	}
	return Operand{v: v}
}

// Float is a number with a fraction.
func Float(f float64) Operand { return Operand{v: value.Float(f)} }

// Bool is True or False.
func Bool(b bool) Operand { return Operand{v: value.Bool(b)} }

// None is None.
func None() Operand { return Operand{} }

// Values is a list.
func Values(items ...Operand) Operand {
	items = spread(items)
	list := make([]value.Value, len(items))
	for i, x := range items {
		list[i] = x.v
	}
	return Operand{v: value.List(list...)}
}

// Tuple is (x, y, ...).
func Tuple(items ...Operand) Operand {
	out := Values(items...)
	out.tuple = true
	return out
}

// given is the list that a generator gives; what is none stays as it is.
func (x Operand) given() Operand {
	if x.lazy != nil {
		return Values(x.lazy()...)
	}
	return x
}

// fail is an exception that the engine catches.
func (c *Condition) fail() Operand {
	c.failed = true
	return Operand{}
}

// raise is an exception that it does not catch. Only the first of all exceptions counts.
func (c *Condition) raise(exception string) Operand {
	if !c.failed {
		c.failed, c.escapes = true, exception
	}
	return Operand{}
}

// Unknown is a name that the engine does not know.
func (c *Condition) Unknown() Operand { return c.fail() }

// At is the value below keys of a field.
func (c *Condition) At(f dynamic.Field, path ...string) Operand {
	f = f.At(path...)
	if !f.Present() {
		return c.fail()
	}
	return Operand{v: f.Value(), dotted: f.Value().Kind() == value.MapKind}
}

// True is whether Python takes a value for true.
func (c *Condition) True(x Operand) bool { return truth(x) }

func truth(x Operand) bool {
	switch x.v.Kind() {
	case value.BoolKind:
		return x.v.Bool()
	case value.IntKind, value.FloatKind:
		return x.v.Float() != 0
	case value.StringKind:
		return x.v.String() != ""
	}
	return x.dotted || x.lazy != nil || x.call != nil || x.v.Len() > 0
}

// And is `x and y` as a value.
func (c *Condition) And(x Operand, y func() Operand) Operand {
	if c.failed || !truth(x) {
		return x
	}
	return y()
}

// Or is `x or y` as a value.
func (c *Condition) Or(x Operand, y func() Operand) Operand {
	if c.failed || truth(x) {
		return x
	}
	return y()
}

// If is `yes if holds else no`.
func (c *Condition) If(holds bool, yes, no func() Operand) Operand {
	if holds {
		return yes()
	}
	return no()
}

// Equal is ==.
func (c *Condition) Equal(x, y Operand) bool {
	switch {
	case x.lazy != nil || y.lazy != nil || x.call != nil || y.call != nil || x.set != y.set || x.tuple != y.tuple:
		return false
	case x.set:
		return x.v.Len() == y.v.Len() && within(x.v, y.v)
	}
	return equal(x.v, y.v, 0)
}

// NotEqual is !=.
func (c *Condition) NotEqual(x, y Operand) bool { return !c.Equal(x, y) }

// Is is `is`: for constants and numbers what == says, without taking True for 1.
func (c *Condition) Is(x, y Operand) bool {
	return x.call == nil && y.call == nil && x.v.Kind() == y.v.Kind() && equal(x.v, y.v, 0)
}

// equal is ==: numbers by their value, where True is 1 and False is 0, lists and maps by what is in them.
func equal(a, b value.Value, depth int) bool {
	x, numberA := number(a)
	y, numberB := number(b)
	switch {
	case numberA || numberB:
		return numberA && numberB && x == y && py.Equal(dynamic.Of(a), dynamic.Of(b))
	case a.Kind() != b.Kind() || a.Len() != b.Len() && a.Kind() != value.StringKind || depth > maxDepth:
		return false
	case a.Kind() == value.ListKind:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i), depth+1) {
				return false
			}
		}
		return true
	case a.Kind() == value.MapKind:
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

func number(v value.Value) (float64, bool) {
	switch v.Kind() {
	case value.BoolKind:
		if v.Bool() {
			return 1, true
		}
		return 0, true
	case value.IntKind, value.FloatKind:
		return v.Float(), true
	}
	return 0, false
}

// Less is <.
func (c *Condition) Less(x, y Operand) bool {
	return c.ordered(x, y, func(n int) bool { return n < 0 })
}

// LessOrEqual is <=.
func (c *Condition) LessOrEqual(x, y Operand) bool {
	return c.ordered(x, y, func(n int) bool { return n <= 0 })
}

// Greater is >.
func (c *Condition) Greater(x, y Operand) bool {
	return c.ordered(x, y, func(n int) bool { return n > 0 })
}

// GreaterOrEqual is >=.
func (c *Condition) GreaterOrEqual(x, y Operand) bool {
	return c.ordered(x, y, func(n int) bool { return n >= 0 })
}

func (c *Condition) ordered(x, y Operand, holds func(int) bool) bool {
	if x.set && y.set {
		return c.sets(x.v, y.v, holds)
	}
	n, ok := compare(x.v, y.v, 0)
	if !ok || x.set || y.set || x.tuple != y.tuple {
		c.fail()
		return false
	}
	return n != unordered && holds(n)
}

const unordered = math.MinInt // a NaN is in no order

// compare orders numbers, strings and lists of them; Python raises TypeError for all else.
func compare(a, b value.Value, depth int) (int, bool) {
	x, numberA := number(a)
	y, numberB := number(b)
	switch {
	case numberA && numberB && (math.IsNaN(x) || math.IsNaN(y)):
		return unordered, true
	case numberA && numberB:
		return py.Compare(dynamic.Of(a), dynamic.Of(b))
	case a.Kind() == value.StringKind && b.Kind() == value.StringKind:
		return strings.Compare(a.String(), b.String()), true // bytes of UTF-8 are in the order of characters
	case a.Kind() == value.ListKind && b.Kind() == value.ListKind && depth < maxDepth:
		for i := range min(a.Len(), b.Len()) {
			if !equal(a.Index(i), b.Index(i), 0) {
				return compare(a.Index(i), b.Index(i), depth+1)
			}
		}
		return compare(value.Int(int64(a.Len())), value.Int(int64(b.Len())), depth+1)
	}
	return 0, false
}

// In is `x in y`: an item of a list, a key of a map, a part of a string.
func (c *Condition) In(x, y Operand) bool {
	if y = y.given(); c.failed {
		return false
	}
	switch {
	case y.dotted:
	case y.set && !hashable(x):
	case y.v.Kind() == value.ListKind:
		for i := range y.v.Len() {
			if equal(x.v, y.v.Index(i), 0) {
				return true
			}
		}
		return false
	case y.v.Kind() == value.MapKind && x.v.Kind() != value.MapKind && x.v.Kind() != value.ListKind:
		_, ok := y.v.Get(x.v.String())
		return ok && x.v.Kind() == value.StringKind
	case y.v.Kind() == value.StringKind && x.v.Kind() == value.StringKind:
		return strings.Contains(y.v.String(), x.v.String())
	}
	c.fail()
	return false
}

// Bucket is the whole of working or of output, which has keys behind points and is nothing else.
func Bucket() Operand { return Operand{v: value.Map(), dotted: true} }
