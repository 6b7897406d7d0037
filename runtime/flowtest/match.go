package flowtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// match says what keeps got from being what is expected, and where below at; "" when nothing does. Numbers are equal when
// their values are, and a field that is not there is null.
func match(at string, want, got value.Value) string {
	if name, arg, ok := condition(want); ok {
		return matchCondition(at, name, arg, got)
	}
	switch {
	case want.Kind() == value.MapKind && got.Kind() == value.MapKind:
		return matchMap(at, want, got, true)
	case want.Kind() == value.ListKind && got.Kind() == value.ListKind:
		for i := range min(want.Len(), got.Len()) {
			if d := match(at+"["+strconv.Itoa(i)+"]", want.Index(i), got.Index(i)); d != "" {
				return d
			}
		}
		if want.Len() != got.Len() {
			return differs(at, fmt.Sprintf("has %d items, want %d", got.Len(), want.Len()))
		}
		return ""
	case equal(want, got):
		return ""
	}
	return differs(at, "is "+short(got)+", want "+short(want))
}

func matchMap(at string, want, got value.Value, whole bool) string {
	keys := want.Keys()
	if whole {
		keys = append(keys, got.Keys()...)
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		w, _ := want.Get(k)
		g, _ := got.Get(k)
		if d := match(join(at, k), w, g); d != "" {
			return d
		}
	}
	return ""
}

func join(at, k string) string {
	if at == "" {
		return k
	}
	return at + "." + k
}

func differs(at, what string) string {
	if at == "" {
		return what
	}
	return at + " " + what
}

func equal(a, b value.Value) bool {
	if numeric(a) && numeric(b) && a.Kind() != b.Kind() {
		return a.Float() == b.Float()
	}
	return a.Equal(b)
}

func numeric(v value.Value) bool {
	return v.Kind() == value.IntKind || v.Kind() == value.FloatKind
}

// condition is the condition that an expected value is.
func condition(v value.Value) (name string, arg value.Value, ok bool) {
	if v.Kind() != value.MapKind || v.Len() != 1 {
		return "", arg, false
	}
	name = v.Keys()[0]
	if !strings.HasPrefix(name, "$") {
		return "", arg, false
	}
	arg, _ = v.Get(name)
	return name, arg, true
}

func matchCondition(at, name string, arg, got value.Value) string {
	ok, want := false, short(arg)
	switch name {
	case "$any":
		ok, want = !got.IsNull(), "any value"
	case "$contains":
		ok, want = contains(got, arg), "something with "+want
	case "$matches":
		re, err := regexp.Compile(arg.String())
		if err != nil {
			return differs(at, "cannot be compared: "+err.Error())
		}
		ok, want = got.Kind() == value.StringKind && re.MatchString(got.String()), "a match of "+want
	case "$min":
		ok, want = numeric(got) && got.Float() >= arg.Float(), want+" or more"
	case "$max":
		ok, want = numeric(got) && got.Float() <= arg.Float(), want+" or less"
	case "$size":
		if n, sized := size(got); sized {
			if d := match("", arg, value.Int(int64(n))); d != "" {
				return differs(at, "has size "+strings.TrimPrefix(d, "is "))
			}
			return ""
		}
		want = "something with a size"
	case "$has":
		if got.Kind() == value.MapKind && arg.Kind() == value.MapKind {
			return matchMap(at, arg, got, false)
		}
		want = "a mapping with " + want
	default:
		return differs(at, "cannot be compared: unknown condition "+name)
	}
	if ok {
		return ""
	}
	return differs(at, "is "+short(got)+", want "+want)
}

func contains(got, part value.Value) bool {
	switch got.Kind() {
	case value.StringKind:
		return part.Kind() == value.StringKind && strings.Contains(got.String(), part.String())
	case value.ListKind:
		for i := range got.Len() {
			if match("", part, got.Index(i)) == "" {
				return true
			}
		}
	}
	return false
}

// size counts code points, items or entries.
func size(v value.Value) (int, bool) {
	switch v.Kind() {
	case value.StringKind:
		return utf8.RuneCountInString(v.String()), true
	case value.ListKind, value.MapKind:
		return v.Len(), true
	}
	return 0, false
}

// shortest bounds a value in a message, in characters.
const shortest = 300

func short(v value.Value) string {
	b, err := v.MarshalJSON()
	if err != nil {
		return "a value"
	}
	if r := []rune(string(b)); len(r) > shortest {
		return string(r[:shortest]) + "…"
	}
	return string(b)
}
