package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/dialect/walk"
)

// A lowering translates a graph to a Block: what its engine makes of values, failures and writes are functions of package
// runtime/yamlgraph.
type lowering struct {
	*parser
	order  *order                     // of its nodes
	nodes  map[*Node]*ir.Node         // by those of the tree
	taken  map[string]bool            // names of locals
	agents map[*Node]*ir.PerformAgent // of nodes
	picks  map[*ir.ToolChoice]*ir.ToolChoice

	// Of the node that is written:
	node *Node
	flow string // the local of its flow
	item string // inside of a map: what its item is called; else empty
}

// lower translates the graph; its tree is kept for convert.
func (p *parser) lower(o *order) {
	p.keep()
	tree := p.tree
	l := &lowering{parser: p, order: o, nodes: map[*Node]*ir.Node{}, taken: map[string]bool{}, agents: map[*Node]*ir.PerformAgent{}, picks: map[*ir.ToolChoice]*ir.ToolChoice{}}
	for _, name := range []string{"job", "run", "at", "item", "output", "input", "state", "out", "err"} {
		l.taken[name] = true
	}
	p.wf.Body = ir.Body{Span: tree.Body.Span, Block: ir.Block{}}
	l.state()
	reached := o.reach(o.first)
	for _, n := range tree.Nodes {
		if !reached[n] {
			continue // which was said
		}
		l.nodes[n] = n.made()
		p.wf.Body.Nodes = append(p.wf.Body.Nodes, l.nodes[n])
	}
	b := &p.wf.Body.Block
	l.begin(b)
	switch {
	case o.waves != nil:
		for _, wave := range o.waves {
			l.wave(b, wave)
		}
	case o.start != nil:
		l.way(b)
	default:
		l.steps(b)
	}
	l.edges()
	if slices.ContainsFunc(tree.Tools, p.inherits) {
		p.wf.Load = append(p.wf.Load, as(expr.Invoke(fnLoadEnv)))
	}
}

// inherits reports whether a tool sees the variables of the file .env.
func (p *parser) inherits(t *ir.Tool) bool {
	_, python := t.Binding.(*ir.PythonTool)
	return python || p.kindOf(t) == "shell"
}

func as(n *expr.Node) *ir.Expr { return &ir.Expr{Node: n} }

func ident(name string) ir.Ident { return ir.Ident{Name: name} }

func let(name string, v *expr.Node) ir.Stmt { return &ir.LetStmt{Name: ident(name), Value: as(v)} }

func set(target, v *expr.Node) ir.Stmt { return &ir.SetStmt{Target: as(target), Value: as(v)} }

func do(f *expr.Func, args ...*expr.Node) ir.Stmt {
	return &ir.DoStmt{Call: as(expr.Invoke(f, args...))}
}

func runHandle() *expr.Node { return expr.Of(expr.UseRun, "", nil) }

// at is the Handle of a node.
func (l *lowering) at(n *Node) *expr.Node { return expr.Of(expr.UseNode, n.ID.Name, l.nodes[n]) }

// free is a name that no local has yet.
func (l *lowering) free(name string) string {
	for l.taken[name] {
		name += "_"
	}
	l.taken[name] = true
	return name
}

// state declares the state. What the run does not keep itself is an input, and all of it is the output.
func (l *lowering) state() {
	l.wf.State, l.wf.Input = nil, nil
	for _, s := range l.tree.State {
		copied := *s
		copied.Open, copied.Loose = true, true
		if sums(s) {
			copied.Merge.Kind = ir.MergeSum
		}
		if s.Name.Name != "current_step" && s.Name.Name != "errors" {
			t := *schema.DynamicType
			t.Elem = schema.OptOf(s.Type, "")
			l.wf.Input = append(l.wf.Input, &schema.Field{Name: s.Name.Name, Type: &t, Span: s.Span, Omit: true})
			copied.Given = true
		}
		l.wf.State = append(l.wf.State, &copied)
		l.wf.Output = append(l.wf.Output, &ir.Output{Name: s.Name, Omit: true, Value: as(expr.Read("state", s.Name.Name))})
	}
	for _, x := range l.tree.Notes {
		l.wf.State = append(l.wf.State, &ir.State{Name: ident(x.As), Type: schema.AnyType, Open: true, Loose: true, Span: l.wf.Name.Span})
		l.wf.Output = append(l.wf.Output, &ir.Output{Name: ident(x.As), Omit: true, Value: as(expr.Read("state", x.As))})
	}
}

// sums reports whether what is written to a field is added to it, as numbers and texts are; lists grow.
func sums(s *ir.State) bool {
	if s.Merge.Kind != ir.MergeAppend {
		return false
	}
	switch s.Type.Kind {
	case schema.Int, schema.Float, schema.String:
		return true
	}
	return false
}

// begin writes what a run begins with: the values of the file where the input has none, and what counts.
func (l *lowering) begin(b *ir.Block) {
	if d := l.tree; d.Seeds != nil {
		for _, e := range d.Seeds.Entries {
			if l.tree.StateField(e.Key.Name) == nil {
				continue
			}
			f := func() *expr.Node { return expr.Read("state", e.Key.Name) }
			*b = append(*b, &ir.IfStmt{Cond: as(expr.Not(expr.Invoke(dialect.Present, f()))), Then: ir.Block{set(f(), dialect.Constant(e.Value))}})
		}
	}
	*b = append(*b, let("job", expr.Invoke(fnNew, expr.Of(expr.UseSlots, "", nil))))
	if l.opts.Upstream && slices.ContainsFunc(l.tree.Nodes, each) {
		*b = append(*b, do(fnStops, expr.Read("job")))
	}
	for _, x := range l.tree.Notes {
		*b = append(*b, do(fnNote, expr.Read("job"), expr.Const(x.Field), expr.Const(x.As)))
	}
	if n := l.tree.Limit; n > 0 && l.order.waves == nil && (l.order.start == nil || len(l.order.cyclic) > 0) {
		*b = append(*b, do(fnBound, expr.Read("job"), expr.Const(int64(n))))
	}
}

// wave writes nodes that run in parallel, or one alone.
func (l *lowering) wave(b *ir.Block, wave []*Node) {
	if len(wave) == 1 {
		l.alone(b, wave[0], "job")
		return
	}
	side := &ir.SideStmt{}
	joined := []*expr.Node{expr.Read("job")}
	sorted := slices.SortedFunc(slices.Values(wave), func(a, b *Node) int { return strings.Compare(a.ID.Name, b.ID.Name) })
	names := map[*Node]string{}
	for _, n := range wave {
		names[n] = l.free(n.ID.Name)
		*b = append(*b, let(names[n], expr.Invoke(fnAside, expr.Read("job"))))
		side.Arms = append(side.Arms, ir.Block{l.run(n, names[n])})
	}
	for _, n := range sorted { // the engine writes in the order of the names
		joined = append(joined, expr.Read(names[n]))
	}
	*b = append(*b, side, do(fnJoin, joined...))
}

// each reports whether a node is a map.
func each(n *Node) bool {
	_, ok := n.Verb.(*Map)
	return ok
}

// alone writes a node that runs alone. To older engines a map of an empty list hands nothing on.
func (l *lowering) alone(b *ir.Block, n *Node, flow string) {
	*b = append(*b, l.run(n, flow))
	if l.opts.Upstream && each(n) && len(l.order.after[n]) > 0 {
		*b = append(*b, &ir.IfStmt{Cond: as(expr.Invoke(fnHalted, expr.Read(flow))), Label: n.ID.Name + " had no items", Then: ir.Block{&ir.ReturnStmt{Span: n.ID.Span}}})
	}
}

// run runs a node, which may run in several places.
func (l *lowering) run(n *Node, flow string) *ir.RunStmt {
	v := l.perform(n, flow)
	out := l.nodes[n]
	s := &ir.RunStmt{Node: out}
	if out.Verb != nil {
		s.Call = v.Call
		return s
	}
	if l.order.waves == nil {
		v.Times = 1
	}
	if l.order.cyclic[n] {
		v.Times = n.Times
	}
	out.Verb = v
	return s
}

// way writes the way of one token: as straight code, or as a switch over the node that it has come to, until the end.
func (l *lowering) way(b *ir.Block) {
	w := walk.Graph{}
	nodes := l.tree.Nodes
	place := func(id ir.Ident) int { // of an exit
		return slices.IndexFunc(nodes, func(n *Node) bool { return n.ID.Name == id.Name }) // else the end
	}
	for i, n := range nodes {
		if n == l.order.start {
			w.Start = i
		}
		w.Stops = append(w.Stops, l.decision(n, place))
	}
	reached := w.Reached()
	l.wf.Body.Nodes = nil
	for i, n := range nodes {
		if !reached[i] { // the conditions of its edges are never asked
			continue
		}
		l.wf.Body.Nodes = append(l.wf.Body.Nodes, l.nodes[n])
		stop := &w.Stops[i]
		if len(l.order.cyclic) > 0 {
			stop.Do = append(stop.Do, do(fnStep, expr.Read("job"), runHandle(), l.at(n)))
		}
		l.alone(&stop.Do, n, "job")
	}
	if straight, ok := walk.Structure(w); ok {
		*b = append(*b, straight...)
		return
	}
	l.machine(b, nodes, reached, w)
}

// machine writes the way of one token through a graph that has no structure.
func (l *lowering) machine(b *ir.Block, nodes []*Node, reached []bool, w walk.Graph) {
	to := func(at int) ir.Block {
		if at == walk.End {
			return ir.Block{set(expr.Read("at"), expr.Invoke(fnEnd))}
		}
		return ir.Block{set(expr.Read("at"), expr.Const(nodes[at].ID.Name))}
	}
	machine := &ir.SwitchStmt{On: as(expr.Read("at"))}
	for i, stop := range w.Stops {
		if !reached[i] {
			continue
		}
		next := to(stop.Else)
		if stop.Route != nil {
			next = ir.Block{set(expr.Read("at"), stop.Route.Value)}
		}
		for _, t := range slices.Backward(stop.Tests) {
			next = ir.Block{&ir.IfStmt{Cond: as(t.When), Then: to(t.To), Else: next}}
		}
		machine.Arms = append(machine.Arms, ir.SwitchArm{Value: nodes[i].ID.Name, Do: append(stop.Do, next...)})
	}
	*b = append(*b, let("at", expr.Const(nodes[w.Start].ID.Name)),
		&ir.WhileStmt{Cond: as(&expr.Node{Op: expr.Binary, Text: "!=", Kids: []*expr.Node{expr.Read("at"), expr.Invoke(fnEnd)}}), Do: ir.Block{machine}})
}

// place is a node as the token's place; an empty name is the end.
func (l *lowering) place(id ir.Ident) *expr.Node {
	if l.target(id) == nil {
		return expr.Invoke(fnEnd)
	}
	return expr.Const(id.Name)
}

// target is the node that an exit leads to; nil is the end.
func (l *lowering) target(id ir.Ident) *Node { return l.tree.node(id.Name) }

// decision is where the token goes after a node: to the first exit whose condition holds, else to the end.
func (l *lowering) decision(n *Node, place func(ir.Ident) int) walk.Stop {
	stop := walk.Stop{Else: walk.End}
	spent := walk.End
	routed := []*expr.Node{expr.Read("job")}
	var ways []walk.Way
	for _, e := range n.Token.Exits {
		to := place(e.To)
		switch {
		case e.Spent:
			spent = to
		case e.Routed:
			routed = append(routed, l.place(e.To))
			name := e.To.Name
			if to == walk.End {
				name = "" // which is what runtime/yamlgraph calls the end
			}
			ways = append(ways, walk.Way{Name: name, To: to})
		case e.When == nil:
			stop.Else = to
		default:
			stop.Tests = append(stop.Tests, walk.Test{When: l.holds(e.When), To: to})
		}
	}
	if len(ways) > 0 {
		stop.Route = &walk.Route{Value: expr.Invoke(fnRoute, routed...), Local: l.free("next"), Ways: ways}
	}
	if len(stop.Tests) > 0 && l.limited() {
		stop.Tests = append([]walk.Test{{When: expr.Invoke(fnLimited, expr.Read("job")), To: spent}}, stop.Tests...)
	}
	return stop
}

// limited reports whether a node has a limit on how often it runs.
func (l *lowering) limited() bool {
	return slices.ContainsFunc(l.tree.Nodes, func(n *Node) bool {
		t := n.Token
		return t.Limit > 0 || t.Ask != nil && t.Ask.Limit > 0
	})
}

// steps writes a graph in which several tokens may be on their way: what each node does, and which nodes come after it.
func (l *lowering) steps(b *ir.Block) {
	run, next := &ir.SwitchStmt{On: as(expr.Read("at"))}, &ir.SwitchStmt{On: as(expr.Read("at"))}
	var first []*expr.Node
	for _, n := range l.order.first {
		first = append(first, l.at(n))
	}
	for _, n := range l.tree.Nodes {
		if l.nodes[n] == nil {
			continue
		}
		run.Arms = append(run.Arms, ir.SwitchArm{Value: l.nodes[n], Do: ir.Block{l.run(n, "job")}})
		if to := l.exits(n); len(to) > 0 {
			next.Arms = append(next.Arms, ir.SwitchArm{Value: l.nodes[n], Do: to})
		}
	}
	exits := ir.Block{}
	if len(next.Arms) > 0 {
		exits = append(exits, next)
	}
	exits = append(exits, &ir.ReturnStmt{Value: as(&expr.Node{Op: expr.ListLit})})
	*b = append(*b, do(fnSteps, expr.Read("job"), runHandle(), expr.Invoke(fnTo, first...), expr.FnDo(ir.Block{run}, "run", "job", "at"), expr.FnDo(exits, "at")))
}

// exits writes which nodes come after one: those of all plain edges, and of the first edge whose condition holds.
func (l *lowering) exits(n *Node) ir.Block {
	var plain []*Node
	var spent *Node
	routed := []*expr.Node{expr.Read("job")}
	ways := &ir.SwitchStmt{}
	tests := 0
	to := func(more ...*Node) ir.Block {
		var nodes []*expr.Node
		for _, n := range append(slices.Clone(plain), more...) {
			if n != nil {
				nodes = append(nodes, l.at(n))
			}
		}
		if len(nodes) == 0 {
			return ir.Block{&ir.ReturnStmt{Value: as(&expr.Node{Op: expr.ListLit})}}
		}
		return ir.Block{&ir.ReturnStmt{Value: as(expr.Invoke(fnTo, nodes...))}}
	}
	for _, e := range n.Token.Exits {
		target := l.target(e.To)
		switch {
		case e.Spent:
			spent = target
		case e.When != nil:
			tests++
		case e.Routed:
			if routed = append(routed, l.place(e.To)); target != nil {
				ways.Arms = append(ways.Arms, ir.SwitchArm{Value: target.ID.Name, Do: ir.Block{&ir.ReturnStmt{Value: as(expr.Invoke(fnTo, l.at(target)))}}})
			}
		case target != nil:
			plain = append(plain, target)
		}
	}
	var out ir.Block
	if tests > 0 && l.limited() {
		out = append(out, &ir.IfStmt{Cond: as(expr.Invoke(fnLimited, expr.Read("job"))), Then: to(spent)})
	}
	for _, e := range n.Token.Exits {
		if e.When != nil {
			out = append(out, &ir.IfStmt{Cond: as(l.holds(e.When)), Label: e.When.String(), Then: to(l.target(e.To))})
		}
	}
	if len(ways.Arms) > 0 {
		ways.On = as(expr.Invoke(fnRoute, routed...))
		out = append(out, ways)
	}
	if len(plain) > 0 {
		out = append(out, to()...)
	}
	return out
}

// edges are the exits as graphs show them.
func (l *lowering) edges() {
	for _, n := range l.tree.Nodes {
		for _, x := range n.Token.Exits {
			if l.target(x.To) == nil || l.nodes[n] == nil {
				continue
			}
			e := &ir.Edge{From: n.ID, To: []ir.Ident{x.To}, Span: x.Span}
			if x.When != nil {
				e.When = &ir.Expr{Text: source.Text{Value: x.When.String(), Span: x.When.Span}}
			}
			l.wf.Body.Edges = append(l.wf.Body.Edges, e)
		}
	}
}
