package main

import (
	"errors"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// checkTiers reports the sandbox tiers that tools in use need and that this machine does not have; each once for a workflow, at the
// first tool that runs in it.
func checkTiers(programs []*compiled, available func(runtime.Tier) error) []diag.Diagnostic {
	var out []diag.Diagnostic
	told := map[source.Span]bool{}
	for _, c := range programs {
		if c.program == nil {
			continue
		}
		missing := map[string]bool{}
		for _, t := range toolsOf(c.workflow) {
			word := c.program.Sandbox[t]
			var tier runtime.Tier
			if missing[word] || tier.UnmarshalText([]byte(word)) != nil {
				continue
			}
			err := available(tier)
			if err == nil {
				continue
			}
			missing[word] = true
			at := t.Key.Span
			if t.Sandbox.Name != "" {
				at = t.Sandbox.Span
			}
			if told[at] {
				continue
			}
			told[at] = true
			why := err.Error()
			var te *value.ToolError
			if errors.As(err, &te) {
				why = te.Message
			}
			out = append(out, diag.Diagnostic{Severity: diag.Error, Code: diag.TierMissing, Span: at,
				Message: "tool \"" + t.Key.Name + "\" cannot run in the sandbox tier `" + word + "` on this machine", Help: diag.Printable(why)})
		}
	}
	return out
}

// toolsOf are the tools of a workflow and its sub-workflows, in their order.
func toolsOf(wf *ir.Workflow) []*ir.Tool {
	tools := append([]*ir.Tool(nil), wf.Tools...)
	for _, f := range wf.Flows {
		tools = append(tools, toolsOf(f)...)
	}
	return tools
}
