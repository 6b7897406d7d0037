package sirenspec

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A scope are the names that one `for` of a comprehension binds.
type scope struct {
	names  []string
	closed bool   // of a generator or a function: Python looks for all other names outside of the condition, where nothing is
	args   string // of a function: what its arguments are called in Go
}

// local is a name that a comprehension or a function binds; nil for others.
func (c *condition) local(name string, at source.Span) *dialect.Predicate {
	var closed *scope
	for i := len(c.scopes) - 1; i >= 0; i-- {
		s := c.scopes[i]
		n := slices.Index(s.names, name)
		switch {
		case n >= 0 && s.args != "":
			args := &dialect.Predicate{Op: "local", Lit: &ir.Scalar{Text: source.Text{Value: s.args, Span: at}, Tag: "!!str"}, Span: at}
			return &dialect.Predicate{Op: "argument", Kids: []*dialect.Predicate{args, c.constant(strconv.Itoa(n), "!!int", at)}, Span: at}
		case n >= 0 && len(s.names) == 1:
			return &dialect.Predicate{Op: "local", Lit: &ir.Scalar{Text: source.Text{Value: name, Span: at}, Tag: "!!str"}, Span: at}
		case n >= 0:
			// The item is called by all of its names.
			item := &dialect.Predicate{Op: "local", Lit: &ir.Scalar{Text: source.Text{Value: joinedNames(s.names), Span: at}, Tag: "!!str"}, Span: at}
			return &dialect.Predicate{Op: "nth", Kids: []*dialect.Predicate{item, c.constant(strconv.Itoa(n), "!!int", at), c.constant(strconv.Itoa(len(s.names)), "!!int", at)}, Span: at}
		case s.closed && closed == nil:
			closed = &s
		}
	}
	if closed == nil || slices.Contains(keywords, name) || name == "True" || name == "False" || name == "None" {
		return nil
	}
	hint, what := "write the comprehension in square brackets", "generator"
	if closed.args != "" {
		hint, what = "give it to the function", "function"
	}
	c.p.Warn(diag.ExprSyntax, at, hint, "within a "+what+" the engine does not know `%s`: where it is looked at, the condition does not hold", name)
	return &dialect.Predicate{Op: "unknown", Span: at}
}

func joinedNames(names []string) string {
	out := names[0]
	for _, n := range names[1:] {
		out += "_" + n
	}
	return out
}

// loop is where the `for` of a comprehension stands, when one begins here.
func (c *condition) loop() (at int, ok bool) {
	depth := 0
	for i := c.at; i < len(c.tokens); i++ {
		switch t := c.tokens[i]; {
		case t.kind == "string":
		case t.kind == "name" && t.text == "for" && depth == 0:
			return i, i > c.at
		case t.kind != "op":
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			if depth--; depth < 0 {
				return 0, false
			}
		case t.text == "," && depth == 0:
			return 0, false
		}
	}
	return 0, false
}

// amongOthers warns about a comprehension that is not the only element between brackets; in is what to put it in.
func (c *condition) amongOthers(t token, in string) {
	c.fail(t.lo, t.hi, "put it in "+in, "a comprehension stands alone")
}

// comprehension reads `for x in list if ...` for an element that begins at a token before. With generator it is one, and a
// list otherwise.
func (c *condition) comprehension(element int, generator bool) *dialect.Predicate {
	if t, _ := c.peek(); c.tooDeep(t.lo, t.hi) {
		return nil
	}
	defer func() { c.depth-- }()
	outer := len(c.scopes)
	defer func() { c.scopes = c.scopes[:outer] }()
	type clause struct {
		names []string
		over  *dialect.Predicate
		conds []*dialect.Predicate
	}
	var clauses []clause
	for !c.failed && c.takes("for") {
		names := c.targets()
		if c.failed {
			return nil
		}
		over := c.or() // the first list is looked at outside
		c.scopes = append(c.scopes, scope{names: names, closed: generator && len(clauses) == 0})
		cl := clause{names: names, over: over}
		for !c.failed && c.takes("if") {
			cl.conds = append(cl.conds, c.or())
		}
		clauses = append(clauses, cl)
	}
	if c.failed {
		return nil
	}
	end := c.at
	c.at = element
	out := c.pair()
	if c.failed {
		return nil
	}
	if t, ok := c.peek(); !ok || t.text != "for" {
		c.misplaced(t)
		return nil
	}
	c.at = end
	for i := len(clauses) - 1; i >= 0; i-- {
		cl := clauses[i]
		each := predicate("each", append([]*dialect.Predicate{cl.over, out}, cl.conds...)...)
		if each == nil {
			return nil
		}
		each.Lit = &ir.Scalar{Text: source.Text{Value: joinedNames(cl.names), Span: cl.over.Span}, Tag: "!!str"}
		out = each
	}
	if generator {
		return predicate("generator", out)
	}
	return out
}

// pair is a value, or of a dict a key and a value, or all of another dict.
func (c *condition) pair() *dialect.Predicate {
	if t, _ := c.peek(); t.kind == "op" && (t.text == "**" || t.text == "*") {
		c.at++
		inner := c.bits()
		if c.failed {
			return nil
		}
		return c.from(t, predicate(map[string]string{"**": "pairs", "*": "star"}[t.text], inner))
	}
	key := c.bindable()
	if c.failed || !c.takes(":") {
		return key
	}
	value := c.choice()
	if c.failed {
		return nil
	}
	return predicate("list", key, value)
}

// targets are the names that a `for` binds.
func (c *condition) targets() []string {
	var names []string
	closing := c.takes("(")
	for {
		t, ok := c.peek()
		if !ok || t.kind != "name" || slices.Contains(keywords, t.text) {
			c.refuse(t.lo, t.hi, "this does not bind a name or several")
			return nil
		}
		c.at++
		names = append(names, t.text)
		if !c.takes(",") {
			break
		}
	}
	if closing && !c.takes(")") || !c.takes("in") {
		t, _ := c.peek()
		c.fail(t.lo, t.hi, "", "`for` has no `in`")
	}
	return names
}

// displayed is a list or a set of what is in brackets; a comprehension is one already.
func displayed(op string, items []*dialect.Predicate, at source.Span) *dialect.Predicate {
	if len(items) == 1 && items[0].Op == "each" {
		return &dialect.Predicate{Op: op + " of", Kids: items, Span: at}
	}
	return &dialect.Predicate{Op: op, Kids: items, Span: at}
}

// braces are a set, or with colons a dict.
func (c *condition) braces(open token) *dialect.Predicate {
	at := c.text.At(open.lo, open.hi)
	if c.takes("}") {
		return c.upTo(&dialect.Predicate{Op: "dict", Span: at})
	}
	op := "set"
	var items []*dialect.Predicate
	for !c.failed && !c.takes("}") {
		loop, made := c.loop()
		begin := c.at
		var item *dialect.Predicate
		if made {
			if len(items) > 0 {
				c.amongOthers(open, "square brackets")
				return nil
			}
			if c.colon(begin, loop) {
				op = "dict"
			}
			c.at = loop
			item = c.comprehension(begin, false)
		} else if item = c.pair(); !c.failed {
			pair := c.colon(begin, c.at) && item.Op != "star" || item.Op == "pairs"
			if len(items) == 0 && pair {
				op = "dict"
			}
			if pair != (op == "dict") {
				c.fail(open.lo, open.hi, "", "a dict has a value for every key")
			}
		}
		if c.failed {
			return nil
		}
		items = append(items, item)
		if !c.takes(",") {
			if !c.wants("}", open) {
				return nil
			}
			break
		}
	}
	if c.failed {
		return nil
	}
	return c.upTo(displayed(op, items, at))
}

// colon reports whether the tokens of an item have a colon, as those of a dict do.
func (c *condition) colon(from, to int) bool {
	depth := 0
	for _, t := range c.tokens[from:to] {
		switch {
		case t.kind != "op":
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			depth--
		case t.text == ":" && depth == 0:
			return true
		}
	}
	return false
}
