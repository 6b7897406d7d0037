package sirenspec

import (
	"strings"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A piece is a part of a text with the prefix f: text, or a value with how it is written.
type piece struct {
	text   string
	lo, hi int    // of the value; both 0 for text
	as     string // r, s, a or nothing, as behind the `!`
	spec   []piece
}

// formatted reads a text with the prefix f up to its quote and keeps its pieces for the parser.
func (c *condition) formatted(s string, i int, begin string) (token, bool) {
	letters := strings.ToLower(strings.TrimRight(begin, `'"`))
	f := &fscan{c: c, s: s, raw: strings.Contains(letters, "r"), quote: begin[len(letters):], lo: i}
	pieces, at := f.pieces(i+len(begin), false, 0)
	if c.failed {
		return token{}, false
	}
	if c.pieces == nil {
		c.pieces = map[int][]piece{}
	}
	c.pieces[i] = pieces
	return token{"fstring", s[i:at], i, at}, true
}

// fscan finds the pieces of a text with the prefix f.
type fscan struct {
	c     *condition
	s     string
	quote string
	raw   bool
	lo    int
}

func (f *fscan) fail(at int, format string, args ...any) {
	f.c.fail(at, min(at+1, len(f.s)), "", format, args...)
}

// pieces reads up to the quote, or with spec up to the bracket that ends a value.
func (f *fscan) pieces(at int, spec bool, depth int) ([]piece, int) {
	var out []piece
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, piece{text: b.String()})
			b.Reset()
		}
	}
	for at < len(f.s) && !f.c.failed {
		rest := f.s[at:]
		switch {
		case spec && rest[0] == '}':
			flush()
			return out, at
		case strings.HasPrefix(rest, f.quote):
			if spec {
				f.fail(at, "a `{` of the string is not closed")
				return nil, at
			}
			flush()
			return out, at + len(f.quote)
		case rest[0] == '\n' && len(f.quote) == 1:
			at = len(f.s)
		case !spec && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			b.WriteByte(rest[0])
			at += 2
		case rest[0] == '}':
			f.fail(at, "a `}` of the text stands alone: write `}}`")
		case rest[0] == '{':
			flush()
			var v []piece
			v, at = f.value(at+1, depth+1)
			out = append(out, v...)
		case rest[0] == '\\' && f.raw && len(rest) > 1:
			b.WriteString(rest[:2])
			at += 2
		case rest[0] == '\\':
			text, n := unescape(rest)
			b.WriteString(text)
			at += n
		default:
			b.WriteByte(rest[0])
			at++
		}
	}
	f.c.endless(f.lo, f.lo+1)
	return nil, at
}

// value reads what is in brackets, behind the first.
func (f *fscan) value(lo, depth int) ([]piece, int) {
	if depth > 2 {
		f.fail(lo, "the values of a text are nested too deep")
		return nil, lo
	}
	hi, show := f.end(lo)
	var out []piece
	v := piece{lo: lo, hi: hi}
	at := hi
	if show { // {x=} is its own text with the value
		at++
		for at < len(f.s) && f.s[at] == ' ' {
			at++
		}
		out = append(out, piece{text: f.s[lo:at]})
		v.as = "r"
	}
	if at+1 < len(f.s) && f.s[at] == '!' {
		if v.as = f.s[at+1 : at+2]; !strings.Contains("rsa", v.as) {
			f.fail(at, "`!%s` is not known", v.as)
		}
		at += 2
	}
	if at < len(f.s) && f.s[at] == ':' {
		if show && v.as == "r" && f.s[at-1] != 'r' {
			v.as = ""
		}
		v.spec, at = f.pieces(at+1, true, depth)
	}
	if !f.c.failed && (at >= len(f.s) || f.s[at] != '}') {
		f.fail(lo, "a `{` of the string is not closed")
	}
	if strings.TrimSpace(f.s[lo:max(lo, hi)]) == "" {
		f.fail(lo, "a value is missing in the text")
	}
	return append(out, v), at + 1
}

// end is where a value ends: before `!r`, a format, `=` or the bracket.
func (f *fscan) end(at int) (hi int, show bool) {
	depth := 0
	for at < len(f.s) {
		switch ch := f.s[at]; {
		case ch == '\'' || ch == '"':
			q := string(ch)
			if strings.HasPrefix(f.s[at:], q+q+q) {
				q += q + q
			}
			end := strings.Index(f.s[at+len(q):], q)
			if end < 0 {
				return len(f.s), false
			}
			at += end + 2*len(q)
			continue
		case strings.IndexByte("([{", ch) >= 0:
			depth++
		case depth == 0 && (ch == '}' || ch == ':'):
			return at, false
		case strings.IndexByte(")]}", ch) >= 0:
			depth--
		case depth == 0 && ch == '!' && !strings.HasPrefix(f.s[at:], "!="):
			return at, false
		case depth == 0 && ch == '=' && strings.IndexByte("=!<>", f.s[at-1]) < 0 && !strings.HasPrefix(f.s[at:], "=="):
			return at, true
		}
		at++
	}
	return at, false
}

// fstring is a text with the prefix f, of its pieces.
func (c *condition) fstring(t token) *dialect.Predicate {
	at := c.text.At(t.lo, t.hi)
	parts := c.joinedPieces(c.pieces[t.lo], t)
	if c.failed {
		return nil
	}
	return &dialect.Predicate{Op: "text", Kids: parts, Span: at}
}

func (c *condition) joinedPieces(pieces []piece, t token) []*dialect.Predicate {
	at := c.text.At(t.lo, t.hi)
	out := []*dialect.Predicate{}
	for _, p := range pieces {
		if p.hi == 0 {
			out = append(out, c.constant(p.text, "!!str", at))
			continue
		}
		v := c.inner(p.lo, p.hi)
		if c.failed {
			return nil
		}
		spec := c.joinedPieces(p.spec, t)
		if c.failed {
			return nil
		}
		if p.as == "" && len(spec) == 0 {
			out = append(out, predicate("call str", v))
			continue
		}
		out = append(out, &dialect.Predicate{Op: "format", Kids: append([]*dialect.Predicate{v, c.constant(p.as, "!!str", at)}, spec...), Span: at})
	}
	return out
}

// inner reads the value between two places of the text.
func (c *condition) inner(lo, hi int) *dialect.Predicate {
	in := &condition{p: c.p, text: c.text, scopes: c.scopes, bound: c.bound, depth: c.depth}
	if in.tooDeep(lo, hi) {
		c.failed, c.refused = true, true
		return nil
	}
	in.lexRange(lo, hi)
	out := in.tuple()
	if t, more := in.peek(); !in.failed && more {
		in.misplaced(t)
	}
	c.failed, c.refused, c.bound = c.failed || in.failed, c.refused || in.refused, in.bound
	return out
}
