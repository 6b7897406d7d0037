package ir

import (
	"strconv"
	"strings"
)

func (d *dumper) contextNode(n *ContextNode) {
	if n == nil {
		return
	}
	d.line(dumpOpt("output_key", n.OutputKey))
	d.line(dumpOpt("writes", strings.Join(n.Writes, ".")))
	d.line(dumpFlag(n.Counted, "counted"))
	for _, g := range n.Guards {
		d.line("guardrail", g.Name)
	}
	if r := n.Retry; r != nil {
		d.line("retry", strconv.Itoa(r.Attempts), r.Backoff, strings.Join(r.On, " "))
	}
	if f := n.Failure; f != nil {
		d.line("on_failure", f.Action, f.Node.Name)
	}
	if r := n.Request; r != nil {
		d.line("request", r.Method, strconv.Quote(r.URL.Text.Value), strconv.FormatInt(r.Seconds, 10)+"s")
		for _, h := range r.Headers {
			d.line("header", h.Key.Name, strconv.Quote(h.Value.Text.Value))
		}
		if r.Body != nil {
			d.line("body", strconv.Quote(r.Body.Text.Value))
		}
	}
}
