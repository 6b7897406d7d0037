package sirenspec

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The language of `when` is a part of Python's: comparisons of paths and constants, joined by and, or and not, with
// parentheses. Calls, arithmetic and chained comparisons are refused.

// maxCondition bounds the nesting of a condition.
const maxCondition = 100

// when reads a condition; nil when there is none, or after a mistake.
func (p *parser) when(n *yamlnode.Node) *ir.Predicate {
	if n == nil {
		return nil
	}
	if n.Kind == yamlnode.Scalar && p.Schema.Tag(n) == "!!bool" {
		return &ir.Predicate{Op: "const", Lit: p.Scalar(n), Span: n.Span}
	}
	if _, ok := p.Text(n, "a condition"); !ok {
		return nil
	}
	c := &condition{p: p, text: n.Text}
	c.lex()
	out := c.or(0)
	if t, more := c.peek(); !c.failed && more {
		c.fail(t.lo, t.hi, "", "this does not belong here")
	}
	if c.failed {
		return nil
	}
	return out
}

type token struct {
	kind, text string // path number string word op
	lo, hi     int
}

type condition struct {
	p      *parser
	text   source.Text
	tokens []token
	at     int
	failed bool
}

func (c *condition) fail(lo, hi int, help, format string, args ...any) {
	if !c.failed {
		c.failed = true
		c.p.Error(diag.ExprSyntax, c.text.At(lo, max(lo, hi)), help, format, args...)
	}
}

var lexeme = regexp.MustCompile(`^(?:([A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)|(-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|('(?:[^'\\\n]|\\['"\\nt])*'|"(?:[^"\\\n]|\\['"\\nt])*")|(==|!=|<=|>=|<|>|\(|\)))`)

func (c *condition) lex() {
	s := c.text.Value
	for i := 0; i < len(s); {
		if strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			i++
			continue
		}
		m := lexeme.FindStringSubmatchIndex(s[i:])
		if m == nil {
			help := ""
			if s[i] == '=' {
				help = "write `==`"
			} else if strings.IndexByte("&|!", s[i]) >= 0 {
				help = "write `and`, `or`, `not` or `!=`"
			}
			c.fail(i, i+1, help, "`%s` is not compiled in a condition", s[i:i+1])
			return
		}
		kinds := []string{"word", "number", "string", "op"}
		for k, kind := range kinds {
			if m[2+2*k] < 0 {
				continue
			}
			text := s[i : i+m[1]]
			if kind == "word" && strings.Contains(text, ".") {
				kind = "path"
			}
			c.tokens = append(c.tokens, token{kind, text, i, i + m[1]})
		}
		i += m[1]
	}
}

func (c *condition) peek() (token, bool) {
	if c.at < len(c.tokens) {
		return c.tokens[c.at], true
	}
	return token{}, false
}

// takes goes on when the next token is this one.
func (c *condition) takes(text string) bool {
	if t, ok := c.peek(); ok && t.text == text && t.kind != "string" {
		c.at++
		return true
	}
	return false
}

func (c *condition) or(depth int) *ir.Predicate {
	return c.joined("or", "||", depth, func(d int) *ir.Predicate { return c.joined("and", "&&", d, c.not) })
}

func (c *condition) joined(word, op string, depth int, part func(int) *ir.Predicate) *ir.Predicate {
	left := part(depth)
	for !c.failed && c.takes(word) {
		right := part(depth)
		if c.failed {
			return nil
		}
		left = c.pair(op, left, right)
	}
	return left
}

func (c *condition) pair(op string, a, b *ir.Predicate) *ir.Predicate {
	return &ir.Predicate{Op: op, Kids: []*ir.Predicate{a, b}, Span: source.Span{File: a.Span.File, Lo: a.Span.Lo, Hi: b.Span.Hi}}
}

func (c *condition) not(depth int) *ir.Predicate {
	t, _ := c.peek()
	if depth > maxCondition {
		c.fail(t.lo, t.hi, "", "the condition is nested more than %d deep", maxCondition)
		return nil
	}
	if !c.takes("not") {
		return c.comparison(depth)
	}
	inner := c.not(depth + 1)
	if c.failed {
		return nil
	}
	return &ir.Predicate{Op: "not", Kids: []*ir.Predicate{inner}, Span: source.Span{File: inner.Span.File, Lo: c.text.At(t.lo, t.hi).Lo, Hi: inner.Span.Hi}}
}

func (c *condition) comparison(depth int) *ir.Predicate {
	left := c.operand(depth)
	op := c.operator()
	if c.failed || op == "" {
		return left
	}
	right := c.operand(depth)
	t, _ := c.peek()
	if again := c.operator(); !c.failed && again != "" {
		c.fail(t.lo, t.hi, "join comparisons with `and`", "a comparison that goes on is not compiled")
	}
	if c.failed {
		return nil
	}
	return c.pair(op, left, right)
}

func (c *condition) operator() string {
	t, ok := c.peek()
	switch {
	case !ok:
		return ""
	case t.kind == "op" && t.text != "(" && t.text != ")":
		c.at++
		return t.text
	case t.kind == "word" && t.text == "in":
		c.at++
		return "in"
	case t.kind == "word" && t.text == "not":
		c.at++
		if !c.takes("in") {
			c.fail(t.lo, t.hi, "", "`not` stands before a comparison, or is `not in`")
		}
		return "not in"
	}
	return ""
}

var constants = map[string]string{"true": "true", "True": "true", "false": "false", "False": "false", "null": "", "None": ""}

// operand is a path, a constant, or a condition in parentheses.
func (c *condition) operand(depth int) *ir.Predicate {
	t, ok := c.peek()
	if !ok {
		end := len(c.text.Value)
		c.fail(end, end, "", "the condition ends where a value is missing")
		return nil
	}
	c.at++
	at := c.text.At(t.lo, t.hi)
	constant := func(value, tag string) *ir.Predicate {
		return &ir.Predicate{Op: "const", Lit: &ir.Scalar{Text: source.Text{Value: value, Span: at}, Tag: tag}, Span: at}
	}
	word, isConstant := constants[t.text]
	switch {
	case t.kind == "path":
		return c.path(t)
	case t.kind == "number":
		number, whole, ok := yamlnode.Number(t.text)
		if !ok {
			break
		}
		return constant(number, map[bool]string{true: "!!int", false: "!!float"}[whole])
	case t.kind == "string":
		return constant(unescape(t.text[1:len(t.text)-1]), "!!str")
	case t.kind == "word" && isConstant && word != "":
		return constant(word, "!!bool")
	case t.kind == "word" && isConstant:
		return constant("", "!!null")
	case t.text == "(":
		inner := c.or(depth + 1)
		if !c.failed && !c.takes(")") {
			c.fail(t.lo, t.hi, "", "the parenthesis is not closed")
		}
		return inner
	}
	help := "put text in quotes; a value of the context is `working." + t.text + "` or `output." + t.text + "`"
	if t.kind != "word" {
		help = ""
	}
	c.fail(t.lo, t.hi, help, "`%s` is no value of a condition", t.text)
	return nil
}

var escapes = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\n`, "\n", `\t`, "\t")

func unescape(s string) string { return escapes.Replace(s) }

// path is a place in the context.
func (c *condition) path(t token) *ir.Predicate {
	path := strings.Split(t.text, ".")
	for i := range path {
		path[i] = strings.TrimSpace(path[i])
	}
	switch {
	case path[0] == "working" || path[0] == "output":
	case strings.HasPrefix(path[0], "_budget"):
		c.fail(t.lo, t.hi, "write `working._budget`", "the engine does not know `%s`, so that the condition never holds", t.text)
		return nil
	default:
		c.fail(t.lo, t.hi, "write `working."+t.text+"`", "the engine does not know `%s`, so that the condition never holds: values are below `working` and `output`", t.text)
		return nil
	}
	if next, ok := c.peek(); ok && next.text == "(" && next.kind == "op" {
		c.fail(t.lo, next.hi, "compute it in a tool node", "calls are not compiled in a condition")
		return nil
	}
	at := c.text.At(t.lo, t.hi)
	return &ir.Predicate{Op: "ref", Ref: &ir.Reference{Text: source.Text{Value: t.text, Span: at}, Root: path[0], Path: path[1:]}, Span: at}
}
