package flowtest

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct{ want, got, diff string }{
		{`1`, `1.0`, ""},
		{`1.5`, `1`, "is 1, want 1.5"},
		{`null`, `{"a": null}`, `is {"a":null}, want null`},
		{`{"a": 1}`, `{"a": 1, "b": null}`, ""},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, "b is 2, want null"},
		{`{"a": {"b": [1, 2]}}`, `{"a": {"b": [1, 3]}}`, "a.b[1] is 3, want 2"},
		{`[1, 2]`, `[1]`, "has 1 items, want 2"},
		{`[]`, `null`, "is null, want []"},
		{`{"$contains": "b"}`, `"abc"`, ""},
		{`{"$contains": "x"}`, `"abc"`, `is "abc", want something with "x"`},
		{`{"$contains": {"a": 1}}`, `[{"a": 2}, {"a": 1}]`, ""},
		{`{"$contains": {"a": 3}}`, `[{"a": 2}]`, `is [{"a":2}], want something with {"a":3}`},
		{`{"$contains": "1"}`, `1`, `is 1, want something with "1"`},
		{`{"$matches": "^a.c$"}`, `"abc"`, ""},
		{`{"$matches": "^b"}`, `"abc"`, `is "abc", want a match of "^b"`},
		{`{"$matches": "("}`, `"abc"`, "cannot be compared: error parsing regexp: missing closing ): `(`"},
		{`{"$min": 2}`, `2`, ""},
		{`{"$min": 2}`, `1.9`, "is 1.9, want 2 or more"},
		{`{"$max": 2}`, `2.1`, "is 2.1, want 2 or less"},
		{`{"$max": 2}`, `"1"`, `is "1", want 2 or less`},
		{`{"$size": 2}`, `"äö"`, ""},
		{`{"$size": 2}`, `[1]`, "has size 1, want 2"},
		{`{"$size": {"$min": 1}}`, `{}`, "has size 0, want 1 or more"},
		{`{"$size": 0}`, `null`, "is null, want something with a size"},
		{`{"$has": {"a": {"$min": 1}}}`, `{"a": 1, "b": 2}`, ""},
		{`{"$has": {"a": 1}}`, `{"b": 2}`, "a is null, want 1"},
		{`{"$has": {"a": 1}}`, `[]`, `is [], want a mapping with {"a":1}`},
		{`{"$any": true}`, `0`, ""},
		{`{"$any": true}`, `null`, "is null, want any value"},
		{`{"a": {"$any": true}}`, `{}`, "a is null, want any value"},
		{`{"$other": 1}`, `1`, "cannot be compared: unknown condition $other"},
		{`{"$min": 1, "$max": 2}`, `1`, `is 1, want {"$min":1,"$max":2}`}, // two keys are no condition
	} {
		want, err := value.Parse([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Parse([]byte(tt.got))
		if err != nil {
			t.Fatal(err)
		}
		if d := match("", want, got); d != tt.diff {
			t.Errorf("%s of %s: %q, want %q", tt.want, tt.got, d, tt.diff)
		}
	}
}

// A value is matched by itself, and by no other that is not equal to it; where they differ is said at the right place.
func TestMatchIsEquality(t *testing.T) {
	scalar := rapid.Custom(func(t *rapid.T) value.Value {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return value.Null()
		case 1:
			return value.Bool(rapid.Bool().Draw(t, "b"))
		case 2:
			return value.Int(rapid.Int64Range(-3, 3).Draw(t, "n"))
		case 3:
			return value.Float(rapid.Float64Range(-3, 3).Draw(t, "x"))
		}
		return value.String(rapid.StringN(0, 3, -1).Draw(t, "s"))
	})
	var v func(depth int) *rapid.Generator[value.Value]
	v = func(depth int) *rapid.Generator[value.Value] {
		if depth == 0 {
			return scalar
		}
		return rapid.Custom(func(t *rapid.T) value.Value {
			n := rapid.IntRange(0, 3).Draw(t, "n")
			switch rapid.IntRange(0, 2).Draw(t, "shape") {
			case 0:
				return scalar.Draw(t, "v")
			case 1:
				var items []value.Value
				for range n {
					items = append(items, v(depth-1).Draw(t, "item"))
				}
				return value.List(items...)
			}
			var entries []value.Entry
			for i := range n {
				entries = append(entries, value.Entry{Key: "k" + strconv.Itoa(i), Value: v(depth-1).Draw(t, "entry")})
			}
			return value.Map(entries...)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := v(3).Draw(t, "a"), v(3).Draw(t, "b")
		if d := match("", a, a); d != "" {
			t.Fatalf("a value differs from itself: %s", d)
		}
		if (match("", a, b) == "") != (match("", b, a) == "") {
			t.Fatal("a matches b and b does not match a")
		}
		if match("", a, b) == "" && !alike(a, b) {
			t.Fatal("they are not equal")
		}
		if match("", a, b) != "" && a.Equal(b) {
			t.Fatal("they are equal")
		}
	})
}

// alike is the definition: equal, but for null fields that are left out and ints that are floats.
func alike(a, b value.Value) bool {
	switch {
	case a.Kind() == value.MapKind && b.Kind() == value.MapKind:
		for _, k := range append(a.Keys(), b.Keys()...) {
			x, _ := a.Get(k)
			y, _ := b.Get(k)
			if !alike(x, y) {
				return false
			}
		}
		return true
	case a.Kind() == value.ListKind && b.Kind() == value.ListKind:
		for i := range max(a.Len(), b.Len()) {
			if i >= min(a.Len(), b.Len()) || !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case a.Kind() == value.IntKind && b.Kind() == value.FloatKind, a.Kind() == value.FloatKind && b.Kind() == value.IntKind:
		return a.Float() == b.Float()
	}
	return a.Equal(b)
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		pattern, key string
		want         bool
	}{
		{"fetch", "fetch", true},
		{"fetch", "fetch#2", false},
		{"fetch#2", "fetch#2", true},
		{"fetch#*", "fetch", true},
		{"fetch#*", "fetch#12", true},
		{"fetch#*", "fetcher", false},
		{"each[*]/upper", "each[0]/upper", true},
		{"each[*]/upper", "each[12]/upper", true},
		{"each[*]/upper", "each[1]/upper#2", false},
		{"each[*]/upper#*", "each[1]/upper#2", true},
		{"each[*]/upper", "each#2[1]/upper", false},
		{"each#*[*]/upper", "each#2[1]/upper", true},
		{"each#*[1]/upper", "each#2[0]/upper", false},
		{"each[*]/upper", "each/upper", false},
		{"each[*]/upper", "each[0]/in/upper", false},
		{"each[*]/upper", "upper", false},
		{"pub/notify", "pub/notify", true},
		{"pub/notify#*", "pub/notify#2", true},
		{"pub#*/notify", "pub/notify#2", false},
	} {
		if got := matchesKey(tt.pattern, tt.key); got != tt.want {
			t.Errorf("%s stands for %s: %v", tt.pattern, tt.key, got)
		}
	}
}
