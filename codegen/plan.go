package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// block writes the statements of one Go block.
type block struct {
	fn     *function
	code   []jen.Code
	scope  *scope
	layout *layout
	fail   func(err jen.Code) []jen.Code // leaves the function with an error
	node   *check.Step                   // whose values are being written: run.Fail names it
	last   jen.Code                      // a statement that leaves the function with err and else goes on,
	end    []jen.Code                    // and what it is as the last one of a function that returns err
	outer  bool                          // it asks for an err that is declared outside of the block
	sig    *schema.Signature             // of the Lambda that is being written; nil: of a workflow
}

// block opens the outermost block of a function whose results are (out, err).
func (fn *function) block(parent *scope) *block {
	s := &scope{}
	if parent != nil {
		s = parent.child()
	}
	return &block{fn: fn, scope: s, fail: returnOut}
}

func returnOut(err jen.Code) []jen.Code { return []jen.Code{jen.Return(jen.Id("out"), err)} }

func returnErr(err jen.Code) []jen.Code { return []jen.Code{jen.Return(err)} }

func (b *block) add(c ...jen.Code) { b.code = append(b.code, c...) }

// gap leaves a blank line before the next statement.
func (b *block) gap() {
	if len(b.code) > 0 {
		b.code = append(b.code, jen.Line())
	}
}

// inner opens a block inside b that leaves the same function.
func (b *block) inner(s *scope) *block {
	return &block{fn: b.fn, scope: s, layout: b.layout, fail: b.fail, node: b.node, sig: b.sig}
}

// run writes a body's plan; end are the expressions evaluated after it in the same block.
func (b *block) run(body *check.Body, end []*expr.Node) {
	b.layout = b.fn.lay(body, b.scope, end)
	if start := body.Start(); start != nil {
		b.node = start
		b.decisionsAfter(start)
		b.node = nil
	}
	if body.Plan != nil {
		b.plan(body.Plan)
	}
}

// plan writes one plan with the variables that must be declared before it.
func (b *block) plan(p *check.Plan) {
	if p.Kind == check.Seq {
		kids := p.Kids
		for i := 0; i < len(kids); i++ {
			if i > 0 && !(short(kids[i-1]) && short(kids[i])) {
				b.gap()
			}
			if n := b.zeros(kids[i:]); n > 0 {
				i += n - 1
				continue
			}
			b.plan(kids[i])
		}
		return
	}
	switch vars := b.layout.declarations(p, b.scope); len(vars) {
	case 0:
	case 1:
		b.add(jen.Var().Add(vars[0]))
	default:
		b.add(jen.Var().Defs(vars...))
	}
	switch p.Kind {
	case check.Leaf:
		if _, performs := p.Step.Node.Verb.(*ir.Perform); performs {
			b.perform(p)
			return
		}
		b.step(p.Step)
	case check.If:
		b.ifPlan(p)
	case check.Choose:
		b.choose(p)
	case check.Par:
		b.parallel(p)
	case check.Scheduled:
		b.scheduled(p)
	case check.Repeat:
		b.repeat(p)
	default:
		b.stmt(p)
	}
}

// short reports whether a plan is a statement of one line, which stands close to others.
func short(p *check.Plan) bool {
	return p.Kind == check.Assign || p.Kind == check.Effect || p.Kind == check.Next || p.Kind == check.Break || p.Kind == check.Return
}

// ifPlan writes `if cond { ... }`.
func (b *block) ifPlan(p *check.Plan) {
	kid := p.Kids[0]
	in := b.inner(b.layout.scopes[kid])
	if impliedBy(p.Cond, kid) {
		in.plan(kid)
		b.add(in.code...)
		return
	}
	cond := b.cond(p.Cond)
	in.plan(kid)
	b.add(jen.If(cond).Block(in.code...))
}

// impliedBy reports whether a condition says no more than that a decision takes one of the arms that follow.
func impliedBy(c *check.Cond, p *check.Plan) bool {
	if p.Kind != check.Choose || len(c.Any) != 1 || c.Any[0].Ran != nil || c.Any[0].Decision != p.Decision {
		return false
	}
	arms := slices.Concat(p.Arms...)
	for _, k := range arms {
		if !slices.Contains(c.Any[0].Cases, k) {
			return false
		}
	}
	return true
}

// choose writes a decision: `if ... else` for two cases, `switch` for more.
func (b *block) choose(p *check.Plan) {
	bodies := make([][]jen.Code, len(p.Kids))
	for i, k := range p.Kids {
		in := b.inner(b.layout.scopes[k])
		in.plan(k)
		bodies[i] = in.code
	}
	d := p.Decision
	if len(d.Cases) == 2 && len(p.Kids) == 2 && d.Kind != check.Switch {
		yes, no := 0, 1
		if p.Arms[0][0] != 0 {
			yes, no = 1, 0
		}
		b.add(jen.If(b.caseTest(d, []int{0})).Block(bodies[yes]...).Else().Block(bodies[no]...))
		return
	}
	if d.Kind == check.Outcome {
		b.chooseOutcome(p, bodies)
		return
	}
	if d.Kind == check.Switch && d.Expr.Type.Kind == schema.Bool && len(d.Cases) == 2 && len(p.Kids) == 2 {
		yes, no := 0, 1
		if d.Cases[p.Arms[0][0]].Label == "false" || d.Cases[p.Arms[1][0]].Label == "true" {
			yes, no = 1, 0
		}
		b.add(jen.If(b.decisionValue(d)).Block(bodies[yes]...).Else().Block(bodies[no]...))
		return
	}
	b.add(jen.Switch(b.decisionValue(d)).BlockFunc(func(g *jen.Group) {
		for i, cases := range p.Arms {
			if hasDefault(d, cases) {
				continue
			}
			g.Case(b.caseValues(d, cases)...).Block(bodies[i]...)
		}
		for i, cases := range p.Arms {
			if hasDefault(d, cases) {
				b.others(g, p)
				g.Default().Block(bodies[i]...)
			}
		}
		if guarded(d) && b.layout.stops[d] == p {
			b.others(g, p)
			g.Default().Block(b.noCase(d)...)
		}
	}))
}

// others writes the cases that lead nowhere before a default, which must not take them.
func (b *block) others(g *jen.Group, p *check.Plan) {
	taken := map[int]bool{}
	for _, cases := range p.Arms {
		for _, k := range cases {
			taken[k] = true
		}
	}
	var rest []int
	for k, c := range p.Decision.Cases {
		if !taken[k] && !c.Default {
			rest = append(rest, k)
		}
	}
	if len(rest) > 0 {
		g.Case(b.caseValues(p.Decision, rest)...).Block()
	}
}

func hasDefault(d *check.Decision, cases []int) bool {
	for _, k := range cases {
		if d.Cases[k].Default {
			return true
		}
	}
	return false
}

// tested are the cases that choose asks for: one of the arms may be what is left.
func tested(p *check.Plan) [][]int {
	if d := p.Decision; d.Kind == check.Switch {
		return p.Arms
	} else if len(d.Cases) == 2 && len(p.Kids) == 2 {
		return [][]int{{0}}
	}
	out := slices.Clone(p.Arms)
	total := 0
	for _, cases := range p.Arms {
		total += len(cases)
	}
	ok := slices.IndexFunc(p.Arms, func(cases []int) bool { return len(cases) == 1 && cases[0] == 0 })
	if total == len(p.Decision.Cases) && ok >= 0 {
		last := len(out) - 1
		if last == ok {
			last--
		}
		out = slices.Delete(out, last, last+1)
	}
	return out
}

// chooseOutcome writes what follows a step with several catch clauses.
func (b *block) chooseOutcome(p *check.Plan, bodies [][]jen.Code) {
	ok := slices.IndexFunc(p.Arms, func(cases []int) bool { return len(cases) == 1 && cases[0] == 0 })
	left := len(p.Decision.Cases)
	b.add(jen.Switch().BlockFunc(func(g *jen.Group) {
		if ok >= 0 { // first: what comes after it knows that there is an error
			g.Case(b.caseTest(p.Decision, p.Arms[ok])).Block(bodies[ok]...)
			left--
		}
		for i, cases := range p.Arms {
			if i == ok {
				continue
			}
			left -= len(cases)
			switch {
			case ok >= 0 && left == 0:
				g.Default().Block(bodies[i]...)
			case ok >= 0:
				g.Case(b.failedWith(p.Decision, cases)).Block(bodies[i]...)
			default:
				g.Case(b.caseTest(p.Decision, cases)).Block(bodies[i]...)
			}
		}
	}))
}

// parallel writes `flow.Parallel(run, func..., func...)`.
func (b *block) parallel(p *check.Plan) {
	b.collectIn(p)
	args := []jen.Code{jen.Id("run")}
	for _, k := range p.Kids {
		args = append(args, b.branch(k))
	}
	b.fork(jen.Qual(flowPath, "Parallel").Custom(multiline, args...))
	b.joins(p)
}

// fork writes a call that returns an error alone.
func (b *block) fork(c jen.Code) {
	b.leave(jen.If(jen.Err().Op(":=").Add(c), jen.Err().Op("!=").Nil()).Block(b.fail(jen.Err())...), jen.Return(c))
}

// leave adds a statement that leaves the function when there is an error. end is what it is at a function's end.
func (b *block) leave(c jen.Code, end ...jen.Code) {
	b.add(c)
	b.last, b.end = c, end
}

// returns ends a function that returns an error alone.
func (b *block) returns() {
	if n := len(b.code); n > 0 && b.code[n-1] == b.last {
		b.code = append(b.code[:n-1], b.end...)
		return
	}
	b.add(jen.Return(jen.Nil()))
}

// multiline writes call arguments one to a line.
var multiline = jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}

// branch writes one arm of a Parallel or one step of a Graph.
func (b *block) branch(k *check.Plan) jen.Code {
	in := b.inner(b.layout.scopes[k])
	in.fail = returnErr
	in.plan(k)
	result := jen.Params(jen.Err().Error())
	if len(in.code) == 0 {
		result = jen.Error()
	}
	in.returns()
	return jen.Func().Params(jen.Id("run").Op("*").Qual(flowPath, "Run")).Add(result).Block(in.code...)
}

// scheduled writes `flow.Graph(run, flow.Step{...}, ...)`.
func (b *block) scheduled(p *check.Plan) {
	b.collectIn(p)
	args := []jen.Code{jen.Id("run")}
	for i, k := range p.Kids {
		fields := []jen.Code{jen.Id("Node").Op(":").Add(b.fn.node(first(k)))}
		if len(p.After[i]) > 0 {
			var after []jen.Code
			for _, j := range p.After[i] {
				after = append(after, b.fn.node(first(p.Kids[j])))
			}
			fields = append(fields, jen.Id("After").Op(":").Index().Op("*").Qual(flowPath, "Node").Values(after...))
		}
		fields = append(fields, jen.Id("Do").Op(":").Add(b.branch(k)))
		args = append(args, jen.Qual(flowPath, "Step").Values(fields...))
	}
	b.fork(jen.Qual(flowPath, "Graph").Custom(multiline, args...))
	b.joins(p)
}

// first is the step by which a part of a graph is known.
func first(p *check.Plan) *check.Step {
	for p.Kind != check.Leaf {
		p = p.Kids[0]
	}
	return p.Step
}

// either joins conditions with ||.
func either(conds []jen.Code) jen.Code {
	all := jen.Add(conds[0])
	for _, c := range conds[1:] {
		all = all.Op("||").Add(c)
	}
	return all
}

// repeat writes a loop that a back edge closes.
func (b *block) repeat(p *check.Plan) {
	l := p.Loop
	in := b.inner(b.layout.scopes[p.Kids[0]])
	header, i := b.fn.g.loopNode(l), b.fn.counter()
	b.add(b.fn.g.loopComment(l))
	in.add(b.layout.resets(p.Kids[0], in.scope)...)
	in.plan(p.Kids[0])
	var end jen.Code
	if l.When != nil {
		stop := make([]int, 0, len(l.When.Cases)-1)
		for k := range l.When.Cases {
			if k != l.Case {
				stop = append(stop, k)
			}
		}
		end = in.caseTest(l.When, stop)
	}
	var out []jen.Code
	switch { // the edge back is not active when the node it leaves did not run, or failed
	case b.fn.ends[l.From]:
		out = append(out, jen.Op("!").Id(ident(b.fn.ranName(l.From))))
	case l.From.Catch && noResult(l.From):
		out = append(out, jen.Id(ident(b.fn.errName(l.From))).Op("!=").Nil())
	case l.From.Catch:
		out = append(out, jen.Id(ident(b.fn.local(l.From))).Op("==").Nil())
	}
	if end != nil {
		out = append(out, end)
	}
	if len(out) > 0 {
		in.add(jen.If(either(out)).Block(jen.Break()))
	}
	in.iteration(header, i)
	switch {
	case l.Exhausted:
		b.add(jen.For(jen.Id(ident(i)).Op(":=").Range().Lit(l.Max)).Block(in.code...))
	default:
		b.add(jen.For(jen.Id(ident(i)).Op(":=").Lit(0), jen.Empty(), jen.Id(ident(i)).Op("++")).Block(in.code...))
	}
}
