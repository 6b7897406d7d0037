package doc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	// PlainForm is text that means itself without quotes, in brackets, too.
	PlainForm = lazyregexp.New(`^[A-Za-z_./][A-Za-z0-9_./ @()+%=-]*$`)
	// plainExpr is the same for an expression.
	plainExpr = lazyregexp.New(`^\$[A-Za-z0-9_.()!<>= +*|&?-]*$`)
	// plainType is the same for a type.
	plainType = lazyregexp.New(`^[a-z]+<[A-Za-z0-9_<>|]+>$`)
)

var words = []string{"true", "false", "null", "yes", "no", "on", "off"}

// Spell is a text as a scalar: without quotes where it means itself, as a block where it has lines.
func Spell(s string) Value {
	if strings.Contains(s, "\n") && blockable(s) {
		return block(s)
	}
	return Scalar(Quoted(s))
}

// Quoted is a text on one line.
func Quoted(s string) string {
	switch {
	case (PlainForm.MatchString(s) || plainExpr.MatchString(s) || plainType.MatchString(s)) && !slices.Contains(words, strings.ToLower(s)) && !strings.HasSuffix(s, " ") && s != "." && !strings.HasPrefix(s, "._") && !digits(s):
		return s
	case printable(s) && !strings.ContainsAny(s, `"\`):
		return `"` + s + `"`
	case printable(s) && !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	return Escaped(s)
}

// digits reports whether a reader might take text for a number.
func digits(s string) bool {
	return strings.HasPrefix(s, ".") && len(s) > 1 && (s[1] >= '0' && s[1] <= '9' || unicode.IsLetter(rune(s[1])))
}

// printable reports whether all of a text can be between quotes as it is.
func printable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\u0085' {
			return false
		}
	}
	return utf8.ValidString(s)
}

// Escaped is a text in double quotes.
func Escaped(s string) string { return yamlnode.Quote(s) }

// blockable reports whether a text can be a literal block: its lines are plain, and the first of them does not say how
// deep the block is indented.
func blockable(s string) bool {
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.TrimSpace(s) == "" {
		return false
	}
	for _, l := range strings.Split(s, "\n") {
		if !printable(strings.ReplaceAll(l, "\t", "")) || strings.HasSuffix(l, " ") || strings.HasSuffix(l, "\t") {
			return false
		}
	}
	return true
}

// Data is a constant text where the native language reads values: what would be an expression there is doubled.
func Data(s string) string {
	s = Braces(s)
	if strings.HasPrefix(s, "$") {
		s = "$" + s
	}
	return s
}

// Braces is text in which no expression begins.
func Braces(s string) string { return strings.ReplaceAll(s, "{{", `{{ "{{" }}`) }

// FieldForm is the name of a field of a type.
var FieldForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Number is an integer as a scalar.
func Number(n int) Scalar { return Scalar(strconv.Itoa(n)) }

// Duration is a time as the language writes it.
func Duration(d time.Duration) string {
	switch {
	case d > 0 && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d > 0 && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	}
}
