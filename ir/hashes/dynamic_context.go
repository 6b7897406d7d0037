package hashes

import (
	"strconv"
	"strings"

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
	x.duration("limit", n.Limit)
	for _, g := range n.Guards {
		x.line("guardrail", g.Name, strconv.FormatInt(g.Most, 10), strconv.FormatBool(g.Raise), strings.Join(g.What, " "), g.Action, g.Instead, g.Schema)
	}
	if r := n.Retry; r != nil {
		x.line("agent retry", strconv.Itoa(r.Attempts), r.Backoff, decimal(r.Base), decimal(r.Most), strconv.FormatBool(r.Jitter), strings.Join(r.On, " "), strconv.FormatBool(r.Guards))
	}
	if f := n.Failure; f != nil {
		x.line("agent failure", f.Action, f.Node.Name, f.Default)
	}
	if r := n.Request; r != nil {
		x.line("request", r.Method, mixed(r.URL), mixed(r.Body), strconv.FormatInt(r.Seconds, 10))
		for _, h := range r.Headers {
			x.line("header", h.Key.Name, mixed(h.Value))
		}
	}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// budget writes what bounds a run.
func budget(x *text, b *ir.Budget) {
	x.line("budget", strconv.FormatInt(b.Tokens, 10), b.USD, decimal(b.Seconds), b.Exceeded, strconv.FormatBool(b.Declared))
}
