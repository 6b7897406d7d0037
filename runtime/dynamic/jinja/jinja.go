// Package jinja is what templates of Jinja2 are made of when they are Go: text that grows, and what filters, tests and
// methods do to values, with Python's rules. A value that is absent is undefined.
package jinja

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Text grows. What goes wrong first stays its error, and nothing is added after that. The zero Text is empty. It is
// used by one goroutine.
type Text struct {
	b   []byte
	err *value.ToolError
}

// maxText bounds a text, in bytes: loops over data can make much of little.
const maxText = 16 << 20

// Add adds text.
func (t *Text) Add(s string) {
	if t.err != nil {
		return
	}
	if len(t.b)+len(s) > maxText {
		t.fail("a prompt has more than %d MiB", maxText>>20)
		return
	}
	t.b = append(t.b, s...)
}

// Show adds a value: nothing for one that is undefined.
func (t *Text) Show(f dynamic.Field) {
	if f.Present() {
		t.Add(py.Str(f))
	}
}

// Put adds a value as Python's str.format does, with a list as its items and ", " between them, and a format after the
// colon of the placeholder.
func (t *Text) Put(f dynamic.Field, spec string) {
	if items, ok := f.Items(); ok && spec == "" {
		for i, v := range items {
			if i > 0 {
				t.Add(", ")
			}
			t.Add(py.Str(dynamic.Of(v)))
		}
		return
	}
	text, err := py.Spec(f.Value(), spec)
	if err != nil {
		t.fail("%s", err)
	}
	t.Add(text)
}

// Keep adds a value, or its placeholder when it is absent.
func (t *Text) Keep(f dynamic.Field, placeholder string) {
	if !f.Present() {
		t.Add(placeholder)
	}
	t.Show(f)
}

// String is the text.
func (t *Text) String() string { return string(t.b) }

// Err is what went wrong, with the code VALIDATION_ERROR; nil when nothing did.
func (t *Text) Err() error {
	if t.err == nil {
		return nil
	}
	return t.err
}

func (t *Text) fail(format string, args ...any) dynamic.Field {
	if t.err == nil {
		t.err = value.Invalid(format, args...)
	}
	return dynamic.Field{}
}

// Inner is the text that f makes, as a value.
func (t *Text) Inner(f func(t *Text)) dynamic.Field {
	inner := &Text{err: t.err}
	f(inner)
	if t.err = inner.err; t.err != nil {
		return dynamic.Field{}
	}
	return dynamic.Text(inner.String())
}

// Undefined is not a value.
var Undefined dynamic.Field

// Attr is the attribute of a value: the entry of a map.
func (t *Text) Attr(f dynamic.Field, name string) dynamic.Field {
	if !f.Present() {
		return t.fail("a value is undefined, and has no attribute %q", name)
	}
	return f.At(name)
}

// Item is the entry of a map, or the item of a list or text; negative places count from the end.
func (t *Text) Item(f, key dynamic.Field) dynamic.Field {
	v, k := f.Value(), key.Value()
	switch {
	case !f.Present():
		return t.fail("a value is undefined, and has no item %s", py.Repr(k))
	case v.Kind() == value.MapKind && k.Kind() == value.StringKind:
		return f.At(k.String())
	case k.Kind() != value.IntKind:
		return dynamic.Field{}
	}
	items, ok := sequence(v)
	at := k.Int()
	if at < 0 {
		at += int64(len(items))
	}
	if !ok || at < 0 || at >= int64(len(items)) {
		return dynamic.Field{}
	}
	return dynamic.Of(items[at])
}

// sequence is the items of a list, or the characters of a text.
func sequence(v value.Value) ([]value.Value, bool) {
	switch v.Kind() {
	case value.ListKind:
		items, _ := dynamic.Of(v).Items()
		return items, true
	case value.StringKind:
		var out []value.Value
		for _, r := range v.String() {
			out = append(out, value.String(string(r)))
		}
		return out, true
	}
	return nil, false
}

// Slice is the part of a list or text from one place up to another, by steps. Absent bounds are open.
func (t *Text) Slice(f, from, to, step dynamic.Field) dynamic.Field {
	items, ok := sequence(f.Value())
	if !ok {
		return t.fail("'%s' object is not subscriptable", class(f))
	}
	by := int64(1)
	if step.Value().Kind() == value.IntKind {
		by = step.Value().Int()
	}
	if by == 0 {
		return t.fail("the step of a slice is zero")
	}
	n := int64(len(items))
	lo, hi := bound(from, n, by, 0, n-1), bound(to, n, by, n, -1)
	var out []value.Value
	for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
		out = append(out, items[i])
	}
	if f.Value().Kind() == value.StringKind {
		var b strings.Builder
		for _, v := range out {
			b.WriteString(v.String())
		}
		return dynamic.Text(b.String())
	}
	return dynamic.Of(value.List(out...))
}

// bound is a bound of a slice, held to the sequence as Python does.
func bound(f dynamic.Field, n, by, forward, backward int64) int64 {
	if f.Value().Kind() != value.IntKind {
		if by > 0 {
			return forward
		}
		return backward
	}
	at := f.Value().Int()
	if at < 0 {
		at += n
	}
	if by > 0 {
		return min(max(at, 0), n)
	}
	return min(max(at, -1), n-1)
}

// kind is what Python calls the type of a value.
func kind(f dynamic.Field) string {
	if !f.Present() {
		return "an undefined value"
	}
	return map[value.Kind]string{value.NullKind: "None", value.BoolKind: "a bool", value.IntKind: "an int", value.FloatKind: "a float",
		value.StringKind: "a str", value.ListKind: "a list", value.MapKind: "a dict"}[f.Value().Kind()]
}

// class is the name of Python for the type of a value.
func class(f dynamic.Field) string {
	if !f.Present() {
		return "Undefined"
	}
	return py.TypeName(f.Value())
}

// Items are what a loop goes over: the items of a list, the keys of a map, the characters of a text; none of an undefined
// value.
func (t *Text) Items(f dynamic.Field) []dynamic.Field {
	var out []dynamic.Field
	v := f.Value()
	switch items, ok := sequence(v); {
	case ok:
		for _, x := range items {
			out = append(out, dynamic.Of(x))
		}
	case v.Kind() == value.MapKind:
		for _, k := range v.Keys() {
			out = append(out, dynamic.Text(k))
		}
	case f.Present():
		t.fail("'%s' object is not iterable", class(f))
	}
	return out
}

// Where are the items that a test holds for.
func (t *Text) Where(items []dynamic.Field, holds func(dynamic.Field) bool) []dynamic.Field {
	var out []dynamic.Field
	for _, x := range items {
		if holds(x) {
			out = append(out, x)
		}
	}
	return out
}

// A Pair is an item with two parts.
type Pair struct{ Key, Value dynamic.Field }

// Pair takes an item apart; one that has not two parts is an error.
func (t *Text) Pair(f dynamic.Field) Pair {
	items, ok := sequence(f.Value())
	if !ok || len(items) != 2 {
		t.fail("%s is not a pair", kind(f))
		return Pair{}
	}
	return Pair{dynamic.Of(items[0]), dynamic.Of(items[1])}
}

// A Loop is the place of an item in the loop over it.
type Loop struct {
	Item dynamic.Field
	at   int
	all  []dynamic.Field
}

// Loops are items with their places.
func Loops(items []dynamic.Field) []Loop {
	out := make([]Loop, len(items))
	for i, x := range items {
		out[i] = Loop{x, i, items}
	}
	return out
}

// Index counts from one.
func (l Loop) Index() dynamic.Field { return dynamic.Whole(int64(l.at) + 1) }

// Index0 counts from zero.
func (l Loop) Index0() dynamic.Field { return dynamic.Whole(int64(l.at)) }

// Revindex counts down to one.
func (l Loop) Revindex() dynamic.Field { return dynamic.Whole(int64(len(l.all) - l.at)) }

// Revindex0 counts down to zero.
func (l Loop) Revindex0() dynamic.Field { return dynamic.Whole(int64(len(l.all) - l.at - 1)) }

// First is the first item's.
func (l Loop) First() dynamic.Field { return dynamic.Flag(l.at == 0) }

// Last is the last item's.
func (l Loop) Last() dynamic.Field { return dynamic.Flag(l.at == len(l.all)-1) }

// Length is how many items there are.
func (l Loop) Length() dynamic.Field { return dynamic.Whole(int64(len(l.all))) }

// Previtem is the item before; undefined for the first.
func (l Loop) Previtem() dynamic.Field {
	if l.at == 0 {
		return dynamic.Field{}
	}
	return l.all[l.at-1]
}

// Nextitem is the item after; undefined for the last.
func (l Loop) Nextitem() dynamic.Field {
	if l.at+1 >= len(l.all) {
		return dynamic.Field{}
	}
	return l.all[l.at+1]
}

// Cycle is one of the values after the other.
func (l Loop) Cycle(values ...dynamic.Field) dynamic.Field {
	if len(values) == 0 {
		return dynamic.Field{}
	}
	return values[l.at%len(values)]
}

// maxRange bounds the numbers of a range.
const maxRange = 100_000

// Range are the numbers that Python's range gives.
func (t *Text) Range(args ...dynamic.Field) dynamic.Field {
	n := make([]int64, 0, 3)
	for _, a := range args {
		if a.Value().Kind() != value.IntKind {
			return t.fail("range takes integers, not %s", kind(a))
		}
		n = append(n, a.Value().Int())
	}
	lo, hi, by := int64(0), int64(0), int64(1)
	switch len(n) {
	case 1:
		hi = n[0]
	case 2:
		lo, hi = n[0], n[1]
	case 3:
		lo, hi, by = n[0], n[1], n[2]
	default:
		return t.fail("range takes one to three numbers")
	}
	if by == 0 {
		return t.fail("the step of a range is zero")
	}
	var out []value.Value
	for i := lo; by > 0 && i < hi || by < 0 && i > hi; i += by {
		if len(out) == maxRange {
			return t.fail("a range has more than %d numbers", maxRange)
		}
		out = append(out, value.Int(i))
	}
	return dynamic.Of(value.List(out...))
}

// Or is a or b: a when it is taken for true.
func Or(a dynamic.Field, b func() dynamic.Field) dynamic.Field {
	if py.True(a) {
		return a
	}
	return b()
}

// And is a and b: b when a is taken for true.
func And(a dynamic.Field, b func() dynamic.Field) dynamic.Field {
	if !py.True(a) {
		return a
	}
	return b()
}

// If is a value, or another one; a nil function stands for an undefined value.
func If(holds bool, value, other func() dynamic.Field) dynamic.Field {
	switch {
	case holds:
		return value()
	case other == nil:
		return dynamic.Field{}
	}
	return other()
}
