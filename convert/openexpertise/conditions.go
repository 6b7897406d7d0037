package openexpertise

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/openexpertise"
)

// edges writes the edges of an experience, one for one. Nodes without any stand on no edge, unless all of them do.
func (x *experience) edges() *doc.List {
	l := &doc.List{}
	on := map[string]bool{}
	type way struct {
		edge *dialect.Route
		v    doc.Value
	}
	var ways []way
	for _, n := range x.tree.Nodes {
		var seen []string
		for _, r := range n.Routes {
			from, to := x.IDs[r.From.Name], x.IDs[r.To.Name]
			if r.When != nil {
				ways = append(ways, way{r, doc.Flow(doc.Pair("from", doc.Scalar(from)), doc.Pair("to", doc.Scalar(to)), doc.Pair("when", doc.Scalar(convert.Condition(x.test(r.When, x.nodes[r.From.Name])))))})
				continue
			}
			if slices.Contains(seen, from) {
				continue
			}
			seen = append(seen, from)
			ways = append(ways, way{r, doc.Scalar(from + " -> " + to)})
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int { return a.edge.Span.Lo - b.edge.Span.Lo })
	for _, n := range x.tree.Nodes { // those that follow each other are one line
		if x.extra[n] == nil {
			continue
		}
		on[n.ID.Name], on[x.extra[n].ID.Name] = true, true
		text := x.IDs[x.extra[n].ID.Name] + " -> " + x.IDs[n.ID.Name]
		if k := len(l.Items); k > 0 {
			if before, ok := l.Items[k-1].Value.(doc.Scalar); ok && strings.HasSuffix(string(before), "-> "+x.IDs[x.extra[n].ID.Name]) {
				l.Items[k-1].Value = before + " -> " + doc.Scalar(x.IDs[n.ID.Name])
				continue
			}
		}
		l.Add(doc.Scalar(text), source.Span{})
	}
	for _, w := range ways {
		l.Add(w.v, w.edge.Span)
	}
	if len(l.Items) == 0 {
		if len(x.tree.Nodes) > 1 {
			for _, n := range x.tree.Nodes {
				l.Add(doc.Scalar(x.IDs[n.ID.Name]+" -> end"), source.Span{})
			}
		}
		return l
	}
	for _, n := range x.tree.Nodes {
		if len(n.Routes) == 0 && !x.followed(n) && !on[n.ID.Name] {
			l.Add(doc.Scalar(x.IDs[n.ID.Name]+" -> end"), source.Span{})
		}
	}
	return l
}

// conditions refuses conditions whose value depends on when they are looked at: the engine does so just before the target
// runs, the native language right after the source.
func (x *experience) conditions() {
	for _, n := range x.tree.Nodes {
		for _, r := range n.Routes {
			from := x.nodes[r.From.Name]
			r.When.Refs(func(ref *dialect.Reference) {
				if ref.Root != "state" || len(ref.Path) == 0 {
					return
				}
				for _, w := range x.tree.Nodes {
					u := x.units[w]
					if slices.Contains(u.writes, ref.Path[0]) && w != from && w != n && !x.before(w, from) && !x.before(n, w) {
						x.Refuse(ref.Text.Span, "add an edge from it to "+from.ID.Name, "the node %s writes state.%s at a time that no edge tells, before or after this condition", w.ID.Name, ref.Path[0])
					}
				}
			})
		}
	}
}

// test is a condition on the state in the native language. Only where both sides have the declared type is it the same.
func (x *experience) test(p *dialect.Predicate, from *openexpertise.Node) string {
	switch p.Op {
	case "&&", "||":
		return x.side(p, p.Kids[0], from) + " " + p.Op + " " + x.side(p, p.Kids[1], from)
	case "==", "!=", "<", "<=", ">", ">=":
		a, at := x.operand(p.Kids[0], from)
		b, bt := x.operand(p.Kids[1], from)
		if at != nil && bt != nil && at.Kind == bt.Kind && at.Kind != schema.List && at.Kind != schema.Map && (p.Op == "==" || p.Op == "!=" || at.Kind == schema.Float) {
			return a + " " + p.Op + " " + b
		}
	case "ref", "const":
		if a, at := x.operand(p, from); at != nil && at.Kind == schema.Bool {
			return a
		}
	}
	x.Refuse(p.Span, "compare fields with values of their declared type", "this condition has another meaning, or none, where values have types")
	return "true"
}

func (x *experience) side(p, kid *dialect.Predicate, from *openexpertise.Node) string {
	text := x.test(kid, from)
	if kid.Op == "||" && p.Op == "&&" {
		return "(" + text + ")"
	}
	return text
}

// operand is one side of a comparison and its type, nil when that is not known.
func (x *experience) operand(p *dialect.Predicate, from *openexpertise.Node) (string, *schema.Type) {
	switch p.Op {
	case "const":
		switch p.Lit.Tag {
		case "!!int", "!!float":
			return p.Lit.Text.Value, schema.FloatType
		case "!!bool":
			return p.Lit.Text.Value, schema.BoolType
		case "!!str":
			return doc.Escaped(p.Lit.Text.Value), schema.StringType
		}
	case "length":
		if a, t := x.operand(p.Kids[0], from); t != nil && t.Kind == schema.List {
			return "size(" + a + ")", schema.FloatType
		}
	case "ref":
		r := p.Ref
		s := x.fields[strings.Join(r.Path, ".")]
		if r.Root != "state" || s == nil || !x.written(r.Path[0]) || x.optional(s) {
			return "", nil
		}
		if !slices.Contains(x.units[from].writes, r.Path[0]) && !x.certain(r.Path[0], from) {
			return "", nil
		}
		return "state." + r.Path[0], s.Type
	}
	return "", nil
}

// sideBySide tells where nodes that the engine runs one after the other run at the same time.
func (x *experience) sideBySide() {
	if x.tree.Concurrency > 1 || x.Told {
		return
	}
	nodes := x.tree.Nodes
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if !x.before(a, b) && !x.before(b, a) {
				x.Told = true
				x.Note(b.ID.Span, "add an edge between them if their order matters", "the native workflow runs %s and %s at the same time: no edge orders them", x.IDs[a.ID.Name], x.IDs[b.ID.Name])
				return
			}
		}
	}
}
