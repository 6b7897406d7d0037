package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
)

// asksItem says what a node reads that asks a model inside of a map. There it stands for itself: what it lacks is the error of its
// item.
func (g *graph) asksItem(n *yamlgraph.Node, v *yamlgraph.Map) {
	one, token, a := *v.Do, *v.Do.Token, *v.Do.Token.Ask
	token.Ask, one.Token = &a, &token
	known := "Fail Retries Prompt Values Needs Model Skips SkipsSet"
	if g.alone(&one) {
		known, g.lone = known+" Agent", true
	}
	what := "the node of the map " + n.ID.Name
	g.Only(one.ID.Span, what, &a, known)
	switch {
	case a.Fail != yamlgraph.AskKeep:
		g.Refuse(one.ID.Span, "write `on_item_error` on a native `map`", "%s does something else with an error than to keep it", what)
	case one.Schema != "" && token.Key.Name == "", a.Agent != nil && token.Key.Name == "":
		g.Refuse(one.ID.Span, "write `state_key`", "%s has no key of its own", what)
	}
	a.Fail = yamlgraph.AskRaise
	for _, e := range a.Values {
		if e.Value == nil {
			continue
		}
		dialect.ValueReferences(e.Value, func(r *dialect.Reference) {
			if r.Root != "state" || len(r.Path) == 0 || g.shapes[r.Path[0]] == nil {
				g.use(r, nil)
				return
			}
			g.reads[n] = append(g.reads[n], r.Path[0])
			if sh := g.shapes[r.Path[0]]; sh.declared.Kind == schema.Map || len(r.Path) > 1 {
				sh.declared = schema.AnyType // a native map has no order of its keys
			}
		})
	}
	g.items[n] = &one
}

// alone reports whether a node is an agent that has no tools, in a graph without other conversations: it asks one question.
func (g *graph) alone(n *yamlgraph.Node) bool {
	agent := n.Token.Ask.Agent
	return agent != nil && len(agent.Tools) == 0 && agent.Results == "" && g.Root.Get("state").Get("messages") == nil && !slices.ContainsFunc(g.tree.Nodes, func(m *yamlgraph.Node) bool {
		return m.Token.Ask != nil && m.Token.Ask.Agent != nil || slices.Contains(g.writes[m], "messages")
	})
}

// askItem asks a model for an item. The prompt is one of the engine's, as items have no types.
func (g *graph) askItem(n *yamlgraph.Node, do *ir.Node, item string, body *ir.Body) {
	one := g.items[n]
	if one == nil {
		return // refused
	}
	g.sure[one], g.IDs[one.ID.Name], g.named[one] = g.sure[n], do.ID.Name, item
	g.needs(one)
	llm := g.question(one)
	if one.Schema != "" {
		llm.Out = g.answerType(one)
		body.Result = convert.Object(convert.Pair(one.Token.Key.Name, convert.Ref(do.ID.Name)))
	}
	do.Verb, do.Retry = llm, again(one.Retry)
	g.part(one).main, g.anyErrors = do, true
	body.Nodes, body.Edges = g.nodesOf(one), g.inside(one)
}
