package expr

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A Symbol is what a name stands for.
type Symbol struct {
	Name string
	Type *schema.Type
	Ref  any // the object of the IR it stands for; nil for macro variables

	// Members are pseudo-fields, found before the fields of Type: node.error, node.failures. Reading one does not read
	// the symbol's own value.
	Members map[string]*Symbol

	// Problem is set when the name exists but cannot be used here. It is reported where the name stands.
	Problem *Problem

	// Absent: the symbol is a node that may not have run here, and Type is optional for that reason alone.
	Absent bool

	Advice string // what to do where the symbol may have no value; empty: test it
	Item   bool   // a variable for the items of a list
}

// Env says what names mean where an expression stands.
type Env interface {
	Lookup(name string) *Symbol // nil: not defined
	Names() []string            // what could have been meant, in a stable order

	// Covers reports whether at least one of these Absent symbols certainly has a value here; of none it is false.
	Covers(syms []*Symbol) bool
}

// An Env may say what its names are called in messages; otherwise they are nodes.
type namer interface{ NameKind() string }

// Check types n and everything below it, reports what is wrong, and narrows optionals that facts, or tests inside n,
// prove present. It writes Type, Stored and Sym, and may be repeated with another Env.
func Check(n *Node, env Env, facts Facts) []Problem {
	c := &checker{env: env}
	c.check(n, facts, nil)
	return c.causes()
}

// CheckExpect is Check for a place that asks for a value of type want: literals take its type, and a value that does not
// fit is reported.
func CheckExpect(n *Node, env Env, facts Facts, want *schema.Type) []Problem {
	c := &checker{env: env}
	c.check(n, facts, want)
	c.fits(n, want)
	return c.causes()
}

// CheckTemplate checks every expression of t and that its value has a text form.
func CheckTemplate(t *Template, env Env, facts Facts) []Problem {
	c := &checker{env: env}
	for i := range t.Segments {
		if s := &t.Segments[i]; s.Expr != nil {
			c.check(s.Expr, facts, nil)
			c.segment(s)
		}
	}
	return c.causes()
}

// causes are the problems without those that an unknown name may be the cause of: a test of a misspelled field narrows
// nothing.
func (c *checker) causes() []Problem {
	unknown := func(p Problem) bool {
		return p.Code == diag.UnknownName || p.Code == diag.UnknownField || p.Code == diag.UnknownFunction
	}
	if !slices.ContainsFunc(c.probs, unknown) {
		return c.probs
	}
	return slices.DeleteFunc(c.probs, func(p Problem) bool {
		return p.Code == diag.OptionalUse || p.Code == diag.UnionUse || p.Code == diag.NeverAbsent || p.Code == diag.EmptyList
	})
}

type checker struct {
	env   Env
	vars  []*Symbol // macro variables in scope
	probs []Problem

	at Place

	told *Node // the chain of fields in which an absent receiver was reported last: one report is enough
}

func (c *checker) report(code diag.Code, lo, hi int, help, format string, args ...any) *Problem {
	c.probs = append(c.probs, Problem{Code: code, Lo: lo, Hi: hi, Message: fmt.Sprintf(format, args...), Help: help})
	return &c.probs[len(c.probs)-1]
}

// suggest completes a problem about an unknown name with the nearest candidate, or else with a few of them.
func (p *Problem) suggest(name string, candidates []string) {
	if near := diag.Nearest(name, candidates); near != "" {
		p.Help, p.Replace = "replace with `"+near+"`", &near
		return
	}
	if n := len(candidates); n > 0 && p.Help == "" {
		list := strings.Join(candidates[:min(n, 5)], ", ")
		if n > 5 {
			list += ", ..."
		}
		p.Help = "expected one of " + list
	}
}

// check types n. A literal takes the type want asks for where it can; want is a wish, nil for none.
func (c *checker) check(n *Node, facts Facts, want *schema.Type) *schema.Type {
	return c.narrow(n, c.infer(n, facts, want), facts)
}

func (c *checker) narrow(n *Node, t *schema.Type, facts Facts) *schema.Type {
	if t == nil {
		t = schema.InvalidType
	}
	n.Type, n.Stored = t, t
	if t.Kind == schema.Opt {
		if p := n.Path(); p != "" && (facts[p] || c.proves(p)) {
			n.Type = t.Elem
		}
	}
	if n.Type.Kind == schema.Union {
		n.Type = c.variant(n, n.Type, facts)
	}
	return n.Type
}

// variant is the variant that a value of a union is, as far as it is known, else the union.
func (c *checker) variant(n *Node, t *schema.Type, facts Facts) *schema.Type {
	p := n.Path()
	if p == "" {
		return t
	}
	for _, v := range t.Variants {
		if is := IsVariant(p, v.Tag); facts[is] || c.proves(is) {
			return v.Type
		}
	}
	return t
}

func (c *checker) infer(n *Node, facts Facts, want *schema.Type) *schema.Type {
	before := len(c.probs)
	switch n.Op {
	case Intrinsic, Make, Lambda, Handle, Concat:
		return c.core(n, facts, want)
	case Call, Macro, Unary, Binary, Cond:
		t := c.compute(n, facts, want)
		if c.refused(n, before) {
			return schema.InvalidType
		}
		return t
	case Lit:
		return c.lit(n, want)
	case Name:
		return c.name(n)
	case Field, OptField, Index:
		return c.chain(n, facts, false, n)
	case ListLit:
		return c.list(n, facts, want)
	case MapLit:
		return c.mapping(n, facts, want)
	}
	return schema.InvalidType
}

// compute types what has operands.
func (c *checker) compute(n *Node, facts Facts, want *schema.Type) *schema.Type {
	switch n.Op {
	case Call:
		return c.call(n, facts, want)
	case Macro:
		return c.macro(n, facts, want)
	case Unary:
		return c.unary(n, facts)
	case Binary:
		return c.binary(n, facts, want)
	}
	return c.cond(n, facts, want)
}

func (c *checker) lit(n *Node, want *schema.Type) *schema.Type {
	if want != nil {
		want = want.Present()
	}
	switch v := n.Value.(type) {
	case nil:
		return schema.NullType
	case bool:
		return schema.BoolType
	case int64:
		if want != nil && want.Kind == schema.Float && exact(v) {
			return schema.FloatType
		}
		return schema.IntType
	case float64:
		return schema.FloatType
	case string:
		if want != nil && want.Kind == schema.Enum && c.enumValue(n, want) {
			return want
		}
		return schema.StringType
	case []byte:
		return schema.BytesType
	case time.Duration:
		return schema.DurationType
	}
	return schema.InvalidType
}

// exact reports whether an int can become a float without loss: core.md, "Int with float".
func exact(v int64) bool { return v >= -1<<53 && v <= 1<<53 }

const cannotUse = "cannot use %s as %s"

// NotAValue is the message about a string that the enum does not have.
func NotAValue(v string, enum *schema.Type) string {
	return fmt.Sprintf("%q is not a value of %s", v, brief(enum))
}

// enumValue checks a string literal against the values of an enum. It always returns true: a wrong value was reported,
// and is taken for the enum's from then on.
func (c *checker) enumValue(n *Node, enum *schema.Type) bool {
	v := n.Value.(string)
	for _, e := range enum.Values {
		if e == v {
			return true
		}
	}
	p := c.report(diag.EnumValue, n.Lo, n.Hi, "", "%s", NotAValue(v, enum))
	p.suggest(v, enum.Values)
	if p.Replace != nil {
		text := quoted(*p.Replace)
		p.Help, p.Replace = "replace with `"+text+"`", &text
	}
	return true
}

func (c *checker) name(n *Node) *schema.Type {
	for i := len(c.vars) - 1; i >= 0; i-- {
		if c.vars[i].Name == n.Text {
			n.Sym = c.vars[i]
			return n.Sym.Type
		}
	}
	n.Sym = c.env.Lookup(n.Text)
	if n.Sym == nil {
		c.unknownName(n)
		return schema.InvalidType
	}
	return c.usable(n, n.Sym)
}

// usable reports the problem of a symbol, if it has one, at n.
func (c *checker) usable(n *Node, s *Symbol) *schema.Type {
	if s.Problem == nil {
		return s.Type
	}
	p := *s.Problem
	p.Lo, p.Hi = n.NameLo, n.NameHi
	c.probs = append(c.probs, p)
	return schema.InvalidType
}

var foreignNames = map[string]string{
	"nil": "null", "None": "null", "none": "null", "undefined": "null", "NULL": "null", "Null": "null", "void": "null",
	"True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "yes": "true", "no": "false",
}

func (c *checker) unknownName(n *Node) {
	if right := foreignNames[n.Text]; right != "" {
		p := c.report(diag.ExprSpelling, n.NameLo, n.NameHi, "replace with `"+right+"`", "`%s` is not a value", n.Text)
		p.Replace = &right
		return
	}
	what := "node"
	if k, ok := c.env.(namer); ok {
		what = k.NameKind()
	}
	names := c.env.Names()
	for _, v := range c.vars {
		names = append(names[:len(names):len(names)], v.Name)
	}
	c.report(diag.UnknownName, n.NameLo, n.NameHi, "", "%s %q is not defined", what, n.Text).suggest(n.Text, names)
}

// need is the type of a value that has to be present. It reports one that may not be, and then is the poison type.
func (c *checker) need(n *Node) *schema.Type {
	switch n.Type.Kind {
	case schema.Opt:
		c.absent(n, n)
		return schema.InvalidType
	case schema.Null:
		c.report(diag.Operands, n.Lo, n.Hi, "null can only be compared with `==` and `!=`", "null is not a value to compute with")
		return schema.InvalidType
	}
	return n.Type
}

// absent reports that n may have no value. whole is what the help gives a default for: n, or the field read from it.
func (c *checker) absent(n, whole *Node) {
	text := n.String()
	why := n.Type.Why
	message := text + " may be absent: " + why
	switch {
	case why == "":
		message = text + " may be absent: it is optional"
	case strings.HasPrefix(why, text+" "):
		message = why
	}
	c.report(diag.OptionalUse, n.Lo, n.Hi, Advice(n, whole), "%s", message)
}

// Advice says what to do about n, which may be absent: that depends on why it may be. whole is as in absent.
func Advice(n, whole *Node) string {
	text, help := n.String(), fmt.Sprintf("give it a default: `default(%s, ...)`", whole)
	root := n
	for root.chain() {
		root = root.Kids[0]
	}
	switch sym := root.Sym; {
	case n.Path() == "":
		return help
	case n.Op == Name && sym != nil && sym.Advice != "":
		return sym.Advice + ", or " + help
	case n.Op == Index && n.Kids[0].Type != nil && n.Kids[0].Type.Present().Kind == schema.List:
		return fmt.Sprintf("an index out of range is absent: test `%s != null && ...`, or %s", text, help)
	case n.Op != Name && sym != nil && sym.Item:
		return fmt.Sprintf("keep the items that have it, with `.filter(%s, %s != null)` on the list, or %s", root.Text, text, help)
	}
	return fmt.Sprintf("test it first: `%s != null && ...`, or %s", text, help)
}

// fits reports a value that cannot be used where want is asked for.
func (c *checker) fits(n *Node, want *schema.Type) {
	if want == nil || schema.Assignable(n.Type, want) {
		return
	}
	if n.Type.Kind == schema.Opt && schema.Assignable(n.Type.Elem, want) {
		c.absent(n, n)
		return
	}
	help := ""
	switch from := n.Type.Present(); {
	case from.Kind == schema.Int && want.Present().Kind == schema.Float:
		help = "multiply it by `1.0` to make it a float"
	case want.Present().Kind == schema.String && textual(from) && from.Kind != schema.String:
		help = "write it as text: `\"{{ " + n.String() + " }}\"`"
	case n.Type.Kind == schema.Null:
		help = "the value is required here"
	}
	c.report(diag.TypeMismatch, n.Lo, n.Hi, help, cannotUse, brief(n.Type), brief(want))
}

// brief is the type in a message, where long ones would hide what is said about them.
func brief(t *schema.Type) string {
	s := t.String()
	if len(s) <= 60 {
		return s
	}
	switch t.Kind {
	case schema.Enum, schema.Struct, schema.Union:
		return "this " + t.Kind.String()
	case schema.List, schema.Map, schema.Opt:
		return t.Kind.String() + "<" + brief(t.Elem) + ">"
	}
	return s
}

// poison types n and all below it as already reported.
func poison(n *Node) *schema.Type {
	n.Walk(func(n *Node) bool {
		n.Type, n.Stored = schema.InvalidType, schema.InvalidType
		return true
	})
	return schema.InvalidType
}
