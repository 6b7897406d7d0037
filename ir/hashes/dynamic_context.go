package hashes

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
)

// contextNode writes what a node of SirenSpec does with its context.
func contextNode(x *text, n *ir.ContextNode) {
	if n == nil {
		return
	}
	x.line("output_key", n.OutputKey)
	x.line("writes", n.Writes...)
	x.mark("counted", n.Counted)
	for _, g := range n.Guards {
		x.line("guardrail", g.Name)
	}
	if r := n.Request; r != nil {
		x.line("request", r.Method, mixed(r.URL), mixed(r.Body), strconv.FormatInt(r.Seconds, 10))
		for _, h := range r.Headers {
			x.line("header", h.Key.Name, mixed(h.Value))
		}
	}
}
