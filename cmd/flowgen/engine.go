package main

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/ir/source"
)

const (
	// inHistory is how many calls a run makes before it goes on in a new history: 20,000 events, up to 6 a call.
	inHistory = 3_300
	// inPayload is what a payload of Temporal holds.
	inPayload = 2<<20 - 64<<10
)

// checkEngine warns about what a run as workers of an engine needs more than one in a process.
func checkEngine(programs []*compiled) []diag.Diagnostic {
	var out []diag.Diagnostic
	told := map[source.Span]bool{}
	warn := func(at source.Span, message, help string) {
		if !told[at] {
			told[at] = true
			out = append(out, diag.Diagnostic{Severity: diag.Warning, Code: diag.EngineBound, Span: at, Message: message, Help: help})
		}
	}
	for _, c := range programs {
		if c.program == nil {
			continue
		}
		const help = "give workers and `start` a store with --blobs, which takes the journal along"
		switch total := plan.Worst(c.program).Total; {
		case total.Open:
			warn(c.workflow.Name.Span, "the calls of a run are unbounded, and Temporal limits its history: `plan` shows why", help)
		case total.N > inHistory:
			warn(c.workflow.Name.Span, fmt.Sprintf("a run makes up to %d calls, which may exceed Temporal's history limit", total.N), help)
		}
		for _, t := range toolsOf(c.workflow) {
			if t.MaxOutput > inPayload {
				warn(t.Key.Span, fmt.Sprintf("a result of up to %d bytes exceeds Temporal's payload limit of 2 MB", t.MaxOutput), "give workers and `start` a store with --blobs, or lower `max_output`")
			}
		}
	}
	return out
}
