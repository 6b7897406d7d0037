package py

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxJSON bounds how deep a value is written, as values that are parsed are bounded.
const maxJSON = 1000

// JSON is json.dumps of Python: ASCII, with ", " and ": "; with an indent of zero and more over lines; with keys in order
// when they are sorted.
func JSON(v value.Value, indent int, sorted bool) string {
	return string(appendJSON(nil, v, indent, 0, sorted))
}

func appendJSON(b []byte, v value.Value, indent, depth int, sorted bool) []byte {
	line := func(depth int) {
		if indent >= 0 {
			b = append(b, '\n')
			b = append(b, strings.Repeat(" ", indent*depth)...)
		}
	}
	separate := func(i int) {
		if i > 0 {
			if b = append(b, ','); indent < 0 {
				b = append(b, ' ')
			}
		}
		line(depth + 1)
	}
	switch v.Kind() {
	case value.FloatKind:
		return append(b, cmp.Or(v.Digits(), reprFloat(v.Float()))...)
	case value.StringKind:
		return quoteJSON(b, v.String())
	case value.ListKind, value.MapKind:
		if v.Len() == 0 || depth > maxJSON {
			if v.Kind() == value.ListKind {
				return append(b, "[]"...)
			}
			return append(b, "{}"...)
		}
	default:
		text, _ := v.MarshalJSON()
		return append(b, text...)
	}
	if v.Kind() == value.ListKind {
		b = append(b, '[')
		for i := range v.Len() {
			separate(i)
			b = appendJSON(b, v.Index(i), indent, depth+1, sorted)
		}
		line(depth)
		return append(b, ']')
	}
	keys := slices.Clone(v.Keys())
	if sorted {
		slices.Sort(keys)
	}
	b = append(b, '{')
	for i, k := range keys {
		separate(i)
		x, _ := v.Get(k)
		b = append(quoteJSON(b, k), ": "...)
		b = appendJSON(b, x, indent, depth+1, sorted)
	}
	line(depth)
	return append(b, '}')
}

// quoteJSON writes text as json.dumps does: everything outside of ASCII as \u escapes.
func quoteJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r >= 0x20 && r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}
