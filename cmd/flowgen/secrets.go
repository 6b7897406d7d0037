package main

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// secretsNotSet warns about the secrets of workflows that lookup does not know, each once for the place where it is
// declared.
func secretsNotSet(programs []*compiled, lookup func(string) (string, bool)) []diag.Diagnostic {
	var out []diag.Diagnostic
	told := map[source.Span]bool{}
	var visit func(wf *ir.Workflow)
	visit = func(wf *ir.Workflow) {
		for _, s := range wf.Secrets {
			if v, ok := lookup(s.Name.Name); ok && v != "" || told[s.Name.Span] {
				continue
			}
			told[s.Name.Span] = true
			out = append(out, diag.Diagnostic{Severity: diag.Warning, Code: diag.SecretNotSet, Span: s.Name.Span,
				Message: "secret \"" + s.Name.Name + "\" is not set in this environment", Help: "set the variable " + s.Name.Name + " before the program runs"})
		}
		for _, f := range wf.Flows {
			visit(f)
		}
	}
	for _, c := range programs {
		if c.workflow != nil {
			visit(c.workflow)
		}
	}
	return out
}
