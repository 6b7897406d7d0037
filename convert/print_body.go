package convert

import (
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// do is the body of a map or a loop.
func (p *nodePrinter) do(b ir.Body) {
	m, nodes := &doc.Mapping{}, &doc.Mapping{}
	for _, n := range b.Nodes {
		nodes.Add(p.id(n.ID), p.node(n), n.Span)
	}
	m.Add("nodes", nodes, source.Span{})
	m.AddUnlessEmpty("edges", p.edges(b.Edges), source.Span{})
	if b.Result != nil {
		m.Add("result", p.value(b.Result), source.Span{})
	}
	p.put("do", m)
}

func (p *nodePrinter) loop(v *ir.Loop) {
	m := doc.Flow()
	if v.Until != nil {
		m.Add("until", p.condition(v.Until), source.Span{})
	}
	m.Add("max", most(v.Max), source.Span{})
	if v.Every != nil {
		m.Add("every", doc.Scalar(doc.Duration(v.Every.Value)), source.Span{})
	}
	if v.Timeout != nil {
		m.Add("timeout", doc.Scalar(doc.Duration(v.Timeout.Value)), source.Span{})
	}
	if v.GoOn {
		m.Add("on_max", doc.Scalar("go_on"), source.Span{})
	}
	p.put("loop", m)
	p.do(v.Do)
}

func (p *nodePrinter) agent(v *ir.Agent) {
	p.Only(v.Span, "the agent", v, "Model System Prompt Out Reask Tools Policy PerCall Span")
	p.put("agent", doc.Scalar(NativeID(v.Model.Name)))
	if v.System != nil && v.System.Text != nil {
		p.put("system", p.value(v.System.Text))
	}
	if !p.question(v.Prompt, v.Span) {
		return
	}
	p.out(v.Out, v.Span)
	if v.Reask > 0 {
		p.put("reask", doc.Number(v.Reask))
	}
	tools := &doc.List{Flow: true}
	for _, t := range v.Tools {
		if !t.Named && t.With == nil {
			tools.Add(doc.Scalar(doc.Quoted(t.Tool.Name)), t.Tool.Span)
			continue
		}
		m := doc.Flow(doc.Pair("tool", doc.Scalar(doc.Quoted(t.Tool.Name))))
		if t.Named {
			m.Add("as", doc.Scalar(doc.Quoted(t.As.Name)), source.Span{})
		}
		if t.With != nil {
			m.Add("with", p.object(t.With.Entries), source.Span{})
		}
		tools.Add(m, t.Tool.Span)
	}
	p.m.AddUnlessEmpty("tools", tools, source.Span{})
	if v.PerCall != nil {
		p.put("tool_timeout", doc.Scalar(doc.Duration(v.PerCall.Value)))
	}
	if v.Policy != nil {
		p.Only(v.Span, "the policy of the agent", v.Policy, "MaxIterations MaxToolCalls Span")
		m := doc.Flow()
		bound := func(key string, n *int64) {
			switch {
			case n == nil:
			case *n == ir.Unbounded:
				m.Add(key, most(0), source.Span{})
			default:
				m.Add(key, doc.Number(int(*n)), source.Span{})
			}
		}
		bound("max_iterations", v.Policy.MaxIterations)
		bound("max_tool_calls", v.Policy.MaxToolCalls)
		p.m.AddUnlessEmpty("policy", m, source.Span{})
	}
}

func (p *nodePrinter) fail(v *ir.Fail) {
	p.put("fail", p.value(v.Message))
	if v.Code != "" {
		p.put("code", doc.Scalar(v.Code))
	}
	if v.Cause != nil {
		p.put("error", p.value(v.Cause))
	}
}
