package ir

import "strconv"

func (d *dumper) tokenAsk(a *TokenAsk) {
	if a == nil {
		return
	}
	head := []string{a.Model.Name, dumpFlag(a.Skips, "skip"), dumpFlag(a.JSON, "json"), [...]string{AskKeep: "", AskSkip: "on error skip", AskRaise: "on error fail", AskRetry: "on error retry", AskFallback: "on error fallback"}[a.Fail]}
	if a.Limit > 0 {
		head = append(head, "limit "+strconv.Itoa(a.Limit))
	}
	d.line(append([]string{"ask"}, head...)...)
	if a.Prompt != nil {
		d.line("prompt", a.Prompt.File.Name)
	}
	for _, v := range a.Values {
		d.line("variable", v.Key.Name, dumpValue(v.Value))
	}
	for _, r := range a.Routes {
		d.line("route", r.Label, r.To.Name)
	}
	for _, k := range a.Candidates {
		d.line("candidate", k.Use.Name)
	}
	if g := a.Agent; g != nil {
		for _, id := range g.Tools {
			d.line("tool", id.Name)
		}
	}
}
