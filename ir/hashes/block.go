package hashes

import (
	"maps"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// block writes the order of a body.
func block(x *text, b ir.Block) {
	x.line("block", b.String())
	b.All(func(s ir.Stmt) {
		for _, e := range ir.StmtExpressions(s) {
			functions(x, e)
		}
	})
}

// functions writes what the text of an expression does not say: where its functions are, of whose packages it names only
// the last part, and what the text functions that it calls do.
func functions(x *text, e *ir.Expr) {
	if e == nil || e.Node == nil {
		return
	}
	paths := func(n *expr.Node) bool {
		if n.Op == expr.Intrinsic {
			x.line("func", n.Func.Path, n.Func.Name)
		}
		return true
	}
	e.Node.Walk(paths)
	for _, t := range ir.TextFuncs(e.Node.Walk) {
		x.line("text", t.String())
		t.Do.Walk(paths)
	}
}

// perform writes what a node calls, with all that it uses.
func (m *maker) perform(x *text, s *check.Step, v *ir.Perform) {
	x.line("perform", v.String())
	functions(x, v.Call)
	if part := s.Handed(); part != nil { // of a node that another one runs: what that one is told of it
		x.line("handed", part.String())
		functions(x, &ir.Expr{Node: part})
	}
	for _, u := range s.Uses {
		switch of := u.Of.(type) { // a workflow is part of the node's hash as that of a flow node
		case *ir.Tool:
			x.line("uses", m.tool(of, false))
		case *ir.ToolChoice:
			m.choices(x, s.Pick.Choices, false)
		}
	}
	if len(s.Models()) > 0 {
		x.line("models", m.models(s))
	}
	for _, a := range s.Answers() {
		x.line("answer", a.Name, a.JSON, a.Tool)
	}
}

// stateFrom enters what the nodes of a Block depend on through the state: those before them that may write what they read.
// In a loop all nodes of it are before each.
func (w *walk) stateFrom(p *check.Program, in scope) {
	before := map[string][]string{} // by field
	enter := func(s *check.Step) {
		if v, ok := s.Node.Verb.(*ir.Perform); ok {
			for _, id := range v.Writes {
				before[id.Name] = append(before[id.Name], in.paths[s])
			}
		}
	}
	var all func(p *check.Plan)
	all = func(p *check.Plan) {
		if p.Step != nil {
			enter(p.Step)
		}
		for _, k := range p.Kids {
			all(k)
		}
	}
	var visit func(p *check.Plan)
	visit = func(p *check.Plan) {
		if p.Kind == check.While || p.Kind == check.Range {
			all(p)
		}
		if p.Step != nil {
			w.readsState(p.Step, in.paths[p.Step], before)
			enter(p.Step)
		}
		for _, k := range p.Kids {
			if p.Kind != check.Par {
				visit(k)
				continue
			}
			was := before // arms do not see what the others write
			before = maps.Clone(was)
			visit(k)
			before = was
		}
		if p.Kind == check.Par {
			all(p)
		}
	}
	if p.Body.IR.Block != nil && p.Body.Plan != nil {
		visit(p.Body.Plan)
	}
}

// readsState enters what one node depends on.
func (w *walk) readsState(s *check.Step, path string, before map[string][]string) {
	v, ok := s.Node.Verb.(*ir.Perform)
	if !ok {
		return
	}
	from := slices.Clone(w.out.From[path])
	for field, writers := range before {
		if v.ReadsAll || slices.ContainsFunc(v.Reads, func(id ir.Ident) bool { return id.Name == field }) {
			from = append(from, writers...)
		}
	}
	from = slices.DeleteFunc(from, func(p string) bool { return p == path || w.out.Nodes[p] == "" })
	if slices.Sort(from); len(from) > 0 {
		w.out.From[path] = slices.Compact(from)
	}
}

// made writes what makes a tool, and what it reaches.
func (m *maker) made(x *text, b *ir.Made) {
	if b.New != nil {
		x.line("made", value(b.New))
		functions(x, b.New)
	}
	if r := b.Reach; r != nil {
		x.mark("reach", true)
		for _, list := range [][]string{r.Hosts, r.Commands, r.Env, r.Files, r.Code} {
			x.line("reaches", append([]string{strconv.Itoa(len(list))}, slices.Sorted(slices.Values(list))...)...)
		}
	}
	x.mark("flow", b.Flow != nil)
	if p := m.root.FlowOf(b.Flow); p != nil {
		x.line("flow", m.program(p))
	}
}
