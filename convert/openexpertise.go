package convert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An experience is an OpenExpertise workflow while it is converted.
type experience struct {
	*converter
	nodes  map[string]*ir.Node
	units  map[*ir.Node]*unit
	tools  *mapping
	shapes map[string]string // tool keys by module and signature
	fields map[string]*ir.State
	extra  map[*ir.Node]*ir.Node // the node that the engine runs before one, where no edge tells
}

// A unit is a node with what is known of its module.
type unit struct {
	node   *ir.Node
	tree   *yamlnode.Node
	module *module
	writes []string // state fields
}

// openexpertise converts an experience. Its tools return {state_delta, edge_output}: the fields of the delta become what a
// node sets, with the types that the state declares.
func (c *converter) openexpertise() {
	x := &experience{converter: c, nodes: map[string]*ir.Node{}, units: map[*ir.Node]*unit{}, tools: &mapping{}, shapes: map[string]string{}, fields: map[string]*ir.State{}, extra: map[*ir.Node]*ir.Node{}}
	x.sections()
	for _, s := range c.wf.State {
		x.fields[s.Name.Name] = s
	}
	for _, n := range c.wf.Body.Nodes {
		x.nodes[n.ID.Name] = n
		x.unit(n)
	}
	if c.refused {
		return
	}
	x.chain()
	x.conditions()
	x.appends()
	nodes := &mapping{}
	for _, n := range c.wf.Body.Nodes {
		nodes.add(c.ids[n.ID.Name], x.node(x.units[n]), n.Span)
	}
	state, out := x.state()
	c.doc.addUnlessEmpty("state", state, source.Span{})
	c.doc.addUnlessEmpty("tools", x.tools, source.Span{})
	c.doc.add("nodes", nodes, source.Span{})
	c.doc.addUnlessEmpty("edges", x.edges(), source.Span{})
	c.doc.addUnlessEmpty("output", out, source.Span{})
	x.sideBySide()
}

// sections refuses what stands beside the graph and has no counterpart.
func (x *experience) sections() {
	rest := *x.wf
	rest.Public = false
	rest.File, rest.Name, rest.Description, rest.State, rest.Tools, rest.Body, rest.Dynamic, rest.Includes = nil, ir.Ident{}, "", nil, nil, ir.Body{}, nil, nil
	x.rest(x.wf.Name.Span, "the experience", &rest)
	d := *x.wf.Dynamic
	for _, ph := range d.Phases {
		if ph.Kind != ir.PhaseGraph {
			x.refuse(ph.ID.Span, "write a `map` or a `loop` in the native language", "pipelines and loops are not converted")
		}
	}
	d.Dialect, d.Upstream, d.Concurrency, d.Phases = "", false, 0, nil
	x.rest(x.wf.Name.Span, "the experience", &d)
}

// unit reads what a node's module says.
func (x *experience) unit(n *ir.Node) {
	u := &unit{node: n, tree: nodeAt(x.root, n.Span)}
	x.units[n] = u
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Result, rest.Dynamic = ir.Ident{}, nil, source.Span{}, nil, nil
	x.rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	d := *n.Dynamic
	d.Args, d.Reads, d.ReadsSome, d.Writes, d.Routes, d.Each, d.OnSpent, d.Attempts, d.Base, d.Double, d.Times = nil, nil, false, nil, nil, nil, 0, 0, 0, false, 0
	for _, id := range n.Dynamic.Writes {
		u.writes = append(u.writes, id.Name)
	}
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		x.refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
		return
	}
	x.rest(n.ID.Span, "the node "+n.ID.Name, &d)
	js, ok := call.Tool.Binding.(*ir.JSTool)
	if !ok {
		return
	}
	u.module = readModule(js.Bundle)
	if u.module.world != "" {
		x.refuse(js.Path.Span, "hand it over as an argument, or as a secret", "the module looks at %s, which a tool of the native language does not see", u.module.world)
	}
	found, known := u.module.writes()
	if !known && len(u.writes) == 0 {
		x.refuse(n.ID.Span, "write `writes`", "it cannot be read in the module which fields %s writes", n.ID.Name)
	}
	for _, f := range found {
		if x.fieldKnown(f) && !slices.Contains(u.writes, f) {
			u.writes = append(u.writes, f)
		}
	}
}

func (x *experience) fieldKnown(name string) bool {
	return slices.ContainsFunc(x.wf.State, func(s *ir.State) bool { return s.Name.Name == name })
}

// before reports whether a node runs before another whenever that one runs: all its predecessors have to do well.
func (x *experience) before(first, then *ir.Node) bool {
	for _, r := range then.Dynamic.Routes {
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
	if x.wf.Dynamic.Concurrency > 1 {
		return
	}
	var order []*ir.Node
	for _, ph := range x.p.Phases {
		for _, wave := range ph.Waves {
			for _, s := range wave {
				order = append(order, s.Node)
			}
		}
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
func (x *experience) certain(field string, at *ir.Node) bool {
	for _, w := range x.wf.Body.Nodes {
		u := x.units[w]
		if u == nil || !slices.Contains(u.writes, field) || u.node.Dynamic.Each != nil {
			continue
		}
		if at != nil && x.before(u.node, at) || at == nil && x.always(u.node) {
			return true
		}
	}
	return false
}

// always reports whether a run that does not fail has run a node well.
func (x *experience) always(n *ir.Node) bool {
	if n.Dynamic.OnSpent != ir.SpentFail {
		return false
	}
	for _, r := range n.Dynamic.Routes {
		if r.When != nil || !x.always(x.nodes[r.From.Name]) {
			return false
		}
	}
	return true
}

// written reports whether any node writes a field.
func (x *experience) written(field string) bool {
	return slices.ContainsFunc(x.wf.Body.Nodes, func(n *ir.Node) bool { return slices.Contains(x.units[n].writes, field) })
}

// appends refuses lists that several nodes add to in an order that is another one here: the engine runs waves of nodes, and
// what runs side by side here writes in the order of the file.
func (x *experience) appends() {
	at := map[*ir.Node]int{}
	for _, ph := range x.p.Phases {
		for _, wave := range ph.Waves {
			for _, s := range wave {
				at[s.Node] = len(at)
			}
		}
	}
	for _, s := range x.wf.State {
		if s.Merge.Kind != ir.MergeAppend {
			continue
		}
		var writers []*ir.Node
		ordered, free := true, true
		for _, n := range x.wf.Body.Nodes {
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
			x.refuse(s.Name.Span, "add edges between the nodes that write it", "several nodes add to state.%s in an order that no edges tell", s.Name.Name)
		}
	}
}

// optional reports whether the type of a field has to allow for its absence: somewhere it is read before it is certain.
func (x *experience) optional(s *ir.State) bool { return x.opt[s.Name.Name] }

// mayLack notes that a field is read where it may be absent.
func (x *experience) mayLack(field string) {
	if s := x.fields[field]; s != nil && s.Merge.Kind != ir.MergeAppend && s.Type.Kind != schema.Any {
		x.opt[field] = true
	}
}

// state writes the sections state and output. A field that no node writes is never there, and has no place.
func (x *experience) state() (state, out *mapping) {
	state, out = &mapping{}, &mapping{}
	for _, s := range x.wf.State {
		name := s.Name.Name
		if !x.written(name) {
			continue
		}
		x.fieldName(name, s.Name.Span)
		if !x.certain(name, nil) {
			x.mayLack(name)
		}
		typ := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			typ = schema.ListOf(schema.AnyType)
		}
		if x.optional(s) {
			typ = schema.OptOf(typ, "")
		}
		v := x.typ(typ, s.Span)
		switch s.Merge.Kind {
		case ir.MergeAppend:
			v = flow(pair("type", v), pair("merge", scalar("append")))
		case ir.MergeSetOnce:
			v = flow(pair("type", v), pair("merge", scalar("set_once")))
		}
		state.add(name, v, x.entryOf(s))
		out.add(name, scalar("$state."+name), source.Span{})
	}
	return state, out
}

func (x *experience) entryOf(s *ir.State) source.Span {
	at := x.entry("state", "schema", s.Name.Name)
	if at.IsZero() {
		return s.Name.Span
	}
	return at
}

// node writes a node.
func (x *experience) node(u *unit) value {
	n, d := u.node, u.node.Dynamic
	m := &mapping{}
	target := m
	result := x.ids[n.ID.Name]
	vars := variables{}
	if d.Each != nil {
		vars = x.variables()
		result = x.inner(n)
		m.add("map", scalar("$"+x.listPath(d.Each.Over, n)), below(u.tree, "for_each"))
		m.add("as", scalar(vars.item), source.Span{})
		if u.module != nil && u.module.reads("_item_index") {
			m.add("index", scalar(vars.index), source.Span{})
		}
		m.add("parallel", number(d.Each.Concurrency), source.Span{})
		m.add("max_items", scalar("unbounded"), source.Span{})
		if d.OnSpent == ir.SpentSkip {
			x.refuse(d.Each.Span, "write `on_error: fail_run`", "a failed item of %s skips the nodes after it, and the others keep what they wrote: this cannot be said", n.ID.Name)
		}
		target = &mapping{}
	}
	x.call(u, target, vars, result)
	if d.Each != nil {
		inside := &mapping{}
		inside.add("nodes", &mapping{entries: []*entry{pair(result, target)}}, source.Span{})
		inside.add("result", scalar("$"+result), source.Span{})
		m.add("do", inside, source.Span{})
	}
	if len(d.Routes) > 1 || len(d.Routes) == 1 && x.extra[n] != nil {
		m.add("join", scalar("all"), source.Span{})
	}
	x.policy(u, m, target)
	return m
}

// inner is the name of the node that runs for each item.
func (x *experience) inner(n *ir.Node) string {
	name := "each_" + x.ids[n.ID.Name]
	if !isID(name) {
		x.refuse(n.ID.Span, "rename it", "the node's name is too long")
	}
	return name
}

// variables are the names of the item and its place in a map.
type variables struct{ item, index string }

func (x *experience) variables() variables {
	free := func(name string) string {
		for slices.ContainsFunc(x.wf.Body.Nodes, func(n *ir.Node) bool { return x.ids[n.ID.Name] == name }) {
			name += "_"
		}
		return name
	}
	return variables{free("item"), free("i")}
}

// followed reports whether nodes come after a node.
func (x *experience) followed(n *ir.Node) bool {
	return slices.ContainsFunc(x.wf.Body.Nodes, func(other *ir.Node) bool {
		return slices.ContainsFunc(other.Dynamic.Routes, func(r *ir.Route) bool { return r.From.Name == n.ID.Name })
	})
}

// listPath is the list of a for_each.
func (x *experience) listPath(r *ir.Reference, n *ir.Node) string {
	if r.Root != "state" || len(r.Path) != 1 || r.Filter != "" {
		x.refuse(r.Text.Span, "", "only a field of the state can be gone through")
		return "state"
	}
	if !x.certain(r.Path[0], n) {
		x.refuse(r.Text.Span, "let a node before it write the field", "state.%s may not have been written when %s goes through it", r.Path[0], n.ID.Name)
	}
	return "state." + r.Path[0]
}

// call writes the verb of a node: the tool, its arguments, and what is set of its result.
func (x *experience) call(u *unit, m *mapping, vars variables, result string) {
	tool := u.node.Verb.(*ir.ToolCall).Tool
	at := below(u.tree, "args")
	with, in := flow(), &mapping{flow: true}
	switch b := tool.Binding.(type) {
	case *ir.JSTool:
		x.arguments(u, with, in, vars)
		m.add("tool", scalar(x.jsTool(u, tool, b, in)), below(u.tree, "impl"))
		x.withUnlessEmpty(m, with, at)
		x.sets(u, m, "$"+result+".state_delta.")
	case *ir.DatasetTool:
		x.dataset(u, m, b, result)
	default:
		x.refuse(u.node.ID.Span, "", "the node %s is of a kind that is not converted", u.node.ID.Name)
	}
}

// sets writes what a node sets.
func (x *experience) sets(u *unit, m *mapping, from string) {
	set := flow()
	for _, f := range u.writes {
		set.add(f, scalar(from+f), source.Span{})
	}
	if len(set.entries) > 0 {
		m.add("set", set, below(u.tree, "writes"))
	}
}

// datasetFunc reads records in the native language.
const datasetFunc = schema.RuntimePath + "/openexpertise.Records"

// dataset writes a node that reads a file of records.
func (x *experience) dataset(u *unit, m *mapping, b *ir.DatasetTool, result string) {
	const name = "records"
	rest := *b
	rest.Kind, rest.URI, rest.Format = "", ir.Ident{}, ""
	if x.rest(u.node.ID.Span, "the dataset", &rest); b.Kind != "file" {
		x.refuse(b.URI.Span, "read it in a tool", "datasets of the kind %s are not converted", b.Kind)
	}
	if _, is := x.shapes[datasetFunc]; !is {
		x.shapes[datasetFunc] = x.toolName(name)
		x.tools.add(x.shapes[datasetFunc], flow(pair("go", scalar(quoted(datasetFunc))), pair("effects", scalar("reads"))), source.Span{})
	}
	m.add("tool", scalar(x.shapes[datasetFunc]), source.Span{})
	m.add("with", flow(pair("uri", constant(&ir.Scalar{Text: source.Text{Value: b.URI.Name}, Tag: "!!str"})), pair("format", scalar(b.Format))), below(u.tree, "source"))
	m.add("set", flow(pair(u.writes[0], scalar("$"+result))), below(u.tree, "writes"))
}

// toolName is a key that no other tool has.
func (x *experience) toolName(name string) string {
	name = nativeID(name)
	for slices.ContainsFunc(x.tools.entries, func(e *entry) bool { return e.key == name }) {
		name += "_"
	}
	return name
}

// jsTool is the key of a module's tool. Nodes that call a module in the same way share one.
func (x *experience) jsTool(u *unit, tool *ir.Tool, b *ir.JSTool, in *mapping) string {
	delta := flow()
	for _, f := range u.writes {
		s := x.fields[f]
		typ := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			typ = schema.ListOf(schema.AnyType)
		}
		delta.add(f, x.typ(typ, s.Span), source.Span{})
	}
	out := flow()
	if len(delta.entries) > 0 || u.module.says("state_delta") {
		out.add("state_delta", delta, source.Span{})
	}
	if x.handsOn(u) {
		out.add("edge_output", scalar("any"), source.Span{})
	} else if u.module.says("edge_output") {
		out.add("edge_output", scalar("opt<any>"), source.Span{})
	}
	if u.module.says("metrics") {
		out.add("metrics", scalar("opt<any>"), source.Span{})
	}
	if len(out.entries) == 0 { // what it may return, and nothing else
		out.add("edge_output", scalar("opt<any>"), source.Span{})
		out.add("metrics", scalar("opt<any>"), source.Span{})
	}
	def := &mapping{}
	def.add("js", scalar(quoted(jsPath(b.Path.Name))), source.Span{})
	def.add("in", in, source.Span{})
	def.add("out", out, source.Span{})
	def.add("effects", scalar("external"), source.Span{})
	key := write(nil, def, nil)
	if name, is := x.shapes[key]; is {
		return name
	}
	name := tool.Key.Name
	if slices.ContainsFunc(x.tools.entries, func(e *entry) bool { return e.key == nativeID(name) }) {
		name = x.ids[u.node.ID.Name]
	}
	x.shapes[key] = x.toolName(name)
	x.tools.add(x.shapes[key], def, source.Span{})
	return x.shapes[key]
}

// jsPath is a module as the native language names it.
func jsPath(name string) string {
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return name
	}
	return "./" + name
}

// handsOn reports whether a node after u reads its edge_output.
func (x *experience) handsOn(u *unit) bool {
	for _, n := range x.wf.Body.Nodes {
		v := x.units[n]
		if v.module == nil || !v.module.reads("_edge_inputs") || !slices.ContainsFunc(n.Dynamic.Routes, func(r *ir.Route) bool { return r.From.Name == u.node.ID.Name }) {
			continue
		}
		if p := v.module.looks("_edge_inputs"); (p.whole || slices.Contains(p.fields, u.node.ID.Name)) && (u.module == nil || u.module.says("edge_output")) {
			return true
		}
	}
	return false
}

// arguments writes what a module is given: its args, and of what the engine adds the parts that it can see.
func (x *experience) arguments(u *unit, with, in *mapping, vars variables) {
	d := u.node.Dynamic
	own := map[string]bool{}
	if d.Args != nil {
		for _, e := range d.Args.Entries {
			if !fieldForm.MatchString(e.Key.Name) {
				x.refuse(e.Key.Span, "rename it", "an argument called %q has no place in the native language: names are letters, digits and _", e.Key.Name)
				continue
			}
			own[e.Key.Name] = true
			v, typ := x.argument(e.Value, u.node)
			with.add(e.Key.Name, v, join(e.Key.Span, e.Value.Source()))
			in.add(e.Key.Name, typ, source.Span{})
		}
	}
	mod := u.module
	for _, name := range []string{"$item", "$index", "$pipeline", "$loop", "$iter"} {
		if slices.Contains(mod.names, name) || mod.whole && mod.says(name) {
			x.refuse(u.node.ID.Span, "read `_item` and `_item_index`", "the module reads %s, which is no name in the native language", name)
		}
	}
	if d.Each != nil {
		if mod.all() {
			x.refuse(u.node.ID.Span, "take the parts that it needs out of its argument", "the module can see its argument as a whole, in which the engine puts $item and $index")
		}
		if mod.reads("_item") && !own["_item"] {
			with.add("_item", scalar("$"+vars.item), source.Span{})
			in.add("_item", scalar("any"), source.Span{})
		}
		if mod.reads("_item_index") && !own["_item_index"] {
			with.add("_item_index", scalar("$"+vars.index), source.Span{})
			in.add("_item_index", scalar("int"), source.Span{})
		}
	}
	if mod.reads("_edge_inputs") {
		x.edgeInputs(u, with, in)
	}
	if mod.reads("_state") && !own["_state"] {
		x.stateOf(u, with, in)
	}
}

// edgeInputs hands on what the nodes before have given.
func (x *experience) edgeInputs(u *unit, with, in *mapping) {
	p := u.module.looks("_edge_inputs")
	v := flow()
	for _, r := range u.node.Dynamic.Routes {
		from := x.units[x.nodes[r.From.Name]]
		if !p.whole && !slices.Contains(p.fields, r.From.Name) {
			continue
		}
		switch {
		case from.module == nil || !from.module.says("edge_output"):
			continue
		case from.node.Dynamic.Each != nil:
			x.refuse(r.Span, "write it to the state", "the edge_output of a for_each is that of its last item: this is not converted")
		}
		if !slices.ContainsFunc(v.entries, func(e *entry) bool { return e.key == r.From.Name }) {
			v.add(r.From.Name, scalar("$"+x.ids[r.From.Name]+".edge_output"), source.Span{})
		}
	}
	with.add("_edge_inputs", v, source.Span{})
	in.add("_edge_inputs", scalar("map<any>"), source.Span{})
}

// stateOf hands over the fields of the state that a module reads.
func (x *experience) stateOf(u *unit, with, in *mapping) {
	p := u.module.looks("_state")
	if x.wf.Dynamic.Upstream && u.node.Dynamic.ReadsSome {
		x.refuse(u.node.ID.Span, "convert without --compat upstream", "the engine's _state has the fields of `reads` only")
	}
	fields := p.fields
	if p.whole {
		fields = nil
		for _, s := range x.wf.State {
			fields = append(fields, s.Name.Name)
		}
	}
	v, typ := flow(), flow()
	for _, f := range fields {
		s := x.fields[f]
		if s == nil || !x.written(f) {
			continue
		}
		t := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			t = schema.ListOf(schema.AnyType)
		}
		if !x.certain(f, u.node) {
			if p.whole || p.exact[f] {
				x.refuse(u.node.ID.Span, fmt.Sprintf("read it as `_state.%s ?? ...`", f), "state.%s may not have been written when %s reads it: to the module it would be null instead of undefined", f, u.node.ID.Name)
			}
			x.mayLack(f)
		}
		if x.optional(s) {
			t = schema.OptOf(t, "")
		}
		v.add(f, scalar("$state."+f), source.Span{})
		typ.add(f, x.typ(t, s.Span), source.Span{})
	}
	if len(v.entries) == 0 {
		with.add("_state", flow(), source.Span{})
		in.add("_state", scalar("map<any>"), source.Span{})
		return
	}
	with.add("_state", v, below(u.tree, "reads"))
	in.add("_state", typ, source.Span{})
}

// argument is a value of args, and its type.
func (x *experience) argument(v ir.Value, n *ir.Node) (value, value) {
	switch v := v.(type) {
	case *ir.Scalar:
		types := map[string]string{"!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "any"}
		if t := types[v.Tag]; t != "" {
			return constant(v), scalar(t)
		}
		return constant(v), scalar("string")
	case *ir.Reference:
		if v.Root != "state" || len(v.Path) != 1 || v.Filter != "" {
			x.refuse(v.Text.Span, "write the part to a field of its own", "a path into a value whose shape is not declared has no counterpart")
			return scalar("null"), scalar("any")
		}
		s := x.fields[v.Path[0]]
		if s == nil || !x.written(v.Path[0]) || !x.certain(v.Path[0], n) {
			x.refuse(v.Text.Span, "let a node before it write the field", "state.%s may not have been written here", v.Path[0])
			return scalar("null"), scalar("any")
		}
		typ := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			typ = schema.ListOf(schema.AnyType)
		}
		if x.optional(s) {
			typ = schema.OptOf(typ, "")
		}
		return scalar("$state." + v.Path[0]), x.typ(typ, v.Text.Span)
	case *ir.List:
		l := &list{flow: true}
		for _, it := range v.Items {
			one, _ := x.argument(it, n)
			l.add(one, it.Source())
		}
		return l, scalar("any")
	case *ir.Object:
		m := flow()
		for _, e := range v.Entries {
			one, _ := x.argument(e.Value, n)
			m.add(key(e.Key.Name), one, join(e.Key.Span, e.Value.Source()))
		}
		return m, scalar("any")
	}
	x.refuse(v.Source(), "", "this value cannot be written in the native language")
	return scalar("null"), scalar("any")
}

// policy writes what an error does to a node.
func (x *experience) policy(u *unit, m, inner *mapping) {
	d := u.node.Dynamic
	at := below(u.tree, "on_error")
	codes, ends := &list{flow: true}, flow()
	for _, code := range x.failures(u) {
		codes.add(scalar(code), source.Span{})
		ends.add(code, scalar("end"), source.Span{})
	}
	if d.Attempts > 1 {
		retry := flow(pair("attempts", number(d.Attempts)))
		if u.module == nil {
			codes.items = nil
			for _, code := range schema.ErrorCodes {
				codes.add(scalar(code), source.Span{})
			}
		}
		retry.add("codes", codes, source.Span{})
		if !d.Double {
			retry.add("backoff", scalar("constant"), source.Span{})
			if d.Attempts > 2 && d.Base > 0 {
				x.note(u.node.ID.Span, "", "the engine waits longer before each attempt of %s; the native node waits %v each time", u.node.ID.Name, d.Base)
			}
		}
		retry.add("base", scalar(duration(max(d.Base, time.Millisecond))), source.Span{})
		if most := d.Base << min(d.Attempts-2, 30); d.Double && most > 30*time.Second {
			retry.add("cap", scalar(duration(most)), source.Span{})
		}
		inner.add("retry", retry, at)
	}
	if d.OnSpent == ir.SpentSkip && d.Each == nil {
		m.add("catch", ends, at)
	}
}

// failures are the codes of errors that a node survives. What does not fit a declared type ends the run: that the native
// workflow is stricter must not become a node that is skipped without a word.
func (x *experience) failures(u *unit) []string {
	if u.module == nil {
		return []string{"any"} // records have no declared types
	}
	if !u.module.says("code") {
		return []string{"UNKNOWN", "SANDBOX_ERROR"} // an exception, or the end of its process
	}
	return slices.DeleteFunc(slices.Clone(schema.ErrorCodes), func(code string) bool { return code == "VALIDATION_ERROR" })
}

// duration is a time as the language writes it.
func duration(d time.Duration) string {
	switch {
	case d > 0 && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d > 0 && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	}
}
