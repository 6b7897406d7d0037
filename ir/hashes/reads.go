package hashes

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// reads is what the expressions of a node read.
type reads struct {
	names map[string]bool // nodes and variables
	input map[string]bool // fields of input; "*" stands for all
	state map[string]bool // the same of state
}

// readsOf is what a node itself reads, with its `set:`, without what only its body reads.
func readsOf(n *ir.Node) *reads {
	r := &reads{names: map[string]bool{}, input: map[string]bool{}, state: map[string]bool{}}
	value := func(v ir.Value) { ir.ValueExpressions(v, r.expression) }
	ir.Values(n.Verb, value)
	if v, ok := n.Verb.(*ir.Perform); ok {
		r.performs(v)
	}
	for _, s := range n.Set {
		value(s.Value)
	}
	if n.OnError != nil {
		value(n.OnError.Default)
	}
	return r
}

// performs takes what a Perform reads: names are those of locals, of which the results of nodes count, and it may be handed all
// of the state, and look at less.
func (r *reads) performs(v *ir.Perform) {
	r.names = map[string]bool{}
	ir.Values(v, func(call ir.Value) {
		ir.ValueExpressions(call, func(n *expr.Node) { n.Walk(r.result) })
	})
	if !v.ReadsAll {
		r.state = map[string]bool{}
		for _, id := range v.Reads {
			r.state[id.Name] = true
		}
	}
}

// result takes the result of a node in an expression of a Block.
func (r *reads) result(n *expr.Node) bool {
	if n.Sym != nil {
		if l, ok := n.Sym.Ref.(*check.Local); ok && l.Step != nil {
			r.names[l.Step.Node.ID.Name] = true
		}
	}
	return true
}

func (r *reads) expression(n *expr.Node) {
	for _, name := range n.Refs() {
		switch name.Text {
		case "input", "state":
		case "error":
			if name.Sym == nil {
				continue
			}
			if e, ok := name.Sym.Ref.(*check.ErrorHere); ok {
				for _, s := range e.Steps {
					r.names[s.Node.ID.Name] = true
				}
				continue
			}
			r.names[name.Text] = true
		default:
			r.names[name.Text] = true
		}
	}
	n.Walk(r.roots)
}

// roots takes fields of `input` and `state`.
func (r *reads) roots(n *expr.Node) bool {
	name, field := n, "*"
	if n.Op == expr.Field || n.Op == expr.OptField {
		name, field = n.Kids[0], n.Text
	}
	if name.Op != expr.Name {
		return true
	}
	switch name.Text {
	case "input":
		r.input[field] = true
	case "state":
		r.state[field] = true
	}
	return false
}

// names is what the names that expressions know stand for, from the inside out: paths, and "path/" for what a container
// gives to its body.
type names struct {
	ids    map[string]string
	inline map[string]string // the single node of a `do:`, which gives way to all others
	up     *names
}

// namesOf are the names of a body's own nodes, with the variables of what it is the body of.
func namesOf(b *check.Body, of *check.Step, paths map[*check.Step]string, up *names) *names {
	n := &names{ids: map[string]string{}, inline: map[string]string{}, up: up}
	if of != nil {
		for _, v := range of.Vars {
			n.ids[v.Name] = paths[of] + "/"
		}
	}
	for _, s := range b.Steps {
		if s.Node.Inline {
			n.inline[s.Node.ID.Name] = paths[s]
		} else {
			n.ids[s.Node.ID.Name] = paths[s]
		}
	}
	return n
}

func (n *names) find(name string) string {
	for at := n; at != nil; at = at.up {
		if p, ok := at.ids[name]; ok {
			return p
		}
	}
	for at := n; at != nil; at = at.up {
		if p, ok := at.inline[name]; ok {
			return p
		}
	}
	return ""
}
