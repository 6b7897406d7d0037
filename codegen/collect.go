package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// What branches write to one field of state at the same time is gathered in lists and applied where they meet: that of
// parallel arms in the order of the file, that of a map's items in the order of the items. What a scope wrote that
// failed does not count (core, Graph semantics): an item hands over its lists at its end, and a loop whose failure is
// handled puts back what was there before it.

// stateField is a field of state.
func stateField(s *ir.State) *jen.Statement {
	return jen.Id("state").Dot(ident(fieldName(&schema.Field{Name: s.Name.Name, GoName: s.GoName})))
}

// listOf is the type of a list of what x writes.
func (fn *function) listOf(x *check.SetState) *jen.Statement {
	if x.State.Merge.Kind == ir.MergeAppend {
		return fn.g.goType(x.State.Type)
	}
	return jen.Index().Add(fn.g.goType(x.Value.Type))
}

// collectIn declares the lists of what the arms of a plan write at the same time.
func (b *block) collectIn(p *check.Plan) {
	writer := map[*check.SetState]*check.Step{}
	for _, s := range leaves(p) {
		for _, x := range s.Sets {
			writer[x] = s
		}
	}
	for _, x := range p.Joins {
		if b.fn.armWrites == nil {
			b.fn.armWrites = map[*check.SetState]string{}
		}
		b.fn.armWrites[x] = b.fn.fresh(writer[x].Node.ID.Name + "_" + x.State.Name.Name)
		b.add(jen.Var().Id(ident(b.fn.armWrites[x])).Add(b.fn.listOf(x)))
	}
}

// joins applies, after parallel arms, what they wrote to state together, in file order.
func (b *block) joins(p *check.Plan) {
	for _, x := range p.Joins {
		b.apply(x, jen.Id(ident(b.fn.armWrites[x])))
	}
}

// apply merges a list of what x wrote into state or, inside the item of a map, into the item's list.
func (b *block) apply(x *check.SetState, list jen.Code) {
	if own := b.fn.itemWrites[x.State]; own != "" {
		b.add(jen.Id(ident(own)).Op("=").Append(jen.Id(ident(own)), jen.Add(list).Op("...")))
		return
	}
	field := stateField(x.State)
	if x.State.Merge.Kind == ir.MergeAppend {
		b.add(jen.Add(field).Op("=").Append(field, jen.Add(list).Op("...")))
		return
	}
	b.add(jen.For(jen.List(jen.Id("_"), jen.Id("x")).Op(":=").Range().Add(list)).Block(
		jen.Add(field).Op("=").Add(b.fn.g.goFunc(x.State.Merge.Reducer.Bind)).Call(field, jen.Id("x"))))
}

// itemField is a field of state that the items of a map write.
type itemField struct {
	set *check.SetState // one of the writes
	all string          // the lists of all items
	own string          // the list of one item, inside its function
}

// itemFields lists the fields that the items of a map write, in the order of the file.
func (fn *function) itemFields(s *check.Step) []*itemField {
	var out []*itemField
	for _, x := range setsInside(s) {
		if slices.Contains(s.InOrder, x.State) {
			continue
		}
		out = append(out, &itemField{x, fn.fresh(s.Node.ID.Name + "_" + x.State.Name.Name), fn.fresh(x.State.Name.Name)})
	}
	return out
}

// setsInside is one write for every field of state that is written inside a step.
func setsInside(s *check.Step) []*check.SetState {
	var out []*check.SetState
	seen := map[*ir.State]bool{}
	for _, t := range s.Body.All() {
		for _, x := range t.Sets {
			if !seen[x.State] {
				seen[x.State] = true
				out = append(out, x)
			}
		}
	}
	return out
}

// enter makes writes inside the function of one item go to the item's lists, and returns how to leave it.
func (fn *function) enter(fields []*itemField) (leave func()) {
	saved := fn.itemWrites
	fn.itemWrites = map[*ir.State]string{}
	for _, f := range fields {
		fn.itemWrites[f.set.State] = f.own
	}
	return func() { fn.itemWrites = saved }
}

// applied is what merges the lists of all items, after the map.
func (b *block) applied(fields []*itemField) []jen.Code {
	var out []jen.Code
	for _, f := range fields {
		in := b.inner(b.scope)
		in.apply(f.set, jen.Id("xs"))
		out = append(out, jen.For(jen.List(jen.Id("_"), jen.Id("xs")).Op(":=").Range().Id(ident(f.all))).Block(in.code...))
	}
	return out
}

// snapshot notes the state that a loop or the items of a map, one after the other, may write whose failure does not end the workflow,
// and returns what puts it back. fields are those that count; none: all.
func (b *block) snapshot(s *check.Step, fields ...*ir.State) (undo []jen.Code) {
	for _, x := range setsInside(s) {
		if len(fields) > 0 && !slices.Contains(fields, x.State) {
			continue
		}
		before := jen.Id(ident(b.fn.fresh(x.State.Name.Name + "_before")))
		field := stateField(x.State)
		if own := b.fn.itemWrites[x.State]; own != "" {
			field = jen.Id(ident(own))
		}
		value := jen.Add(field)
		if x.State.Type.Kind == schema.List { // what is appended later must not overwrite what was seen of this
			value = jen.Qual("slices", "Clip").Call(field)
		}
		b.add(jen.Add(before).Op(":=").Add(value))
		undo = append(undo, jen.Add(field).Op("=").Add(before))
		if x.State.Merge.Kind == ir.MergeSetOnce {
			done := jen.Id(ident(b.fn.onceName(x.State)))
			before := jen.Id(ident(b.fn.fresh(x.State.Name.Name + "_set_before")))
			b.add(jen.Add(before).Op(":=").Add(done))
			undo = append(undo, jen.Add(done).Op("=").Add(before))
		}
	}
	return undo
}
