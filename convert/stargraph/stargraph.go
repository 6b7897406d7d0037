// Package stargraph converts graphs of Stargraph to native workflows.
package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A graph is one while it is converted. The reader of the dialect has made a native workflow of it: what is left is to take
// out what the compiler has found out besides, and what the native language has no words for.
type graph struct{ *convert.Converter }

// keys are the keys of graphs and of their nodes that become native ones.
var keys = map[string]string{
	"input.*": "state.* state_schema.*", "state.*": "state.* state_schema.*", "edges": "routes rules",
	"tool": "tool", "with": "inputs", "human": "prompt", "timeout": "timeout", "on_timeout": "on_timeout", "catch": "on_timeout", "set": "out",
}

// Convert converts a graph.
func Convert(c *convert.Converter) {
	g, w := &graph{c}, c.Workflow
	if claims := w.Claims; len(claims) > 0 {
		c.Note(claims[0].Span, "", "the native file says nothing of capabilities but those of the tools that it calls, so that its manifest leaves `%s` out", claims[0].Name)
	}
	c.Only(w.Name.Span, "the workflow", w, "Public Origin ShortKeys Casts Claims File Name Description Types TypeUses FileUses Input State Output Tools Body Includes Lock GoTypes Secrets Models Flows")
	c.Dialect, c.Keys = true, keys
	c.Out = &ir.Workflow{Input: w.Input, Secrets: w.Secrets, Models: w.Models}
	for _, d := range w.Types {
		c.Out.Types = append(c.Out.Types, &schema.Decl{Name: d.Name, Type: d.Type})
	}
	for _, s := range w.State {
		c.Out.State = append(c.Out.State, g.state(s))
	}
	for _, o := range w.Output {
		c.Out.Output = append(c.Out.Output, &ir.Output{Name: o.Name, Value: o.Value})
	}
	for _, t := range w.Tools {
		c.Out.Tools = append(c.Out.Tools, g.tool(t))
	}
	c.Out.Body = g.body(w.Body)
}

// body is the nodes of the graph, or of a loop, with their edges.
func (g *graph) body(b ir.Body) ir.Body {
	own := ir.Body{Result: b.Result}
	for _, n := range b.Nodes {
		own.Nodes = append(own.Nodes, g.node(n))
	}
	for _, e := range b.Edges {
		own.Edges = append(own.Edges, g.edge(e))
	}
	g.Casts(&own)
	g.PythonTexts(&own)
	return own
}

// state narrows a field that need not be optional: what reads it may prove that it is there.
func (g *graph) state(s *ir.State) *ir.State {
	own := *s
	if s.Type.Kind == schema.Opt && s.Init == nil && !g.Opt[s.Name.Name] && !slices.ContainsFunc(g.Workflow.Input, func(f *schema.Field) bool { return f.Name == s.Name.Name }) {
		own.Type = s.Type.Elem
	}
	return &own
}

// tool is a tool of the runtime, or a function of the project's Python, which says itself what it takes.
func (g *graph) tool(t *ir.Tool) *ir.Tool {
	own := ir.Tool{Key: t.Key, Effects: t.Effects, Binding: t.Binding, File: t.File, Span: t.Span}
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		own.Permissions = t.Permissions
		if g.Provided.Function(b.Func.Ref.Name) != nil { // whose description the native compiler does not read
			own.Description = t.Description
		}
		if name := g.Provided.Instead[b.Func.Ref.Name]; name != "" {
			own.Binding = convert.Go(name)
		}
	case *ir.PythonTool:
		if b.Class != nil || t.Def == nil {
			own.Binding = nil
			break
		}
		if t.Def.Root != "" {
			g.Refuse(t.Span, "move it, or bind it in a library", "the module of %s is in another folder than the graph, where the native language does not look for it", b.Ref.Name)
		}
		g.PythonWorld(t)
		if t.Out.Kind == schema.Any && t.Def.Out != nil && t.Def.Out.Kind == schema.Map {
			own.Out = t.Out // a map would have its keys in the order of their bytes
		}
		if t.Def.Says != "" && t.Description == "" {
			g.Refuse(t.Span, "remove `description` or the docstring", "the description of %s is empty, and the native language would take its docstring for one", b.Ref.Name)
		}
		if t.Def.Says != "" {
			own.Description = t.Description
		}
	case *ir.CommandTool:
		g.Only(t.Span, "the tool "+t.Key.Name, b, "Args Stdin Format Span")
		own.Description, own.Sandbox, own.In = t.Description, t.Sandbox, t.In
		if b.Format == ir.FormatJSON {
			own.Out = t.Out
		}
	default:
		own.Binding = nil
	}
	return &own
}

// node is a node whose arguments have the names that its tool has for them: functions of the runtime have the parameters of Go.
func (g *graph) node(n *ir.Node) *ir.Node {
	g.Only(n.ID.Span, "the node", n, "ID Verb Set Join Span Result Timeout Catch")
	own := *n
	switch v := n.Verb.(type) {
	case *ir.ToolCall:
		b, is := v.Tool.Binding.(*ir.GoTool)
		if !is || g.Provided.Function(b.Func.Ref.Name) == nil || v.With == nil {
			break
		}
		call := *v
		call.With, own.Verb = camels(v.With), &call
	case *ir.GoCall:
		if v.With != nil {
			call := *v
			call.With, own.Verb = camels(v.With), &call
		}
	case *ir.Loop:
		loop := *v
		loop.Do = g.body(v.Do)
		own.Verb, own.Span = &loop, source.Span{}
	case *ir.Flow:
		own.Verb = &ir.Flow{Path: g.FlowFile(v.Flow), With: v.With}
	case *ir.LLM:
		g.Only(n.ID.Span, "the node "+n.ID.Name, v, "Model System Prompt Out Reask Span")
	}
	return &own
}

// camels are arguments by the names of parameters in Go.
func camels(with *ir.With) *ir.With {
	own := &ir.With{}
	for _, e := range with.Entries {
		own.Entries = append(own.Entries, &ir.Entry{Key: ir.Ident{Name: camel(e.Key.Name), Span: e.Key.Span}, Value: e.Value})
	}
	return own
}

// camel is a name as a parameter of Go has it.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// edge is an edge with the place where the file writes it, or the routes of its node; none for one that follows from the order
// of nodes.
func (g *graph) edge(e *ir.Edge) *ir.Edge {
	own := *e
	switch {
	case e.When == nil && e.Switch == nil && !e.Back:
		own.Span = source.Span{}
	case slices.ContainsFunc(g.Workflow.Body.Nodes, func(n *ir.Node) bool { return n.ID.Span == e.Span || n.Span == e.Span }):
		own.Span = g.Entry("routes", e.From.Name)
	}
	return &own
}
