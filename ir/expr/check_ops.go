package expr

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

func (c *checker) unary(n *Node, facts Facts) *schema.Type {
	k := n.Kids[0]
	c.check(k, facts, nil)
	t := c.need(k)
	if n.Text == "!" {
		c.boolean(k, t, n.Text)
		return schema.BoolType
	}
	switch t.Kind {
	case schema.Int:
		return schema.IntType
	case schema.Float:
		return schema.FloatType
	case schema.Invalid:
		return t
	}
	c.report(diag.Operands, k.Lo, k.Hi, "", "`-` needs a number, this is %s", t)
	return schema.InvalidType
}

// boolean reports a type that is not bool where op needs one.
func (c *checker) boolean(n *Node, t *schema.Type, op string) {
	if t.Kind == schema.Bool || t.Kind == schema.Invalid {
		return
	}
	help := ""
	switch text := n.String(); {
	case t.Kind == schema.List || t.Kind == schema.Map:
		help = fmt.Sprintf("write `size(%s) > 0`", text)
	case n.prec() < precAdd:
	case t.Kind == schema.String:
		help = fmt.Sprintf("write `%s != \"\"`", text)
	case t.Kind == schema.Int || t.Kind == schema.Float:
		help = fmt.Sprintf("write `%s != 0`", text)
	}
	c.report(diag.Operands, n.Lo, n.Hi, help, "`%s` needs bool, this is %s", op, brief(t))
}

func (c *checker) binary(n *Node, facts Facts, want *schema.Type) *schema.Type {
	a, b := n.Kids[0], n.Kids[1]
	switch n.Text {
	case "&&", "||":
		c.check(a, facts, nil)
		c.boolean(a, c.need(a), n.Text)
		yes, no := outcomes(a)
		if n.Text == "||" {
			yes = no
		}
		c.within(assume(c.env, a, n.Text == "&&"), func() { c.check(b, union(facts, yes), nil) })
		c.boolean(b, c.need(b), n.Text)
		return schema.BoolType
	case "==", "!=":
		if isNull(a) || isNull(b) {
			return c.nullTest(n, facts)
		}
		if c.foreignNull(a) || c.foreignNull(b) {
			c.check(a, facts, nil)
			c.check(b, facts, nil)
			return schema.BoolType
		}
	case "in":
		return c.in(n, facts)
	}
	if n.Text == "+" && (a.Op == ListLit || b.Op == ListLit) {
		c.pair(a, facts, b, facts, asked(want))
	} else {
		c.check(a, facts, nil)
		c.check(b, facts, nil)
	}
	ta, tb := c.need(a), c.need(b)
	if ta.Kind == schema.Invalid || tb.Kind == schema.Invalid {
		return c.poisoned(n)
	}
	switch n.Text {
	case "+", "-", "*":
		return c.arithmetic(n, ta, tb)
	case "/", "%":
		return c.division(n, ta, tb)
	}
	c.comparison(n, ta, tb)
	return schema.BoolType
}

// poisoned is the type of an operation one of whose operands was reported already.
func (c *checker) poisoned(n *Node) *schema.Type {
	switch n.Text {
	case "+", "-", "*", "/", "%":
		return schema.InvalidType
	}
	return schema.BoolType
}

// foreignNull recognises null as other languages write it.
func (c *checker) foreignNull(n *Node) bool {
	return n.Op == Name && foreignNames[n.Text] == "null" && c.env.Lookup(n.Text) == nil
}

func (c *checker) nullTest(n *Node, facts Facts) *schema.Type {
	for _, k := range n.Kids {
		c.check(k, facts, nil)
	}
	tested := nullTested(n)
	if tested == nil {
		c.report(diag.NeverAbsent, n.Lo, n.Hi, "", "this compares null with null")
		return schema.BoolType
	}
	switch tested.Stored.Kind {
	case schema.Opt, schema.Invalid:
	case schema.Any:
		c.anyOperand(tested)
	default:
		c.report(diag.NeverAbsent, n.Lo, n.Hi, "remove the test", "%s is never null", tested)
	}
	return schema.BoolType
}

func (c *checker) anyOperand(n *Node) {
	c.report(diag.Operands, n.Lo, n.Hi, "give it a type where it is created, or process it in a go node", "%s has type any: its type is unknown here", n)
}

// comparable types have values that == can tell apart.
func isComparable(t *schema.Type) bool {
	switch t.Kind {
	case schema.Bool, schema.Int, schema.Float, schema.String, schema.Enum, schema.Bytes, schema.Time, schema.Duration:
		return true
	}
	return false
}

func isNumeric(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }

func isText(t *schema.Type) bool { return t.Kind == schema.String || t.Kind == schema.Enum }

func (c *checker) comparison(n *Node, ta, tb *schema.Type) {
	a, b := n.Kids[0], n.Kids[1]
	for _, k := range n.Kids {
		t := k.Type.Present()
		if t.Kind == schema.Any {
			c.anyOperand(k)
			return
		}
		if !isComparable(t) {
			c.uncomparable(n, k, t)
			return
		}
	}
	if !c.alike(a, ta, b, tb) {
		c.report(diag.Operands, n.NameLo, n.NameHi, compareHelp(a, ta, b, tb), "cannot compare %s with %s", brief(ta), brief(tb))
		return
	}
	if n.Text == "==" || n.Text == "!=" {
		return
	}
	switch {
	case isNumeric(ta), ta.Kind == schema.Time, ta.Kind == schema.Duration:
	case ta.Kind == schema.String && tb.Kind == schema.String:
	default:
		c.report(diag.Operands, n.NameLo, n.NameHi, "compare with `==` or `!=`", "`%s` needs numbers, strings, times or durations, this is %s", n.Text, brief(ta))
	}
}

func (c *checker) uncomparable(n, k *Node, t *schema.Type) {
	help := "compare their fields"
	switch t.Kind {
	case schema.List, schema.Map:
		help = "compare sizes, or use exists or all"
		if n.Text != "==" && n.Text != "!=" {
			help = fmt.Sprintf("compare its size: `size(%s)`", k)
		}
	}
	c.report(diag.Operands, k.Lo, k.Hi, help, "`%s` does not compare %s", n.Text, plural(t))
}

func plural(t *schema.Type) string {
	switch t.Kind {
	case schema.List:
		return "lists"
	case schema.Map:
		return "maps"
	case schema.Struct, schema.Union:
		return "structs"
	}
	return brief(t)
}

func compareHelp(a *Node, ta *schema.Type, b *Node, tb *schema.Type) string {
	if ta.Kind == schema.String && isNumeric(tb) {
		a, ta, b, tb = b, tb, a, ta
	}
	if isNumeric(ta) && b.Op == Lit && tb.Kind == schema.String {
		return "remove the quotes"
	}
	return ""
}

// alike reports whether two values can be equal at all, as far as their types go. Literals take the type of the other
// side: An int with a float, a string next to an enum, whose values it must be one of.
func (c *checker) alike(a *Node, ta *schema.Type, b *Node, tb *schema.Type) bool {
	switch {
	case ta.Kind == schema.Invalid || tb.Kind == schema.Invalid:
		return true
	case isNumeric(ta) && isNumeric(tb):
		c.floatLiteral(a, tb)
		c.floatLiteral(b, ta)
		return true
	case isText(ta) && isText(tb):
		if ta.Kind == schema.Enum && tb.Kind == schema.Enum {
			return overlap(ta.Values, tb.Values)
		}
		c.enumLiteral(a, tb)
		c.enumLiteral(b, ta)
		return true
	}
	return ta.Kind == tb.Kind && isComparable(ta)
}

func (c *checker) floatLiteral(n *Node, other *schema.Type) {
	if v, ok := n.Value.(int64); ok && n.Op == Lit && other.Kind == schema.Float {
		if !exact(v) {
			c.report(diag.ExprNumber, n.Lo, n.Hi, "write it as a float", "this int is too large to be a float without loss")
		}
		n.Type, n.Stored = schema.FloatType, schema.FloatType
	}
}

func (c *checker) enumLiteral(n *Node, other *schema.Type) {
	if _, ok := n.Value.(string); ok && n.Op == Lit && other.Kind == schema.Enum {
		c.enumValue(n, other)
		n.Type, n.Stored = other, other
	}
}

func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

func (c *checker) in(n *Node, facts Facts) *schema.Type {
	a, b := n.Kids[0], n.Kids[1]
	c.check(a, facts, nil)
	c.check(b, facts, schema.ListOf(canonical(a.Type.Present())))
	ta, tb := c.need(a), c.need(b)
	if b.Op == ListLit && len(b.Kids) == 0 && tb.Kind != schema.Invalid {
		c.report(diag.EmptyList, b.Lo, b.Hi, "", "an empty list contains nothing")
		return schema.BoolType
	}
	switch tb.Kind {
	case schema.Invalid:
		return schema.BoolType
	case schema.List, schema.Map:
	case schema.String:
		c.report(diag.Operands, n.NameLo, n.NameHi, fmt.Sprintf("write `%s.contains(%s)`", receiver(b), a), "`in` needs a list or a map, this is string")
		return schema.BoolType
	default:
		c.report(diag.Operands, b.Lo, b.Hi, "", "`in` needs a list or a map, this is %s", brief(tb))
		return schema.BoolType
	}
	if ta.Kind == schema.Invalid {
		return schema.BoolType
	}
	elem := schema.StringType
	if tb.Kind == schema.List {
		elem = tb.Elem
	}
	c.member(n, a, ta, elem)
	return schema.BoolType
}

// otherNumbers reports that numbers of one type are looked for among numbers of another.
func (c *checker) otherNumbers(lo, hi int, help string, t, elem *schema.Type) {
	c.report(diag.Operands, lo, hi, help, "`in` looks for %s in a list of %s", t, elem)
}

// member checks that a value of type t can be among values of type elem.
func (c *checker) member(n, a *Node, t, elem *schema.Type) {
	switch {
	case elem.Kind == schema.Invalid:
	case elem.Kind == schema.Opt:
		c.report(diag.Operands, n.Kids[1].Lo, n.Kids[1].Hi, "use exists", "`in` does not look into lists whose items may be absent")
	case !isComparable(elem) || !isComparable(t):
		c.report(diag.Operands, n.NameLo, n.NameHi, "use exists and compare fields", "`in` does not compare %s", plural(t))
	case isNumeric(t) && isNumeric(elem) && t.Kind != elem.Kind && a.Op != Lit:
		c.otherNumbers(n.NameLo, n.NameHi, "use exists", t, elem)
	case !c.alike(a, t, &Node{}, elem):
		c.report(diag.Operands, n.NameLo, n.NameHi, "", "`in` looks for %s in %s of %s", t, n.Kids[1].Type.Kind, elem)
	case t.Kind == schema.Float && elem.Kind == schema.Int:
		c.otherNumbers(a.Lo, a.Hi, "", t, elem)
	}
}

// receiver is the text of n where a method is called on it.
func receiver(n *Node) string {
	if n.prec() < precPostfix {
		return "(" + n.String() + ")"
	}
	return n.String()
}

func (c *checker) arithmetic(n *Node, ta, tb *schema.Type) *schema.Type {
	a, b := n.Kids[0], n.Kids[1]
	for _, k := range n.Kids {
		if k.Type.Present().Kind == schema.Any {
			c.anyOperand(k)
			return schema.InvalidType
		}
	}
	switch {
	case ta.Kind == schema.Int && tb.Kind == schema.Int:
		return schema.IntType
	case isNumeric(ta) && isNumeric(tb):
		c.floatLiteral(a, tb)
		c.floatLiteral(b, ta)
		return schema.FloatType
	case n.Text == "+" && isText(ta) && isText(tb):
		return schema.StringType
	case moments(n.Text, ta, tb) != nil:
		return moments(n.Text, ta, tb)
	case n.Text == "+" && ta.Kind == schema.List && tb.Kind == schema.List:
		if t := join(ta, tb); t != nil {
			return t
		}
	}
	help := ""
	switch {
	case n.Text == "+" && (isText(ta) && textual(tb) || isText(tb) && textual(ta)):
		help = "make text of it with `string(x)`, or write a template: `\"{{ ... }}\"`"
	case (ta.Kind == schema.Time || ta.Kind == schema.Duration) && (n.Text == "+" || n.Text == "-") && isNumeric(tb):
		help = "write a duration with its unit: `duration(\"90s\")`"
	case n.Text == "+" && ta.Kind == schema.List && schema.Assignable(tb, ta.Elem):
		help = "to add an item, write `" + n.Kids[0].String() + " + [" + n.Kids[1].String() + "]`"
	}
	if schema.Equal(ta, tb) {
		c.report(diag.Operands, n.NameLo, n.NameHi, help, "`%s` does not work on %s", n.Text, plural(ta))
	} else {
		c.report(diag.Operands, n.NameLo, n.NameHi, help, "`%s` does not work on %s and %s", n.Text, brief(ta), brief(tb))
	}
	return schema.InvalidType
}

// division types a / b and a % b.
func (c *checker) division(n *Node, ta, tb *schema.Type) *schema.Type {
	by := n.Kids[1]
	if v := by.Value; by.Op == Lit && (v == int64(0) || v == 0.0) {
		c.report(diag.Operands, by.Lo, by.Hi, "", "nothing can be divided by zero")
		return schema.InvalidType
	}
	if n.Text == "%" && isNumeric(ta) && isNumeric(tb) && (ta.Kind == schema.Float || tb.Kind == schema.Float) {
		c.report(diag.Operands, n.NameLo, n.NameHi, "", "`%%` needs two ints, this is %s and %s", ta, tb)
		return schema.InvalidType
	}
	return c.arithmetic(n, ta, tb)
}

func (c *checker) cond(n *Node, facts Facts, want *schema.Type) *schema.Type {
	test, a, b := n.Kids[0], n.Kids[1], n.Kids[2]
	c.check(test, facts, nil)
	c.boolean(test, c.need(test), "?:")
	yes, no := outcomes(test)
	c.pairIn([2]Env{assume(c.env, test, true), assume(c.env, test, false)}, a, union(facts, yes), b, union(facts, no), want)
	if t := join(a.Type, b.Type); t != nil {
		return t
	}
	c.report(diag.Operands, b.Lo, b.Hi, joinHelp(a.Type, b.Type), "the two sides of `?:` differ: %s and %s", brief(a.Type), brief(b.Type))
	return schema.InvalidType
}

// join is the type of a place that holds values of a or of b. Where they are written differently in Go, it has the default
// spelling of its kind, which holds both.
func join(a, b *schema.Type) *schema.Type {
	t := schema.Join(a, b)
	if t == nil || a == b {
		return t
	}
	return canonical(t)
}

// canonical is t with scalars in their default Go spelling.
func canonical(t *schema.Type) *schema.Type {
	switch t.Kind {
	case schema.Bool, schema.Int, schema.Float, schema.String:
		if t.Go != nil {
			return map[schema.Kind]*schema.Type{
				schema.Bool: schema.BoolType, schema.Int: schema.IntType, schema.Float: schema.FloatType, schema.String: schema.StringType,
			}[t.Kind]
		}
	case schema.List, schema.Map, schema.Opt:
		if elem := canonical(t.Elem); elem != t.Elem {
			return &schema.Type{Kind: t.Kind, Elem: elem, Why: t.Why}
		}
	}
	return t
}

func joinHelp(a, b *schema.Type) string {
	if isNumeric(a.Present()) && isNumeric(b.Present()) {
		return "multiply the int by `1.0`"
	}
	return ""
}

// pair checks two expressions that share one place. Without a wish, a literal takes the type of the other one.
func (c *checker) pair(a *Node, fa Facts, b *Node, fb Facts, want *schema.Type) {
	c.pairIn([2]Env{c.env, c.env}, a, fa, b, fb, want)
}

// pairIn is pair with what names mean in each of the two.
func (c *checker) pairIn(in [2]Env, a *Node, fa Facts, b *Node, fb Facts, want *schema.Type) {
	first := func(want *schema.Type) { c.within(in[0], func() { c.check(a, fa, want) }) }
	second := func(want *schema.Type) { c.within(in[1], func() { c.check(b, fb, want) }) }
	switch {
	case want == nil && pliable(a) > pliable(b):
		second(nil)
		first(wish(b.Type))
	case want == nil:
		first(nil)
		if pliable(b) > 0 {
			want = wish(a.Type)
		}
		second(want)
	default:
		first(want)
		second(want)
	}
}

// pliable is how much the type of an expression follows its surroundings: that of an empty list and of a mapping entirely,
// that of other literals a little.
func pliable(n *Node) int {
	switch {
	case n.Op == MapLit, n.Op == ListLit && len(n.Kids) == 0:
		return 2
	case n.Op == ListLit && slices.ContainsFunc(n.Kids, func(k *Node) bool { return pliable(k) == 2 }):
		return 2
	case n.Op == ListLit || n.Op == Lit:
		return 1
	}
	return 0
}

// wish is a type to ask a literal for. An enum is not asked for: next to it stands any string, and the pair is a string.
func wish(t *schema.Type) *schema.Type {
	if t.Present().Kind == schema.Enum {
		return nil
	}
	return canonical(t)
}

func (c *checker) list(n *Node, facts Facts, want *schema.Type) *schema.Type {
	if want != nil && want.Kind == schema.Dynamic {
		for _, k := range n.Kids {
			c.argument(k, facts, want)
		}
		return want
	}
	if want != nil {
		want = want.Present()
		if schema.Poisoned(want) && len(n.Kids) == 0 {
			return schema.InvalidType
		}
		if want.Kind != schema.List {
			want = nil
		}
	}
	var elem, wanted *schema.Type
	if want != nil {
		wanted = want.Elem
	}
	if len(n.Kids) == 0 {
		if want == nil || want.Elem.Kind == schema.Invalid {
			c.report(diag.EmptyList, n.Lo, n.Hi, "", "the type of this empty list cannot be inferred")
			return schema.InvalidType
		}
		return want
	}
	for i, k := range n.Kids {
		if wanted == nil && elem != nil && pliable(k) == 2 {
			c.check(k, facts, canonical(elem))
			continue
		}
		c.check(k, facts, wanted)
		if i == 0 {
			elem = k.Type
			continue
		}
		joined := join(elem, k.Type)
		if joined == nil {
			c.report(diag.Operands, k.Lo, k.Hi, joinHelp(elem, k.Type), "the items of a list have one type: %s is not %s", brief(k.Type), brief(elem))
			return schema.InvalidType
		}
		elem = joined
	}
	if elem.Kind == schema.Null {
		c.report(diag.EmptyList, n.Lo, n.Hi, "", "the type of this list of nulls cannot be inferred")
		return schema.InvalidType
	}
	if wanted != nil && schema.Assignable(elem, wanted) {
		if len(want.Known) > 0 { // of other items
			return schema.ListOf(wanted)
		}
		return want
	}
	return schema.ListOf(canonical(elem))
}
