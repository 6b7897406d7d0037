package openexpertise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// always are the arguments that the engine gives to every module, and itemNames those of an item of a for_each.
var (
	always    = []string{"_state", "_edge_inputs"}
	itemNames = []string{"_item", "_item_index", "$item", "$index"}
)

// arguments writes what a module is given: its args, and of what the engine adds the parts that it can see.
func (x *experience) arguments(u *unit, with, in *doc.Mapping, vars variables) {
	if u.node.Args != nil {
		for _, e := range u.node.Args.Entries {
			if jsName.FindString(e.Key.Name) != e.Key.Name || e.Key.Name == "" {
				x.Refuse(e.Key.Span, "rename it", "an argument called %q has no place in the native language: names are letters, digits, _ and $", e.Key.Name)
				continue
			}
			if slices.Contains(always, e.Key.Name) || u.node.Each != nil && slices.Contains(itemNames, e.Key.Name) {
				continue // the engine's own takes its place
			}
			v, typ := x.argument(e.Value, u.node)
			with.Add(e.Key.Name, v, convert.Join(e.Key.Span, e.Value.Source()))
			in.Add(e.Key.Name, typ, source.Span{})
		}
	}
	mod := u.module
	if u.node.Each != nil {
		if mod.all() {
			x.Refuse(u.node.ID.Span, "take the parts that it needs out of its argument", "the module can see its argument as a whole, in which the engine puts $item and $index")
		}
		for _, name := range itemNames {
			if !mod.reads(name) {
				continue
			}
			if strings.HasSuffix(name, "index") {
				with.Add(name, doc.Scalar("$"+vars.index), source.Span{})
				in.Add(name, doc.Scalar("int"), source.Span{})
				continue
			}
			with.Add(name, doc.Scalar("$"+vars.item), source.Span{})
			in.Add(name, doc.Scalar("any"), source.Span{})
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
func (x *experience) edgeInputs(u *unit, with, in *doc.Mapping) {
	p := u.module.looks("_edge_inputs")
	v := doc.Flow()
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
		if v.Find(r.From.Name) == nil {
			v.Add(r.From.Name, doc.Scalar("$"+x.IDs[r.From.Name]+".edge_output"), source.Span{})
		}
	}
	with.Add("_edge_inputs", v, source.Span{})
	in.Add("_edge_inputs", doc.Scalar("map<any>"), source.Span{})
}

// stateOf hands over the fields of the state that a module reads.
func (x *experience) stateOf(u *unit, with, in *doc.Mapping) {
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
	v, typ := doc.Flow(), doc.Flow()
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
		v.Add(f, doc.Scalar("$state."+f), source.Span{})
		typ.Add(f, x.Typ(x.read(s), s.Span), source.Span{})
	}
	if len(v.Entries) == 0 {
		with.Add("_state", doc.Flow(), source.Span{})
		in.Add("_state", doc.Scalar("map<any>"), source.Span{})
		return
	}
	with.Add("_state", v, convert.Below(u.tree, "reads"))
	in.Add("_state", typ, source.Span{})
}

// argument is a value of args, and its type.
func (x *experience) argument(v ir.Value, n *openexpertise.Node) (doc.Value, doc.Value) {
	switch v := v.(type) {
	case *ir.Scalar:
		types := map[string]string{"!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "any"}
		if t := types[v.Tag]; t != "" {
			return convert.Constant(v), doc.Scalar(t)
		}
		return convert.Constant(v), doc.Scalar("string")
	case *dialect.Reference:
		if v.Root != "state" || len(v.Path) != 1 || v.Filter != "" {
			x.Refuse(v.Text.Span, "write the part to a field of its own", "a path into a value whose shape is not declared has no counterpart")
			return doc.Scalar("null"), doc.Scalar("any")
		}
		s := x.fields[v.Path[0]]
		if s == nil || !x.written(v.Path[0]) || !x.certain(v.Path[0], n) {
			x.Refuse(v.Text.Span, "let a node before it write the field", "state.%s may not have been written here", v.Path[0])
			return doc.Scalar("null"), doc.Scalar("any")
		}
		return doc.Scalar("$state." + v.Path[0]), x.Typ(x.read(s), v.Text.Span)
	case *ir.List:
		l := &doc.List{Flow: true}
		for _, it := range v.Items {
			one, _ := x.argument(it, n)
			l.Add(one, it.Source())
		}
		return l, doc.Scalar("any")
	case *ir.Object:
		m := doc.Flow()
		for _, e := range v.Entries {
			one, _ := x.argument(e.Value, n)
			m.Add(doc.Key(e.Key.Name), one, convert.Join(e.Key.Span, e.Value.Source()))
		}
		return m, doc.Scalar("any")
	}
	x.Refuse(v.Source(), "", "this value cannot be written in the native language")
	return doc.Scalar("null"), doc.Scalar("any")
}

// handsOn reports whether a node after u reads its edge_output.
func (x *experience) handsOn(u *unit) bool {
	for _, n := range x.tree.Nodes {
		v := x.units[n]
		if v.module == nil || !v.module.reads("_edge_inputs") || !slices.ContainsFunc(n.Routes, func(r *dialect.Route) bool { return r.From.Name == u.node.ID.Name }) {
			continue
		}
		if p := v.module.looks("_edge_inputs"); (p.whole || slices.Contains(p.fields, u.node.ID.Name)) && (u.module == nil || u.module.says("edge_output")) {
			return true
		}
	}
	return false
}
