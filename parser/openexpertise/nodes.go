package openexpertise

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// node reads one entry of `nodes`.
func (p *parser) node(n *yamlnode.Node) {
	if !p.IsMapping(n, "a node") {
		if n.Kind == yamlnode.Scalar {
			p.Broken(n.Text.Value)
		}
		return
	}
	if id := n.Get("id"); id != nil && id.Kind == yamlnode.Scalar {
		p.Broken(id.Text.Value) // until it is read
	}
	kind := "tool"
	if k := n.Get("kind"); k != nil {
		if kind = p.Word(k, "the kind of a node", "tool", "agent", "skill", "dataset", "experience", "cli-agent"); kind == "" {
			return
		}
	}
	m, ok := p.Mapping(n, kinds[kind])
	if !ok {
		return
	}
	id, ok := p.Text(m.Get("id"), "the id of a node")
	if !ok {
		return
	}
	if !idForm.MatchString(id.Name) {
		p.Error(diag.BadName, id.Span, "", "a node id has letters, digits and _, and does not start with a digit")
		return
	}
	if first := p.nodes[id.Name]; first != nil {
		p.Duplicate("node", id, first.ID.Span)
		return
	}
	out := &Node{ID: id, Span: n.Span}
	p.nodes[id.Name] = out
	p.common(m, out)
	switch kind {
	case "tool":
		p.tool(m, out)
	case "dataset":
		p.dataset(m, out)
	case "agent":
		p.agent(m, out)
	case "skill":
		p.skill(m, out)
	case "cli-agent":
		p.cliAgent(m, out)
	case "experience":
		p.child(m, out)
	}
	if out.Verb != nil {
		p.tree.Nodes = append(p.tree.Nodes, out)
		p.fits(m, out)
	}
}

// common reads what all nodes have.
func (p *parser) common(m dialect.Mapping, out *Node) {
	p.Text(m.Get("phase"), "`phase`")
	out.Reads, out.ReadsSome = p.Idents(m.Get("reads"), "`reads`"), m.Get("reads") != nil
	out.Writes = p.Idents(m.Get("writes"), "`writes`")
	p.written[out] = m.Get("on_error") != nil
	p.onError(m, out)
	if f, ok := p.Mapping(m.Get("for_each"), eachShape); ok {
		out.Each = &Each{Concurrency: int(p.Count(f.Get("concurrency"), "`concurrency`", 1, 1000, 1)), Span: f.Node.Span}
		out.Each.Over = p.path(f.Get("source"), "the source of `for_each`")
		out.Times = -1
		if out.Each.Over == nil {
			out.Each = nil
		}
	}
	if a := m.Get("args"); a != nil {
		if !p.IsMapping(a, "`args`") {
			return
		}
		out.Args, _ = p.Value(a, p.argument).(*ir.Object)
	}
}

// onError reads the policy of a node, a word or a mapping.
func (p *parser) onError(m dialect.Mapping, out *Node) {
	out.Skips = p.opts.Upstream
	n := m.Get("on_error")
	if n == nil {
		return
	}
	word := n
	var o dialect.Mapping
	if n.Kind == yamlnode.Mapping {
		var ok bool
		if o, ok = p.Mapping(n, policyShape); !ok {
			return
		}
		word = o.Get("policy")
	}
	switch p.Word(word, "the policy of `on_error`", "skip", "fail_run", "retry") {
	case "skip":
		out.Skips = true
	case "fail_run":
		out.Skips = false
	case "retry":
		out.Skips, out.Attempts, out.Base = true, defaultAttempts, 100*time.Millisecond
		if o.Node != nil {
			out.Attempts = int(p.Count(o.Get("attempts"), "`attempts`", 1, 20, defaultAttempts))
			out.Base = time.Duration(p.Count(o.Get("base_ms"), "`base_ms`", 0, 3_600_000, 100)) * time.Millisecond
			out.Double = o.Get("backoff") != nil && p.Word(o.Get("backoff"), "`backoff`", "linear", "exponential") == "exponential"
		}
	}
}

// defaultAttempts is what a retry without `attempts` means: neither page nor engine says.
const defaultAttempts = 3

var pathForm = lazyregexp.New(`^\$\.[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// reference is the place in the state that a whole text names, nil when it is other text.
func reference(t source.Text) *dialect.Reference {
	if !pathForm.MatchString(t.Value) {
		return nil
	}
	return &dialect.Reference{Text: t, Root: "state", Path: strings.Split(t.Value, ".")[1:]}
}

// argument is a string of args: a path into the state, or text.
func (p *parser) argument(n *yamlnode.Node) ir.Value {
	if r := reference(n.Text); r != nil {
		return r
	}
	p.literal(n)
	return p.Scalar(n)
}

var (
	inside   = lazyregexp.New(`\$\.([A-Za-z_][A-Za-z0-9_]*)`)
	loopName = lazyregexp.New(`^(\$item|\$index|\$iter|\$loop|\$pipeline)([.\[]|$)`)
)

// literal warns about text of args that looks like a reference and is passed as it is.
func (p *parser) literal(n *yamlnode.Node) {
	text := n.Text.Value
	if strings.HasPrefix(text, "$.") {
		p.Warn(diag.IgnoredKey, n.Span, "a path is the entire text: names separated by dots", "this is not a state path: it is passed unchanged")
		return
	}
	if m := loopName.FindStringSubmatch(text); m != nil {
		p.Warn(diag.IgnoredKey, n.Span, "remove it: modules and prompts have `"+m[1]+"` without it", "this is not a reference: it is passed unchanged")
		return
	}
	for _, m := range inside.FindAllStringSubmatchIndex(text, -1) {
		if p.field(text[m[2]:m[3]]) != nil {
			p.Warn(diag.IgnoredKey, n.Text.At(m[0], m[1]), "make the path the entire text of an argument", "a path inside text is not a reference: it is passed unchanged")
			return
		}
	}
}

// path reads a path into the state where nothing else makes sense.
func (p *parser) path(n *yamlnode.Node, what string) *dialect.Reference {
	id, ok := p.Text(n, what)
	if !ok {
		return nil
	}
	r := reference(n.Text)
	if r == nil {
		p.Error(diag.BadLiteral, id.Span, "write it as `$.field`", "%s is a path into the state", what)
	}
	return r
}

// tool reads a tool node. Nodes with the same module share one tool.
func (p *parser) tool(m dialect.Mapping, out *Node) {
	impl, ok := p.Text(m.Get("impl"), "`impl`")
	if !ok {
		return
	}
	if t := p.replaced(impl.Name, out.ID.Name); t != nil {
		out.Verb = &ir.ToolCall{Name: ir.Ident{Name: t.Key.Name, Span: impl.Span}, Tool: t}
		return
	}
	if strings.HasSuffix(impl.Name, ".ts") {
		p.Warn(diag.IgnoredKey, impl.Span, "for the engine compile it, and name the .mjs file", "the engine does not compile TypeScript, which flowgen does")
	}
	t := p.tools[impl.Name]
	if t == nil {
		key := ir.Ident{Name: p.toolName(impl.Name, out.ID.Name), Span: impl.Span}
		t = &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + key.Name, Span: impl.Span}, Version: "1", Key: key, Effects: ir.EffectsExternal, EffectsSpan: impl.Span,
			In: schema.AnyType, Out: schema.AnyType, OutSpan: impl.Span, Binding: &ir.JSTool{Path: impl}, File: p.File, Span: impl.Span}
		p.tools[impl.Name] = t
		p.wf.Tools = append(p.wf.Tools, t)
	}
	out.Verb = &ir.ToolCall{Name: ir.Ident{Name: t.Key.Name, Span: impl.Span}, Tool: t}
}

// child reads a node that runs another experience, with a state of its own. What becomes of it is handed on, and no more.
func (p *parser) child(m dialect.Mapping, out *Node) {
	impl, ok := p.Text(m.Get("impl"), "`impl`")
	if !ok {
		return
	}
	if s := m.Get("state_scope"); s != nil && p.Word(s, "`state_scope`", "isolated", "shared") == "shared" {
		p.Error(diag.NotSupported, s.Span, "write `isolated`, and hand values on with edges", "the engine does not run an experience with a shared state")
	}
	if m.Get("args") != nil {
		p.Warn(diag.IgnoredKey, m.Key("args"), "remove it", "nothing in an experience can read the args that it is run with")
	}
	file := impl
	if end := path.Ext(impl.Name); end != ".yaml" && end != ".yml" { // a folder
		file.Name = path.Join(impl.Name, "experience.yaml")
	}
	wf := p.load.Flow(p.File, file)
	switch {
	case wf == nil:
		return
	case wf.Origin != Name:
		p.Error(diag.NotSupported, impl.Span, "", "%s is not an experience", impl.Name)
		return
	}
	if !slices.Contains(p.wf.Flows, wf) {
		p.wf.Flows = append(p.wf.Flows, wf)
	}
	out.Verb = &ir.Flow{Path: impl, Flow: wf}
}

// toolName is what a module is called: as its file, or when another has that name as its first node.
func (p *parser) toolName(impl, id string) string {
	name := stem(impl)
	if !idForm.MatchString(name) {
		name = id
	}
	taken := func(name string) bool {
		for _, t := range p.wf.Tools {
			if t.Key.Name == name {
				return true
			}
		}
		return false
	}
	if taken(name) {
		name = id
	}
	for taken(name) {
		name += "_"
	}
	return name
}

// pipelines reads the pipelines of a graph.
func (p *parser) pipelines(n *yamlnode.Node, inside map[*Node]source.Span) {
	p.list(n, "`pipelines`", pipelineShape, func(m dialect.Mapping, ph *Phase) bool {
		ph.Kind = PhasePipeline
		ph.Over = p.path(m.Get("items"), "`items`")
		p.members(ph, m.Get("stages"), "`stages`", -1, inside)
		return true
	})
}

const defaultRounds = 100

// loops reads the loops of a graph.
func (p *parser) loops(n *yamlnode.Node, inside map[*Node]source.Span) {
	p.list(n, "`loops`", loopShape, func(m dialect.Mapping, ph *Phase) bool {
		ph.Kind = PhaseLoop
		ph.Until = p.when(m.Get("until"))
		ph.Max = int(p.Count(m.Get("max_iters"), "`max_iters`", 1, 1_000_000, defaultRounds))
		if m.Get("until") == nil && m.Get("max_iters") == nil {
			p.Error(diag.BadLoop, dialect.Head(m.Node), "write `until` or `max_iters`", "nothing ends the loop %q", ph.ID.Name)
		}
		if b := m.Get("budget"); b != nil {
			p.Warn(diag.IgnoredKey, m.Key("budget"), "remove it, or bound the rounds with `max_iters`", "the engine does not enforce the budget of a loop")
		}
		body := m.Get("body")
		if body != nil && body.Kind == yamlnode.Scalar { // one name is a list of one
			body = &yamlnode.Node{Kind: yamlnode.Sequence, Span: body.Span, Items: []*yamlnode.Node{body}}
		}
		p.members(ph, body, "`body`", ph.Max, inside)
		return true
	})
}

func (p *parser) list(n *yamlnode.Node, what string, shape *dialect.Shape, read func(dialect.Mapping, *Phase) bool) {
	if n == nil {
		return
	}
	if !p.IsList(n, what) {
		return
	}
	for _, it := range n.Items {
		m, ok := p.Mapping(it, shape)
		if !ok {
			continue
		}
		p.Text(m.Get("phase"), "`phase`")
		id, ok := p.Text(m.Get("id"), "the id of "+shape.What)
		if !ok {
			continue
		}
		if !idForm.MatchString(id.Name) {
			p.Error(diag.BadName, id.Span, "", "an id has letters, digits and _, and does not start with a digit")
			continue
		}
		ph := &Phase{ID: id, Span: it.Span}
		if read(m, ph) && len(ph.Nodes) > 0 {
			p.tree.Phases = append(p.tree.Phases, ph)
		}
	}
}

// members are the nodes of a pipeline or a loop.
func (p *parser) members(ph *Phase, n *yamlnode.Node, what string, times int, inside map[*Node]source.Span) {
	for _, id := range p.Idents(n, what) {
		node := p.nodes[id.Name]
		switch {
		case node == nil:
			p.UnknownNode(id, p.tree.names())
		default:
			if _, twice := inside[node]; twice && times > 0 && node.Times > 0 {
				times += node.Times
			}
			inside[node] = id.Span
			ph.Nodes = append(ph.Nodes, node)
			if node.Times >= 0 {
				node.Times = times
			}
		}
	}
}
