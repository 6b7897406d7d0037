package sirenspec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxSwarm is how many instances a factory with a swarm_size makes at most: the bound of the engine.
const maxSwarm = 100

var (
	factoryNodeShape = &dialect.Shape{What: "a factory node", Open: true, Keys: []dialect.Key{
		{Name: "type", Required: true, Doc: "factory", Form: dialect.OneWord("factory")},
		{Name: "agent", Doc: "the agent that every instance asks", Form: dialect.Scalar},
		{Name: "swrm", Doc: "the swrm that every instance asks", Form: dialect.Of(factorySwarmShape)},
		{Name: "for_each", Doc: "a list, with an instance for each item", Form: dialect.OneOf(dialect.Scalar, dialect.ListOf(dialect.Form{}))},
		{Name: "swarm_size", Doc: "how many instances there are, from 1 to 100", Form: dialect.Scalar},
		{Name: "inputs", Doc: "what an instance receives, by name", Form: dialect.Map},
		{Name: "concurrency", Doc: "instances at a time, 1 if it is not written", Form: dialect.Count},
		{Name: "timeout_per_instance", Doc: "seconds, 60 if it is not written", Form: dialect.Scalar},
		{Name: "on_failure", Doc: "abort or continue", Form: dialect.OneWord("abort", "continue")},
		{Name: "writes", Required: true, Doc: "where the list of results goes, as in output.chapters", Form: dialect.Scalar},
		{Name: "streaming", Doc: "whether its text comes in pieces", Form: dialect.Form{Kind: dialect.FormBool}},
	}}
	// The engine knows no on_failure there: that of the factory says what becomes of an instance.
	factorySwarmShape = &dialect.Shape{What: "the swrm of a factory", Open: true, Keys: slices.DeleteFunc(slices.Clone(swarmKeys), func(k dialect.Key) bool { return k.Name == "on_failure" })}
)

// roots are what placeholders stand for where a factory makes its instances.
type roots struct {
	loop    bool     // item, index and total
	counted bool     // there is no item
	bound   []string // names of inputs
}

// factoryNode reads a node that runs an agent or a swrm for every item of a list.
func (p *parser) factoryNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, factoryNodeShape)
	if !ok {
		return
	}
	p.writes(m, out)
	each := &Factory{Parallel: int(p.Count(m.Get("concurrency"), "`concurrency`", 1, 1000, 1)), Span: n.Span}
	if p.keeps(m) {
		each.Keep = true
	}
	if !p.items(m, each, out) {
		return
	}
	p.roots.loop, p.roots.counted = true, out.Counted
	defer func() { p.roots = roots{} }()
	p.bind(m.Get("inputs"), out)
	if m.Get("inputs") != nil && m.Get("swrm") != nil {
		p.Differs(m.Key("inputs"), "write it into the prompts", "the engine has no `inputs` in the prompts of a `swrm`, so that its agents fail")
	}
	if inner := p.instance(m, out); inner != nil {
		out.Limit = p.seconds(m.Get("timeout_per_instance"), "`timeout_per_instance`", 60*time.Second)
		if _, swarm := inner.Verb.(*Swarm); !swarm {
			inner.Timeout = out.Limit
		}
		each.Do = inner
		out.Verb = each
	}
}

// seconds reads a time in seconds, which may have a fraction.
func (p *parser) seconds(n *yamlnode.Node, what string, absent time.Duration) *ir.Duration {
	if n == nil {
		if absent == 0 {
			return nil
		}
		return &ir.Duration{Value: absent, Span: p.wf.Name.Span}
	}
	if s, ok := p.number(n); ok && s > 0 && s <= 366*86400 {
		return &ir.Duration{Value: time.Duration(s * float64(time.Second)), Span: n.Span}
	}
	p.Error(diag.BadLiteral, dialect.Head(n), "", "%s is a number of seconds, more than 0", what)
	return nil
}

// items reads what there are instances for.
func (p *parser) items(m dialect.Mapping, each *Factory, out *Node) bool {
	list, size := m.Get("for_each"), m.Get("swarm_size")
	switch {
	case list != nil && size != nil:
		p.Error(diag.Misplaced, m.Key("swarm_size"), "remove one of them", "a factory has `for_each` or `swarm_size`, and this one has both")
		return false
	case list == nil && size == nil:
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `for_each`: a list, with an instance for each item", "a factory needs `for_each` or `swarm_size`")
		return false
	case size != nil:
		return p.size(size, each, out)
	case list.Kind == yamlnode.Sequence:
		p.refused(dialect.Head(list), diag.WrongShape, "write it as text, as in '[\"one\", \"two\"]'", "`for_each` is text, and this is a list")
		each.Over, each.MaxItems = p.Value(list, nil), len(list.Items)
		return true
	}
	text := p.template(list, "`for_each`")
	if text == nil {
		return false
	}
	each.Over = text
	if r := whole(text); r != nil && r.Filter != "" && r.Root == "working" {
		p.Differs(r.Text.Span, "", "the engine takes the text of `%s` only for a value that is missing, and not for one that is empty or no JSON", r.Filter)
	}
	return true
}

// whole is the reference that a text consists of; nil when there is more, or none.
func whole(m *dialect.Mixed) *dialect.Reference {
	if len(m.Segments) != 1 {
		return nil
	}
	return m.Segments[0].Ref
}

// size reads swarm_size.
func (p *parser) size(n *yamlnode.Node, each *Factory, out *Node) bool {
	out.Counted = true
	if n.Kind == yamlnode.Scalar && strings.Contains(n.Text.Value, "{{") {
		text := p.template(n, "`swarm_size`")
		each.Over, each.MaxItems = text, maxSwarm
		return text != nil
	}
	count := p.Count(n, "`swarm_size`", 1, maxSwarm, 0)
	if count == 0 {
		return false
	}
	each.Over, each.MaxItems = &ir.Scalar{Text: source.Text{Value: strconv.FormatInt(count, 10), Span: n.Span}, Tag: "!!int"}, int(count)
	return true
}

// bind reads `inputs` of a factory or of a workflow node: values whose texts have placeholders.
func (p *parser) bind(n *yamlnode.Node, out *Node) {
	if n == nil {
		return
	}
	if !p.IsMapping(n, "`inputs`") {
		return
	}
	p.textOnly(n, "`inputs`")
	out.Args, _ = p.Value(n, func(n *yamlnode.Node) ir.Value {
		if x := p.mixed(n.Text); len(x.Segments) > 0 {
			return x
		}
		return p.Scalar(n)
	}).(*ir.Object)
	for _, e := range n.Entries {
		p.roots.bound = append(p.roots.bound, e.Key.Text.Value)
	}
}

// instance reads what every instance asks; nil after a mistake.
func (p *parser) instance(m dialect.Mapping, of *Node) *Node {
	agent, swarm := m.Get("agent"), m.Get("swrm")
	inner := &Node{Span: of.Span}
	switch {
	case agent != nil && swarm != nil:
		p.Error(diag.Misplaced, m.Key("swrm"), "remove one of them", "a factory has an `agent` or a `swrm`, and this one has both")
	case swarm != nil:
		if of.Counted {
			p.Error(diag.Misplaced, m.Key("swarm_size"), "write `for_each`", "a factory with a `swrm` takes `for_each`, and no `swarm_size`")
			return nil
		}
		s, ok := p.Mapping(swarm, factorySwarmShape)
		if !ok {
			return nil
		}
		inner.ID = ir.Ident{Name: "swrm", Span: m.Key("swrm")}
		if v := p.swarm(s, of.ID); v != nil {
			inner.Verb = v
			return inner
		}
	case agent != nil:
		id, ok := p.Text(agent, "`agent`")
		if !ok {
			return nil
		}
		a := p.agentNamed(id)
		if a == nil || a.model == nil {
			return nil // which was said
		}
		p.asks(a.model)
		inner.ID = p.voiceName(&Swarm{}, id)
		inner.Guards = a.guards
		inner.System = p.template(a.system, "`system`")
		inner.Verb = &ir.LLM{Model: ir.Ident{Name: a.model.Name.Name, Span: id.Span}, Span: of.Span}
		return inner
	default:
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `agent`: the agent that every instance asks", "a factory needs an `agent` or a `swrm`")
	}
	return nil
}

// agentNamed finds an agent; nil after a message.
func (p *parser) agentNamed(id ir.Ident) *agent {
	if a := p.agents[id.Name]; a != nil {
		a.asked = true
		return a
	}
	p.UnknownAgent(id, p.agentNames())
	return nil
}

// loopValue checks item, index and total; what follows them is ignored by the engine.
func (p *parser) loopValue(r *dialect.Reference) *dialect.Reference {
	switch {
	case !p.roots.loop && r.Filter != "":
		r.Path = nil
		return r // the filter's text stands for it
	case !p.roots.loop:
		p.Error(diag.UnknownName, r.Text.Span, "", "`%s` has a value only in the instances of a factory", r.Root)
		return nil
	case p.roots.counted && r.Root == "item" && r.Filter == "":
		p.Warn(diag.UnknownName, r.Text.Span, "write `index`", "instances that `swarm_size` counts have no item: the node fails when it runs")
	}
	if len(r.Path) > 0 {
		p.Warn(diag.IgnoredKey, r.Text.Span, "write `"+r.Root+"`, or make a list of the values that are asked for", "the engine ignores what follows `%s`, so that the whole of it is here", r.Root)
		r.Path = nil
	}
	return r
}

// inputValue checks a reference to the inputs: the message, what a factory binds, and what a workflow that runs this one gives.
func (p *parser) inputValue(r *dialect.Reference) *dialect.Reference {
	switch {
	case len(r.Path) == 0:
		p.Error(diag.UnknownName, r.Text.Span, "the input of a workflow is `inputs.message`", "`inputs` is not a value")
		return nil
	case r.Path[0] == "message" || slices.Contains(p.roots.bound, r.Path[0]):
		return r
	case p.roots.loop && len(p.roots.bound) > 0:
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: r.Text.Span, Message: "the factory binds no input `" + r.Path[0] + "`: its instances fail, unless the workflow itself is given one"}
		diag.Suggest(&d, r.Path[0], p.roots.bound)
		d.Fixes = nil // the reference is more than the name
		p.Report(d)
	}
	p.given(r)
	return r
}
