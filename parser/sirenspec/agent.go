package sirenspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	defaultsShape = &dialect.Shape{What: "`defaults`", Open: true, Keys: []dialect.Key{
		{Name: "retry", Doc: "when agents are asked again"},
		{Name: "on_failure", Doc: "what becomes of a failure"},
	}}
	retryShape = &dialect.Shape{What: "a retry policy", Open: true, Keys: []dialect.Key{
		{Name: "max_attempts", Doc: "how many times an agent is asked in total, 1 if it is not written"},
		{Name: "backoff", Doc: "constant, linear or exponential"},
		{Name: "base_delay", Doc: "seconds before the second attempt, 1 if it is not written"},
		{Name: "max_delay", Doc: "the most seconds between attempts"},
		{Name: "jitter", Doc: "whether waits differ by up to 20 %"},
		{Name: "on", Doc: "the failures after which an agent is asked again"},
		{Name: "retry_on_guardrail", Doc: "whether answers that guardrails refuse are asked for again"},
	}}
	failureShape = &dialect.Shape{What: "`on_failure`", Open: true, Keys: []dialect.Key{
		{Name: "action", Doc: "abort, fallback, skip or use_default"},
		{Name: "fallback_node", Doc: "the node that runs instead"},
		{Name: "default_output", Doc: "the text in place of the answer"},
	}}
)

// defaults are what holds for agents that say nothing else. There is no merge of fields.
func (p *parser) defaults(n *yamlnode.Node) {
	if m, ok := p.Mapping(n, defaultsShape); ok {
		p.retry = p.retryPolicy(m.Get("retry"))
		p.failure = p.failurePolicy(m.Get("on_failure"))
	}
}

// The most seconds between attempts: the pages say 60, the engine does 30.
const (
	documentedDelay = 60
	upstreamDelay   = 30
)

// retryPolicy reads when an agent is asked again; nil when nothing says so.
func (p *parser) retryPolicy(n *yamlnode.Node) *AgentRetry {
	m, ok := p.Mapping(n, retryShape)
	if !ok {
		return nil
	}
	r := &AgentRetry{Backoff: "constant", On: []string{"429", "network_error"}, Span: n.Span, Most: documentedDelay}
	if p.opts.Upstream {
		r.Most = upstreamDelay
	}
	r.Attempts = int(p.Count(m.Get("max_attempts"), "`max_attempts`", 1, 1000, 1))
	if b := m.Get("backoff"); b != nil {
		r.Backoff = p.Word(b, "`backoff`", "constant", "linear", "exponential")
	}
	r.Base = p.delay(m.Get("base_delay"), "`base_delay`", 1)
	r.Most = p.delay(m.Get("max_delay"), "`max_delay`", r.Most)
	r.Jitter = p.flag(m.Get("jitter"), "`jitter`", false)
	r.Guards = p.flag(m.Get("retry_on_guardrail"), "`retry_on_guardrail`", false)
	if on := m.Get("on"); on != nil {
		r.On = p.triggers(on)
	}
	if m.Get("max_delay") == nil && p.reachesDelay(r) {
		p.Differs(n.Span.Sub(0, 0), "write `max_delay`", "waits grow to %d seconds by the pages, and to %d in the engine", documentedDelay, upstreamDelay)
	}
	return r
}

// reachesDelay reports whether the waits of a policy depend on the most that they can be.
func (p *parser) reachesDelay(r *AgentRetry) bool {
	wait := r.Base
	for n := 1; n < r.Attempts && n < 20; n++ {
		if wait > upstreamDelay {
			return true
		}
		switch r.Backoff {
		case "linear":
			wait += r.Base
		case "exponential":
			wait *= 2
		}
	}
	return false
}

// triggers are the failures after which an agent is asked again.
func (p *parser) triggers(n *yamlnode.Node) []string {
	if !p.IsList(n, "`on`") {
		return nil
	}
	out := []string{}
	for _, it := range n.Items {
		id, ok := p.Reader.Text(it, "a trigger")
		if !ok {
			continue
		}
		if p.Schema.Tag(it) == "!!int" {
			p.refused(it.Span, diag.WrongShape, "write `\""+id.Name+"\"`", "the pages write statuses as numbers, and there they are text")
		} else if _, err := strconv.Atoi(strings.TrimSpace(id.Name)); err != nil && id.Name != "network_error" && id.Name != "guardrail_violation" {
			d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownWord, Span: id.Span, Message: "no failure is called `" + clip(id.Name) + "`: it has no effect",
				Help: "triggers are statuses such as \"429\", `network_error` and `guardrail_violation`"}
			p.Report(d)
		}
		out = append(out, strings.TrimSpace(id.Name))
	}
	return out
}

func clip(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "..."
	}
	return s
}

// delay reads a number that is not negative.
func (p *parser) delay(n *yamlnode.Node, what string, absent float64) float64 {
	if n == nil {
		return absent
	}
	if f, ok := p.number(n); ok && f >= 0 && f <= 1e6 {
		return f
	}
	p.Error(diag.BadLiteral, dialect.Head(n), "", "%s is a number of seconds from 0 to 1000000", what)
	return absent
}

func (p *parser) number(n *yamlnode.Node) (float64, bool) {
	text, ok := p.numeral(n)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// failurePolicy reads what becomes of an agent that fails; nil when nothing says so.
func (p *parser) failurePolicy(n *yamlnode.Node) *AgentFailure {
	if n != nil && n.Kind == yamlnode.Scalar {
		p.Error(diag.WrongShape, n.Span, "write `on_failure: {action: "+clip(n.Text.Value)+"}`", "`on_failure` of an agent is a mapping")
		return nil
	}
	m, ok := p.Mapping(n, failureShape)
	if !ok {
		return nil
	}
	f := &AgentFailure{Action: "abort", Span: n.Span}
	if a := m.Get("action"); a != nil {
		if f.Action = p.Word(a, "`action`", "abort", "fallback", "skip", "use_default"); f.Action == "" {
			return nil
		}
	}
	f.Node, _ = p.Text(m.Get("fallback_node"), "`fallback_node`")
	if id, ok := p.Text(m.Get("default_output"), "`default_output`"); ok {
		f.Default = id.Name
	}
	if f.Action == "fallback" && f.Node.Name == "" {
		p.Warn(diag.MissingKey, dialect.Head(n), "add `fallback_node`: the node that runs instead", "the fallback names no node: nothing runs instead")
	}
	for key, action := range map[string]string{"fallback_node": "fallback", "default_output": "use_default"} {
		if m.Get(key) != nil && f.Action != action {
			p.Warn(diag.IgnoredKey, m.Key(key), "write `action: "+action+"`", "`%s` has no effect with the action %s", key, f.Action)
		}
	}
	return f
}

// agentNode reads a node that asks a model.
func (p *parser) agentNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, agentNodeShape)
	if !ok {
		return
	}
	d := out
	d.Retry, d.Failure = p.retry, p.failure
	if r := m.Get("retry"); r != nil {
		d.Retry = p.retryPolicy(r)
	}
	if f := m.Get("on_failure"); f != nil {
		d.Failure = p.failurePolicy(f)
	}
	if r := d.Retry; r != nil {
		d.Attempts = r.Attempts
	}
	p.flag(m.Get("streaming"), "`streaming`", true)
	limit := m.Get("max_tokens_per_call")
	most := p.Count(limit, "`max_tokens_per_call`", 1, 1<<31, 0)
	id, ok := p.Text(m.Get("agent"), "`agent`")
	p.writes(m, out)
	if !ok {
		return
	}
	a := p.agentNamed(id)
	if a == nil || a.model == nil {
		return // which was said
	}
	model := a.model
	if limit != nil {
		own := *a.model
		own.Name = ir.Ident{Name: a.model.Name.Name + "_" + out.ID.Name, Span: out.ID.Span}
		own.Params.MaxTokens, own.Span = &most, out.Span
		model = &own
	}
	p.asks(model)
	d.Guards = a.guards
	d.System = p.template(a.system, "`system`")
	out.Verb = &ir.LLM{Model: ir.Ident{Name: model.Name.Name, Span: id.Span}, Span: n.Span}
}

// fallbacks looks at the nodes that run instead of others, when all nodes are known.
func (p *parser) fallbacks() {
	told := map[*AgentFailure]bool{}
	for _, n := range p.tree.Nodes {
		f := n.Failure
		if f == nil || f.Action != "fallback" || f.Node.Name == "" || p.nodes[f.Node.Name] != nil || p.IsBroken(f.Node.Name) || told[f] {
			continue
		}
		told[f] = true
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: f.Node.Span, Message: "unknown node `" + clip(f.Node.Name) + "`: nothing runs instead"}
		var names []string
		for _, other := range p.tree.Nodes {
			names = append(names, other.ID.Name)
		}
		if len(f.Node.Name) < 100 {
			diag.Suggest(&d, f.Node.Name, names)
		}
		p.Report(d)
	}
}

// asks adds a model to those of the workflow, with the secret that its provider takes.
func (p *parser) asks(m *ir.Model) {
	if !slices.Contains(p.wf.Models, m) {
		p.wf.Models = append(p.wf.Models, m)
	}
	pr := m.Provider()
	if pr != nil && pr.Name == "ollama" {
		m.BaseEnv = "OLLAMA_BASE_URL" // which the engine reads when it runs
	}
	if pr == nil || pr.Key == "" || slices.ContainsFunc(p.wf.Secrets, func(s *ir.Secret) bool { return s.Name.Name == pr.Key }) {
		return
	}
	p.wf.Secrets = append(p.wf.Secrets, &ir.Secret{Name: ir.Ident{Name: pr.Key, Span: m.Model.Span}})
}

func (p *parser) agentNames() []string {
	var names []string
	for name := range p.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
