package openexpertise

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// A round is a pipeline or a loop: a node of the native workflow that runs others again and again.
type round struct {
	*openexpertise.Phase
	id    string
	nodes []*openexpertise.Node // that ever run
	iter  string                // the state field in which a loop counts; empty: nothing reads it
}

// findRounds finds the pipelines and loops, and which node is in which. A node that is in several of them, or in one of them twice,
// is several native nodes.
func (x *experience) findRounds() {
	for _, ph := range x.tree.Phases {
		if ph.Kind == openexpertise.PhaseGraph {
			continue
		}
		own := *ph
		own.Nodes = nil
		r := &round{Phase: &own}
		x.rounds = append(x.rounds, r)
		for _, n := range ph.Nodes {
			if n.Each != nil {
				x.Refuse(n.Each.Span, "write the `map` into the native one", "the node %s has a for_each inside of a pipeline or a loop", n.ID.Name)
			}
			if x.in[n] != nil {
				n = x.again(n)
			}
			own.Nodes = append(own.Nodes, n)
			x.in[n] = r
		}
		r.nodes = own.Nodes
	}
}

// again is a further node like n.
func (x *experience) again(n *openexpertise.Node) *openexpertise.Node {
	c := *n
	for k := 2; slices.ContainsFunc(x.tree.Nodes, func(o *openexpertise.Node) bool { return o.ID.Name == c.ID.Name }); k++ {
		c.ID.Name = fmt.Sprintf("%s_%d", n.ID.Name, k)
	}
	if x.IDs[c.ID.Name] == "" { // in the first attempt
		x.IDs[c.ID.Name] = x.FreeID(convert.NativeID(c.ID.Name))
	}
	x.tree.Nodes = append(x.tree.Nodes, &c)
	return &c
}

// handing cuts pipelines off behind a stage that never hands anything on: it ends every item.
func (x *experience) handing() {
	for _, r := range x.rounds {
		r.id = convert.NativeID(r.ID.Name)
		for k := 2; x.FreeID(r.id) != r.id || slices.ContainsFunc(x.rounds, func(o *round) bool { return o != r && o.id == r.id }); k++ {
			r.id = convert.NativeID(fmt.Sprintf("%s_%d", r.ID.Name, k)) // pipelines may share an id
		}
		if r.Kind != openexpertise.PhasePipeline {
			continue
		}
		for i, n := range r.nodes[:len(r.nodes)-1] {
			switch m := x.units[n].module; {
			case m == nil || !m.says("edge_output"):
				x.Note(r.nodes[i+1].ID.Span, "", "%s hands nothing on, which ends each item: %s never runs, and is left out", n.ID.Name, r.nodes[i+1].ID.Name)
				for _, never := range r.nodes[i+1:] {
					delete(x.IDs, never.ID.Name)
				}
				r.nodes = r.nodes[:i+1]
			case !m.neverNull():
				x.Refuse(n.ID.Span, "write `edge_output` as text, a mapping or a list", "the edge_output of %s may be null, after which the item goes on, and undefined, after which it does not: the native language knows no difference", n.ID.Name)
			default:
				continue
			}
			break
		}
	}
}

// runs reports whether a node ever runs.
func (x *experience) runs(n *openexpertise.Node) bool {
	r := x.in[n]
	return !x.gone[n] && (r == nil || slices.Contains(r.nodes, n))
}

// roundLeads are the nodes that have done well whenever a node of a pipeline or a loop runs. It may not run at all.
func (x *experience) roundLeads(r *round, n *openexpertise.Node) []convert.Lead[*openexpertise.Node] {
	list := []convert.Lead[*openexpertise.Node]{{}}
	for _, m := range r.nodes {
		if m == n {
			break
		}
		if r.Kind == openexpertise.PhasePipeline || !m.Skips {
			list = append(list, convert.Lead[*openexpertise.Node]{From: m})
		}
	}
	for _, m := range x.tree.Nodes {
		if x.in[m] == nil && x.order.Always(m) {
			list = append(list, convert.Lead[*openexpertise.Node]{From: m})
		}
	}
	return list
}

// before reports whether the engine runs a node before another, because edges say so or a pipeline or a loop does.
func (x *experience) before(a, b *openexpertise.Node) bool {
	if a == b {
		return false
	}
	at := func(n *openexpertise.Node) int {
		if x.in[n] == nil {
			return -1
		}
		return slices.Index(x.rounds, x.in[n])
	}
	if i, j := slices.Index(x.line, a), slices.Index(x.line, b); i >= 0 && j >= 0 {
		return i < j
	}
	if x.in[a] != nil && x.in[a] == x.in[b] {
		return slices.Index(x.in[a].Nodes, a) < slices.Index(x.in[a].Nodes, b)
	}
	return at(a) < at(b) || x.order.Before(a, b)
}

// roundNodes are the pipelines and loops, one after the other.
func (x *experience) roundNodes() {
	last, ok := x.lasts()
	if !ok {
		x.Refuse(x.rounds[0].Span, "let a node without conditions end the graph", "no node certainly runs before the %s %s", x.rounds[0].what(), x.rounds[0].ID.Name)
		return
	}
	for _, r := range x.rounds {
		n := &ir.Node{ID: ir.Ident{Name: r.id}, Span: r.Span}
		if r.Kind == openexpertise.PhasePipeline {
			vars := x.variables()
			over := "state"
			if r.Over != nil {
				over = x.listPath(r.Over, r.Nodes[0], r.ID.Name)
			}
			m := &ir.Map{Over: convert.Ref(over), As: convert.Name(vars.item), Parallel: 1, Do: x.roundBody(r, vars)}
			if slices.ContainsFunc(r.nodes, func(n *openexpertise.Node) bool { return x.counts(n, "index", "$index", "_item_index") }) {
				m.Index = &ir.Ident{Name: vars.index}
			}
			n.Verb = m
		} else {
			n.Verb = x.loop(r, n)
		}
		x.Out.Body.Nodes = append(x.Out.Body.Nodes, n)
		if x.line != nil && r == x.rounds[0] {
			for _, m := range x.made[x.line[len(x.line)-1]] {
				for _, c := range m.Catch {
					c.Target = convert.Name(r.id)
				}
			}
		}
		for _, from := range last {
			x.Out.Body.Edges = append(x.Out.Body.Edges, convert.Edge(from, source.Span{}, r.id))
		}
		last = []string{r.id}
	}
}

func (r *round) what() string {
	if r.Kind == openexpertise.PhasePipeline {
		return "pipeline"
	}
	return "loop"
}

// counts reports whether a node reads what a round is called by: the module one of its names, or the prompt the root.
func (x *experience) counts(n *openexpertise.Node, root string, names ...string) bool {
	if m := x.units[n].module; m != nil {
		return slices.ContainsFunc(names, m.reads)
	}
	return n.Prompt != nil && slices.ContainsFunc(n.Prompt.Segments, func(s dialect.MixedSegment) bool { return s.Ref != nil && s.Ref.Root == root })
}

// loop is a loop. The engine looks at its condition before each round, the native language after it: whether there is a first
// round is the condition of the node.
func (x *experience) loop(r *round, node *ir.Node) *ir.Loop {
	v := &ir.Loop{Max: r.Max}
	if r.Until != nil {
		c := convert.Condition{Converter: x.Converter}
		c.Place = func(ref *dialect.Reference) (string, *schema.Type) {
			s := x.fields[strings.Join(ref.Path, ".")]
			if ref.Root != "state" || s == nil || !x.written(s.Name.Name) {
				return "", nil
			}
			return "state." + s.Name.Name, holds(s)
		}
		c.Lacks = func(ref *dialect.Reference) bool {
			if s := x.fields[ref.Path[0]]; s == nil || x.certain(ref.Path[0], r.Nodes[0]) && !x.optional(s) {
				return false
			}
			x.mayLack(ref.Path[0])
			return true
		}
		r.Until.Refs(func(ref *dialect.Reference) {
			if s := x.fields[strings.Join(ref.Path, ".")]; s != nil && holds(s).Kind == schema.List && !x.certain(s.Name.Name, r.Nodes[0]) && s.Merge.Kind != ir.MergeAppend {
				x.Refuse(ref.Text.Span, "let a node before the loop write the field", "state.%s may not have been written when the loop %s begins", s.Name.Name, r.ID.Name)
			}
		})
		node.When, v.Until, v.GoOn = convert.Ref(c.Not(r.Until)), convert.Ref(c.Text(r.Until)), true
	}
	if slices.ContainsFunc(r.nodes, func(n *openexpertise.Node) bool { return x.counts(n, "iter", "$iter") }) {
		r.iter = convert.Free(r.id+"_iter", func(name string) bool { return x.fields[name] != nil })
	}
	v.Do = x.roundBody(r, variables{})
	return v
}

// roundBody are the nodes of a round, one after the other. A stage of a pipeline that fails, or hands nothing on, ends the item;
// a loop goes on with its next node.
func (x *experience) roundBody(r *round, vars variables) ir.Body {
	var do ir.Body
	var from *openexpertise.Node
	for i, n := range r.nodes {
		u := x.units[n]
		node := x.node(u, vars)
		id := node.ID.Name
		if from != nil {
			e := convert.Edge(x.IDs[from.ID.Name], source.Span{}, x.begins(u))
			if r.Kind == openexpertise.PhasePipeline {
				e.When = convert.Ref(e.From.Name + ".edge_output != null")
			}
			do.Edges = append(do.Edges, e)
		}
		for _, b := range u.before {
			next := u.before[slices.Index(u.before, b):][1:]
			to := id
			if len(next) > 0 {
				to = next[0].ID.Name
			}
			do.Edges = append(do.Edges, convert.Edge(b.ID.Name, source.Span{}, to))
		}
		do.Nodes = append(append(do.Nodes, u.before...), node)
		if r.Kind == openexpertise.PhaseLoop {
			to := "end"
			switch {
			case i < len(r.nodes)-1:
				to = x.begins(x.units[r.nodes[i+1]])
			case r.iter != "" && n.Skips:
				to = x.FreeID(r.id + "_next")
			}
			for _, c := range node.Catch {
				c.Target = convert.Name(to)
			}
		}
		from = n
	}
	last := do.Nodes[len(do.Nodes)-1]
	do.Result = convert.Ref(last.ID.Name)
	switch step := convert.Set(r.iter, "state."+r.iter+" + 1"); {
	case r.iter == "":
	case !from.Skips:
		last.Set = append(last.Set, step)
	default: // also in a round whose last node has failed
		next := x.FreeID(r.id + "_next")
		do.Nodes = append(do.Nodes, &ir.Node{ID: convert.Name(next), Verb: &ir.Let{}, Set: []*ir.Set{step}})
		do.Edges = append(do.Edges, convert.Edge(last.ID.Name, source.Span{}, next))
		do.Result = convert.Ref("state." + r.iter)
	}
	return do
}

// lasts are the nodes of the graph that nothing comes after, one of which certainly runs; none: the graph has no nodes.
func (x *experience) lasts() (ids []string, ok bool) {
	if x.line != nil {
		last := x.made[x.line[len(x.line)-1]]
		return []string{last[len(last)-1].ID.Name}, true
	}
	certain, any := "", false
	for _, n := range x.tree.Nodes {
		if x.in[n] != nil {
			continue
		}
		any = true
		id := x.IDs[n.ID.Name]
		always := x.order.Always(n)
		if always {
			certain = id
		}
		if !slices.ContainsFunc(x.Out.Body.Edges, func(e *ir.Edge) bool { return e.From.Name == id && e.To[0].Name != "end" }) {
			ids = append(ids, id)
			ok = ok || always
		}
	}
	x.Out.Body.Edges = slices.DeleteFunc(x.Out.Body.Edges, func(e *ir.Edge) bool { return e.To[0].Name == "end" })
	if any && !ok && certain != "" {
		ids, ok = append(ids, certain), true
	}
	return ids, ok || !any
}

// roundNames are what a round adds to the arguments of a module, with their values.
func (x *experience) roundNames(u *unit, vars variables) (list []*ir.Entry) {
	add := func(name string, v ir.Value) {
		if !x.tree.Upstream || name[0] != '_' {
			list = append(list, convert.Pair(name, v))
		}
	}
	r := x.in[u.node]
	if u.node.Each != nil || r != nil && r.Kind == openexpertise.PhasePipeline {
		add("_item", convert.Ref(vars.item))
		add("_item_index", convert.Ref(vars.index))
		add("$item", convert.Ref(vars.item))
		add("$index", convert.Ref(vars.index))
	}
	switch {
	case r == nil:
	case r.Kind == openexpertise.PhasePipeline:
		add("$pipeline", convert.Literal(r.ID.Name))
	default:
		add("$iter", convert.Ref("state."+r.iter))
		add("$loop", convert.Literal(r.ID.Name))
	}
	return list
}

// nameType is the type of what a round adds.
func nameType(name string) *schema.Type {
	switch name {
	case "_item", "$item":
		return schema.AnyType
	case "$pipeline", "$loop":
		return schema.StringType
	}
	return schema.IntType
}

var handed = regexp.MustCompile(`\bedge_output\b\s*(:?)\s*`)

// neverNull reports whether the edge_output that a module writes is text, a number, a mapping or a list wherever it stands.
func (m *module) neverNull() bool {
	for _, at := range handed.FindAllStringSubmatchIndex(m.text, -1) {
		if at[2] == at[3] || !constant(m.text[at[1]:]) {
			return false
		}
	}
	return true
}

// constant reports whether a text begins with a literal that is a value of its own, perhaps where another value would be undefined.
func constant(text string) bool {
	if c := choice.FindStringIndex(text); c != nil {
		return literal(text[c[1]:], ": void 0 }", ": void 0,")
	}
	return literal(text, ",", "}")
}

var choice = regexp.MustCompile(`^[\w$.]+ \? `)

// literal reports whether a text begins with a literal that one of the ends follows.
func literal(text string, ends ...string) bool {
	depth, end := 0, 0
	for i := 0; i < len(text) && end == 0; i++ {
		switch c := text[i]; {
		case strings.IndexByte("{[", c) >= 0:
			depth++
		case strings.IndexByte("}]", c) >= 0:
			if depth--; depth <= 0 {
				end = i + 1
			}
		case strings.IndexByte("\"'`", c) >= 0:
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 || strings.Contains(text[i+1:i+1+n], "\\") {
				return false
			}
			if i += n + 1; depth == 0 {
				end = i + 1
			}
		case depth == 0:
			return false
		}
	}
	rest := strings.TrimLeft(text[end:], " \n\t")
	return end > 0 && slices.ContainsFunc(ends, func(e string) bool { return strings.HasPrefix(rest, e) })
}
