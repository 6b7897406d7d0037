package expr

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// number lexes `12`, `1.5`, `1e9`, `2.5e-3`. A sign is an operator.
func (l *lexer) number() {
	s, hi := l.src, l.pos
	digits := func() {
		for hi < len(s) && s[hi] >= '0' && s[hi] <= '9' {
			hi++
		}
	}
	digits()
	k := tokInt
	if hi+1 < len(s) && s[hi] == '.' && s[hi+1] >= '0' && s[hi+1] <= '9' {
		k = tokFloat
		hi++
		digits()
	}
	if hi < len(s) && (s[hi] == 'e' || s[hi] == 'E') {
		exp := hi + 1
		if exp < len(s) && (s[exp] == '+' || s[exp] == '-') {
			exp++
		}
		if exp < len(s) && s[exp] >= '0' && s[exp] <= '9' {
			k, hi = tokFloat, exp
			digits()
		}
	}
	if hi < len(s) && isWord(s[hi]) {
		l.badNumber(hi)
		return
	}
	text := s[l.pos:hi]
	if k == tokFloat {
		if f, _ := strconv.ParseFloat(text, 64); math.IsInf(f, 0) {
			l.problem(l.pos, hi, diag.ExprNumber, "this number is too large for a float", "")
			l.emit(tokBad, "", hi)
			return
		}
	}
	l.emit(k, text, hi)
}

func (l *lexer) badNumber(hi int) {
	for hi < len(l.src) && isWord(l.src[hi]) {
		hi++
	}
	text := l.src[l.pos:hi]
	plain := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(plain, 0, 64); err == nil {
		l.problem(l.pos, hi, diag.ExprNumber, "numbers are written in decimal, with digits only", "replace with `"+strconv.FormatInt(n, 10)+"`")
		l.fix(strconv.FormatInt(n, 10))
		l.emit(tokInt, strconv.FormatInt(n, 10), hi)
		return
	}
	l.problem(l.pos, hi, diag.ExprNumber, "`"+text+"` is not a number", "numbers have no suffix; text goes in quotes")
	l.emit(tokBad, "", hi)
}

// str lexes a string in either quote. It ends on its line: text with line breaks is written with \n.
func (l *lexer) str(quote byte) {
	var b strings.Builder
	s, i := l.src, l.pos+1
	for i < len(s) && s[i] != quote && s[i] != '\n' && s[i] != '\r' {
		if s[i] == '\\' {
			i = l.escape(&b, i)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			l.badByte(i, diag.ExprString)
		}
		b.WriteRune(r)
		i += n
	}
	if i < len(s) && s[i] == quote {
		l.emit(tokString, b.String(), i+1)
		return
	}
	l.unclosed(quote, i)
}

// unclosed reports a string without its second quote, once. In a template the string gives way to the `}}` of its line,
// so that the text behind it stays text.
func (l *lexer) unclosed(quote byte, end int) {
	if l.template {
		if text, _, ok := strings.Cut(l.src[l.pos:end], "}}"); ok {
			end = l.pos + len(text)
		}
	}
	trimmed := len(strings.TrimRight(l.src[l.pos:end], " \t"))
	for n := len(l.probs); n > 0 && l.probs[n-1].Lo >= l.pos; n-- { // escapes in it are not news
		l.probs = l.probs[:n-1]
	}
	help := "close it with `" + string(quote) + "`"
	if end < len(l.src) && (l.src[end] == '\n' || l.src[end] == '\r') {
		help += "; a line break inside a string is written `\\n`"
	}
	l.problem(l.pos, l.pos+trimmed, diag.ExprString, "this string is not closed", help)
	l.emit(tokBad, "", end)
}

var simpleEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '"': '"', '\'': '\'', 'b': '\b', 'f': '\f'}

// escape decodes the escape at s[i] and returns the offset behind it.
func (l *lexer) escape(b *strings.Builder, i int) int {
	s := l.src
	if i+1 >= len(s) || s[i+1] == '\n' || s[i+1] == '\r' {
		return i + 1
	}
	c := s[i+1]
	if r, ok := simpleEscapes[c]; ok {
		b.WriteByte(r)
		return i + 2
	}
	if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]; n > 0 {
		hi := i + 2
		for hi < len(s) && hi < i+2+n && isHex(s[hi]) {
			hi++
		}
		v, err := strconv.ParseUint(s[i+2:hi], 16, 32)
		if hi == i+2+n && err == nil && v <= utf8.MaxRune && utf8.ValidRune(rune(v)) {
			b.WriteRune(rune(v))
			return hi
		}
		l.problem(i, hi, diag.ExprString, "`"+s[i:hi]+"` is not a character", "write "+strconv.Itoa(n)+" hexadecimal digits of a character that exists")
		b.WriteRune(utf8.RuneError)
		return hi
	}
	r, n := utf8.DecodeRuneInString(s[i+1:])
	l.problem(i, i+1+n, diag.ExprString, "`\\"+string(r)+"` is not an escape", "a backslash itself is written `\\\\`: replace with `\\\\"+string(r)+"`")
	l.fix(`\\` + s[i+1:i+1+n])
	b.WriteByte('\\')
	b.WriteRune(r)
	return i + 1 + n
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// closers maps the quotes of word processors, and the backquote of other languages, to what may close them.
var closers = map[rune]rune{'“': '”', '”': '”', '„': '“', '‘': '’', '’': '’', '«': '»', '`': '`'}

// smartString lexes a string in quotes that are not of the language, reports it once and goes on as if it were right.
func (l *lexer) smartString(open rune) {
	start := l.pos + utf8.RuneLen(open)
	end, closer := start, 0
	for end < len(l.src) && l.src[end] != '\n' && l.src[end] != '\r' {
		r, n := utf8.DecodeRuneInString(l.src[end:])
		if r == closers[open] || r == '”' || r == '’' || r == '"' {
			closer = n
			break
		}
		end += n
	}
	hi := end + closer
	text := strings.ToValidUTF8(l.src[start:end], "\ufffd")
	l.problem(l.pos, hi, diag.ExprString, "`"+string(open)+"` is not a quote here", "replace with `"+quoted(text)+"`")
	l.fix(quoted(text))
	l.emit(tokString, text, hi)
}
