package dynamic

import "github.com/flowgen-dev/flowgen/runtime/value"

// Type is what a state field may hold.
type Type uint8

// The types. Null fits all of them.
const (
	Any Type = iota
	String
	Num
	Bool
	Map
	Array
)

// Holds reports whether a value fits.
func (t Type) Holds(v value.Value) bool {
	switch v.Kind() {
	case value.NullKind:
		return true
	case value.StringKind:
		return t == String || t == Any
	case value.IntKind, value.FloatKind:
		return t == Num || t == Any
	case value.BoolKind:
		return t == Bool || t == Any
	case value.ListKind:
		return t == Array || t == Any
	}
	return t == Map || t == Any
}

// Merge is what a write does to a field.
type Merge uint8

// The last write wins, a second write is a mistake, a list is added to, or numbers and texts are added up, which the
// package py does.
const (
	Last Merge = iota
	Once
	Append
	Sum
)

// A Slot is a field of the state as writes see it.
type Slot struct {
	Name  string
	Type  Type
	Merge Merge
	Field *Field
}

// Reason is why a write is refused.
type Reason uint8

// A field that the state does not have, a value of another type, a second write of a field that is written once, or
// something else than a list for a field that is appended to.
const (
	Undeclared Reason = iota
	Mistyped
	Again
	NoList
)

// A WriteError is a write that the rules of the state forbid.
type WriteError struct {
	Slot   Slot // Name alone when it is Undeclared
	Reason Reason
	Value  value.Value
}

// Error is a plain sentence; dialects have words of their own.
func (e *WriteError) Error() string {
	return "state field " + e.Slot.Name + ": " + [...]string{"not declared", "a value of another type", "written a second time", "not a list"}[e.Reason]
}

// Snapshot is the state as one value.
func Snapshot(slots []Slot) Field {
	return Of(value.MapOf(len(slots), func(i int) (string, value.Value, bool) {
		s := &slots[i]
		return s.Name, s.Field.Value(), s.Field.Present()
	}))
}

// Read is a field of the state, absent when it has none of the name.
func Read(slots []Slot, name string) Field {
	for i := range slots {
		if slots[i].Name == name {
			return *slots[i].Field
		}
	}
	return Field{}
}

// Write merges values into the state, all of them or none. The error is a *WriteError. With try nothing is written.
func Write(slots []Slot, delta []value.Entry, try bool) error {
	var room [8]*Slot // small maps need no other
	places := room[:0]
	for i := range delta {
		s, err := place(slots, delta[i].Key, delta[i].Value)
		if err != nil {
			return err
		}
		places = append(places, s)
	}
	if try {
		return nil
	}
	for i, s := range places {
		v := delta[i].Value
		if s.Merge == Append {
			v = appended(s.Field.Value(), v)
		}
		*s.Field = Of(v)
	}
	return nil
}

// place finds the slot of a value that may be written there.
func place(slots []Slot, key string, v value.Value) (*Slot, error) {
	for i := range slots {
		s := &slots[i]
		switch {
		case s.Name != key:
			continue
		case s.Merge == Append && v.Kind() != value.ListKind:
			return nil, &WriteError{*s, NoList, v}
		case !s.Type.Holds(v):
			return nil, &WriteError{*s, Mistyped, v}
		case s.Merge == Once && s.Field.Present():
			return nil, &WriteError{*s, Again, v}
		}
		return s, nil
	}
	return nil, &WriteError{Slot{Name: key}, Undeclared, v}
}

func appended(old, more value.Value) value.Value {
	if old.Kind() != value.ListKind || old.Len() == 0 {
		return more
	}
	all := make([]value.Value, 0, old.Len()+more.Len())
	for i := range old.Len() {
		all = append(all, old.Index(i))
	}
	for i := range more.Len() {
		all = append(all, more.Index(i))
	}
	return value.List(all...)
}
