package py

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxWidth bounds widths and precisions: a format of a few bytes must not make text of gigabytes.
const maxWidth = 1000

// Quote is repr(s) of text.
func Quote(s string) string {
	var b strings.Builder
	reprText(&b, s)
	return b.String()
}

// Repr is repr(v) of a value.
func Repr(v value.Value) string {
	var b strings.Builder
	repr(&b, v, 0)
	return b.String()
}

// Text is str(v) of a value: text as it is, and anything else as Python writes it.
func Text(v value.Value) string {
	if v.Kind() == value.StringKind {
		return v.String()
	}
	return Repr(v)
}

// TextOf is Text of a value of any type that a workflow has. NaN and infinities inside of it, which no JSON has, make it None.
func TextOf(v any) string {
	val, err := value.Of(v)
	if err != nil {
		val = value.Null()
	}
	return Text(val)
}

// Float is repr(f) of a number.
func Float(f float64) string { return reprFloat(f) }

// escape is the escape of a character.
func escape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// ASCII replaces the characters beyond ASCII of what Repr or Quote wrote by escapes, as ascii of Python does.
func ASCII(repr string) string {
	var b strings.Builder
	for _, r := range repr {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// Bytes is repr(v) of Python's bytes.
func Bytes(v []byte) string {
	q := byte('\'')
	if s := string(v); strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b := []byte{'b', q}
	for _, c := range v {
		switch {
		case c == q || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c >= 0x20 && c < 0x7f:
			b = append(b, c)
		default:
			b = append(b, escape(rune(c))...)
		}
	}
	return string(append(b, q))
}

// A spec is a format of Python: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
type spec struct {
	fill      rune
	align     byte // 0: not written
	sign      byte // '-', '+' or ' '; 0: not written
	noZero    bool // z: no negative zero
	alt       bool
	width     int
	group     byte // ',', '_' or 0
	precision int  // -1: not written
	typ       byte // 0: not written
}

// parse reads a format of values that are at the left or right unless it says something else.
func parse(text string, side byte) (spec, error) {
	s := spec{fill: ' ', precision: -1}
	whole, filled := text, false
	if r, n := utf8.DecodeRuneInString(text); n > 0 && len(text) > n && strings.IndexByte("<>=^", text[n]) >= 0 {
		s.fill, s.align, text, filled = r, text[n], text[n+1:], true
	} else if text != "" && strings.IndexByte("<>=^", text[0]) >= 0 {
		s.align, text = text[0], text[1:]
	}
	take := func(set string) byte {
		if text != "" && strings.IndexByte(set, text[0]) >= 0 {
			c := text[0]
			text = text[1:]
			return c
		}
		return 0
	}
	s.sign = take("+- ")
	s.noZero = take("z") != 0
	s.alt = take("#") != 0
	if !filled && take("0") != 0 {
		if s.fill = '0'; s.align == 0 && side == '>' {
			s.align = '='
		}
	}
	number := func() (int, bool, error) {
		i := 0
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(text[:i])
		if i > 0 && (err != nil || n > maxWidth) {
			return 0, false, fmt.Errorf("the format %q is wider than %d", whole, maxWidth)
		}
		text = text[i:]
		return n, i > 0, nil
	}
	var err error
	if s.width, _, err = number(); err != nil {
		return s, err
	}
	s.group = take(",_")
	if take(".") != 0 {
		n, ok, err := number()
		switch {
		case err != nil:
			return s, err
		case !ok:
			return s, errors.New("format specifier missing precision")
		}
		s.precision = n
	}
	if text != "" {
		s.typ, text = text[0], text[1:]
	}
	if text != "" {
		return s, fmt.Errorf("invalid format specifier %s", Quote(whole))
	}
	return s, nil
}

// pad brings text to the width; lead is how many of its bytes are sign and prefix, behind which = fills.
func (s spec) pad(text string, lead int, align byte) string {
	if s.align != 0 {
		align = s.align
	}
	n := s.width - utf8.RuneCountInString(text)
	if n <= 0 {
		return text
	}
	fill := func(n int) string { return strings.Repeat(string(s.fill), n) }
	switch align {
	case '<':
		return text + fill(n)
	case '^':
		return fill(n/2) + text + fill(n-n/2)
	case '=':
		return text[:lead] + fill(n) + text[lead:]
	}
	return fill(n) + text
}

func (s spec) unknown(kind string) error {
	return fmt.Errorf("unknown format code '%c' for object of type '%s'", s.typ, kind)
}

// FormatString is format(v, text).
func FormatString(v, text string) (string, error) {
	if text == "" {
		return v, nil
	}
	s, err := parse(text, '<')
	switch {
	case err != nil:
		return "", err
	case s.typ != 0 && s.typ != 's':
		return "", s.unknown("str")
	case s.sign != 0:
		return "", errors.New("sign not allowed in string format specifier")
	case s.alt:
		return "", errors.New("alternate form (#) not allowed in string format specifier")
	case s.align == '=':
		return "", errors.New("'=' alignment not allowed in string format specifier")
	case s.group != 0:
		return "", fmt.Errorf("cannot specify '%c' with 's'", s.group)
	}
	if runes := []rune(v); s.precision >= 0 && len(runes) > s.precision {
		v = string(runes[:s.precision])
	}
	return s.pad(v, 0, '<'), nil
}

// FormatInt is format(v, text).
func FormatInt(v int64, text string) (string, error) {
	if text == "" {
		return strconv.FormatInt(v, 10), nil
	}
	return formatInt(v, float64(v), func(base int) string { return strconv.FormatInt(v, base) }, text)
}

// FormatBig is format(v, text) of an integer that need not fit into 64 bits.
func FormatBig(v *big.Int, text string) (string, error) {
	if text == "" {
		return v.String(), nil
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	r := int64(v.Sign()) * math.MaxInt64 // no character
	if v.IsInt64() {
		r = v.Int64()
	}
	return formatInt(r, f, v.Text, text)
}

// formatInt formats an integer: v is its sign and, as far as it has one, its character.
func formatInt(v int64, f float64, in func(base int) string, text string) (string, error) {
	s, err := parse(text, '>')
	if err != nil {
		return "", err
	}
	base := map[byte]int{0: 10, 'd': 10, 'n': 10, 'b': 2, 'o': 8, 'x': 16, 'X': 16}[s.typ]
	switch {
	case s.typ != 0 && strings.IndexByte("eEfFgG%", s.typ) >= 0:
		return s.float(f)
	case s.typ == 'c':
		switch {
		case s.sign != 0 || s.alt || s.precision >= 0 || s.group != 0:
			return "", errors.New("sign, #, precision and grouping not allowed with integer format specifier 'c'")
		case v < 0 || v > utf8.MaxRune:
			return "", errors.New("%c arg not in range(0x110000)")
		}
		return s.pad(string(rune(v)), 0, '>'), nil
	case base == 0:
		return "", s.unknown("int")
	case s.ungrouped():
		return "", fmt.Errorf("cannot specify '%c' with '%c'", s.group, s.typ)
	case s.precision >= 0:
		return "", errors.New("precision not allowed in integer format specifier")
	}
	digits := in(base)
	digits = strings.TrimPrefix(digits, "-")
	if s.typ == 'X' {
		digits = strings.ToUpper(digits)
	}
	prefix := s.signOf(v < 0)
	if s.alt && base != 10 {
		prefix += "0" + string(s.typ)
	}
	every := 3
	if base != 10 {
		every = 4
	}
	return s.number(prefix, digits, "", every), nil
}

// ungrouped reports whether a number cannot be grouped as it is asked for.
func (s spec) ungrouped() bool {
	return s.group != 0 && s.typ == 'n' || s.group == ',' && s.typ != 0 && strings.IndexByte("boxX", s.typ) >= 0
}

func (s spec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.sign == '+' || s.sign == ' ':
		return string(s.sign)
	}
	return ""
}

// number joins the parts of a number and brings it to the width.
func (s spec) number(prefix, digits, rest string, every int) string {
	if s.group != 0 {
		room := 0
		if s.align == '=' && s.fill == '0' { // zeros are grouped as well
			room = s.width - len(prefix) - len(rest)
		}
		digits = grouped(digits, s.group, every, room)
	}
	return s.pad(prefix+digits+rest, len(prefix), '>')
}

// grouped puts a separator between groups of digits, after filling up with zeros to a width.
func grouped(digits string, sep byte, every, width int) string {
	for {
		var b strings.Builder
		for i := range len(digits) {
			if i > 0 && (len(digits)-i)%every == 0 {
				b.WriteByte(sep)
			}
			b.WriteByte(digits[i])
		}
		if b.Len() >= width {
			return b.String()
		}
		digits = "0" + digits
	}
}

// FormatFloat is format(v, text).
func FormatFloat(v float64, text string) (string, error) {
	if text == "" {
		return reprFloat(v), nil
	}
	s, err := parse(text, '>')
	switch {
	case err != nil:
		return "", err
	case s.typ != 0 && strings.IndexByte("eEfFgGn%", s.typ) < 0:
		return "", s.unknown("float")
	case s.ungrouped():
		return "", fmt.Errorf("cannot specify '%c' with 'n'", s.group)
	}
	return s.float(v)
}

func (s spec) float(v float64) (string, error) {
	negative := math.Signbit(v) && !math.IsNaN(v)
	a := math.Abs(v)
	percent := ""
	if s.typ == '%' {
		a, percent = a*100, "%"
	}
	upper := s.typ == 'E' || s.typ == 'F' || s.typ == 'G'
	if math.IsNaN(a) || math.IsInf(a, 0) { // a percentage may have overflowed
		body := map[bool]string{true: "nan", false: "inf"}[math.IsNaN(a)]
		if upper {
			body = strings.ToUpper(body)
		}
		sign := s.signOf(negative)
		return s.pad(sign+body+percent, len(sign), '>'), nil // zeros are not grouped here
	}
	body := s.digits(a) + percent
	if negative && s.noZero && strings.Trim(body, "0.e+-%") == "" {
		negative = false
	}
	if upper {
		body = strings.ToUpper(body)
	}
	whole := len(body)
	if i := strings.IndexAny(body, ".eE%"); i >= 0 {
		whole = i
	}
	return s.number(s.signOf(negative), body[:whole], body[whole:], 3), nil
}

// digits are those of a number that is not negative.
func (s spec) digits(a float64) string {
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	switch s.typ {
	case 'e', 'E':
		return s.point(strconv.FormatFloat(a, 'e', precision, 64))
	case 'f', 'F', '%':
		return s.point(strconv.FormatFloat(a, 'f', precision, 64))
	case 'g', 'G', 'n':
		return s.general(a, max(precision, 1), max(precision, 1))
	}
	if s.precision < 0 {
		return s.point(reprFloat(a))
	}
	text := s.general(a, max(precision, 1), max(precision, 1)-1)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// point adds the point that # asks for.
func (s spec) point(text string) string {
	if !s.alt || strings.Contains(text, ".") {
		return text
	}
	if i := strings.IndexByte(text, 'e'); i >= 0 {
		return text[:i] + "." + text[i:]
	}
	return text + "."
}

// exponent is that of a number rounded to so many digits.
func exponent(a float64, precision int) int {
	if a == 0 {
		return 0
	}
	text := strconv.FormatFloat(a, 'e', precision-1, 64)
	n, err := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if err != nil {
		return 0
	}
	return n
}

// general is the format g: so many digits, without trailing zeros unless # is written, with an exponent where the number
// is small, or its exponent most or more.
func (s spec) general(a float64, precision, most int) string {
	e := exponent(a, precision)
	var text string
	if e < -4 || e >= most {
		text = strconv.FormatFloat(a, 'e', precision-1, 64)
	} else {
		text = strconv.FormatFloat(a, 'f', precision-1-e, 64)
	}
	if s.alt {
		return s.point(text)
	}
	mantissa, power := text, ""
	if i := strings.IndexByte(text, 'e'); i >= 0 {
		mantissa, power = text[:i], text[i:]
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + power
}
