package jssource

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	end kind = iota
	word
	punct // one character, or => or ...
	str
	number
	template
	regex
)

// A token of TypeScript. This lexer knows what it takes to find declarations and read types; what it gets wrong costs
// types, which are then any: whether the module is right is for esbuild to say.
type token struct {
	kind   kind
	text   string // of a str: its value
	lo, hi int
	fresh  bool   // the first on its line
	doc    string // the /** comment */ in front of it
}

func (t token) is(text string) bool { return t.kind != str && t.kind != template && t.text == text }

// maxTokens bounds what is looked at.
const maxTokens = 400_000

// lex splits source into tokens, an end token last.
func lex(text string) []token {
	l := &lexer{text: text, fresh: true}
	for len(l.toks) < maxTokens && l.next() {
	}
	return append(l.toks, token{kind: end, lo: len(text), hi: len(text), fresh: true})
}

type lexer struct {
	text  string
	i     int
	fresh bool
	doc   string
	toks  []token
}

func (l *lexer) add(k kind, hi int, text string) bool {
	l.toks = append(l.toks, token{kind: k, text: text, lo: l.i, hi: hi, fresh: l.fresh, doc: l.doc})
	l.i, l.fresh, l.doc = hi, false, ""
	return true
}

// next reads one token; false at the end.
func (l *lexer) next() bool {
	l.space()
	if l.i >= len(l.text) {
		return false
	}
	rest := l.text[l.i:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case wordRune(r) && !unicode.IsDigit(r):
		for n < len(rest) {
			r, size := utf8.DecodeRuneInString(rest[n:])
			if !wordRune(r) {
				break
			}
			n += size
		}
		return l.add(word, l.i+n, rest[:n])
	case unicode.IsDigit(r):
		for n < len(rest) && (wordByte(rest[n]) || rest[n] == '.') {
			n++
		}
		return l.add(number, l.i+n, rest[:n])
	case r == '"' || r == '\'':
		return l.str(rest, byte(r))
	case r == '`':
		return l.add(template, l.i+templateEnd(rest), "")
	case r == '/' && l.regexHere():
		return l.add(regex, l.i+regexEnd(rest), "")
	case strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "?."):
		return l.add(punct, l.i+2, rest[:2])
	case strings.HasPrefix(rest, "..."):
		return l.add(punct, l.i+3, "...")
	}
	return l.add(punct, l.i+n, rest[:n])
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func wordByte(b byte) bool {
	return b == '_' || b == '$' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// space skips white space and comments, of which it keeps the last /** */.
func (l *lexer) space() {
	for l.i < len(l.text) {
		rest := l.text[l.i:]
		switch {
		case rest[0] == '\n' || rest[0] == '\r':
			l.fresh = true
			l.i++
		case strings.HasPrefix(rest, "//") || l.i == 0 && strings.HasPrefix(rest, "#!"):
			if i := strings.IndexAny(rest, "\n\r"); i >= 0 {
				l.i += i
			} else {
				l.i = len(l.text)
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				l.i = len(l.text)
				return
			}
			comment := rest[:i+4]
			if strings.HasPrefix(comment, "/**") && len(comment) > 5 {
				l.doc = comment
			}
			l.fresh = l.fresh || strings.ContainsAny(comment, "\n\r")
			l.i += len(comment)
		default:
			r, n := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return
			}
			l.i += n
		}
	}
}

// str reads a string literal. One with escapes other than of quotes and backslashes keeps no value that a type could have.
func (l *lexer) str(rest string, quote byte) bool {
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '\n', '\r':
			return l.add(punct, l.i+i, "")
		case quote:
			return l.add(str, l.i+i+1, b.String())
		case '\\':
			i++
			if i < len(rest) {
				b.WriteByte(rest[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return l.add(punct, len(l.text), "")
}

// templateEnd is the length of a template literal with what is inserted into it.
func templateEnd(s string) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case depth == 0 && s[i] == '`':
			return i + 1
		case s[i] == '$' && i+1 < len(s) && s[i+1] == '{':
			depth++
			i++
		case depth > 0 && s[i] == '{':
			depth++
		case depth > 0 && s[i] == '}':
			depth--
		case depth > 0 && s[i] == '`':
			n := templateEnd(s[i:])
			i += n - 1
		}
	}
	return len(s)
}

// regexHere tells whether a slash begins a regular expression: where an operand is expected.
func (l *lexer) regexHere() bool {
	if len(l.toks) == 0 {
		return true
	}
	switch t := l.toks[len(l.toks)-1]; t.kind {
	case number, str, template, regex:
		return false
	case word:
		switch t.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "await", "yield", "instanceof":
			return true
		}
		return false
	default:
		return t.text != ")" && t.text != "]" && t.text != "}"
	}
}

func regexEnd(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			return 1 // it was a division
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(s) && wordByte(s[i]); i++ {
			}
			return i
		}
	}
	return 1
}
