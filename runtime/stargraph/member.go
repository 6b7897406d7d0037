package stargraph

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime"
)

// Member is what stands at a path of a value: keys of mappings and positions in lists. It returns a VALIDATION_ERROR when there
// is nothing.
func Member(value runtime.Value, path []string) (runtime.Value, error) {
	for i, name := range path {
		next, ok := runtime.Value{}, false
		switch value.Kind() {
		case runtime.MapKind:
			next, ok = value.Get(name)
		case runtime.ListKind:
			if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < value.Len() {
				next, ok = value.Index(n), true
			}
		}
		if !ok {
			where := "the value"
			if i > 0 {
				where = "the value at " + path[i-1]
			}
			return runtime.Value{}, runtime.Errorf(runtime.ValidationError, "%s has no %q", where, name)
		}
		value = next
	}
	return value, nil
}
