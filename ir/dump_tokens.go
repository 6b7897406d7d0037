package ir

import (
	"strconv"
	"strings"
)

func (d *dumper) tokens(t *Tokens) {
	if t == nil {
		return
	}
	var names []string
	for _, id := range t.Start {
		names = append(names, id.Name)
	}
	d.line("start", strings.Join(names, ", "))
	if t.Limit > 0 {
		d.line("limit", strconv.Itoa(t.Limit))
	}
}

func (d *dumper) token(t *Token) {
	if t == nil {
		return
	}
	d.line("into", t.Key.Name, dumpFlag(t.Again, "again"), [...]string{TokenRaise: "", TokenNull: "on error null", TokenKeep: "on error keep"}[t.OnError])
	for _, e := range t.Values {
		d.line("value", e.Key.Name, dumpValue(e.Value))
	}
	for _, id := range t.Requires {
		d.line("requires", id.Name)
	}
	d.line(dumpOpt("resume", t.Resume.Name))
	if t.Payload != nil {
		d.line("payload", dumpValue(t.Payload))
	}
	if t.Sub != nil {
		d.line("subgraph", dumpFlag(t.Sub.AllIn, "all in"), dumpFlag(t.Sub.AllOut, "all out"))
		for _, pair := range t.Sub.In {
			d.line("in", pair.Parent.Name, "to", pair.Child.Name)
		}
		for _, pair := range t.Sub.Out {
			d.line("out", pair.Child.Name, "to", pair.Parent.Name)
		}
	}
	if g := t.Gather; g != nil {
		d.line("gather", g.Key, "max", strconv.Itoa(g.MaxItems), "least", strconv.Itoa(g.Least), g.Failures, dumpFlag(g.Fail, "fail"), dumpFlag(g.Flat, "flat"), dumpFlag(g.Strict, "strict"), dumpFlag(g.Share > 0, "share"))
	}
	d.tokenAsk(t.Ask)
	d.tokenRules(t)
	for _, x := range t.Exits {
		when := ""
		if x.When != nil {
			when = "when " + x.When.String()
		}
		if x.Spent {
			when = "at a limit"
		}
		d.line("to", x.To.Name, when)
	}
}

// tokenRules writes what holds around a node.
func (d *dumper) tokenRules(t *Token) {
	if t.Limit > 0 {
		d.line("at most", strconv.Itoa(t.Limit))
	}
	if t.Stops {
		d.line("a failed call ends the run")
	}
	d.line(dumpOpt("parsed", t.Parsed.Name))
	if t.Fresh {
		d.line("asks anew")
	}
	for _, part := range []struct {
		name  string
		rules []*TokenRule
	}{{"before", t.Before}, {"after", t.After}, {"final", t.Final}} {
		for _, r := range part.rules {
			d.line(part.name, r.Check.Value, "else", [...]string{RuleWarn: "warn", RuleHalt: "halt", RuleSkip: "skip", RuleRetry: "retry"}[r.Fail])
		}
	}
}
