package openexpertise

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The language of `when` and `until`: comparisons of paths, numbers, strings, true, false and length(x), joined by && and
// ||, where && binds tighter. A comparison does not go on: what is after a whole expression is not read by the engine.

// maxCondition bounds the nesting of parentheses.
const maxCondition = 100

// when reads a condition; nil when there is none, or after a mistake.
func (p *parser) when(n *yamlnode.Node) *dialect.Predicate {
	if n == nil {
		return nil
	}
	if n.Kind == yamlnode.Scalar && p.Schema.Tag(n) == "!!bool" {
		return &dialect.Predicate{Op: "const", Lit: p.Scalar(n), Span: n.Span}
	}
	if _, ok := p.Text(n, "a condition"); !ok {
		return nil
	}
	c := &condition{p: p, text: n.Text}
	if c.lex(); c.failed {
		return nil
	}
	out := c.or(0)
	if c.failed {
		return nil
	}
	if c.at < len(c.tokens) {
		p.Warn(diag.IgnoredKey, c.span(c.tokens[c.at].lo, len(n.Text.Value)), "remove it, or join it with && or ||", "the engine does not read this part of the condition")
	}
	return out
}

type token struct {
	kind   string // path number string word op
	text   string
	lo, hi int
}

type condition struct {
	p      *parser
	text   source.Text
	tokens []token
	at     int
	failed bool
}

func (c *condition) span(lo, hi int) source.Span { return c.text.At(lo, hi) }

func (c *condition) fail(lo, hi int, help, format string, args ...any) {
	if !c.failed {
		c.failed = true
		c.p.Error(diag.ExprSyntax, c.span(lo, max(hi, lo)), help, format, args...)
	}
}

func letter(b byte) bool { return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
func digit(b byte) bool  { return b >= '0' && b <= '9' }

// lex splits the text into tokens.
func (c *condition) lex() {
	s := c.text.Value
	for i := 0; i < len(s) && !c.failed; {
		lo := i
		switch b := s[i]; {
		case strings.IndexByte(" \t\r\n", b) >= 0:
			i++
			continue
		case strings.HasPrefix(s[i:], "$."):
			for i += 2; i < len(s) && (letter(s[i]) || digit(s[i]) || s[i] == '.'); i++ {
			}
			c.tokens = append(c.tokens, token{"path", s[lo:i], lo, i})
		case digit(b) || b == '-' && i+1 < len(s) && digit(s[i+1]):
			for i++; i < len(s) && (digit(s[i]) || s[i] == '.'); i++ {
			}
			c.tokens = append(c.tokens, token{"number", s[lo:i], lo, i})
		case b == '\'' || b == '"':
			end := strings.IndexByte(s[i+1:], b)
			if end < 0 {
				c.fail(lo, len(s), "", "this string has no closing quote")
				return
			}
			i += end + 2
			c.tokens = append(c.tokens, token{"string", s[lo+1 : i-1], lo, i})
		case letter(b):
			for ; i < len(s) && (letter(s[i]) || digit(s[i])); i++ {
			}
			c.tokens = append(c.tokens, token{"word", s[lo:i], lo, i})
		default:
			i = c.operator(s, i)
		}
	}
}

func (c *condition) operator(s string, i int) int {
	for _, op := range []string{"==", "!=", ">=", "<=", "&&", "||", ">", "<", "(", ")"} {
		if strings.HasPrefix(s[i:], op) {
			c.tokens = append(c.tokens, token{"op", op, i, i + len(op)})
			return i + len(op)
		}
	}
	help := ""
	switch {
	case s[i] == '!':
		help = "write `== false`; `!` is not supported"
	case s[i] == '=':
		help = "write `==`"
	case s[i] == '$':
		help = "a path begins with `$.`"
	}
	c.fail(i, i+1, help, "`%s` is not supported in a condition", s[i:i+1])
	return i + 1
}

func (c *condition) peek() (token, bool) {
	if c.at < len(c.tokens) {
		return c.tokens[c.at], true
	}
	return token{}, false
}

func (c *condition) is(op string) bool {
	t, ok := c.peek()
	return ok && t.kind == "op" && t.text == op
}

func (c *condition) or(depth int) *dialect.Predicate  { return c.joined("||", depth, c.and) }
func (c *condition) and(depth int) *dialect.Predicate { return c.joined("&&", depth, c.comparison) }

func (c *condition) joined(op string, depth int, part func(int) *dialect.Predicate) *dialect.Predicate {
	left := part(depth)
	for !c.failed && c.is(op) {
		c.at++
		right := part(depth)
		if c.failed {
			return nil
		}
		left = &dialect.Predicate{Op: op, Kids: []*dialect.Predicate{left, right}, Span: c.around(left, right)}
	}
	return left
}

func (c *condition) around(a, b *dialect.Predicate) source.Span {
	return source.Span{File: a.Span.File, Lo: a.Span.Lo, Hi: b.Span.Hi}
}

func (c *condition) comparison(depth int) *dialect.Predicate {
	left := c.operand(depth)
	t, ok := c.peek()
	if c.failed || !ok || t.kind != "op" || strings.IndexByte("=!<>", t.text[0]) < 0 {
		return left
	}
	c.at++
	right := c.operand(depth)
	if c.failed {
		return nil
	}
	return &dialect.Predicate{Op: t.text, Kids: []*dialect.Predicate{left, right}, Span: c.around(left, right)}
}

// operand is a path, a constant, length(x), or an expression in parentheses.
func (c *condition) operand(depth int) *dialect.Predicate {
	t, ok := c.peek()
	if !ok {
		end := len(c.text.Value)
		c.fail(end, end, "", "the condition ends where a value is missing")
		return nil
	}
	if depth > maxCondition {
		c.fail(t.lo, t.hi, "", "parentheses are nested more than %d deep", maxCondition)
		return nil
	}
	c.at++
	at := c.span(t.lo, t.hi)
	text := source.Text{Value: t.text, Span: at}
	switch {
	case t.kind == "path":
		path := strings.Split(strings.TrimPrefix(t.text, "$."), ".")
		for _, name := range path {
			if name == "" {
				c.fail(t.lo, t.hi, "", dialect.PathForm)
				return nil
			}
		}
		return &dialect.Predicate{Op: "ref", Ref: &dialect.Reference{Text: text, Root: "state", Path: path}, Span: at}
	case t.kind == "number":
		number, whole, ok := yamlnode.Number(t.text)
		if !ok {
			c.fail(t.lo, t.hi, "", dialect.NoNumber)
			return nil
		}
		text.Value = number
		return &dialect.Predicate{Op: "const", Lit: &ir.Scalar{Text: text, Tag: map[bool]string{true: "!!int", false: "!!float"}[whole]}, Span: at}
	case t.kind == "string":
		return &dialect.Predicate{Op: "const", Lit: &ir.Scalar{Text: text, Tag: "!!str"}, Span: at}
	case t.kind == "word" && (t.text == "true" || t.text == "false"):
		return &dialect.Predicate{Op: "const", Lit: &ir.Scalar{Text: text, Tag: "!!bool"}, Span: at}
	case t.kind == "word" && t.text == "length" && c.is("("):
		c.at++
		inner := c.operand(depth + 1)
		if c.close(t); c.failed {
			return nil
		}
		return &dialect.Predicate{Op: "length", Kids: []*dialect.Predicate{inner}, Span: at}
	case t.text == "(" && t.kind == "op":
		inner := c.or(depth + 1)
		if c.close(t); c.failed {
			return nil
		}
		return inner
	}
	help := "a value is a path such as `$.count`, a number, a text in quotes, true, false or length($.list)"
	if t.kind == "word" {
		help = "put text in quotes; a field of the state is `$." + t.text + "`"
	}
	c.fail(t.lo, t.hi, help, "`%s` is not a constant or a path", t.text)
	return nil
}

func (c *condition) close(open token) {
	if c.failed {
		return
	}
	if !c.is(")") {
		c.fail(open.lo, open.hi, "", "the parenthesis is not closed")
		return
	}
	c.at++
}
