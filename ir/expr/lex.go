package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

type kind uint8

const (
	tokEOF kind = iota
	tokName
	tokInt
	tokFloat
	tokString // text is the decoded value
	tokOp
	tokBad // reported by the lexer
)

type token struct {
	kind   kind
	text   string
	lo, hi int
}

func (t token) op(s string) bool   { return t.kind == tokOp && t.text == s }
func (t token) name(s string) bool { return t.kind == tokName && t.text == s }

// describe names a token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end"
	case tokString:
		return "a string"
	}
	return "`" + t.text + "`"
}

// lexer splits the text from pos on. In a template it stops at `}}`, which becomes the end token.
type lexer struct {
	src      string
	pos      int
	template bool
	open     int // braces of literals that are open
	toks     []token
	probs    []Problem
}

// operators, longest first; those that are not of the language are lexed as one token so that they can be named.
var operators = []string{
	"===", "!==", "**=", "...",
	"==", "!=", "<=", ">=", "&&", "||", "?.", "<>", "=<", "=>", "??", "?:", "**", "//", "{{", "}}", "+=", "-=", "->",
}

func (l *lexer) run() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.pos++
		case c >= '0' && c <= '9':
			l.number()
		case isLetter(c):
			l.name()
		case c == '"' || c == '\'':
			l.str(c)
		case c == '`':
			l.smartString('`')
		case c >= utf8.RuneSelf:
			l.foreign()
		default:
			if op := l.operator(); op == "}}" && l.template {
				l.toks = append(l.toks, token{tokEOF, "}}", l.pos, l.pos + 2})
				l.pos += 2
				return
			} else {
				l.emit(tokOp, op, l.pos+len(op))
			}
		}
	}
	l.toks = append(l.toks, token{tokEOF, "", len(l.src), len(l.src)})
}

func (l *lexer) emit(k kind, text string, hi int) {
	l.toks = append(l.toks, token{k, text, l.pos, hi})
	l.pos = hi
}

func (l *lexer) problem(lo, hi int, code diag.Code, message, help string) {
	l.probs = append(l.probs, Problem{Code: code, Lo: lo, Hi: hi, Message: message, Help: help})
}

func (l *lexer) badByte(at int, code diag.Code) {
	l.problem(at, at+1, code, "this byte is not valid UTF-8", "")
}

func (l *lexer) fix(text string) {
	l.probs[len(l.probs)-1].Replace = &text
}

func (l *lexer) operator() string {
	rest := l.src[l.pos:]
	switch {
	case rest[0] == '}' && l.open > 0: // of `}}` as well
		l.open--
		return "}"
	case rest[0] == '{' && l.value():
		l.open++
		return "{"
	}
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		// `c?.5:x` and `c?:x` are not optional access; the first is a conditional with a fraction.
		if op == "?." && len(rest) > 2 && rest[2] >= '0' && rest[2] <= '9' {
			continue
		}
		return op
	}
	return rest[:1]
}

// value reports whether a `{` here begins a literal: the start of text and `{{`, which other languages write around
// values, do not.
func (l *lexer) value() bool {
	rest := strings.TrimLeft(l.src[l.pos+1:], " \t\r\n")
	if strings.HasPrefix(l.src[l.pos:], "{{") || rest == "" {
		return false
	}
	switch rest[0] {
	case '"', '\'', '}':
		return true
	}
	i := 0
	for i < len(rest) && isWord(rest[i]) {
		i++
	}
	return i > 0 && strings.HasPrefix(strings.TrimLeft(rest[i:], " "), ":")
}

func (l *lexer) name() {
	hi := l.pos
	for hi < len(l.src) && isWord(l.src[hi]) {
		hi++
	}
	if r, _ := utf8.DecodeRuneInString(l.src[hi:]); unicode.IsLetter(r) || unicode.IsMark(r) {
		l.foreignName()
		return
	}
	l.emit(tokName, l.src[l.pos:hi], hi)
}

// foreign handles everything outside ASCII that is not in a string: typographic quotes, spaces, names.
func (l *lexer) foreign() {
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	switch {
	case r == utf8.RuneError && n == 1:
		l.badByte(l.pos, diag.ExprSyntax)
		l.emit(tokBad, "", l.pos+1)
	case closers[r] != 0:
		l.smartString(r)
	case unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff':
		l.problem(l.pos, l.pos+n, diag.ExprSyntax, "this space is a special character", "replace it with an ordinary space")
		l.fix(" ")
		l.pos += n
	case unicode.IsLetter(r):
		l.foreignName()
	default:
		if ascii, ok := lookalikes[r]; ok {
			l.problem(l.pos, l.pos+n, diag.ExprSpelling, notOperator(string(r)), "replace with `"+ascii+"`")
			l.fix(ascii)
			l.toks = append(l.toks, token{tokOp, ascii, l.pos, l.pos + n})
			l.pos += n
			return
		}
		l.problem(l.pos, l.pos+n, diag.ExprSyntax, "unexpected character `"+string(r)+"`", "")
		l.emit(tokBad, "", l.pos+n)
	}
}

var lookalikes = map[rune]string{'≤': "<=", '≥': ">=", '≠': "!=", '−': "-", '–': "-", '×': "*", '∧': "&&", '∨': "||", '¬': "!"}

func (l *lexer) foreignName() {
	hi := l.pos
	for {
		r, n := utf8.DecodeRuneInString(l.src[hi:]) // RuneError at the end
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_') || r == utf8.RuneError {
			break
		}
		hi += n
	}
	l.problem(l.pos, hi, diag.ExprSyntax, "names are made of the letters a to z, digits and underscores", "put text in quotes")
	l.emit(tokBad, "", hi)
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWord(c byte) bool   { return isLetter(c) || c >= '0' && c <= '9' }
