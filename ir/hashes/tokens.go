package hashes

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
)

// token writes what a node says about the tokens that it hands on.
func token(x *text, t *ir.Token) {
	if t == nil {
		return
	}
	x.line("token", t.Key.Name, strconv.Itoa(int(t.OnError)), strconv.FormatBool(t.Again))
	for _, e := range t.Values {
		x.line("value", e.Key.Name, value(e.Value))
	}
	x.line("requires", idents(t.Requires)...)
	x.line("resume", t.Resume.Name)
	if t.Payload != nil {
		x.line("payload", value(t.Payload))
	}
	if t.Sub != nil {
		x.line("sub", strconv.FormatBool(t.Sub.AllIn), strconv.FormatBool(t.Sub.AllOut))
		for _, pair := range t.Sub.In {
			x.line("in", pair.Parent.Name, pair.Child.Name, reference(pair.Ref))
		}
		for _, pair := range t.Sub.Out {
			x.line("out", pair.Parent.Name, pair.Child.Name, reference(pair.Ref))
		}
	}
	if g := t.Gather; g != nil {
		x.line("gather", g.Key, strconv.Itoa(g.MaxItems), g.Failures, strconv.Itoa(g.Least), strconv.FormatBool(g.Fail), strconv.FormatBool(g.Flat), strconv.FormatFloat(g.Share, 'g', -1, 64), strconv.FormatBool(g.Strict))
	}
	tokenAsk(x, t.Ask)
	x.number("limit", int64(t.Limit))
	x.mark("fresh", t.Fresh)
	x.mark("stops", t.Stops)
	x.line("parsed", t.Parsed.Name)
	rules(x, "before", t.Before)
	rules(x, "after", t.After)
	rules(x, "final", t.Final)
	for _, e := range t.Exits {
		x.line("exit", e.To.Name, predicate(e.When))
		x.mark("routed", e.Routed)
		x.mark("spent", e.Spent)
	}
}

func tokens(x *text, t *ir.Tokens) {
	if t != nil {
		x.line("start", idents(t.Start)...)
		x.number("limit", int64(t.Limit))
	}
}

// rules writes the conditions that have to hold around a node.
func rules(x *text, name string, list []*ir.TokenRule) {
	for _, r := range list {
		x.line(name, predicate(r.When), strconv.Itoa(int(r.Fail)), r.Message, strconv.Itoa(r.Tries))
	}
}
