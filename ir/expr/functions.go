package expr

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A builtin is a function whose arguments are values that are present. Its name and its meaning are those of CEL and of
// CEL's extensions where they have it; language.md lists what differs.
type builtin struct {
	method   bool   // written as a method in canonical text
	min, max int    // how many arguments, the receiver among them
	usage    string // in help
	result   func(c *checker, n *Node) *schema.Type
}

// builtins by name. Those of exist, map and others, which bind a variable, are Macros.
var builtins map[string]*builtin

func init() { // a variable would depend on itself
	builtins = map[string]*builtin{
		"string":        {false, 1, 1, "string(x)", (*checker).stringOf},
		"lowerAscii":    {true, 1, 1, "s.lowerAscii()", texts(schema.StringType)},
		"upperAscii":    {true, 1, 1, "s.upperAscii()", texts(schema.StringType)},
		"trim":          {true, 1, 1, "s.trim()", texts(schema.StringType)},
		"replace":       {true, 3, 3, `s.replace("a", "b")`, texts(schema.StringType)},
		"split":         {true, 2, 2, `s.split(",")`, texts(schema.ListOf(schema.StringType))},
		"flatten":       {true, 1, 1, "xs.flatten()", (*checker).flatten},
		"distinct":      {true, 1, 1, "xs.distinct()", (*checker).distinct},
		"sort":          {true, 1, 1, "xs.sort()", (*checker).sort},
		"reverse":       {true, 1, 1, "xs.reverse()", (*checker).reverse},
		"slice":         {true, 3, 3, "xs.slice(0, 10)", (*checker).slice},
		"chunk":         {true, 2, 2, "xs.chunk(100)", (*checker).chunk},
		"sum":           {true, 1, 1, "xs.sum()", (*checker).sum},
		"join":          {true, 1, 2, `xs.join(", ")`, (*checker).joined},
		"substring":     {true, 2, 3, "s.substring(0, 10)", (*checker).substring},
		"timestamp":     {false, 1, 1, `timestamp("2026-01-31T12:00:00Z")`, (*checker).parsed},
		"duration":      {false, 1, 1, `duration("1h30m")`, (*checker).parsed},
		"math.greatest": {false, 1, 100, "math.greatest(xs)", (*checker).extreme},
		"math.least":    {false, 1, 100, "math.least(xs)", (*checker).extreme},
	}
	for _, name := range Roundings {
		builtins[name] = &builtin{false, 1, 1, name + "(x)", (*checker).rounded}
	}
	for name := range Clocks {
		builtins[name] = &builtin{true, 1, 1, "t." + name + "()", (*checker).clock}
	}
}

// Roundings are the functions that make integers of floats, which stay floats.
var Roundings = []string{"math.round", "math.ceil", "math.floor", "math.trunc"}

// functionNames in the order help lists them.
var functionNames = []string{
	"size", "string", "default", "first", "exists", "all", "map", "filter", "contains", "startsWith", "endsWith", "matches",
	"lowerAscii", "upperAscii", "trim", "replace", "split", "substring", "join", "flatten", "distinct", "sort", "sortBy", "reverse", "slice", "chunk", "sum",
	"math.greatest", "math.least", "math.round", "math.ceil", "math.floor", "math.trunc", "timestamp", "duration", "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear",
	"getHours", "getMinutes", "getSeconds", "getMilliseconds",
}

// A Usage is a function of the language as a user writes it.
type Usage struct {
	Name   string
	Text   string // an example of its use; empty: its name says it
	Method bool   // it is written behind the value that it is about
}

// usages are those of functions that are not builtins.
var usages = map[string]string{
	"size": "size(x)", "string": "string(x)", "default": "default(value, fallback)", "first": "first(a, b)",
	"exists": "xs.exists(x, condition)", "all": "xs.all(x, condition)", "map": "xs.map(x, value)", "filter": "xs.filter(x, condition)", "sortBy": "xs.sortBy(x, key)",
	"contains": "s.contains(text)", "startsWith": "s.startsWith(text)", "endsWith": "s.endsWith(text)", "matches": `s.matches("pattern")`,
	"timestamp": `timestamp("2026-01-02T15:04:05Z")`, "duration": `duration("90s")`,
}

// Usages are the functions of the language, in the order in which help lists them.
func Usages() []Usage {
	var out []Usage
	for _, name := range functionNames {
		u := Usage{Name: name, Method: slices.Contains([]string{"exists", "all", "map", "filter", "contains", "startsWith", "endsWith", "matches", "sortBy"}, name)}
		if b := builtins[name]; b != nil {
			u.Text, u.Method = b.usage, b.method
		}
		if u.Text == "" {
			u.Text = usages[name]
		}
		out = append(out, u)
	}
	return out
}

// builtin types a call of a builtin whose arguments have been checked.
func (c *checker) builtin(n *Node, b *builtin) *schema.Type {
	if len(n.Kids) < b.min || len(n.Kids) > b.max {
		c.arguments(n, fmt.Sprintf("`%s` is called with %d values here", n.Text, len(n.Kids)), "write `"+b.usage+"`")
		return schema.InvalidType
	}
	ok := true
	for _, k := range n.Kids {
		ok = c.need(k).Kind != schema.Invalid && ok
	}
	if !ok {
		return schema.InvalidType
	}
	return b.result(c, n)
}

// wrong reports an argument of another type than the function takes.
func (c *checker) wrong(n, k *Node, needs, help string) *schema.Type {
	c.report(diag.Arguments, k.Lo, k.Hi, help, "`%s` needs %s, this is %s", n.Text, needs, brief(k.Type))
	return schema.InvalidType
}

// texts is the type of a function of texts.
func texts(result *schema.Type) func(c *checker, n *Node) *schema.Type {
	return func(c *checker, n *Node) *schema.Type {
		for i, k := range n.Kids {
			if isText(k.Type) {
				continue
			}
			help := ""
			if i == 0 && textual(k.Type) {
				help = fmt.Sprintf("make text of it: `string(%s)`", k)
			}
			return c.wrong(n, k, "string", help)
		}
		return result
	}
}

// stringOf types string(x): the text that a template shows for x.
func (c *checker) stringOf(n *Node) *schema.Type {
	k := n.Kids[0]
	switch {
	case k.Type.Kind == schema.Any:
		c.anyOperand(k)
		return schema.InvalidType
	case k.Type.Kind == schema.Bytes: // CEL takes them for UTF-8
		return c.wrong(n, k, "a value other than bytes", "write `\"{{ x }}\"` for their base64")
	case !textual(k.Type):
		return c.wrong(n, k, "a value with a text form", "write `\"{{ x | json }}\"` for its JSON, or take its fields")
	}
	return schema.StringType
}

// items is the type of the items of the list k; nil after a report.
func (c *checker) items(n, k *Node) *schema.Type {
	switch {
	case k.Type.Kind != schema.List:
		c.wrong(n, k, "a list", "")
		return nil
	case k.Type.Elem.Kind == schema.Opt:
		c.report(diag.Arguments, k.Lo, k.Hi, fmt.Sprintf("leave out those that are absent: `%s.filter(x, x != null)`", receiver(k)), "the items of %s may be absent", k)
		return nil
	case k.Type.Elem.Kind == schema.Invalid:
		return nil
	}
	return k.Type.Elem
}

func (c *checker) flatten(n *Node) *schema.Type {
	elem := c.items(n, n.Kids[0])
	if elem == nil {
		return schema.InvalidType
	}
	if elem.Kind != schema.List {
		return c.wrong(n, n.Kids[0], "a list of lists", "remove the call")
	}
	return elem
}

func (c *checker) distinct(n *Node) *schema.Type {
	elem := c.items(n, n.Kids[0])
	switch {
	case elem == nil:
		return schema.InvalidType
	case !isComparable(elem), elem.Kind == schema.Bytes, elem.Kind == schema.Time: // not what == of Go compares
		return c.wrong(n, n.Kids[0], "a list of texts, numbers, bools or durations", "")
	}
	return n.Kids[0].Type
}

// ordered types have an order: those that `<` compares.
func ordered(t *schema.Type) bool {
	return isNumeric(t) || t.Kind == schema.String || t.Kind == schema.Time || t.Kind == schema.Duration
}

func (c *checker) sort(n *Node) *schema.Type {
	elem := c.items(n, n.Kids[0])
	switch {
	case elem == nil:
		return schema.InvalidType
	case !ordered(elem):
		by := "..."
		if textual(elem) {
			by = "string(x)"
		}
		return c.wrong(n, n.Kids[0], "a list of strings, numbers, times or durations", "say by what: `"+receiver(n.Kids[0])+".sortBy(x, "+by+")`")
	}
	return n.Kids[0].Type
}

func (c *checker) reverse(n *Node) *schema.Type {
	if k := n.Kids[0]; k.Type.Kind != schema.List {
		return c.wrong(n, k, "a list", "")
	}
	return n.Kids[0].Type
}

// counts reports the first argument from i on that is not an int.
func (c *checker) counts(n *Node, i int) bool {
	for _, k := range n.Kids[i:] {
		if k.Type.Kind != schema.Int {
			c.wrong(n, k, "int", "")
			return false
		}
	}
	return true
}

func (c *checker) slice(n *Node) *schema.Type {
	if k := n.Kids[0]; k.Type.Kind != schema.List {
		return c.wrong(n, k, "a list", "")
	}
	if !c.counts(n, 1) {
		return schema.InvalidType
	}
	for _, k := range n.Kids[1:] {
		if v, ok := k.Value.(int64); ok && k.Op == Lit && v < 0 {
			return c.report(diag.Arguments, k.Lo, k.Hi, "count from the start: `xs.slice(1, size(xs))`", "`slice` does not count from the end").poison()
		}
	}
	return n.Kids[0].Type
}

func (c *checker) chunk(n *Node) *schema.Type {
	k, size := n.Kids[0], n.Kids[1]
	if k.Type.Kind != schema.List {
		return c.wrong(n, k, "a list", "")
	}
	if !c.counts(n, 1) {
		return schema.InvalidType
	}
	if v, ok := size.Value.(int64); ok && size.Op == Lit && v < 1 {
		return c.report(diag.Arguments, size.Lo, size.Hi, "", "a chunk has at least one item").poison()
	}
	return schema.ListOf(k.Type)
}

func (c *checker) sum(n *Node) *schema.Type {
	elem := c.items(n, n.Kids[0])
	switch {
	case elem == nil:
		return schema.InvalidType
	case !isNumeric(elem):
		return c.wrong(n, n.Kids[0], "a list of numbers", "")
	}
	return canonical(elem)
}

// extreme types math.greatest and math.least: of a list, which may be empty, or of several values.
func (c *checker) extreme(n *Node) *schema.Type {
	able := func(t *schema.Type) bool { return isNumeric(t) || t.Kind == schema.Duration }
	if len(n.Kids) == 1 {
		elem := c.items(n, n.Kids[0])
		switch {
		case elem == nil:
			return schema.InvalidType
		case !able(elem) && elem.Kind != schema.Time:
			return c.wrong(n, n.Kids[0], "a list of numbers, times or durations", "")
		}
		return schema.OptOf(canonical(elem), n.Kids[0].String()+" may be empty")
	}
	float := slices.ContainsFunc(n.Kids, func(k *Node) bool { return k.Type.Kind == schema.Float })
	for _, k := range n.Kids {
		if !able(k.Type) {
			return c.wrong(n, k, "numbers or durations", "")
		}
		if float {
			c.floatLiteral(k, schema.FloatType)
		}
		if k.Type.Kind != n.Kids[0].Type.Kind {
			return c.report(diag.Arguments, k.Lo, k.Hi, joinHelp(k.Type, n.Kids[0].Type), "the values of `%s` have one type: %s is not %s", n.Text, brief(k.Type), brief(n.Kids[0].Type)).poison()
		}
	}
	return canonical(n.Kids[0].Type)
}

func (c *checker) rounded(n *Node) *schema.Type {
	k := n.Kids[0]
	if k.Type.Kind != schema.Float {
		help := ""
		if k.Type.Kind == schema.Int {
			help = "an int has no fraction: remove the function"
		}
		return c.wrong(n, k, "float", help)
	}
	return schema.FloatType
}

// poison is the type of what a problem was reported about.
func (p *Problem) poison() *schema.Type { return schema.InvalidType }
