// Package openexpertise converts experiences of OpenExpertise to native workflows.
package openexpertise

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An experience is an OpenExpertise workflow while it is converted.
type experience struct {
	*convert.Converter
	tree   *openexpertise.Tree
	nodes  map[string]*openexpertise.Node
	units  map[*openexpertise.Node]*unit
	tools  *doc.Mapping
	shapes map[string]string // tool keys by module and signature
	fields map[string]*ir.State
	extra  map[*openexpertise.Node]*openexpertise.Node // the node that the engine runs before one, where no edge tells
}

// A unit is a node with what is known of its module.
type unit struct {
	node   *openexpertise.Node
	tree   *yamlnode.Node
	module *module
	writes []string // state fields
}

// Convert converts an experience. Its tools return {state_delta, edge_output}: the fields of the delta become what a
// node sets, with the types that the state declares.
func Convert(c *convert.Converter) {
	tree, _ := c.Workflow.Tree.(*openexpertise.Tree)
	x := &experience{Converter: c, tree: tree, nodes: map[string]*openexpertise.Node{}, units: map[*openexpertise.Node]*unit{}, tools: &doc.Mapping{}, shapes: map[string]string{}, fields: map[string]*ir.State{}, extra: map[*openexpertise.Node]*openexpertise.Node{}}
	x.sections()
	for _, s := range x.tree.State {
		x.fields[s.Name.Name] = s
	}
	for _, n := range x.tree.Nodes {
		x.nodes[n.ID.Name] = n
		x.unit(n)
	}
	if c.Refused {
		return
	}
	x.chain()
	x.conditions()
	x.appends()
	nodes := &doc.Mapping{}
	for _, n := range x.tree.Nodes {
		nodes.Add(c.IDs[n.ID.Name], x.node(x.units[n]), n.Span)
	}
	state, out := x.state()
	c.Doc.AddUnlessEmpty("state", state, source.Span{})
	c.Doc.AddUnlessEmpty("tools", x.tools, source.Span{})
	c.Doc.Add("nodes", nodes, source.Span{})
	c.Doc.AddUnlessEmpty("edges", x.edges(), source.Span{})
	c.Doc.AddUnlessEmpty("output", out, source.Span{})
	x.sideBySide()
}

// sections refuses what stands beside the graph and has no counterpart.
func (x *experience) sections() {
	rest := *x.tree.Workflow
	rest.Public, rest.Origin, rest.Tree, rest.Provided = false, "", nil, nil
	rest.File, rest.Name, rest.Description, rest.State, rest.Tools, rest.Body, rest.Includes = nil, ir.Ident{}, "", nil, nil, ir.Body{}, nil
	x.Rest(x.tree.Name.Span, "the experience", &rest)
	for _, ph := range x.tree.Phases {
		if ph.Kind != openexpertise.PhaseGraph {
			x.Refuse(ph.ID.Span, "write a `map` or a `loop` in the native language", "pipelines and loops are not converted")
		}
	}
	more := *x.tree
	more.Workflow, more.Nodes, more.Phases, more.Upstream, more.Concurrency = nil, nil, nil, false, 0
	x.Rest(x.tree.Name.Span, "the experience", &more)
}

// unit reads what a node's module says.
func (x *experience) unit(n *openexpertise.Node) {
	u := &unit{node: n, tree: convert.NodeAt(x.Root, n.Span)}
	x.units[n] = u
	rest := *n
	rest.ID, rest.Verb, rest.Span = ir.Ident{}, nil, source.Span{}
	rest.Args, rest.Reads, rest.ReadsSome, rest.Writes, rest.Routes, rest.Each, rest.Skips, rest.Attempts, rest.Base, rest.Double, rest.Times = nil, nil, false, nil, nil, nil, false, 0, 0, false, 0
	for _, id := range n.Writes {
		u.writes = append(u.writes, id.Name)
	}
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		x.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
		return
	}
	x.Rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	js, ok := call.Tool.Binding.(*ir.JSTool)
	if !ok {
		return
	}
	u.module = readModule(js.Bundle)
	if u.module.world != "" {
		x.Refuse(js.Path.Span, "hand it over as an argument, or as a secret", "the module looks at %s, which a tool of the native language does not see", u.module.world)
	}
	found, known := u.module.writes()
	if !known && len(u.writes) == 0 {
		x.Refuse(n.ID.Span, "write `writes`", "it cannot be read in the module which fields %s writes", n.ID.Name)
	}
	for _, f := range found {
		if x.fieldKnown(f) && !slices.Contains(u.writes, f) {
			u.writes = append(u.writes, f)
		}
	}
}

func (x *experience) fieldKnown(name string) bool {
	return slices.ContainsFunc(x.tree.State, func(s *ir.State) bool { return s.Name.Name == name })
}

// before reports whether a node runs before another whenever that one runs: all its predecessors have to do well.
func (x *experience) before(first, then *openexpertise.Node) bool {
	for _, r := range then.Routes {
		from := x.nodes[r.From.Name]
		if from == first || x.before(first, from) {
			return true
		}
	}
	extra := x.extra[then]
	return extra != nil && (extra == first || x.before(first, extra))
}

// chain puts nodes one after the other where the engine does and no edge tells. Only a node that always runs, and whose failure
// ends the run, can come before another that way.
func (x *experience) chain() {
	if x.tree.Concurrency > 1 {
		return
	}
	var order []*openexpertise.Node
	for _, ph := range x.tree.Phases {
		order = append(order, ph.Nodes...)
	}
	for i := 1; i < len(order); i++ {
		for j := i - 1; j >= 0; j-- {
			if x.before(order[j], order[i]) {
				break
			}
			if x.always(order[j]) {
				x.extra[order[i]] = order[j]
				break
			}
		}
	}
}

// certain reports whether a state field has a value where a node, or for nil the output, reads it.
func (x *experience) certain(field string, at *openexpertise.Node) bool {
	for _, w := range x.tree.Nodes {
		u := x.units[w]
		if u == nil || !slices.Contains(u.writes, field) || u.node.Each != nil {
			continue
		}
		if at != nil && x.before(u.node, at) || at == nil && x.always(u.node) {
			return true
		}
	}
	return false
}

// always reports whether a run that does not fail has run a node well.
func (x *experience) always(n *openexpertise.Node) bool {
	if n.Skips {
		return false
	}
	for _, r := range n.Routes {
		if r.When != nil || !x.always(x.nodes[r.From.Name]) {
			return false
		}
	}
	return true
}

// written reports whether any node writes a field.
func (x *experience) written(field string) bool {
	return slices.ContainsFunc(x.tree.Nodes, func(n *openexpertise.Node) bool { return slices.Contains(x.units[n].writes, field) })
}

// appends refuses lists that several nodes add to in an order that is another one here: the engine runs waves of nodes, and
// what runs side by side here writes in the order of the file.
func (x *experience) appends() {
	at := map[*openexpertise.Node]int{}
	for _, ph := range x.tree.Phases {
		for _, n := range ph.Nodes {
			at[n] = len(at)
		}
	}
	for _, s := range x.tree.State {
		if s.Merge.Kind != ir.MergeAppend {
			continue
		}
		var writers []*openexpertise.Node
		ordered, free := true, true
		for _, n := range x.tree.Nodes {
			if !slices.Contains(x.units[n].writes, s.Name.Name) {
				continue
			}
			for _, w := range writers {
				ordered = ordered && (x.before(w, n) || x.before(n, w))
				free = free && !x.before(w, n) && !x.before(n, w) && at[w] < at[n]
			}
			writers = append(writers, n)
		}
		if !ordered && !free {
			x.Refuse(s.Name.Span, "add edges between the nodes that write it", "several nodes add to state.%s in an order that no edges tell", s.Name.Name)
		}
	}
}

// optional reports whether the type of a field has to allow for its absence: somewhere it is read before it is certain.
func (x *experience) optional(s *ir.State) bool { return x.Opt[s.Name.Name] }

// holds is the type of what a field holds: one that is appended to holds lists.
func holds(s *ir.State) *schema.Type {
	if s.Merge.Kind == ir.MergeAppend {
		return schema.ListOf(schema.AnyType)
	}
	return s.Type
}

// read is the type of a field where it is read.
func (x *experience) read(s *ir.State) *schema.Type {
	if x.optional(s) {
		return schema.OptOf(holds(s), "")
	}
	return holds(s)
}

// mayLack notes that a field is read where it may be absent.
func (x *experience) mayLack(field string) {
	if s := x.fields[field]; s != nil && s.Merge.Kind != ir.MergeAppend && s.Type.Kind != schema.Any {
		x.Opt[field] = true
	}
}

// state writes the sections state and output. A field that no node writes is never there, and has no place.
func (x *experience) state() (state, out *doc.Mapping) {
	state, out = &doc.Mapping{}, &doc.Mapping{}
	for _, s := range x.tree.State {
		name := s.Name.Name
		if !x.written(name) {
			continue
		}
		x.FieldName(name, s.Name.Span)
		if !x.certain(name, nil) {
			x.mayLack(name)
		}
		v := x.Typ(x.read(s), s.Span)
		switch s.Merge.Kind {
		case ir.MergeAppend:
			v = doc.Flow(doc.Pair("type", v), doc.Pair("merge", doc.Scalar("append")))
		case ir.MergeSetOnce:
			v = doc.Flow(doc.Pair("type", v), doc.Pair("merge", doc.Scalar("set_once")))
		}
		state.Add(name, v, x.entryOf(s))
		out.Add(name, doc.Scalar("$state."+name), source.Span{})
	}
	return state, out
}

func (x *experience) entryOf(s *ir.State) source.Span {
	at := x.Entry("state", "schema", s.Name.Name)
	if at.IsZero() {
		return s.Name.Span
	}
	return at
}

// node writes a node.
func (x *experience) node(u *unit) doc.Value {
	n := u.node
	m := &doc.Mapping{}
	target := m
	result := x.IDs[n.ID.Name]
	vars := variables{}
	if n.Each != nil {
		vars = x.variables()
		result = x.inner(n)
		m.Add("map", doc.Scalar("$"+x.listPath(n.Each.Over, n)), convert.Below(u.tree, "for_each"))
		m.Add("as", doc.Scalar(vars.item), source.Span{})
		if u.module != nil && (u.module.reads("_item_index") || u.module.reads("$index")) {
			m.Add("index", doc.Scalar(vars.index), source.Span{})
		}
		m.Add("parallel", doc.Number(n.Each.Concurrency), source.Span{})
		m.Add("max_items", doc.Scalar("unbounded"), source.Span{})
		if n.Skips {
			x.Refuse(n.Each.Span, "write `on_error: fail_run`", "a failed item of %s skips the nodes after it, and the others keep what they wrote: this cannot be said", n.ID.Name)
		}
		target = &doc.Mapping{}
	}
	x.call(u, target, vars, result)
	if n.Each != nil {
		inside := &doc.Mapping{}
		inside.Add("nodes", &doc.Mapping{Entries: []*doc.Entry{doc.Pair(result, target)}}, source.Span{})
		inside.Add("result", doc.Scalar("$"+result), source.Span{})
		m.Add("do", inside, source.Span{})
	}
	if len(n.Routes) > 1 || len(n.Routes) == 1 && x.extra[n] != nil {
		m.Add("join", doc.Scalar("all"), source.Span{})
	}
	x.policy(u, m, target)
	return m
}

// inner is the name of the node that runs for each item.
func (x *experience) inner(n *openexpertise.Node) string {
	name := "each_" + x.IDs[n.ID.Name]
	if !convert.IsID(name) {
		x.Refuse(n.ID.Span, "rename it", "the node's name is too long")
	}
	return name
}

// variables are the names of the item and its place in a map.
type variables struct{ item, index string }

func (x *experience) variables() variables {
	free := func(name string) string {
		for slices.ContainsFunc(x.tree.Nodes, func(n *openexpertise.Node) bool { return x.IDs[n.ID.Name] == name }) {
			name += "_"
		}
		return name
	}
	return variables{free("item"), free("i")}
}

// followed reports whether nodes come after a node.
func (x *experience) followed(n *openexpertise.Node) bool {
	return slices.ContainsFunc(x.tree.Nodes, func(other *openexpertise.Node) bool {
		return slices.ContainsFunc(other.Routes, func(r *dialect.Route) bool { return r.From.Name == n.ID.Name })
	})
}

// listPath is the list of a for_each.
func (x *experience) listPath(r *dialect.Reference, n *openexpertise.Node) string {
	if r.Root != "state" || len(r.Path) != 1 || r.Filter != "" {
		x.Refuse(r.Text.Span, "", "only a field of the state can be gone through")
		return "state"
	}
	if !x.certain(r.Path[0], n) {
		x.Refuse(r.Text.Span, "let a node before it write the field", "state.%s may not have been written when %s goes through it", r.Path[0], n.ID.Name)
	}
	return "state." + r.Path[0]
}

// call writes the verb of a node: the tool, its arguments, and what is set of its result.
func (x *experience) call(u *unit, m *doc.Mapping, vars variables, result string) {
	tool := u.node.Verb.(*ir.ToolCall).Tool
	at := convert.Below(u.tree, "args")
	with, in := doc.Flow(), &doc.Mapping{Flow: true}
	switch b := tool.Binding.(type) {
	case *ir.JSTool:
		x.arguments(u, with, in, vars)
		m.Add("tool", doc.Scalar(x.jsTool(u, tool, b, in)), convert.Below(u.tree, "impl"))
		x.WithUnlessEmpty(m, with, at)
		x.sets(u, m, "$"+result+".state_delta.")
	case *ir.Made:
		x.dataset(u, m, b, result)
	default:
		x.Refuse(u.node.ID.Span, "", "the node %s is of a kind that is not converted", u.node.ID.Name)
	}
}

// sets writes what a node sets.
func (x *experience) sets(u *unit, m *doc.Mapping, from string) {
	set := doc.Flow()
	for _, f := range u.writes {
		set.Add(f, doc.Scalar(from+f), source.Span{})
	}
	if len(set.Entries) > 0 {
		m.Add("set", set, convert.Below(u.tree, "writes"))
	}
}
