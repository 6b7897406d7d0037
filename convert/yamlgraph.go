package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A graph is a YAMLGraph workflow while it is converted: one in which a single token goes from node to node, and never back.
type graph struct {
	*converter
	nodes  map[string]*ir.Node
	writes map[*ir.Node][]string          // state fields
	sure   map[*ir.Node]map[*ir.Node]bool // nodes that have run whenever one runs
	ends   map[*ir.Node]bool              // nodes that have run whenever the graph ends
	shapes map[string]*shape              // of state fields
	given  map[string]bool                // fields that a run is given
	types  *mapping                       // named types
	tools  *mapping
	python map[*ir.Tool]*function
	item   *ir.Node // the map whose node is looked at
}

// yamlgraph converts a graph. The fields of its state that are read before a node writes them are inputs.
func (c *converter) yamlgraph() {
	g := &graph{converter: c, nodes: map[string]*ir.Node{}, writes: map[*ir.Node][]string{}, shapes: map[string]*shape{}, given: map[string]bool{},
		types: &mapping{}, tools: &mapping{}, python: map[*ir.Tool]*function{}}
	g.sections()
	for _, n := range c.wf.Body.Nodes {
		g.nodes[n.ID.Name] = n
	}
	for _, s := range c.wf.State {
		g.shapes[s.Name.Name] = &shape{declared: s.Type}
	}
	for _, n := range c.wf.Body.Nodes {
		g.look(n)
	}
	g.gathers()
	if !c.refused {
		g.flow()
	}
	if c.refused {
		return
	}
	g.inputs()
	in, state, out, begin := g.fields()
	nodes := &mapping{}
	if begin != nil {
		nodes.add("begin", begin, source.Span{})
	}
	for _, n := range c.wf.Body.Nodes {
		nodes.add(c.ids[n.ID.Name], g.node(n), join(n.ID.Span, n.Span))
	}
	c.doc.addUnlessEmpty("types", g.types, source.Span{})
	c.doc.addUnlessEmpty("input", in, source.Span{})
	c.doc.addUnlessEmpty("state", state, source.Span{})
	c.doc.addUnlessEmpty("tools", g.tools, source.Span{})
	c.doc.add("nodes", nodes, source.Span{})
	c.doc.addUnlessEmpty("edges", g.edges(begin != nil), source.Span{})
	c.doc.addUnlessEmpty("output", out, source.Span{})
}

// sections refuses what stands beside nodes and edges and has no counterpart.
func (g *graph) sections() {
	rest := *g.wf
	rest.Public = false
	rest.File, rest.Name, rest.Description, rest.State, rest.Tools, rest.Body, rest.Dynamic, rest.Includes = nil, ir.Ident{}, "", nil, nil, ir.Body{}, nil, nil
	g.rest(g.wf.Name.Span, "the graph", &rest)
	d := *g.wf.Dynamic
	if len(d.Tokens.Start) != 1 {
		g.refuse(g.wf.Name.Span, "", "a graph that begins at several nodes is not converted")
	}
	d.Dialect, d.Upstream, d.Concurrency, d.Tokens = "", false, 0, nil
	g.rest(g.wf.Name.Span, "the graph", &d)
	for _, s := range g.wf.State {
		own := *s
		own.Name, own.Type, own.Span = ir.Ident{}, nil, source.Span{}
		if own.Merge.Kind == ir.MergeAppend { // what one map gathers is the list; see gathers
			own.Merge = ir.Merge{}
		}
		if !g.isAuto(s.Name.Name) {
			g.rest(s.Name.Span, "the state field "+s.Name.Name, &own)
		}
	}
}

// isAuto tells the field in which the engine keeps where it is.
func (g *graph) isAuto(name string) bool { return name == "current_step" }

// look finds what a node reads and writes.
func (g *graph) look(n *ir.Node) {
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Result, rest.Dynamic = ir.Ident{}, nil, source.Span{}, nil, nil
	g.rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	d := *n.Dynamic
	t := *d.Token
	d.Token, d.Writes, d.Times = nil, nil, 0
	g.rest(n.ID.Span, "the node "+n.ID.Name, &d)
	if t.OnError == ir.TokenRaise {
		t.OnError = 0
	}
	key := t.Key.Name
	exits := t.Exits
	t.Key, t.Exits, t.Again, t.Gather = ir.Ident{}, nil, false, nil
	g.rest(n.ID.Span, "the node "+n.ID.Name, &t)
	for _, x := range exits {
		x.When.Refs(func(r *ir.Reference) { g.use(r, nil) })
	}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		g.choice(v)
		g.writes[n] = g.held(key)
	case *ir.Map:
		g.mapped(n, v, key)
	case *ir.Let:
		for _, e := range v.Fields {
			ir.ValueReferences(e.Value, func(r *ir.Reference) { g.use(r, nil) })
			g.writes[n] = append(g.writes[n], g.held(e.Key.Name)...)
		}
	case *ir.ToolCall:
		g.function(n, v, key)
	default:
		g.refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
}

// held is a field, if the state has it.
func (g *graph) held(name string) []string {
	if g.shapes[name] == nil || g.isAuto(name) {
		return nil
	}
	return []string{name}
}

// choice says what the fields of a tool_call are used for.
func (g *graph) choice(v *ir.ToolChoice) {
	for _, part := range []struct {
		v   ir.Value
		typ *schema.Type
	}{{v.Tool, schema.StringType}, {v.Args, schema.MapOf(schema.AnyType)}, {v.ID, schema.OptOf(schema.AnyType, "")}} {
		if part.v == nil {
			continue
		}
		ir.ValueReferences(part.v, func(r *ir.Reference) { g.use(r, part.typ) })
	}
	if s, ok := v.Tool.(*ir.Scalar); ok {
		g.refuse(s.Text.Span, "write a node of the type python", "a tool that is always the same is no choice in the native language")
	}
}

// mapped says what the list of a map is made of.
func (g *graph) mapped(n *ir.Node, v *ir.Map, key string) {
	over, ok := v.Over.(*ir.Reference)
	if !ok || len(v.Do.Nodes) != 1 {
		g.refuse(n.ID.Span, "", "the map %s is not converted", n.ID.Name)
		return
	}
	one, ok := v.Do.Nodes[0].Verb.(*ir.ToolChoice)
	if !ok {
		g.refuse(v.Do.Nodes[0].ID.Span, "", "only maps over a tool_call node are converted")
		return
	}
	if t := n.Dynamic.Token.Gather; t != nil {
		rest := *t
		rest.Key = ""
		g.rest(n.ID.Span, "the map "+n.ID.Name, &rest)
	}
	list := g.use(over, nil)
	if list == nil {
		return
	}
	if list.item == nil {
		list.item = &shape{name: v.As.Name}
	}
	g.shapes["item "+n.ID.Name] = list.item
	before := g.item
	g.item = n
	g.choice(one)
	g.item = before
	g.writes[n] = g.held(key)
}

// gathers refuses lists that are added to, unless one map makes all of them.
func (g *graph) gathers() {
	for _, s := range g.wf.State {
		var writers []*ir.Node
		for _, n := range g.wf.Body.Nodes {
			if slices.Contains(g.writes[n], s.Name.Name) {
				writers = append(writers, n)
			}
		}
		if s.Merge.Kind != ir.MergeAppend || len(writers) == 0 {
			continue
		}
		if _, is := writers[0].Verb.(*ir.Map); !is || len(writers) > 1 {
			g.refuse(s.Name.Span, "write to a field of its own in each node", "several nodes add to the list %s", s.Name.Name)
		}
	}
}

// flow finds which nodes have run whenever a node runs, and refuses graphs in which tokens multiply or come back.
func (g *graph) flow() {
	g.sure, g.ends = map[*ir.Node]map[*ir.Node]bool{}, nil
	open := map[*ir.Node]bool{}
	var visit func(n *ir.Node, before map[*ir.Node]bool)
	meet := func(a map[*ir.Node]bool, b map[*ir.Node]bool) map[*ir.Node]bool {
		if a == nil {
			return b
		}
		out := map[*ir.Node]bool{}
		for n := range a {
			if b[n] {
				out[n] = true
			}
		}
		return out
	}
	visit = func(n *ir.Node, before map[*ir.Node]bool) {
		if open[n] {
			g.refuse(n.ID.Span, "write a `loop`, or an edge back with `max`, in the native language", "cycles are not converted: the engine bounds all steps of a run, and the native language the rounds of a loop")
			return
		}
		known, seen := g.sure[n]
		g.sure[n] = meet(known, before)
		if seen && len(g.sure[n]) == len(known) {
			return
		}
		open[n] = true
		after := map[*ir.Node]bool{n: true}
		for m := range g.sure[n] {
			after[m] = true
		}
		exits := n.Dynamic.Token.Exits
		plain, tests := 0, 0
		for _, x := range exits {
			if x.When == nil {
				plain++
			} else {
				tests++
			}
			if to := g.nodes[x.To.Name]; to != nil {
				visit(to, after)
			} else {
				g.ends = meet(g.ends, after)
			}
		}
		if _, is := n.Verb.(*ir.Map); is || plain == 0 {
			g.ends = meet(g.ends, after)
		}
		if plain > 1 || plain > 0 && tests > 0 {
			g.refuse(n.ID.Span, "write edges one after the other, or conditions", "several edges are taken from %s at the same time: nodes behind them may run more than once, which native nodes do not", n.ID.Name)
		}
		open[n] = false
	}
	for _, id := range g.wf.Dynamic.Tokens.Start {
		if n := g.nodes[id.Name]; n != nil {
			visit(n, map[*ir.Node]bool{})
		}
	}
	for _, n := range g.wf.Body.Nodes {
		if g.sure[n] == nil && !g.refused {
			g.refuse(n.ID.Span, "remove it", "nothing leads to %s", n.ID.Name)
		}
	}
}

// certain reports whether a node has written a field whenever n runs, or for nil whenever the graph ends.
func (g *graph) certain(field string, n *ir.Node) bool {
	before := g.ends
	if n != nil {
		before = g.sure[n]
	}
	for m := range before {
		if slices.Contains(g.writes[m], field) {
			return true
		}
	}
	return false
}

// written reports whether any node writes a field.
func (g *graph) written(field string) bool {
	for _, list := range g.writes {
		if slices.Contains(list, field) {
			return true
		}
	}
	return false
}

// inputs finds the fields that are read before they are written. All that no node writes are given, too.
func (g *graph) inputs() {
	for _, s := range g.wf.State {
		name := s.Name.Name
		if g.isAuto(name) {
			continue
		}
		given := !g.written(name)
		for _, n := range g.wf.Body.Nodes {
			g.references(n, func(r *ir.Reference) {
				behind := slices.Contains(g.writes[n], name) && g.exitReads(n, r)
				if r.Root == "state" && r.Path[0] == name && !g.certain(name, n) && !behind {
					given = true
				}
			})
			if f := g.called(n); f != nil && f.reads(name) && !g.certain(name, n) {
				given = true
			}
		}
		g.given[name] = given
	}
}

// exitReads reports whether a reference stands in the condition of an edge that leaves n.
func (g *graph) exitReads(n *ir.Node, r *ir.Reference) bool {
	found := false
	for _, x := range n.Dynamic.Token.Exits {
		x.When.Refs(func(other *ir.Reference) { found = found || other == r })
	}
	return found
}

// references calls f for all references of a node and of the edges that leave it.
func (g *graph) references(n *ir.Node, f func(*ir.Reference)) {
	for _, x := range n.Dynamic.Token.Exits {
		x.When.Refs(f)
	}
	value := func(v ir.Value) {
		if v != nil {
			ir.ValueReferences(v, f)
		}
	}
	choice := func(v *ir.ToolChoice) { value(v.Tool); value(v.Args); value(v.ID) }
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		choice(v)
	case *ir.Map:
		value(v.Over)
		if one, ok := v.Do.Nodes[0].Verb.(*ir.ToolChoice); ok {
			choice(one)
		}
	case *ir.Let:
		for _, e := range v.Fields {
			value(e.Value)
		}
	}
}

// fields writes the sections input, state and output, and the node that copies inputs which nodes overwrite.
func (g *graph) fields() (in, state, out, begin *mapping) {
	in, state, out = &mapping{}, &mapping{}, &mapping{}
	copies := flow()
	for _, s := range g.wf.State {
		name := s.Name.Name
		if g.isAuto(name) {
			continue
		}
		g.fieldName(name, s.Name.Span)
		at := g.declaration(name)
		typ := g.shapeType(name, s)
		sh := g.shapes[name]
		switch {
		case !g.written(name) && sh.used():
			in.add(name, typ, at)
			out.add(name, scalar("$input."+name), source.Span{})
			continue
		case !g.written(name):
			in.add(name, optional(typ), at)
			out.add(name, scalar("$input."+name), source.Span{})
			continue
		case g.given[name]:
			in.add(name, optional(typ), at)
			typ = optional(typ)
			copies.add(name, scalar("$input."+name), source.Span{})
			at = source.Span{}
		case !g.certain(name, nil) || g.opt[name]:
			typ = optional(typ)
		}
		state.add(name, typ, at)
		out.add(name, scalar("$state."+name), source.Span{})
	}
	if len(copies.entries) > 0 {
		begin = &mapping{entries: []*entry{pair("let", flow()), pair("set", copies)}}
	}
	return in, state, out, begin
}

// optional is a type whose values may be absent.
func optional(typ value) value {
	s, ok := typ.(scalar)
	if !ok || strings.HasPrefix(string(s), "opt<") {
		return typ
	}
	return "opt<" + s + ">"
}

// declaration is the place of a field of the state.
func (g *graph) declaration(name string) source.Span { return g.entry("state", name) }

// node writes a node.
func (g *graph) node(n *ir.Node) value {
	m := &mapping{}
	at := nodeAt(g.root, n.Span)
	id := g.ids[n.ID.Name]
	set := func(field, from string, span source.Span) {
		m.add("set", flow(pair(field, scalar(from))), span)
	}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		g.choose(v, m, at, "")
		for _, f := range g.writes[n] {
			set(f, "$"+id, below(at, "state_key"))
		}
	case *ir.Map:
		g.mapNode(n, v, m, at)
		for _, f := range g.writes[n] {
			set(f, "$"+id, below(at, "collect"))
		}
	case *ir.Let:
		g.passthrough(n, v, m, at)
	case *ir.ToolCall:
		g.pythonNode(n, v, m, at)
	}
	return m
}

// choose writes the verb tool_call.
func (g *graph) choose(v *ir.ToolChoice, m *mapping, at *yamlnode.Node, item string) {
	m.add("tool_call", g.value(v.Tool, item), below(at, "tool"))
	if v.Args != nil {
		m.add("args", g.value(v.Args, item), below(at, "args"))
	}
	if s, null := v.ID.(*ir.Scalar); v.ID != nil && (!null || s.Tag != "!!null") {
		m.add("id", g.value(v.ID, item), source.Span{})
	}
	for _, t := range g.wf.Tools {
		g.pythonTool(t)
	}
	g.once(v.Span, "arguments that do not fit the annotations of a function are refused before it is called; `error` of the result says so in other words")
}

// mapNode writes a map over a tool_call, whose results stand in the list with their place, as the engine keeps them.
func (g *graph) mapNode(n *ir.Node, v *ir.Map, m *mapping, at *yamlnode.Node) {
	item, index := g.free(nativeID(v.As.Name)), g.free("i")
	m.add("map", g.value(v.Over, ""), below(at, "over"))
	m.add("as", scalar(item), below(at, "as"))
	m.add("index", scalar(index), source.Span{})
	m.add("max_items", scalar("unbounded"), source.Span{})
	inner, inside := g.free("tool_call"), &mapping{}
	g.choose(v.Do.Nodes[0].Verb.(*ir.ToolChoice), inside, at.Get("node"), item)
	result := flow(pair("_map_index", scalar("$"+index)))
	for _, f := range []string{"task_id", "tool", "success", "result", "error"} {
		result.add(f, scalar("$"+inner+"."+f), source.Span{})
	}
	do := &mapping{entries: []*entry{pair("nodes", &mapping{entries: []*entry{pair(inner, inside)}}), pair("result", result)}}
	m.add("do", do, below(at, "node"))
}

// free is a name that no node has.
func (g *graph) free(name string) string {
	for slices.ContainsFunc(g.wf.Body.Nodes, func(n *ir.Node) bool { return g.ids[n.ID.Name] == name }) || name == "begin" {
		name += "_"
	}
	return name
}

// passthrough writes a node that sets fields. A value that may be null would leave a field as it is.
func (g *graph) passthrough(n *ir.Node, v *ir.Let, m *mapping, at *yamlnode.Node) {
	set := flow()
	for _, e := range v.Fields {
		if len(g.held(e.Key.Name)) == 0 {
			continue // dropped, and told so when the file is checked
		}
		switch r := e.Value.(type) {
		case *ir.Reference:
			if r.Root != "state" || g.given[r.Path[0]] && g.written(r.Path[0]) || g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
				g.refuse(r.Text.Span, "let a node before it write the field", "this may be missing, and would leave the field as it is")
				continue
			}
		case *ir.Scalar:
			if r.Tag == "!!null" {
				continue
			}
		}
		set.add(e.Key.Name, g.value(e.Value, ""), join(e.Key.Span, e.Value.Source()))
	}
	m.add("let", flow(), source.Span{})
	if len(set.entries) > 0 {
		m.add("set", set, below(at, "output"))
	}
}

// value is a value of a node: a constant, or a place in the state.
func (g *graph) value(v ir.Value, item string) value {
	r, ok := v.(*ir.Reference)
	if !ok {
		return g.native(v)
	}
	return scalar("$" + g.path(r, item))
}

// path is a place in the state, the input or the item of a map.
func (g *graph) path(r *ir.Reference, item string) string {
	parts := r.Path
	switch {
	case r.Root == "item":
		parts = append([]string{item}, parts...)
	case g.written(r.Path[0]):
		parts = append([]string{"state"}, parts...)
	default:
		parts = append([]string{"input"}, parts...)
	}
	return strings.Join(parts, ".")
}

// edges writes the edges. Of conditions the first that holds decides, so that the others say that it does not.
func (g *graph) edges(begin bool) *list {
	l := &list{}
	for _, id := range g.wf.Dynamic.Tokens.Start {
		if begin {
			l.add(scalar("begin -> "+g.ids[id.Name]), source.Span{})
		}
	}
	for _, n := range g.wf.Body.Nodes {
		from := g.ids[n.ID.Name]
		_, isMap := n.Verb.(*ir.Map)
		var before []string
		for _, x := range n.Dynamic.Token.Exits {
			to := g.target(x.To)
			switch {
			case x.When != nil:
				own := g.test(x.When, n)
				text := own
				for _, b := range before {
					if !opposite(b, own) {
						text = "!(" + b + ") && (" + text + ")"
					}
				}
				before = append(before, own)
				l.add(flow(pair("from", scalar(from)), pair("to", scalar(to)), pair("when", scalar(condition(text)))), x.Span)
			case isMap && to != "end":
				l.add(flow(pair("from", scalar(from)), pair("to", scalar(to)), pair("when", scalar(condition("size("+from+") > 0")))), x.Span)
			default:
				l.add(scalar(from+" -> "+to), x.Span)
			}
		}
	}
	if len(g.wf.Body.Nodes) == 1 && !begin {
		l.items = nil
	}
	return l
}

var opposites = [][2]string{{" < ", " >= "}, {" > ", " <= "}, {" == ", " != "}}

// opposite reports whether one comparison is the negation of another.
func opposite(a, b string) bool {
	if strings.Contains(a+b, "&&") || strings.Contains(a+b, "||") {
		return false
	}
	return slices.ContainsFunc(opposites, func(o [2]string) bool {
		return strings.Contains(a, o[0]) && strings.Replace(a, o[0], o[1], 1) == b || strings.Contains(a, o[1]) && strings.Replace(a, o[1], o[0], 1) == b
	})
}

// test is a condition in the native language: only where both sides have the declared type is it the same.
func (g *graph) test(p *ir.Predicate, n *ir.Node) string {
	switch p.Op {
	case "&&", "||":
		side := func(kid *ir.Predicate) string {
			if kid.Op == "||" && p.Op == "&&" {
				return "(" + g.test(kid, n) + ")"
			}
			return g.test(kid, n)
		}
		return side(p.Kids[0]) + " " + p.Op + " " + side(p.Kids[1])
	case "==", "!=", "<", "<=", ">", ">=":
		a, at := g.operand(p.Kids[0], n)
		b, bt := g.operand(p.Kids[1], n)
		number := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }
		if at != nil && bt != nil && (at.Kind == bt.Kind && at.Kind != schema.Bool || number(at) && number(bt)) && (p.Op == "==" || p.Op == "!=" || number(at)) {
			return a + " " + p.Op + " " + b
		}
	}
	g.refuse(p.Span, "compare fields with values of their declared type", "this condition has another meaning, or none, where values have types")
	return "true"
}

func (g *graph) operand(p *ir.Predicate, n *ir.Node) (string, *schema.Type) {
	switch p.Op {
	case "const":
		switch p.Lit.Tag {
		case "!!int":
			return p.Lit.Text.Value, schema.IntType
		case "!!float":
			return p.Lit.Text.Value, schema.FloatType
		case "!!str":
			return escaped(p.Lit.Text.Value), schema.StringType
		}
	case "ref":
		s := g.shapes[p.Ref.Path[0]]
		if len(p.Ref.Path) > 1 || s == nil || !g.certain(p.Ref.Path[0], n) && !slices.Contains(g.writes[n], p.Ref.Path[0]) {
			return "", nil
		}
		switch s.declared.Kind {
		case schema.Int, schema.Float, schema.String:
		default:
			return "", nil
		}
		if f := g.called(n); f != nil && slices.Contains(g.writes[n], p.Ref.Path[0]) {
			if f.value {
				return g.ids[n.ID.Name], s.declared
			}
			return g.ids[n.ID.Name] + "." + p.Ref.Path[0], s.declared
		}
		return g.path(p.Ref, ""), s.declared
	}
	return "", nil
}
