package sirenspec

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxDepth bounds how deep a value is shown, as values that are parsed are bounded.
const maxDepth = 1000

// Text is str(v) of Python.
func Text(v value.Value) string {
	if v.Kind() == value.StringKind {
		return v.String()
	}
	return string(appendRepr(nil, v, 0))
}

// appendRepr writes repr(v) of Python.
func appendRepr(b []byte, v value.Value, depth int) []byte {
	if depth > maxDepth {
		return append(b, "..."...)
	}
	switch v.Kind() {
	case value.NullKind:
		return append(b, "None"...)
	case value.BoolKind:
		if v.Bool() {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case value.FloatKind:
		return append(b, cmp.Or(v.Digits(), floatText(v.Float()))...)
	case value.StringKind:
		return appendQuoted(b, v.String())
	case value.ListKind:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendRepr(b, v.Index(i), depth+1)
		}
		return append(b, ']')
	case value.MapKind:
		b = append(b, '{')
		for i, key := range v.Keys() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendQuoted(b, key), ": "...)
			b = appendRepr(b, v.Index(i), depth+1)
		}
		return append(b, '}')
	}
	return append(b, v.String()...)
}

func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func appendQuoted(b []byte, s string) []byte {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b = append(b, q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case unicode.IsPrint(r):
			b = append(b, string(r)...)
		default:
			b = append(b, escape(r)...)
		}
	}
	return append(b, q)
}

func escape(r rune) string {
	hex := strconv.FormatInt(int64(r), 16)
	switch {
	case r < 0x100:
		return `\x` + strings.Repeat("0", 2-len(hex)) + hex
	case r < 0x10000:
		return `\u` + strings.Repeat("0", 4-len(hex)) + hex
	}
	return `\U` + strings.Repeat("0", 8-len(hex)) + hex
}
