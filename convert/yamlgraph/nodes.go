package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// node writes a node.
func (g *graph) node(n *yamlgraph.Node) doc.Value {
	m := &doc.Mapping{}
	at := convert.NodeAt(g.Root, n.Span)
	id := g.IDs[n.ID.Name]
	set := func(field, from string, span source.Span) {
		m.Add("set", doc.Flow(doc.Pair(field, doc.Scalar(from))), span)
	}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		g.choose(v, m, at, "")
		for _, f := range g.writes[n] {
			set(f, "$"+id, convert.Below(at, "state_key"))
		}
	case *yamlgraph.Map:
		g.mapNode(n, v, m, at)
		for _, f := range g.writes[n] {
			set(f, "$"+id, convert.Below(at, "collect"))
		}
	case *ir.Let:
		g.passthrough(n, v, m, at)
	case *ir.ToolCall:
		g.pythonNode(n, v, m, at)
		g.caught(n, m, at)
	case *ir.LLM:
		g.ask(n, m, at)
		for _, f := range g.writes[n] {
			set(f, "$"+id, convert.Below(at, "state_key"))
		}
	}
	return m
}

// choose writes the verb tool_call.
func (g *graph) choose(v *ir.ToolChoice, m *doc.Mapping, at *yamlnode.Node, item string) {
	m.Add("tool_call", g.value(v.Tool, item), convert.Below(at, "tool"))
	if v.Args != nil {
		m.Add("args", g.value(v.Args, item), convert.Below(at, "args"))
	}
	if s, null := v.ID.(*ir.Scalar); v.ID != nil && (!null || s.Tag != "!!null") {
		m.Add("id", g.value(v.ID, item), source.Span{})
	}
	for _, t := range g.tree.Tools {
		g.pythonTool(t)
	}
	g.once(v.Span, "arguments that do not fit the annotations of a function are refused before it is called; `error` of the result says so in other words")
}

// mapNode writes a map over a tool_call, whose results stand in the list with their place, as the engine keeps them.
func (g *graph) mapNode(n *yamlgraph.Node, v *yamlgraph.Map, m *doc.Mapping, at *yamlnode.Node) {
	item, index := g.free(convert.NativeID(v.As.Name)), g.free("i")
	over := g.value(v.Over, "")
	if r, ok := v.Over.(*dialect.Reference); ok && g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
		text := "state." + r.Path[0]
		if len(r.Path) > 1 {
			text += "?." + strings.Join(r.Path[1:], ".")
		}
		over = doc.Scalar(doc.Quoted("$default(" + text + ", [])"))
	}
	m.Add("map", over, convert.Below(at, "over"))
	m.Add("as", doc.Scalar(item), convert.Below(at, "as"))
	m.Add("index", doc.Scalar(index), source.Span{})
	m.Add("max_items", doc.Scalar("unbounded"), source.Span{})
	inner, inside := g.free("tool_call"), &doc.Mapping{}
	g.choose(v.Do.Verb.(*ir.ToolChoice), inside, at.Get("node"), item)
	result := doc.Flow(doc.Pair("_map_index", doc.Scalar("$"+index)))
	for _, f := range []string{"task_id", "tool", "success", "result", "error"} {
		result.Add(f, doc.Scalar("$"+inner+"."+f), source.Span{})
	}
	do := &doc.Mapping{Entries: []*doc.Entry{doc.Pair("nodes", &doc.Mapping{Entries: []*doc.Entry{doc.Pair(inner, inside)}}), doc.Pair("result", result)}}
	m.Add("do", do, convert.Below(at, "node"))
}

// free is a name that no node has.
func (g *graph) free(name string) string {
	for slices.ContainsFunc(g.tree.Nodes, func(n *yamlgraph.Node) bool { return g.IDs[n.ID.Name] == name }) || name == "begin" {
		name += "_"
	}
	return name
}

// passthrough writes a node that sets fields. A value that may be null would leave a field as it is.
func (g *graph) passthrough(n *yamlgraph.Node, v *ir.Let, m *doc.Mapping, at *yamlnode.Node) {
	set := doc.Flow()
	for _, e := range v.Fields {
		if len(g.held(e.Key.Name)) == 0 {
			continue // dropped, and told so when the file is checked
		}
		switch r := e.Value.(type) {
		case *dialect.Reference:
			if r.Root != "state" || g.given[r.Path[0]] && g.written(r.Path[0]) || g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
				g.Refuse(r.Text.Span, "let a node before it write the field", "this may be missing, and would leave the field as it is")
				continue
			}
		case *ir.Scalar:
			if r.Tag == "!!null" {
				continue
			}
		}
		set.Add(e.Key.Name, g.value(e.Value, ""), convert.Join(e.Key.Span, e.Value.Source()))
	}
	m.Add("let", doc.Flow(), source.Span{})
	if len(set.Entries) > 0 {
		m.Add("set", set, convert.Below(at, "output"))
	}
}

// value is a value of a node: a constant, or a place in the state.
func (g *graph) value(v ir.Value, item string) doc.Value {
	r, ok := v.(*dialect.Reference)
	if !ok {
		return g.Native(v)
	}
	return doc.Scalar("$" + g.path(r, item))
}

// path is a place in the state, the input or the item of a map.
func (g *graph) path(r *dialect.Reference, item string) string {
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
