package codegen

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const jsPath = dynamicPath + "/js"

// dynamicBody is the state of emitting the function of a workflow with dynamic data.
type dynamicBody struct {
	g    *generator
	p    *check.Program
	code []jen.Code

	step *check.Step // the node that is being written

	// What references with other roots than the state stand for here.
	roots map[string]jen.Code

	special func(ir.Value) jen.Code // values that the dialect calculates

	fail  []jen.Code           // what is returned before an error
	again map[*check.Step]bool // nodes of pipelines and loops whose variables are declared
	aside bool                 // the flow for nodes side by side is declared
	whole bool                 // something asks for the state as a whole
}

// dynamicBody emits the statements of Body.
func (g *generator) dynamicBody(p *check.Program) []jen.Code {
	if p.WF.Dynamic.Dialect == "sirenspec" {
		return g.contextBody(p)
	}
	b := &dynamicBody{g: g, p: p, roots: map[string]jen.Code{}, again: map[*check.Step]bool{}, fail: []jen.Code{jen.Id("out")}}
	b.add(jen.Var().Id("state").Add(g.goType(p.State)))
	if p == g.p {
		b.add(jen.Defer().Qual(runtimePath, "EndState").Call(jen.Id("run"), jen.Op("&").Id("state")))
	}
	flow := jen.Qual(experiencePath, "New").Custom(parens(len(p.WF.State) > 0), b.slots()...)
	if p.WF.Dynamic.Upstream {
		flow.Dot("Loose").Call()
	}
	b.add(jen.Id("flow").Op(":=").Add(flow))
	for _, ph := range p.Phases {
		switch ph.IR.Kind {
		case ir.PhaseGraph:
			for _, w := range ph.Waves {
				b.gap()
				b.wave(w)
			}
		default:
			b.gap()
			b.rounds(ph)
		}
	}
	b.gap()
	rule := "Status"
	if d := p.WF.Dynamic; d.Upstream && d.Concurrency > 1 {
		rule = "StatusOfWaves"
	}
	b.add(jen.Return(jen.Add(g.goType(p.Output)).Values(
		field("Status", jen.Qual(experiencePath, ident(rule)).Call(b.ends()...)), field("FinalState", jen.Id("state"))), jen.Nil()))
	if b.whole || p != g.p { // whoever runs it hands its state on
		g.dynamicSnapshot(p)
	}
	return b.code
}

func (b *dynamicBody) add(c ...jen.Code) { b.code = append(b.code, c...) }

// gap is an empty line.
func (b *dynamicBody) gap() { b.add(jen.Line()) }

// slots are the fields of the state as writes see them.
func (b *dynamicBody) slots() []jen.Code { return b.g.slotValues(b.p) }

// dynamicSnapshot declares the method that makes one value of the state.
func (g *generator) dynamicSnapshot(p *check.Program) {
	g.snapshot(p.State)
}

// local is the variable that holds how a step ended. Those that the body itself has are no names of nodes.
func (b *dynamicBody) local(s *check.Step) string {
	name := b.g.p.Names.Locals[s]
	switch name {
	case "flow", "aside", "item", "index", "stage", "text", "i":
		return name + "_"
	}
	if b.g.hides(name) {
		return name + "_"
	}
	return name
}

func (b *dynamicBody) ended(s *check.Step) *jen.Statement { return jen.Id(ident(b.local(s))) }

// ends are how all nodes ended, in file order.
func (b *dynamicBody) ends() []jen.Code {
	var out []jen.Code
	for _, s := range b.p.Body.Steps {
		out = append(out, b.ended(s))
	}
	return out
}

func (b *dynamicBody) node(s *check.Step) jen.Code {
	return jen.Op("&").Id(ident(b.g.p.Names.Nodes[s]))
}

func (b *dynamicBody) returnErr() jen.Code {
	return jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(append(b.fail, jen.Err())...))
}

// wave emits steps that run side by side, or one alone.
func (b *dynamicBody) wave(w []*check.Step) {
	if len(w) == 1 {
		b.alone(w[0])
		return
	}
	var vars, joined []jen.Code
	for _, s := range w {
		vars = append(vars, b.ended(s))
		joined = append(joined, jen.Op("&").Add(b.ended(s)))
	}
	if !b.aside {
		b.aside = true
		b.add(jen.Id("aside").Op(":=").Id("flow").Dot("Aside").Call())
	}
	b.add(jen.Var().List(vars...).Qual(experiencePath, "Ended"))
	branches := []jen.Code{jen.Id("run")}
	for _, s := range w {
		branches = append(branches, jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run")).Params(jen.Err().Error()).BlockFunc(func(body *jen.Group) {
			assign := jen.List(b.ended(s), jen.Err()).Op("=").Add(b.call(s, "aside"))
			if guard := b.guard(s); guard != nil {
				body.If(guard).Block(assign)
			} else {
				body.Add(assign)
			}
			body.Return(jen.Err())
		}))
	}
	b.add(jen.Err().Op("=").Qual(runtimePath, "Parallel").Custom(parens(true), branches...))
	b.add(b.returnErr())
	b.add(jen.If(jen.Err().Op(":=").Id("flow").Dot("Join").Call(append([]jen.Code{jen.Id("run")}, joined...)...), jen.Err().Op("!=").Nil()).
		Block(jen.Return(append(b.fail, jen.Err())...)))
}

// alone emits a step that runs by itself.
func (b *dynamicBody) alone(s *check.Step) {
	guard := b.guard(s)
	if guard == nil {
		b.add(jen.List(b.ended(s), jen.Err()).Op(":=").Add(b.call(s, "flow")), b.returnErr())
		return
	}
	b.add(jen.Var().Add(b.ended(s)).Qual(experiencePath, "Ended"))
	b.add(jen.If(guard).Block(jen.List(b.ended(s), jen.Err()).Op("=").Add(b.call(s, "flow")), b.returnErr()))
}

// guard is when a step runs: every step before it has done well, and every condition holds. Nil: always.
func (b *dynamicBody) guard(s *check.Step) *jen.Statement {
	var out *jen.Statement
	and := func(c jen.Code) {
		if out == nil {
			out = jen.Add(c)
			return
		}
		out.Op("&&").Add(c)
	}
	asked := map[*check.Step]bool{}
	s.Routes(func(from *check.Step, r *ir.Route) {
		if !asked[from] {
			asked[from] = true
			and(b.ended(from).Dot("OK").Call())
		}
	})
	s.Routes(func(_ *check.Step, r *ir.Route) {
		if r.When != nil {
			and(b.truth(r.When, 2))
		}
	})
	for _, p := range s.Node.Dynamic.Whens {
		and(b.truth(p, 2))
	}
	return out
}

// truth is a condition as a Go condition. above is how tightly the operator around it binds: 0 for none, 1 for ||, 2 for
// &&.
func (b *dynamicBody) truth(c *ir.Predicate, above int) jen.Code {
	switch c.Op {
	case "&&", "||":
		own := map[string]int{"||": 1, "&&": 2}[c.Op]
		out := jen.Add(b.truth(c.Kids[0], own)).Op(operator(c.Op)).Add(b.truth(c.Kids[1], own))
		if own < above {
			return jen.Parens(out)
		}
		return out
	case "ref", "const", "length":
		if c.Op == "const" && c.Lit.Tag == "!!bool" {
			return jen.Lit(c.Lit.Text.Value == "true")
		}
		return jen.Qual(jsPath, "True").Call(b.operand(c))
	}
	return jen.Qual(jsPath, ident(comparisons[c.Op])).Call(b.operand(c.Kids[0]), b.operand(c.Kids[1]))
}

var comparisons = map[string]string{"==": "Equal", "!=": "NotEqual", "<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"}

// operand is a side of a comparison.
func (b *dynamicBody) operand(c *ir.Predicate) jen.Code {
	switch c.Op {
	case "ref":
		f, path := b.root(c.Ref)
		if len(path) == 0 {
			return f
		}
		return jen.Qual(jsPath, "At").Call(append([]jen.Code{f}, quoteAll(path)...)...)
	case "const":
		return b.scalar(c.Lit)
	case "length":
		return jen.Qual(jsPath, "Length").Call(b.operand(c.Kids[0]))
	}
	return jen.Qual(dynamicPath, "Flag").Call(b.truth(c, 0))
}

// root is where a reference begins, and the path that is left below it.
func (b *dynamicBody) root(r *ir.Reference) (jen.Code, []string) {
	switch r.Root {
	case "state":
	case "args":
		for _, e := range b.step.Node.Dynamic.Args.Entries {
			if e.Key.Name == r.Path[0] {
				return b.value(e.Value), r.Path[1:]
			}
		}
	case "edges":
		var edge jen.Code
		b.step.Routes(func(from *check.Step, _ *ir.Route) {
			if from.Node.ID.Name == r.Path[0] {
				edge = b.ended(from).Dot("Edge")
			}
		})
		return edge, r.Path[1:]
	default:
		if c := b.roots[r.Root]; c != nil {
			return c, r.Path
		}
		return jen.Qual(dynamicPath, "Field").Values(), nil
	}
	for i, s := range b.p.WF.State {
		if len(r.Path) > 0 && s.Name.Name == r.Path[0] {
			return jen.Id("state").Dot(ident(fieldName(b.p.State.Fields[i]))), r.Path[1:]
		}
	}
	return jen.Qual(dynamicPath, "Field").Values(), nil // check has warned about it
}

// value is a value of the file as a field.
func (b *dynamicBody) value(v ir.Value) jen.Code {
	switch v := v.(type) {
	case *ir.Reference:
		f, path := b.root(v)
		if len(path) == 0 {
			return f
		}
		return jen.Add(f).Dot("At").Call(quoteAll(path)...)
	case *ir.Scalar:
		return b.scalar(v)
	case *ir.Calc, *ir.Mixed:
		return b.special(v)
	case *ir.List:
		var items []jen.Code
		for _, x := range v.Items {
			items = append(items, b.value(x))
		}
		return jen.Qual(dynamicPath, "List").Custom(parens(len(items) > 4), items...)
	case *ir.Object:
		return jen.Qual(dynamicPath, "Object").Custom(parens(len(v.Entries) > 2), b.entries(v)...)
	}
	return jen.Qual(dynamicPath, "Null").Call()
}

func (b *dynamicBody) entries(o *ir.Object) []jen.Code {
	var out []jen.Code
	if o == nil {
		return nil
	}
	for _, e := range o.Entries {
		out = append(out, put(e.Key.Name, b.value(e.Value)))
	}
	return out
}

// scalar is a constant as a field. The parser has put numbers and booleans into the spelling of Go.
func (b *dynamicBody) scalar(v *ir.Scalar) jen.Code {
	text := v.Text.Value
	switch v.Tag {
	case "!!null":
		return jen.Qual(dynamicPath, "Null").Call()
	case "!!bool":
		return jen.Qual(dynamicPath, "Flag").Call(jen.Lit(text == "true"))
	case "!!int":
		return jen.Qual(dynamicPath, "Whole").Call(jen.Op(numeral(text)))
	case "!!float":
		if f, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, ".e") && f == float64(int64(f)) {
			text += ".0"
		}
		return jen.Qual(dynamicPath, "Number").Call(jen.Op(numeral(text)))
	}
	return jen.Qual(dynamicPath, "Text").Call(quote(text))
}
