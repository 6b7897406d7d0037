package sqlsource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A statement is a query with its parameters as the engine writes them.
type statement struct {
	source string
	tokens []token
	text   string
	params []string // in the order in which they first stand
	moved  []shift  // where text and source differ, in order
}

// A shift says that text from lo stands at source from at.
type shift struct{ lo, at int }

// read makes a statement of a query.
func read(query string, postgres bool) (*statement, *mistake) {
	if i := strings.IndexByte(query, 0); i >= 0 {
		return nil, &mistake{i, i + 1, "a statement has no character 0", "remove it"}
	}
	tokens, wrong := scan(query, postgres)
	if wrong != nil {
		return nil, wrong
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].is(";") {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return nil, &mistake{0, len(query), "the statement is empty", "write it as in `select id from orders where customer = {customer}`"}
	}
	sign := "?"
	if postgres {
		sign = "$"
	}
	s := &statement{source: query, tokens: tokens}
	var b strings.Builder
	end := 0
	for _, t := range tokens {
		switch {
		case t.kind == native:
			return nil, &mistake{t.lo, t.hi, "`" + t.text + "` is a parameter without a field", "write the name of a field in braces, as in `{customer}`"}
		case t.kind == text:
			if m := inText(query, t); m != nil {
				return nil, m
			}
		case t.is(";"):
			return nil, &mistake{t.lo, t.hi, "a tool runs one statement, and another one begins here", "make a tool of each"}
		case t.kind == param:
			i := slices.Index(s.params, t.text)
			if i < 0 {
				i = len(s.params)
				s.params = append(s.params, t.text)
			}
			b.WriteString(query[end:t.lo])
			s.moved = append(s.moved, shift{b.Len(), t.lo})
			b.WriteString(sign + strconv.Itoa(i+1))
			end = t.hi
			s.moved = append(s.moved, shift{b.Len(), t.hi})
		}
	}
	b.WriteString(query[end:tokens[len(tokens)-1].hi])
	s.text = b.String()
	return s, nil
}

// inText reports a parameter inside of a text, where it would be characters.
func inText(query string, t token) *mistake {
	lo := t.lo + strings.IndexByte(query[t.lo:t.hi], '{')
	if lo < t.lo {
		return nil
	}
	n := strings.IndexByte(query[lo:t.hi], '}')
	if n < 0 || !isName(query[lo+1:lo+n]) {
		return nil
	}
	field := query[lo : lo+n+1]
	help := "end the text before it, as in `'%' || " + field + " || '%'`"
	if lo == t.lo+1 && lo+n+2 == t.hi {
		help = "remove the quotes: values are bound, and need none"
	}
	return &mistake{lo, lo + n + 1, "`" + field + "` is inside a string literal, where parameters are not replaced", help}
}

// at is where an offset of the text is in the query.
func (s *statement) at(off int) int {
	i := len(s.moved)
	for i > 0 && s.moved[i-1].lo > off {
		i--
	}
	if i == 0 {
		return min(off, len(s.source))
	}
	return min(s.moved[i-1].at+off-s.moved[i-1].lo, len(s.source))
}

// token is the one at an offset of the query; nil when there is none.
func (s *statement) token(off int) *token {
	for i := range s.tokens {
		if t := &s.tokens[i]; off >= t.lo && off < t.hi {
			return t
		}
	}
	return nil
}

// named is the first token with a name.
func (s *statement) named(name string) *token {
	for i := range s.tokens {
		if t := &s.tokens[i]; t.kind == word && strings.EqualFold(t.text, name) {
			return t
		}
	}
	return nil
}

// has reports whether one of the keywords is in the statement.
func (s *statement) has(keywords ...string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return slices.ContainsFunc(keywords, t.is) })
}

// selects counts the SELECTs, of which one is the statement itself.
func (s *statement) selects() (n int) {
	for _, t := range s.tokens {
		if t.is("select") {
			n++
		}
	}
	return n
}

// items are the expressions that the statement returns, as tokens. nil when they cannot be told apart.
func (s *statement) items(columns int) [][]token {
	if out := s.results(); len(out) == columns {
		return out
	}
	return nil // there is a `*`
}

// results are what the statement returns as it is written: what is after its first SELECT, or after RETURNING, as tokens.
func (s *statement) results() [][]token {
	begin := slices.IndexFunc(s.tokens, func(t token) bool { return t.is("returning") })
	if begin < 0 && s.tokens[0].is("select") {
		begin = 0
	}
	if begin < 0 {
		return nil
	}
	rest := s.tokens[begin+1:]
	if len(rest) > 0 && (rest[0].is("distinct") || rest[0].is("all")) {
		rest = rest[1:]
	}
	var out [][]token
	depth, from := 0, 0
	for i, t := range rest {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is(","):
			out = append(out, rest[from:i])
			from = i + 1
		case depth == 0 && (t.is("from") || t.is("union") || t.is("except") || t.is("intersect") || t.is("where") || t.is("limit") || t.is("order")):
			rest = rest[:i]
		}
		if i+1 >= len(rest) {
			break
		}
	}
	return append(out, rest[from:])
}

func quote(s string) string { return fmt.Sprintf("`%s`", strings.ReplaceAll(s, "`", "'")) }
