package stargraph

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Member is what is at a path of a value: keys of mappings and positions in lists. It returns a VALIDATION_ERROR when there
// is nothing.
func Member(v value.Value, path []string) (value.Value, error) {
	for i, name := range path {
		next, ok := value.Value{}, false
		switch v.Kind() {
		case value.MapKind:
			next, ok = v.Get(name)
		case value.ListKind:
			if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < v.Len() {
				next, ok = v.Index(n), true
			}
		}
		if !ok {
			where := "the value"
			if i > 0 {
				where = "the value at " + path[i-1]
			}
			return value.Value{}, value.Errorf(value.ValidationError, "%s has no %q", where, name)
		}
		v = next
	}
	return v, nil
}
