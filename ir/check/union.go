package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// tag makes a switch over a union one over its tag, and returns the type of that.
func (c *checker) tag(d *Decision, t *schema.Type) *schema.Type {
	if t.Kind != schema.Union {
		return t
	}
	f := t.Field(t.By).Type
	if n := d.Expr; n.Type == t {
		d.Expr = &expr.Node{Op: expr.Field, Text: t.By, Kids: []*expr.Node{n}, Lo: n.Lo, Hi: n.Hi, NameLo: n.NameLo, NameHi: n.NameHi, Type: f, Stored: f}
	}
	return f
}

// tells is the fact about a union that a switch over its tag proves where it has taken case k.
func (d *Decision) tells(k int) expr.Facts {
	union, path := expr.TagOf(d.Expr)
	if path == "" || d.Edge.Default == nil && len(d.Cases) < len(union.Variants) { // which was reported
		return nil
	}
	left := union.Tags()
	if d.Cases[k].Default {
		left = slices.DeleteFunc(left, func(tag string) bool {
			return slices.ContainsFunc(d.Cases, func(c Case) bool { return !c.Default && c.Label == tag })
		})
	} else {
		left = []string{d.Cases[k].Label}
	}
	if len(left) != 1 {
		return nil
	}
	return expr.Facts{expr.IsVariant(path, left[0]): true}
}
