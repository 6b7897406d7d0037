package check

import "github.com/flowgen-dev/flowgen/ir/expr"

// fieldsOf calls f for every `root.field` in n, and with "*" where the root stands alone, which is all its fields.
func fieldsOf(n *expr.Node, root string, f func(field string, at *expr.Node)) {
	n.Walk(func(n *expr.Node) bool {
		if (n.Op == expr.Field || n.Op == expr.OptField) && n.Kids[0].Op == expr.Name && n.Kids[0].Text == root {
			f(n.Text, n)
			return false
		}
		if n.Op == expr.Name && n.Text == root {
			f("*", n)
		}
		return true
	})
}

// touch records which fields of input and state an expression reads.
func (c *checker) touch(n *expr.Node) {
	fieldsOf(n, "input", func(f string, _ *expr.Node) { c.inputRead[f] = true })
	fieldsOf(n, "state", func(f string, _ *expr.Node) { c.stateRead[f] = true })
}
