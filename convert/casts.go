package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Casts reads dynamic values that tools take as values of a type: a `parse` node before the call does what engines do when
// the workflow runs.
func (c *Converter) Casts(b *ir.Body) {
	for _, n := range slices.Clone(b.Nodes) {
		c.castSets(b, n)
		v, is := n.Verb.(*ir.ToolCall)
		if !is || v.With == nil || v.Tool == nil || v.Tool.In == nil {
			continue
		}
		call, with := *v, *v.With
		with.Entries = slices.Clone(v.With.Entries)
		for i, e := range with.Entries {
			f := v.Tool.In.Field(e.Key.Name)
			x, is := e.Value.(*ir.Expr)
			if f == nil || !is || x.Node == nil || x.Node.Type == nil {
				continue
			}
			have, want := x.Node.Type.Present(), f.Type.Present()
			var data ir.Value = x
			switch {
			case want.Kind == schema.Any:
				continue
			case have.Kind == schema.Int && want.Kind == schema.Float: // as JSON
				data = Text("{{ "+c.expr(x.Text.Value, x.Node, 0)+" }}", x.Text.Span)
			case have.Kind != schema.Any:
				continue
			case c.Opt[strings.TrimPrefix(x.Text.Value, "state.")]: // absent it is null, which does not fit
				data = Text("{{ "+c.expr(x.Text.Value, x.Node, 0)+" | json }}", x.Text.Span)
			}
			id := c.castID(n, e.Key.Name)
			InsertBefore(b, n.ID.Name, &ir.Node{ID: Name(id), Verb: &ir.Parse{Value: data, Out: want}})
			with.Entries[i] = &ir.Entry{Key: e.Key, Value: Ref(id, x.Text.Span)}
		}
		call.With, n.Verb = &with, &call
	}
}

// castSets does the same where a node writes its dynamic result to a field of a type: a `parse` node after it does.
func (c *Converter) castSets(b *ir.Body, n *ir.Node) {
	for _, s := range n.Set {
		x, is := s.Value.(*ir.Expr)
		field := c.Workflow.StateField(s.Field.Name)
		if !is || field == nil || x.Node == nil || x.Node.Type == nil || x.Node.Type.Kind != schema.Any || x.Text.Value != n.ID.Name {
			continue
		}
		want := field.Type.Present()
		if want.Kind == schema.Any {
			continue
		}
		id := c.castID(n, s.Field.Name)
		insertAfter(b, n.ID.Name, &ir.Node{ID: Name(id), Verb: &ir.Parse{Value: x, Out: want}, Set: []*ir.Set{Set(s.Field.Name, id)}})
		n.Set = slices.DeleteFunc(slices.Clone(n.Set), func(other *ir.Set) bool { return other == s })
	}
}

// castID is the id of a node that reads what has a name for a node.
func (c *Converter) castID(n *ir.Node, name string) string {
	id := Free(NativeID(c.Target(n.ID)+"_"+name), func(id string) bool { return c.FreeID(id) != id || c.madeIDs[id] })
	c.madeIDs[id] = true
	return id
}
