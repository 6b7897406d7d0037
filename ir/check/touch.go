package check

import "github.com/flowgen-dev/flowgen/ir/expr"

// touch records which fields of input and state an expression reads; the root alone reads all of them.
func (c *checker) touch(n *expr.Node) {
	n.Walk(func(n *expr.Node) bool {
		if (n.Op == expr.Field || n.Op == expr.OptField) && n.Kids[0].Op == expr.Name {
			switch n.Kids[0].Text {
			case "input":
				c.inputRead[n.Text] = true
			case "state":
				c.stateRead[n.Text] = true
			}
		}
		return true
	})
	whole := func(root string) bool { return n.Op == expr.Name && n.Text == root }
	if whole("input") {
		c.inputRead["*"] = true
	}
	if whole("state") {
		c.stateRead["*"] = true
	}
}
