package js

import "github.com/flowgen-dev/flowgen/runtime/value"

// Parse is JSON.parse: an integer beyond 64 bits is the nearest number, and not exact.
func Parse(text []byte) (value.Value, error) {
	v, err := value.Parse(text)
	if err != nil || !long(text) {
		return v, err
	}
	return rounded(v), nil
}

// long reports whether a text has a number of so many digits that it may need more than 64 bits.
func long(text []byte) bool {
	run := 0
	for _, c := range text {
		if run++; c < '0' || c > '9' {
			run = 0
		}
		if run >= len("9223372036854775807") {
			return true
		}
	}
	return false
}

// rounded is a value whose integers beyond 64 bits are floats alone.
func rounded(v value.Value) value.Value {
	switch v.Kind() {
	case value.FloatKind:
		return value.Float(v.Float())
	case value.ListKind:
		items := make([]value.Value, v.Len())
		for i := range items {
			items[i] = rounded(v.Index(i))
		}
		return value.List(items...)
	case value.MapKind:
		entries := make([]value.Entry, v.Len())
		for i, key := range v.Keys() {
			entries[i] = value.Entry{Key: key, Value: rounded(v.Index(i))}
		}
		return value.Map(entries...)
	}
	return v
}
