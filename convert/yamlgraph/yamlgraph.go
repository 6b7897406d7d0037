// Package yamlgraph converts graphs of YAMLGraph to native workflows.
package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// A graph is a YAMLGraph workflow while it is converted: one in which a single token goes from node to node, and never back.
type graph struct {
	*convert.Converter
	tree   *yamlgraph.Tree
	nodes  map[string]*yamlgraph.Node
	writes map[*yamlgraph.Node][]string                 // state fields
	reads  map[*yamlgraph.Node][]string                 // state fields that its values name
	tests  map[*yamlgraph.Node][]string                 // state fields that conditions behind it name
	sure   map[*yamlgraph.Node]map[*yamlgraph.Node]bool // nodes that have run whenever one runs
	ends   map[*yamlgraph.Node]bool                     // nodes that have run whenever the graph ends
	shapes map[string]*shape                            // of state fields
	starts map[string]bool                              // fields that a run is given
	python map[*ir.Tool]*function
	at     *yamlgraph.Node // that is looked at

	answers map[*yamlgraph.Node]*schema.Type // the types of what models answer
	rounds  map[*yamlgraph.Exit]int          // edges that lead back, with the most rounds
	spent   map[*yamlgraph.Exit]*ir.Ident    // where they lead then, because a node has a limit; the empty name is the end
	begin   bool                             // a node copies inputs that nodes overwrite

	kept    map[*yamlgraph.Node]map[string]bool // fields that a passthrough node may leave as they are
	emptied map[string]bool                     // fields that a node may empty
	counts  map[*yamlgraph.Node]*counter        // of nodes with a limit inside of a loop
	looped  map[*yamlgraph.Node]bool            // nodes in a loop
	stepped int                                 // the most steps of loops that have a limit
	endless bool                                // a loop has none

	handing   map[string]bool // fields that nodes write, and that a run has to be given
	untyped   bool            // values are calculated in ways for which there are no types: no field need be there
	loose     map[string]bool // fields whose parts are found when the workflow runs
	ordered   map[string]bool // lists to which several maps add
	anyErrors bool            // errors are what functions say

	items map[*yamlgraph.Node]*yamlgraph.Node // of maps: the nodes inside that ask a model
	named map[*yamlgraph.Node]string          // of those: what the item is called
	lone  bool                                // one of them is an agent, whose conversation nothing else reads

	parts map[*yamlgraph.Node]*around
	taken map[string]bool                      // ids of the nodes among them
	given map[*yamlgraph.Node]map[string]typed // what prompts show that a node before them has found to be there, by the variable

	waves map[*yamlgraph.Node]int // of nodes that were put in line: the step in which one runs
	twins map[string]string       // those that are there more than once, by their names

	records bool // a node keeps an error that is not of a call
	resumed bool // a graph goes on with values that a run has left: nodes that ask models look whether theirs is there
}

// keys are the keys of graphs and of their nodes that become native ones.
var keys = map[string]string{
	"input.*": "state.*", "state.*": "state.*", "tools.*": "tools.*",
	"llm": "provider", "prompt": "prompt", "tool": "tool", "tool_call": "tool", "with": "args input_mapping", "map": "over", "as": "as", "do": "node",
	"flow": "graph", "set": "state_key collect output output_mapping", "on_error": "on_error", "catch": "on_error",
}

// Convert converts a graph. The fields of its state that are read before a node writes them are inputs.
func Convert(c *convert.Converter) {
	tree, _ := c.Workflow.Tree.(*yamlgraph.Tree)
	g := &graph{Converter: c, tree: tree, nodes: map[string]*yamlgraph.Node{}, writes: map[*yamlgraph.Node][]string{}, reads: map[*yamlgraph.Node][]string{}, tests: map[*yamlgraph.Node][]string{}, shapes: map[string]*shape{}, starts: map[string]bool{},
		python: map[*ir.Tool]*function{}, answers: map[*yamlgraph.Node]*schema.Type{}, rounds: map[*yamlgraph.Exit]int{}, spent: map[*yamlgraph.Exit]*ir.Ident{}, parts: map[*yamlgraph.Node]*around{}, loose: map[string]bool{}, handing: map[string]bool{}, ordered: map[string]bool{}, taken: map[string]bool{}, given: map[*yamlgraph.Node]map[string]typed{}, kept: map[*yamlgraph.Node]map[string]bool{},
		emptied: map[string]bool{}, counts: map[*yamlgraph.Node]*counter{}, looped: map[*yamlgraph.Node]bool{}, items: map[*yamlgraph.Node]*yamlgraph.Node{}, named: map[*yamlgraph.Node]string{}, waves: map[*yamlgraph.Node]int{}, twins: map[string]string{}}
	c.Keys, c.Words = keys, words
	g.sections()
	g.reached()
	g.inLine()
	for _, n := range g.tree.Nodes {
		g.nodes[n.ID.Name] = n
		if c.IDs[n.ID.Name] == "" { // no edge leads to it
			c.IDs[n.ID.Name] = convert.NativeID(n.ID.Name)
		}
	}
	for _, s := range g.tree.State {
		g.shapes[s.Name.Name] = &shape{declared: s.Type}
	}
	g.dynamics()
	g.resumed = slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool {
		return n.Token.Ask != nil && n.Token.Ask.Skips && n.Token.Ask.SkipsSet
	})
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
	g.failing()
	g.keeping()
	g.failing()
	g.leavesOut()
	if copies := g.fields(); len(copies) > 0 {
		g.begin = true
		c.Out.Body.Nodes = append(c.Out.Body.Nodes, &ir.Node{ID: convert.Name("begin"), Verb: &ir.Let{}, Set: copies})
	}
	g.counting()
	for _, n := range g.tree.Nodes {
		g.part(n).main = g.node(n)
		if g.keeps(n) && g.lacks(n) == "" {
			g.failure(n)
		}
	}
	g.together()
	g.models()
	g.edges()
	for _, n := range g.tree.Nodes {
		c.Out.Body.Nodes = append(c.Out.Body.Nodes, g.nodesOf(n)...)
	}
	if len(c.Out.Body.Nodes) == 1 {
		c.Out.Body.Edges = nil
	}
	if g.keepsErrors() {
		failure := schema.AnyType
		if !g.anyErrors {
			failure = g.declare("Failure", convert.Struct(convert.Field("type", schema.StringType), convert.Field("message", schema.StringType), convert.Field("node", schema.StringType)))
		}
		c.Out.State = append(c.Out.State, &ir.State{Name: convert.Name("errors"), Type: schema.ListOf(failure), Merge: ir.Merge{Kind: ir.MergeAppend}})
		g.output("state", convert.Name("errors"))
	}
}

// words are what users call the parts that have no counterpart.
var words = map[string]convert.Word{
	"After":      {Is: "`ensure` rules", Native: "write a native node with `fail` and `when` after it"},
	"Before":     {Is: "`require` rules", Native: "write a native node with `fail` and `when` before it"},
	"Candidates": {Is: "`race`", Native: "write an `llm` node for each model, and `first` of their results"},
	"Copilot":    {Is: "a copilot", Native: "write a native `command` tool"},
	"Fallback":   {Is: "`fallback`", Native: "write a second `llm` node, and `catch` on the first"},
	"Final":      {Is: "rules for its end", Native: "write a last native node with `fail` and `when`"},
	"Fresh":      {Is: "a question that is asked in each round", Native: "write a native `human` node inside a `loop`"},
	"Limit":      {Is: "a limit of its rounds", Native: "write a native `loop` with `max`"},
	"OnError":    {Is: "`on_error`", Native: "write `catch` or `on_error` on the native node"},
	"Parsed":     {Is: "a result that is one field of a tool's", Native: "write `set` on the native node"},
	"Payload":    {Is: "an interrupt", Native: "write a native `human` node"},
	"Resume":     {Is: "`resume_key`", Native: "write a native `human` node, and `set` for its answer"},
	"Routes":     {Is: "`routes`", Native: "write `out` with an enum on the native `llm` node, and a `switch`"},
	"Seeds":      {Is: "values in `data`", Native: "write `init` on the native state fields"},
	"Stops":      {Is: "a failed call that ends the run", Native: "write a native node with `fail` after the call"},
	"Sub":        {Is: "a subgraph", Native: "convert the other graph, and write a `flow` node"},
}

// sections refuses what is next to nodes and edges and has no counterpart.
func (g *graph) sections() {
	g.Only(g.tree.Name.Span, "the graph", g.tree.Workflow, "Public Origin ShortKeys Tree Provided File Name Description State Tools Body Includes Models Flows")
	g.Only(g.tree.Name.Span, "the graph", g.tree, "Workflow Nodes Upstream Start Limit Choices Common Notes Seeds")
	for _, s := range g.tree.State {
		known := "Name Type Span Merge"
		if !g.isAuto(s.Name.Name) {
			g.Only(s.Name.Span, "the state field "+s.Name.Name, s, known)
		}
	}
}

// isAuto tells the fields in which the engine keeps where it is, and what has failed.
func (g *graph) isAuto(name string) bool { return name == "current_step" || name == "errors" }

// look finds what a node reads and writes.
func (g *graph) look(n *yamlgraph.Node) {
	known := "ID Verb Span Token Writes Times"
	call, _ := n.Verb.(*ir.ToolCall)
	shell := call != nil && call.Tool != nil && g.command(call.Tool) != nil
	if shell {
		known += " Timeout"
	}
	if n.Token.Ask != nil {
		known += " Retry Schema AnswerAs" // the engine's own, which is written
	}
	g.Only(n.ID.Span, "the node "+n.ID.Name, n, known)
	known = "Key Exits Again Gather Ask Values Requires Limit"
	if _, python := n.Verb.(*ir.ToolCall); python {
		known += " OnError"
	}
	if _, human := n.Verb.(*ir.Human); human {
		known += " Resume Payload Fresh"
	}
	if _, flow := n.Verb.(*ir.Flow); flow {
		known += " Sub"
	}
	g.Only(n.ID.Span, "the node "+n.ID.Name, n.Token, known)
	key := n.Token.Key.Name
	g.at = n
	for _, x := range n.Token.Exits {
		x.When.Refs(func(r *dialect.Reference) { g.use(r, nil) })
	}
	g.tests[n], g.reads[n] = g.reads[n], nil
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		g.choice(v)
		if g.writes[n] = g.held(key); len(g.writes[n]) > 0 && g.shapes[key].declared.Kind == schema.Map {
			g.shapes[key].declared = schema.AnyType
		}
	case *yamlgraph.Map:
		g.mapped(n, v, key)
	case *ir.Let:
		for _, e := range v.Fields {
			if g.nowhere(e.Value) {
				continue
			}
			g.useValue(e.Value)
			if sh := g.shapes[e.Key.Name]; sh != nil && !fits(e.Value, sh.declared) {
				sh.declared = schema.AnyType // which the engine does not mind
			}
			g.writes[n] = append(g.writes[n], g.held(e.Key.Name)...)
		}
	case *ir.ToolCall:
		if shell {
			g.commands(n, v.Tool, key)
			break
		}
		g.function(n, v, key)
	case *ir.LLM:
		g.asks(n, key)
	case *ir.Agent:
		g.converses(n)
		g.asks(n, key)
	case *ir.Human:
		g.interrupt(n)
	case *ir.Flow:
		g.child(n, v)
	default:
		g.NoNode(g.own(n), n.Verb)
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
	args := schema.AnyType // what is not a mapping is the error of the call
	if g.tree.Upstream {
		args = schema.MapOf(schema.AnyType) // and there it is no argument at all
	}
	for _, part := range []struct {
		v   ir.Value
		typ *schema.Type
	}{{v.Tool, schema.StringType}, {v.Args, args}, {v.ID, schema.OptOf(schema.AnyType, "")}} {
		if part.v == nil {
			continue
		}
		dialect.ValueReferences(part.v, func(r *dialect.Reference) {
			if _, whole := part.v.(*dialect.Reference); !whole && g.untyped && r.Root == "state" && g.shapes[r.Path[0]] != nil {
				g.reads[g.at] = append(g.reads[g.at], r.Path[0])
				return
			}
			g.use(r, part.typ)
		})
	}
}

// gathers refuses lists that are added to, unless maps make all of them: one alone is the list.
func (g *graph) gathers() {
	for _, s := range g.tree.State {
		var writers []*yamlgraph.Node
		maps := true
		for _, n := range g.tree.Nodes {
			if slices.Contains(g.writes[n], s.Name.Name) {
				writers = append(writers, n)
				_, is := n.Verb.(*yamlgraph.Map)
				maps = maps && is
			}
		}
		switch {
		case s.Merge.Kind != ir.MergeAppend || len(writers) == 0:
		case !maps || s.Type.Kind != schema.List || len(writers) == 1 && g.cyclic(writers[0]):
			g.Refuse(s.Name.Span, "write to a field of its own in each node", "several nodes add to the list %s", s.Name.Name)
		case len(writers) > 1:
			g.ordered[s.Name.Name] = true
		}
	}
}

// inputs finds the fields that are read before they are written. All that no node writes are given, too.
func (g *graph) inputs() {
	for _, s := range g.tree.State {
		name := s.Name.Name
		if g.isAuto(name) || g.seeded(name) {
			continue
		}
		g.starts[name] = !g.written(name) || slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool {
			f := g.called(n)
			return !g.attempted(name, n) && (f != nil && f.reads(name) || slices.Contains(g.reads[n], name) || slices.Contains(g.tests[n], name) && !slices.Contains(g.writes[n], name))
		})
		if g.written(name) && g.begun(name) {
			g.starts[name], g.handing[name] = false, true
		}
	}
}

// begun reports whether a run cannot do without being given a field that nodes write later: a function looks at it, and fails
// without.
func (g *graph) begun(name string) bool {
	if !g.starts[name] {
		return false
	}
	return slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool {
		f := g.called(n)
		return f != nil && f.exact[name] && f.other[name] == "" && !f.plain[name] && g.ends[n] && !slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool {
			return m != n && slices.Contains(g.writes[m], name) && g.reaches(m, n, map[*yamlgraph.Node]bool{})
		})
	})
}

// fields declares the input, the state and the output. It returns what copies inputs that nodes overwrite.
func (g *graph) fields() (copies []*ir.Set) {
	for _, s := range g.tree.State {
		name := s.Name.Name
		if g.isAuto(name) || g.lone && name == "messages" {
			continue
		}
		typ, sh := g.shapeType(name, s), g.shapes[name]
		in := &schema.Field{Name: name, Type: typ, Span: s.Name.Span}
		switch {
		case g.seeded(name):
			in.Type = optional(typ)
			g.Out.Input = append(g.Out.Input, in)
			copies = append(copies, convert.Set(name, "default(input."+name+", state."+name+")"))
			g.Out.State = append(g.Out.State, &ir.State{Name: s.Name, Type: typ, Init: g.seed(name)})
			g.output("state", s.Name)
			continue
		case g.handing[name]:
			g.Out.Input = append(g.Out.Input, in)
			copies = append(copies, convert.Set(name, "input."+name))
			g.Out.State = append(g.Out.State, &ir.State{Name: s.Name, Type: typ})
			g.output("state", s.Name)
			continue
		case !g.written(name):
			if !sh.used() {
				in.Type = optional(typ)
			}
			g.Out.Input = append(g.Out.Input, in)
			g.output("input", s.Name)
			continue
		case g.starts[name]:
			typ = optional(typ)
			in.Type = typ
			g.Out.Input = append(g.Out.Input, in)
			copies = append(copies, convert.Set(name, "input."+name))
		case !g.certain(name, nil) || g.Opt[name]:
			typ = optional(typ)
		}
		field := &ir.State{Name: s.Name, Type: typ}
		if g.ordered[name] {
			field.Type, field.Merge = schema.ListOf(schema.AnyType), ir.Merge{Kind: ir.MergeReducer, Reducer: convert.Go(enginePath + "InOrder").Func}
		}
		g.Out.State = append(g.Out.State, field)
		g.output("state", s.Name)
	}
	return copies
}

// output hands on a field.
func (g *graph) output(root string, name ir.Ident) {
	g.Out.Output = append(g.Out.Output, &ir.Output{Name: name, Value: convert.Ref(root + "." + name.Name)})
}

// optional is a type whose values may be absent.
func optional(t *schema.Type) *schema.Type {
	if t.Kind == schema.Struct && t.Decl == nil || t.Kind == schema.Opt {
		return t
	}
	return &schema.Type{Kind: schema.Opt, Elem: t}
}
