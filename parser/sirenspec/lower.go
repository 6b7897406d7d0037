package sirenspec

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// A lowering translates a workflow to a Block: what its engine makes of values, failures and writes are functions of package
// runtime/sirenspec.
type lowering struct {
	*parser
	tree   *Tree                 // the workflow as it was read
	nodes  map[*Node]*ir.Node    // by those of the tree
	local  map[*Node]string      // the results
	active map[*Node]string      // whether an edge has led to a node; of those that always run: none
	tools  map[*ir.Tool]*ir.Tool // that a function makes, by those of the tree
	taken  map[string]bool       // names of locals
	making *making               // inside of what a factory makes; else nil
	over   bool                  // nodes may be left out because the budget is spent
}

// lower translates the workflow; its tree is kept for convert.
func (p *parser) lower(order []*point) {
	tree := p.tree
	l := &lowering{parser: p, tree: tree, nodes: map[*Node]*ir.Node{}, local: map[*Node]string{}, active: map[*Node]string{}, tools: map[*ir.Tool]*ir.Tool{}, taken: map[string]bool{}}
	for _, name := range []string{"job", "memory", "run", "each", "own", "c", "given", "input", "state", "error", "out"} {
		l.taken[name] = true
	}
	p.wf.Body = ir.Body{Span: tree.Body.Span}
	l.context()
	l.toolsMade()
	for _, n := range tree.Nodes {
		l.nodes[n], l.local[n] = n.made(nil), l.free(n.ID.Name)
		p.wf.Body.Nodes = append(p.wf.Body.Nodes, l.nodes[n])
	}
	for _, s := range order {
		tree.Order = append(tree.Order, s.node)
	}
	b := ir.Block{}
	l.begin(&b)
	for _, s := range order {
		if !s.always() {
			l.active[s.node] = l.free(s.node.ID.Name + "_active")
			b = append(b, &ir.LetStmt{Name: ident(l.active[s.node]), Type: schema.BoolType})
		}
	}
	for _, s := range order {
		l.step(&b, s)
	}
	p.wf.Body.Block = b
	l.edgesDescribed(order)
	l.outcome()
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
func (l *lowering) at(n *Node) *expr.Node {
	return expr.Of(expr.UseNode, n.ID.Name, l.nodes[n])
}

// free is a name that no local has yet.
func (l *lowering) free(name string) string {
	for l.taken[name] {
		name += "_"
	}
	l.taken[name] = true
	return name
}

// context declares the state: the two buckets of the context.
func (l *lowering) context() {
	l.wf.Groups, l.wf.State = []string{"working", "output"}, nil
	for _, s := range l.tree.State {
		copied := *s
		copied.Open = true
		copied.Group, copied.Name.Name, _ = strings.Cut(s.Name.Name, ".")
		l.wf.State = append(l.wf.State, &copied)
	}
	l.wf.Input = nil
	for i, f := range l.tree.Input {
		copied := *f
		if i > 0 { // whoever runs this workflow may give it anything, or nothing
			t := *schema.DynamicType
			t.Elem = schema.OptOf(schema.AnyType, "")
			copied.Type = &t
		}
		l.wf.Input = append(l.wf.Input, &copied)
	}
}

// begin writes what a run begins with: the values of the file, the memory that nothing keeps, and what counts.
func (l *lowering) begin(b *ir.Block) {
	d := l.tree
	if d.Seeds != nil {
		for _, bucket := range d.Seeds.Entries {
			if o, ok := bucket.Value.(*ir.Object); ok {
				for _, e := range o.Entries {
					if f, _ := l.place(bucket.Key.Name, []string{e.Key.Name}); f != nil {
						*b = append(*b, set(f, dialect.Constant(e.Value)))
					}
				}
			}
		}
	}
	if d.Memory && l.kept == nil {
		*b = append(*b, let("memory", expr.Object()))
	}
	flow := expr.Invoke(fnNew, expr.Read("input", l.wf.Input[0].Name))
	if l.opts.Child {
		flow = expr.Invoke(fnInner, runHandle())
	}
	*b = append(*b, let("job", flow))
	l.limits(b)
}

// outcome is what a run returns, also one that fails.
func (l *lowering) outcome() {
	l.wf.Outcome.Always = true
	add := func(name, description string, omit bool, v *expr.Node) {
		l.wf.Output = append(l.wf.Output, &ir.Output{Name: ir.Ident{Name: name, Span: l.wf.Name.Span}, Description: description, Omit: omit, Value: as(v)})
	}
	add("status", "", false, expr.Invoke(fnStatus, expr.Read("error")))
	add("error", "what a run that failed has ended with", true, expr.Invoke(fnFailure, expr.Read("error")))
	add("output", "", false, expr.Read("state", "output"))
	add("working", "", false, expr.Read("state", "working"))
	if slices.ContainsFunc(l.tree.Budgets, func(b *Budget) bool { return b.Declared }) {
		add("budget", "what was spent", false, expr.Invoke(fnSpent, expr.Read("job")))
	}
	if name := l.tree.EnvFile; name != "" {
		l.wf.Load = append(l.wf.Load, as(expr.Invoke(fnLoadEnv, expr.Const(l.beside(name)))))
	}
}

// step writes a node and what its edges say.
func (l *lowering) step(b *ir.Block, s *point) {
	var conds []*expr.Node
	if name := l.active[s.node]; name != "" {
		conds = append(conds, expr.Read(name))
	}
	if l.over {
		conds = append(conds, expr.Not(expr.Invoke(fnOver, expr.Read("job"))))
	}
	if len(conds) == 0 {
		l.run(b, s)
		return
	}
	var inside ir.Block
	l.run(&inside, s)
	*b = append(*b, &ir.IfStmt{Cond: as(expr.All(conds...)), Label: label(s), Then: inside})
}

// label says when a node runs.
func label(s *point) string {
	var ways []string
	for _, a := range s.in {
		way := a.from.node.ID.Name + " ran"
		if a.route != nil && a.route.When != nil {
			way += " and " + a.route.When.String()
		}
		ways = append(ways, way)
	}
	return strings.Join(ways, " or ")
}

// edges say which nodes come after s.
func (l *lowering) edges(b *ir.Block, s *point) {
	for _, a := range s.out {
		if a.route == nil || l.active[a.to.node] == "" {
			continue
		}
		flag := func() *expr.Node { return expr.Read(l.active[a.to.node]) }
		when := a.route.When
		switch {
		case when == nil:
			*b = append(*b, set(flag(), expr.Const(true)))
		case l.tree.Upstream && raises(when):
			name := l.free(s.node.ID.Name + "_leads")
			*b = append(*b, let(name, expr.Invoke(fnHolds, runHandle(), l.at(s.node), l.condition(when))),
				&ir.IfStmt{Cond: as(expr.Read(name)), Then: ir.Block{set(flag(), expr.Const(true))}})
		case len(a.to.node.Routes) == 1 && !a.to.rescues():
			*b = append(*b, set(flag(), l.when(when)))
		default:
			*b = append(*b, set(flag(), &expr.Node{Op: expr.Binary, Text: "||", Kids: []*expr.Node{flag(), l.when(when)}}))
		}
	}
}

// edgesDescribed are the edges as graphs show them.
func (l *lowering) edgesDescribed(order []*point) {
	if len(order) == 0 {
		return
	}
	for _, a := range order[0].graph.links {
		if a.route == nil {
			continue
		}
		e := &ir.Edge{From: a.route.From, To: []ir.Ident{a.route.To}, Span: a.route.Span}
		if a.route.When != nil {
			e.When = &ir.Expr{Text: source.Text{Value: a.route.When.String(), Span: a.route.When.Span}}
		}
		l.wf.Body.Edges = append(l.wf.Body.Edges, e)
	}
}

// after is what follows a node that may have asked a model: what was spent, and the edges. The engine looks at the edges
// of an agent first.
func (l *lowering) after(b *ir.Block, s *point) {
	_, agent := s.node.Verb.(*ir.LLM)
	upstream := l.tree.Upstream && agent
	if upstream {
		l.edges(b, s)
	}
	if to, _ := l.place("working", []string{"_budget"}); to != nil {
		*b = append(*b, set(to, expr.Invoke(fnTotals, expr.Read("job"))))
	}
	if budgets := l.tree.Budgets; len(budgets) > 0 {
		*b = append(*b, do(fnWithin, expr.Read("job"), runHandle(), l.at(s.node)))
		for _, budget := range budgets {
			l.over = l.over || budget.Exceeded == "skip_remaining"
		}
	}
	if !upstream {
		l.edges(b, s)
	}
}
