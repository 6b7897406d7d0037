// Package openexpertise converts experiences of OpenExpertise to native workflows.
package openexpertise

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// An experience is an OpenExpertise workflow while it is converted.
type experience struct {
	*convert.Converter
	tree   *openexpertise.Tree
	order  *convert.Order[*openexpertise.Node]
	nodes  map[string]*openexpertise.Node
	units  map[*openexpertise.Node]*unit
	shapes map[string]string // tool keys by module and signature
	fields map[string]*ir.State
	extra  map[*openexpertise.Node]*openexpertise.Node // the node that the engine runs before one, where no edge tells
	rounds []*round
	line   []*openexpertise.Node              // the nodes of the graph, when the native ones run one after the other
	made   map[*openexpertise.Node][]*ir.Node // the native nodes of those in the line
	ids    map[string]bool                    // of nodes that the conversion adds
	gone   map[*openexpertise.Node]bool       // what never runs, as its conditions never hold
	in     map[*openexpertise.Node]*round     // the pipeline or loop that runs a node
}

// A unit is a node with what is known of its module.
type unit struct {
	node   *openexpertise.Node
	tree   *yamlnode.Node
	module *module
	writes []string          // state fields
	maybe  []string          // of those, what an answer may leave out
	answer *schema.Type      // of an agent with a schema
	before []*ir.Node        // that make the texts of its prompt, and what else it needs
	shown  map[string]string // of those, the ids by the placeholders they stand for
}

// keys are the keys of experiences and of their nodes that become native ones.
var keys = map[string]string{
	"state.*": "state.schema.*", "map": "for_each", "tool": "impl", "with": "args source", "set": "writes", "retry": "on_error", "catch": "on_error",
}

// words are what users call the parts that have no counterpart.
var words = map[string]convert.Word{
	"AnswerAs": {Is: "`schema`", Native: "write `out` on a native `llm` node"},
	"Flows":    {Is: "nodes of the kind `experience`", Native: "convert each experience, and write a `flow` node for each run"},
}

// Convert converts an experience. Its tools return {state_delta, edge_output}: the fields of the delta become what a
// node sets, with the types that the state declares.
func Convert(c *convert.Converter) {
	tree := *c.Workflow.Tree.(*openexpertise.Tree)
	tree.Nodes = slices.Clone(tree.Nodes)
	x := &experience{Converter: c, tree: &tree, nodes: map[string]*openexpertise.Node{}, units: map[*openexpertise.Node]*unit{}, shapes: map[string]string{}, fields: map[string]*ir.State{}, extra: map[*openexpertise.Node]*openexpertise.Node{}, in: map[*openexpertise.Node]*round{}, made: map[*openexpertise.Node][]*ir.Node{}, gone: map[*openexpertise.Node]bool{}, ids: map[string]bool{}}
	x.order = &convert.Order[*openexpertise.Node]{All: true, Leads: x.leads, Fails: func(n *openexpertise.Node) bool { return n.Skips }}
	c.Keys, c.Words = keys, words
	x.sections()
	for _, s := range x.tree.State {
		x.fields[s.Name.Name] = s
	}
	x.findRounds()
	for _, n := range x.tree.Nodes {
		x.nodes[n.ID.Name] = n
		x.unit(n)
	}
	x.handing()
	if c.Refused {
		return
	}
	x.chain()
	x.lineUp()
	x.unclear()
	for _, s := range x.tree.State {
		if x.written(s.Name.Name) && !x.certain(s.Name.Name, nil) {
			x.mayLack(s.Name.Name)
		}
	}
	if x.line != nil {
		x.inLine()
	} else {
		x.graph()
	}
	c.Out.Secrets, c.Out.Models = x.tree.Secrets, x.tree.Models
	if len(x.rounds) > 0 {
		x.roundNodes()
	}
	x.state()
	x.sideBySide()
}

// newID is the id of a node that the conversion adds.
func (x *experience) newID(name string) string {
	name = convert.NativeID(name)
	id := name
	for k := 2; x.FreeID(id) != id || x.ids[id]; k++ {
		id = fmt.Sprintf("%s_%d", name, k)
	}
	x.ids[id] = true
	return id
}

// graph are the nodes of the graph and their edges.
func (x *experience) graph() {
	for _, n := range x.tree.Nodes {
		if x.in[n] != nil {
			continue
		}
		u := x.units[n]
		node := x.node(u, variables{})
		if n.Each == nil {
			x.first(u, node)
			x.Out.Body.Nodes = append(x.Out.Body.Nodes, u.before...)
		}
		x.Out.Body.Nodes = append(x.Out.Body.Nodes, node)
	}
	x.edges()
}

// leads are the edges to a node, and the node that the engine runs before it: all of them have to do well.
func (x *experience) leads(n *openexpertise.Node) (list []convert.Lead[*openexpertise.Node]) {
	if n == nil { // what nothing is known of
		return nil
	}
	if r := x.in[n]; r != nil {
		return x.roundLeads(r, n)
	}
	for _, r := range n.Routes {
		list = append(list, convert.Lead[*openexpertise.Node]{From: x.nodes[r.From.Name], Sure: r.When == nil})
	}
	if extra := x.extra[n]; extra != nil {
		list = append(list, convert.Lead[*openexpertise.Node]{From: extra, Sure: true})
	}
	return list
}

// sections refuses what is next to the graph and has no counterpart.
func (x *experience) sections() {
	x.Only(x.tree.Name.Span, "the experience", x.tree.Workflow, "Public Origin ShortKeys Tree Provided File Name Description State Tools Body Includes Secrets Models")
	x.Only(x.tree.Name.Span, "the experience", x.tree, "Workflow Nodes Phases Upstream Concurrency")
}

// unit reads what a node's module says.
func (x *experience) unit(n *openexpertise.Node) {
	u := &unit{node: n, tree: convert.NodeAt(x.Root, n.Span), shown: map[string]string{}}
	x.units[n] = u
	for _, id := range n.Writes {
		u.writes = append(u.writes, id.Name)
	}
	if v, ok := n.Verb.(*ir.LLM); ok {
		x.Only(n.ID.Span, "the node "+n.ID.Name, n, "ID Verb Span Args Reads ReadsSome Writes Routes Whens Each Skips Attempts Base Double Times Prompt System Schema AnswerAs")
		x.agent(u, v)
		return
	}
	call, ok := n.Verb.(*ir.ToolCall)
	if !ok || call.Tool == nil {
		x.NoNode(n.ID, n.Verb)
		return
	}
	if _, command := call.Tool.Binding.(*ir.CommandTool); command {
		x.Refuse(n.ID.Span, "declare a `command` tool whose `env` has the variables that the program needs", "the cli-agent %s sees the entire environment, for which the native language has no word", n.ID.Name)
		return
	}
	x.Only(n.ID.Span, "the node "+n.ID.Name, n, "ID Verb Span Args Reads ReadsSome Writes Routes Whens Each Skips Attempts Base Double Times")
	js, ok := call.Tool.Binding.(*ir.JSTool)
	if !ok {
		return
	}
	u.module = readModule(js.Bundle)
	if u.module.world != "" {
		x.Refuse(js.Path.Span, "pass it as an argument, or as a secret", "the module looks at %s, which a tool of the native language does not see", u.module.world)
	}
	found, known := u.module.writes()
	if !known && len(u.writes) == 0 {
		x.Refuse(n.ID.Span, "write `writes`", "it cannot be read in the module which fields %s writes", n.ID.Name)
	}
	for _, f := range found {
		if x.fields[f] != nil && !slices.Contains(u.writes, f) {
			u.writes = append(u.writes, f)
		}
	}
}

// chain puts nodes one after the other where the engine does and no edge tells. Only a node that always runs, and whose failure
// ends the run, can come before another that way.
func (x *experience) chain() {
	if x.tree.Concurrency > 1 {
		return
	}
	order := x.engineOrder()
	for i := 1; i < len(order); i++ {
		for j := i - 1; j >= 0; j-- {
			if x.order.Before(order[j], order[i]) {
				break
			}
			if x.order.Always(order[j]) {
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
		if u == nil || !x.runs(w) || !slices.Contains(u.writes, field) || slices.Contains(u.maybe, field) || u.node.Each != nil {
			continue
		}
		if at != nil && x.order.Left(u.node, at) || at == nil && x.order.Always(u.node) {
			return true
		}
	}
	return false
}

// written reports whether any node writes a field.
func (x *experience) written(field string) bool {
	return slices.ContainsFunc(x.tree.Nodes, func(n *openexpertise.Node) bool { return x.runs(n) && slices.Contains(x.units[n].writes, field) })
}

// appends is a list that several nodes add to in an order that is another one here: the engine runs waves of nodes, and what runs in
// parallel here writes in the order of the file; nil: there is none.
func (x *experience) appends() *ir.State {
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
			if !x.runs(n) || !slices.Contains(x.units[n].writes, s.Name.Name) {
				continue
			}
			for _, w := range writers {
				ordered = ordered && (x.before(w, n) || x.before(n, w))
				free = free && !x.before(w, n) && !x.before(n, w) && at[w] < at[n]
			}
			writers = append(writers, n)
		}
		if !ordered && !free {
			return s
		}
	}
	return nil
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

// state declares the state and the output. A field that no node writes is never there, and has no place.
func (x *experience) state() {
	for _, s := range x.tree.State {
		name := s.Name.Name
		if !x.written(name) {
			continue
		}
		x.Out.State = append(x.Out.State, &ir.State{Name: s.Name, Type: x.read(s), Merge: ir.Merge{Kind: s.Merge.Kind}})
		x.Out.Output = append(x.Out.Output, &ir.Output{Name: s.Name, Value: convert.Ref("state." + name)})
	}
	for _, r := range x.rounds {
		if r.iter != "" {
			x.Out.State = append(x.Out.State, &ir.State{Name: convert.Name(r.iter), Type: schema.IntType, Init: &schema.Default{JSON: "0"}})
		}
	}
}

// node is a node; one that runs for each item of a list is a map with the node in it.
func (x *experience) node(u *unit, vars variables) *ir.Node {
	n := u.node
	id := x.IDs[n.ID.Name]
	node := &ir.Node{ID: ir.Ident{Name: id}, Span: n.Span}
	inner := node
	if x.fails(n) {
		x.Note(n.Each.Span, "let a node before it write the list", "%s goes through a list that there never is: it ends the run", n.ID.Name)
		node.Verb = &ir.Fail{Message: convert.Text("for_each source of node \"" + n.ID.Name + "\" is not an array"), Code: "VALIDATION_ERROR"}
		return node
	}
	if n.Each != nil {
		vars = x.variables()
		id = "each_" + id
		if !convert.IsID(id) {
			x.Refuse(n.ID.Span, "rename it", "the node's name is too long")
		}
		inner = &ir.Node{ID: convert.Name(id), Span: n.Span}
		m := &ir.Map{Over: convert.Ref(x.listPath(n.Each.Over, n, n.ID.Name)), As: convert.Name(vars.item), Parallel: n.Each.Concurrency, Do: ir.Body{Nodes: []*ir.Node{inner}, Result: convert.Ref(id)}}
		if u.module != nil && (u.module.reads("_item_index") || u.module.reads("$index")) {
			m.Index = &ir.Ident{Name: vars.index}
		}
		node.Verb = m
	}
	if llm, ok := n.Verb.(*ir.LLM); ok {
		x.ask(u, llm, inner, vars)
		if m, ok := node.Verb.(*ir.Map); ok {
			m.Do.Nodes = append(slices.Clone(u.before), m.Do.Nodes...)
			m.Index = x.index(n, vars)
		}
	} else {
		x.call(u, inner, vars)
	}
	if len(n.Routes) > 1 || len(n.Routes) == 1 && x.extra[n] != nil {
		node.Join = ir.JoinAll
	}
	x.policy(u, inner)
	return node
}

// variables are the names of the item and its place in a map.
type variables struct{ item, index string }

func (x *experience) variables() variables {
	free := func(names ...string) string { // names that differ by a _ only are one in Go
		for _, name := range names {
			if x.FreeID(name) == name {
				return name
			}
		}
		return x.FreeID(names[0])
	}
	return variables{free("item", "element", "entry"), free("i", "at", "number")}
}

// listPath is the list of a for_each.
func (x *experience) listPath(r *dialect.Reference, n *openexpertise.Node, by string) string {
	if r.Root != "state" || len(r.Path) != 1 || r.Filter != "" {
		x.Refuse(r.Text.Span, "write the list to a field of the state", "only a field of the state can be gone through")
		return "state"
	}
	if !x.certain(r.Path[0], n) {
		x.Refuse(r.Text.Span, "let a node before it write the field", "state.%s may not have been written when %s goes through it", r.Path[0], by)
	}
	return "state." + r.Path[0]
}

// call is the verb of a node: the tool, its arguments, and what is set of its result.
func (x *experience) call(u *unit, n *ir.Node, vars variables) {
	tool := u.node.Verb.(*ir.ToolCall).Tool
	switch b := tool.Binding.(type) {
	case *ir.JSTool:
		call := &args{}
		x.arguments(u, call, vars)
		n.Verb = &ir.ToolCall{Name: x.jsTool(u, tool, b, convert.Struct(call.in...)), With: convert.With(call.with...)}
		for _, f := range u.writes {
			n.Set = append(n.Set, convert.Set(f, n.ID.Name+".state_delta."+f))
		}
	case *ir.Made:
		x.dataset(u, n, b)
	default:
		x.NoNode(u.node.ID, u.node.Verb)
	}
}
