package yamlgraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
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
		if out.Verb = g.choose(v, ""); g.tree.Upstream {
			raised := g.raised(id)
			for _, f := range g.writes[n] {
				raised.Set = append(raised.Set, &ir.Set{Field: convert.Name(f), Value: called(id, raised)})
			}
			g.part(n).after = append(g.part(n).after, raised)
			return out
		}
	case *yamlgraph.Map:
		g.mapNode(n, v, out)
		return out
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
		return out
	case *ir.Agent:
		g.agent(n, out)
		return out
	case *ir.Human:
		g.human(n, out)
		return out
	case *ir.Flow:
		g.flowNode(n, v, out)
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
	for _, t := range tools {
		tool := g.pythonTool(t)
		switch {
		case !convert.Keywords(t):
		case tool.In != nil && tool.In.Kind != schema.Any:
			g.Refuse(t.Key.Span, "write a function for each", "the function of %s is given the state by one node, and arguments of any name by another", t.Key.Name)
		default:
			tool.In = schema.AnyType
		}
		out.Allow = append(out.Allow, tool.Key)
	}
	g.Note(v.Span, "", "arguments that do not fit the annotations of a function are refused before it is called; `error` of the result says so in other words")
	return out
}

// choiceMap is a map over a tool_call, whose results have a type.
func (g *graph) choiceMap(n *yamlgraph.Node, v *yamlgraph.Map, one *ir.ToolChoice) *ir.Map {
	item, index, inner := g.free(convert.NativeID(v.As.Name)), convert.Name(g.free("i")), g.fresh("tool_call")
	over := g.value(v.Over, "")
	if r, ok := v.Over.(*dialect.Reference); ok && g.written(r.Path[0]) && !g.certain(r.Path[0], n) {
		text := "state." + r.Path[0]
		if len(r.Path) > 1 {
			text += "?." + strings.Join(r.Path[1:], ".")
		}
		over = convert.Ref("default(" + text + ", [])")
	}
	var raised *ir.Node
	if g.tree.Upstream {
		raised = g.raised(inner)
	}
	result := called(inner, raised)
	result.Entries = slices.Insert(result.Entries, 0, convert.Pair("_map_index", convert.Ref(index.Name)))
	var before []*ir.Node
	if wholeItem(one.Args) { // whose type is not known
		own := *one
		if r, is := one.Tool.(*dialect.Reference); is && r.Root == "item" && len(r.Path) == 1 {
			name := g.call(inner+"_name", "Label", convert.Pair("of", convert.Ref(item)), convert.Pair("field", convert.Literal(r.Path[0])))
			before, own.Tool = append(before, name), convert.Ref(name.ID.Name)
		}
		if r, is := one.ID.(*dialect.Reference); is && r.Root == "item" {
			id := g.located(inner+"_id", convert.Ref(item), r.Path)
			before, own.ID = append(before, id), convert.Ref(id.ID.Name)
		}
		one = &own
	}
	do := &ir.Node{ID: convert.Name(inner), Verb: g.choose(one, item)}
	if tree := convert.NodeAt(g.Root, n.Span).Get("node"); tree != nil {
		do.Span = tree.Span
	}
	body := ir.Body{Nodes: append(before, do), Result: result}
	if raised != nil {
		body.Nodes = append(body.Nodes, raised)
	}
	for i, x := range body.Nodes[1:] {
		body.Edges = append(body.Edges, convert.Edge(body.Nodes[i].ID.Name, x.Span, x.ID.Name))
	}
	return &ir.Map{Over: over, As: convert.Name(item), Index: &index, Do: body}
}

// raised is a node that takes the class of an exception out of the error of a call: the older engine has its text alone.
func (g *graph) raised(id string) *ir.Node {
	return g.call(id+"_error", "Raised", convert.Pair("error", convert.Ref(id+".error")))
}

// called is what became of a call.
func called(id string, raised *ir.Node) *ir.Object {
	out := convert.Object()
	for _, f := range []string{"task_id", "tool", "success", "result"} {
		out.Entries = append(out.Entries, convert.Pair(f, convert.Ref(id+"."+f)))
	}
	text := id + ".error"
	if raised != nil {
		text = raised.ID.Name
	}
	out.Entries = append(out.Entries, convert.Pair("error", convert.Ref(text)))
	return out
}

// free is a name that no node has.
func (g *graph) free(name string) string {
	return convert.Free(g.FreeID(name), func(name string) bool { return name == "begin" })
}

// absent reports whether a field of the state may have no value when a node reads it.
func (g *graph) absent(r *dialect.Reference, n *yamlgraph.Node) bool {
	return g.written(r.Path[0]) && (g.starts[r.Path[0]] || !g.certain(r.Path[0], n))
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
			g.at = n
			for _, e := range v.Fields {
				if key := e.Key.Name; len(g.held(key)) > 0 && !g.kept[n][key] && g.computes(e.Value) && !g.nowhere(e.Value) {
					g.shapes[key].declared = schema.AnyType // which the engine does not mind
					g.keep(n, key, g.writers(key) > 1 || g.cyclic(n) || g.starts[key])
					again = true
					continue
				}
				r, is := e.Value.(*dialect.Reference)
				if !is || r.Root != "state" || len(r.Path) != 1 || len(g.held(e.Key.Name)) == 0 || g.kept[n][e.Key.Name] || !g.absent(r, n) {
					continue
				}
				g.keep(n, e.Key.Name, true)
				again = true
			}
		}
	}
}

// keep notes that a node may leave a field as it is: it reads it, if it may have a value by then.
func (g *graph) keep(n *yamlgraph.Node, field string, reads bool) {
	if g.kept[n] == nil {
		g.kept[n] = map[string]bool{}
	}
	if g.kept[n][field] = true; reads {
		g.reads[n] = append(g.reads[n], field)
	}
}

// passthrough are the fields that a node sets. A value that may be null would leave a field as it is.
func (g *graph) passthrough(n *yamlgraph.Node, v *ir.Let) (set []*ir.Set) {
	for _, e := range v.Fields {
		if len(g.held(e.Key.Name)) == 0 || g.nowhere(e.Value) {
			continue // dropped, and told so when the file is checked
		}
		if g.computes(e.Value) {
			var made []*ir.Node
			value := g.computed(e.Value, "", g.IDs[n.ID.Name]+"_"+e.Key.Name, "Calculated", &made)
			for _, x := range made { // what goes wrong leaves the field as it is
				g.part(n).before = append(g.part(n).before, step{Node: x})
			}
			if slices.Contains(g.reads[n], e.Key.Name) {
				either := g.call(g.IDs[n.ID.Name]+"_"+e.Key.Name+"_kept", "Either", convert.Pair("of", value), convert.Pair("other", convert.Ref("state."+e.Key.Name)))
				g.part(n).before = append(g.part(n).before, step{Node: either})
				value = convert.Ref(either.ID.Name)
			}
			set = append(set, &ir.Set{Field: e.Key, Value: value})
			continue
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
	case *ir.List, *ir.Object:
		return convert.Rewrite(v, func(x ir.Value) ir.Value { return g.value(x, item) })
	case *yamlgraph.Calc:
		if text, t := g.calculated(v, item); t != nil {
			return convert.Ref(text, v.Text.Span)
		}
		if item == "" && g.at != nil {
			var made []*ir.Node
			value := g.computed(v, "", g.IDs[g.at.ID.Name]+"_value", "Calculate", &made)
			for _, x := range made {
				g.part(g.at).before = append(g.part(g.at).before, step{Node: x})
			}
			return value
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
