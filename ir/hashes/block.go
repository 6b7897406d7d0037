package hashes

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// block writes the order of a body.
func block(x *text, b ir.Block) {
	x.line("block", b.String())
	b.All(func(s ir.Stmt) {
		for _, e := range ir.StmtExpressions(s) {
			functions(x, e)
		}
	})
}

// functions writes where the functions of an expression are: its text names only the last part of their packages.
func functions(x *text, e *ir.Expr) {
	if e == nil || e.Node == nil {
		return
	}
	e.Node.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Intrinsic {
			x.line("func", n.Func.Path, n.Func.Name)
		}
		return true
	})
}

// perform writes what a node calls, with all that it uses.
func (m *maker) perform(x *text, s *check.Step, v *ir.Perform) {
	x.line("perform", v.String())
	functions(x, v.Call)
	for _, u := range s.Uses {
		if of, ok := u.Of.(*ir.Tool); ok { // a workflow is part of the node's hash as that of a flow node
			x.line("uses", m.tool(of, false))
		}
	}
	if len(s.Models()) > 0 {
		x.line("models", m.models(s))
	}
	if v.Gives != nil {
		x.line("gives", m.typ(v.Gives, false))
	}
}

// made writes what makes a tool, and what it reaches.
func (m *maker) made(x *text, b *ir.Made) {
	if b.New != nil {
		x.line("made", value(b.New))
		functions(x, b.New)
	}
	if r := b.Reach; r != nil {
		x.mark("reach", true)
		for _, list := range [][]string{r.Hosts, r.Commands, r.Env, r.Files, r.Code} {
			x.line("reaches", append([]string{strconv.Itoa(len(list))}, slices.Sorted(slices.Values(list))...)...)
		}
	}
}
