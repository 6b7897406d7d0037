package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	guardsShape = &dialect.Shape{What: "`guards`", Keys: []dialect.Key{
		{Name: "pre", Doc: "what has to hold before the node runs"}, {Name: "post", Doc: "what has to hold after it"},
	}}
	ruleShape = &dialect.Shape{What: "a guard", Keys: []dialect.Key{
		{Name: "check", Required: true, Doc: "the condition"}, {Name: "on_fail", Required: true, Doc: "what becomes of the node when it does not hold"},
		{Name: "message", Doc: "what is said then"}, {Name: "max_retries", Doc: "how often the node runs again"},
	}}
	finalShape = &dialect.Shape{What: "a rule of `verify`", Keys: []dialect.Key{
		{Name: "check", Required: true, Doc: "the condition"}, {Name: "on_fail", Required: true, Doc: "warn or halt"}, {Name: "message", Doc: "what is said when it does not hold"},
	}}
)

// guarded are the types of nodes that the engine looks at guards of.
var guarded = map[string]bool{"llm": true, "router": true, "copilot": true, "tool": true, "python": true, "agent": true}

// guards reads what has to hold before and after a node.
func (p *parser) guards(m dialect.Mapping, kind string, t *Token) {
	n := m.Get("guards")
	if n == nil {
		return
	}
	if !guarded[kind] {
		p.Error(diag.UnknownKey, m.Key("guards"), "remove it, or put it on a parallel node", "nodes of the type %s have no guards: the engine refuses them", kind)
		return
	}
	g, ok := p.Mapping(n, guardsShape)
	if !ok {
		return
	}
	t.Before = p.ruleList(g.Get("pre"), "`pre`", ruleShape, "warn", "halt", "skip")
	t.After = p.ruleList(g.Get("post"), "`post`", ruleShape, "warn", "halt", "retry")
	if len(t.Before)+len(t.After) > 0 {
		p.field(ir.Ident{Name: "errors", Span: p.wf.Name.Span}, always["errors"])
	}
}

var ruleFails = map[string]RuleFail{"warn": RuleWarn, "halt": RuleHalt, "skip": RuleSkip, "retry": RuleRetry}

// ruleList reads a list of conditions with what becomes of those that do not hold.
func (p *parser) ruleList(n *yamlnode.Node, what string, shape *dialect.Shape, fails ...string) []*TokenRule {
	if n == nil {
		return nil
	}
	if !p.IsList(n, what) {
		return nil
	}
	var out []*TokenRule
	for _, it := range n.Items {
		m, ok := p.Mapping(it, shape)
		if !ok || m.Get("check") == nil || m.Get("on_fail") == nil {
			continue
		}
		r := &TokenRule{Fail: ruleFails[p.Word(m.Get("on_fail"), "`on_fail`", fails...)]}
		if id, ok := p.Text(m.Get("message"), "the message of a guard"); ok {
			r.Message = id.Name
		}
		switch tries := m.Get("max_retries"); {
		case r.Fail == RuleRetry:
			r.Tries = int(p.Count(tries, "`max_retries`", 1, 100, 1))
		case tries != nil:
			p.Error(diag.UnknownKey, m.Key("max_retries"), "write `on_fail: retry`, or remove it", "`max_retries` is for guards with `on_fail: retry`")
		}
		if _, ok := p.Text(m.Get("check"), "a condition"); !ok {
			continue
		}
		r.Check = m.Get("check").Text
		if r.When = p.guardCheck(m.Get("check"), what != "`post`"); r.When != nil {
			out = append(out, r)
		}
	}
	return out
}

// verifyNode is the node that looks at a graph before it ends.
const verifyNode = "__verify__"

// verify puts a node before the end that looks at the rules of `verify`.
func (p *parser) verify(n *yamlnode.Node) {
	rules := p.ruleList(n, "`verify`", finalShape, "warn", "halt")
	if len(rules) == 0 {
		return
	}
	if old := p.nodes[verifyNode]; old != nil {
		p.Error(diag.BadName, old.ID.Span, "give it another name", "the name `%s` is that of the node that `verify` stands for", verifyNode)
		return
	}
	id := ir.Ident{Name: verifyNode, Span: dialect.Head(n)}
	out := &Node{ID: id, Span: n.Span, Verb: &ir.Let{}, Token: &Token{Again: true, Final: rules, Exits: []*Exit{{Span: n.Span}}}}
	for _, x := range p.tree.Nodes {
		t := x.Token
		for _, e := range t.Exits {
			if e.To.Name == "" {
				e.To = ir.Ident{Name: verifyNode, Span: e.To.Span}
			}
		}
		if t.Ask == nil {
			continue
		}
		for i := range t.Ask.Routes {
			if r := &t.Ask.Routes[i]; r.To.Name == "" {
				r.To.Name = verifyNode
			}
		}
		if o := &t.Ask.Other; o.Name == "" && !o.Span.IsZero() {
			o.Name = verifyNode
		}
	}
	p.nodes[verifyNode] = out
	p.tree.Nodes = append(p.tree.Nodes, out)
	p.field(ir.Ident{Name: "errors", Span: id.Span}, always["errors"])
}
