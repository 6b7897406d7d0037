package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// converses says what an agent reads, and refuses one whose conversation goes on elsewhere: a native agent keeps its own.
func (g *graph) converses(n *yamlgraph.Node) {
	agent := n.Token.Ask.Agent
	others := slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool {
		return m != n && m.Token.Ask != nil && m.Token.Ask.Agent != nil || slices.Contains(g.writes[m], "messages")
	})
	switch {
	case others:
		g.Refuse(n.ID.Span, "keep one agent in the graph", "several agents share one conversation, which native agents do not")
	case g.Root.Get("state").Get("messages") != nil, slices.Contains(g.reads[n], "messages"):
		g.Refuse(n.ID.Span, "remove `messages` from `state`", "the state has the conversation of %s, which a native agent keeps to itself", n.ID.Name)
	case agent.Results != "":
		g.Refuse(n.ID.Span, "write `pins` on the native `agent` node", "`tool_results_key` of %s is not converted", n.ID.Name)
	case n.Token.Ask.Fail != yamlgraph.AskKeep && n.Token.Ask.Fail != yamlgraph.AskRaise:
		g.Refuse(n.ID.Span, "write `retry` or `on_error` on the native `agent` node", "`on_error` of %s is not converted", n.ID.Name)
	case g.cyclic(n):
		g.Refuse(n.ID.Span, "write a native `loop`", "%s continues its conversation in each round, which a native agent does not", n.ID.Name)
	}
	g.lone = true
	g.Only(n.ID.Span, "the node "+n.ID.Name, n.Token.Ask, "Agent Fail Retries Prompt Values Needs Model")
}

// agent rewrites a node that works with tools.
func (g *graph) agent(n *yamlgraph.Node, out *ir.Node) {
	a := n.Token.Ask
	g.needs(n)
	question := g.question(n)
	if len(a.Agent.Tools) == 0 {
		out.Verb = question
	} else {
		limit, unbounded := int64(a.Agent.Iterations), int64(ir.Unbounded)
		made := &ir.Agent{Model: question.Model, Prompt: question.Prompt, Policy: &ir.Policy{MaxIterations: &limit, MaxToolCalls: &unbounded}}
		if question.System != nil {
			made.System = &ir.Prompt{Text: question.System}
		}
		for _, id := range a.Agent.Tools {
			i := slices.IndexFunc(g.tree.Tools, func(t *ir.Tool) bool { return t.Key.Name == id.Name })
			if g.python[g.tree.Tools[i]] != nil {
				g.Refuse(id.Span, "write a function for each", "the function of %s is given the state by a node, and arguments by an agent", id.Name)
				continue
			}
			made.Tools = append(made.Tools, ir.AgentTools(g.pythonTool(g.tree.Tools[i]).Key)...)
		}
		out.Verb = made
		g.Note(n.ID.Span, "", "the model of %s reads results of its tools as JSON, not as Python text, and at its limit of %d answers the agent fails", n.ID.Name, limit)
	}
	for _, f := range g.writes[n] {
		from := out.ID.Name
		if len(a.Agent.Tools) > 0 {
			from += ".response"
		}
		out.Set = append(out.Set, convert.Set(f, from))
	}
	g.part(n).last = out.ID.Name
	g.caught(n, out)
}
