package sqlsource

import (
	"regexp"
	"strings"
)

// A kind is what a token is.
type kind uint8

const (
	word   kind = iota // a name or a keyword, also in quotes
	param              // {x}
	text               // 'in quotes'
	number             // 12.5
	mark               // anything else, one byte
	native             // a parameter as the engine writes it: ?, ?1, :x, @x, $x
)

// A token is a piece of a statement, which is neither space nor comment.
type token struct {
	kind   kind
	lo, hi int
	text   string // of a name: without quotes; of a parameter: its field
	quoted bool   // a name in quotes, which is not a keyword
}

// is reports whether a token is a keyword, or a mark.
func (t token) is(s string) bool {
	return (t.kind == word && !t.quoted || t.kind == mark) && strings.EqualFold(t.text, s)
}

// A mistake is what is wrong with a part of a statement.
type mistake struct {
	lo, hi int
	what   string
	help   string
}

// dollar begins a text of PostgreSQL that ends with the same.
var dollar = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)?\$`)

// scan splits a statement. It is about where names, texts and comments begin and end, which the engine then reads itself.
func scan(s string, postgres bool) (list []token, wrong *mistake) {
	for i := 0; i < len(s); {
		lo := i
		switch c := s[i]; {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
		case strings.HasPrefix(s[i:], "--"):
			i = after(s, i, "\n")
		case strings.HasPrefix(s[i:], "/*"):
			i = after(s, i+2, "*/")
		case c == '\'' || c == '"' || c == '`' && !postgres:
			var content string
			content, i = quoted(s, i)
			if i < 0 {
				return list, &mistake{lo, lo + 1, "a quote is not closed", ""}
			}
			k := word
			if c == '\'' {
				k = text
			}
			list = append(list, token{k, lo, i, content, true})
		case c == '[' && !postgres:
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return list, &mistake{lo, lo + 1, "a bracket is not closed", ""}
			}
			i += end + 1
			list = append(list, token{word, lo, i, s[lo+1 : i-1], true})
		case c == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 || !isName(strings.TrimSpace(s[i+1:i+end])) {
				return list, &mistake{lo, lo + 1, "a parameter is a field in braces", "write it as in `{customer}`"}
			}
			i += end + 1
			list = append(list, token{kind: param, lo: lo, hi: i, text: strings.TrimSpace(s[lo+1 : i-1])})
		case c >= '0' && c <= '9':
			for i < len(s) && (nameByte(s[i]) || s[i] == '.') {
				i++
			}
			list = append(list, token{kind: number, lo: lo, hi: i, text: s[lo:i]})
		case nameByte(c):
			for i < len(s) && (nameByte(s[i]) || s[i] == '$') {
				i++
			}
			list = append(list, token{kind: word, lo: lo, hi: i, text: s[lo:i]})
		case postgres && c == '$' && dollar.MatchString(s[i:]):
			tag := dollar.FindString(s[i:])
			i = after(s, i+len(tag), tag)
			list = append(list, token{text, lo, i, s[lo:i], true})
		case strings.IndexByte("?:@$", c) >= 0 && (!postgres || c == '$'):
			i++
			for i < len(s) && nameByte(s[i]) {
				i++
			}
			k := native
			if i == lo+1 && c != '?' {
				k = mark
			}
			list = append(list, token{kind: k, lo: lo, hi: i, text: s[lo:i]})
		default:
			i++
			list = append(list, token{kind: mark, lo: lo, hi: i, text: s[lo:i]})
		}
	}
	return list, nil
}

// quoted is the content of what is in quotes at i, and where it ends; -1: nowhere. A doubled quote stands for itself.
func quoted(s string, i int) (string, int) {
	q := s[i : i+1]
	for end := i + 1; ; {
		n := strings.IndexByte(s[end:], q[0])
		if n < 0 {
			return "", -1
		}
		end += n + 1
		if end == len(s) || s[end] != q[0] {
			return strings.ReplaceAll(s[i+1:end-1], q+q, q), end
		}
		end++
	}
}

func after(s string, i int, end string) int {
	if n := strings.Index(s[i:], end); n >= 0 {
		return i + n + len(end)
	}
	return len(s)
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isName reports whether a field can have the name.
func isName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) || s[i] >= 0x80 {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}
