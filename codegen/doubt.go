package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

var doubtNames = map[string]string{"retry_with_key": "RetryWithKey", "ask": "AskInDoubt", "assume_done": "AssumeDone"}

// doubt writes a flow.Doubt: what becomes of calls of t in doubt.
func doubt(d *ir.Doubt, t *ir.Tool) *jen.Statement {
	var fields []jen.Code
	if name := doubtNames[d.Policy]; name != "" { // to fail is the zero value
		fields = append(fields, field("Policy", jen.Qual(flowPath, ident(name))))
	}
	if d.Policy == "assume_done" {
		fields = append(fields, field("Output", quoteOne(check.DoubtOutput(d, t))))
	}
	return jen.Qual(flowPath, "Doubt").Values(fields...)
}

// doubtOf writes the Doubt of a node, nil when it has none.
func doubtOf(s *check.Step) jen.Code {
	d := s.Node.InDoubt
	if d == nil || len(s.Tools()) == 0 {
		return nil
	}
	tool := s.Tools()[0]
	for _, t := range s.Tools() { // what is said is about those that write, and fits them all
		if check.Effects(t) >= ir.EffectsWrites {
			tool = t
			break
		}
	}
	return jen.Op("&").Add(doubt(d, tool))
}

// journaling writes what the workflow says about the journals of its runs, nil when it says nothing.
func (g *generator) journaling() jen.Code {
	j := g.p.WF.Defaults.Journal
	if j == nil || j.Dir == "" && j.Sync == "" {
		return nil
	}
	var fields []jen.Code
	if j.Dir != "" {
		fields = append(fields, field("Dir", quote(j.Dir)))
	}
	if j.Sync != "" {
		fields = append(fields, field("Sync", quote(j.Sync)))
	}
	return jen.Op("&").Qual(flowPath, "Journaling").Values(fields...)
}
