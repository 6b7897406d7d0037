// Package js is how JavaScript sees dynamic values: for dialects whose engine runs on it.
package js

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Length is the number of items of a list, or of UTF-16 code units of a string, and 0 for all else.
func Length(f dynamic.Field) dynamic.Field {
	switch v := f.Value(); v.Kind() {
	case value.ListKind:
		return dynamic.Whole(int64(v.Len()))
	case value.StringKind:
		return dynamic.Whole(int64(len(utf16.Encode([]rune(v.String())))))
	}
	return dynamic.Whole(0)
}

// True is whether JavaScript takes a value for true; what is absent is false.
func True(f dynamic.Field) bool {
	v := f.Value()
	switch v.Kind() {
	case value.NullKind:
		return false
	case value.BoolKind:
		return v.Bool()
	case value.IntKind, value.FloatKind:
		n := v.Float()
		return n != 0 && !math.IsNaN(n)
	case value.StringKind:
		return v.String() != ""
	}
	return true
}

// Equal is ===. Two lists or maps are equal only when they are the same one, which two places of a state never are.
// Something absent equals nothing.
func Equal(a, b dynamic.Field) bool {
	return a.Present() && b.Present() && same(a.Value(), b.Value())
}

// NotEqual is !==. It holds when exactly one side is absent, and not when both are.
func NotEqual(a, b dynamic.Field) bool {
	if !a.Present() || !b.Present() {
		return a.Present() != b.Present()
	}
	return !same(a.Value(), b.Value())
}

func same(a, b value.Value) bool {
	switch {
	case number(a) && number(b):
		return a.Float() == b.Float()
	case a.Kind() == value.ListKind, a.Kind() == value.MapKind:
		return false
	}
	return a.Equal(b)
}

func number(v value.Value) bool {
	return v.Kind() == value.IntKind || v.Kind() == value.FloatKind
}

// Less is <, false when a side is absent.
func Less(a, b dynamic.Field) bool { return ordered(a, b, func(c int) bool { return c < 0 }) }

// LessOrEqual is <=, false when a side is absent.
func LessOrEqual(a, b dynamic.Field) bool { return ordered(a, b, func(c int) bool { return c <= 0 }) }

// Greater is >, false when a side is absent.
func Greater(a, b dynamic.Field) bool { return ordered(a, b, func(c int) bool { return c > 0 }) }

// GreaterOrEqual is >=, false when a side is absent.
func GreaterOrEqual(a, b dynamic.Field) bool {
	return ordered(a, b, func(c int) bool { return c >= 0 })
}

// ordered compares strings by their UTF-16 code units and all else as numbers; NaN is in no order with anything.
func ordered(a, b dynamic.Field, holds func(int) bool) bool {
	if !a.Present() || !b.Present() {
		return false
	}
	x, y := primitive(a.Value()), primitive(b.Value())
	if x.Kind() == value.StringKind && y.Kind() == value.StringKind {
		return holds(compareText(x.String(), y.String()))
	}
	n, m := toNumber(x), toNumber(y)
	switch {
	case math.IsNaN(n) || math.IsNaN(m):
		return false
	case n < m:
		return holds(-1)
	case n > m:
		return holds(1)
	}
	return holds(0)
}

func compareText(a, b string) int {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return int(x[i]) - int(y[i])
		}
	}
	return len(x) - len(y)
}

// primitive is what lists and maps are compared as: their text.
func primitive(v value.Value) value.Value {
	if v.Kind() == value.ListKind || v.Kind() == value.MapKind {
		return value.String(text(v, 0))
	}
	return v
}

// maxDepth bounds how deep text looks into lists, as values that are parsed are bounded.
const maxDepth = 1000

// text is String(v).
func text(v value.Value, depth int) string {
	switch v.Kind() {
	case value.ListKind:
		parts := make([]string, v.Len())
		for i := range parts {
			if x := v.Index(i); !x.IsNull() && depth < maxDepth {
				parts[i] = text(x, depth+1)
			}
		}
		return strings.Join(parts, ",")
	case value.MapKind:
		return "[object Object]"
	case value.FloatKind:
		return JSON(v)
	}
	return v.String()
}

func toNumber(v value.Value) float64 {
	switch v.Kind() {
	case value.NullKind:
		return 0
	case value.BoolKind:
		if v.Bool() {
			return 1
		}
		return 0
	case value.StringKind:
		return parseNumber(v.String())
	}
	return v.Float()
}

// parseNumber is Number(s).
func parseNumber(s string) float64 {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	for prefix, base := range map[string]int{"0x": 16, "0X": 16, "0o": 8, "0O": 8, "0b": 2, "0B": 2} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			n, err := strconv.ParseUint(rest, base, 64)
			if err != nil || strings.ContainsAny(rest, "_+-") {
				return math.NaN()
			}
			return float64(n)
		}
	}
	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return math.NaN()
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(n, 0) {
		return math.NaN()
	}
	return n
}

// maxSafe is the largest number that JavaScript counts to.
const maxSafe = 1<<53 - 1

// JSON is JSON.stringify(v): compact, keys in their order, integers without a fraction.
func JSON(v value.Value) string { return string(appendJSON(nil, v, 0)) }

func appendJSON(b []byte, v value.Value, depth int) []byte {
	if depth > maxDepth {
		return append(b, "null"...)
	}
	switch v.Kind() {
	case value.IntKind:
		if n := v.Int(); n > maxSafe || n < -maxSafe {
			return append(b, value.JSON(float64(n))...)
		}
	case value.FloatKind:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return append(b, value.JSON(f)...)
		}
		return append(b, "null"...)
	case value.ListKind:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v.Index(i), depth+1)
		}
		return append(b, ']')
	case value.MapKind:
		b = append(b, '{')
		for i, key := range v.Keys() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, key), ':')
			b = appendJSON(b, v.Index(i), depth+1)
		}
		return append(b, '}')
	case value.StringKind:
		return appendText(b, v.String())
	}
	return append(b, v.String()...)
}

func appendText(b []byte, s string) []byte {
	return append(b, value.JSON(s)...)
}

// Text is how a value is in a prompt: strings as they are, all else as JSON.
func Text(f dynamic.Field) string {
	if v := f.Value(); v.Kind() != value.StringKind {
		return JSON(v)
	}
	return f.Value().String()
}

// At is the value below keys of maps and numbers of list items; length is that of a list. It is absent when there is
// none.
func At(f dynamic.Field, path ...string) dynamic.Field {
	for _, key := range path {
		if v := f.Value(); v.Kind() == value.ListKind {
			n, err := strconv.Atoi(key)
			switch {
			case key == "length":
				f = dynamic.Whole(int64(v.Len()))
			case err == nil && n >= 0 && n < v.Len() && strconv.Itoa(n) == key:
				f = dynamic.Of(v.Index(n))
			default:
				return dynamic.Field{}
			}
			continue
		}
		f = f.At(key)
	}
	return f
}

// Indent is JSON.stringify(v, null, 2).
func Indent(f dynamic.Field) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(JSON(f.Value())), "", "  "); err != nil {
		return JSON(f.Value())
	}
	return b.String()
}
