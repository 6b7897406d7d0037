package expr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// chain types a part of the chain whole.
func (c *checker) chain(n *Node, facts Facts, lenient bool, whole *Node) *schema.Type {
	if n.Op == Index {
		return c.index(n, facts, lenient, whole)
	}
	return c.field(n, facts, lenient, whole)
}

// receiver types what a part of the chain whole is read from.
func (c *checker) receiver(recv *Node, facts Facts, lenient bool, whole *Node) {
	if recv.chain() {
		c.narrow(recv, c.chain(recv, facts, lenient, whole), facts)
		return
	}
	c.check(recv, facts, nil)
}

// field types a.b and a?.b, a part of the chain whole. With lenient, which default and first set, and behind a `?.`, as in
// CEL, the dot carries absence on as `?.` does.
func (c *checker) field(n *Node, facts Facts, lenient bool, whole *Node) *schema.Type {
	recv := n.Kids[0]
	n.Sym = nil
	if recv.Op == Name {
		if t, ok := c.memberOf(n, recv); ok {
			return t
		}
	}
	c.receiver(recv, facts, lenient, whole)
	t := recv.Type
	if t.Kind == schema.Null {
		t = c.need(recv)
	}
	f := c.fieldOf(n, t.Present())
	if f == nil {
		return nil
	}
	switch {
	case t.Kind == schema.Opt && !lenient && n.Op == Field && !recv.carries():
		if c.told != whole {
			c.absent(recv, whole)
		}
		c.told = whole
		return f
	case n.Op == OptField && recv.Stored.Kind != schema.Opt && recv.Stored.Kind != schema.Invalid:
		dot := "."
		p := c.neverAbsent(recv, recv.Hi, n.NameLo, "replace with `.`")
		p.Replace = &dot
	}
	if t.Kind == schema.Opt {
		return schema.OptOf(f, t.Why)
	}
	return f
}

// memberOf finds a pseudo-field of a symbol.
func (c *checker) memberOf(n, recv *Node) (*schema.Type, bool) {
	for _, v := range c.vars {
		if v.Name == recv.Text {
			return nil, false
		}
	}
	sym := c.env.Lookup(recv.Text)
	if sym == nil || sym.Members[n.Text] == nil {
		return c.misspeltMember(n, recv, sym)
	}
	recv.Sym = sym
	c.narrow(recv, sym.Type, nil)
	n.Sym = sym.Members[n.Text]
	return c.usable(n, n.Sym), true
}

// misspeltMember reports what is nearly a pseudo-field of a symbol that has no value here: that it has none is not the
// mistake then.
func (c *checker) misspeltMember(n, recv *Node, sym *Symbol) (*schema.Type, bool) {
	near := nearMember(n.Text, sym)
	if near == "" || sym.Problem == nil {
		return nil, false
	}
	recv.Sym = sym
	c.narrow(recv, schema.InvalidType, nil)
	c.noField(n).suggest(n.Text, []string{near})
	return schema.InvalidType, true
}

// noFields reports that the receiver of n is of a type without fields.
func (c *checker) noFields(n *Node, t *schema.Type, help string) *Problem {
	return c.report(diag.UnknownField, n.NameLo, n.NameHi, help, "%s is %s and has no fields", n.Kids[0], brief(t))
}

const noField = "%s has no field %q"

// noField reports that the receiver of n has no field of its name.
func (c *checker) noField(n *Node) *Problem {
	return c.report(diag.UnknownField, n.NameLo, n.NameHi, "", noField, n.Kids[0], n.Text)
}

// nearMember is the pseudo-field of a symbol that a name is nearly, or "".
func nearMember(name string, sym *Symbol) string {
	if sym == nil {
		return ""
	}
	near := diag.Nearest(name, slices.Sorted(maps.Keys(sym.Members)))
	if near == "" || !diag.Close(name, near) {
		return ""
	}
	return near
}

// common is the type of a field that all variants of a union have in common: the tag.
func (c *checker) common(n *Node, t *schema.Type) *schema.Type {
	if f := t.Field(n.Text); f != nil {
		return f.Type
	}
	var in []string
	var all []string
	for _, v := range t.Variants {
		all = append(all, v.Type.FieldNames()...)
		if v.Type.Field(n.Text) != nil {
			in = append(in, v.Tag)
		}
	}
	recv := n.Kids[0]
	if len(in) == 0 {
		slices.Sort(all)
		p := c.noField(n)
		p.suggest(n.Text, slices.Compact(all))
		p.Replace = nil // the variant would have to be known for it
		return nil
	}
	help := "read it behind a case of `switch: " + recv.String() + "`, or test `" + recv.String() + "." + t.By + " == \"" + in[0] + "\"` first"
	c.report(diag.UnionUse, n.NameLo, n.NameHi, help, "%s is not known to be %s here, and only %s has a field %q", recv, strings.Join(in, " or "), variants(in), n.Text)
	return schema.InvalidType
}

func variants(tags []string) string {
	if len(tags) == 1 {
		return "that"
	}
	return "those"
}

// fieldOf is the type of field n.Text of a value of type t, or nil after a report.
func (c *checker) fieldOf(n *Node, t *schema.Type) *schema.Type {
	recv := n.Kids[0]
	switch t.Kind {
	case schema.Invalid:
		return schema.InvalidType
	case schema.Struct:
		if f := t.Field(n.Text); f != nil {
			return f.Type
		}
		if t.Open {
			return c.undeclared(n, t)
		}
	case schema.Union:
		return c.common(n, t)
	case schema.Dynamic:
		return schema.DynamicType
	case schema.Opaque:
		if f := t.Field(n.Text); f != nil {
			return f.Type
		}
		return c.fault(n, noField, t, n.Text)
	case schema.Map:
		return schema.OptOf(t.Elem, fmt.Sprintf("the map may have no key %q", n.Text))
	case schema.Any:
		c.anyOperand(recv)
		return nil
	}
	if sizes := map[string]bool{"length": true, "size": true, "len": true, "count": true}; sizes[n.Text] && hasSize(t) {
		call := "size()"
		p := c.noFields(n, t, "write `size("+recv.String()+")`")
		p.Replace = &call
		return nil
	}
	if near := nearMember(n.Text, recv.Sym); t.Kind != schema.Struct && near != "" {
		c.noField(n).suggest(n.Text, []string{near})
		return nil
	}
	if t.Kind != schema.Struct {
		help := ""
		if t.Kind == schema.List {
			help = "read the field of each item: `" + receiver(recv) + ".map(x, x." + n.Text + ")`"
		}
		c.noFields(n, t, help)
		return nil
	}
	names := t.FieldNames()
	if recv.Sym != nil {
		for m := range recv.Sym.Members {
			if !slices.Contains(names, m) {
				names = append(names, m)
			}
		}
		slices.Sort(names[len(t.Fields):])
	}
	p := c.noField(n)
	if len(names) == 0 {
		p.Message = recv.String() + " has no fields"
	}
	p.suggest(n.Text, names)
	if t.Decl != nil && !t.Decl.Span.IsZero() {
		p.Related = append(p.Related, diag.Related{Span: t.Decl.Span, Message: "type " + t.Decl.Name + " is declared here"})
	}
	return nil
}

func hasSize(t *schema.Type) bool {
	switch t.Kind {
	case schema.List, schema.Map, schema.String, schema.Enum, schema.Bytes:
		return true
	}
	return false
}

// foreignFuncs are the right names for functions of other languages.
var foreignFuncs = map[string]string{
	"len": "size", "length": "size", "count": "size", "starts_with": "startsWith", "startswith": "startsWith", "hasPrefix": "startsWith",
	"ends_with": "endsWith", "endswith": "endsWith", "hasSuffix": "endsWith", "includes": "contains", "match": "matches", "any": "exists",
	"some": "exists", "every": "all", "coalesce": "first", "or": "default", "orValue": "default", "getOrElse": "default", "select": "filter",
	"str": "string", "toString": "string", "to_string": "string", "lower": "lowerAscii", "toLowerCase": "lowerAscii", "toLower": "lowerAscii", "downcase": "lowerAscii",
	"upper": "upperAscii", "toUpperCase": "upperAscii", "toUpper": "upperAscii", "upcase": "upperAscii", "strip": "trim", "replaceAll": "replace", "flat": "flatten",
	"unique": "distinct", "uniq": "distinct", "sorted": "sort", "sort_by": "sortBy", "sortOn": "sortBy", "orderBy": "sortBy", "reversed": "reverse", "batch": "chunk", "chunks": "chunk",
	"date": "timestamp", "parseDuration": "duration", "substr": "substring", "getYear": "getFullYear", "year": "getFullYear", "getDay": "getDayOfWeek",
	"max": "math.greatest", "min": "math.least", "math.max": "math.greatest", "math.min": "math.least",
	"round": "math.round", "ceil": "math.ceil", "floor": "math.floor", "trunc": "math.trunc", "math.ceiling": "math.ceil",
}

func (c *checker) call(n *Node, facts Facts, want *schema.Type) *schema.Type {
	switch {
	case n.Text == "default" && !n.Method && len(n.Kids) == 2:
		return c.defaultCall(n, facts, want)
	case n.Text == "first" && !n.Method && len(n.Kids) >= 2:
		return c.first(n, facts, want)
	}
	if right := foreignFuncs[n.Text]; macros[n.Text] || macros[right] || n.Text == "has" || misspeltMacro(n) {
		return c.foreignCall(n)
	}
	for _, k := range n.Kids {
		c.check(k, facts, nil)
	}
	if b := builtins[n.Text]; b != nil {
		return c.builtin(n, b)
	}
	switch {
	case n.Text == "size":
		return c.size(n)
	case stringFuncs[n.Text]:
		return c.stringCall(n)
	case n.Text == "default":
		c.arguments(n, "`default` takes a value and what stands for it when it is absent", "write `default(x, ...)`")
	case n.Text == "first":
		c.arguments(n, "`first` takes two or more values", "write `first(a, b)`")
	default:
		c.unknownFunction(n)
	}
	return schema.InvalidType
}

// foreignCall reports a macro that is not written as one; the variable in it means nothing.
func (c *checker) foreignCall(n *Node) *schema.Type {
	poison(n)
	if macros[n.Text] {
		c.arguments(n, "`"+n.Text+"` is called on a list", "write `xs."+n.Text+"(x, ...)`")
	} else {
		c.unknownFunction(n)
	}
	return schema.InvalidType
}

// misspeltMacro reports whether a call of an unknown function looks like a macro with another name: `xs.mpa(x, x.id)`.
func misspeltMacro(n *Node) bool {
	return n.Method && len(n.Kids) == 3 && n.Kids[1].Op == Name && builtins[n.Text] == nil && diag.Nearest(n.Text, macroNames) != ""
}

func (c *checker) arguments(n *Node, message, help string) {
	c.report(diag.Arguments, n.NameLo, n.NameHi, help, "%s", message)
}

func (c *checker) unknownFunction(n *Node) {
	p := c.report(diag.UnknownFunction, n.NameLo, n.NameHi, "", "unknown function %q", n.Text)
	if right := foreignFuncs[n.Text]; right != "" {
		p.Help, p.Replace = "replace with `"+right+"`", &right
		if right == "default" || right == "exists" || right == "all" || right == "filter" || right == "first" {
			p.Replace = nil
			p.Help = map[bool]string{true: "write `xs." + right + "(x, ...)`", false: "write `" + right + "(x, ...)`"}[macros[right]]
		}
		if b := builtins[right]; b != nil && (n.Method != b.method || len(n.Kids) < b.min || len(n.Kids) > b.max) {
			p.Help, p.Replace = "write `"+b.usage+"`", nil
		}
		return
	}
	switch n.Text {
	case "if":
		p.Help = "a choice is written `c ? a : b`"
	case "has":
		p.Help = "write `x != null`"
	case "now":
		p.Help = "the time of the run is a value: write `now`"
	case "int", "float", "double":
		p.Help = "values are not converted; compute it in a go node"
	default:
		names := functionNames
		if misspeltMacro(n) {
			names = macroNames
		}
		p.suggest(n.Text, names)
	}
}

func (c *checker) size(n *Node) *schema.Type {
	if len(n.Kids) != 1 {
		c.arguments(n, fmt.Sprintf("`size` takes one value, this has %d", len(n.Kids)), "write `size(x)`")
		return schema.IntType
	}
	k := n.Kids[0]
	if t := c.need(k); t.Kind != schema.Invalid && !hasSize(t) {
		c.report(diag.Arguments, k.Lo, k.Hi, "", "`size` needs a list, map, string or bytes, this is %s", brief(t))
	}
	return schema.IntType
}

func (c *checker) stringCall(n *Node) *schema.Type {
	if len(n.Kids) != 2 {
		c.arguments(n, "`"+n.Text+"` takes one argument", "write `x."+n.Text+"(\"...\")`")
		return schema.BoolType
	}
	for i, k := range n.Kids {
		t := c.need(k)
		if isText(t) || t.Kind == schema.Invalid {
			continue
		}
		help := ""
		if i == 0 && t.Kind == schema.List && n.Text == "contains" {
			help = fmt.Sprintf("write `%s in %s`", n.Kids[1], k)
		}
		c.report(diag.Arguments, k.Lo, k.Hi, help, "`%s` needs string, this is %s", n.Text, brief(t))
		return schema.BoolType
	}
	if n.Text == "matches" {
		c.pattern(n.Kids[1])
	}
	return schema.BoolType
}

// pattern checks the argument of matches: a literal, so that a mistake in it is found now, in RE2 syntax.
func (c *checker) pattern(n *Node) {
	s, ok := n.Value.(string)
	if n.Op != Lit || !ok {
		if n.Type.Kind != schema.Invalid {
			c.report(diag.BadPattern, n.Lo, n.Hi, "match in a go node if the pattern is computed", "the pattern of `matches` is a string literal")
		}
		return
	}
	if len(s) > 1000 {
		c.report(diag.BadPattern, n.Lo, n.Hi, "", "this pattern is longer than 1000 bytes")
		return
	}
	if _, err := regexp.Compile(s); err != nil {
		text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		c.report(diag.BadPattern, n.Lo, n.Hi, "patterns are regular expressions in RE2 syntax", "%s", "this pattern is wrong: "+text)
	}
}

// lenient types an argument whose dots carry absence on.
func (c *checker) lenient(n *Node, facts Facts, want *schema.Type) {
	if n.chain() {
		c.narrow(n, c.chain(n, facts, true, n), facts)
		return
	}
	c.check(n, facts, want)
}

func (c *checker) defaultCall(n *Node, facts Facts, want *schema.Type) *schema.Type {
	x, v := n.Kids[0], n.Kids[1]
	before := len(c.probs)
	c.lenient(x, facts, want)
	absent := c.absentInside(x, v, before)
	if want == nil {
		want = canonical(x.Type.Present())
	}
	c.fallback(n, facts, want)
	switch {
	case x.Stored.Kind == schema.Null || isNull(v):
		c.report(diag.Arguments, n.NameLo, n.NameHi, "", "null is not a value for `default`")
		return schema.InvalidType
	case absent:
		return x.Type
	case x.Stored.Kind != schema.Opt && x.Stored.Kind != schema.Invalid:
		c.neverAbsent(x, n.NameLo, n.NameHi, "remove the default")
		return x.Type
	}
	if t := join(x.Type.Present(), v.Type); t != nil {
		return t
	}
	c.report(diag.Arguments, v.Lo, v.Hi, joinHelp(x.Type, v.Type), "the default of %s cannot be %s", brief(x.Type.Present()), brief(v.Type))
	return schema.InvalidType
}

func (c *checker) first(n *Node, facts Facts, want *schema.Type) *schema.Type {
	var t *schema.Type
	var why []string
	var nodes []*Symbol
	sure := false
	for i, k := range n.Kids {
		if want == nil && t != nil {
			c.lenient(k, facts, canonical(t))
		} else {
			c.lenient(k, facts, want)
		}
		if k.Type.Kind == schema.Null {
			c.report(diag.Arguments, k.Lo, k.Hi, "remove it", "null is not a value for `first`")
			return schema.InvalidType
		}
		if k.Type.Kind == schema.Opt {
			why = append(why, k.Type.Why)
			if s := absentNode(k); s != nil {
				nodes = append(nodes, s)
			}
		} else {
			sure = true
		}
		if i == 0 {
			t = k.Type.Present()
			continue
		}
		joined := join(t, k.Type.Present())
		if joined == nil {
			c.report(diag.Arguments, k.Lo, k.Hi, joinHelp(t, k.Type), "the values of `first` have one type: %s is not %s", brief(k.Type.Present()), brief(t))
			return schema.InvalidType
		}
		t = joined
	}
	if t.Kind == schema.Invalid || sure || c.env.Covers(nodes) || c.covered(n, facts) {
		return t
	}
	return schema.OptOf(t, "all of them may be absent: "+strings.Join(slices.Compact(why), "; "))
}

// absentNode is the node whose not having run is the only reason for n to be absent, or nil.
func absentNode(n *Node) *Symbol {
	for n.Op == Field || n.Op == OptField { // not behind an index: it may be out of range
		recv := n.Kids[0]
		if n.Sym != nil || recv.Type.Kind != schema.Opt {
			return nil
		}
		f := recv.Type.Elem.Field(n.Text)
		if f == nil || f.Type.Kind == schema.Opt {
			return nil
		}
		n = recv
	}
	if n.Op == Name && n.Sym != nil && n.Sym.Absent {
		return n.Sym
	}
	return nil
}

func (c *checker) macro(n *Node, facts Facts, want *schema.Type) *schema.Type {
	recv, body := n.Kids[0], n.Kids[1]
	c.check(recv, facts, nil)
	t := c.need(recv)
	v := &Symbol{Name: n.Var, Type: schema.InvalidType}
	switch t.Kind {
	case schema.Invalid:
	case schema.List:
		v.Type = t.Elem
		facts = union(facts, ItemFacts(n.Var, t))
	case schema.Map:
		v.Type = schema.StringType
	default:
		c.report(diag.Arguments, recv.Lo, recv.Hi, "", "`%s` needs a list or a map, this is %s", n.Text, brief(t))
	}
	c.shadow(n)
	v.Item = true
	c.vars = append(c.vars, v)
	defer func() { c.vars = c.vars[:len(c.vars)-1] }()

	var wanted *schema.Type
	if list := asked(want); list != nil && n.Text == "map" {
		wanted = list.Elem
		if list.Kind == schema.Invalid {
			wanted = list
		}
	}
	c.check(body, facts, wanted)
	if n.Text == "map" {
		if body.Type.Kind == schema.Null {
			c.need(body)
			return schema.InvalidType
		}
		return schema.ListOf(canonical(body.Type))
	}
	if n.Text == "sortBy" {
		return c.sortBy(n, t)
	}
	c.boolean(body, c.need(body), n.Text)
	switch {
	case n.Text != "filter":
		return schema.BoolType
	case t.Kind == schema.List:
		return c.filtered(n, t)
	}
	return schema.ListOf(v.Type)
}

// filtered is the type of a filtered list: that of t, with what the test has proved of the items.
func (c *checker) filtered(n *Node, t *schema.Type) *schema.Type {
	proved := FactsOf(n.Kids[1], true)
	known := slices.Clone(t.Known)
	for _, path := range slices.Sorted(maps.Keys(proved)) {
		if f, ok := strings.CutPrefix(path, n.Var+"."); ok && !slices.Contains(known, f) {
			known = append(known, f)
		}
	}
	elem := t.Elem
	if elem.Kind == schema.Opt && proved[n.Var] { // of those that are there
		elem = elem.Elem
	}
	if elem == t.Elem && len(known) == len(t.Known) {
		return t
	}
	return &schema.Type{Kind: schema.List, Elem: elem, Known: known}
}

// sortBy types xs.sortBy(x, key), whose list has the type t.
func (c *checker) sortBy(n *Node, t *schema.Type) *schema.Type {
	recv, key := n.Kids[0], n.Kids[1]
	k := c.need(key)
	switch {
	case t.Kind == schema.Invalid || k.Kind == schema.Invalid:
		return schema.InvalidType
	case t.Kind != schema.List:
		return c.wrong(n, recv, "a list", "")
	case !ordered(k):
		c.report(diag.Arguments, key.Lo, key.Hi, "", "`sortBy` needs a string, number, time or duration to sort by, this is %s", brief(k))
		return schema.InvalidType
	}
	return t
}

// shadow refuses a macro variable with a name that means something already. Facts about a name then always mean one thing.
func (c *checker) shadow(n *Node) {
	taken := c.env.Lookup(n.Var) != nil
	for _, v := range c.vars {
		taken = taken || v.Name == n.Var
	}
	if taken {
		c.report(diag.MacroName, n.VarLo, n.VarHi, "choose another name", "%q is defined already", n.Var)
	}
}
