package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

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
		g.caught(n, m, at)
	case *ir.LLM:
		g.ask(n, m, at)
		for _, f := range g.writes[n] {
			set(f, "$"+id, below(at, "state_key"))
		}
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
	over := g.value(v.Over, "")
	if r, ok := v.Over.(*ir.Reference); ok && g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
		text := "state." + r.Path[0]
		if len(r.Path) > 1 {
			text += "?." + strings.Join(r.Path[1:], ".")
		}
		over = scalar(quoted("$default(" + text + ", [])"))
	}
	m.add("map", over, below(at, "over"))
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
