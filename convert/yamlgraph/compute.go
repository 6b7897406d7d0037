package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// dynamics finds the fields into which values look that are no more than a mapping or a list to the graph: what is in them is found
// when the workflow runs.
func (g *graph) dynamics() {
	var values []ir.Value
	for _, n := range g.tree.Nodes {
		if n.Token.Ask != nil && n.Token.Ask.JSON {
			g.loose[n.Token.Key.Name] = true
		}
		verb := n.Verb
		if m, is := verb.(*yamlgraph.Map); is && m.Do != nil {
			verb = m.Do.Verb
		}
		if let, is := verb.(*ir.Let); is {
			for _, e := range let.Fields {
				values = append(values, e.Value)
				g.untyped = g.untyped || g.untypable(e.Value)
			}
		}
	}
	for _, v := range values {
		g.dynamic(v, g.untyped)
	}
}

// untypable reports whether a value is calculated in a way for which there are no types.
func (g *graph) untypable(v ir.Value) bool {
	c, is := v.(*yamlgraph.Calc)
	if !is {
		return false
	}
	kind := func(v ir.Value) schema.Kind {
		switch v := v.(type) {
		case *ir.Scalar:
			return convert.TypeOf(v).Kind
		case *ir.List:
			return schema.List
		case *yamlgraph.Calc:
			return schema.Invalid
		case *dialect.Reference:
			if v.Root == "state" && len(v.Path) == 1 && g.shapes[v.Path[0]] != nil {
				return g.shapes[v.Path[0]].declared.Kind
			}
		}
		return schema.Any
	}
	a, b := kind(c.Left), kind(c.Right)
	return c.Op == "/" || a == schema.Any || b == schema.Any || a == schema.String && b == schema.Int || g.untypable(c.Left) || g.untypable(c.Right)
}

func (g *graph) dynamic(v ir.Value, inside bool) {
	switch v := v.(type) {
	case *yamlgraph.Calc:
		g.dynamic(v.Left, true)
		g.dynamic(v.Right, true)
	case *ir.List:
		for _, it := range v.Items {
			g.dynamic(it, inside)
		}
	case *ir.Object:
		for _, e := range v.Entries {
			g.dynamic(e.Value, inside)
		}
	case *dialect.Mixed:
		for _, s := range v.Segments {
			if s.Ref != nil {
				g.dynamic(s.Ref, true)
			}
		}
	case *dialect.Reference:
		if v.Root != "state" || len(v.Path) == 0 || g.shapes[v.Path[0]] == nil {
			return
		}
		if inside && len(v.Path) > 1 ||
			slices.ContainsFunc(v.Path[1:], func(key string) bool { return !doc.FieldForm.MatchString(key) }) || g.seeded(v.Path[0]) && len(v.Path) > 1 {
			g.loose[v.Path[0]] = true
		}
	}
}

// deep reports whether a value is a part of a field that is found when the workflow runs.
func (g *graph) deep(v ir.Value) (*dialect.Reference, bool) {
	r, is := v.(*dialect.Reference)
	return r, is && r.Root == "state" && len(r.Path) > 1 && g.loose[r.Path[0]]
}

// at_ is a node that finds a part of a value.
func (g *graph) located(id string, of ir.Value, path []string) *ir.Node {
	at := &ir.List{}
	for _, key := range path {
		at.Items = append(at.Items, convert.Literal(key))
	}
	return g.call(id, "At", convert.Pair("of", of), convert.Pair("path", at))
}

// computed is a value that nodes before find, in Python's way: a calculation, or a part of a field. It is absent where the
// engine has none; function says what becomes of a mistake.
func (g *graph) computed(v ir.Value, item, id, function string, made *[]*ir.Node) ir.Value {
	add := func(n *ir.Node) ir.Value {
		*made = append(*made, n)
		return convert.Ref(n.ID.Name)
	}
	if r, deep := g.deep(v); deep {
		return add(g.located(id, convert.Ref(g.path(&dialect.Reference{Root: "state", Path: r.Path[:1]}, "")), r.Path[1:]))
	}
	switch v := v.(type) {
	case *yamlgraph.Calc:
		left := g.computed(v.Left, item, id+"_left", function, made)
		right := g.computed(v.Right, item, id+"_right", function, made)
		return add(g.call(id, function, convert.Pair("left", left), convert.Pair("op", convert.Literal(v.Op)), convert.Pair("right", right)))
	case *ir.List:
		out := &ir.List{Span: v.Span}
		for _, it := range v.Items {
			out.Items = append(out.Items, g.computed(it, item, id+"_item", function, made))
		}
		return out
	case *ir.Object:
		out := &ir.Object{Span: v.Span}
		for _, e := range v.Entries {
			out.Entries = append(out.Entries, &ir.Entry{Key: e.Key, Value: g.computed(e.Value, item, id+"_"+e.Key.Name, function, made)})
		}
		return out
	case *dialect.Reference:
		if v.Root == "item" && len(v.Path) > 0 {
			return add(g.located(id, convert.Ref(item), v.Path))
		}
		if g.nowhere(v) {
			return &ir.Scalar{Tag: "!!null"}
		}
		return convert.Ref(g.path(v, item), v.Text.Span)
	}
	return v
}

// computes reports whether a value is found by nodes before.
func (g *graph) computes(v ir.Value) bool {
	if _, deep := g.deep(v); deep {
		return true
	}
	if _, calc := v.(*yamlgraph.Calc); !calc {
		return false
	}
	_, typed := g.calculated(v, "")
	return typed == nil
}

// seeded reports whether the file gives a field a value.
func (g *graph) seeded(field string) bool {
	return g.tree.Seeds != nil && slices.ContainsFunc(g.tree.Seeds.Entries, func(e *ir.Entry) bool { return e.Key.Name == field })
}

// seed is the value that the file gives a field; nil: none.
func (g *graph) seed(field string) *schema.Default {
	if !g.seeded(field) {
		return nil
	}
	i := slices.IndexFunc(g.tree.Seeds.Entries, func(e *ir.Entry) bool { return e.Key.Name == field })
	return &schema.Default{JSON: dialect.JSON(g.tree.Seeds.Entries[i].Value)}
}
