package openexpertise

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

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
			v, typ := x.argument(e.Value, u.node)
			to.add(e.Key, v, typ)
		}
	}
	mod := u.module
	if len(names) > 0 && mod.all() {
		x.Refuse(u.node.ID.Span, "take the parts that it needs out of its argument", "the module can see its argument as a whole, in which the engine puts %s and %s", names[len(names)-2].Key.Name, names[len(names)-1].Key.Name)
	}
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
}

// edgeInputs hands on what the nodes before have given.
func (x *experience) edgeInputs(u *unit, to *args) {
	p := u.module.looks("_edge_inputs")
	v := &ir.Object{}
	var seen []string
	if r := x.in[u.node]; r != nil && r.Kind == openexpertise.PhasePipeline {
		if i := slices.Index(r.nodes, u.node); i > 0 {
			name := r.nodes[i-1].ID.Name
			v.Entries = append(v.Entries, convert.Pair(name, convert.Ref(x.IDs[name]+".edge_output")))
		}
	}
	for _, r := range u.node.Routes {
		from := x.units[x.nodes[r.From.Name]]
		if !p.whole && !slices.Contains(p.fields, r.From.Name) {
			continue
		}
		switch {
		case from.module == nil || !from.module.says("edge_output"):
			continue
		case from.node.Each != nil:
			x.Refuse(r.Span, "write it to the state", "the edge_output of a for_each is that of its last item: this is not converted")
		}
		if !slices.Contains(seen, r.From.Name) {
			seen = append(seen, r.From.Name)
			v.Entries = append(v.Entries, convert.Pair(r.From.Name, convert.Ref(x.IDs[r.From.Name]+".edge_output")))
		}
	}
	to.add(convert.Name("_edge_inputs"), v, schema.MapOf(schema.AnyType))
}

// stateOf hands over the fields of the state that a module reads.
func (x *experience) stateOf(u *unit, to *args) {
	p := u.module.looks("_state")
	if x.tree.Upstream && u.node.ReadsSome {
		x.Refuse(u.node.ID.Span, "convert without --compat upstream", "the engine's _state has the fields of `reads` only")
	}
	fields := p.fields
	if p.whole {
		fields = nil
		for _, s := range x.tree.State {
			fields = append(fields, s.Name.Name)
		}
	}
	v, typ := &ir.Object{}, convert.Struct()
	for _, f := range fields {
		s := x.fields[f]
		if s == nil || !x.written(f) {
			continue
		}
		if !x.certain(f, u.node) {
			if p.whole || p.exact[f] {
				x.Refuse(u.node.ID.Span, fmt.Sprintf("read it as `_state.%s ?? ...`", f), "state.%s may not have been written when %s reads it: to the module it would be null instead of undefined", f, u.node.ID.Name)
			}
			x.mayLack(f)
		}
		v.Entries = append(v.Entries, convert.Pair(f, convert.Ref("state."+f)))
		typ.Fields = append(typ.Fields, convert.Field(f, x.read(s)))
	}
	if len(v.Entries) == 0 {
		typ = schema.MapOf(schema.AnyType)
	}
	to.add(ir.Ident{Name: "_state", Span: convert.Below(u.tree, "reads")}, v, typ)
}

// argument is a value of args, and its type.
func (x *experience) argument(v ir.Value, n *openexpertise.Node) (ir.Value, *schema.Type) {
	switch v := v.(type) {
	case *ir.Scalar:
		return v, convert.TypeOf(v)
	case *dialect.Reference:
		if v.Root != "state" || len(v.Path) != 1 || v.Filter != "" {
			x.Refuse(v.Text.Span, "write the part to a field of its own", "a path into a value whose shape is not declared has no counterpart")
			return v, schema.AnyType
		}
		s := x.fields[v.Path[0]]
		if s == nil || !x.written(v.Path[0]) || !x.certain(v.Path[0], n) {
			x.Refuse(v.Text.Span, "let a node before it write the field", "state.%s may not have been written here", v.Path[0])
			return v, schema.AnyType
		}
		return convert.Ref("state."+v.Path[0], v.Text.Span), x.read(s)
	}
	return convert.Rewrite(v, func(v ir.Value) ir.Value { one, _ := x.argument(v, n); return one }), schema.AnyType
}

// handsOn reports whether a node after u reads its edge_output.
func (x *experience) handsOn(u *unit) bool {
	for _, n := range x.tree.Nodes {
		v := x.units[n]
		if n.Prompt != nil && u.module != nil && u.module.says("edge_output") && slices.ContainsFunc(n.Prompt.Segments, func(s dialect.MixedSegment) bool {
			return x.sharesName(v, s.Ref) && s.Ref.Path[0] == u.node.ID.Name
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
