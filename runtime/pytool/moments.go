package pytool

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// moments are the types of Python whose values are texts here, and again what they were in the next function that is called
// plainly. In a frame one is a mapping with a single key: \0 and the name of the type. A run that is resumed has the texts.
var moments = []string{"", "datetime", "date", "time", "timedelta"}

// received are data out of a frame: each moment is its text, with a mark.
func received(v value.Value) value.Value {
	out, _ := rewritten(v, func(v value.Value) (value.Value, bool) {
		if v.Kind() != value.MapKind || v.Len() != 1 || v.Index(0).Kind() != value.StringKind {
			return v, false
		}
		name, is := strings.CutPrefix(v.Key(0), "\x00")
		if mark := slices.Index(moments, name); is && mark > 0 {
			return value.Marked(v.Index(0).String(), uint8(mark)), true
		}
		return v, false
	})
	return out
}

// sent are data as they are in a frame.
func sent(v value.Value) value.Value {
	out, _ := rewritten(v, func(v value.Value) (value.Value, bool) {
		if mark := int(v.Mark()); mark > 0 && mark < len(moments) {
			return value.Map(value.Entry{Key: "\x00" + moments[mark], Value: value.String(v.String())}), true
		}
		return v, false
	})
	return out
}

// rewritten puts other values in the places of some, and says whether there were any: what holds none stays what it is.
func rewritten(v value.Value, other func(value.Value) (value.Value, bool)) (value.Value, bool) {
	if x, is := other(v); is {
		return x, true
	}
	var items []value.Value
	for i := range v.Len() {
		x, is := rewritten(v.Index(i), other)
		if is && items == nil {
			items = make([]value.Value, 0, v.Len())
			for j := range i {
				items = append(items, v.Index(j))
			}
		}
		if items != nil {
			items = append(items, x)
		}
	}
	switch {
	case items == nil:
		return v, false
	case v.Kind() == value.ListKind:
		return value.List(items...), true
	}
	return value.MapOf(len(items), func(i int) (string, value.Value, bool) { return v.Key(i), items[i], true }), true
}
