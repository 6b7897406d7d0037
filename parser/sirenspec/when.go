package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// The language of `when` is that of Python's expressions over the values working and output: comparisons, and, or, not,
// arithmetic, operators on bits, indexes, lists, sets, dicts, comprehensions, conditions, methods of text, lists and dicts,
// and the functions that the engine gives. What Python cannot read is a condition that never holds.

// maxCondition bounds the nesting of a condition.
const maxCondition = 100

// when reads a condition; nil when there is none, or after a mistake.
func (p *parser) when(n *yamlnode.Node) *dialect.Predicate {
	if n == nil {
		return nil
	}
	if n.Kind == yamlnode.Scalar && p.Schema.Tag(n) != "!!str" {
		p.Error(diag.WrongShape, n.Span, "put it in quotes", "a condition is text, and this is a value of YAML")
		return nil
	}
	if _, ok := p.Text(n, "a condition"); !ok {
		return nil
	}
	c := &condition{p: p, text: n.Text}
	c.lex()
	out := c.tuple()
	if t, more := c.peek(); !c.failed && more {
		c.misplaced(t)
	}
	switch {
	case c.refused:
		return nil
	case c.failed:
		return c.constant("false", "!!bool", n.Span)
	}
	return out
}

type condition struct {
	p       *parser
	text    source.Text
	tokens  []token
	at      int
	depth   int
	failed  bool
	refused bool            // what cannot be compiled
	scopes  []scope         // of comprehensions and functions, the innermost last
	bound   []string        // the names that := has given
	pieces  map[int][]piece // of texts with the prefix f, by where they begin
}

// fail warns about what Python cannot read: the engine takes the condition for false.
func (c *condition) fail(lo, hi int, help, format string, args ...any) {
	if !c.failed {
		c.failed = true
		c.p.Warn(diag.ExprSyntax, c.text.At(lo, max(lo, hi)), help, format+": the condition never holds", args...)
	}
}

// refuse reports what Python reads and this compiler does not.
func (c *condition) refuse(lo, hi int, format string, args ...any) {
	if !c.failed {
		c.failed, c.refused = true, true
		c.p.Error(diag.NotSupported, c.text.At(lo, max(lo, hi)), "compute it in a tool node", format, args...)
	}
}

// misplaced warns about a token that Python does not expect.
func (c *condition) misplaced(t token) {
	help := ""
	if t.text == "=" && t.kind == "op" {
		help = "write `==`"
	}
	c.fail(t.lo, t.hi, help, "this does not belong here")
}

// unfinished warns about a token in the place of a value.
func (c *condition) unfinished(t token) {
	c.fail(t.lo, t.hi, "", "a value is missing before `%s`", t.text)
}

// endless warns about a text without an end; lo to hi is its beginning.
func (c *condition) endless(lo, hi int) {
	c.fail(lo, hi, "", "the string is not closed")
}

// tooDeep goes one level down, and refuses a condition that is nested too deeply, at lo to hi.
func (c *condition) tooDeep(lo, hi int) bool {
	if c.depth++; c.depth <= maxCondition {
		return false
	}
	c.refuse(lo, hi, "the condition is nested more than %d deep", maxCondition)
	return true
}

func (c *condition) peek() (token, bool) {
	if c.at < len(c.tokens) {
		return c.tokens[c.at], true
	}
	return token{}, false
}

// takes goes on when the next token is this name or operator.
func (c *condition) takes(text string) bool {
	if t, ok := c.peek(); ok && t.text == text && (t.kind == "name" || t.kind == "op") {
		c.at++
		return true
	}
	return false
}

// wants is takes for what has to come.
func (c *condition) wants(text string, open token) bool {
	if c.takes(text) {
		return true
	}
	c.fail(open.lo, open.hi, "", "`%s` is not closed by `%s`", open.text, text)
	return false
}

func (c *condition) constant(value, tag string, at source.Span) *dialect.Predicate {
	return &dialect.Predicate{Op: "const", Lit: &ir.Scalar{Text: source.Text{Value: value, Span: at}, Tag: tag}, Span: at}
}

func predicate(op string, kids ...*dialect.Predicate) *dialect.Predicate {
	out := &dialect.Predicate{Op: op, Kids: kids}
	for _, k := range kids {
		if k == nil {
			return nil
		}
	}
	out.Span = source.Span{File: kids[0].Span.File, Lo: kids[0].Span.Lo, Hi: kids[len(kids)-1].Span.Hi}
	return out
}

// tuple is a whole expression: a condition, or several with commas.
func (c *condition) tuple() *dialect.Predicate {
	out := c.choice()
	if t, ok := c.peek(); c.failed || !ok || t.kind != "op" || t.text != "," {
		return out
	}
	items := []*dialect.Predicate{out}
	for !c.failed && c.takes(",") {
		if _, more := c.peek(); !more {
			break
		}
		items = append(items, c.choice())
	}
	if c.failed {
		return nil
	}
	return predicate("tuple", items...)
}

// choice is `a if b else c`, or a function.
func (c *condition) choice() *dialect.Predicate {
	if t, ok := c.peek(); ok && t.kind == "name" && t.text == "lambda" {
		c.at++
		return c.lambda(t)
	}
	if t, _ := c.peek(); c.tooDeep(t.lo, t.hi) {
		return nil
	}
	defer func() { c.depth-- }()
	yes := c.or()
	t, _ := c.peek()
	if c.failed || !c.takes("if") {
		return yes
	}
	holds := c.or()
	if !c.failed && !c.takes("else") {
		c.fail(t.lo, t.hi, "", "`if` has no `else`")
	}
	no := c.choice()
	if c.failed {
		return nil
	}
	out := predicate("if", yes, holds, no)
	return out
}

func (c *condition) or() *dialect.Predicate {
	return c.joined("or", "||", func() *dialect.Predicate { return c.joined("and", "&&", c.not) })
}

func (c *condition) joined(word, op string, part func() *dialect.Predicate) *dialect.Predicate {
	left := part()
	for !c.failed && c.takes(word) {
		right := part()
		if c.failed {
			return nil
		}
		left = predicate(op, left, right)
	}
	return left
}

func (c *condition) not() *dialect.Predicate {
	t, _ := c.peek()
	if !c.takes("not") {
		return c.comparison()
	}
	if c.tooDeep(t.lo, t.hi) {
		return nil
	}
	defer func() { c.depth-- }()
	inner := c.not()
	if c.failed {
		return nil
	}
	out := predicate("not", inner)
	out.Span.Lo = c.text.At(t.lo, t.hi).Lo
	return out
}

// comparison is a chain: a < b < c is a < b and b < c.
func (c *condition) comparison() *dialect.Predicate {
	left := c.bits()
	var out *dialect.Predicate
	for !c.failed {
		op := c.operator()
		if op == "" {
			break
		}
		right := c.bits()
		if c.failed {
			return nil
		}
		next := predicate(op, left, right)
		if out != nil {
			next = predicate("&&", out, next)
		}
		out, left = next, right
	}
	if c.failed {
		return nil
	}
	if out != nil {
		return out
	}
	return left
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (c *condition) operator() string {
	t, ok := c.peek()
	switch {
	case !ok:
	case t.kind == "op" && slices.Contains(comparisons, t.text):
		c.at++
		return t.text
	case c.takes("in"):
		return "in"
	case c.takes("is"):
		if c.takes("not") {
			return "is not"
		}
		return "is"
	case t.kind == "name" && t.text == "not":
		c.at++
		if !c.takes("in") {
			c.fail(t.lo, t.hi, "", "`not` is before a comparison, or is `not in`")
		}
		return "not in"
	}
	return ""
}

// bits are the operators between comparisons and sums: | binds less than ^, and that less than & and shifts.
func (c *condition) bits() *dialect.Predicate {
	part := c.sum
	for _, ops := range [][]string{{"<<", ">>"}, {"&"}, {"^"}, {"|"}} {
		inner := part
		part = func() *dialect.Predicate { return c.arithmetic(ops, inner) }
	}
	return part()
}

func (c *condition) sum() *dialect.Predicate {
	return c.arithmetic([]string{"+", "-"}, func() *dialect.Predicate { return c.arithmetic([]string{"*", "/", "//", "%"}, c.signed) })
}

func (c *condition) arithmetic(ops []string, part func() *dialect.Predicate) *dialect.Predicate {
	left := part()
	for !c.failed {
		t, ok := c.peek()
		if ok && t.kind == "op" && t.text == ":=" {
			c.fail(t.lo, t.hi, "put it in parentheses, behind a name", "`:=` does not belong here")
		}
		if !ok || t.kind != "op" || !slices.Contains(ops, t.text) || c.failed {
			break
		}
		c.at++
		right := part()
		if c.failed {
			return nil
		}
		left = predicate(t.text, left, right)
	}
	return left
}

// signed is a value with a sign, or a power.
func (c *condition) signed() *dialect.Predicate {
	t, ok := c.peek()
	if ok && t.kind == "op" && (t.text == "-" || t.text == "+" || t.text == "~") {
		if c.tooDeep(t.lo, t.hi) {
			return nil
		}
		defer func() { c.depth-- }()
		c.at++
		inner := c.signed()
		if c.failed {
			return nil
		}
		out := predicate(map[string]string{"-": "minus", "+": "plus", "~": "invert"}[t.text], inner)
		out.Span.Lo = c.text.At(t.lo, t.hi).Lo
		if inner.Op == "const" && (inner.Lit.Tag == "!!int" || inner.Lit.Tag == "!!float") && t.text == "-" && !strings.HasPrefix(inner.Lit.Text.Value, "-") {
			return c.constant("-"+inner.Lit.Text.Value, inner.Lit.Tag, out.Span)
		}
		return out
	}
	base := c.primary()
	if !c.failed && c.takes("**") {
		if power := c.signed(); !c.failed {
			return predicate("**", base, power)
		}
	}
	return base
}
