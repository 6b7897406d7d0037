package py

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// reprFloat is the shortest text of a number, with a point or an exponent.
func reprFloat(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', -1, 64)), "+")
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

// reprText writes text in single quotes, or in double quotes when it holds single ones only.
func reprText(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r > 0x7f && r < 0x100 && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\x%02x`, r)
		case r > 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\U%08x`, r)
		case r > 0x7f && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteRune(quote)
}
