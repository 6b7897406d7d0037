package sirenspec

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// What agents of a swarm are asked when the file does not say: the engine's own defaults, the model whatever the provider is.
const (
	swarmProvider = "openai"
	swarmModel    = "gpt-4o-mini"
)

var (
	swarmAgentShape = &dialect.Shape{What: "an agent of a swrm", Open: true, Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar},
		{Name: "provider", Doc: "openai, anthropic or ollama", Form: dialect.Scalar},
		{Name: "model", Doc: "the model, gpt-4o-mini if it is not written", Form: dialect.Scalar},
		{Name: "prompt", Required: true, Doc: "what it is asked", Form: dialect.Scalar},
		{Name: "guardrails", Doc: "checks of what it reads and writes", Form: guardForm},
	}}
	synthesisShape = &dialect.Shape{What: "a synthesis", Open: true, Keys: []dialect.Key{
		{Name: "provider", Doc: "openai, anthropic or ollama", Form: dialect.Scalar},
		{Name: "model", Doc: "the model, gpt-4o-mini if it is not written", Form: dialect.Scalar},
		{Name: "prompt", Required: true, Doc: "what is asked about the answers of the agents", Form: dialect.Scalar},
		{Name: "guardrails", Doc: "checks of what it reads and writes", Form: guardForm},
	}}
	// swarmKeys are those of a swrm node, and of the swrm of a factory.
	swarmKeys = []dialect.Key{
		{Name: "agents", Required: true, Doc: "who is asked, in parallel", Form: dialect.ListOf(dialect.Of(swarmAgentShape))},
		{Name: "synthesis", Doc: "what is asked about their answers", Form: dialect.Of(synthesisShape)},
		{Name: "concurrency", Doc: "agents at a time, all if it is not written", Form: dialect.Count},
		{Name: "on_failure", Doc: "abort or continue", Form: dialect.OneWord("abort", "continue")},
	}
	swarmNodeShape = &dialect.Shape{What: "a swrm node", Open: true, Keys: append([]dialect.Key{
		{Name: "type", Required: true, Doc: "swrm", Form: dialect.OneWord("swrm")},
		{Name: "streaming", Doc: "whether its text comes in pieces", Form: dialect.Form{Kind: dialect.FormBool}},
	}, swarmKeys...)}
)

// guardForm is the form of a list of guardrails.
var guardForm = dialect.ListOf(dialect.OneOf(dialect.Scalar, dialect.Of(guardShape)))

// swarmNode reads a node that asks agents in parallel.
func (p *parser) swarmNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, swarmNodeShape)
	if !ok {
		return
	}
	if v := p.swarm(m, out.ID); v != nil {
		out.Verb = v
		p.place("output", out.ID)
		out.Writes = []string{"output", out.ID.Name}
	}
}

// swarm reads the agents of a swrm and their synthesis; nil after a mistake that leaves none. of is the node that asks them.
func (p *parser) swarm(m dialect.Mapping, of ir.Ident) *Swarm {
	v := &Swarm{Span: m.Node.Span, Parallel: int(p.Count(m.Get("concurrency"), "`concurrency`", 1, 1000, 0))}
	v.Keep = m.Shape == swarmNodeShape && p.keeps(m)
	agents := m.Get("agents")
	if agents == nil {
		return nil // reported
	}
	if !p.IsList(agents, "`agents` of a swrm") {
		return nil
	}
	if len(agents.Items) == 0 {
		p.Error(diag.MissingKey, agents.Span, "add an agent", "a swrm asks at least one agent")
		return nil
	}
	first := map[string]source.Span{}
	for _, it := range agents.Items {
		a, ok := p.Mapping(it, swarmAgentShape)
		if !ok {
			continue
		}
		id, ok := p.Text(a.Get("id"), "`id`")
		if !ok {
			continue
		}
		if at, dup := first[id.Name]; dup {
			p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: id.Span, Message: "the swrm has an agent `" + id.Name + "` already", Help: "give it another name",
				Related: []diag.Related{{Span: at, Message: "first listed here"}}})
			continue
		}
		first[id.Name] = id.Span
		if node := p.voice(a, it, p.voiceName(v, id)); node != nil {
			node.OutputKey = id.Name
			v.Nodes = append(v.Nodes, node)
		}
	}
	if s := m.Get("synthesis"); s != nil {
		if a, ok := p.Mapping(s, synthesisShape); ok {
			if node := p.voice(a, s, p.voiceName(v, ir.Ident{Name: "synthesis", Span: m.Key("synthesis")})); node != nil {
				v.Nodes, v.Synthesis = append(v.Nodes, node), true
			}
		}
	}
	if len(v.Agents()) == 0 {
		return nil
	}
	return v
}

// keeps reads on_failure of a swrm or a factory.
func (p *parser) keeps(m dialect.Mapping) bool {
	n := m.Get("on_failure")
	return n != nil && p.Word(n, "the on_failure of "+m.Shape.What, "abort", "continue") == "continue"
}

// voiceName makes the name of a node of an agent's id, which may be any text.
func (p *parser) voiceName(v *Swarm, id ir.Ident) ir.Ident {
	name := strings.Trim(notName.ReplaceAllString(id.Name, "-"), "-")
	if !idForm.MatchString(name) {
		name = "agent" + strings.TrimRight("_"+name, "_")
	}
	own := name
	for i := 2; ; i++ {
		taken := false
		for _, n := range v.Nodes {
			taken = taken || strings.EqualFold(n.ID.Name, own)
		}
		if !taken {
			return ir.Ident{Name: own, Span: id.Span}
		}
		own = name + "_" + strconv.Itoa(i)
	}
}

// voice reads what is asked of a model inside of a swrm; nil when there is nothing to ask.
func (p *parser) voice(m dialect.Mapping, n *yamlnode.Node, id ir.Ident) *Node {
	out := &Node{ID: id, Span: n.Span, Guards: p.written}
	if g := m.Get("guardrails"); g != nil {
		out.Guards = p.guardrails(g, false)
	}
	out.Prompt = p.template(m.Get("prompt"), "`prompt`")
	if out.Prompt == nil {
		return nil
	}
	model := p.swarmAsks(m)
	if model == nil {
		return nil
	}
	out.Verb = &ir.LLM{Model: model.Name, Span: n.Span}
	return out
}

// swarmAsks is the model that a provider and a model name. Agents that ask the same one share it.
func (p *parser) swarmAsks(m dialect.Mapping) *ir.Model {
	full := ir.Ident{Name: swarmModel, Span: dialect.Head(m.Node)}
	if id, ok := p.modelName(m); ok {
		full = id
	}
	provider, ok := p.Text(m.Get("provider"), "`provider`")
	switch {
	case ok:
		full.Name = provider.Name + ":" + full.Name
		if m.Get("model") == nil {
			full.Span = provider.Span
		}
	case m.Get("provider") == nil:
		p.refused(dialect.Head(m.Node), diag.MissingKey, "add `provider: "+swarmProvider+"`", "%s needs the key `provider`", m.Shape.What)
		if !strings.Contains(full.Name, ":") {
			full.Name = swarmProvider + ":" + full.Name
		}
	default:
		return nil // which was said
	}
	if model := p.voices[full.Name]; model != nil {
		return model
	}
	_, short, _ := strings.Cut(full.Name, ":")
	name := strings.Trim(notName.ReplaceAllString(short, "_"), "_-")
	if !idForm.MatchString(name) {
		name = "model_" + name
	}
	for p.modelNamed(name) {
		name += "_"
	}
	model := &ir.Model{Name: ir.Ident{Name: name, Span: full.Span}, Model: full, Params: answers(full.Name), Span: full.Span}
	p.voices[full.Name] = model
	p.asks(model)
	return model
}

// modelNamed reports whether an agent or a model has a name.
func (p *parser) modelNamed(name string) bool {
	if p.agents[name] != nil {
		return true
	}
	for _, m := range p.wf.Models {
		if strings.EqualFold(m.Name.Name, name) {
			return true
		}
	}
	return false
}

// answers are the parameters of a model: the engine asks Anthropic's for 4096 tokens at most.
func answers(model string) (out ir.ModelParams) {
	if strings.HasPrefix(model, "anthropic:") {
		most := int64(4096)
		out.MaxTokens = &most
	}
	return out
}
