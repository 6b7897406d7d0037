package convert

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A siren is a SirenSpec workflow while it is converted. An agent is told what the agent before it has said.
type siren struct {
	*converter
	nodes  map[string]*ir.Node
	order  []*ir.Node // in which the engine runs them
	tools  *mapping
	before []string // secrets, without those of models
	hosts  *list    // that the file names, and whose addresses are not public
}

// sirenspec converts a workflow. Its result is the bucket `output` of the context.
func (c *converter) sirenspec() {
	s := &siren{converter: c, nodes: map[string]*ir.Node{}, tools: &mapping{}, hosts: &list{flow: true}}
	s.sections()
	for _, n := range c.wf.Body.Nodes {
		s.nodes[n.ID.Name] = n
	}
	for _, ph := range c.p.Phases {
		for _, wave := range ph.Waves {
			for _, step := range wave {
				s.order = append(s.order, step.Node)
			}
		}
	}
	if c.refused {
		return
	}
	nodes := &mapping{}
	for _, n := range c.wf.Body.Nodes {
		s.node(n, nodes)
	}
	in := &mapping{}
	for _, f := range c.wf.Input {
		v := c.field(f)
		in.add(f.Name, v, c.entry("input", "message"))
	}
	models := &mapping{}
	for _, m := range c.wf.Models {
		models.add(nativeID(m.Name.Name), s.model(m), s.agentSpan(m))
	}
	c.doc.addUnlessEmpty("input", in, source.Span{})
	secrets := &list{flow: true}
	for _, x := range c.wf.Secrets {
		secrets.add(scalar(x.Name.Name), source.Span{})
	}
	for _, name := range s.before {
		secrets.add(scalar(name), source.Span{})
	}
	c.doc.addUnlessEmpty("secrets", secrets, source.Span{})
	if len(s.hosts.items) > 0 {
		c.doc.add("policy", flow(pair("net", flow(pair("allow", s.hosts)))), source.Span{})
	}
	c.doc.addUnlessEmpty("models", models, source.Span{})
	c.doc.addUnlessEmpty("tools", s.tools, source.Span{})
	c.doc.add("nodes", nodes, source.Span{})
	c.doc.addUnlessEmpty("edges", s.edges(), source.Span{})
	c.doc.addUnlessEmpty("output", s.output(), source.Span{})
}

// sections refuses what stands beside the nodes and has no counterpart.
func (s *siren) sections() {
	rest := *s.wf
	rest.Public = false
	rest.File, rest.Name, rest.Description, rest.Input, rest.State, rest.Tools, rest.Body, rest.Dynamic, rest.Includes = nil, ir.Ident{}, "", nil, nil, nil, ir.Body{}, nil, nil
	rest.Secrets, rest.Models = nil, nil
	s.rest(s.wf.Name.Span, "the workflow", &rest)
	d := *s.wf.Dynamic
	if d.Seeds != nil && len(d.Seeds.Entries) > 0 {
		s.refuse(d.Seeds.Span, "", "values that the context begins with are not converted")
	}
	d.Dialect, d.Upstream, d.Concurrency, d.Phases, d.Seeds = "", false, 0, nil, nil
	s.rest(s.wf.Name.Span, "the workflow", &d)
}

// agentSpan is the place of an agent's declaration.
func (s *siren) agentSpan(m *ir.Model) source.Span { return s.entry("agents", m.Name.Name) }

// model writes a model.
func (s *siren) model(m *ir.Model) value {
	rest := *m
	rest.Name, rest.Model, rest.Span, rest.Params.MaxTokens = ir.Ident{}, ir.Ident{}, source.Span{}, nil
	s.rest(m.Span, "the model", &rest)
	at := below(s.root.Get("agents").Get(m.Name.Name), "model")
	if m.Params.MaxTokens == nil {
		return scalar(quoted(m.Model.Name))
	}
	v := flow()
	v.add("model", scalar(quoted(m.Model.Name)), at)
	v.add("max_tokens", number(int(*m.Params.MaxTokens)), source.Span{})
	return v
}

// The functions with which guardrails are said in the native language.
const guardFunc = schema.RuntimePath + "/sirenspec.Uninjected"

// node writes a node, with what looks at its text before and after it.
func (s *siren) node(n *ir.Node, nodes *mapping) {
	rest := *n
	rest.ID, rest.Verb, rest.Span, rest.Result, rest.Dynamic = ir.Ident{}, nil, source.Span{}, nil, nil
	s.rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	d := *n.Dynamic
	ctx := *d.Context
	d.Routes, d.Attempts, d.OnSpent, d.System, d.Context, d.Args, d.Times = nil, 0, 0, nil, nil, nil, 0
	s.rest(n.ID.Span, "the node "+n.ID.Name, &d)
	ctx.OutputKey, ctx.Writes, ctx.Request, ctx.Guards = "", nil, nil, nil
	s.rest(n.ID.Span, "the node "+n.ID.Name, &ctx)
	id, at := s.ids[n.ID.Name], join(n.ID.Span, n.Span)
	switch v := n.Verb.(type) {
	case *ir.LLM:
		s.ask(n, v, nodes, id, at)
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

// guarded reports whether the injection guardrail looks at a node. Others are refused.
func (s *siren) guarded(n *ir.Node) bool {
	found := false
	for _, g := range n.Dynamic.Context.Guards {
		if g.Name != "injection" {
			s.refuse(n.ID.Span, "check the text in a `go` node of the native language", "the guardrail %s of %s is not converted", g.Name, n.ID.Name)
		}
		found = true
	}
	return found
}

func guardIn(id string) string  { return id + "_told" }
func guardOut(id string) string { return id + "_checked" }

// ask writes an agent. The injection guardrail becomes two nodes around it, which can be taken out.
func (s *siren) ask(n *ir.Node, v *ir.LLM, nodes *mapping, id string, at source.Span) {
	if w := n.Dynamic.Context.Writes; len(w) == 2 && w[0] == "working" && w[1] == n.ID.Name {
		s.refuse(n.ID.Span, "write it to `output."+w[1]+"`", "the text of %s is replaced by what the engine keeps of the node, and the next agent is told that", n.ID.Name)
	}
	told := s.told(n)
	m := &mapping{}
	if s.guarded(n) {
		nodes.add(guardIn(id), s.guard(told), source.Span{})
		told = guardIn(id)
	}
	m.add("llm", scalar(nativeID(v.Model.Name)), below(nodeAt(s.root, n.Span), "agent"))
	if n.Dynamic.System != nil && len(n.Dynamic.System.Segments) > 0 {
		agent := s.root.Get("agents").Get(nodeAt(s.root, n.Span).Get("agent").Text.Value)
		m.add("system", spell(s.text(n.Dynamic.System, n)), below(agent, "system"))
	}
	m.add("prompt", scalar(quoted("{{ "+told+" }}")), source.Span{})
	nodes.add(id, m, at)
	if s.guarded(n) {
		nodes.add(guardOut(id), s.guard(id), source.Span{})
	}
}

// guard is a node that ends the run when a text tries to give a model other instructions.
func (s *siren) guard(text string) value {
	return &mapping{entries: []*entry{pair("go", scalar(quoted(guardFunc))), pair("with", flow(pair("text", scalar(quoted("$"+text)))))}}
}

// said is the text of an agent as others read it.
func (s *siren) said(n *ir.Node) string {
	if s.guarded(n) {
		return guardOut(s.ids[n.ID.Name])
	}
	return s.ids[n.ID.Name]
}

func isAgent(n *ir.Node) bool {
	_, is := n.Verb.(*ir.LLM)
	return is
}

// told is what an agent is told: the text of the agent that has written last, or else the message.
func (s *siren) told(n *ir.Node) string {
	var last []*ir.Node
	for _, m := range s.order {
		if m == n {
			break
		}
		if !isAgent(m) || len(m.Dynamic.Context.Writes) == 0 || s.exclusive(m, n) {
			continue
		}
		if s.dominates(m, n) {
			last = nil
		}
		last = append(last, m)
	}
	switch {
	case len(last) == 0:
		return "input.message"
	case len(last) == 1 && s.dominates(last[0], n):
		return s.said(last[0])
	}
	var parts []string
	covered := len(n.Dynamic.Routes) <= len(last) // those that lead here exclude each other, and one of them has run
	if covered {
		last = last[len(last)-len(n.Dynamic.Routes):]
	}
	for i, m := range last {
		parts = append(parts, s.said(m))
		covered = covered && slices.ContainsFunc(n.Dynamic.Routes, func(r *ir.Route) bool { return s.nodes[r.From.Name] == m && r.When == nil })
		for _, other := range last[i+1:] {
			covered = covered && s.exclusive(m, other)
		}
	}
	if !covered {
		s.refuse(n.ID.Span, "", "which agent speaks last before %s depends on the run", n.ID.Name)
	}
	return "first(" + strings.Join(parts, ", ") + ")"
}

// dominates reports whether a node has run whenever another runs.
func (s *siren) dominates(first, then *ir.Node) bool {
	if len(then.Dynamic.Routes) == 0 || first.Dynamic.OnSpent == ir.SpentSkip {
		return false
	}
	for _, r := range then.Dynamic.Routes {
		from := s.nodes[r.From.Name]
		if from != first && !s.dominates(first, from) {
			return false
		}
	}
	return true
}

// cases are the equalities that hold whenever a node runs.
func (s *siren) cases(n *ir.Node) map[string]string {
	out := map[string]string{}
	for len(n.Dynamic.Routes) == 1 {
		r := n.Dynamic.Routes[0]
		if w := r.When; w != nil && w.Op == "==" && w.Kids[0].Op == "ref" && w.Kids[1].Op == "const" {
			out[w.Kids[0].Ref.Root+"."+strings.Join(w.Kids[0].Ref.Path, ".")] = w.Kids[1].Lit.Text.Value
		}
		n = s.nodes[r.From.Name]
	}
	return out
}

// exclusive reports whether two nodes never run in one run: the same place has another value for each.
func (s *siren) exclusive(a, b *ir.Node) bool {
	other := s.cases(b)
	for place, v := range s.cases(a) {
		if w, is := other[place]; is && w != v {
			return true
		}
	}
	return false
}

// place is the node whose text stands at a path of the context, nil when that is not one agent.
func (s *siren) place(root string, path []string) *ir.Node {
	var found *ir.Node
	for _, n := range s.wf.Body.Nodes {
		w := n.Dynamic.Context.Writes
		own := root == "working" && len(path) == 2 && path[0] == n.ID.Name && path[1] == "output" && isAgent(n)
		if !own && !(len(w) > 1 && w[0] == root && slices.Equal(w[1:], path)) {
			continue
		}
		if found != nil {
			return nil
		}
		found = n
	}
	return found
}

// text is text with references to what agents have said.
func (s *siren) text(m *ir.Mixed, at *ir.Node) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		if seg.Ref == nil {
			b.WriteString(braces(seg.Lit))
			continue
		}
		b.WriteString("{{ " + s.reference(seg.Ref, at) + " }}")
	}
	return b.String()
}

func (s *siren) reference(r *ir.Reference, at *ir.Node) string {
	n := s.place(r.Root, r.Path)
	if r.Root == "inputs" && len(r.Path) == 1 && r.Path[0] == "message" && r.Filter == "" {
		return "input.message"
	}
	if n == nil || !isAgent(n) || r.Filter != "" || at != nil && n != at && !s.dominates(n, at) {
		s.refuse(r.Text.Span, "", "this is not the text of one agent that has certainly run: only such have the same text in the native language")
		return "input.message"
	}
	return s.said(n)
}

// request writes a node that asks an address, and its tool.
func (s *siren) request(n *ir.Node, m *mapping) {
	q := n.Dynamic.Context.Request
	id, tree := s.ids[n.ID.Name], nodeAt(s.root, n.Span)
	config := tree.Get("config")
	http := &mapping{flow: true}
	http.add("method", scalar(q.Method), below(config, "method"))
	address := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(s.literal(q.URL))
	http.add("url", scalar(escaped(address)), below(config, "url"))
	s.reach(address)
	headers, auth := flow(), (*mapping)(nil)
	typed := false
	for _, h := range q.Headers {
		typed = typed || h.Key.Name == "Content-Type"
		switch segs := h.Value.Segments; {
		case len(segs) == 2 && segs[0].Lit == "Bearer " && segs[1].Ref != nil && segs[1].Ref.Root == "env" && segs[1].Ref.Filter == "" && strings.EqualFold(h.Key.Name, "Authorization") && auth == nil:
			auth = flow(pair("bearer", scalar(s.secret(segs[1].Ref))))
		case len(segs) == 1 && segs[0].Ref != nil && segs[0].Ref.Root == "env" && segs[0].Ref.Filter == "" && auth == nil:
			auth = flow(pair("header", scalar(quoted(h.Key.Name))), pair("secret", scalar(s.secret(segs[0].Ref))))
		default:
			headers.add(key(h.Key.Name), scalar(quoted(braces(s.literal(h.Value)))), join(h.Key.Span, h.Value.Text.Span))
		}
	}
	if q.Body != nil {
		if q.Method == "POST" && !typed {
			headers.add("Content-Type", scalar("application/json"), source.Span{})
		}
	}
	if len(headers.entries) > 0 {
		http.add("headers", headers, below(config, "headers"))
	}
	if q.Body != nil {
		http.add("body", spell(data(s.literal(q.Body))), below(config, "body"))
	}
	def := &mapping{}
	def.add("http", http, source.Span{})
	if auth != nil {
		def.add("auth", auth, source.Span{})
	}
	effects := "external"
	if q.Method == "GET" {
		effects = "reads"
	}
	def.add("effects", scalar(effects), source.Span{})
	def.add("max_output", scalar("16MiB"), source.Span{})
	s.tools.add(id, def, source.Span{})
	m.add("tool", scalar(id), below(tree, "tool"))
	m.add("timeout", number(int(q.Seconds))+"s", below(config, "timeout"))
}

// reach allows a host that the file names and that is not public, as the engine does.
func (s *siren) reach(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ".") && !strings.HasSuffix(host, ".local") && !strings.HasSuffix(host, ".internal") || err == nil && !ip.IsLoopback() && !ip.IsPrivate() {
		return
	}
	if !slices.ContainsFunc(s.hosts.items, func(e *entry) bool { return e.value == scalar(quoted(host)) }) {
		s.hosts.add(scalar(quoted(host)), source.Span{})
	}
}

// literal is text without references.
func (s *siren) literal(m *ir.Mixed) string {
	var b strings.Builder
	for _, seg := range m.Segments {
		if seg.Ref != nil {
			s.refuse(seg.Ref.Text.Span, "", "a reference at this place of a request is not converted")
		}
		b.WriteString(seg.Lit)
	}
	return b.String()
}

// secret is a variable of the environment, which is a secret in the native language.
func (s *siren) secret(r *ir.Reference) string {
	name := strings.Join(r.Path, ".")
	if !fieldForm.MatchString(name) {
		s.refuse(r.Text.Span, "", "this variable cannot be the name of a secret")
	}
	if !slices.Contains(s.before, name) && !slices.ContainsFunc(s.wf.Secrets, func(x *ir.Secret) bool { return x.Name.Name == name }) {
		s.before = append(s.before, name)
	}
	return name
}

// pythonCall writes a node that calls a function with constants.
func (s *siren) pythonCall(n *ir.Node, b *ir.PythonTool, m *mapping) {
	t := n.Verb.(*ir.ToolCall).Tool
	id, tree := s.ids[n.ID.Name], nodeAt(s.root, n.Span)
	if t.Def == nil || t.Def.Root != "" || slices.ContainsFunc(t.Def.Files, func(f ir.SourceFile) bool { return pyWorld.MatchString(f.Text) }) {
		s.refuse(n.ID.Span, "", "the module of %s is not here, or looks at the environment, which a tool of the native language does not see", n.ID.Name)
	}
	def := flow(pair("python", scalar(quoted(b.Ref.Name))), pair("effects", scalar("external")))
	s.tools.add(id, def, source.Span{})
	m.add("tool", scalar(id), below(tree, "tool"))
	with := flow()
	if n.Dynamic.Args != nil {
		for _, e := range n.Dynamic.Args.Entries {
			if mixed, ok := e.Value.(*ir.Mixed); ok {
				text := s.text(mixed, n)
				with.add(key(e.Key.Name), spell(text), join(e.Key.Span, mixed.Text.Span))
				continue
			}
			with.add(key(e.Key.Name), s.native(e.Value), join(e.Key.Span, e.Value.Source()))
		}
	}
	s.withUnlessEmpty(m, with, below(tree, "config"))
}

// failure writes what becomes of a tool that fails: nothing reads its result, so that a failure that is skipped leaves
// nothing behind.
func (s *siren) failure(n *ir.Node, m *mapping) {
	tree := nodeAt(s.root, n.Span)
	if n.Dynamic.Attempts > 1 {
		codes := &list{flow: true}
		for _, c := range schema.ErrorCodes {
			codes.add(scalar(c), source.Span{})
		}
		m.add("retry", flow(pair("attempts", number(n.Dynamic.Attempts)), pair("codes", codes), pair("backoff", scalar("constant")), pair("base", scalar("1ms"))), below(tree, "retry"))
	}
	if n.Dynamic.OnSpent == ir.SpentSkip {
		m.add("on_error", scalar("skip"), below(tree, "on_failure"))
	}
}

// edges writes the edges, one for one, and those between agents and what looks at their text.
func (s *siren) edges() *list {
	l := &list{}
	var routes []*ir.Route
	on := map[string]bool{}
	for _, n := range s.wf.Body.Nodes {
		routes = append(routes, n.Dynamic.Routes...)
		for _, r := range n.Dynamic.Routes {
			on[r.From.Name], on[r.To.Name] = true, true
		}
	}
	slices.SortStableFunc(routes, func(a, b *ir.Route) int { return a.Span.Lo - b.Span.Lo })
	for _, n := range s.wf.Body.Nodes {
		if isAgent(n) && s.guarded(n) {
			id := s.ids[n.ID.Name]
			l.add(scalar(guardIn(id)+" -> "+id+" -> "+guardOut(id)), source.Span{})
		} else if !on[n.ID.Name] && len(s.wf.Body.Nodes) > 1 {
			l.add(scalar(s.ids[n.ID.Name]+" -> end"), source.Span{})
		}
	}
	for _, r := range routes {
		from, to := s.ids[r.From.Name], s.ids[r.To.Name]
		if n := s.nodes[r.From.Name]; isAgent(n) {
			from = s.said(n)
		}
		if n := s.nodes[r.To.Name]; isAgent(n) && s.guarded(n) {
			to = guardIn(to)
		}
		if r.When == nil {
			l.add(scalar(from+" -> "+to), r.Span)
			continue
		}
		l.add(flow(pair("from", scalar(from)), pair("to", scalar(to)), pair("when", scalar(condition(s.test(r.When, s.nodes[r.From.Name]))))), r.Span)
	}
	return l
}

// test is a condition on what agents have said.
func (s *siren) test(p *ir.Predicate, at *ir.Node) string {
	switch p.Op {
	case "&&", "||":
		side := func(kid *ir.Predicate) string {
			if kid.Op == "||" && p.Op == "&&" {
				return "(" + s.test(kid, at) + ")"
			}
			return s.test(kid, at)
		}
		return side(p.Kids[0]) + " " + p.Op + " " + side(p.Kids[1])
	case "==", "!=":
		if p.Kids[0].Op == "ref" && p.Kids[1].Op == "const" && p.Kids[1].Lit.Tag == "!!str" {
			return s.reference(p.Kids[0].Ref, at) + " " + p.Op + " " + escaped(p.Kids[1].Lit.Text.Value)
		}
	}
	s.refuse(p.Span, "compare the text of an agent with a constant", "this condition is not converted")
	return "true"
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
		if len(w) != 2 || !isAgent(n) {
			s.refuse(n.ID.Span, "write it to `output."+w[1]+"`", "a place below a name is not converted")
			continue
		}
		if by[w[1]] == nil {
			names = append(names, w[1])
		}
		by[w[1]] = append(by[w[1]], n)
	}
	for _, name := range names {
		list := by[name]
		s.fieldName(name, list[0].ID.Span)
		if len(list) > 1 {
			s.refuse(list[1].ID.Span, "write to a name of its own", "two nodes write output.%s", name)
		}
		out.add(name, scalar("$"+s.said(list[0])), source.Span{})
	}
	return out
}
