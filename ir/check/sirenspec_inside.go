package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// voice reports whether a step is inside of a SirenSpec node: an agent of a swrm or what a factory runs.
func (s *Step) voice() bool {
	return s.body != nil && s.body.parent != nil && s.Node.Dynamic != nil && s.Node.Dynamic.Context != nil
}

// contextVerb says what a step of a SirenSpec workflow calls.
func (c *checker) contextVerb(s *Step) {
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall:
		s.Tool = c.resolveTool(v.Name)
		v.Tool = s.Tool
		c.used[s.Tool] = true
	case *ir.LLM:
		s.Ask = &Ask{Model: c.model(v.Model)}
	case *ir.Swarm:
		s.Body = c.contextInside(&v.Do, s)
		s.Body.Plan = swarmPlan(v, s.Body)
	case *ir.ToolChoice:
		s.Pick = c.pick(v)
		for _, x := range s.Pick.Choices {
			c.used[x.Tool] = true
		}
	case *ir.Flow:
		s.Flow = c.flows[v.Flow]
	case *ir.Human:
		s.Question = &Question{Text: &Expected{Type: schema.StringType}, Out: schema.StringType}
	case *ir.Map:
		s.Body = c.contextInside(&v.Do, s)
		s.Body.Plan = &Plan{Kind: Leaf, Step: s.Body.Steps[0]}
	}
}

// contextInside makes steps of what is inside of a node.
func (c *checker) contextInside(in *ir.Body, parent *Step) *Body {
	b := &Body{IR: in, byID: map[string]*Step{}, limit: c.limit, parent: parent}
	for i, n := range in.Nodes {
		s := &Step{Node: n, body: b, index: i, defaults: &ir.Defaults{}, effects: c.nodeEffects(n)}
		n.Result = schema.InvalidType
		b.Steps = append(b.Steps, s)
		b.byID[n.ID.Name] = s
		c.contextVerb(s)
	}
	return b
}

// swarmPlan is how a swrm runs: its agents side by side, and then the synthesis.
func swarmPlan(v *ir.Swarm, b *Body) *Plan {
	side := &Plan{Kind: Par}
	for _, s := range b.Steps[:len(v.Agents())] {
		side.Kids = append(side.Kids, &Plan{Kind: Leaf, Step: s})
	}
	if len(side.Kids) == 1 {
		side = side.Kids[0]
	}
	if !v.Synthesis {
		return side
	}
	last := b.Steps[len(b.Steps)-1]
	for _, s := range b.Steps[:len(b.Steps)-1] {
		a := &arc{from: s, to: last, at: last.Node.ID.Span}
		s.out, last.in, b.arcs = append(s.out, a), append(last.in, a), append(b.arcs, a)
	}
	return &Plan{Kind: Seq, Kids: []*Plan{side, {Kind: Leaf, Step: last}}}
}

// resultKeys are the names below a node's own that its result has.
func resultKeys(n *ir.Node) []string {
	switch n.Verb.(type) {
	case *ir.Swarm:
		return []string{"output", "agents"}
	case *ir.Map:
		return []string{"output", "outputs"}
	}
	if k := n.Dynamic.Context.OutputKey; k != "" {
		return []string{k}
	}
	return []string{"output"}
}

// insideReferences calls f for every reference of what is inside of a node; own says that the result of the node's agents
// is there by then.
func insideReferences(n *ir.Node, f func(r *ir.Reference, own bool)) {
	switch v := n.Verb.(type) {
	case *ir.Swarm:
		for _, x := range v.Agents() {
			nodeReferences(x, func(r *ir.Reference) { f(r, false) })
		}
		if last := v.Last(); last != nil {
			nodeReferences(last, func(r *ir.Reference) { f(r, true) })
		}
	case *ir.Map:
		if v.Over != nil {
			ir.ValueReferences(v.Over, func(r *ir.Reference) { f(r, false) })
		}
		for _, x := range v.Do.Nodes {
			nodeReferences(x, func(r *ir.Reference) { f(r, false) })
			insideReferences(x, f)
		}
	}
}

// ownValue checks a reference inside of a node to the node's own result: a synthesis is told what the agents said, and
// nobody else is.
func (c *checker) ownValue(r *ir.Reference, s *Step, own bool) {
	switch {
	case r.Filter != "":
	case own && len(r.Path) > 2 && r.Path[1] == "agents" && !slices.Contains(agentIDs(s.Node), r.Path[2]):
		c.noAgent(r, s)
	case own && (len(r.Path) < 2 || r.Path[1] == "agents"):
	default:
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span,
			Message: fmt.Sprintf("%q has no result yet: the node fails when it runs", r.Path[0])}
		if _, ok := s.Node.Verb.(*ir.Swarm); ok && !own {
			d.Message = fmt.Sprintf("the agents of %q are asked side by side, and none is told what another one says: the node fails when it runs", r.Path[0])
			d.Help = "ask about it in `synthesis`"
		}
		c.report(d)
	}
}

// noAgent warns about a reference to an agent that a swarm does not have.
func (c *checker) noAgent(r *ir.Reference, s *Step) {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: fmt.Sprintf("%q has no agent %q: the node fails when it runs", r.Path[0], r.Path[2])}
	if c.suggesting() {
		diag.Suggest(&d, r.Path[2], agentIDs(s.Node))
		d.Fixes = nil // the reference is more than the name
	}
	c.report(d)
}

// agentIDs are the names of the agents of a swrm, also of a factory's.
func agentIDs(n *ir.Node) []string {
	var ids []string
	switch v := n.Verb.(type) {
	case *ir.Swarm:
		for _, x := range v.Agents() {
			ids = append(ids, x.Dynamic.Context.OutputKey)
		}
	case *ir.Map:
		for _, x := range v.Do.Nodes {
			ids = append(ids, agentIDs(x)...)
		}
	}
	return ids
}
