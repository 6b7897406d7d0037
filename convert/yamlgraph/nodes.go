package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// node rewrites a node.
func (g *graph) node(n *yamlgraph.Node) *ir.Node {
	id := g.IDs[n.ID.Name]
	g.at = n
	out := &ir.Node{ID: ir.Ident{Name: id, Span: n.ID.Span}, Span: n.Span}
	switch v := n.Verb.(type) {
	case *ir.ToolChoice:
		out.Verb = g.choose(v, "")
	case *yamlgraph.Map:
		out.Verb = g.mapNode(n, v)
	case *ir.Let:
		let := &ir.Let{}
		out.Verb, out.Set = let, g.passthrough(n, v)
		before(id, let, out.Set)
		return out
	case *ir.ToolCall:
		if out.Timeout = n.Timeout; g.command(v.Tool) != nil {
			g.commandNode(n, v.Tool, out)
			return out
		}
		g.pythonNode(n, v, out)
		g.caught(n, out)
		return out
	case *ir.LLM:
		g.ask(n, out)
	case *ir.Human:
		g.human(n, out)
		return out
	}
	for _, f := range g.writes[n] {
		out.Set = append(out.Set, convert.Set(f, id))
	}
	return out
}

// choose is the verb tool_call.
func (g *graph) choose(v *ir.ToolChoice, item string) *ir.ToolChoice {
	out := &ir.ToolChoice{Tool: g.value(v.Tool, item)}
	if v.Args != nil {
		out.Args = g.value(v.Args, item)
	}
	if s, null := v.ID.(*ir.Scalar); v.ID != nil && (!null || s.Tag != "!!null") {
		out.ID = g.value(v.ID, item)
	}
	tools := g.tree.Tools
	if s, same := v.Tool.(*ir.Scalar); same {
		out.Tool = convert.Ref(doc.Escaped(s.Text.Value), s.Text.Span) // a failed call is data, as of a tool that is chosen
		if i := slices.IndexFunc(tools, func(t *ir.Tool) bool { return t.Key.Name == s.Text.Value }); i >= 0 {
			tools = tools[i : i+1]
		}
	}
	none, _ := v.Args.(*ir.Object)
	for _, t := range tools {
		if convert.Keywords(t) && (none == nil || len(none.Entries) > 0) {
			g.Refuse(t.Key.Span, "name the parameters of the function", "the function of %s takes arguments of any name, and the `in` of a native tool names them", t.Key.Name)
		}
		out.Allow = append(out.Allow, g.pythonTool(t).Key)
	}
	g.Note(v.Span, "", "arguments that do not fit the annotations of a function are refused before it is called; `error` of the result says so in other words")
	return out
}

// mapNode is a map over a tool_call, whose results are in the list with their place, as the engine keeps them.
func (g *graph) mapNode(n *yamlgraph.Node, v *yamlgraph.Map) *ir.Map {
	item, index, inner := g.free(convert.NativeID(v.As.Name)), convert.Name(g.free("i")), g.free("tool_call")
	over := g.value(v.Over, "")
	if r, ok := v.Over.(*dialect.Reference); ok && g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
		text := "state." + r.Path[0]
		if len(r.Path) > 1 {
			text += "?." + strings.Join(r.Path[1:], ".")
		}
		over = convert.Ref("default(" + text + ", [])")
	}
	result := convert.Object(convert.Pair("_map_index", convert.Ref(index.Name)))
	for _, f := range []string{"task_id", "tool", "success", "result", "error"} {
		result.Entries = append(result.Entries, convert.Pair(f, convert.Ref(inner+"."+f)))
	}
	do := &ir.Node{ID: convert.Name(inner), Verb: g.choose(v.Do.Verb.(*ir.ToolChoice), item)}
	if tree := convert.NodeAt(g.Root, n.Span).Get("node"); tree != nil {
		do.Span = tree.Span
	}
	return &ir.Map{Over: over, As: convert.Name(item), Index: &index, Do: ir.Body{Nodes: []*ir.Node{do}, Result: result}}
}

// free is a name that no node has.
func (g *graph) free(name string) string {
	return convert.Free(g.FreeID(name), func(name string) bool { return name == "begin" })
}

// absent reports whether a field of the state may have no value when a node reads it.
func (g *graph) absent(r *dialect.Reference, n *yamlgraph.Node) bool {
	return g.written(r.Path[0]) && (g.given[r.Path[0]] || !g.certain(r.Path[0], n))
}

// keeping finds the fields that a passthrough node leaves as they are when what it would write there is missing: it reads
// them.
func (g *graph) keeping() {
	for again := true; again; {
		again = false
		g.inputs()
		for _, n := range g.tree.Nodes {
			v, is := n.Verb.(*ir.Let)
			if !is {
				continue
			}
			for _, e := range v.Fields {
				r, is := e.Value.(*dialect.Reference)
				if !is || r.Root != "state" || len(r.Path) != 1 || len(g.held(e.Key.Name)) == 0 || g.kept[n][e.Key.Name] || !g.absent(r, n) {
					continue
				}
				if g.kept[n] == nil {
					g.kept[n] = map[string]bool{}
				}
				g.kept[n][e.Key.Name], again = true, true
				g.reads[n] = append(g.reads[n], e.Key.Name)
			}
		}
	}
}

// passthrough are the fields that a node sets. A value that may be null would leave a field as it is.
func (g *graph) passthrough(n *yamlgraph.Node, v *ir.Let) (set []*ir.Set) {
	for _, e := range v.Fields {
		if len(g.held(e.Key.Name)) == 0 || g.nowhere(e.Value) {
			continue // dropped, and told so when the file is checked
		}
		switch r := e.Value.(type) {
		case *dialect.Reference:
			if g.kept[n][e.Key.Name] {
				value := convert.Ref("default("+g.path(r, "")+", state."+e.Key.Name+")", r.Text.Span)
				set = append(set, &ir.Set{Field: e.Key, Value: value})
				continue
			}
			if r.Root != "state" || g.absent(r, n) {
				g.Refuse(r.Text.Span, "let a node before it write the field", "this may be missing, and would leave the field as it is")
				continue
			}
		case *ir.Scalar:
			if r.Tag == "!!null" {
				continue
			}
		}
		set = append(set, &ir.Set{Field: e.Key, Value: g.value(e.Value, "")})
	}
	return set
}

var stateField = lazyregexp.New(`\bstate\.([A-Za-z_][A-Za-z0-9_]*)`)

// before takes values that a node reads of fields which it has written by then into its result, which is made before.
func before(id string, let *ir.Let, set []*ir.Set) {
	for i, s := range set {
		var text source.Text
		switch v := s.Value.(type) {
		case *ir.Expr:
			text = v.Text
		case *ir.Template:
			text = v.Text
		}
		for _, m := range stateField.FindAllStringSubmatch(text.Value, -1) {
			if slices.ContainsFunc(set[:i], func(b *ir.Set) bool { return b.Field.Name == m[1] }) {
				let.Fields = append(let.Fields, convert.Pair(s.Field.Name, s.Value))
				s.Value = convert.Ref(id+"."+s.Field.Name, text.Span)
				break
			}
		}
	}
}

// value is a value of a node: a constant, or a place in the state.
func (g *graph) value(v ir.Value, item string) ir.Value {
	switch v := v.(type) {
	case *dialect.Reference:
		return convert.Ref(g.path(v, item), v.Text.Span)
	case *dialect.Mixed:
		return g.mixed(v)
	case *yamlgraph.Calc:
		if text, t := g.calculated(v, item); t != nil {
			return convert.Ref(text, v.Text.Span)
		}
		g.Refuse(v.Text.Span, "calculate with fields that nodes before it have written, and that are declared `int`, `float`, `str` or `list`", "this calculation has another meaning, or none, where values have types")
	}
	return v
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
