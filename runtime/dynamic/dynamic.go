// Package dynamic is the state of workflows in dialects whose data has no types before it runs: fields that may not be
// there, writes with rules, and values that are put together of them.
//
// Generated code holds the state in a struct with a Field for every name that the file declares, reads it field by field
// and writes it through slots. What a language of the dialect's engine thinks of values (their text, their order, what is
// true) is in a package below, such as js.
package dynamic

import (
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Field is a value that may not be there, which is something else than null. The zero Field is absent. Fields are
// immutable and safe for concurrent use.
type Field struct{ of value.Optional }

// Of is a field that is there.
func Of(v value.Value) Field { return Field{v.Some()} }

// Text, Number, Whole, Flag and Null are constants.
func Text(s string) Field { return Of(value.String(s)) }

// Number is a constant with a fraction.
func Number(f float64) Field { return Of(value.Float(f)) }

// Whole is an integer.
func Whole(n int64) Field { return Of(value.Int(n)) }

// Flag is true or false.
func Flag(b bool) Field { return Of(value.Bool(b)) }

// Null is null.
func Null() Field { return Of(value.Null()) }

// Value is the value, null when it is not there.
func (f Field) Value() value.Value { return f.of.Value() }

// Present reports whether there is a value, null included.
func (f Field) Present() bool { return f.of.Present() }

// IsZero reports whether the field is absent, so that JSON leaves it out.
func (f Field) IsZero() bool { return !f.Present() }

// MarshalJSON implements json.Marshaler.
func (f Field) MarshalJSON() ([]byte, error) { return f.Value().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler. What is read is there, even when it is null.
func (f *Field) UnmarshalJSON(b []byte) error {
	var v value.Value
	err := v.UnmarshalJSON(b)
	*f = Of(v)
	return err
}

// TakesNull says to value.Decode that a field can be null.
func (f *Field) TakesNull() {}

// OrNull is the field, or null when it is absent.
func (f Field) OrNull() Field {
	return Of(f.Value())
}

// NonNull is the field, absent when its value is null.
func (f Field) NonNull() Field {
	if f.Value().IsNull() {
		return Field{}
	}
	return f
}

// At is the value below the keys of maps; absent when one of them is missing.
func (f Field) At(path ...string) Field {
	for _, key := range path {
		v, ok := f.Value().Get(key)
		if !ok {
			return Field{}
		}
		f = Of(v)
	}
	return f
}

// An Entry is a key with a field; see Put.
type Entry struct {
	key   string
	field Field
}

// Put is an entry of a map.
func Put(key string, f Field) Entry { return Entry{key, f} }

// Key is what the entry is under.
func (e Entry) Key() string { return e.key }

// Field is what is there; absent: the entry makes no part of a map.
func (e Entry) Field() Field { return e.field }

// Find is the last of the entries with a key, absent when there is none.
func Find(entries []Entry, key string) Field {
	for i := len(entries) - 1; i >= 0; i-- {
		if e := &entries[i]; e.key == key && e.field.Present() {
			return e.field
		}
	}
	return Field{}
}

// Object makes a map of the entries that are there. Of two entries with the same key the later value is at the earlier
// place.
func Object(entries ...Entry) Field {
	return Of(value.MapOf(len(entries), func(i int) (string, value.Value, bool) {
		e := &entries[i]
		return e.key, e.field.Value(), e.field.Present()
	}))
}

// With is a map with more entries; of two with the same key the later counts.
func (f Field) With(entries ...Entry) Field {
	if len(entries) == 0 {
		return f
	}
	all := make([]Entry, 0, f.Value().Len()+len(entries))
	for i, key := range f.Value().Keys() {
		all = append(all, Put(key, Of(f.Value().Index(i))))
	}
	return Object(append(all, entries...)...)
}

// List makes a list; what is absent is null in it, as a list has no gaps.
func List(items ...Field) Field {
	all := make([]value.Value, len(items))
	for i, f := range items {
		all[i] = f.Value()
	}
	return Of(value.List(all...))
}

// Items are the items of a list, and whether it is one.
func (f Field) Items() ([]value.Value, bool) {
	if f.Value().Kind() != value.ListKind {
		return nil, false
	}
	items := make([]value.Value, f.Value().Len())
	for i := range items {
		items[i] = f.Value().Index(i)
	}
	return items, true
}
