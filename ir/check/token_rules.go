package check

import "github.com/flowgen-dev/flowgen/ir"

// tokenRules checks what has to hold around a node.
func (c *checker) tokenRules(n *ir.Node) {
	t := n.Dynamic.Token
	for _, rules := range [][]*ir.TokenRule{t.Before, t.After, t.Final} {
		for _, r := range rules {
			r.When.Refs(c.dynamicReference)
		}
	}
}

// copilotReferences checks what a program is told.
func (c *checker) copilotReferences(t *ir.Token) {
	if t.Ask == nil {
		return
	}
	ir.ValueReferences(t.Payload, c.dynamicReference)
	for _, v := range t.Ask.Values {
		if v.Value != nil {
			ir.ValueReferences(v.Value, c.dynamicReference)
		}
	}
}
