package openexpertise

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// truth is a condition.
func (l *lowering) truth(c *dialect.Predicate) *expr.Node {
	switch c.Op {
	case "&&", "||":
		return &expr.Node{Op: expr.Binary, Text: c.Op, Kids: []*expr.Node{l.truth(c.Kids[0]), l.truth(c.Kids[1])}}
	case "ref", "const", "length":
		if c.Op == "const" && c.Lit.Tag == "!!bool" {
			return expr.Const(c.Lit.Text.Value == "true")
		}
		return expr.Invoke(dialect.JSTrue, l.operand(c))
	}
	return expr.Invoke(dialect.JSCompare[c.Op], l.operand(c.Kids[0]), l.operand(c.Kids[1]))
}

// both are the conditions that all have to be true.
func (l *lowering) both(c *dialect.Predicate) []*expr.Node {
	if c.Op == "&&" {
		return append(l.both(c.Kids[0]), l.both(c.Kids[1])...)
	}
	return []*expr.Node{l.truth(c)}
}

// operand is a side of a comparison.
func (l *lowering) operand(c *dialect.Predicate) *expr.Node {
	switch c.Op {
	case "ref":
		f, path := l.root(c.Ref, nil)
		if len(path) == 0 {
			return f
		}
		return expr.Invoke(dialect.JSAt, append([]*expr.Node{f}, words(path)...)...)
	case "const":
		return dialect.Constant(c.Lit)
	case "length":
		return expr.Invoke(dialect.JSLength, l.operand(c.Kids[0]))
	}
	return l.truth(c)
}

func words(path []string) []*expr.Node {
	var out []*expr.Node
	for _, p := range path {
		out = append(out, expr.Const(p))
	}
	return out
}

// root is where a reference begins, and the path that is left below it. n is the node whose args it may name.
func (l *lowering) root(r *dialect.Reference, n *Node) (*expr.Node, []string) {
	switch r.Root {
	case "state":
		if len(r.Path) > 0 && l.field(r.Path[0]) != nil {
			return l.state(r.Path[0]), r.Path[1:]
		}
	case "args":
		for _, e := range n.Args.Entries {
			if e.Key.Name == r.Path[0] {
				return l.value(n, e.Value), r.Path[1:]
			}
		}
	case "edges":
		if from := l.parser.nodes[r.Path[0]]; from != nil && follows(n, from) {
			given := l.edge(from)
			if slices.ContainsFunc(n.Reads, func(id ir.Ident) bool { return id.Name == r.Path[0] }) {
				given = expr.Invoke(fnOr, given, l.state(r.Path[0])) // of the same name: what the node reads, where nothing was handed on
			}
			return given, r.Path[1:]
		}
	default:
		if x := l.roots[r.Root]; x != nil {
			return x, r.Path
		}
	}
	return dialect.Absent(), nil // which was reported
}

// follows reports whether a route leads from one node to another.
func follows(n, from *Node) bool {
	for _, r := range n.Routes {
		if r.From.Name == from.ID.Name {
			return true
		}
	}
	return false
}

// state is a field of the state; one that is not declared is absent.
func (l *lowering) state(name string) *expr.Node {
	if l.field(name) == nil {
		return dialect.Absent()
	}
	return expr.Read("state", name)
}

// reference is the value of a reference.
func (l *lowering) reference(r *dialect.Reference, n *Node) *expr.Node {
	f, path := l.root(r, n)
	if len(path) == 0 {
		return f
	}
	return expr.Invoke(dialect.At, append([]*expr.Node{f}, words(path)...)...)
}

// value is a value of the file.
func (l *lowering) value(n *Node, v ir.Value) *expr.Node {
	switch v := v.(type) {
	case *dialect.Reference:
		return l.reference(v, n)
	case *ir.Scalar:
		return dialect.Constant(v)
	case *ir.List:
		out := &expr.Node{Op: expr.ListLit}
		for _, x := range v.Items {
			out.Kids = append(out.Kids, l.value(n, x))
		}
		return out
	case *ir.Object:
		return expr.Object(l.entries(n, v)...)
	}
	return expr.Const(nil)
}

func (l *lowering) entries(n *Node, o *ir.Object) []expr.Entry {
	var out []expr.Entry
	if o == nil {
		return nil
	}
	for _, e := range o.Entries {
		out = append(out, expr.Put(e.Key.Name, l.value(n, e.Value)))
	}
	return out
}

// mixed is text with values in it.
func (l *lowering) mixed(n *Node, m *dialect.Mixed) *expr.Node {
	var parts []*expr.Node
	for _, s := range m.Segments {
		if s.Ref == nil {
			parts = append(parts, expr.Const(s.Lit))
			continue
		}
		f := l.reference(s.Ref, n)
		if s.Ref.Filter == "length" {
			f = expr.Invoke(fnLength, f)
		}
		parts = append(parts, expr.Invoke(fnFill, f, expr.Const(s.Ref.Text.Value)))
	}
	switch len(parts) {
	case 0:
		return expr.Const("")
	case 1:
		return parts[0]
	}
	return expr.Join(parts...)
}
