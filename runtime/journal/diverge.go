package journal

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func diverged(format string, args ...any) *runtime.RunError {
	return &runtime.RunError{Kind: runtime.Diverged, Message: fmt.Sprintf(format, args...)}
}

// Difference names the first field in which an input differs from what it was: "input field q is 1, was 2".
// Both are JSON. It returns an empty string when they are the same value.
func Difference(now, before []byte) string {
	a, err := value.Parse(now)
	if err != nil {
		return "input: " + err.Error()
	}
	b, err := value.Parse(before)
	if err != nil {
		return "earlier input: " + err.Error()
	}
	return difference("", a, b)
}

func difference(at string, a, b value.Value) string {
	if a.Equal(b) {
		return ""
	}
	switch {
	case a.Kind() == value.MapKind && b.Kind() == value.MapKind:
		return mapDifference(at, a, b)
	case a.Kind() == value.ListKind && b.Kind() == value.ListKind:
		for i := range min(a.Len(), b.Len()) {
			if d := difference(at+"["+strconv.Itoa(i)+"]", a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return fmt.Sprintf("%s has length %d, was %d", place(at), a.Len(), b.Len())
	}
	return fmt.Sprintf("%s is %s, was %s", place(at), short(a), short(b))
}

func mapDifference(at string, a, b value.Value) string {
	keys := append(a.Keys(), b.Keys()...)
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		below := k
		if at != "" {
			below = at + "." + k
		}
		x, now := a.Get(k)
		y, then := b.Get(k)
		switch {
		case !then:
			return place(below) + " is new"
		case !now:
			return place(below) + " is missing, was " + short(y)
		}
		if d := difference(below, x, y); d != "" {
			return d
		}
	}
	return ""
}

func place(at string) string {
	if at == "" {
		return "input"
	}
	return "input field " + at
}

// short bounds a value for a message.
func short(v value.Value) string {
	b, err := v.MarshalJSON()
	if err != nil {
		return "a value"
	}
	if r := []rune(string(b)); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return string(b)
}
