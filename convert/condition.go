package convert

import (
	"cmp"
	"strconv"
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
	// Never reports whether there is no value at a place in any run; nil: there may be one.
	Never func(*dialect.Reference) bool
	// Strict says that values of two types are not equal.
	Strict bool
	// Else is called in place of a refusal, and the text does not count then.
	Else func()
	// Refusal and Help are about conditions that mean something else here; empty: those that fit most dialects.
	Refusal, Help string
}

// Text is a condition as an expression.
func (c *Condition) Text(p *dialect.Predicate) string {
	switch p.Op {
	case "&&", "||":
		a, b := c.side(p, p.Kids[0]), c.side(p, p.Kids[1])
		for _, side := range [][2]string{{a, b}, {b, a}} {
			switch {
			case !c.Strict:
			case side[0] == decided[p.Op]:
				return side[0]
			case side[0] == decided["&&"] || side[0] == decided["||"]:
				return side[1]
			}
		}
		return a + " " + p.Op + " " + b
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
	if c.Else != nil {
		c.Else()
		return "true"
	}
	c.Refuse(p.Span, cmp.Or(c.Help, "compare fields with values of their declared type"), "%s", cmp.Or(c.Refusal, "this condition has another meaning, or none, where values have types"))
	return "true"
}

// Typed is a comparison of operands that have types, or one of type bool; empty: the condition is none.
func (c *Condition) Typed(p *dialect.Predicate) string {
	switch p.Op {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.compared(p, p.Op, p.Op == "!=")
	case "ref":
		if a, t := c.operand(p); t != nil && t.Kind == schema.Bool {
			return a
		}
	}
	return ""
}

var negations = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// decided is what one side of an operator is when the other does not count.
var decided = map[string]string{"&&": "false", "||": "true"}

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
	for i, kid := range p.Kids {
		if kid.Op == "ref" && c.Never != nil && c.Never(kid.Ref) && p.Kids[1-i].Op == "const" {
			return strconv.FormatBool(absent)
		}
	}
	a, at := c.operand(p.Kids[0])
	b, bt := c.operand(p.Kids[1])
	if c.Strict && (op == "==" || op == "!=") && scalar(at) && scalar(bt) && at.Kind != bt.Kind && !(number(at) && number(bt)) {
		return strconv.FormatBool(op == "!=")
	}
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

// scalar reports whether values of a type are texts, numbers or truth values.
func scalar(t *schema.Type) bool {
	return t != nil && (t.Kind == schema.String || t.Kind == schema.Bool || number(t))
}

func number(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }

// operand is one side of a comparison and its type, nil when that is not known.
func (c *Condition) operand(p *dialect.Predicate) (string, *schema.Type) {
	switch p.Op {
	case "const":
		switch p.Lit.Tag {
		case "!!int":
			if _, err := strconv.ParseInt(p.Lit.Text.Value, 0, 64); err != nil {
				return "", nil // native ints have 64 bits
			}
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
