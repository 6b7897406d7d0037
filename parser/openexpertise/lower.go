package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A lowering translates an experience to a Block: what its engine makes of values, failures and writes are functions of
// package runtime/openexpertise.
type lowering struct {
	*parser
	nodes map[*Node]*ir.Node // of the Block, by those of the tree
	local map[*Node]string   // what is said of how they ended
	sides bool               // the flow for nodes in parallel is declared
	items map[string]bool    // locals that hold the items of pipelines

	roots  map[string]*expr.Node // what loop variables stand for here
	stage  []expr.Entry          // what the node before in the round handed on
	staged bool                  // the node is one of a round
	phase  *Phase
}

// lower translates the experience; its tree is kept for convert. After a mistake in the edges the nodes are in the order of the
// file.
func (p *parser) lower(o *dialect.Order, sorted bool) {
	wf, tree := *p.wf, p.tree
	tree.Workflow = &wf
	l := &lowering{parser: p, nodes: map[*Node]*ir.Node{}, local: map[*Node]string{}, roots: map[string]*expr.Node{}, items: map[string]bool{}}
	p.wf.Body = ir.Body{Span: tree.Body.Span}
	for _, s := range p.wf.State {
		s.Open = true
	}
	for _, n := range tree.Nodes {
		l.nodes[n], l.local[n] = n.made(), l.name(n.ID.Name)
		p.wf.Body.Nodes = append(p.wf.Body.Nodes, l.nodes[n])
	}
	p.wf.Body.Block = ir.Block{}
	if !sorted {
		o = &dialect.Order{Nodes: o.Nodes}
		for _, n := range tree.Nodes {
			n.Routes = nil
		}
	}
	l.block(o)
	for _, n := range tree.Nodes {
		for _, r := range n.Routes {
			e := &ir.Edge{From: r.From, To: []ir.Ident{r.To}, Span: r.Span}
			if r.When != nil {
				e.When = &ir.Expr{Text: source.Text{Value: r.When.String(), Span: r.When.Span}}
			}
			p.wf.Body.Edges = append(p.wf.Body.Edges, e)
		}
	}
	status := expr.Invoke(fnStatus, expr.Read("job"), expr.Read("error"))
	if tree.Upstream && tree.Concurrency > 1 {
		status = expr.Invoke(fnStatusOfWaves, expr.Read("job"), expr.Read("error"), expr.Const(int64(len(tree.Nodes))))
	}
	p.wf.Outcome = ir.Outcome{Always: true, Status: true}
	output := func(name string, v *expr.Node) {
		p.wf.Output = append(p.wf.Output, &ir.Output{Name: ir.Ident{Name: name, Span: p.wf.Name.Span}, Value: of(v)})
	}
	output("status", status)
	output("finalState", expr.Read("state"))
}

func of(n *expr.Node) *ir.Expr { return &ir.Expr{Node: n} }

func ident(name string) ir.Ident { return ir.Ident{Name: name} }

// name is the local of a node: its id, which gives way to the locals of the Block and to the names of its expressions.
func (l *lowering) name(id string) string {
	switch id {
	case "job", "aside", "run", "item", "index", "stage", "text", "i", "input", "state":
		id += "_ended"
		for l.parser.nodes[id] != nil {
			id += "_"
		}
	}
	return id
}

// ended is how a node ended.
func (l *lowering) ended(n *Node) *expr.Node { return expr.Read(l.local[n]) }

// edge is what a node handed on.
func (l *lowering) edge(n *Node) *expr.Node { return expr.Read(l.local[n], "edge") }

// block translates the phases, one after the other. After a cycle the nodes of its phase are in the order of the file.
func (l *lowering) block(o *dialect.Order) {
	b := &l.wf.Body.Block
	flow := expr.Invoke(fnNew, expr.Of(expr.UseSlots, "", nil))
	if l.tree.Upstream {
		flow = expr.Invoke(fnLoose, flow)
	}
	*b = append(*b, let("job", flow))
	for _, ph := range l.tree.Phases {
		l.phase = ph
		waves := l.waves(ph, o)
		if ph.Kind == PhaseGraph {
			for _, w := range waves {
				l.wave(b, w)
			}
			ph.Nodes = slices.Concat(waves...) // as they run
			continue
		}
		l.rounds(b, waves)
	}
}

func let(name string, v *expr.Node) ir.Stmt { return &ir.LetStmt{Name: ident(name), Value: of(v)} }

// wave translates nodes that run in parallel, or one alone.
func (l *lowering) wave(b *ir.Block, wave []*Node) {
	for _, n := range wave {
		if l.local[n] != n.ID.Name {
			*b = append(*b, &ir.LetStmt{Name: ident(l.local[n]), Type: endedType})
		}
	}
	if len(wave) == 1 {
		*b = append(*b, l.alone(wave[0], "job"))
		return
	}
	if !l.sides {
		l.sides = true
		*b = append(*b, let("aside", expr.Invoke(fnAside, expr.Read("job"))))
	}
	side := &ir.SideStmt{}
	joined := []*expr.Node{expr.Read("job"), expr.Of(expr.UseRun, "", nil)}
	for _, n := range wave {
		side.Arms = append(side.Arms, ir.Block{l.alone(n, "aside")})
		joined = append(joined, expr.Address(l.ended(n)))
	}
	*b = append(*b, side, &ir.DoStmt{Call: of(expr.Invoke(fnJoin, joined...))})
}

// alone runs a node when every node before it has done well, and every condition is true.
func (l *lowering) alone(n *Node, flow string) ir.Stmt {
	into := l.local[n]
	if into == n.ID.Name {
		into = "" // it is called so anyway
	}
	run := l.run(n, flow, into)
	var conds []*expr.Node
	var label []string
	for _, r := range n.Routes {
		from := expr.Invoke(fnOK, l.ended(l.parser.nodes[r.From.Name]))
		if !slices.ContainsFunc(conds, func(c *expr.Node) bool { return c.String() == from.String() }) {
			conds = append(conds, from)
		}
		label = append(label, r.From.Name+" ran")
		if r.When != nil {
			label = append(label, r.When.String())
		}
	}
	for _, r := range n.Routes {
		if r.When != nil {
			conds = append(conds, l.both(r.When)...)
		}
	}
	for _, w := range n.Whens {
		conds, label = append(conds, l.both(w)...), append(label, w.String())
	}
	if len(conds) == 0 {
		return run
	}
	return &ir.IfStmt{Cond: of(expr.All(conds...)), Label: strings.Join(label, " and "), Then: ir.Block{run}}
}

// rounds translates a pipeline or a loop: its nodes, one after the other, in every round.
func (l *lowering) rounds(b *ir.Block, waves [][]*Node) {
	ph := l.phase
	scope := &ir.Scope{ID: ph.ID, Name: ph.ID.Name + "_phase"}
	id := expr.Const(ph.ID.Name)
	var do ir.Block
	if ph.Kind == PhasePipeline {
		l.roots = map[string]*expr.Node{"item": expr.Read("item"), "index": expr.Read("i"), "pipeline": id}
	} else {
		l.roots = map[string]*expr.Node{"iter": expr.Read("i"), "loop": id}
	}
	for i, w := range waves {
		n := w[0]
		l.stage, l.staged = nil, true
		if ph.Kind == PhasePipeline && i > 0 {
			l.stage = []expr.Entry{expr.Put(waves[i-1][0].ID.Name, expr.Read("stage", "edge"))}
		}
		do = append(do, l.run(n, "job", "stage"))
		if ph.Kind == PhasePipeline && i < len(waves)-1 { // a node that hands nothing on ends the item
			do = append(do, &ir.IfStmt{Cond: of(expr.Not(expr.Invoke(dialect.Present, expr.Read("stage", "edge")))), Then: ir.Block{&ir.NextStmt{}}})
		}
	}
	l.roots, l.stage, l.staged = map[string]*expr.Node{}, nil, false
	if ph.Kind == PhaseLoop {
		loop := &ir.WhileStmt{Max: ph.Max, Index: ident("i"), Scope: scope, Do: do}
		if ph.Until != nil {
			loop.Cond, loop.Label = of(expr.Not(l.truth(ph.Until))), "!("+ph.Until.String()+")"
		}
		*b = append(*b, loop)
		return
	}
	over := expr.Const(nil) // of a list that cannot be read, which was reported
	if ph.Over != nil {
		over = l.reference(ph.Over, nil)
	}
	items := ph.ID.Name + "_phase_items"
	for l.items[items] { // pipelines may share an id
		items += "_"
	}
	l.items[items] = true
	*b = append(*b, let(items, expr.Invoke(fnItems, expr.Read("job"), expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, ph.ID.Name, scope), over)),
		&ir.RangeStmt{Over: of(expr.Read(items)), Item: ident("item"), Index: ident("i"), Scope: scope, Do: do})
}

// run runs a node, which a round may do that runs it elsewhere already.
func (l *lowering) run(n *Node, flow, into string) ir.Stmt {
	v := l.perform(n, flow)
	out := l.nodes[n]
	s := &ir.RunStmt{Node: out, Into: ident(into)}
	if before, done := out.Verb.(*ir.Perform); done {
		s.Call = v.Call
		before.Reads = append(before.Reads, v.Reads...)
		return s
	}
	out.Verb = v
	return s
}

// perform is the call that runs a node, once or for each item of its list.
func (l *lowering) perform(n *Node, flow string) *ir.Perform {
	v := &ir.Perform{Attempts: n.Attempts, Gives: l.gives(n), Reads: l.reads(n), Writes: n.Writes}
	switch n.Verb.(type) {
	case *ir.LLM:
		v.Kind = "llm"
	case *ir.Flow:
		v.Kind = "flow"
	}
	if n.Each == nil {
		v.Call = of(l.dispatch(n, flow))
		return v
	}
	outer := l.roots
	over := l.reference(n.Each.Over, n)
	l.roots = map[string]*expr.Node{}
	for k, x := range outer {
		l.roots[k] = x
	}
	l.roots["item"], l.roots["index"] = expr.Read("item"), expr.Read("index")
	body := expr.Fn(l.dispatch(n, "job"), "run", "job", "item", "index")
	l.roots = outer
	v.Items = &ir.Inside{Do: body, Limit: n.Each.Concurrency}
	v.Call = of(l.node(fnEach, n, flow, l.policy(n), over, body))
	return v
}

// node is a method of the flow that runs a node.
func (l *lowering) node(f *expr.Func, n *Node, flow string, args ...*expr.Node) *expr.Node {
	return expr.Invoke(f, append([]*expr.Node{expr.Read(flow), expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, "", nil)}, args...)...)
}

// policy is what becomes of a node that fails.
func (l *lowering) policy(n *Node) *expr.Node {
	switch {
	case n.Attempts > 1:
		return expr.Invoke(fnRetry, expr.Const(int64(n.Attempts)), expr.Const(n.Base), expr.Const(n.Double))
	case !n.Skips:
		return expr.Invoke(fnFail)
	}
	return expr.Invoke(fnSkip)
}

// reads are the fields of the state that decide about a node, and that it says it reads.
func (l *lowering) reads(n *Node) []ir.Ident {
	out := slices.Clone(n.Reads)
	see := func(r *dialect.Reference) {
		if r.Root == "state" && len(r.Path) > 0 && !slices.ContainsFunc(out, func(id ir.Ident) bool { return id.Name == r.Path[0] }) {
			out = append(out, ident(r.Path[0]))
		}
	}
	for _, r := range n.Routes {
		r.When.Refs(see)
	}
	for _, w := range n.Whens {
		w.Refs(see)
	}
	if n.Args != nil {
		dialect.ValueReferences(n.Args, see)
	}
	if n.Each != nil {
		see(n.Each.Over)
	}
	if l.phase.Over != nil {
		see(l.phase.Over)
	}
	l.phase.Until.Refs(see)
	return out
}
