package openexpertise

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// seenFunc leaves out what has no value.
const seenFunc = schema.RuntimePath + "/openexpertise.Seen"

// always are the arguments that the engine gives to every module.
var always = []string{"_state", "_edge_inputs"}

// args is what a module is given, with its types.
type args struct {
	with []*ir.Entry
	in   []*schema.Field
}

func (a *args) add(key ir.Ident, v ir.Value, t *schema.Type) {
	a.with, a.in = append(a.with, &ir.Entry{Key: key, Value: v}), append(a.in, convert.Field(key.Name, t))
}

// arguments finds what a module is given: its args, and of what the engine adds the parts that it can see.
func (x *experience) arguments(u *unit, to *args, vars variables) {
	names := x.roundNames(u, vars)
	if u.node.Args != nil {
		for _, e := range u.node.Args.Entries {
			if jsName.FindString(e.Key.Name) != e.Key.Name || e.Key.Name == "" {
				x.Refuse(e.Key.Span, "rename it", "an argument called %q has no place in the native language: names are letters, digits, _ and $", e.Key.Name)
				continue
			}
			if slices.Contains(always, e.Key.Name) || slices.ContainsFunc(names, func(own *ir.Entry) bool { return own.Key.Name == e.Key.Name }) {
				continue // the engine's own takes its place
			}
			if r, is := e.Value.(*dialect.Reference); is && x.never(r, u.node) {
				continue // to JavaScript what is undefined is not there
			}
			v, typ := x.argument(e.Value, u.node)
			to.add(e.Key, v, typ)
		}
	}
	mod := u.module
	for _, e := range names {
		if mod.reads(e.Key.Name) {
			to.add(e.Key, e.Value, nameType(e.Key.Name))
		}
	}
	if mod.reads("_edge_inputs") {
		x.edgeInputs(u, to)
	}
	if mod.reads("_state") {
		x.stateOf(u, to)
	}
	for _, name := range mod.takes { // what the engine does not give is undefined, which is null here
		if !slices.ContainsFunc(to.in, func(f *schema.Field) bool { return f.Name == name }) {
			if !mod.guards(name, x.handsOn(u)) {
				x.Refuse(u.node.ID.Span, fmt.Sprintf("read it as `%s ?? ...`", name), "%s is not given %s: to the module it would be null instead of undefined", u.node.ID.Name, name)
			}
			to.in = append(to.in, convert.Field(name, schema.OptOf(schema.AnyType, "")))
		}
	}
}

// edgeInputs hands on what the nodes before have given.
func (x *experience) edgeInputs(u *unit, to *args) {
	p := u.module.looks("_edge_inputs")
	v, lacks := &ir.Object{}, false
	put := func(name, place string) {
		if !slices.ContainsFunc(v.Entries, func(e *ir.Entry) bool { return e.Key.Name == name }) {
			v.Entries = append(v.Entries, convert.Pair(name, convert.Ref(place)))
		}
	}
	if r := x.in[u.node]; r != nil && r.Kind == openexpertise.PhasePipeline {
		if i := slices.Index(r.nodes, u.node); i > 0 {
			name := r.nodes[i-1].ID.Name
			put(name, x.IDs[name]+".edge_output")
		}
	}
	for _, r := range u.node.Routes {
		from, id := x.units[x.nodes[r.From.Name]], x.IDs[r.From.Name]
		switch {
		case !p.whole && !slices.Contains(p.fields, r.From.Name), from.module == nil || !from.module.says("edge_output"):
		case from.node.Each != nil: // that of its last item
			lacks = lacks || p.whole || p.exact[r.From.Name]
			put(r.From.Name, id+"[size("+id+") - 1]?.edge_output")
		default:
			put(r.From.Name, id+".edge_output")
		}
	}
	to.add(convert.Name("_edge_inputs"), x.seen(u, "edges", v, lacks), schema.MapOf(schema.AnyType))
}

// seen is an object, or where the module asks which of its fields there are, what a node before makes of it.
func (x *experience) seen(u *unit, what string, v *ir.Object, lacks bool) ir.Value {
	if !lacks {
		return v
	}
	if u.node.Each != nil || x.in[u.node] != nil {
		x.Refuse(u.node.ID.Span, "read it as `... ?? ...`", "what %s sees may be missing in one round and there in another", u.node.ID.Name)
	}
	name := x.newID(x.IDs[u.node.ID.Name] + "_" + what)
	u.before = append(u.before, &ir.Node{ID: convert.Name(name), Verb: convert.Call(seenFunc, convert.Pair("in", v))})
	return convert.Ref(name)
}

// stateOf hands over the fields of the state that a module reads.
func (x *experience) stateOf(u *unit, to *args) {
	p := u.module.looks("_state")
	fields := x.visible(u.node)
	if !p.whole {
		fields = slices.DeleteFunc(slices.Clone(p.fields), func(f string) bool { return !slices.Contains(fields, f) })
	}
	v, typ, lacks := &ir.Object{}, convert.Struct(), false
	for _, f := range fields {
		s := x.fields[f]
		if s == nil || !x.written(f) {
			continue
		}
		if !x.certain(f, u.node) {
			if p.whole || p.exact[f] {
				if s.Merge.Kind == ir.MergeAppend || s.Type.Kind == schema.Any {
					x.Refuse(u.node.ID.Span, fmt.Sprintf("read it as `_state.%s ?? ...`", f), "state.%s may not have been written when %s reads it: to the module it would be %s instead of undefined", f, u.node.ID.Name, map[bool]string{true: "an empty list", false: "null"}[s.Merge.Kind == ir.MergeAppend])
				}
				lacks = true
			}
			x.mayLack(f)
		}
		v.Entries = append(v.Entries, convert.Pair(f, convert.Ref("state."+f)))
		typ.Fields = append(typ.Fields, convert.Field(f, x.read(s)))
	}
	if len(v.Entries) == 0 || lacks {
		typ = schema.MapOf(schema.AnyType)
	}
	key := ir.Ident{Name: "_state", Span: convert.Below(u.tree, "reads")}
	to.add(key, x.seen(u, "state", v, lacks), typ)
}

// visible are the fields that the state of a module can have: under the engine's rule what its node reads.
func (x *experience) visible(n *openexpertise.Node) (fields []string) {
	for _, s := range x.tree.State {
		if !x.tree.Upstream || slices.ContainsFunc(n.Reads, func(id ir.Ident) bool { return id.Name == s.Name.Name }) {
			fields = append(fields, s.Name.Name)
		}
	}
	return fields
}

// argument is a value of args, and its type.
func (x *experience) argument(v ir.Value, n *openexpertise.Node) (ir.Value, *schema.Type) {
	switch v := v.(type) {
	case *ir.Scalar:
		return v, convert.TypeOf(v)
	case *dialect.Reference:
		switch {
		case x.never(v, n):
			return &ir.Scalar{Tag: "!!null", Text: source.Text{Value: "null", Span: v.Text.Span}}, schema.AnyType // which is undefined inside of a list
		case v.Root != "state" || len(v.Path) != 1 || v.Filter != "":
			x.Refuse(v.Text.Span, "write the part to a field of its own", "a path into a value whose shape is not declared has no counterpart")
			return v, schema.AnyType
		}
		s := x.fields[v.Path[0]]
		if s == nil || !x.written(v.Path[0]) || !x.certain(v.Path[0], n) {
			x.Refuse(v.Text.Span, "let a node before it write the field", "state.%s may not have been written here", v.Path[0])
			return v, schema.AnyType
		}
		return convert.Ref("state."+v.Path[0], v.Text.Span), x.read(s)
	case *ir.Object:
		var kept []*ir.Entry
		for _, e := range v.Entries {
			if r, is := e.Value.(*dialect.Reference); !is || !x.never(r, n) {
				kept = append(kept, e)
			}
		}
		v = &ir.Object{Entries: kept, Span: v.Span}
		return convert.Rewrite(v, func(v ir.Value) ir.Value { one, _ := x.argument(v, n); return one }), schema.AnyType
	}
	return convert.Rewrite(v, func(v ir.Value) ir.Value { one, _ := x.argument(v, n); return one }), schema.AnyType
}

// never reports whether a path certainly leads to nothing when a node runs: what writes the field comes later.
func (x *experience) never(r *dialect.Reference, n *openexpertise.Node) bool {
	return r.Root == "state" && len(r.Path) > 0 && !slices.ContainsFunc(x.tree.Nodes, func(w *openexpertise.Node) bool {
		return x.runs(w) && slices.Contains(x.units[w].writes, r.Path[0]) && (w == n && n.Each != nil || x.in[n] != nil && x.in[n] == x.in[w] || w != n && !x.before(n, w))
	})
}

// handsOn reports whether a node after u reads its edge_output.
func (x *experience) handsOn(u *unit) bool {
	for _, n := range x.tree.Nodes {
		v := x.units[n]
		if n.Prompt != nil && u.module != nil && u.module.says("edge_output") && slices.ContainsFunc(n.Prompt.Segments, func(s dialect.MixedSegment) bool {
			return s.Ref != nil && s.Ref.Root == "edges" && s.Ref.Path[0] == u.node.ID.Name
		}) {
			return true
		}
		if v.module == nil || !v.module.reads("_edge_inputs") || !slices.ContainsFunc(n.Routes, func(r *dialect.Route) bool { return r.From.Name == u.node.ID.Name }) {
			continue
		}
		if p := v.module.looks("_edge_inputs"); (p.whole || slices.Contains(p.fields, u.node.ID.Name)) && (u.module == nil || u.module.says("edge_output")) {
			return true
		}
	}
	return false
}
