package diff

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxParsed bounds two values that are compared field by field, in bytes: a list of numbers takes a hundred times its text.
const maxParsed = 4 << 20

// fields lists the innermost fields in which two JSON values differ. A value that is not JSON, or not there, differs as a
// whole, and so do large ones.
func fields(what string, a, b json.RawMessage) []Change {
	if string(a) == string(b) {
		return nil
	}
	if len(a)+len(b) > maxParsed {
		return []Change{{What: what, Old: whole(a, value.Check(a)), New: whole(b, value.Check(b))}}
	}
	x, errX := value.Parse(a)
	y, errY := value.Parse(b)
	if errX != nil || errY != nil {
		return []Change{{What: what, Old: whole(a, errX), New: whole(b, errY)}}
	}
	var list []Change
	walk(what, "", x, y, &list)
	return list
}

// whole is a value that has to be told as it is: text, when it is not JSON.
func whole(v json.RawMessage, err error) json.RawMessage {
	if len(v) == 0 || err == nil {
		return v
	}
	return quoted(strings.ToValidUTF8(string(v), "\uFFFD"))
}

func walk(what, at string, a, b value.Value, list *[]Change) {
	switch {
	case a.Equal(b):
	case a.Kind() == value.MapKind && b.Kind() == value.MapKind:
		keys := append(a.Keys(), b.Keys()...)
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			inside := k
			if at != "" {
				inside = at + "." + k
			}
			x, before := a.Get(k)
			y, after := b.Get(k)
			switch {
			case before && after:
				walk(what, inside, x, y, list)
			case before:
				*list = append(*list, Change{What: what, Path: inside, Old: text(x)})
			default:
				*list = append(*list, Change{What: what, Path: inside, New: text(y)})
			}
		}
	case a.Kind() == value.ListKind && b.Kind() == value.ListKind:
		n := min(a.Len(), b.Len())
		for i := range n {
			walk(what, at+"["+strconv.Itoa(i)+"]", a.Index(i), b.Index(i), list)
		}
		for i := n; i < a.Len(); i++ {
			*list = append(*list, Change{What: what, Path: at + "[" + strconv.Itoa(i) + "]", Old: text(a.Index(i))})
		}
		for i := n; i < b.Len(); i++ {
			*list = append(*list, Change{What: what, Path: at + "[" + strconv.Itoa(i) + "]", New: text(b.Index(i))})
		}
	default:
		*list = append(*list, Change{What: what, Path: at, Old: text(a), New: text(b)})
	}
}

// text is a value as JSON.
func text(v value.Value) json.RawMessage {
	b, err := v.MarshalJSON()
	if err != nil { // it was parsed from JSON
		return nil
	}
	return b
}
