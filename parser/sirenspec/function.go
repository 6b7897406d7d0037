package sirenspec

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// lambda is `lambda x, y: value`, whose word has been read. Within it Python looks for all other names outside of the
// condition, where nothing is.
func (c *condition) lambda(word token) *dialect.Predicate {
	if c.tooDeep(word.lo, word.hi) {
		return nil
	}
	defer func() { c.depth-- }()
	s := scope{closed: true, args: "args"}
	for _, outer := range c.scopes {
		if outer.args != "" {
			s.args += "_"
		}
	}
	refuse := func(t token) {
		c.refuse(t.lo, t.hi, "only plain names are compiled as parameters of a function")
	}
	endless := func(t token) { c.fail(t.lo, t.hi, "", "`lambda` has no `:`") }
	for !c.failed && !c.takes(":") {
		t, ok := c.peek()
		switch {
		case !ok:
			endless(word)
		case t.kind != "name" || slices.Contains(keywords, t.text):
			refuse(t)
		default:
			c.at++
			s.names = append(s.names, t.text)
			if next, _ := c.peek(); next.kind == "op" && next.text == "=" {
				refuse(next)
			} else if !c.takes(",") && !(next.kind == "op" && next.text == ":") {
				endless(next)
			}
		}
	}
	if c.failed {
		return nil
	}
	outer := len(c.scopes)
	c.scopes = append(c.scopes, s)
	body := c.choice()
	c.scopes = c.scopes[:outer]
	if c.failed {
		return nil
	}
	out := predicate("lambda", body, c.constant(strconv.Itoa(len(s.names)), "!!int", body.Span))
	out.Lit = &ir.Scalar{Text: source.Text{Value: s.args, Span: body.Span}, Tag: "!!str"}
	out.Span.Lo = c.text.At(word.lo, word.hi).Lo
	return out
}

// function is the name of a function of the engine that is not called here, as in `key=len`.
func (c *condition) function(t token, at source.Span) *dialect.Predicate {
	if next, _ := c.peek(); next.kind == "op" && next.text == "." {
		c.refuse(next.lo, next.hi, "methods of types are not compiled in a condition")
		return nil
	}
	return &dialect.Predicate{Op: "function", Lit: &ir.Scalar{Text: source.Text{Value: t.text, Span: at}, Tag: "!!str"}, Span: at}
}

// bind is `name := value`, whose two words have been read.
func (c *condition) bind(name token) *dialect.Predicate {
	value := c.choice()
	if c.failed {
		return nil
	}
	if !slices.Contains(c.bound, name.text) {
		c.bound = append(c.bound, name.text)
	}
	out := predicate("bind", value)
	out.Lit = &ir.Scalar{Text: source.Text{Value: name.text, Span: c.text.At(name.lo, name.hi)}, Tag: "!!str"}
	out.Span.Lo = c.text.At(name.lo, name.hi).Lo
	return out
}

// bindable is a value within brackets, which may get a name.
func (c *condition) bindable() *dialect.Predicate {
	if c.at+1 < len(c.tokens) {
		name, op := c.tokens[c.at], c.tokens[c.at+1]
		if name.kind == "name" && op.kind == "op" && op.text == ":=" && !slices.Contains(keywords, name.text) {
			c.at += 2
			return c.bind(name)
		}
	}
	return c.choice()
}

// argument is a value in a list or among arguments: one that gets a name with `name=` or `:=`, or all of a list with `*`.
func (c *condition) argument(call bool) *dialect.Predicate {
	t, _ := c.peek()
	if t.kind == "op" && (t.text == "*" || t.text == "**") {
		if t.text == "**" {
			c.refuse(t.lo, t.hi, "arguments out of a dict are not compiled in a condition")
			return nil
		}
		c.at++
		inner := c.bits()
		if c.failed {
			return nil
		}
		return c.from(t, predicate("star", inner))
	}
	if call && t.kind == "name" && c.at+1 < len(c.tokens) {
		if next := c.tokens[c.at+1]; next.kind == "op" && next.text == "=" {
			c.at += 2
			value := c.choice()
			if c.failed {
				return nil
			}
			out := c.from(t, predicate("named", value))
			out.Lit = &ir.Scalar{Text: source.Text{Value: t.text, Span: c.text.At(t.lo, t.hi)}, Tag: "!!str"}
			return out
		}
	}
	return c.bindable()
}

// from makes a predicate begin at a token.
func (c *condition) from(t token, p *dialect.Predicate) *dialect.Predicate {
	p.Span.Lo = c.text.At(t.lo, t.hi).Lo
	return p
}
