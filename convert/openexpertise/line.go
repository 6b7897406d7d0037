package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// whenFunc looks at conditions as the engine does.
const whenFunc = schema.RuntimePath + "/openexpertise.When"

// lineUp puts the nodes of the graph one after the other, as the engine runs them, where edges leave open in which order nodes touch
// the same fields of the state, and where a node before another has to look at a condition. What an edge of the experience asks for is then the `when` of the node that it leads to.
func (x *experience) lineUp() {
	if x.tree.Concurrency > 1 {
		return
	}
	order := x.engineOrder()
	unclear := x.appends() != nil
	for i, n := range order {
		for _, m := range order[:i] {
			unclear = unclear || x.meet(m, n) || x.conditionMeets(m, n) != nil || x.conditionMeets(n, m) != nil
		}
		for _, r := range n.Routes {
			if r.When != nil {
				_, typed := x.test(r.When, x.nodes[r.From.Name])
				unclear = unclear || !typed
			}
		}
		unclear = unclear || len(n.Whens) > 0 || x.fails(n)
	}
	if unclear {
		x.line, x.extra = order, map[*openexpertise.Node]*openexpertise.Node{}
	}
}

// engineOrder are the nodes of the graph as the engine runs them.
func (x *experience) engineOrder() (order []*openexpertise.Node) {
	for _, ph := range x.tree.Phases {
		if ph.Kind == openexpertise.PhaseGraph {
			order = append(order, ph.Nodes...)
		}
	}
	return order
}

// meet reports whether two nodes that no edges order touch the same field of the state. Those that only add to a list may.
func (x *experience) meet(a, b *openexpertise.Node) bool {
	if x.before(a, b) || x.before(b, a) {
		return false
	}
	touches := func(a, b *openexpertise.Node) bool {
		return slices.ContainsFunc(x.units[a].writes, func(f string) bool {
			s := x.fields[f]
			return s != nil && (s.Merge.Kind != ir.MergeAppend && slices.Contains(x.units[b].writes, f) || x.sees(b, f))
		})
	}
	return touches(a, b) || touches(b, a)
}

// sees reports whether a node reads a field of the state, in its arguments, its prompt, its list, or its module.
func (x *experience) sees(n *openexpertise.Node, field string) (yes bool) {
	look := func(r *dialect.Reference) {
		yes = yes || r != nil && r.Root == "state" && len(r.Path) > 0 && r.Path[0] == field
	}
	if n.Args != nil {
		dialect.ValueReferences(n.Args, look)
	}
	if n.Each != nil {
		look(n.Each.Over)
	}
	if n.Prompt != nil {
		for _, s := range n.Prompt.Segments {
			look(s.Ref)
		}
	}
	if m := x.units[n].module; m != nil && m.reads("_state") {
		p := m.looks("_state")
		yes = yes || (p.whole || slices.Contains(p.fields, field)) && slices.Contains(x.visible(n), field)
	}
	return yes
}

// conditionMeets is what a condition before n reads whose value depends on when it is looked at, as w writes it: the engine does so
// just before n runs, the native language right after the source; nil: there is none.
func (x *experience) conditionMeets(w, n *openexpertise.Node) (found *dialect.Reference) {
	for _, r := range n.Routes {
		from := x.nodes[r.From.Name]
		r.When.Refs(func(ref *dialect.Reference) {
			if ref.Root == "state" && len(ref.Path) > 0 && slices.Contains(x.units[w].writes, ref.Path[0]) && w != from && w != n && !x.before(w, from) && !x.before(n, w) {
				found = ref
			}
		})
	}
	return found
}

// open reports whether a node runs whatever the nodes before it did.
func (x *experience) open(n *openexpertise.Node) bool {
	return len(n.Whens) == 0 && !slices.ContainsFunc(n.Routes, func(r *dialect.Route) bool { return r.When != nil || !x.order.Always(x.nodes[r.From.Name]) })
}

// gate is what has to hold when the turn of a node comes; empty: nothing.
func (x *experience) gate(n *openexpertise.Node) (text string, at source.Span) {
	u := x.units[n]
	var parts []string
	add := func(text string) {
		if !slices.Contains(parts, text) && text != "true" {
			parts = append(parts, text)
		}
	}
	for _, r := range n.Routes {
		switch from := x.nodes[r.From.Name]; {
		case x.gone[from]:
			return "false", r.Span
		case !x.order.Always(from):
			add(x.did(from, x.open(from)))
		}
	}
	conditions := n.Whens
	for _, r := range n.Routes {
		if r.When != nil {
			conditions = append(conditions[:len(conditions):len(conditions)], r.When)
		}
	}
	for _, p := range conditions {
		at = p.Span
		text, typed := x.lineTest(p, n)
		switch {
		case !typed:
			text = x.looked(u, p)
		case text == "false":
			return text, at
		case strings.Contains(text, "||"):
			text = "(" + text + ")"
		}
		add(text)
	}
	if len(parts) == 1 {
		return strings.TrimSuffix(strings.TrimPrefix(parts[0], "("), ")"), at
	}
	return strings.Join(parts, " && "), at
}

// fails reports whether a node ends every run that comes to it, as its list is none.
func (x *experience) fails(n *openexpertise.Node) bool {
	return n.Each != nil && x.never(n.Each.Over, n)
}

// gates are what has to hold for the nodes of the line. Those for which it never does are left out of it.
func (x *experience) gates() map[*openexpertise.Node]*ir.Expr {
	gates := map[*openexpertise.Node]*ir.Expr{}
	leave := func(n *openexpertise.Node, at source.Span, why string) {
		x.gone[n] = true
		x.Note(at, "", "%s: %s never runs, and is left out", why, n.ID.Name)
		delete(x.IDs, n.ID.Name)
	}
	var end *openexpertise.Node // the run
	for _, n := range x.line {
		switch text, at := x.gate(n); {
		case end != nil:
			leave(n, n.ID.Span, end.ID.Name+" always fails")
		case text == "false":
			leave(n, at, "the condition never holds")
		case text != "":
			gates[n] = convert.Ref(text, at)
		case x.fails(n):
			end = n
		}
	}
	if end != nil {
		x.rounds = nil
	}
	x.line = slices.DeleteFunc(slices.Clone(x.line), func(n *openexpertise.Node) bool { return x.gone[n] })
	return gates
}

// looked is the result of a node before n that looks at a condition as the engine does.
func (x *experience) looked(u *unit, p *dialect.Predicate) string {
	state := &ir.Object{}
	p.Refs(func(r *dialect.Reference) {
		f := r.Path[0]
		if s := x.fields[f]; s == nil || !x.written(f) || slices.ContainsFunc(state.Entries, func(e *ir.Entry) bool { return e.Key.Name == f }) {
			return
		}
		if !x.certain(f, u.node) {
			x.mayLack(f)
		}
		state.Entries = append(state.Entries, convert.Pair(f, convert.Ref("state."+f)))
	})
	name := x.newID(x.IDs[u.node.ID.Name] + "_when")
	u.before = append(u.before, &ir.Node{ID: convert.Name(name), Verb: convert.Call(whenFunc, convert.Pair("condition", convert.Literal(p.String())), convert.Pair("state", state))})
	return name
}

// inLine are the nodes of the line, each with what has to hold for it, and the edges between them. A node that fails lets the run go
// on with the next.
func (x *experience) inLine() {
	var ids []string
	gates := x.gates()
	for _, n := range x.tree.Nodes {
		if !slices.Contains(x.line, n) {
			continue
		}
		u := x.units[n]
		looks := slices.Clone(u.before)
		node := x.node(u, variables{})
		made := []*ir.Node{node}
		if n.Each == nil {
			made = append(slices.Clone(u.before[len(looks):]), node)
		}
		for _, m := range made {
			m.When = gates[n]
		}
		made = append(looks, made...)
		node.Join = 0
		x.made[n] = made
		x.Out.Body.Nodes = append(x.Out.Body.Nodes, made...)
	}
	for i, n := range x.line {
		to := "end"
		if i+1 < len(x.line) {
			to = x.made[x.line[i+1]][0].ID.Name
		}
		for _, m := range x.made[n] {
			ids = append(ids, m.ID.Name)
			for _, c := range m.Catch {
				c.Target = convert.Name(to)
			}
		}
	}
	for i := 1; i < len(ids); i++ {
		x.Out.Body.Edges = append(x.Out.Body.Edges, convert.Edge(ids[i-1], source.Span{}, ids[i]))
	}
}

// lineTest is a condition on the state where a node's turn comes; typed is false when the native language has no words for it.
func (x *experience) lineTest(p *dialect.Predicate, n *openexpertise.Node) (text string, typed bool) {
	typed = true
	c := convert.Condition{Converter: x.Converter, Strict: true, Else: func() { typed = false }}
	c.Place = func(r *dialect.Reference) (string, *schema.Type) {
		s := x.fields[strings.Join(r.Path, ".")]
		if r.Root != "state" || s == nil || !x.written(s.Name.Name) {
			return "", nil
		}
		return "state." + s.Name.Name, holds(s)
	}
	c.Never = func(r *dialect.Reference) bool {
		return r.Root == "state" && len(r.Path) > 0 && (x.fields[r.Path[0]] == nil || !x.written(r.Path[0]))
	}
	c.Lacks = func(r *dialect.Reference) bool {
		if s := x.fields[r.Path[0]]; s == nil || x.certain(r.Path[0], n) && !x.optional(s) {
			return false
		}
		x.mayLack(r.Path[0])
		return true
	}
	return c.Text(p), typed
}
