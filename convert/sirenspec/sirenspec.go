// Package sirenspec converts SirenSpec workflows to native ones.
package sirenspec

import (
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A siren is a SirenSpec workflow while it is converted. An agent is told what the agent before it has said.
type siren struct {
	*convert.Converter
	tree   *sirenspec.Tree
	nodes  map[string]*sirenspec.Node
	order  []*sirenspec.Node                     // in which the engine runs them
	extra  map[*sirenspec.Node][]*sirenspec.Node // nodes that have to come before one that no edge leads to
	read   map[*sirenspec.Node]bool              // tools whose result something reads
	seeds  *doc.Mapping                          // the state that the context begins with
	given  []*doc.Entry                          // of the output, that it begins with
	tools  *doc.Mapping
	extern []string  // secrets, without those of models
	hosts  *doc.List // that the file names, and whose addresses are not public
}

// Convert converts a workflow. Its result is the bucket `output` of the context.
func Convert(c *convert.Converter) {
	tree, _ := c.Workflow.Tree.(*sirenspec.Tree)
	s := &siren{Converter: c, tree: tree, nodes: map[string]*sirenspec.Node{}, extra: map[*sirenspec.Node][]*sirenspec.Node{}, read: map[*sirenspec.Node]bool{}, seeds: &doc.Mapping{}, tools: &doc.Mapping{}, hosts: &doc.List{Flow: true}}
	s.sections()
	for _, n := range s.tree.Nodes {
		s.nodes[n.ID.Name] = n
	}
	s.order = s.tree.Order
	if c.Refused {
		return
	}
	s.chain()
	nodes := &doc.Mapping{}
	for _, n := range s.tree.Nodes {
		s.node(n, nodes)
	}
	edges := s.edges()
	in := &doc.Mapping{}
	for _, f := range s.tree.Input {
		v := c.Field(f)
		in.Add(f.Name, v, c.Entry("input", "message"))
	}
	models := &doc.Mapping{}
	for _, m := range s.tree.Models {
		models.Add(convert.NativeID(m.Name.Name), c.Model(m), s.agentSpan(m))
	}
	c.Doc.AddUnlessEmpty("input", in, source.Span{})
	c.Doc.AddUnlessEmpty("state", s.seeds, c.Entry("state"))
	c.Secrets(s.extern...)
	if len(s.hosts.Items) > 0 {
		c.Doc.Add("policy", doc.Flow(doc.Pair("net", doc.Flow(doc.Pair("allow", s.hosts)))), source.Span{})
	}
	c.Doc.AddUnlessEmpty("models", models, source.Span{})
	c.Doc.AddUnlessEmpty("tools", s.tools, source.Span{})
	c.Doc.Add("nodes", nodes, source.Span{})
	c.Doc.AddUnlessEmpty("edges", edges, source.Span{})
	c.Doc.AddUnlessEmpty("output", s.output(), source.Span{})
}

// sections refuses what stands beside the nodes and has no counterpart.
func (s *siren) sections() {
	if len(s.tree.Budgets) > 0 {
		s.Refuse(s.tree.Budgets[0].Span, "write `policy: {max_tokens: ..., max_cost_usd: ...}` in the native file", "the engine looks at a budget after each node, and a native policy before each call: they stop at other places")
	}
	if s.tree.Memory {
		s.Refuse(s.tree.Name.Span, "keep what runs share in a tool of your own", "the memory has no counterpart in the native language")
	}
	if s.tree.EnvFile != "" {
		s.Refuse(s.tree.Name.Span, "set the variables where the program runs, or keep secrets in its `.env`", "a file of variables has no counterpart in the native language")
	}
	rest := *s.tree.Workflow
	rest.Public, rest.Origin, rest.Tree, rest.Provided = false, "", nil, nil
	rest.File, rest.Name, rest.Description, rest.Input, rest.State, rest.Tools, rest.Body, rest.Includes = nil, ir.Ident{}, "", nil, nil, nil, ir.Body{}, nil
	rest.Secrets, rest.Models = nil, nil
	s.Rest(s.tree.Name.Span, "the workflow", &rest)
	s.seed(s.tree.Seeds)
	more := *s.tree
	more.Workflow, more.Nodes, more.Order, more.Upstream, more.Seeds, more.Budgets, more.Memory, more.EnvFile = nil, nil, nil, false, nil, nil, false, ""
	s.Rest(s.tree.Name.Span, "the workflow", &more)
}

// agentSpan is the place of an agent's declaration.
func (s *siren) agentSpan(m *ir.Model) source.Span { return s.Entry("agents", m.Name.Name) }

// node writes a node, with what looks at its text before and after it.
func (s *siren) node(n *sirenspec.Node, nodes *doc.Mapping) {
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Routes, rest.Attempts, rest.Skips, rest.System, rest.Prompt, rest.Args = ir.Ident{}, nil, source.Span{}, nil, 0, false, nil, nil, nil
	rest.OutputKey, rest.Writes, rest.Request, rest.Guards, rest.Retry, rest.Failure = "", nil, nil, nil, nil, nil
	s.Rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	id, at := s.IDs[n.ID.Name], convert.Join(n.ID.Span, n.Span)
	switch v := n.Verb.(type) {
	case *ir.LLM:
		s.ask(n, v, nodes, id, at)
	case *ir.Human:
		nodes.Add(id, s.person(n, v), at)
	case *sirenspec.Swarm:
		s.swarm(n, v, nodes, id, at)
	case *ir.ToolCall:
		m := &doc.Mapping{}
		b, python := v.Tool.Binding.(*ir.PythonTool)
		switch {
		case n.Request != nil:
			s.request(n, m)
		case python:
			s.pythonCall(n, b, m)
		default:
			s.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
		}
		s.failure(n, m)
		nodes.Add(id, m, at)
	default:
		s.Refuse(n.ID.Span, "", "the node %s is of a kind that is not converted", n.ID.Name)
	}
}

// ask writes an agent. Its guardrails become nodes around it, which can be taken out.
func (s *siren) ask(n *sirenspec.Node, v *ir.LLM, nodes *doc.Mapping, id string, at source.Span) {
	if w := n.Writes; len(w) == 2 && w[0] == "working" && w[1] == n.ID.Name {
		s.Refuse(n.ID.Span, "write it to `output."+w[1]+"`", "the text of %s is replaced by what the engine keeps of the node, and the next agent is told that", n.ID.Name)
	}
	told := s.told(n)
	for _, g := range s.guards(n, false) {
		nodes.Add(g.id, g.node(told), source.Span{})
		told = g.id
	}
	m := &doc.Mapping{}
	m.Add("llm", doc.Scalar(convert.NativeID(v.Model.Name)), convert.Below(convert.NodeAt(s.Root, n.Span), "agent"))
	if n.System != nil && len(n.System.Segments) > 0 {
		agent := s.Root.Get("agents").Get(convert.NodeAt(s.Root, n.Span).Get("agent").Text.Value)
		m.Add("system", doc.Spell(s.text(n.System, n)), convert.Below(agent, "system"))
	}
	m.Add("prompt", doc.Scalar(doc.Quoted("{{ "+told+" }}")), source.Span{})
	s.retries(n, m)
	s.spent(n, m)
	nodes.Add(id, m, at)
	said := id
	for _, g := range s.guards(n, true) {
		nodes.Add(g.id, g.node(said), source.Span{})
		said = g.id
	}
}

// retries writes when an agent is asked again: the native language knows kinds of errors, not statuses.
func (s *siren) retries(n *sirenspec.Node, m *doc.Mapping) {
	r := n.Retry
	if r == nil || r.Attempts < 2 {
		return
	}
	if r.Guards || slices.Contains(r.On, "guardrail_violation") {
		s.Refuse(r.Span, "put the agent and its check into a `loop` of the native language", "%s is asked again after an answer that a guardrail refuses, which a native `retry` does not do", n.ID.Name)
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
			s.Refuse(r.Span, "name statuses and `network_error`", "the trigger %q has no counterpart", on)
		}
	}
	l := &doc.List{Flow: true}
	for _, code := range schema.ErrorCodes {
		if slices.Contains(codes, code) {
			l.Add(doc.Scalar(code), source.Span{})
		}
	}
	if len(l.Items) == 0 {
		return
	}
	if broad && !s.Again {
		s.Note(r.Span, "", "a native retry knows kinds of errors and not statuses: %s is asked again after others of the same kind, too", n.ID.Name)
	}
	retry := doc.Flow(doc.Pair("attempts", doc.Number(r.Attempts)), doc.Pair("codes", l))
	if r.Backoff != "exponential" {
		retry.Add("backoff", doc.Scalar("constant"), source.Span{})
		if r.Backoff == "linear" && r.Attempts > 2 && !s.Again {
			s.Note(r.Span, "", "the engine waits longer before each attempt of %s; the native node waits the same time", n.ID.Name)
		}
	}
	base := time.Duration(r.Base * float64(time.Second))
	retry.Add("base", doc.Scalar(doc.Duration(max(base.Truncate(time.Millisecond), time.Millisecond))), source.Span{})
	if most := time.Duration(r.Most * float64(time.Second)); r.Backoff == "exponential" && most > 0 && most != 30*time.Second {
		retry.Add("cap", doc.Scalar(doc.Duration(max(most.Truncate(time.Millisecond), time.Millisecond))), source.Span{})
	}
	if r.Jitter {
		retry.Add("jitter", doc.Scalar("0.2"), source.Span{})
	}
	m.Add("retry", retry, r.Span)
}

// spent writes what becomes of an agent whose attempts are spent.
func (s *siren) spent(n *sirenspec.Node, m *doc.Mapping) {
	f := n.Failure
	if f == nil {
		return
	}
	switch f.Action {
	case "skip":
		m.Add("on_error", doc.Scalar("skip"), f.Span)
	case "use_default":
		for _, g := range s.guards(n, true) {
			if g.name != "injection" {
				s.Refuse(f.Span, "write the guardrail as a node of your own", "the text that stands for the answer of %s is not looked at by its guardrails, and the native one would be", n.ID.Name)
				break
			}
		}
		m.Add("on_error", doc.Flow(doc.Pair("default", doc.Scalar(doc.Quoted(doc.Data(f.Default))))), f.Span)
	case "fallback":
		to := s.nodes[f.Node.Name]
		if to == nil || s.tree.Upstream || s.at(to) < s.at(n) || to == n {
			s.Refuse(f.Span, "name a node that comes after it", "the fallback of %s is none that runs instead of it", n.ID.Name)
			return
		}
		m.Add("catch", doc.Flow(doc.Pair("any", doc.Scalar(s.begins(to)))), f.Span)
	}
}

// person writes a node that asks a person.
func (s *siren) person(n *sirenspec.Node, v *ir.Human) doc.Value {
	m := &doc.Mapping{}
	at := convert.NodeAt(s.Root, n.Span)
	m.Add("human", doc.Spell(s.text(n.Prompt, n)), convert.Below(at, "prompt"))
	if v.Timeout != nil {
		m.Add("timeout", doc.Scalar(doc.Duration(v.Timeout.Value)), convert.Below(at, "timeout"))
	}
	switch t := v.OnTimeout; {
	case t == nil:
	case t.Kind == ir.OnErrorSkip:
		m.Add("on_timeout", doc.Scalar("skip"), convert.Below(at, "on_timeout"))
	default:
		m.Add("on_timeout", doc.Flow(doc.Pair("default", convert.Constant(t.Default.(*ir.Scalar)))), convert.Below(at, "on_timeout"))
	}
	return m
}

// swarm writes the agents of a swrm side by side, and what is asked about what they say.
func (s *siren) swarm(n *sirenspec.Node, v *sirenspec.Swarm, nodes *doc.Mapping, id string, at source.Span) {
	if v.Keep {
		s.Refuse(n.ID.Span, "write a `map` with `on_item_error` in the native language", "agents of %s that fail say nothing, and the others go on: this is not converted", n.ID.Name)
	}
	if v.Parallel > 0 && v.Parallel < len(v.Agents()) && !s.Again {
		s.Note(n.ID.Span, "", "the agents of %s are asked all at the same time", n.ID.Name)
	}
	voice := func(a *sirenspec.Node, name string) {
		ask := a.Verb.(*ir.LLM)
		m := &doc.Mapping{}
		m.Add("llm", doc.Scalar(convert.NativeID(ask.Model.Name)), source.Span{})
		prompt := s.text(a.Prompt, a)
		if chain := s.guards(a, false); len(chain) > 0 {
			for i, g := range chain {
				text := chain[max(i-1, 0)].id
				if i == 0 {
					nodes.Add(g.id, g.filled(prompt), source.Span{})
					continue
				}
				nodes.Add(g.id, g.node(text), source.Span{})
			}
			prompt = "{{ " + chain[len(chain)-1].id + " }}"
		}
		m.Add("prompt", doc.Spell(prompt), source.Span{})
		nodes.Add(name, m, a.Span)
		said := name
		for _, g := range s.guards(a, true) {
			nodes.Add(g.id, g.node(said), source.Span{})
			said = g.id
		}
	}
	for _, a := range v.Agents() {
		voice(a, s.voiceID(n, a))
	}
	last := v.Last()
	if last == nil {
		all := &doc.List{Flow: true}
		for _, a := range v.Agents() {
			all.Add(doc.Scalar("$"+s.said(a)), source.Span{})
		}
		nodes.Add(id, &doc.Mapping{Entries: []*doc.Entry{doc.Pair("let", doc.Flow(doc.Pair("said", all))), doc.Pair("join", doc.Scalar("all"))}}, at)
		return
	}
	voice(last, id)
}

// voiceID is the name of the node of an agent of a swrm.
func (s *siren) voiceID(n, a *sirenspec.Node) string {
	return convert.NativeID(s.IDs[n.ID.Name] + "_" + strings.ReplaceAll(a.ID.Name, "-", "_"))
}

// output writes the bucket output.
func (s *siren) output() *doc.Mapping {
	out := &doc.Mapping{}
	var names []string
	by := map[string][]*sirenspec.Node{}
	for _, n := range s.order {
		w := n.Writes
		if len(w) == 0 || w[0] != "output" {
			continue
		}
		if len(w) != 2 {
			s.Refuse(n.ID.Span, "write it to `output."+w[1]+"`", "a place below a name is not converted")
			continue
		}
		if by[w[1]] == nil {
			names = append(names, w[1])
		}
		by[w[1]] = append(by[w[1]], n)
	}
	for _, e := range s.given {
		if by[e.Key] == nil {
			s.FieldName(e.Key, e.From)
			out.Entries = append(out.Entries, e)
		}
	}
	for _, name := range names {
		list := by[name]
		s.FieldName(name, list[0].ID.Span)
		var parts []string
		for i := len(list) - 1; i >= 0; i-- {
			parts = append(parts, s.said(list[i]))
			for _, other := range list[:i] {
				if !s.comesAfter(list[i], other) && !s.exclusive(list[i], other) {
					s.Refuse(list[i].ID.Span, "write to a name of its own", "two nodes write output.%s, in an order that no edges tell", name)
				}
			}
		}
		if len(parts) == 1 {
			out.Add(name, doc.Scalar("$"+parts[0]), source.Span{})
			continue
		}
		out.Add(name, doc.Scalar(doc.Quoted("$first("+strings.Join(parts, ", ")+")")), source.Span{})
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
			s.Refuse(bucket.Key.Span, "", "this is no part of the context that a native workflow has")
			continue
		}
		for _, e := range values.Entries {
			v := s.Native(e.Value)
			if bucket.Key.Name == "output" {
				s.seeds.Add(e.Key.Name, doc.Flow(doc.Pair("type", doc.Scalar("any")), doc.Pair("init", v)), convert.Join(e.Key.Span, e.Value.Source()))
				s.given = append(s.given, &doc.Entry{Key: e.Key.Name, Value: doc.Scalar("$state." + e.Key.Name), From: e.Key.Span})
				continue
			}
			s.FieldName(e.Key.Name, e.Key.Span)
			s.seeds.Add(e.Key.Name, doc.Flow(doc.Pair("type", s.seedType(e.Value)), doc.Pair("init", v)), convert.Join(e.Key.Span, e.Value.Source()))
		}
	}
}

// seedType is the type of a constant.
func (s *siren) seedType(v ir.Value) doc.Value {
	switch v := v.(type) {
	case *ir.Scalar:
		if t := map[string]string{"!!int": "int", "!!float": "float", "!!bool": "bool", "!!null": "any"}[v.Tag]; t != "" {
			return doc.Scalar(t)
		}
		return doc.Scalar("string")
	case *dialect.Mixed:
		return doc.Scalar("string")
	case *ir.Object:
		m := doc.Flow()
		for _, e := range v.Entries {
			if !doc.FieldForm.MatchString(e.Key.Name) {
				return doc.Scalar("any")
			}
			m.Add(e.Key.Name, s.seedType(e.Value), source.Span{})
		}
		if len(m.Entries) > 0 {
			return m
		}
	}
	return doc.Scalar("any")
}

// at is when the engine runs a node.
func (s *siren) at(n *sirenspec.Node) int { return slices.Index(s.order, n) }
