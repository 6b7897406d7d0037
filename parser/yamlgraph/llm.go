package yamlgraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"github.com/flowgen-dev/flowgen/runtime/yamlgraph/providers"
)

// An asking is a node that asks a model, whose prompt is read when all fields of the state are known.
type asking struct {
	node  *Node
	kind  string
	m     dialect.Mapping
	file  ir.Ident
	vars  *yamlnode.Node
	item  string // what a map around calls its item
	agent bool
}

// The keys of nodes that ask models.
var askKeys = []dialect.Key{
	{Name: "prompt", Doc: "the prompt file, without `.yaml`"}, {Name: "variables", Doc: "what the prompt's variables stand for"},
	{Name: "provider", Doc: "who is asked"}, {Name: "model", Doc: "the model"}, {Name: "temperature", Doc: "of the answer"},
	{Name: "requires", Doc: "fields without which the node does nothing"}, {Name: "skip_if_exists", Doc: "whether the node does nothing when its field has a value"},
	{Name: "parse_json", Doc: "whether JSON is looked for in the answer"}, {Name: "output_model", Doc: "a class of Python"}, {Name: "stream", Doc: "whether the answer comes in pieces"},
	{Name: "max_tokens", Doc: "of the answer"}, {Name: "thinking_budget", Doc: "not read"}, {Name: "verification", Doc: "not read"},
	{Name: "max_retries", Doc: "how often a question is asked again"}, {Name: "fallback", Doc: "who is asked instead"}, {Name: "loop_limit", Doc: "how often the node runs"},
}

var (
	llmShape    = nodeShape("an llm node", askKeys...)
	routerShape = nodeShape("a router node", append(slices.Clone(askKeys), dialect.Key{Name: "routes", Doc: "labels with the nodes that they lead to"},
		dialect.Key{Name: "candidates", Doc: "who is asked until one answers"}, dialect.Key{Name: "default_route", Doc: "where other labels lead"}, dialect.Key{Name: "route_field", Doc: "the field of the answer with the label"})...)
	raceShape  = nodeShape("a race node", append(slices.Clone(askKeys), dialect.Key{Name: "candidates", Required: true, Doc: "who is asked until one answers: a list of `{provider: ..., model: ...}`"})...)
	agentShape = nodeShape("an agent node", append(slices.Clone(askKeys), dialect.Key{Name: "tools", Doc: "names of tools"},
		dialect.Key{Name: "max_iterations", Doc: "how often the model is asked at most"}, dialect.Key{Name: "tool_results_key", Doc: "the field of what tools gave"})...)
)

// llm reads a node that asks a model.
func (p *parser) llm(m dialect.Mapping, out *Node, kind string, inside bool) {
	prompt := m.Get("prompt")
	if prompt == nil && kind != "agent" {
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `prompt`: the name of a prompt file", "a node of the type %s needs the key `prompt`", kind)
		return
	}
	file := ir.Ident{Name: "agent", Span: dialect.Head(m.Node)}
	if prompt != nil {
		var ok bool
		if file, ok = p.Text(prompt, "`prompt`"); !ok {
			return
		}
	}
	t := out.Token
	t.Ask = &TokenAsk{Skips: kind != "race"}
	p.askFlags(m, out, kind)
	p.askFail(m, t.Ask, kind == "llm")
	if kind == "llm" && !inside && t.Ask.Fail == AskKeep && !p.opts.Upstream {
		t.Ask.Fail = AskRaise // newer engines
	}
	if !inside || m.Get("state_key") != nil {
		t.Key = p.askKey(m, out.ID, inside)
	}
	switch kind {
	case "router":
		p.router(m, t.Ask)
	case "agent":
		p.agent(m, out, t.Ask)
	}
	out.Verb = &ir.LLM{Span: m.Node.Span}
	if kind == "agent" {
		out.Verb = &ir.Agent{Span: m.Node.Span}
	}
	p.asked = append(p.asked, &asking{node: out, kind: kind, m: m, file: file, vars: m.Get("variables"), item: p.item, agent: kind == "agent"})
	if n := m.Get("on_error"); n == nil || !is(n, "fail") || len(t.Requires) > 0 {
		p.field(ir.Ident{Name: "errors", Span: p.wf.Name.Span}, always["errors"])
	}
}

// askKey is the field of an answer. Inside of a map it names a key of the result, and no field.
func (p *parser) askKey(m dialect.Mapping, id ir.Ident, inside bool) ir.Ident {
	if inside {
		k, _ := p.Text(m.Get("state_key"), "`state_key`")
		return k
	}
	return p.key(m, id)
}

func (p *parser) askFlags(m dialect.Mapping, out *Node, kind string) {
	t := out.Token
	a := t.Ask
	a.SkipsSet = m.Get("skip_if_exists") != nil
	a.Skips = p.Flag(m.Get("skip_if_exists"), "`skip_if_exists`", kind != "agent" && kind != "race")
	a.JSON = p.Flag(m.Get("parse_json"), "`parse_json`", false)
	p.Flag(m.Get("stream"), "`stream`", false)
	t.Requires = p.Idents(m.Get("requires"), "`requires`")
	for _, id := range t.Requires {
		if p.named(id.Name, id.Span); p.fields[id.Name] == nil {
			out.Reads = append(out.Reads, id) // a node below may add it
		}
	}
	for _, x := range [][2]string{{"thinking_budget", "remove it"}, {"verification", "write it as a condition of `guards`, in `post`"}} {
		if m.Get(x[0]) != nil {
			p.Warn(diag.IgnoredKey, m.Key(x[0]), x[1], "flowgen does not read `%s`", x[0])
		}
	}
	a.Limit = int(p.Count(m.Get("loop_limit"), "`loop_limit`", 1, 1_000_000, 0))
	if kind == "agent" {
		for _, key := range []string{"requires", "skip_if_exists", "parse_json", "stream", "output_model", "variables", "max_retries", "fallback", "loop_limit"} {
			if m.Get(key) != nil {
				p.Warn(diag.IgnoredKey, m.Key(key), "remove it", "the engine does not read `%s` of an agent node", key)
			}
		}
		a.Skips, a.JSON, a.Limit, t.Requires = false, false, 0, nil
	}
}

// askFail reads what becomes of a question that fails.
func (p *parser) askFail(m dialect.Mapping, a *TokenAsk, plain bool) {
	a.Retries = int(p.Count(m.Get("max_retries"), "`max_retries`", 0, 100, 3))
	n := m.Get("on_error")
	if n == nil && plain && !p.opts.Upstream {
		n = p.setting(m, "on_error") // newer engines
	}
	if n == nil {
		return
	}
	switch p.Word(n, "`on_error`", "skip", "fail", "retry", "fallback") {
	case "skip":
		a.Fail = AskSkip
	case "fail":
		a.Fail = AskRaise
	case "retry":
		a.Fail = AskRetry
	case "fallback":
		a.Fail = AskFallback
	}
	if f := m.Get("fallback"); f != nil && a.Fail != AskFallback {
		p.Warn(diag.IgnoredKey, m.Key("fallback"), "write `on_error: fallback`", "the engine asks nobody else: `on_error` is %s", n.Text.Value)
	}
}

// router reads where the labels of a router lead.
func (p *parser) router(m dialect.Mapping, a *TokenAsk) {
	n := m.Get("routes")
	if n == nil || n.Kind == yamlnode.Mapping && len(n.Entries) == 0 {
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `routes`: labels with the nodes that they lead to", "a router needs the key `routes`")
		return
	}
	if !p.IsMapping(n, "`routes`") {
		return
	}
	for _, e := range n.Entries {
		if to, ok := p.Text(e.Value, "a route"); ok {
			a.Routes = append(a.Routes, TokenRoute{Label: e.Key.Text.Value, To: to})
		}
	}
	if d, ok := p.Text(m.Get("default_route"), "`default_route`"); ok {
		a.Other = d
	}
	if f, ok := p.Text(m.Get("route_field"), "`route_field`"); ok {
		a.Route = f.Name
	}
}

// agent reads a model that calls tools.
func (p *parser) agent(m dialect.Mapping, out *Node, a *TokenAsk) {
	a.Agent = &TokenAgent{Iterations: int(p.Count(m.Get("max_iterations"), "`max_iterations`", 1, 10_000, 5))}
	for _, id := range p.Idents(m.Get("tools"), "`tools`") {
		switch kind, declared := p.kinds[id.Name]; {
		case !declared:
			p.absentTool(id)
		case p.tools[id.Name] != nil:
			a.Agent.Tools = append(a.Agent.Tools, id)
		case kind != "python" && kind != "":
			p.Error(diag.NotSupported, id.Span, "write a python tool", "%s tools of agents are not compiled", kind)
		}
	}
	if k, ok := p.Text(m.Get("tool_results_key"), "`tool_results_key`"); ok {
		p.field(k, schema.ListOf(schema.AnyType))
		a.Agent.Results = k.Name
	}
}

// prompts reads the prompts of all nodes that ask models, when the fields of the state are known.
func (p *parser) readPrompts() {
	if i := slices.IndexFunc(p.asked, func(x *asking) bool { return x.agent }); i >= 0 { // a second agent goes on with what the first has said
		p.field(ir.Ident{Name: "messages", Span: p.asked[i].node.ID.Span}, always["messages"])
	}
	for _, x := range p.asked {
		if x.kind == "message" {
			p.template(x)
			text(x.node)
			continue
		}
		q := p.prompt(x.file, x.agent)
		t := x.node.Token
		if q == nil {
			continue
		}
		if x.kind == "copilot" {
			if p.render(q) {
				p.fill(t.Ask, q, x.node.ID, x.vars, p.variables(x), x.item)
			}
			text(x.node)
			continue
		}
		p.models(x, q)
		stream := x.m.Get("stream")
		if !x.agent && x.kind != "interrupt" && !t.Ask.JSON && (stream == nil || !p.Flag(stream, "", false)) {
			x.node.Schema = q.schema
			if x.m.Get("output_model") != nil {
				x.node.Schema = p.outputModel(x.m)
			}
		}
		if x.agent {
			p.agentPrompt(x, q)
		} else if p.render(q) {
			p.fill(t.Ask, q, x.node.ID, x.vars, p.variables(x), x.item)
		}
		text(x.node)
		p.routable(x)
		switch v := x.node.Verb.(type) {
		case *ir.LLM:
			v.Model = t.Ask.Model
		case *ir.Agent:
			v.Model = t.Ask.Model
		}
	}
}

// variables reads what a node gives its prompt.
func (p *parser) variables(x *asking) []*ir.Entry {
	switch {
	case x.vars == nil:
		return nil
	case !p.IsMapping(x.vars, "`variables`"):
		return nil
	}
	p.item = x.item
	defer func() { p.item = "" }()
	var out []*ir.Entry
	for _, e := range x.vars.Entries {
		out = append(out, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.value(e.Value)})
	}
	return out
}

// agentPrompt is the prompt of an agent: Jinja, or words of the state, and the item of a map. The older engine puts such words into
// the user's text only, and knows no Jinja.
func (p *parser) agentPrompt(x *asking, q *prompt) {
	a := x.node.Token.Ask
	key := "\x00agent " + q.name + " " + x.item
	if p.prompts[key] == nil {
		ok := true
		read := func(n *yamlnode.Node, system bool) *PromptTemplate {
			switch {
			case n == nil:
				return nil
			case p.opts.Upstream && system:
				return &PromptTemplate{Text: n.Text, Body: []jinja.PromptNode{&jinja.PromptText{Lit: n.Text.Value}}}
			case !p.opts.Upstream && isJinja(n.Text.Value):
				return &PromptTemplate{Text: n.Text, Body: p.jinja(n.Text, &ok)}
			}
			return p.words(n.Text, x.item)
		}
		r := &Rendering{File: q.label, System: read(q.texts["system"], true), User: read(q.texts["user"], false)}
		if !ok {
			return
		}
		p.prompts[key] = &prompt{rendering: r, free: freeVariables(r)}
	}
	a.Prompt = p.prompts[key].rendering
	for _, v := range p.prompts[key].free {
		id := ir.Ident{Name: v.name, Span: v.at}
		ref := &dialect.Reference{Text: source.Text{Value: v.name, Span: v.at}, Root: "state", Path: []string{v.name}, Missing: dialect.MissingAbsent}
		switch {
		case v.name == x.item && x.item != "":
			ref.Root, ref.Path = "item", nil
		case v.name == "state":
			p.Error(diag.NotSupported, v.at, "name the field itself", "`state` as a whole is not compiled in the prompt of an agent")
			continue
		case p.fields[v.name] == nil:
			if p.named(v.name, v.at); p.fields[v.name] == nil { // Jinja: undefined
				a.Values = append(a.Values, &ir.Entry{Key: id})
				continue
			}
		}
		a.Values = append(a.Values, &ir.Entry{Key: id, Value: ref})
	}
}

// routable warns about a router whose answers have no label.
func (p *parser) routable(x *asking) {
	a := x.node.Token.Ask
	if x.kind != "router" || x.item != "" || x.m.Get("routes") == nil {
		return
	}
	want := []string{"tone", "intent"}
	if a.Route != "" {
		want = []string{a.Route}
	}
	s := x.node.Schema
	if s == "" && a.Route == "" || s != "" && !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(s, jsonText(w)+":") }) {
		p.Warn(diag.IgnoredKey, x.m.Key("routes"), "add a field `"+want[len(want)-1]+"` to the schema of the prompt",
			"the answer has no field `%s`, so that the router always goes the same way", strings.Join(want, "` or `"))
	}
}

// unsupported is a provider of the engine that the runtime does not speak to.
const unsupported = "replicate"

// provider reads the name of a provider.
func (p *parser) provider(n *yamlnode.Node) (ir.Ident, bool) {
	var words []string
	for _, x := range providers.All {
		words = append(words, x.Name)
	}
	if n != nil && n.Text.Value == unsupported {
		p.Error(diag.NotSupported, n.Place(), "use another one, such as `openai`", "the provider `%s` is not supported", unsupported)
		return ir.Ident{}, false
	}
	w := p.Word(n, "the provider", words...)
	return ir.Ident{Name: w, Span: n.Place()}, w != ""
}

// setting is what a node says, or else the defaults of the file.
func (p *parser) setting(m dialect.Mapping, key string) *yamlnode.Node {
	if n := m.Get(key); n != nil {
		return n
	}
	if p.defaults.Node != nil {
		return p.defaults.Get(key)
	}
	return nil
}

// models declares whom a node asks.
func (p *parser) models(x *asking, q *prompt) {
	a := x.node.Token.Ask
	p.maxTokens = 0
	if !p.opts.Upstream {
		p.maxTokens = p.Count(p.setting(x.m, "max_tokens"), "`max_tokens`", 1, 10_000_000, 0)
	}
	if p.opts.Upstream && (x.agent || x.kind == "interrupt") {
		for _, key := range []string{"provider", "temperature"} {
			if x.m.Get(key) != nil {
				p.Warn(diag.IgnoredKey, x.m.Key(key), "", "the engine does not read `%s` of %s node", key, map[bool]string{true: "an agent", false: "an interrupt"}[x.agent])
			}
		}
		who := ir.Ident{Span: x.node.ID.Span}
		if !x.agent && q.provider.Name != "" {
			who = q.provider
		}
		a.Model = p.modelOf(who, ir.Ident{}, nil)
		return
	}
	if x.m.Get("candidates") != nil && !x.agent {
		p.race(x, a)
		return
	}
	who := q.provider
	if n := p.setting(x.m, "provider"); n != nil {
		id, ok := p.provider(n)
		if !ok {
			return
		}
		who = id
	}
	if who.Span.IsZero() {
		who.Span = x.node.ID.Span
	}
	a.Model = p.modelOf(who, p.modelName(x.m, q), p.setting(x.m, "temperature"))
	if a.Fail != AskFallback {
		return
	}
	f := x.m.Get("fallback")
	var other *yamlnode.Node
	if f != nil && f.Kind == yamlnode.Mapping {
		other = f.Get("provider")
	}
	if other == nil {
		p.Warn(diag.IgnoredKey, x.m.Key("on_error"), "add `fallback: {provider: ...}`", "nobody is asked instead: the error goes into `errors`")
		a.Fail = AskKeep
		return
	}
	if id, ok := p.provider(other); ok {
		a.Fallback = p.modelOf(id, ir.Ident{}, p.setting(x.m, "temperature"))
	}
}

// modelName is the model that a node, the defaults or the prompt file name: 0.4 reads none of them.
func (p *parser) modelName(m dialect.Mapping, q *prompt) ir.Ident {
	n, key := m.Get("model"), m.Key("model")
	if n == nil && p.defaults.Node != nil && p.defaults.Get("model") != nil {
		n, key = p.defaults.Get("model"), p.defaults.Key("model")
	}
	switch own := q.m.Get("model"); {
	case own == nil || p.opts.Upstream: // the reader of the file warns
	case n == nil:
		n, key = own, q.m.Key("model")
	case !q.told["model"]:
		q.told["model"] = true
		p.Warn(diag.IgnoredKey, q.m.Key("model"), "remove it", "the `model` of the node or of `defaults` is asked instead")
	}
	if n == nil {
		return ir.Ident{}
	}
	id, ok := p.Text(n, "`model`")
	if !ok {
		return ir.Ident{}
	}
	if p.toldModels == nil {
		p.toldModels = map[source.Span]bool{}
	}
	if told := p.toldModels[key]; !told {
		p.toldModels[key] = true
		if p.opts.Upstream {
			p.Warn(diag.IgnoredKey, key, "set the variable of the provider, such as OPENAI_MODEL", "the engine does not read `model`: it asks the model of the provider")
		} else {
			p.Differs(key, "", "this model is asked, as in YAMLGraph 0.6; 0.4 asks the model of the provider")
		}
	}
	if p.opts.Upstream {
		return ir.Ident{}
	}
	return id
}

// modelOf declares a model; what is empty is what the environment says when the program runs.
func (p *parser) modelOf(who, name ir.Ident, temperature *yamlnode.Node) ir.Ident {
	heat := 0.7
	if temperature != nil {
		text, _, ok := yamlnode.Number11(temperature.Text.Value)
		v, err := strconv.ParseFloat(text, 64)
		if temperature.Kind != yamlnode.Scalar || !ok || err != nil || v < 0 || v > 2 {
			p.Error(diag.BadLiteral, dialect.Head(temperature), "", "`temperature` is a number from 0 to 2")
		} else {
			heat = v
		}
	}
	local := "default"
	if who.Name != "" {
		local = who.Name
	}
	if name.Name != "" {
		local += " " + name.Name
	}
	if heat != 0.7 {
		local += " at " + strconv.FormatFloat(heat, 'g', -1, 64)
	}
	if p.maxTokens > 0 {
		local += " to " + strconv.FormatInt(p.maxTokens, 10)
	}
	local = strings.Trim(notModel.ReplaceAllString(strings.ToLower(local), "_"), "_")
	for _, m := range p.wf.Models {
		if m.Name.Name == local {
			return m.Name
		}
	}
	c := Choice{Provider: who.Name, Model: name.Name}
	full, key, address := "$PROVIDER", providers.All[0].Key, "$PROVIDER" // unless the environment says something else
	model := "default"
	if x := providers.Find(who.Name); x != nil {
		full, key, address, model = x.Name, x.Key, x.Address, "$"+x.ModelEnv
	}
	if name.Name != "" {
		model = name.Name
	}
	params := ir.ModelParams{Temperature: &heat}
	if p.maxTokens > 0 {
		most := p.maxTokens
		params.MaxTokens = &most
	}
	m := &ir.Model{Name: ir.Ident{Name: local, Span: who.Span}, Model: ir.Ident{Name: full + ":" + model, Span: who.Span}, BaseURL: ir.Ident{Name: address, Span: who.Span},
		Key: ir.Ident{Name: key, Span: who.Span}, Params: params, Span: who.Span}
	m.New, m.Reach = as(newModel(c, m)), &ir.Reach{Env: reads(c, key)}
	p.tree.Choices[local] = c
	p.wf.Models = append(p.wf.Models, m)
	return m.Name
}
