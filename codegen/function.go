package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// workflow emits the type that users call: New, Run and Body.
func (g *generator) workflow() {
	name := g.p.WF.Name.Name
	f := g.file
	f.Line()
	f.Comment("Workflow runs " + plainComment(name) + ". It is safe for concurrent use.")
	f.Type().Id("Workflow").Struct(jen.Id("rt").Op("*").Qual(flowPath, "Runtime"))
	f.Line()
	f.Comment("New reports an error if a secret or capability that " + plainComment(name) + " needs is missing.")
	params, options := g.newParams()
	f.Func().Id("New").Params(params...).
		Params(jen.Op("*").Id("Workflow"), jen.Error()).Block(append(g.loads(),
		jen.List(jen.Id("rt"), jen.Err()).Op(":=").Qual(flowPath, "New").Call(jen.Id("Info"), options),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Op("&").Id("Workflow").Values(jen.Id("rt")), jen.Nil()),
	)...)
	f.Line()
	f.Comment("Run executes the workflow.")
	results := []jen.Code{jen.Id("out").Id("Output"), jen.Err().Error()}
	f.Func().Params(jen.Id("w").Op("*").Id("Workflow")).Id("Run").
		Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("in").Id("Input")).Params(results...).BlockFunc(func(b *jen.Group) {
		b.Id("run").Op(":=").Qual(flowPath, "Start").Call(jen.Id("ctx"), jen.Id("w").Dot("rt"), jen.Id("in"))
		b.Defer().Qual(flowPath, "End").Call(jen.Id("run"), jen.Op("&").Id("out"), jen.Op("&").Err())
		if constrained(g.p.Input, 0) {
			b.If(jen.Err().Op(":=").Qual(valuePath, "Validate").Call(jen.Id("in")), jen.Err().Op("!=").Nil()).Block(
				jen.Return(jen.Id("out"), jen.Err()))
		}
		b.Return(jen.Id("w").Dot("Body").Call(jen.Id("run"), jen.Id("in")))
	})
	f.Line()
	f.Comment("Body is the workflow itself, for engines and for tests; Run wraps it.")
	f.Func().Params(jen.Id("w").Op("*").Id("Workflow")).Id("Body").
		Params(jen.Id("run").Op("*").Qual(flowPath, "Run"), jen.Id("in").Id("Input")).Params(results...).
		Block(g.statements(g.p)...)
}

// statements are those of the function of a workflow.
func (g *generator) statements(p *check.Program) []jen.Code {
	return g.body(p)
}

// constrained reports whether values of a type can be wrong although Go's types hold: enums, bounds, patterns.
func constrained(t *schema.Type, depth int) bool {
	if t == nil || depth > 20 {
		return false
	}
	for _, f := range t.Fields {
		if constraints(f) != "" || constrained(f.Type, depth+1) {
			return true
		}
	}
	return constrained(t.Elem, depth+1)
}

// function emits a sub-workflow.
func (g *generator) function(p *check.Program) {
	name := g.p.Names.Bodies[p]
	g.file.Line()
	g.file.Add(comment(name + " is the workflow " + p.WF.Name.Name + "."))
	g.file.Func().Id(ident(name)).Params(jen.Id("run").Op("*").Qual(flowPath, "Run"), jen.Id("in").Add(g.goType(p.Input))).
		Params(jen.Id("out").Add(g.goType(p.Output)), jen.Err().Error()).Block(g.statements(p)...)
}

// body emits the statements of a workflow's function.
func (g *generator) body(p *check.Program) []jen.Code {
	fn := &function{g: g, p: p, body: p.Body, names: map[string]bool{}, vars: map[variable]*place{}, used: map[variable]bool{}, ends: map[*check.Step]bool{}, hoisted: map[*check.Decision]string{}, guards: map[jen.Code]*guard{}, whole: map[*check.Step]bool{}}
	fn.reserve(p.Body)
	b := fn.block(nil)
	if p.Undoes() {
		b.add(jen.Id("run").Op("=").Id("run").Dot("Undoing").Call())
		b.add(jen.Defer().Id("run").Dot("Undo").Call(jen.Op("&").Err()))
		b.gap()
	}
	if p.WF.Outcome.Always {
		b.fail = func(err jen.Code) []jen.Code { return []jen.Code{jen.Return(fn.ended(err), err)} }
		defer func() { fn.declareEnded() }()
	}
	if p.State != nil {
		b.state()
	}
	declared := len(b.code)
	var refs []*expr.Node
	if !p.Body.Plan.Ends() || p.WF.Outcome.Always { // else no line returns the outputs
		for _, o := range p.Outputs {
			ir.ValueExpressions(o.Value.Value, func(n *expr.Node) { refs = append(refs, n) })
		}
	}
	fn.outputs = refs
	b.run(p.Body, refs)
	if !p.Body.Plan.Ends() {
		b.gap()
		b.result(g.goType(p.Output), p.Outputs)
	}
	if p.State == nil || mentions(b.code[declared:], "state") {
		return b.code
	}
	// Nothing of the workflow itself uses it; a sub-workflow has its own. Whether a field was set may still be asked.
	own := 1
	if p == g.p {
		own = 2 // with the line that tells the state
	}
	if declared > own+1 {
		return b.code[own:]
	}
	return b.code[declared:]
}

// state declares the workflow's state with its initial values.
func (b *block) state() {
	p := b.fn.p
	var fields []jen.Code
	for _, s := range p.WF.State {
		var v jen.Code
		switch {
		case s.Open && s.Given:
			v = jen.Id("in").Dot(ident(fieldName(p.Input.Field(s.Name.Name))))
		case s.Open:
			continue
		case s.Init != nil:
			v = b.constant(s.Init, s.Type)
		case s.Type.Kind == schema.List, s.Type.Kind == schema.Map: // empty, and not null in JSON
			v = jen.Add(b.fn.g.goType(s.Type)).Values()
		default:
			continue
		}
		fields = append(fields, field(fieldName(p.State.Field(s.Name.Name)), v))
	}
	if p.State.Open && len(fields) == 0 {
		b.add(jen.Var().Id("state").Add(b.fn.g.goType(p.State)))
	} else {
		b.add(jen.Id("state").Op(":=").Add(b.fn.g.goType(p.State)).Custom(braces(len(fields) > 3), fields...))
	}
	if p == b.fn.g.p {
		b.add(jen.Defer().Qual(flowPath, "EndState").Call(jen.Id("run"), jen.Op("&").Id("state")))
	}
	for _, s := range p.WF.State {
		if s.Merge.Kind == ir.MergeSetOnce && b.fn.setsField(s) {
			b.add(jen.Var().Id(ident(b.fn.onceName(s))).Bool())
		}
	}
	b.gap()
}

func (fn *function) setsField(s *ir.State) bool {
	for _, t := range fn.p.Body.All() {
		for _, x := range t.Sets {
			if x.State == s {
				return true
			}
		}
	}
	return false
}

// result returns the workflow's output.
func (b *block) result(typ jen.Code, outputs []*check.Argument) {
	switch {
	case b.fn.p.WF.Outcome.Always:
		b.add(jen.Return(b.fn.ended(jen.Nil()), jen.Nil()))
		return
	case len(outputs) == 0:
		b.add(jen.Return(jen.Id("out"), jen.Nil()))
		return
	}
	if stateWhole(b.fn.p) {
		b.add(jen.Return(jen.Add(typ).Call(jen.Id("state")), jen.Nil()))
		return
	}
	b.add(jen.Return(b.structLiteral(typ, outputs), jen.Nil()))
}

// stateWhole reports whether a workflow gives its open state, field by field.
func stateWhole(p *check.Program) bool {
	if p.State == nil || !p.State.Open || len(p.Outputs) != len(p.State.Fields) {
		return false
	}
	for i, o := range p.Outputs {
		v, ok := o.Value.Value.(*ir.Expr)
		f := p.State.Fields[i]
		if !ok || v.Node.Path() != "state."+f.Name || fieldName(o.Field) != fieldName(f) || !schema.Equal(o.Field.Type, f.Type) {
			return false
		}
	}
	return true
}

// function is the state of emitting one Go function that holds a workflow.
type function struct {
	writing *check.Step // the step whose values are being written
	g       *generator
	p       *check.Program
	body    *check.Body
	names   map[string]bool // locals in use
	results map[string]bool // locals that hold results

	vars    map[variable]*place
	used    map[variable]bool    // some of the code reads it
	ends    map[*check.Step]bool // a loop of edges goes on only when they ran
	hoisted map[*check.Decision]string
	once    map[*ir.State]string
	done    map[*check.Step]string // whether the step succeeded
	unread  *check.Step            // the only node of a loop whose result nobody reads
	whole   map[*check.Step]bool   // something reads the step's result otherwise than field by field

	armWrites  map[*check.SetState]string // lists of what parallel arms write
	itemWrites map[*ir.State]string       // lists of what the map item being written writes

	outputs []*expr.Node // what the workflow returns

	params map[*schema.Field]jen.Code // what a prompt file takes, while its text is written

	guards map[jen.Code]*guard // in the function, by their ifs

	outers int // how often an error went to an err that was declared before

	called map[string]string // of a text function: its variables, by the names that its statements have for them

	own map[*check.Step]string // loops whose own result has another name while their body is written
}

// reserve takes the names of all results, so that helper variables avoid them.
func (fn *function) reserve(b *check.Body) {
	fn.results = map[string]bool{}
	for _, s := range b.All() {
		fn.results[fn.local(s)] = true
	}
	for _, s := range b.All() {
		for _, name := range []string{fn.local(s), fn.errName(s), fn.ranName(s), fn.failuresName(s), fn.receiptsName(s)} {
			fn.names[name] = true
		}
		for _, v := range s.Vars {
			fn.names[fn.varName(v)] = true
		}
	}
	for _, l := range b.Locals {
		fn.names[fn.localName(l)] = true
	}
	for f := range b.Lambdas {
		for _, p := range f.Params {
			fn.names[p.Name] = true
		}
	}
}

// local is the variable that holds a step's result.
func (fn *function) local(s *check.Step) string { return fn.escape(fn.g.p.Names.Locals[s]) }

func (fn *function) varName(v *check.Var) string { return fn.escape(fn.g.p.Names.Vars[v]) }

// escape keeps a local from hiding an imported package.
func (fn *function) escape(name string) string {
	if fn.g.hides(name) {
		return name + "_"
	}
	return name
}

// errName holds the error of a step with catch.
func (fn *function) errName(s *check.Step) string { return fn.local(s) + "Err" }

func (fn *function) ranName(s *check.Step) string {
	name := fn.local(s) + "Ran"
	for fn.results[name] { // of a node whose id ends in _ran
		name += "_"
	}
	return name
}

func (fn *function) failuresName(s *check.Step) string { return fn.local(s) + "Failures" }
func (fn *function) receiptsName(s *check.Step) string { return fn.local(s) + "Receipts" }

// fresh makes a local that nothing else uses, and that hides nothing the file declares. Where the hint is taken, the node whose values are being written tells the
// two apart.
func (fn *function) fresh(hint string) string {
	taken := func(name string) bool { return fn.names[name] || fn.g.packageLevel(name) }
	name := fn.escape(goname.Local(hint))
	if taken(name) && fn.writing != nil {
		name = fn.escape(goname.Local(fn.writing.Node.ID.Name + "_" + hint))
	}
	for taken(name) {
		name += "_"
	}
	fn.names[name] = true
	fn.g.localNames()[name] = true
	return name
}

func (fn *function) node(s *check.Step) jen.Code {
	if fn.g.p.Names.Nodes[s] == "" {
		return fn.g.startNode(fn.p, s)
	}
	return jen.Op("&").Id(ident(fn.g.p.Names.Nodes[s]))
}
