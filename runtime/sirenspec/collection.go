package sirenspec

import (
	"math"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// hashable reports whether Python takes a value into a set, or for the key of a dict.
func hashable(x Operand) bool {
	if x.tuple {
		for _, v := range items(x.v) {
			if !hashable(Operand{v: v}) {
				return false
			}
		}
		return true
	}
	return !x.dotted && !x.set && x.v.Kind() != value.MapKind && (x.v.Kind() != value.ListKind || x.lazy != nil)
}

// holdsValue reports whether a list has a value.
func holdsValue(list []value.Value, v value.Value) bool {
	for _, x := range list {
		if equal(x, v, 0) {
			return true
		}
	}
	return false
}

// within reports whether all values of one list are in another.
func within(a, b value.Value) bool {
	all := items(b)
	for _, x := range items(a) {
		if !holdsValue(all, x) {
			return false
		}
	}
	return true
}

// sets compares sets: one that has less is a part of the other.
func (c *Condition) sets(a, b value.Value, holds func(int) bool) bool {
	below, above := within(a, b), within(b, a)
	switch {
	case below && above:
		return holds(0)
	case below:
		return holds(-1)
	case above:
		return holds(1)
	}
	return false
}

// Set is {x, y, ...}.
func (c *Condition) Set(values ...Operand) Operand {
	var out []value.Value
	for _, x := range spread(values) {
		if !hashable(x) {
			return c.fail()
		}
		if !holdsValue(out, x.v) {
			out = append(out, x.v)
		}
	}
	return Operand{v: value.List(out...), set: true}
}

// Dict is {key: value, ...}, of pairs. Keys are texts: no value of a context has others, so that a dict with others is
// asked for nothing that is there.
func (c *Condition) Dict(pairs ...Operand) Operand {
	var out []value.Entry
	at := map[string]int{}
	for _, p := range spread(pairs) {
		key, val := p.v.Index(0), p.v.Index(1)
		if !hashable(Operand{v: key}) {
			return c.fail()
		}
		name := key.String()
		if key.Kind() != value.StringKind {
			name = "\x00" + string(appendRepr(nil, key, 0))
		}
		if i, ok := at[name]; ok {
			out[i].Value = val
			continue
		}
		at[name] = len(out)
		out = append(out, value.Entry{Key: name, Value: val})
	}
	return Operand{v: value.Map(out...)}
}

// Generator makes values of those of a list when something asks for them.
func (c *Condition) Generator(list Operand, make func(x Operand) []Operand) Operand {
	if list = list.given(); !iterable(list) {
		return c.fail()
	}
	return Operand{lazy: func() []Operand { return c.Each(list, make) }}
}

func iterable(x Operand) bool {
	k := x.v.Kind()
	return !x.dotted && (k == value.ListKind || k == value.StringKind || k == value.MapKind)
}

// Each makes values of those of a list, in their order.
func (c *Condition) Each(list Operand, make func(x Operand) []Operand) []Operand {
	if list = list.given(); c.failed || !iterable(list) {
		c.fail()
		return nil
	}
	all := iterated(list.v)
	var out []Operand
	for _, v := range all {
		made := make(Operand{v: v})
		if c.failed {
			return nil
		}
		if out = append(out, made...); len(out) > maxRepeated {
			c.raise("the value is too large")
			return nil
		}
	}
	return out
}

// iterated are the values that a loop over a value goes through: of a map its keys.
func iterated(v value.Value) []value.Value {
	if v.Kind() != value.MapKind {
		return elements(v)
	}
	var all []value.Value
	for _, key := range v.Keys() {
		all = append(all, value.String(key))
	}
	return all
}

// Nth is value i of the n that x is unpacked into.
func (c *Condition) Nth(x, i, n Operand) Operand {
	k := x.v.Kind()
	if x.dotted || k != value.ListKind && k != value.StringKind {
		return c.fail()
	}
	all := elements(x.v)
	switch want := int(n.v.Int()); {
	case len(all) > want:
		return c.raise("too many values to unpack (expected " + Text(n.v) + ")")
	case len(all) < want:
		return c.raise("not enough values to unpack (expected " + Text(n.v) + ", got " + Text(value.Int(int64(len(all)))) + ")")
	}
	return Operand{v: all[i.v.Int()]}
}

// Invert is ~x.
func (c *Condition) Invert(x Operand) Operand {
	if n, ok := whole(x.v); ok {
		return Int(^n)
	}
	if v, ok := large("-", value.Int(-1), x.v); ok {
		return Operand{v: v}
	}
	return c.fail()
}

// bits is an operator on bits, sets or dicts; done is false for all else.
func (c *Condition) bits(op string, x, y Operand) (out Operand, done bool) {
	if !strings.Contains("|&^<<>>", op) && (op != "-" || !x.set) {
		return Operand{}, false
	}
	n, okN := whole(x.v)
	m, okM := whole(y.v)
	switch {
	case x.set && y.set:
		return c.combined(op, x, y), true
	case op == "|" && x.v.Kind() == value.MapKind && y.v.Kind() == value.MapKind && !x.dotted && !y.dotted:
		return Operand{v: merged(x.v, y.v)}, true
	case okM && m < 0 && (op == "<<" || op == ">>") && integer(x.v) != nil:
		return c.raise("negative shift count"), true
	case !okN || !okM:
		if v, ok := large(op, x.v, y.v); ok {
			return Operand{v: v}, true
		}
		return c.fail(), true
	}
	both := x.v.Kind() == value.BoolKind && y.v.Kind() == value.BoolKind
	switch op {
	case "|":
		n |= m
	case "&":
		n &= m
	case "^":
		n ^= m
	case "<<", ">>":
		return c.shifted(op, n, m), true
	}
	if both {
		return Bool(n != 0), true
	}
	return Int(n), true
}

func (c *Condition) shifted(op string, n, m int64) Operand {
	switch {
	case op == ">>":
		return Int(n >> min(m, 63))
	case n == 0:
		return Int(0)
	case m < 63 && n<<m>>m == n:
		return Int(n << m)
	case m > 4096:
		return c.raise("the value is too large")
	}
	if v, ok := large(op, value.Int(n), value.Int(m)); ok {
		return Operand{v: v}
	}
	return Float(math.Ldexp(float64(n), int(m)))
}

// combined is an operator between sets.
func (c *Condition) combined(op string, x, y Operand) Operand {
	var out []Operand
	for _, v := range items(x.v) {
		if in := holdsValue(items(y.v), v); op == "|" || op == "&" && in || op != "&" && !in {
			out = append(out, Operand{v: v})
		}
	}
	for _, v := range items(y.v) {
		if op == "|" || op == "^" && !holdsValue(items(x.v), v) {
			out = append(out, Operand{v: v})
		}
	}
	return c.Set(out...)
}

func merged(a, b value.Value) value.Value {
	out := entriesOf(a)
	for _, e := range entriesOf(b) {
		found := false
		for i := range out {
			if out[i].Key == e.Key {
				out[i].Value, found = e.Value, true
			}
		}
		if !found {
			out = append(out, e)
		}
	}
	return value.Map(out...)
}

// ListOf is the list of what make gives for the values of a list.
func (c *Condition) ListOf(list Operand, make func(x Operand) []Operand) Operand {
	return Values(c.Each(list, make)...)
}

// SetOf is ListOf for a set.
func (c *Condition) SetOf(list Operand, make func(x Operand) []Operand) Operand {
	return c.Set(c.Each(list, make)...)
}

// DictOf is ListOf for a dict: make gives its pairs.
func (c *Condition) DictOf(list Operand, make func(x Operand) []Operand) Operand {
	return c.Dict(c.Each(list, make)...)
}

// Argument is one of those that a function is called with.
func Argument(args []Operand, i int) Operand { return args[i] }
