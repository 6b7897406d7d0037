package convert

import (
	"cmp"
	"strings"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A Condition rewrites conditions on dynamic data. Only where both sides of a comparison have a type does the native language
// mean the same.
type Condition struct {
	*Converter
	// Place is a reference as an expression with its type, nil when that is not known or there may be no value.
	Place func(*dialect.Reference) (string, *schema.Type)
	// Lacks reports whether there may be no value at a place, which then is neither equal to another nor before or after it; nil:
	// there always is one.
	Lacks func(*dialect.Reference) bool
	// Refusal and Help are about conditions that mean something else here; empty: those that fit most dialects.
	Refusal, Help string
}

// Text is a condition as an expression.
func (c *Condition) Text(p *dialect.Predicate) string {
	switch p.Op {
	case "&&", "||":
		return c.side(p, p.Kids[0]) + " " + p.Op + " " + c.side(p, p.Kids[1])
	case "==", "!=", "<", "<=", ">", ">=":
		if text := c.compared(p, p.Op, p.Op == "!="); text != "" {
			return text
		}
	case "not":
		return "!(" + c.Text(p.Kids[0]) + ")"
	case "ref", "const":
		if a, at := c.operand(p); at != nil && at.Kind == schema.Bool {
			return a
		}
	}
	c.Refuse(p.Span, cmp.Or(c.Help, "compare fields with values of their declared type"), "%s", cmp.Or(c.Refusal, "this condition has another meaning, or none, where values have types"))
	return "true"
}

var negations = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// Not is the opposite of a condition.
func (c *Condition) Not(p *dialect.Predicate) string {
	if op := negations[p.Op]; op != "" {
		if text := c.compared(p, op, p.Op != "!="); text != "" {
			return text
		}
	}
	return "!(" + c.Text(p) + ")"
}

// compared is a comparison, and absent what it is where there is no value; empty: the native language has none.
func (c *Condition) compared(p *dialect.Predicate, op string, absent bool) string {
	a, at := c.operand(p.Kids[0])
	b, bt := c.operand(p.Kids[1])
	if at == nil || bt == nil || !(number(at) && number(bt) || (op == "==" || op == "!=") && at.Kind == bt.Kind && at.Kind != schema.List && at.Kind != schema.Map) {
		return ""
	}
	text := a + " " + op + " " + b
	for i, place := range []string{a, b} {
		if kid := p.Kids[i]; kid.Op != "ref" || c.Lacks == nil || !c.Lacks(kid.Ref) {
			continue
		}
		switch other := p.Kids[1-i]; {
		case other.Op != "const":
			return ""
		case absent:
			return place + " == null || " + text
		}
		return place + " != null && " + text
	}
	return text
}

func (c *Condition) side(p, kid *dialect.Predicate) string {
	text := c.Text(kid)
	if p.Op == "&&" && (kid.Op == "||" || strings.Contains(text, " == null || ")) {
		return "(" + text + ")"
	}
	return text
}

func number(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }

// operand is one side of a comparison and its type, nil when that is not known.
func (c *Condition) operand(p *dialect.Predicate) (string, *schema.Type) {
	switch p.Op {
	case "const":
		switch p.Lit.Tag {
		case "!!int":
			return p.Lit.Text.Value, schema.IntType
		case "!!float":
			return p.Lit.Text.Value, schema.FloatType
		case "!!bool":
			return strings.ToLower(p.Lit.Text.Value), schema.BoolType
		case "!!str":
			return doc.Escaped(p.Lit.Text.Value), schema.StringType
		}
	case "length", "call len":
		if a, t := c.operand(p.Kids[0]); t != nil && (t.Kind == schema.List || t.Kind == schema.String && p.Op == "call len") {
			return "size(" + a + ")", schema.IntType
		}
	case "ref":
		return c.Place(p.Ref)
	}
	return "", nil
}
