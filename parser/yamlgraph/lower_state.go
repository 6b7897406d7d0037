package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// depends says which fields of the state a node reads and writes, where nodes run in parallel: one may write what another reads
// that no edge leads to. A single token has been at every node whose writes a node can see, so its edges say all.
func (l *lowering) depends(n *Node, v *ir.Perform) {
	if l.order.start != nil {
		return
	}
	v.Reads, v.ReadsAll = l.reads(n, v)
	v.Writes = l.writes(n)
}

// reads are the fields that the call of a node names, and those that the engine looks at; all is true for a function that gets
// the entire state.
func (l *lowering) reads(n *Node, v *ir.Perform) (fields []ir.Ident, all bool) {
	v.Call.Node.Walk(func(x *expr.Node) bool {
		switch {
		case x.Op == expr.Field && x.Kids[0].Op == expr.Name && x.Kids[0].Text == "state":
			fields = append(fields, ident(x.Text))
			return false
		case x.Op == expr.Name && x.Text == "state":
			all = true
		}
		return true
	})
	if all {
		return nil, true
	}
	fields = append(fields, n.Token.Requires...)
	if a := n.Token.Ask; a != nil && a.Skips {
		fields = append(fields, n.Token.Key)
	}
	if a := n.Token.Ask; a != nil && a.Agent != nil {
		fields = append(fields, ident("messages"))
	}
	return l.known(fields), false
}

// writes are the fields that a node may write. Nobody knows the keys of the mapping that a function returns.
func (l *lowering) writes(n *Node) []ir.Ident {
	t := n.Token
	out := []ir.Ident{t.Key, t.Resume, t.Parsed, ident("errors"), ident("current_step")}
	all := func() {
		for _, s := range l.tree.State {
			out = append(out, s.Name)
		}
	}
	switch v := n.Verb.(type) {
	case *ir.Let:
		for _, f := range v.Fields {
			out = append(out, f.Key)
		}
	case *ir.ToolCall:
		if k := l.kindOf(v.Tool); k != "shell" && k != "copilot" {
			all()
		}
	case *ir.Flow:
		for _, pair := range t.Sub.Out {
			out = append(out, pair.Parent)
		}
		if t.Sub.AllOut {
			all()
		}
	case *Map:
		if g := t.Gather; g != nil {
			out = append(out, ident(g.Failures))
		}
	}
	if a := t.Ask; a != nil && a.Agent != nil {
		out = append(out, ident(a.Agent.Results), ident("messages"))
	}
	return l.known(out)
}

// known are the fields that the state has, each once, without the places where they are named.
func (l *lowering) known(fields []ir.Ident) []ir.Ident {
	var out []ir.Ident
	for _, s := range l.tree.State {
		if slices.ContainsFunc(fields, func(id ir.Ident) bool { return id.Name == s.Name.Name }) {
			out = append(out, ident(s.Name.Name))
		}
	}
	return out
}
