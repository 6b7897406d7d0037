package native

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

func (p *parser) state(n *yamlnode.Node) {
	p.each(n, "state", stateID, func(id ir.Ident, v *yamlnode.Node) {
		s := &ir.State{Name: id, Span: id.Span}
		p.wf.State = append(p.wf.State, s)
		if v.Kind != yamlnode.Mapping || v.Get("type") == nil {
			s.Type = p.typeOf(v)
			return
		}
		m, _ := p.mapping(v, shapeState)
		s.Type = p.typeOf(m.get("type"))
		if init := m.get("init"); init != nil {
			if c, ok := p.constant(init, "`init`"); ok {
				s.Init = c
			} else {
				s.Type = schema.InvalidType
			}
		}
		s.Merge = p.merge(m.get("merge"))
	})
}

func (p *parser) merge(n *yamlnode.Node) ir.Merge {
	if n == nil {
		return ir.Merge{}
	}
	t, ok := p.text(n, "`merge`")
	if !ok {
		return ir.Merge{Span: n.Span}
	}
	at := textSpan(t)
	if strings.HasPrefix(t.Value, "go:") {
		ref := p.goRef(cut(t, len("go:"), len(t.Value)), "Func")
		return ir.Merge{Kind: ir.MergeReducer, Reducer: &ir.GoFunc{Ref: ref}, Span: at}
	}
	if strings.Contains(t.Value, "/") {
		p.replace(diag.UnknownWord, at, "go:"+t.Value, "a Go reducer is written with `go:`")
		return ir.Merge{Span: at}
	}
	kinds := map[string]ir.MergeKind{"last": ir.MergeLast, "append": ir.MergeAppend, "set_once": ir.MergeSetOnce}
	return ir.Merge{Kind: kinds[p.word(n, "`merge`", mergeWords...)], Span: at}
}

var mergeWords = []string{"last", "append", "set_once"}

func (p *parser) output(n *yamlnode.Node) {
	p.each(n, "output", declaredID, func(id ir.Ident, v *yamlnode.Node) {
		o := &ir.Output{Name: id, Span: id.Span}
		p.wf.Output = append(p.wf.Output, o)
		if v.Kind != yamlnode.Mapping || v.Get("value") == nil && v.Get("type") == nil {
			o.Value = p.value(v)
			return
		}
		m, _ := p.mapping(v, shapeOutput)
		if t := m.get("type"); t != nil {
			o.Type = p.typeOf(t)
		}
		o.Description = p.prose(m.get("description"), "the description")
		o.Value = p.value(m.get("value"))
	})
}

// secrets reads a mapping from names to where they come from, or a list of names.
func (p *parser) secrets(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if n.Kind == yamlnode.Sequence {
		for _, id := range p.refs(n, "the name of a secret") {
			p.checkName(id, secretName)
			if p.declare("secret", id) {
				p.wf.Secrets = append(p.wf.Secrets, &ir.Secret{Name: id})
			}
		}
		return
	}
	p.each(n, "secrets", secretName, func(id ir.Ident, v *yamlnode.Node) {
		s := &ir.Secret{Name: id}
		p.wf.Secrets = append(p.wf.Secrets, s)
		if isNull(v) {
			return
		}
		m, ok := p.mapping(v, shapeSecret)
		if !ok {
			return
		}
		for _, scope := range p.refs(m.get("from"), "a scope") {
			if w := p.oneOf(scope, "the scope of a secret", scopeWords); w != "" {
				s.From = append(s.From, w)
			}
		}
	})
}

var scopeWords = []string{"user", "workspace", "org"}

// providers reads the names of providers that Go programs bring.
func (p *parser) providers(n *yamlnode.Node) {
	for _, id := range p.refs(n, "a provider") {
		p.checkName(id, declaredID)
		builtin := slices.ContainsFunc(ir.ModelProviders, func(x ir.ModelProvider) bool { return x.Name == id.Name })
		switch {
		case builtin:
			p.report(diag.BadModel, id.Span, "remove it, or choose another name", "provider %q is one of flowgen's own", id.Name)
		case p.declare("provider", id):
			p.wf.Providers = append(p.wf.Providers, id)
		}
	}
}

func (p *parser) models(n *yamlnode.Node) {
	p.each(n, "models", declaredID, func(id ir.Ident, v *yamlnode.Node) {
		if !p.declare("model", id) {
			return
		}
		x := &ir.Model{Name: id, Span: v.Span}
		p.wf.Models = append(p.wf.Models, x)
		p.model(x, v)
	})
}

// optional reads the text of a key that may be missing.
func (p *parser) optional(m mapping, key string) string {
	if n := m.get(key); n != nil {
		return p.str(n, "`"+key+"`")
	}
	return ""
}

func (p *parser) servers(n *yamlnode.Node) {
	p.each(n, "servers", declaredID, func(id ir.Ident, v *yamlnode.Node) {
		if !p.declare("server", id) {
			return
		}
		x := &ir.Server{Name: id, Span: v.Span}
		p.wf.Servers = append(p.wf.Servers, x)
		m, ok := p.mapping(v, shapeServer)
		if !ok {
			return
		}
		p.exactlyOne(m, id, "server", "command", "url")
		x.Command = p.strs(m.get("command"), "an argument")
		x.URL = p.optional(m, "url")
		x.Auth = p.auth(m.get("auth"))
		x.Env = p.envSecrets(m.get("env"))
	})
}

// exactlyOne reports none or several of the keys that say what a thing is.
func (p *parser) exactlyOne(m mapping, id ir.Ident, what string, keys ...string) {
	var found []string
	for _, k := range keys {
		if m.has(k) {
			found = append(found, k)
		}
	}
	switch {
	case len(found) == 0:
		p.report(diag.NotOneVerb, id.Span, "give it one of "+list(quoted(keys), "and"), "%s %q does not say what it runs", what, id.Name)
	case len(found) > 1:
		p.say(diag.Diagnostic{
			Code: diag.NotOneVerb, Span: m.keys[found[1]].Span,
			Message: "a " + what + " runs as one thing: `" + found[0] + "` or `" + found[1] + "`",
			Related: []diag.Related{{Span: m.keys[found[0]].Span, Message: "the first is here"}},
		})
	}
}

// envSecrets reads the environment of a server, whose variables hold secrets.
func (p *parser) envSecrets(n *yamlnode.Node) []ir.EnvVar {
	var out []ir.EnvVar
	p.each(n, "env", variableName, func(id ir.Ident, v *yamlnode.Node) {
		if isScalar(v) && secretForm.MatchString(v.Text.Value) { // as it was written once
			now := "{secret: " + v.Text.Value + "}"
			p.say(diag.Diagnostic{
				Code: diag.OldSpelling, Span: v.Span, Message: "a secret is written `" + now + "` now", Help: "replace with `" + now + "`; " + migrates,
				Fixes: []diag.Fix{{Title: "replace with `" + now + "`", Edits: []diag.Edit{{Span: v.Span, New: now}}}},
			})
			out = append(out, ir.EnvVar{Name: id, Secret: ir.Ident{Name: v.Text.Value, Span: textSpan(v.Text)}})
			return
		}
		if secret, ok := p.envSecret(v); ok {
			out = append(out, ir.EnvVar{Name: id, Secret: secret})
		}
	})
	return out
}

// envSecret reads {secret: NAME}.
func (p *parser) envSecret(n *yamlnode.Node) (secret ir.Ident, ok bool) {
	m, ok := p.mapping(n, shapeEnvSecret)
	if !ok || m.get("secret") == nil {
		return secret, false
	}
	secret = p.ref(m.get("secret"), "the name of a secret")
	return secret, secret.Name != ""
}

// auth reads {bearer: SECRET}, {basic: SECRET} or {header: NAME, secret: SECRET}.
func (p *parser) auth(n *yamlnode.Node) *ir.Auth {
	if n == nil {
		return nil
	}
	m, ok := p.mapping(n, shapeAuth)
	if !ok {
		return nil
	}
	for _, kind := range []string{"bearer", "basic"} {
		if v := m.get(kind); v != nil {
			if m.has("header") || m.has("secret") || kind == "bearer" && m.has("basic") {
				break
			}
			return &ir.Auth{Kind: kind, Secret: p.ref(v, "the name of a secret")}
		}
	}
	if h, s := m.get("header"), m.get("secret"); h != nil && s != nil && !m.has("bearer") && !m.has("basic") {
		header := p.ref(h, "the name of a header")
		if header.Name != "" {
			p.checkName(header, headerName)
		}
		return &ir.Auth{Kind: "header", Header: header.Name, Secret: p.ref(s, "the name of a secret")}
	}
	for _, k := range m.keys {
		if m.get(k.Text.Value) == nil {
			return nil // a key without a value was reported
		}
	}
	p.report(diag.NotOneVerb, headSpan(n), "write `{bearer: SECRET}`, `{basic: SECRET}` or `{header: X-Api-Key, secret: SECRET}`", "`auth` is one way to authenticate")
	return nil
}

// pendingAgents are the agents of one file; they are read when all types are known, which prompt files may name.
type pendingAgents struct {
	node *yamlnode.Node
	file *source.File
}

func (p *parser) pendingAgents() {
	main := p.file
	for _, a := range p.agentNodes {
		p.file = a.file
		p.agents(a.node)
	}
	p.file = main
}

func (p *parser) agents(n *yamlnode.Node) {
	p.each(n, "agents", declaredID, func(id ir.Ident, v *yamlnode.Node) {
		if !p.declare("agent", id) {
			return
		}
		a := &ir.AgentDecl{Name: id, Span: v.Span}
		p.wf.Agents = append(p.wf.Agents, a)
		if m, ok := p.mapping(v, shapeAgent); ok {
			a.Agent = p.agent(m)
			a.Agent.Agent, a.Agent.Span = id, v.Span
		}
	})
}

var (
	effectWords  = []string{"none", "reads", "writes", "external"}
	effectKinds  = ir.EffectWords
	allowedWords = append(effectWords[:4:4], "asks") // of a policy
	asksWords    = []string{"allow", "deny"}
	proxyWords   = []string{"environment"}
	sandboxWords = append([]string{"none"}, tierWords...) // of a tool

	tierWords = []string{"native", "wasm", "process", "container", "gvisor"}
)

// policy reads the policy of a workflow, or that of an agent, whose own bounds can be `unbounded`.
func (p *parser) policy(n *yamlnode.Node, shape *Shape) *ir.Policy {
	if n == nil {
		return nil
	}
	m, ok := p.mapping(n, shape)
	if !ok {
		return nil
	}
	limit := func(key string) *int64 {
		v := m.get(key)
		if v != nil && (key == "max_iterations" || key == "max_tool_calls") {
			return p.agentBound(v, key, shape == shapeAgentPolicy)
		}
		if v != nil {
			if c, ok := p.count(v, "`"+key+"`", 1); ok {
				return &c
			}
		}
		return nil
	}
	out := &ir.Policy{
		MaxIterations: limit("max_iterations"), MaxToolCalls: limit("max_tool_calls"), MaxTokens: limit("max_total_tokens"),
		Grants: p.capabilities(m.get("grants"), "a grant", true), Span: n.Span,
	}
	if v := m.get("max_cost_usd"); v != nil {
		out.MaxCostUSD = p.money(v, "`max_cost_usd`")
	}
	if v := m.get("asks"); v != nil {
		out.NoModels = p.word(v, "`asks`", asksWords...) == "deny"
	}
	out.MaxTime = p.duration(m.get("max_time"), "`max_time`")
	for _, e := range p.refs(m.get("effects"), "an effect") {
		switch w := p.oneOf(e, "an effect", allowedWords); w {
		case "":
		case "asks":
			out.Effects = append(out.Effects, ir.EffectsAsks)
		default:
			out.Effects = append(out.Effects, effectKinds[w])
		}
	}
	if v := m.get("net"); v != nil {
		if net, ok := p.mapping(v, shapeNet); ok {
			out.NetAllow = p.strs(net.get("allow"), "a host")
			if !net.astray && !net.has("allow") && !net.has("proxy") {
				p.missingKey(v, shapeNet, "allow")
			}
			if v := net.get("proxy"); v != nil {
				out.EnvironmentProxy = p.word(v, "`proxy`", proxyWords...) != ""
			}
		}
	}
	if v := m.get("sandbox"); v != nil {
		if s, ok := p.mapping(v, shapeSandbox); ok && s.get("min") != nil {
			out.SandboxMin, out.SandboxSpan = p.word(s.get("min"), "a sandbox tier", tierWords...), s.get("min").Place()
		}
	}
	return out
}

// agentBound reads a bound of an agent. What a workflow does not write it does not bound, so that there `unbounded` says
// nothing.
func (p *parser) agentBound(v *yamlnode.Node, key string, agent bool) *int64 {
	if !agent && isScalar(v) && v.Text.Value == "unbounded" {
		p.report(diag.BadLiteral, textSpan(v.Text), "leave it out; set the agent's bounds in its own `policy`", "`%s` of a workflow is an integer", key)
		return nil
	}
	read := p.bound
	if !agent {
		read = func(n *yamlnode.Node, what string) (int, bool) {
			c, ok := p.count(n, what, 1)
			return int(c), ok
		}
	}
	c, ok := read(v, "`"+key+"`")
	if !ok {
		return nil
	}
	out := int64(c)
	if c == 0 {
		out = ir.Unbounded
	}
	return &out
}

func (p *parser) defaults(n *yamlnode.Node) {
	if n == nil {
		return
	}
	m, ok := p.mapping(n, shapeDefaults)
	if !ok {
		return
	}
	d := &p.wf.Defaults
	d.Timeout = p.duration(m.get("timeout"), "`timeout`")
	d.OnError = p.onError(m.get("on_error"), "`on_error`")
	d.Retry = p.retry(m.get("retry"))
	d.Journal = p.journaling(m.get("journal"))
}
