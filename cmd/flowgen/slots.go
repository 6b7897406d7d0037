package main

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// alone is what is said of a workflow that is to be a program of its own: where only a program that embeds it could bring
// the code, that is an error.
func (c *compiled) alone() []diag.Diagnostic {
	if c.program == nil {
		return c.list
	}
	sink := &diag.Sink{}
	for _, d := range c.list {
		if d.Code != diag.OpenSlot {
			sink.Report(d)
		}
	}
	for _, t := range c.program.Slots() {
		d := diag.Diagnostic{Code: diag.OpenSlot, Span: t.Key.Span, Message: "there is no code for " + t.Binding.(*ir.SlotTool).Name.Name + ", which a program that embeds the workflow can bring",
			Help: "write a Go function in place of `slot`, or generate the Go and call it in a program of yours"}
		if i := slices.IndexFunc(c.list, func(w diag.Diagnostic) bool { return w.Code == diag.OpenSlot && w.Span == t.Key.Span }); i >= 0 {
			d = c.list[i]
			d.Severity = diag.Error
		}
		sink.Report(d)
	}
	return sink.List()
}
