package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var humanNodeShape = &dialect.Shape{What: "a human node", Open: true, Keys: []dialect.Key{
	{Name: "type", Required: true, Doc: "human", Form: dialect.OneWord("human")},
	{Name: "prompt", Doc: "what the user is asked, the name of the node if it is not written", Form: dialect.Scalar},
	{Name: "writes", Required: true, Doc: "where the answer goes, as in output.decision", Form: dialect.Scalar},
	{Name: "timeout", Doc: "seconds, without end if it is not written", Form: dialect.Scalar},
	{Name: "on_timeout", Doc: "abort, skip or use_default", Form: dialect.OneWord("abort", "skip", "use_default")},
	{Name: "default_output", Doc: "what stands for an answer that does not come", Form: dialect.Scalar},
	{Name: "streaming", Doc: "whether its text comes in pieces", Form: dialect.Form{Kind: dialect.FormBool}},
}}

// humanNode reads a node that asks a user.
func (p *parser) humanNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, humanNodeShape)
	if !ok {
		return
	}
	p.writes(m, out)
	out.Prompt = p.template(m.Get("prompt"), "`prompt`")
	if m.Get("prompt") == nil {
		out.Prompt = &dialect.Mixed{Text: source.Text{Span: dialect.Head(n)}}
	}
	v := &ir.Human{Timeout: p.seconds(m.Get("timeout"), "`timeout`", 0), Span: n.Span}
	p.onTimeout(m, v)
	if out.Prompt != nil && out.Writes != nil {
		out.Verb = v
	}
}

// onTimeout reads what becomes of a question without an answer.
func (p *parser) onTimeout(m dialect.Mapping, v *ir.Human) {
	instead := ir.Scalar{Tag: "!!str", Text: source.Text{Span: m.Key("on_timeout")}}
	if d := m.Get("default_output"); d != nil {
		if _, ok := p.Text(d, "`default_output`"); ok {
			instead.Text = d.Text
		}
	}
	action := "abort"
	if w := m.Get("on_timeout"); w != nil {
		action = p.Word(w, "the on_timeout of a human node", "abort", "skip", "use_default")
	}
	switch action {
	case "skip":
		skipped := ir.Scalar{Tag: "!!str", Text: source.Text{Span: m.Key("on_timeout")}}
		v.OnTimeout = &ir.OnError{Kind: ir.OnErrorDefault, Default: &skipped, Span: m.Key("on_timeout")}
	case "use_default":
		v.OnTimeout = &ir.OnError{Kind: ir.OnErrorDefault, Default: &instead, Span: m.Key("on_timeout")}
		if m.Get("default_output") == nil {
			p.refused(m.Key("on_timeout"), diag.MissingKey, "add `default_output`", "`default_output` is missing: the answer would be empty text")
		}
	}
	if action != "use_default" && action != "" && m.Get("default_output") != nil {
		p.Warn(diag.IgnoredKey, m.Key("default_output"), "write `on_timeout: use_default`, or remove it", "nothing reads `default_output` without `on_timeout: use_default`")
	}
}
