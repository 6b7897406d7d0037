package convert

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Casts reads dynamic values that tools take as values of a type: a `parse` node before the call does what engines do when
// the workflow runs.
func (c *Converter) Casts(b *ir.Body) {
	for _, n := range slices.Clone(b.Nodes) {
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
			}
			id := Free(NativeID(c.Target(n.ID)+"_"+e.Key.Name), func(id string) bool { return c.FreeID(id) != id || c.madeIDs[id] })
			c.madeIDs[id] = true
			InsertBefore(b, n.ID.Name, &ir.Node{ID: Name(id), Verb: &ir.Parse{Value: data, Out: want}})
			with.Entries[i] = &ir.Entry{Key: e.Key, Value: Ref(id, x.Text.Span)}
		}
		call.With, n.Verb = &with, &call
	}
}
