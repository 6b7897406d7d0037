package codegen

import (
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/goname"
)

const jinjaPath = dynamicPath + "/jinja"

// A template writes the Go of the texts of a prompt.
type template struct {
	g     *generator
	recv  string            // the text that grows
	names map[string]string // what the template's names are called in Go here
	taken map[string]bool   // Go names of this function
}

// declare gives a name of the template one in Go.
func (t *template) declare(name string) string {
	id := goname.Local(name)
	for t.taken[id] || t.g.hides(id) || t.g.packageLevel(id) {
		id += "_"
	}
	t.taken[id] = true
	t.names[name] = id
	return id
}

// whole is a text. Names that it sets are its own.
func (t *template) whole(p *ir.PromptTemplate) []jen.Code {
	sets := t.sets(p.Body)
	if len(sets) == 0 {
		return t.nodes(p.Body)
	}
	saved := maps.Clone(t.names)
	code := append(t.own(sets), t.nodes(p.Body)...)
	t.names = saved
	return []jen.Code{jen.Block(code...)}
}

// sets are the names that nodes set outside of loops and that something reads.
func (t *template) sets(list []ir.PromptNode) []string {
	var out []string
	var walk func(list []ir.PromptNode)
	walk = func(list []ir.PromptNode) {
		for _, n := range list {
			switch n := n.(type) {
			case *ir.PromptSet:
				out = append(out, n.Name.Name)
				walk(n.Body)
			case *ir.PromptIf:
				for _, c := range n.Cases {
					walk(c.Body)
				}
				walk(n.Else)
			}
		}
	}
	walk(list)
	seen := map[string]bool{}
	unique := out[:0]
	for _, name := range out {
		if !seen[name] {
			seen[name] = true
			unique = append(unique, name)
		}
	}
	return unique
}

// own declares names that are set in a scope of their own.
func (t *template) own(names []string) []jen.Code {
	var out []jen.Code
	for _, name := range names {
		before := t.names[name]
		id := t.declare(name)
		if before != "" {
			out = append(out, jen.Id(ident(id)).Op(":=").Id(ident(before)))
		} else {
			out = append(out, jen.Var().Id(ident(id)).Qual(dynamicPath, "Field"))
		}
		out = append(out, jen.Id("_").Op("=").Id(ident(id)))
	}
	return out
}

func (t *template) on(method string, args ...jen.Code) *jen.Statement {
	return jen.Id(ident(t.recv)).Dot(ident(method)).Call(args...)
}

func (t *template) nodes(list []ir.PromptNode) []jen.Code {
	var out []jen.Code
	for _, n := range list {
		switch n := n.(type) {
		case *ir.PromptText:
			out = append(out, t.on("Add", quote(n.Lit)))
		case *ir.PromptShow:
			out = append(out, t.show(n))
		case *ir.PromptIf:
			out = append(out, t.choice(n))
		case *ir.PromptFor:
			out = append(out, t.loop(n)...)
		case *ir.PromptSet:
			out = append(out, jen.Id(ident(t.names[n.Name.Name])).Op("=").Add(t.given(n)))
		}
	}
	return out
}

func (t *template) show(n *ir.PromptShow) jen.Code {
	switch {
	case n.Kept:
		return t.on("Keep", t.value(n.X), quote("{"+n.X.Name+"}"))
	case n.Joined || n.Spec != "":
		return t.on("Put", t.value(n.X), quote(n.Spec))
	}
	return t.on("Show", t.value(n.X))
}

// given is what a name is set to.
func (t *template) given(n *ir.PromptSet) jen.Code {
	if n.X != nil {
		return t.value(n.X)
	}
	outer := t.recv
	t.recv = "inner"
	body := t.nodes(n.Body)
	t.recv = outer
	return jen.Id(ident(outer)).Dot("Inner").Call(jen.Func().Params(jen.Id("inner").Op("*").Qual(jinjaPath, "Text")).Block(body...))
}

func (t *template) choice(n *ir.PromptIf) jen.Code {
	var out *jen.Statement
	for _, c := range n.Cases {
		if out == nil {
			out = jen.If(t.truth(c.Test, 0))
		} else {
			out.Else().If(t.truth(c.Test, 0))
		}
		out.Block(t.nodes(c.Body)...)
	}
	if len(n.Else) > 0 {
		out.Else().Block(t.nodes(n.Else)...)
	}
	return out
}

// loop is a loop over the items of a value.
func (t *template) loop(n *ir.PromptFor) []jen.Code {
	var out []jen.Code
	items := jen.Code(t.on("Items", t.value(n.Over)))
	saved := t.names
	taken := maps.Clone(t.taken)
	if n.Where != nil {
		t.names = maps.Clone(saved)
		bind, body := t.bind(n, "item", false)
		items = t.on("Where", items, jen.Func().Params(jen.Id(ident(body)).Qual(dynamicPath, "Field")).Bool().Block(append(bind, jen.Return(t.truth(n.Where, 0)))...))
		t.names, t.taken = saved, maps.Clone(taken)
	}
	if len(n.Else) > 0 {
		name := t.fresh("items")
		out = append(out, jen.Id(ident(name)).Op(":=").Add(items))
		items = jen.Id(ident(name))
	}
	t.names = maps.Clone(saved)
	var head *jen.Statement
	var bind []jen.Code
	variable := "item"
	switch {
	case n.Loop:
		variable = "loop"
		bind, _ = t.bind(n, "loop.Item", true)
		head = jen.For(jen.List(jen.Id("_"), jen.Id("loop")).Op(":=").Range().Qual(jinjaPath, "Loops").Call(items))
	default:
		bind, variable = t.bind(n, "item", true)
		head = jen.For(jen.List(jen.Id("_"), jen.Id(ident(variable))).Op(":=").Range().Add(items))
		if variable == "_" {
			head = jen.For(jen.Range().Add(items))
		}
	}
	body := append(bind, t.own(t.sets(n.Body))...)
	body = append(body, t.nodes(n.Body)...)
	t.names, t.taken = saved, taken
	out = append(out, head.Block(body...))
	if len(n.Else) > 0 {
		out = append(out, jen.If(jen.Len(items).Op("==").Lit(0)).Block(t.nodes(n.Else)...))
		return []jen.Code{jen.Block(out...)}
	}
	return out
}

// fresh is a Go name that nothing here has.
func (t *template) fresh(name string) string {
	for t.taken[name] || t.g.hides(name) || t.g.packageLevel(name) {
		name += "_"
	}
	t.taken[name] = true
	return name
}

// bind gives the names of a loop their values. item is the variable of the loop when it is not a name of its own.
func (t *template) bind(n *ir.PromptFor, item string, body bool) (code []jen.Code, variable string) {
	ids := make([]string, len(n.Names))
	any := false
	for i, id := range n.Names {
		if ids[i] = "_"; body && reads(n.Body, id.Name) || !body && readsExpr(n.Where, id.Name) {
			ids[i] = t.declare(id.Name)
			any = true
		}
	}
	source := jen.Id("loop").Dot("Item")
	if item != "loop.Item" {
		source = jen.Id(ident(item))
	}
	switch {
	case len(ids) == 1 && item == "item":
		return nil, ids[0]
	case len(ids) == 1 && !any:
		return nil, item
	case len(ids) == 1:
		return []jen.Code{jen.Id(ident(ids[0])).Op(":=").Add(source)}, item
	}
	if item == "item" {
		item = t.fresh("item")
		source = jen.Id(ident(item))
	}
	if !any {
		return []jen.Code{t.on("Pair", source)}, item
	}
	return []jen.Code{jen.List(jen.Id(ident(ids[0])), jen.Id(ident(ids[1]))).Op(":=").Add(t.on("Pair", source))}, item
}

// readsExpr reports whether an expression has a name in it.
func readsExpr(x *ir.PromptExpr, name string) bool {
	found := false
	x.Walk(func(x *ir.PromptExpr) bool {
		found = found || x.Op == "name" && x.Name == name
		return !found
	})
	return found
}

// reads reports whether nodes read a name of the scope around them: not one that a loop of theirs has, too.
func reads(list []ir.PromptNode, name string) bool {
	return slices.ContainsFunc(list, func(n ir.PromptNode) bool {
		switch n := n.(type) {
		case *ir.PromptShow:
			return readsExpr(n.X, name)
		case *ir.PromptIf:
			for _, c := range n.Cases {
				if readsExpr(c.Test, name) || reads(c.Body, name) {
					return true
				}
			}
			return reads(n.Else, name)
		case *ir.PromptFor:
			own := slices.ContainsFunc(n.Names, func(id ir.Ident) bool { return id.Name == name })
			return readsExpr(n.Over, name) || !own && (readsExpr(n.Where, name) || reads(n.Body, name)) || reads(n.Else, name)
		case *ir.PromptSet:
			return readsExpr(n.X, name) || reads(n.Body, name)
		}
		return false
	})
}

var (
	arithmetic = map[string]string{"+": "Plus", "-": "Minus", "*": "Times", "/": "Divide", "//": "FloorDivide", "%": "Modulo", "**": "Power", "~": "Concat"}
	ordering   = map[string]string{"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
)

func absent() jen.Code { return jen.Qual(jinjaPath, "Undefined") }

// value is an expression as a field.
func (t *template) value(x *ir.PromptExpr) jen.Code {
	if x == nil {
		return absent()
	}
	kids := func(list []*ir.PromptExpr) []jen.Code {
		var out []jen.Code
		for _, k := range list {
			out = append(out, t.value(k))
		}
		return out
	}
	lazy := func(k *ir.PromptExpr) jen.Code {
		if k == nil {
			return jen.Nil()
		}
		return jen.Func().Params().Qual(dynamicPath, "Field").Block(jen.Return(t.value(k)))
	}
	switch x.Op {
	case "name":
		if id := t.names[x.Name]; id != "" {
			return jen.Id(ident(id))
		}
		return absent()
	case "const":
		return (&dynamicBody{}).scalar(x.Lit)
	case "loop":
		return jen.Id("loop").Dot(ident(goname.Exported(x.Name))).Call(kids(x.Kids)...)
	case "attr":
		return t.on("Attr", t.value(x.Kids[0]), quote(x.Name))
	case "item":
		return t.on("Item", kids(x.Kids)...)
	case "slice":
		return t.on("Slice", kids(x.Kids)...)
	case "filter":
		return t.filter(x, kids(x.Kids))
	case "method":
		list := kids(x.Kids)
		return t.on("Method", append([]jen.Code{list[0], quote(x.Name)}, list[1:]...)...)
	case "call":
		return t.on(goname.Exported(x.Name), kids(x.Kids)...)
	case "list":
		return jen.Qual(dynamicPath, "List").Call(kids(x.Kids)...)
	case "dict":
		var entries []jen.Code
		for i := 0; i+1 < len(x.Kids); i += 2 {
			entries = append(entries, put(x.Kids[i].Lit.Text.Value, t.value(x.Kids[i+1])))
		}
		return jen.Qual(dynamicPath, "Object").Call(entries...)
	case "if":
		return jen.Qual(jinjaPath, "If").Call(t.truth(x.Kids[0], 0), lazy(x.Kids[1]), lazy(x.Kids[2]))
	case "and":
		return jen.Qual(jinjaPath, "And").Call(t.value(x.Kids[0]), lazy(x.Kids[1]))
	case "or":
		return jen.Qual(jinjaPath, "Or").Call(t.value(x.Kids[0]), lazy(x.Kids[1]))
	case "neg":
		return t.on("Negative", t.value(x.Kids[0]))
	}
	if method := arithmetic[x.Op]; method != "" {
		return t.on(method, kids(x.Kids)...)
	}
	return jen.Qual(dynamicPath, "Flag").Call(t.truth(x, 0))
}

func (t *template) filter(x *ir.PromptExpr, list []jen.Code) jen.Code {
	full := func(n int) []jen.Code {
		for len(list) < n {
			list = append(list, absent())
		}
		return list
	}
	switch x.Name {
	case "default", "d":
		return jen.Qual(jinjaPath, "Default").Call(full(3)...)
	case "join":
		return t.on("Join", full(3)...)
	case "length", "count":
		return t.on("Length", list...)
	case "tojson":
		return t.on("JSON", full(2)...)
	}
	return t.on("Filter", append([]jen.Code{quote(x.Name)}, list...)...)
}

// truth is an expression as a Go condition. above is how tightly the operator around it binds: 0 for none, 1 for ||, 2 for
// &&, 3 for !.
func (t *template) truth(x *ir.PromptExpr, above int) jen.Code {
	not := func(c jen.Code) jen.Code { return jen.Op("!").Add(c) }
	switch x.Op {
	case "and", "or":
		own, op := 2, "&&"
		if x.Op == "or" {
			own, op = 1, "||"
		}
		out := jen.Add(t.truth(x.Kids[0], own)).Op(operator(op)).Add(t.truth(x.Kids[1], own))
		if above > own {
			return jen.Parens(out)
		}
		return out
	case "not":
		return not(t.truth(x.Kids[0], 3))
	case "const":
		if x.Lit.Tag == "!!bool" {
			return jen.Lit(x.Lit.Text.Value == "true")
		}
	case "==":
		return jen.Qual(jinjaPath, "Equal").Call(t.value(x.Kids[0]), t.value(x.Kids[1]))
	case "!=":
		return not(jen.Qual(jinjaPath, "Equal").Call(t.value(x.Kids[0]), t.value(x.Kids[1])))
	case "<", "<=", ">", ">=":
		return t.on(ordering[x.Op], t.value(x.Kids[0]), t.value(x.Kids[1]))
	case "test":
		return t.test(x)
	}
	return jen.Qual(pyPath, "True").Call(t.value(x))
}

func (t *template) test(x *ir.PromptExpr) jen.Code {
	v := t.value(x.Kids[0])
	switch x.Name {
	case "defined":
		return jen.Add(v).Dot("Present").Call()
	case "undefined":
		return jen.Op("!").Add(v).Dot("Present").Call()
	case "in":
		return t.on("In", v, t.value(x.Kids[1]))
	case "divisibleby":
		return t.on("Divisible", v, t.value(x.Kids[1]))
	case "eq", "sameas":
		return jen.Qual(jinjaPath, "Equal").Call(v, t.value(x.Kids[1]))
	case "ne":
		return jen.Op("!").Qual(jinjaPath, "Equal").Call(v, t.value(x.Kids[1]))
	case "lt", "le", "gt", "ge":
		return t.on(ordering[x.Name], v, t.value(x.Kids[1]))
	}
	return t.on("Is", v, quote(x.Name))
}
