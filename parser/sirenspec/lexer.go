package sirenspec

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
)

// A token is a word of Python.
type token struct {
	kind   string // name, int, float, string, fstring or op
	text   string // of a string: what it stands for
	lo, hi int
}

var (
	nameForm   = lazyregexp.New(`^[\pL_][\pL\pN_]*`)
	numberForm = lazyregexp.New(`^(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*)?\.\d[\d_]*(?:[eE][-+]?\d+)?|\d[\d_]*\.?(?:[eE][-+]?\d+)?)`)
	opForm     = lazyregexp.New(`^(?:\*\*|//|==|!=|<=|>=|<<|>>|:=|[-+*/%<>()\[\]{},:.&|^~=])`)
	prefixForm = lazyregexp.New(`^[rRbBuUfF]{0,2}(?:'''|"""|'|")`)
)

// lex splits the text of a condition into words.
func (c *condition) lex() { c.lexRange(0, len(c.text.Value)) }

// lexRange splits a part of the text. Within the brackets of a text with values lines count for nothing.
func (c *condition) lexRange(lo, hi int) {
	s := c.text.Value[:hi]
	depth := 0
	if lo > 0 {
		depth++
	}
	for i := lo; i < len(s) && !c.failed; {
		switch {
		case strings.IndexByte(" \t\f", s[i]) >= 0:
			i++
		case s[i] == '\n' || s[i] == '\r':
			if depth == 0 && len(c.tokens) > 0 && strings.TrimSpace(s[i:]) != "" {
				c.fail(i, i+1, "write it on one line, or in parentheses", "an expression of Python ends with its line")
			}
			i++
		case strings.HasPrefix(s[i:], "\\\n"): // the line goes on
			i += 2
		case s[i] == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		default:
			t, ok := c.word(s, i)
			if !ok {
				return
			}
			if t.kind == "op" && strings.Contains("([{", t.text) {
				depth++
			} else if t.kind == "op" && strings.Contains(")]}", t.text) {
				depth--
			}
			c.tokens = append(c.tokens, t)
			i = t.hi
		}
	}
}

// word reads the token at a place.
func (c *condition) word(s string, i int) (token, bool) {
	rest := s[i:]
	if m := prefixForm.FindString(rest); m != "" {
		return c.string(s, i, m)
	}
	if m := nameForm.FindString(rest); m != "" {
		return token{"name", m, i, i + len(m)}, true
	}
	if m := numberForm.FindString(rest); m != "" {
		return c.number(m, i)
	}
	if m := opForm.FindString(rest); m != "" {
		if doubled := m + m; (m == "&" || m == "|") && strings.HasPrefix(rest, doubled) {
			c.fail(i, i+2, map[string]string{"&&": "write `and`", "||": "write `or`"}[doubled], "Python has no operator `%s`", doubled)
			return token{}, false
		}
		return token{"op", m, i, i + len(m)}, true
	}
	_, n := utf8.DecodeRuneInString(rest)
	help := ""
	if rest[0] == '!' {
		help = "write `not`, or `!=`"
	}
	c.fail(i, i+n, help, "Python cannot read `%s` here", rest[:n])
	return token{}, false
}

func (c *condition) number(text string, i int) (token, bool) {
	t := token{"int", text, i, i + len(text)}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		t.text = strconv.FormatInt(n, 10)
		return t, true
	}
	if n, ok := new(big.Int).SetString(text, 0); ok {
		t.text = n.String()
		return t, true
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || len(text) > 1 && text[0] == '0' && strings.Trim(text, "0123456789_") == "" && f != 0 {
		c.fail(t.lo, t.hi, "", "`%s` is not a Python number", text)
		return t, false
	}
	t.kind, t.text = "float", strconv.FormatFloat(f, 'g', -1, 64)
	return t, true
}

// string reads a literal that begins with prefix and quote.
func (c *condition) string(s string, i int, begin string) (token, bool) {
	letters := strings.ToLower(strings.TrimRight(begin, `'"`))
	quote := begin[len(letters):]
	if strings.Contains(letters, "f") && !strings.ContainsAny(letters, "bu") {
		return c.formatted(s, i, begin)
	}
	if strings.ContainsAny(letters, "bf") {
		c.refuse(i, i+len(begin), "texts with the prefix `%s` are not compiled in a condition", letters)
		return token{}, false
	}
	var b strings.Builder
	for at := i + len(begin); at < len(s); {
		switch {
		case strings.HasPrefix(s[at:], quote):
			return token{"string", b.String(), i, at + len(quote)}, true
		case s[at] == '\n' && len(quote) == 1:
			at = len(s)
		case s[at] == '\\' && letters == "r" && at+1 < len(s):
			b.WriteString(s[at : at+2])
			at += 2
		case s[at] == '\\':
			text, n := unescape(s[at:])
			b.WriteString(text)
			at += n
		default:
			b.WriteByte(s[at])
			at++
		}
	}
	c.endless(i, i+len(begin))
	return token{}, false
}

var (
	escapes  = map[byte]string{'\\': `\`, '\'': `'`, '"': `"`, 'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\n': ""}
	codeForm = lazyregexp.New(`^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))`)
)

// unescape is what an escape at the beginning of a text stands for, and its length.
func unescape(s string) (string, int) {
	if m := codeForm.FindStringSubmatch(s); m != nil {
		n, _ := strconv.ParseInt(m[1]+m[2]+m[3], 16, 32) // the digits are right
		return string(rune(n)), len(m[0])
	}
	if len(s) > 1 {
		if text, ok := escapes[s[1]]; ok {
			return text, 2
		}
	}
	return `\`, 1 // Python keeps it
}
