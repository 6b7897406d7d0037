package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/plan"
)

// An Agent is an agent node: its model, the tools that the model can call, and what bounds it.
type Agent struct {
	Node          string   `json:"node"`  // its id; workflow/id in a sub-workflow
	Model         string   `json:"model"` // provider:name
	Tools         []string `json:"tools"` // name@version, sorted, never nil
	MaxIterations Bound    `json:"max_iterations"`
	MaxToolCalls  Bound    `json:"max_tool_calls"` // 0 without tools
	MaxTokens     *int64   `json:"max_total_tokens,omitempty"`
	MaxCostUSD    string   `json:"max_cost_usd,omitempty"` // a decimal
}

// A Bound is a number, or null in JSON for none.
type Bound struct{ plan.Bound }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bound) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		b.Bound = plan.Bound{Open: true}
		return nil
	}
	b.Bound = plan.Bound{}
	if err := json.Unmarshal(data, &b.N); err != nil || b.N < 0 {
		return fmt.Errorf("%s is not a bound", data)
	}
	return nil
}

func (b Bound) pointer() *int64 {
	if b.Open {
		return nil
	}
	return &b.N
}

// Worst is what a workflow that asks models does at most.
type Worst struct {
	ModelCalls Bound   `json:"model_calls"`
	ToolCalls  Bound   `json:"tool_calls"` // questions to users included
	CostUSD    *string `json:"cost_usd"`   // a decimal; null: nothing bounds it, or it is not known
}

// agents lists the agents of a workflow and its sub-workflows.
func agents(p *check.Program) []*Agent {
	var out []*Agent
	add := func(of *check.Program, prefix string) {
		for _, s := range of.Body.All() {
			if s.Agent == nil {
				continue
			}
			a := &Agent{Node: prefix + s.Node.ID.Name, Tools: []string{}, MaxIterations: bound(s.Agent.Iterations())}
			for _, m := range s.Models() {
				a.Model = m.Model.Name
			}
			for _, t := range s.Tools() {
				a.Tools = append(a.Tools, t.FullName())
			}
			slices.Sort(a.Tools)
			if len(a.Tools) > 0 {
				a.MaxToolCalls = bound(s.Agent.ToolCalls())
			}
			if own := s.Agent.Policy; own != nil {
				a.MaxTokens, a.MaxCostUSD = own.MaxTokens, own.MaxCostUSD
			}
			out = append(out, a)
		}
	}
	add(p, "")
	for _, f := range p.Flows {
		add(f, f.WF.Name.Name+"/")
	}
	return out
}

func bound(n int64) Bound {
	if n == ir.Unbounded {
		return Bound{plan.Bound{Open: true}}
	}
	return Bound{plan.Bound{N: n}}
}

// worst is what the plan says of the worst case; nil when no model is asked.
func worst(p *check.Program) *Worst {
	if !slices.ContainsFunc(p.Table, func(s *check.Step) bool { return len(s.Models()) > 0 }) {
		return nil
	}
	most := plan.Worst(p)
	return &Worst{ModelCalls: Bound{most.ModelCalls}, ToolCalls: Bound{most.ToolCalls}, CostUSD: most.Cost.USD}
}

// notes compares the manifest of agents, and what a workflow does at most.
type notes struct{ more, less []string }

// cap notes a change of a cap; sign is positive for one that allows more.
func (n *notes) cap(sign int, name, was, is string) {
	switch {
	case sign > 0 && is == "":
		n.more = append(n.more, "no cap "+name+" any more; it was "+was)
	case sign > 0:
		n.more = append(n.more, "cap "+name+" is "+is+"; it was "+was)
	case sign < 0 && was == "":
		n.less = append(n.less, "cap "+name+" is "+is+"; there was none")
	case sign < 0:
		n.less = append(n.less, "cap "+name+" is "+is+"; it was "+was)
	}
}

func (n *notes) agents(old, now []*Agent) {
	byNode := func(list []*Agent, node string) *Agent {
		for _, a := range list {
			if a != nil && a.Node == node {
				return a
			}
		}
		return nil
	}
	for _, a := range now {
		was := byNode(old, a.Node)
		if was == nil {
			n.more = append(n.more, "new agent "+a.Node)
			continue
		}
		if was.Model != a.Model {
			n.more = append(n.more, "agent "+a.Node+" asks "+a.Model+"; it asked "+was.Model)
		}
		for _, t := range a.Tools {
			if !slices.Contains(was.Tools, t) {
				n.more = append(n.more, "agent "+a.Node+" can call "+t)
			}
		}
		for _, t := range was.Tools {
			if !slices.Contains(a.Tools, t) {
				n.less = append(n.less, "agent "+a.Node+" can no longer call "+t)
			}
		}
		of := " of agent " + a.Node
		for _, c := range []struct {
			name    string
			was, is *int64
		}{
			{"max_iterations", was.MaxIterations.pointer(), a.MaxIterations.pointer()}, {"max_tool_calls", was.MaxToolCalls.pointer(), a.MaxToolCalls.pointer()},
			{"max_total_tokens", was.MaxTokens, a.MaxTokens},
		} {
			n.cap(looser(c.was, c.is), c.name+of, number(c.was), number(c.is))
		}
		n.cap(dearer(was.MaxCostUSD, a.MaxCostUSD), "max_cost_usd"+of, was.MaxCostUSD, a.MaxCostUSD)
	}
	for _, a := range old {
		if a != nil && byNode(now, a.Node) == nil {
			n.less = append(n.less, "agent "+a.Node+" is no longer used")
		}
	}
}

// worst compares worst cases. A manifest that says nothing about them permits none of it only where models are new, which
// is noted with them.
func (n *notes) worst(old, now *Worst) {
	if old == nil || now == nil {
		return
	}
	note := func(sign int, what, was, is string) {
		text := func(s string) string {
			if s == "" {
				return "unbounded or not known"
			}
			return s
		}
		line := what + ": at most " + text(is) + "; it was " + text(was)
		switch {
		case sign > 0:
			n.more = append(n.more, line)
		case sign < 0:
			n.less = append(n.less, line)
		}
	}
	for _, c := range []struct {
		name    string
		was, is *int64
	}{{"questions to models", old.ModelCalls.pointer(), now.ModelCalls.pointer()}, {"calls of tools", old.ToolCalls.pointer(), now.ToolCalls.pointer()}} {
		note(looser(c.was, c.is), c.name, number(c.was), number(c.is))
	}
	usd := func(w *Worst) string {
		if w.CostUSD == nil {
			return ""
		}
		return *w.CostUSD
	}
	note(dearer(usd(old), usd(now)), "dollars", usd(old), usd(now))
}
