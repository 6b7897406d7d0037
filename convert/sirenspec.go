package convert

import (
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A siren is a SirenSpec workflow while it is converted. An agent is told what the agent before it has said.
type siren struct {
	*converter
	nodes  map[string]*ir.Node
	order  []*ir.Node              // in which the engine runs them
	extra  map[*ir.Node][]*ir.Node // nodes that have to come before one that no edge leads to
	read   map[*ir.Node]bool       // tools whose result something reads
	seeds  *mapping                // the state that the context begins with
	given  []*entry                // of the output, that it begins with
	tools  *mapping
	extern []string // secrets, without those of models
	hosts  *list    // that the file names, and whose addresses are not public
}

// sirenspec converts a workflow. Its result is the bucket `output` of the context.
func (c *converter) sirenspec() {
	s := &siren{converter: c, nodes: map[string]*ir.Node{}, extra: map[*ir.Node][]*ir.Node{}, read: map[*ir.Node]bool{}, seeds: &mapping{}, tools: &mapping{}, hosts: &list{flow: true}}
	s.sections()
	for _, n := range c.wf.Body.Nodes {
		s.nodes[n.ID.Name] = n
	}
	for _, ph := range c.wf.Dynamic.Phases {
		s.order = append(s.order, ph.Nodes...)
	}
	if c.refused {
		return
	}
	s.chain()
	nodes := &mapping{}
	for _, n := range c.wf.Body.Nodes {
		s.node(n, nodes)
	}
	edges := s.edges()
	in := &mapping{}
	for _, f := range c.wf.Input {
		v := c.field(f)
		in.add(f.Name, v, c.entry("input", "message"))
	}
	models := &mapping{}
	for _, m := range c.wf.Models {
		models.add(nativeID(m.Name.Name), c.model(m), s.agentSpan(m))
	}
	c.doc.addUnlessEmpty("input", in, source.Span{})
	c.doc.addUnlessEmpty("state", s.seeds, c.entry("state"))
	secrets := &list{flow: true}
	for _, x := range c.wf.Secrets {
		secrets.add(scalar(x.Name.Name), source.Span{})
	}
	for _, name := range s.extern {
		secrets.add(scalar(name), source.Span{})
	}
	c.doc.addUnlessEmpty("secrets", secrets, source.Span{})
	if len(s.hosts.items) > 0 {
		c.doc.add("policy", flow(pair("net", flow(pair("allow", s.hosts)))), source.Span{})
	}
	c.doc.addUnlessEmpty("models", models, source.Span{})
	c.doc.addUnlessEmpty("tools", s.tools, source.Span{})
	c.doc.add("nodes", nodes, source.Span{})
	c.doc.addUnlessEmpty("edges", edges, source.Span{})
	c.doc.addUnlessEmpty("output", s.output(), source.Span{})
}

// sections refuses what stands beside the nodes and has no counterpart.
func (s *siren) sections() {
	if len(s.wf.Dynamic.Budgets) > 0 {
		s.refuse(s.wf.Dynamic.Budgets[0].Span, "write `policy: {max_tokens: ..., max_cost_usd: ...}` in the native file", "the engine looks at a budget after each node, and a native policy before each call: they stop at other places")
	}
	if s.wf.Dynamic.Memory {
		s.refuse(s.wf.Name.Span, "keep what runs share in a tool of your own", "the memory has no counterpart in the native language")
	}
	if s.wf.Dynamic.EnvFile != "" {
		s.refuse(s.wf.Name.Span, "set the variables where the program runs, or keep secrets in its `.env`", "a file of variables has no counterpart in the native language")
	}
	rest := *s.wf
	rest.Public, rest.Origin = false, ""
	rest.File, rest.Name, rest.Description, rest.Input, rest.State, rest.Tools, rest.Body, rest.Dynamic, rest.Includes = nil, ir.Ident{}, "", nil, nil, nil, ir.Body{}, nil, nil
	rest.Secrets, rest.Models = nil, nil
	s.rest(s.wf.Name.Span, "the workflow", &rest)
	d := *s.wf.Dynamic
	s.seed(d.Seeds)
	d.Dialect, d.Upstream, d.Concurrency, d.Phases, d.Seeds, d.Budgets, d.Memory, d.EnvFile = "", false, 0, nil, nil, nil, false, ""
	s.rest(s.wf.Name.Span, "the workflow", &d)
}

// agentSpan is the place of an agent's declaration.
func (s *siren) agentSpan(m *ir.Model) source.Span { return s.entry("agents", m.Name.Name) }

// node writes a node, with what looks at its text before and after it.
func (s *siren) node(n *ir.Node, nodes *mapping) {
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Result, rest.Dynamic = ir.Ident{}, nil, source.Span{}, nil, nil
	s.rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	d := *n.Dynamic
	ctx := *d.Context
	d.Routes, d.Attempts, d.OnSpent, d.System, d.Prompt, d.Context, d.Args, d.Times = nil, 0, 0, nil, nil, nil, nil, 0
	s.rest(n.ID.Span, "the node "+n.ID.Name, &d)
	ctx.OutputKey, ctx.Writes, ctx.Request, ctx.Guards, ctx.Retry, ctx.Failure = "", nil, nil, nil, nil, nil
	s.rest(n.ID.Span, "the node "+n.ID.Name, &ctx)
	id, at := s.ids[n.ID.Name], join(n.ID.Span, n.Span)
	switch v := n.Verb.(type) {
	case *ir.LLM:
		s.ask(n, v, nodes, id, at)
	case *ir.Human:
		nodes.add(id, s.person(n, v), at)
	case *ir.Swarm:
		s.swarm(n, v, nodes, id, at)
	case *ir.ToolCall:
		m := &mapping{}
		switch b := v.Tool.Binding.(type) {
		case *ir.RequestTool:
			s.request(n, m)
		case *ir.PythonTool:
			s.pythonCall(n, b, m)
		default:
			s.refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
		}
		s.failure(n, m)
		nodes.add(id, m, at)
	default:
		s.refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
}

// ask writes an agent. Its guardrails become nodes around it, which can be taken out.
func (s *siren) ask(n *ir.Node, v *ir.LLM, nodes *mapping, id string, at source.Span) {
	if w := n.Dynamic.Context.Writes; len(w) == 2 && w[0] == "working" && w[1] == n.ID.Name {
		s.refuse(n.ID.Span, "write it to `output."+w[1]+"`", "the text of %s is replaced by what the engine keeps of the node, and the next agent is told that", n.ID.Name)
	}
	told := s.told(n)
	for _, g := range s.guards(n, false) {
		nodes.add(g.id, g.node(told), source.Span{})
		told = g.id
	}
	m := &mapping{}
	m.add("llm", scalar(nativeID(v.Model.Name)), below(nodeAt(s.root, n.Span), "agent"))
	if n.Dynamic.System != nil && len(n.Dynamic.System.Segments) > 0 {
		agent := s.root.Get("agents").Get(nodeAt(s.root, n.Span).Get("agent").Text.Value)
		m.add("system", spell(s.text(n.Dynamic.System, n)), below(agent, "system"))
	}
	m.add("prompt", scalar(quoted("{{ "+told+" }}")), source.Span{})
	s.retries(n, m)
	s.spent(n, m)
	nodes.add(id, m, at)
	said := id
	for _, g := range s.guards(n, true) {
		nodes.add(g.id, g.node(said), source.Span{})
		said = g.id
	}
}

// retries writes when an agent is asked again: the native language knows kinds of errors, not statuses.
func (s *siren) retries(n *ir.Node, m *mapping) {
	r := n.Dynamic.Context.Retry
	if r == nil || r.Attempts < 2 {
		return
	}
	if r.Guards || slices.Contains(r.On, "guardrail_violation") {
		s.refuse(r.Span, "put the agent and its check into a `loop` of the native language", "%s is asked again after an answer that a guardrail refuses, which a native `retry` does not do", n.ID.Name)
	}
	var codes []string
	broad := false
	for _, on := range r.On {
		switch on = strings.TrimSpace(on); {
		case on == "429":
			codes = append(codes, "RATE_LIMIT")
		case on == "408":
			codes = append(codes, "TIMEOUT")
		case on == "network_error":
			codes = append(codes, "NETWORK_ERROR", "TIMEOUT")
		case on == "401" || on == "403":
			codes, broad = append(codes, "AUTH_REQUIRED"), true
		case on == "400" || on == "422":
			codes, broad = append(codes, "VALIDATION_ERROR"), true
		case len(on) == 3 && on[0] >= '4' && on[0] <= '5':
			codes, broad = append(codes, "PROVIDER_ERROR"), true
		default:
			s.refuse(r.Span, "name statuses and `network_error`", "the trigger %q has no counterpart", on)
		}
	}
	l := &list{flow: true}
	for _, code := range schema.ErrorCodes {
		if slices.Contains(codes, code) {
			l.add(scalar(code), source.Span{})
		}
	}
	if len(l.items) == 0 {
		return
	}
	if broad && !s.again {
		s.note(r.Span, "", "a native retry knows kinds of errors and not statuses: %s is asked again after others of the same kind, too", n.ID.Name)
	}
	retry := flow(pair("attempts", number(r.Attempts)), pair("codes", l))
	if r.Backoff != "exponential" {
		retry.add("backoff", scalar("constant"), source.Span{})
		if r.Backoff == "linear" && r.Attempts > 2 && !s.again {
			s.note(r.Span, "", "the engine waits longer before each attempt of %s; the native node waits the same time", n.ID.Name)
		}
	}
	base := time.Duration(r.Base * float64(time.Second))
	retry.add("base", scalar(duration(max(base.Truncate(time.Millisecond), time.Millisecond))), source.Span{})
	if most := time.Duration(r.Most * float64(time.Second)); r.Backoff == "exponential" && most > 0 && most != 30*time.Second {
		retry.add("cap", scalar(duration(max(most.Truncate(time.Millisecond), time.Millisecond))), source.Span{})
	}
	if r.Jitter {
		retry.add("jitter", scalar("0.2"), source.Span{})
	}
	m.add("retry", retry, r.Span)
}

// spent writes what becomes of an agent whose attempts are spent.
func (s *siren) spent(n *ir.Node, m *mapping) {
	f := n.Dynamic.Context.Failure
	if f == nil {
		return
	}
	switch f.Action {
	case "skip":
		m.add("on_error", scalar("skip"), f.Span)
	case "use_default":
		for _, g := range s.guards(n, true) {
			if g.name != "injection" {
				s.refuse(f.Span, "write the guardrail as a node of your own", "the text that stands for the answer of %s is not looked at by its guardrails, and the native one would be", n.ID.Name)
				break
			}
		}
		m.add("on_error", flow(pair("default", scalar(quoted(data(f.Default))))), f.Span)
	case "fallback":
		to := s.nodes[f.Node.Name]
		if to == nil || s.wf.Dynamic.Upstream || s.at(to) < s.at(n) || to == n {
			s.refuse(f.Span, "name a node that comes after it", "the fallback of %s is none that runs instead of it", n.ID.Name)
			return
		}
		m.add("catch", flow(pair("any", scalar(s.begins(to)))), f.Span)
	}
}

// person writes a node that asks a person.
func (s *siren) person(n *ir.Node, v *ir.Human) value {
	m := &mapping{}
	at := nodeAt(s.root, n.Span)
	m.add("human", spell(s.text(n.Dynamic.Prompt, n)), below(at, "prompt"))
	if v.Timeout != nil {
		m.add("timeout", scalar(duration(v.Timeout.Value)), below(at, "timeout"))
	}
	switch t := v.OnTimeout; {
	case t == nil:
	case t.Kind == ir.OnErrorSkip:
		m.add("on_timeout", scalar("skip"), below(at, "on_timeout"))
	default:
		m.add("on_timeout", flow(pair("default", constant(t.Default.(*ir.Scalar)))), below(at, "on_timeout"))
	}
	return m
}

// swarm writes the agents of a swrm side by side, and what is asked about what they say.
func (s *siren) swarm(n *ir.Node, v *ir.Swarm, nodes *mapping, id string, at source.Span) {
	if v.Keep {
		s.refuse(n.ID.Span, "write a `map` with `on_item_error` in the native language", "agents of %s that fail say nothing, and the others go on: this is not converted", n.ID.Name)
	}
	if v.Parallel > 0 && v.Parallel < len(v.Agents()) && !s.again {
		s.note(n.ID.Span, "", "the agents of %s are asked all at the same time", n.ID.Name)
	}
	voice := func(a *ir.Node, name string) {
		ask := a.Verb.(*ir.LLM)
		m := &mapping{}
		m.add("llm", scalar(nativeID(ask.Model.Name)), source.Span{})
		prompt := s.text(a.Dynamic.Prompt, a)
		if chain := s.guards(a, false); len(chain) > 0 {
			for i, g := range chain {
				text := chain[max(i-1, 0)].id
				if i == 0 {
					nodes.add(g.id, g.filled(prompt), source.Span{})
					continue
				}
				nodes.add(g.id, g.node(text), source.Span{})
			}
			prompt = "{{ " + chain[len(chain)-1].id + " }}"
		}
		m.add("prompt", spell(prompt), source.Span{})
		nodes.add(name, m, a.Span)
		said := name
		for _, g := range s.guards(a, true) {
			nodes.add(g.id, g.node(said), source.Span{})
			said = g.id
		}
	}
	for _, a := range v.Agents() {
		voice(a, s.voiceID(n, a))
	}
	last := v.Last()
	if last == nil {
		all := &list{flow: true}
		for _, a := range v.Agents() {
			all.add(scalar("$"+s.said(a)), source.Span{})
		}
		nodes.add(id, &mapping{entries: []*entry{pair("let", flow(pair("said", all))), pair("join", scalar("all"))}}, at)
		return
	}
	voice(last, id)
}

// voiceID is the name of the node of an agent of a swrm.
func (s *siren) voiceID(n, a *ir.Node) string {
	return nativeID(s.ids[n.ID.Name] + "_" + strings.ReplaceAll(a.ID.Name, "-", "_"))
}

// output writes the bucket output.
func (s *siren) output() *mapping {
	out := &mapping{}
	var names []string
	by := map[string][]*ir.Node{}
	for _, n := range s.order {
		w := n.Dynamic.Context.Writes
		if len(w) == 0 || w[0] != "output" {
			continue
		}
		if len(w) != 2 {
			s.refuse(n.ID.Span, "write it to `output."+w[1]+"`", "a place below a name is not converted")
			continue
		}
		if by[w[1]] == nil {
			names = append(names, w[1])
		}
		by[w[1]] = append(by[w[1]], n)
	}
	for _, e := range s.given {
		if by[e.key] == nil {
			s.fieldName(e.key, e.from)
			out.entries = append(out.entries, e)
		}
	}
	for _, name := range names {
		list := by[name]
		s.fieldName(name, list[0].ID.Span)
		var parts []string
		for i := len(list) - 1; i >= 0; i-- {
			parts = append(parts, s.said(list[i]))
			for _, other := range list[:i] {
				if !s.comesAfter(list[i], other) && !s.exclusive(list[i], other) {
					s.refuse(list[i].ID.Span, "write to a name of its own", "two nodes write output.%s, in an order that no edges tell", name)
				}
			}
		}
		if len(parts) == 1 {
			out.add(name, scalar("$"+parts[0]), source.Span{})
			continue
		}
		out.add(name, scalar(quoted("$first("+strings.Join(parts, ", ")+")")), source.Span{})
	}
	return out
}

// seed makes state of what the context begins with.
func (s *siren) seed(o *ir.Object) {
	if o == nil {
		return
	}
	for _, bucket := range o.Entries {
		values, ok := bucket.Value.(*ir.Object)
		if !ok {
			s.refuse(bucket.Key.Span, "", "this is no part of the context that a native workflow has")
			continue
		}
		for _, e := range values.Entries {
			v := s.native(e.Value)
			if bucket.Key.Name == "output" {
				s.seeds.add(e.Key.Name, flow(pair("type", scalar("any")), pair("init", v)), join(e.Key.Span, e.Value.Source()))
				s.given = append(s.given, &entry{key: e.Key.Name, value: scalar("$state." + e.Key.Name), from: e.Key.Span})
				continue
			}
			s.fieldName(e.Key.Name, e.Key.Span)
			s.seeds.add(e.Key.Name, flow(pair("type", s.seedType(e.Value)), pair("init", v)), join(e.Key.Span, e.Value.Source()))
		}
	}
}

// seedType is the type of a constant.
func (s *siren) seedType(v ir.Value) value {
	switch v := v.(type) {
	case *ir.Scalar:
		if t := map[string]string{"!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "any"}[v.Tag]; t != "" {
			return scalar(t)
		}
		return scalar("string")
	case *ir.Mixed:
		return scalar("string")
	case *ir.Object:
		m := flow()
		for _, e := range v.Entries {
			if !fieldForm.MatchString(e.Key.Name) {
				return scalar("any")
			}
			m.add(e.Key.Name, s.seedType(e.Value), source.Span{})
		}
		if len(m.entries) > 0 {
			return m
		}
	}
	return scalar("any")
}

// at is when the engine runs a node.
func (s *siren) at(n *ir.Node) int { return slices.Index(s.order, n) }
