package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// always are the arguments that the engine gives to every module, and itemNames those of an item of a for_each.
var (
	always    = []string{"_state", "_edge_inputs"}
	itemNames = []string{"_item", "_item_index", "$item", "$index"}
)

// arguments writes what a module is given: its args, and of what the engine adds the parts that it can see.
func (x *experience) arguments(u *unit, with, in *mapping, vars variables) {
	d := u.node.Dynamic
	if d.Args != nil {
		for _, e := range d.Args.Entries {
			if jsName.FindString(e.Key.Name) != e.Key.Name || e.Key.Name == "" {
				x.refuse(e.Key.Span, "rename it", "an argument called %q has no place in the native language: names are letters, digits, _ and $", e.Key.Name)
				continue
			}
			if slices.Contains(always, e.Key.Name) || d.Each != nil && slices.Contains(itemNames, e.Key.Name) {
				continue // the engine's own takes its place
			}
			v, typ := x.argument(e.Value, u.node)
			with.add(e.Key.Name, v, join(e.Key.Span, e.Value.Source()))
			in.add(e.Key.Name, typ, source.Span{})
		}
	}
	mod := u.module
	if d.Each != nil {
		if mod.all() {
			x.refuse(u.node.ID.Span, "take the parts that it needs out of its argument", "the module can see its argument as a whole, in which the engine puts $item and $index")
		}
		for _, name := range itemNames {
			if !mod.reads(name) {
				continue
			}
			if strings.HasSuffix(name, "index") {
				with.add(name, scalar("$"+vars.index), source.Span{})
				in.add(name, scalar("int"), source.Span{})
				continue
			}
			with.add(name, scalar("$"+vars.item), source.Span{})
			in.add(name, scalar("any"), source.Span{})
		}
	}
	if mod.reads("_edge_inputs") {
		x.edgeInputs(u, with, in)
	}
	if mod.reads("_state") {
		x.stateOf(u, with, in)
	}
}

// edgeInputs hands on what the nodes before have given.
func (x *experience) edgeInputs(u *unit, with, in *mapping) {
	p := u.module.looks("_edge_inputs")
	v := flow()
	for _, r := range u.node.Dynamic.Routes {
		from := x.units[x.nodes[r.From.Name]]
		if !p.whole && !slices.Contains(p.fields, r.From.Name) {
			continue
		}
		switch {
		case from.module == nil || !from.module.says("edge_output"):
			continue
		case from.node.Dynamic.Each != nil:
			x.refuse(r.Span, "write it to the state", "the edge_output of a for_each is that of its last item: this is not converted")
		}
		if !slices.ContainsFunc(v.entries, func(e *entry) bool { return e.key == r.From.Name }) {
			v.add(r.From.Name, scalar("$"+x.ids[r.From.Name]+".edge_output"), source.Span{})
		}
	}
	with.add("_edge_inputs", v, source.Span{})
	in.add("_edge_inputs", scalar("map<any>"), source.Span{})
}

// stateOf hands over the fields of the state that a module reads.
func (x *experience) stateOf(u *unit, with, in *mapping) {
	p := u.module.looks("_state")
	if x.wf.Dynamic.Upstream && u.node.Dynamic.ReadsSome {
		x.refuse(u.node.ID.Span, "convert without --compat upstream", "the engine's _state has the fields of `reads` only")
	}
	fields := p.fields
	if p.whole {
		fields = nil
		for _, s := range x.wf.State {
			fields = append(fields, s.Name.Name)
		}
	}
	v, typ := flow(), flow()
	for _, f := range fields {
		s := x.fields[f]
		if s == nil || !x.written(f) {
			continue
		}
		t := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			t = schema.ListOf(schema.AnyType)
		}
		if !x.certain(f, u.node) {
			if p.whole || p.exact[f] {
				x.refuse(u.node.ID.Span, fmt.Sprintf("read it as `_state.%s ?? ...`", f), "state.%s may not have been written when %s reads it: to the module it would be null instead of undefined", f, u.node.ID.Name)
			}
			x.mayLack(f)
		}
		if x.optional(s) {
			t = schema.OptOf(t, "")
		}
		v.add(f, scalar("$state."+f), source.Span{})
		typ.add(f, x.typ(t, s.Span), source.Span{})
	}
	if len(v.entries) == 0 {
		with.add("_state", flow(), source.Span{})
		in.add("_state", scalar("map<any>"), source.Span{})
		return
	}
	with.add("_state", v, below(u.tree, "reads"))
	in.add("_state", typ, source.Span{})
}

// argument is a value of args, and its type.
func (x *experience) argument(v ir.Value, n *ir.Node) (value, value) {
	switch v := v.(type) {
	case *ir.Scalar:
		types := map[string]string{"!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "any"}
		if t := types[v.Tag]; t != "" {
			return constant(v), scalar(t)
		}
		return constant(v), scalar("string")
	case *ir.Reference:
		if v.Root != "state" || len(v.Path) != 1 || v.Filter != "" {
			x.refuse(v.Text.Span, "write the part to a field of its own", "a path into a value whose shape is not declared has no counterpart")
			return scalar("null"), scalar("any")
		}
		s := x.fields[v.Path[0]]
		if s == nil || !x.written(v.Path[0]) || !x.certain(v.Path[0], n) {
			x.refuse(v.Text.Span, "let a node before it write the field", "state.%s may not have been written here", v.Path[0])
			return scalar("null"), scalar("any")
		}
		typ := s.Type
		if s.Merge.Kind == ir.MergeAppend {
			typ = schema.ListOf(schema.AnyType)
		}
		if x.optional(s) {
			typ = schema.OptOf(typ, "")
		}
		return scalar("$state." + v.Path[0]), x.typ(typ, v.Text.Span)
	case *ir.List:
		l := &list{flow: true}
		for _, it := range v.Items {
			one, _ := x.argument(it, n)
			l.add(one, it.Source())
		}
		return l, scalar("any")
	case *ir.Object:
		m := flow()
		for _, e := range v.Entries {
			one, _ := x.argument(e.Value, n)
			m.add(key(e.Key.Name), one, join(e.Key.Span, e.Value.Source()))
		}
		return m, scalar("any")
	}
	x.refuse(v.Source(), "", "this value cannot be written in the native language")
	return scalar("null"), scalar("any")
}

// handsOn reports whether a node after u reads its edge_output.
func (x *experience) handsOn(u *unit) bool {
	for _, n := range x.wf.Body.Nodes {
		v := x.units[n]
		if v.module == nil || !v.module.reads("_edge_inputs") || !slices.ContainsFunc(n.Dynamic.Routes, func(r *ir.Route) bool { return r.From.Name == u.node.ID.Name }) {
			continue
		}
		if p := v.module.looks("_edge_inputs"); (p.whole || slices.Contains(p.fields, u.node.ID.Name)) && (u.module == nil || u.module.says("edge_output")) {
			return true
		}
	}
	return false
}
