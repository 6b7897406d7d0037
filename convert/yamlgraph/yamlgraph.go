// Package yamlgraph converts graphs of YAMLGraph to native workflows.
package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// A graph is a YAMLGraph workflow while it is converted: one in which a single token goes from node to node, and never back.
type graph struct {
	*convert.Converter
	tree   *yamlgraph.Tree
	nodes  map[string]*yamlgraph.Node
	writes map[*yamlgraph.Node][]string                 // state fields
	sure   map[*yamlgraph.Node]map[*yamlgraph.Node]bool // nodes that have run whenever one runs
	ends   map[*yamlgraph.Node]bool                     // nodes that have run whenever the graph ends
	shapes map[string]*shape                            // of state fields
	given  map[string]bool                              // fields that a run is given
	types  *doc.Mapping                                 // named types
	tools  *doc.Mapping
	python map[*ir.Tool]*function
	item   *yamlgraph.Node // the map whose node is looked at

	answers map[*yamlgraph.Node]doc.Value // the types of what models answer
	rounds  map[*yamlgraph.Exit]int       // edges that lead back, with the most rounds
	keys    []string                      // secrets of models
}

// Convert converts a graph. The fields of its state that are read before a node writes them are inputs.
func Convert(c *convert.Converter) {
	tree, _ := c.Workflow.Tree.(*yamlgraph.Tree)
	g := &graph{Converter: c, tree: tree, nodes: map[string]*yamlgraph.Node{}, writes: map[*yamlgraph.Node][]string{}, shapes: map[string]*shape{}, given: map[string]bool{},
		types: &doc.Mapping{}, tools: &doc.Mapping{}, python: map[*ir.Tool]*function{}, answers: map[*yamlgraph.Node]doc.Value{}, rounds: map[*yamlgraph.Exit]int{}}
	g.sections()
	for _, n := range g.tree.Nodes {
		g.nodes[n.ID.Name] = n
		if c.IDs[n.ID.Name] == "" { // no edge leads to it
			c.IDs[n.ID.Name] = convert.NativeID(n.ID.Name)
		}
	}
	for _, s := range g.tree.State {
		g.shapes[s.Name.Name] = &shape{declared: s.Type}
	}
	for _, n := range g.tree.Nodes {
		g.look(n)
	}
	g.gathers()
	if !c.Refused {
		g.flow()
	}
	if c.Refused {
		return
	}
	g.inputs()
	in, state, out, begin := g.fields()
	nodes := &doc.Mapping{}
	if begin != nil {
		nodes.Add("begin", begin, source.Span{})
	}
	for _, n := range g.tree.Nodes {
		nodes.Add(c.IDs[n.ID.Name], g.node(n), convert.Join(n.ID.Span, n.Span))
		if g.keeps(n) {
			nodes.Add(g.failed(n), g.failure(n), source.Span{})
		}
	}
	models := g.models()
	if g.keepsErrors() {
		g.types.Add("Failure", doc.Flow(doc.Pair("type", doc.Flow(doc.Pair("type", doc.Scalar("string")), doc.Pair("message", doc.Scalar("string")), doc.Pair("node", doc.Scalar("string"))))), source.Span{})
		state.Add("errors", doc.Flow(doc.Pair("type", doc.Scalar("list<Failure>")), doc.Pair("merge", doc.Scalar("append"))), source.Span{})
		out.Add("errors", doc.Scalar("$state.errors"), source.Span{})
	}
	secrets := &doc.List{Flow: true}
	for _, name := range g.keys {
		secrets.Add(doc.Scalar(name), source.Span{})
	}
	c.Doc.AddUnlessEmpty("types", g.types, source.Span{})
	c.Doc.AddUnlessEmpty("input", in, source.Span{})
	c.Doc.AddUnlessEmpty("state", state, source.Span{})
	c.Doc.AddUnlessEmpty("secrets", secrets, source.Span{})
	c.Doc.AddUnlessEmpty("models", models, source.Span{})
	c.Doc.AddUnlessEmpty("tools", g.tools, source.Span{})
	c.Doc.Add("nodes", nodes, source.Span{})
	c.Doc.AddUnlessEmpty("edges", g.edges(begin != nil), source.Span{})
	c.Doc.AddUnlessEmpty("output", out, source.Span{})
}

// sections refuses what stands beside nodes and edges and has no counterpart.
func (g *graph) sections() {
	rest := *g.tree.Workflow
	rest.Public, rest.Origin, rest.Tree, rest.Provided = false, "", nil, nil
	rest.File, rest.Name, rest.Description, rest.State, rest.Tools, rest.Body, rest.Includes = nil, ir.Ident{}, "", nil, nil, ir.Body{}, nil
	rest.Models = nil
	g.Rest(g.tree.Name.Span, "the graph", &rest)
	d := *g.tree
	if len(d.Start) != 1 {
		g.Refuse(g.tree.Name.Span, "", "a graph that begins at several nodes is not converted")
	}
	d.Workflow, d.Nodes, d.Upstream, d.Start, d.Limit, d.Choices, d.Common = nil, nil, false, nil, 0, nil, nil
	g.Rest(g.tree.Name.Span, "the graph", &d)
	for _, s := range g.tree.State {
		own := *s
		own.Name, own.Type, own.Span = ir.Ident{}, nil, source.Span{}
		if own.Merge.Kind == ir.MergeAppend { // what one map gathers is the list; see gathers
			own.Merge = ir.Merge{}
		}
		if !g.isAuto(s.Name.Name) {
			g.Rest(s.Name.Span, "the state field "+s.Name.Name, &own)
		}
	}
}

// isAuto tells the fields in which the engine keeps where it is, and what has failed.
func (g *graph) isAuto(name string) bool { return name == "current_step" || name == "errors" }

// look finds what a node reads and writes.
func (g *graph) look(n *yamlgraph.Node) {
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Token, rest.Writes, rest.Times = ir.Ident{}, nil, source.Span{}, nil, nil, 0
	if n.Token.Ask != nil {
		rest.Retry = nil // the engine's own, which is written
		rest.Schema, rest.AnswerAs = "", ""
	}
	g.Rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	t := *n.Token
	if _, python := n.Verb.(*ir.ToolCall); python || t.OnError == yamlgraph.TokenRaise {
		t.OnError = 0
	}
	key := t.Key.Name
	exits := t.Exits
	t.Key, t.Exits, t.Again, t.Gather, t.Ask, t.Values, t.Requires = ir.Ident{}, nil, false, nil, nil, nil, nil
	g.Rest(n.ID.Span, "the node "+n.ID.Name, &t)
	for _, x := range exits {
		x.When.Refs(func(r *dialect.Reference) { g.use(r, nil) })
	}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		g.choice(v)
		g.writes[n] = g.held(key)
	case *yamlgraph.Map:
		g.mapped(n, v, key)
	case *ir.Let:
		for _, e := range v.Fields {
			dialect.ValueReferences(e.Value, func(r *dialect.Reference) { g.use(r, nil) })
			g.writes[n] = append(g.writes[n], g.held(e.Key.Name)...)
		}
	case *ir.ToolCall:
		g.function(n, v, key)
	case *ir.LLM:
		g.asks(n, key)
	default:
		g.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
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
		dialect.ValueReferences(part.v, func(r *dialect.Reference) { g.use(r, part.typ) })
	}
	if s, ok := v.Tool.(*ir.Scalar); ok {
		g.Refuse(s.Text.Span, "write a node of the type python", "a tool that is always the same is no choice in the native language")
	}
}

// mapped says what the list of a map is made of.
func (g *graph) mapped(n *yamlgraph.Node, v *yamlgraph.Map, key string) {
	over, ok := v.Over.(*dialect.Reference)
	if !ok || v.Do == nil {
		g.Refuse(n.ID.Span, "", "the map %s is not converted", n.ID.Name)
		return
	}
	one, ok := v.Do.Verb.(*ir.ToolChoice)
	if !ok {
		g.Refuse(v.Do.ID.Span, "", "only maps over a tool_call node are converted")
		return
	}
	if t := n.Token.Gather; t != nil {
		rest := *t
		rest.Key = ""
		g.Rest(n.ID.Span, "the map "+n.ID.Name, &rest)
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
	for _, s := range g.tree.State {
		var writers []*yamlgraph.Node
		for _, n := range g.tree.Nodes {
			if slices.Contains(g.writes[n], s.Name.Name) {
				writers = append(writers, n)
			}
		}
		if s.Merge.Kind != ir.MergeAppend || len(writers) == 0 {
			continue
		}
		if _, is := writers[0].Verb.(*yamlgraph.Map); !is || len(writers) > 1 {
			g.Refuse(s.Name.Span, "write to a field of its own in each node", "several nodes add to the list %s", s.Name.Name)
		}
	}
}

// inputs finds the fields that are read before they are written. All that no node writes are given, too.
func (g *graph) inputs() {
	for _, s := range g.tree.State {
		name := s.Name.Name
		if g.isAuto(name) {
			continue
		}
		given := !g.written(name)
		for _, n := range g.tree.Nodes {
			g.references(n, func(r *dialect.Reference) {
				behind := slices.Contains(g.writes[n], name) && g.exitReads(n, r)
				if r.Root == "state" && r.Path[0] == name && !g.attempted(name, n) && !behind {
					given = true
				}
			})
			if f := g.called(n); f != nil && f.reads(name) && !g.attempted(name, n) {
				given = true
			}
		}
		g.given[name] = given
	}
}

// exitReads reports whether a reference stands in the condition of an edge that leaves n.
func (g *graph) exitReads(n *yamlgraph.Node, r *dialect.Reference) bool {
	found := false
	for _, x := range n.Token.Exits {
		x.When.Refs(func(other *dialect.Reference) { found = found || other == r })
	}
	return found
}

// references calls f for all references of a node and of the edges that leave it.
func (g *graph) references(n *yamlgraph.Node, f func(*dialect.Reference)) {
	for _, x := range n.Token.Exits {
		x.When.Refs(f)
	}
	value := func(v ir.Value) {
		if v != nil {
			dialect.ValueReferences(v, f)
		}
	}
	choice := func(v *ir.ToolChoice) { value(v.Tool); value(v.Args); value(v.ID) }
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		choice(v)
	case *yamlgraph.Map:
		value(v.Over)
		if one, ok := v.Do.Verb.(*ir.ToolChoice); ok {
			choice(one)
		}
	case *ir.Let:
		for _, e := range v.Fields {
			value(e.Value)
		}
	case *ir.LLM:
		for _, e := range n.Token.Ask.Values {
			value(e.Value)
		}
	}
}

// fields writes the sections input, state and output, and the node that copies inputs which nodes overwrite.
func (g *graph) fields() (in, state, out, begin *doc.Mapping) {
	in, state, out = &doc.Mapping{}, &doc.Mapping{}, &doc.Mapping{}
	copies := doc.Flow()
	for _, s := range g.tree.State {
		name := s.Name.Name
		if g.isAuto(name) {
			continue
		}
		g.FieldName(name, s.Name.Span)
		at := g.declaration(name)
		typ := g.shapeType(name, s)
		sh := g.shapes[name]
		switch {
		case !g.written(name) && sh.used():
			in.Add(name, typ, at)
			out.Add(name, doc.Scalar("$input."+name), source.Span{})
			continue
		case !g.written(name):
			in.Add(name, optional(typ), at)
			out.Add(name, doc.Scalar("$input."+name), source.Span{})
			continue
		case g.given[name]:
			in.Add(name, optional(typ), at)
			typ = optional(typ)
			copies.Add(name, doc.Scalar("$input."+name), source.Span{})
			at = source.Span{}
		case !g.certain(name, nil) || g.Opt[name]:
			typ = optional(typ)
		}
		state.Add(name, typ, at)
		out.Add(name, doc.Scalar("$state."+name), source.Span{})
	}
	if len(copies.Entries) > 0 {
		begin = &doc.Mapping{Entries: []*doc.Entry{doc.Pair("let", doc.Flow()), doc.Pair("set", copies)}}
	}
	return in, state, out, begin
}

// optional is a type whose values may be absent.
func optional(typ doc.Value) doc.Value {
	s, ok := typ.(doc.Scalar)
	if !ok || strings.HasPrefix(string(s), "opt<") {
		return typ
	}
	return "opt<" + s + ">"
}

// declaration is the place of a field of the state.
func (g *graph) declaration(name string) source.Span { return g.Entry("state", name) }
