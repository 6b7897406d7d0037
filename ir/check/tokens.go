package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// MaxTokenSteps is how many steps a graph of tokens with a cycle takes at most: between the bounds of the engine's versions.
const MaxTokenSteps = 1000

// A TokenPlan is how the nodes of a graph of tokens follow each other.
type TokenPlan struct {
	Waves [][]*Step // side by side, and one after the other; nil: one token goes from node to node

	Start  *Step   // without waves: where the one token begins
	First  []*Step // without waves and Start: where several tokens begin, which data sends on
	Cyclic bool    // without waves: a node may run again
}

// tokens checks a graph of tokens: that names are real, that nodes can be reached, and how they follow each other.
func (c *checker) tokens() *Program {
	p := &Program{WF: c.wf, Input: &schema.Type{Kind: schema.Struct}, Output: &schema.Type{Kind: schema.Struct}}
	c.declareTools()
	c.tokenState()
	p.State = c.dynamicState()
	for i, s := range c.wf.State {
		p.Output.Fields = append(p.Output.Fields, p.State.Fields[i])
		if s.Name.Name == "current_step" || s.Name.Name == "errors" {
			continue // the run's own
		}
		opt := *schema.OptOf(s.Type, "")
		opt.Go = p.State.Fields[i].Type.Go
		p.Input.Fields = append(p.Input.Fields, &schema.Field{Name: s.Name.Name, Type: &opt, Span: s.Span, Omit: true})
	}
	p.Body = c.tokenBody(&c.wf.Body, nil)
	for _, s := range p.Body.Steps {
		c.tokenExits(p.Body, s)
	}
	if p.Tokens = c.tokenPlan(p.Body); p.Tokens != nil {
		p.Body.Plan = p.Tokens.plan(p.Body)
	}
	p.Texts = c.texts
	c.checkTools()
	if !c.sink.HasErrors() {
		c.unusedTools()
	}
	return p
}

// tokenBody makes steps of nodes; parent is the map that they are inside of.
func (c *checker) tokenBody(in *ir.Body, parent *Step) *Body {
	b := &Body{IR: in, byID: map[string]*Step{}, limit: c.limit, parent: parent}
	for i, n := range in.Nodes {
		s := &Step{Node: n, body: b, index: i, defaults: &ir.Defaults{}, effects: c.nodeEffects(n)}
		n.Result = schema.InvalidType
		b.Steps = append(b.Steps, s)
		b.byID[n.ID.Name] = s
		c.tokenVerb(s)
		c.promptFunc(n)
		c.tokenRules(n)
		if parent == nil {
			c.tokenNames(n)
		}
	}
	if parent != nil {
		b.Plan = &Plan{Kind: Leaf, Step: b.Steps[0]}
	}
	return b
}

func (c *checker) tokenVerb(s *Step) {
	switch v := s.Node.Verb.(type) {
	case *ir.ToolCall:
		s.Tool = c.resolveTool(v.Name)
		v.Tool = s.Tool
		c.used[s.Tool] = true
		if v.Tool != nil && v.Tool.File == c.wf.File && ir.IsPython(v.Tool) {
			c.stateAlone(v)
		}
		for _, e := range s.Node.Dynamic.Token.Values {
			ir.ValueReferences(e.Value, c.dynamicReference)
		}
		c.copilotReferences(s.Node.Dynamic.Token)
	case *ir.ToolChoice:
		s.Pick = c.pick(v)
		for _, x := range s.Pick.Choices {
			c.used[x.Tool] = true
		}
		ir.ValueReferences(v.Tool, c.dynamicReference)
		ir.ValueReferences(v.Args, c.dynamicReference)
	case *ir.LLM, *ir.Agent:
		c.tokenAsk(s)
	case *ir.Let:
		for _, f := range v.Fields {
			ir.ValueReferences(f.Value, c.dynamicReference)
		}
	case *ir.Flow:
		s.Flow = c.flows[v.Flow]
		for _, pair := range s.Node.Dynamic.Token.Sub.In {
			c.dynamicReference(pair.Ref)
		}
	case *ir.Human:
		s.Question = &Question{Text: &Expected{Type: schema.StringType}, Out: schema.StringType}
		t := s.Node.Dynamic.Token
		if t.Payload != nil {
			ir.ValueReferences(t.Payload, c.dynamicReference)
		}
		if t.Ask != nil && t.Ask.Model.Name != "" {
			c.tokenAsk(s) // a model makes the question
		}
	case *ir.Map:
		if over, ok := v.Over.(*ir.Reference); ok && over.Root == "state" {
			c.dynamicReference(over)
			c.listField(over)
		}
		s.Body = c.tokenBody(&v.Do, s)
	}
}

// stateAlone holds the function of a node to what it is called with: the state, and nothing else.
func (c *checker) stateAlone(v *ir.ToolCall) {
	if v.Tool == nil || v.Tool.Def == nil || v.Tool.Def.In == nil {
		return
	}
	need := 0
	for _, f := range v.Tool.Def.In.Fields {
		if f.Required() {
			need++
		}
	}
	if n := len(v.Tool.Def.In.Fields); n == 0 || need > 1 {
		c.report(diag.Diagnostic{Code: diag.SourceShape, Span: v.Name.Span, Message: "a python node calls its function with the state alone, and " + v.Tool.Def.Name + " takes something else",
			Help: "write a function with one parameter", Related: related(v.Tool.Def.Span, "it is defined here")})
	}
}

// tokenNames warns about what a node leaves where nothing holds it: the engine drops it without a word.
func (c *checker) tokenNames(n *ir.Node) {
	lost := append([]ir.Ident{}, n.Dynamic.Writes...)
	_, function := n.Verb.(*ir.ToolCall) // most of them return a mapping, whose keys nobody knows
	ask := n.Dynamic.Token.Ask
	router := ask != nil && len(ask.Routes) > 0 // what it gives is where the token goes
	if key := n.Dynamic.Token.Key; key.Name != "" && !function && !router {
		lost = append(lost, key)
	}
	for _, id := range lost {
		if c.state[id.Name] == nil {
			c.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: id.Span, Help: "declare it in `state`",
				Message: fmt.Sprintf("the state has no field %q, so that what the node gives is dropped", id.Name)})
		}
	}
}

// tokenExits makes arcs of the exits of a step.
func (c *checker) tokenExits(b *Body, s *Step) {
	for _, e := range s.Node.Dynamic.Token.Exits {
		e.When.Refs(c.dynamicReference)
		to := b.byID[e.To.Name]
		if to == nil {
			continue // the end
		}
		a := &arc{from: s, to: to, at: e.To.Span}
		if e.When != nil {
			a.decision = &Decision{Step: s, Kind: When, Cases: []Case{{Label: e.When.String()}, {Label: "else"}}}
		}
		s.out, to.in, b.arcs = append(s.out, a), append(to.in, a), append(b.arcs, a)
	}
}

// Exits are the edges that leave a step, with the steps that they lead to, nil for the end.
func (s *Step) Exits(f func(e *ir.Exit, to *Step)) {
	for _, e := range s.Node.Dynamic.Token.Exits {
		f(e, s.body.byID[e.To.Name])
	}
}

// tokenPlan decides how the nodes follow each other, nil after a mistake. Without conditions and cycles that is known
// now; else one token goes from node to node, and there must be no more than one.
func (c *checker) tokenPlan(b *Body) *TokenPlan {
	var first []*Step
	for _, id := range c.wf.Dynamic.Tokens.Start {
		if s := b.byID[id.Name]; s != nil {
			first = append(first, s)
		}
	}
	if len(first) == 0 {
		if len(b.Steps) > 0 && !c.sink.HasErrors() { // else it was reported
			c.report(diag.Diagnostic{Code: diag.Unreachable, Span: b.Steps[0].Node.ID.Span, Message: "no edge leads from START to a node, so that nothing runs", Help: "add an edge from START to the first node"})
		}
		return nil
	}
	reached := reach(first)
	conditions := false
	for _, s := range b.Steps {
		if !reached[s] && !c.sink.HasErrors() { // what led to it may have been left out
			c.warn(diag.Diagnostic{Code: diag.Unreachable, Span: s.Node.ID.Span, Message: fmt.Sprintf("no edge leads from START to node %q", s.Node.ID.Name), Help: "add an edge, or remove the node"})
		}
		for _, e := range s.Node.Dynamic.Token.Exits {
			conditions = conditions || e.When != nil || e.Routed || e.Spent
		}
	}
	cyclic := cycle(b.Steps)
	for s := range cyclic {
		s.Node.Dynamic.Times = cmp.Or(c.wf.Dynamic.Tokens.Limit, MaxTokenSteps)
		if a := s.Node.Dynamic.Token.Ask; a != nil && !a.SkipsSet {
			a.Skips = false
		}
	}
	switch {
	case !conditions && len(cyclic) == 0:
		if waves := tokenWaves(b, first); waves != nil {
			return &TokenPlan{Waves: waves}
		}
	case oneToken(b, first):
		return &TokenPlan{Start: first[0], Cyclic: len(cyclic) > 0}
	}
	return &TokenPlan{First: first, Cyclic: len(cyclic) > 0}
}

// reach is what exits lead to.
func reach(from []*Step) map[*Step]bool {
	seen := map[*Step]bool{}
	from = slices.Clone(from)
	for len(from) > 0 {
		s := from[len(from)-1]
		from = from[:len(from)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, a := range s.out {
			from = append(from, a.to)
		}
	}
	return seen
}

// cycle is the steps that lead back to themselves.
func cycle(steps []*Step) map[*Step]bool {
	out := map[*Step]bool{}
	for _, s := range steps {
		var next []*Step
		for _, a := range s.out {
			next = append(next, a.to)
		}
		if reach(next)[s] {
			out[s] = true
		}
	}
	return out
}

// oneToken reports whether there is never more than one token in a graph whose steps are not known now.
func oneToken(b *Body, first []*Step) bool {
	if len(first) > 1 {
		return false
	}
	for _, s := range b.Steps {
		plain, tests := 0, 0
		for _, e := range s.Node.Dynamic.Token.Exits {
			switch {
			case e.When != nil:
				tests++
			case !e.Routed && !e.Spent:
				plain++
			}
		}
		if plain > 1 || plain > 0 && tests > 0 {
			return false
		}
	}
	return true
}

// maxTokenWaves bounds how often nodes stand in the Go of a graph whose nodes are reached on ways of several lengths.
const maxTokenWaves = 100

// tokenWaves are the nodes of every step: those that the nodes of the step before lead to, in the order of the file. A
// node that is reached on ways of several lengths runs once for each. Nil when only a run knows: a map hands nothing on
// when its list is empty, and other nodes beside it do.
func tokenWaves(b *Body, first []*Step) [][]*Step {
	var out [][]*Step
	now := map[*Step]bool{}
	for _, s := range first {
		now[s] = true
	}
	for runs := 0; len(now) > 0; {
		var wave []*Step
		next := map[*Step]bool{}
		for _, s := range b.Steps {
			if !now[s] {
				continue
			}
			wave = append(wave, s)
			for _, a := range s.out {
				next[a.to] = true
			}
			if _, each := s.Node.Verb.(*ir.Map); each && len(now) > 1 && len(s.out) > 0 {
				return nil
			}
		}
		if runs += len(wave); runs > maxTokenWaves {
			return nil
		}
		out = append(out, wave)
		now = next
	}
	return out
}

// plan describes the order.
func (t *TokenPlan) plan(b *Body) *Plan {
	out := &Plan{Kind: Seq}
	add := func(wave []*Step) {
		var kids []*Plan
		for _, s := range wave {
			kids = append(kids, &Plan{Kind: Leaf, Step: s})
		}
		if len(kids) > 1 {
			kids = []*Plan{{Kind: Par, Kids: kids}}
		}
		out.Kids = append(out.Kids, kids...)
	}
	for _, w := range t.Waves {
		add(w)
	}
	if t.Waves != nil {
		return out
	}
	for _, s := range b.Steps {
		if (s == t.Start || slices.Contains(t.First, s)) && len(s.in) == 0 {
			add([]*Step{s})
		} else {
			out.Kids = append(out.Kids, wavePlan([]*Step{s}))
		}
	}
	return out
}
