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
	// Refusal and Help are about conditions that mean something else here; empty: those that fit most dialects.
	Refusal, Help string
}

// Text is a condition as an expression.
func (c *Condition) Text(p *dialect.Predicate) string {
	switch p.Op {
	case "&&", "||":
		return c.side(p, p.Kids[0]) + " " + p.Op + " " + c.side(p, p.Kids[1])
	case "==", "!=", "<", "<=", ">", ">=":
		a, at := c.operand(p.Kids[0])
		b, bt := c.operand(p.Kids[1])
		if at != nil && bt != nil && (number(at) && number(bt) || (p.Op == "==" || p.Op == "!=") && at.Kind == bt.Kind && at.Kind != schema.List && at.Kind != schema.Map) {
			return a + " " + p.Op + " " + b
		}
	case "ref", "const":
		if a, at := c.operand(p); at != nil && at.Kind == schema.Bool {
			return a
		}
	}
	c.Refuse(p.Span, cmp.Or(c.Help, "compare fields with values of their declared type"), "%s", cmp.Or(c.Refusal, "this condition has another meaning, or none, where values have types"))
	return "true"
}

func (c *Condition) side(p, kid *dialect.Predicate) string {
	if kid.Op == "||" && p.Op == "&&" {
		return "(" + c.Text(kid) + ")"
	}
	return c.Text(kid)
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
	case "length":
		if a, t := c.operand(p.Kids[0]); t != nil && t.Kind == schema.List {
			return "size(" + a + ")", schema.IntType
		}
	case "ref":
		return c.Place(p.Ref)
	}
	return "", nil
}
