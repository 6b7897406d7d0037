package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// shownFunc writes values in prompts as the engine does, toldFunc what skills are told.
const (
	shownFunc = schema.RuntimePath + "/openexpertise.Shown"
	toldFunc  = schema.RuntimePath + "/openexpertise.Told"
)

// agent finds what the answer of an agent writes. One without a schema is text; the properties of a schema are fields.
func (x *experience) agent(u *unit, v *ir.LLM) {
	n := u.node
	if n.Schema == "" {
		if s := x.fields[u.writes[0]]; s != nil && (s.Type.Kind != schema.String && s.Type.Kind != schema.Any || s.Merge.Kind == ir.MergeAppend) {
			x.doomed(u, "%s writes text to state.%s, which does not take it", n.ID.Name, u.writes[0])
		}
		return
	}
	if n.Attempts > 1 {
		x.Refuse(n.ID.Span, "write `reask` on the native `llm` node", "%s is asked again after an answer that does not fit its schema", n.ID.Name)
	}
	root, problems := yamlnode.Parse(source.NewFile("schema.json", n.Schema))
	if root == nil || len(problems) > 0 {
		x.Refuse(n.ID.Span, "write `out` on the native `llm` node", "the schema of %s cannot be read", n.ID.Name)
		return
	}
	u.answer = x.answerType(n, root, true)
	u.writes = nil
	for _, f := range u.answer.Fields {
		s := x.fields[f.Name]
		if s == nil {
			x.Refuse(n.ID.Span, "declare it in `state.schema`", "the answer of %s has the property %q, which is not a state field", n.ID.Name, f.Name)
			continue
		}
		if f.Type.Kind == schema.Opt {
			u.maybe = append(u.maybe, f.Name)
		}
		if t := f.Type.Present(); s.Merge.Kind != ir.MergeLast && f.Type.Kind == schema.Opt || s.Merge.Kind == ir.MergeAppend || !schema.Assignable(t, s.Type) {
			x.Refuse(n.ID.Span, "declare the field as what is written", "%s writes %s to state.%s, which is %s", n.ID.Name, f.Type, f.Name, s.Type)
		}
		u.writes = append(u.writes, f.Name)
	}
}

// doomed is a node each of whose answers the state refuses: it runs, and then it has failed. Where the run goes on, and nothing
// waits for it, the native node keeps its answer to itself.
func (x *experience) doomed(u *unit, format string, args ...any) {
	n := u.node
	awaited := slices.ContainsFunc(x.tree.Nodes, func(m *openexpertise.Node) bool {
		return slices.ContainsFunc(m.Routes, func(r *dialect.Route) bool { return r.From.Name == n.ID.Name })
	})
	if !n.Skips || n.Attempts > 1 || awaited || x.in[n] != nil {
		x.Refuse(n.ID.Span, "declare the field as what is written", format, args...)
		return
	}
	x.Note(n.ID.Span, "remove the node, or declare the field as what is written", format+": what it gives is not used", args...)
	u.writes = nil
}

// answerKeys are the keys of schemas that the native language has words for.
var answerKeys = []string{"$schema", "type", "properties", "required", "items", "enum", "description", "additionalProperties"}

var answerTypes = map[string]*schema.Type{"string": schema.StringType, "boolean": schema.BoolType, "integer": schema.IntType, "number": schema.FloatType}

// answerType is the type that the schema of an answer describes. Only a field of the state may be left out: then it stays as it is.
// Inside of a value what is left out has no counterpart: to the native language it is null.
func (x *experience) answerType(n *openexpertise.Node, s *yamlnode.Node, top bool) *schema.Type {
	refuse := func(what string) *schema.Type {
		x.Refuse(n.ID.Span, "write `out` on the native `llm` node", "the schema of %s has %s", n.ID.Name, what)
		return schema.AnyType
	}
	for _, e := range s.Entries {
		if !slices.Contains(answerKeys, e.Key.Text.Value) {
			return refuse("`" + e.Key.Text.Value + "`, which cannot be converted")
		}
	}
	if values := s.Get("enum"); values != nil {
		var words []string
		for _, v := range values.Items {
			words = append(words, v.Text.Value)
		}
		return schema.EnumOf(words...)
	}
	word := ""
	if t := s.Get("type"); t != nil {
		word = t.Text.Value
	}
	switch props := s.Get("properties"); {
	case answerTypes[word] != nil:
		return answerTypes[word]
	case word == "array" && s.Get("items") != nil:
		return schema.ListOf(x.answerType(n, s.Get("items"), false))
	case word == "array":
		return schema.ListOf(schema.AnyType)
	case word == "object" && props == nil:
		return schema.MapOf(schema.AnyType)
	case word == "object":
		t := convert.Struct()
		for _, p := range props.Entries {
			required := s.Get("required")
			f := convert.Field(p.Key.Text.Value, x.answerType(n, p.Value, false))
			switch {
			case required != nil && slices.ContainsFunc(required.Items, func(r *yamlnode.Node) bool { return r.Text.Value == f.Name }):
			case !top:
				return refuse("the property `" + f.Name + "`, which may be left out: to the native language it would be null")
			default:
				f.Type = schema.OptOf(f.Type, "")
			}
			if d := p.Value.Get("description"); d != nil {
				f.Description = d.Text.Value
			}
			t.Fields = append(t.Fields, f)
		}
		return t
	}
	return refuse("a part without `type`")
}

// ask rewrites an agent.
func (x *experience) ask(u *unit, v *ir.LLM, to *ir.Node, vars variables) {
	if u.node.System != nil {
		x.skill(u, v, to, vars)
		return
	}
	var text strings.Builder
	for _, s := range u.node.Prompt.Segments {
		if s.Ref == nil {
			text.WriteString(doc.Braces(s.Lit))
			continue
		}
		text.WriteString(x.placeholder(u, to.ID.Name, s.Ref, vars))
	}
	to.Verb = &ir.LLM{Model: v.Model, Prompt: &ir.Prompt{Text: convert.Text(text.String())}, Out: u.answer}
	for _, f := range u.writes {
		given := u.result(to.ID.Name, f)
		if slices.Contains(u.maybe, f) {
			if x.mayLack(f); x.overwrites(u.node, f) {
				given = "first(" + given + ", state." + f + ")"
			}
		}
		to.Set = append(to.Set, convert.Set(f, given))
	}
}

// overwrites reports whether a field may have a value when a node writes it.
func (x *experience) overwrites(n *openexpertise.Node, field string) bool {
	return n.Each != nil || x.in[n] != nil || slices.ContainsFunc(x.tree.Nodes, func(w *openexpertise.Node) bool {
		return w != n && x.runs(w) && slices.Contains(x.units[w].writes, field) && !x.before(n, w)
	})
}

// skill rewrites a skill: a node before it makes the text of what it is told.
func (x *experience) skill(u *unit, v *ir.LLM, to *ir.Node, vars variables) {
	told := &ir.Object{}
	put := func(key string, v ir.Value) { told.Entries = append(told.Entries, convert.Pair(key, v)) }
	for _, id := range u.node.Reads {
		if !x.written(id.Name) {
			continue
		}
		if place, _ := x.place(u, &dialect.Reference{Root: "state", Path: []string{id.Name}, Text: source.Text{Span: id.Span}}, vars); place != "" {
			put(id.Name, convert.Ref(place))
		}
	}
	for _, r := range u.node.Routes {
		if from := x.units[x.nodes[r.From.Name]]; from.module != nil && from.module.says("edge_output") {
			x.Refuse(r.Span, "write it to the state", "what %s hands on may be missing in what the skill %s is told", r.From.Name, u.node.ID.Name)
		}
	}
	if u.node.Args != nil {
		for _, e := range u.node.Args.Entries {
			if slices.ContainsFunc(told.Entries, func(o *ir.Entry) bool { return o.Key.Name == e.Key.Name }) {
				x.Refuse(e.Key.Span, "rename it", "the argument %s has the name of a field that the skill reads", e.Key.Name)
			}
			if r, is := e.Value.(*dialect.Reference); !is || !x.never(r, u.node) {
				value, _ := x.argument(e.Value, u.node)
				put(e.Key.Name, value)
			}
		}
	}
	if vars != (variables{}) || x.in[u.node] != nil {
		x.Refuse(u.node.ID.Span, "write an agent with a prompt", "the skill %s is told of its item", u.node.ID.Name)
	}
	name := x.newID(to.ID.Name + "_told")
	u.before = append(u.before, &ir.Node{ID: convert.Name(name), Verb: convert.Call(toldFunc, convert.Pair("in", told))})
	to.Verb = &ir.LLM{Model: v.Model, System: convert.Text(doc.Braces(u.node.System.Text.Value)), Prompt: &ir.Prompt{Text: convert.Text("{{ " + name + " }}")}}
	for _, f := range u.writes {
		to.Set = append(to.Set, convert.Set(f, u.result(to.ID.Name, f)))
	}
}

// placeholder is what a name in a prompt stands for: text and numbers in place, and what JavaScript writes as JSON by a node
// before the agent.
func (x *experience) placeholder(u *unit, id string, r *dialect.Reference, vars variables) string {
	var in ir.Value
	place, typ := "", (*schema.Type)(nil)
	if r.Root == "args" {
		if in = x.given(u.node, r.Path[0]); in == nil {
			return doc.Braces(r.Text.Value)
		}
		if c, is := in.(*ir.Scalar); is && c.Tag == "!!str" && len(r.Path) == 1 && r.Filter == "" {
			return doc.Braces(c.Text.Value)
		}
		typ = schema.AnyType
	} else if place, typ = x.place(u, r, vars); typ != nil {
		in = convert.Ref(place)
	}
	switch {
	case typ == nil:
		return ""
	case r.Filter == "length" && len(r.Path) == 1 && typ.Kind == schema.List:
		return "{{ size(" + place + ") }}"
	case r.Filter == "" && (len(r.Path) == 1 || len(r.Path) == 0) && (typ.Kind == schema.String || typ.Kind == schema.Float || typ.Kind == schema.Int || typ.Kind == schema.Bool):
		return "{{ " + place + " }}"
	}
	path := &ir.List{}
	if len(r.Path) > 0 && r.Root != "item" {
		for _, key := range r.Path[1:] {
			path.Items = append(path.Items, convert.Literal(key))
		}
	} else {
		for _, key := range r.Path {
			path.Items = append(path.Items, convert.Literal(key))
		}
	}
	if r.Filter != "" {
		path.Items = append(path.Items, convert.Literal(r.Filter))
	}
	if name := u.shown[r.Text.Value]; name != "" {
		return "{{ " + name + " }}"
	}
	parts := append([]string{id, r.Root}, r.Path...)
	if r.Root == "state" || r.Root == "edges" || r.Root == "args" {
		parts = append([]string{id}, r.Path...)
	}
	name := x.newID(strings.Join(parts, "_"))
	u.shown[r.Text.Value] = name
	u.before = append(u.before, &ir.Node{ID: convert.Name(name), Verb: convert.Call(shownFunc,
		convert.Pair("in", in), convert.Pair("path", path), convert.Pair("placeholder", convert.Literal(r.Text.Value)))})
	return "{{ " + name + " }}"
}

// given is the value of an argument; nil: it certainly has none.
func (x *experience) given(n *openexpertise.Node, name string) ir.Value {
	for _, e := range n.Args.Entries {
		if r, is := e.Value.(*dialect.Reference); e.Key.Name == name && (!is || !x.never(r, n)) {
			v, _ := x.argument(e.Value, n)
			return v
		}
	}
	return nil
}

// place is where a value of a prompt is, with its type; nil: it was refused.
func (x *experience) place(u *unit, r *dialect.Reference, vars variables) (string, *schema.Type) {
	refuse := func(help, format string, args ...any) (string, *schema.Type) {
		x.Refuse(r.Text.Span, help, format, args...)
		return "", nil
	}
	switch r.Root {
	case "item":
		return vars.item, schema.AnyType
	case "index":
		return vars.index, schema.IntType
	case "state":
		s := x.fields[r.Path[0]]
		if s == nil || !x.written(r.Path[0]) || !x.certain(r.Path[0], u.node) {
			return refuse("let a node before it write the field", "state.%s may not have been written when %s is asked", r.Path[0], u.node.ID.Name)
		}
		if m := x.writer(r.Path[0], u.node); m != nil {
			return m.result(x.IDs[m.node.ID.Name], r.Path[0]), holds(s)
		}
		return "state." + r.Path[0], holds(s)
	case "iter":
		return "state." + x.in[u.node].iter, schema.IntType
	case "pipeline", "loop":
		return doc.Escaped(x.in[u.node].ID.Name), schema.StringType
	case "edges":
		from := x.units[x.nodes[r.Path[0]]]
		if x.sharesName(u, r) { // the field is what counts where nothing was handed on
			switch {
			case from.module != nil && !from.module.says("edge_output"):
				own := *r
				own.Root = "state"
				return x.place(u, &own, vars)
			case from.module == nil || !from.module.neverNull():
				return refuse("rename the field or the node", "what %s hands on may be missing, and then this is state.%s", r.Path[0], r.Path[0])
			}
		}
		if from.module == nil || !from.module.says("edge_output") || from.node.Each != nil {
			return refuse("write it to the state", "what %s hands on cannot be read here", r.Path[0])
		}
		return x.IDs[r.Path[0]] + ".edge_output", schema.AnyType
	}
	return refuse("write the value into the prompt", "this name in a prompt has no counterpart")
}

// sharesName reports whether a placeholder names a node before the agent and a field that it reads.
func (x *experience) sharesName(u *unit, r *dialect.Reference) bool {
	return r != nil && r.Root == "edges" && slices.ContainsFunc(u.node.Reads, func(id ir.Ident) bool { return id.Name == r.Path[0] })
}

// writer is what alone has written a field when n runs, whose result is read instead of the state: it is there even where the
// field may stay absent; nil when there is none.
func (x *experience) writer(field string, n *openexpertise.Node) *unit {
	var found *unit
	for _, m := range x.tree.Nodes {
		u := x.units[m]
		if !slices.Contains(u.writes, field) {
			continue
		}
		_, asks := m.Verb.(*ir.LLM)
		if found != nil || !asks || slices.Contains(u.maybe, field) || m.Each != nil || !x.order.Left(m, n) {
			return nil
		}
		found = u
	}
	return found
}

// result is where the native node id has the value of a field that an agent writes.
func (u *unit) result(id, field string) string {
	if u.answer != nil {
		return id + "." + field
	}
	return id
}

// index is the name of the number of an item, where the prompt asks for it.
func (x *experience) index(n *openexpertise.Node, vars variables) *ir.Ident {
	if n.Prompt != nil && slices.ContainsFunc(n.Prompt.Segments, func(s dialect.MixedSegment) bool { return s.Ref != nil && s.Ref.Root == "index" }) {
		return &ir.Ident{Name: vars.index}
	}
	return nil
}

// begins is the first of the native nodes that a node becomes.
func (x *experience) begins(u *unit) string {
	if len(u.before) > 0 && u.node.Each == nil {
		return u.before[0].ID.Name
	}
	return x.IDs[u.node.ID.Name]
}

// first lets the nodes that make the texts of a prompt wait in place of the agent.
func (x *experience) first(u *unit, node *ir.Node) {
	if len(u.before) > 0 {
		u.before[0].Join, node.Join = node.Join, 0
	}
}
