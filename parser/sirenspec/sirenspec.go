// Package sirenspec reads SirenSpec workflows into the IR. Scalars are what YAML 1.2 takes them for. Where the project's
// pages and its engine differ the pages hold, or with Options.Upstream the engine.
package sirenspec

import (
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Name is the dialect's name.
const Name = "sirenspec"

// ownTypes are the types of nodes that no other dialect has.
var ownTypes = []string{"swrm", "factory", "workflow", "human"}

// Is reports whether a tree has the shape of the dialect: agents, or nodes by name of which one has a config or a type of
// its own.
func Is(root *yamlnode.Node) bool {
	if g := root.Entry("graph"); g != nil && g.Value.Kind != yamlnode.Mapping {
		return false
	}
	for _, key := range []string{"flowgen", "ir_version", "routes"} {
		if root.Entry(key) != nil {
			return false
		}
	}
	nodes := root.Get("nodes")
	if a := root.Get("agents"); a != nil && a.Kind == yamlnode.Mapping && (nodes == nil || nodes.Kind == yamlnode.Mapping) {
		return true
	}
	if nodes == nil || nodes.Kind != yamlnode.Mapping {
		return false
	}
	for _, e := range nodes.Entries {
		if e.Value.Kind != yamlnode.Mapping {
			continue
		}
		t := e.Value.Get("type")
		if e.Value.Entry("config") != nil || t != nil && t.Kind == yamlnode.Scalar && slices.Contains(ownTypes, t.Text.Value) {
			return true
		}
	}
	return false
}

// Parse reads the workflow f, whose tree is root. It never returns nil: after mistakes, which go to sink, the workflow
// holds what could be read.
func Parse(root *yamlnode.Node, f *source.File, load dialect.Loader, opts dialect.Options, sink *diag.Sink) *ir.Workflow {
	p := &parser{Reader: dialect.NewReader(f, yamlnode.Ruamel, sink), opts: opts, load: load, agents: map[string]*agent{}, nodes: map[string]*Node{}, voices: map[string]*ir.Model{}, placed: map[string]bool{}}
	p.wf = &ir.Workflow{File: f, Origin: Name, Settle: p.settle}
	p.tree = &Tree{Workflow: p.wf, Upstream: opts.Upstream}
	p.wf.Tree = p.tree
	p.wf.Name = ir.Ident{Name: stem(f.Name), Span: root.Span.Sub(0, 0)}
	if m, ok := p.Mapping(root, topShape); ok {
		p.workflow(m)
	}
	return p.wf
}

type parser struct {
	*dialect.Reader
	opts    dialect.Options
	wf      *ir.Workflow
	tree    *Tree
	agents  map[string]*agent
	guards  []Guard       // of the workflow: for agents that have none
	written []Guard       // likewise where the file has them: for what swarms ask, which has no default
	retry   *AgentRetry   // of agents that say nothing
	failure *AgentFailure // likewise
	nodes   map[string]*Node
	voices  map[string]*ir.Model // that swarms ask, by provider:name
	roots   roots
	placed  map[string]bool // names of wf.State
	kept    *Node           // that reads the memory; nil: there is none
	load    dialect.Loader  // nil: other files are not read
}

type agent struct {
	model  *ir.Model
	system *yamlnode.Node
	guards []Guard
	asked  bool // a node names it
}

var notName = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// stem makes a name of the file's: of workflow.yaml that of its folder, as most are called workflow.yaml.
func stem(name string) string {
	base := path.Base(name)
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	if dir := path.Base(path.Dir(name)); base == "workflow" && dir != "." && dir != "/" && dir != ".." {
		base = dir
	}
	if base = strings.Trim(notName.ReplaceAllString(base, "-"), "-"); base == "" {
		return "workflow"
	}
	return base
}

// workflow reads the sections.
func (p *parser) workflow(m dialect.Mapping) {
	p.version(m)
	p.memory(m.Get("memory"), m)
	p.envFile(m.Get("env_file"))
	p.bindings()
	p.defaults(m.Get("defaults"))
	p.input(m.Get("input"))
	p.seeds(m.Get("state"))
	p.guards = []Guard{{Name: "injection"}}
	if g := m.Get("guardrails"); g != nil {
		p.guards = p.guardrails(g, true)
		p.written = p.guards
	}
	p.budget(m.Get("budget"))
	p.agentSection(m.Get("agents"))
	p.nodeSection(m)
	p.edges(m.Get("edges"))
	p.fallbacks()
	p.memorized()
	p.idleAgents(m.Get("agents"))
}

// idleAgents warns about agents that no node asks. One with an anchor is there for others to be made of.
func (p *parser) idleAgents(n *yamlnode.Node) {
	if n == nil || p.Sink.HasErrors() {
		return
	}
	for _, e := range n.Entries {
		if a := p.agents[e.Key.Text.Value]; a != nil && !a.asked && e.Value.Anchor == "" {
			p.Warn(diag.Unused, e.Key.Span, "remove it, or name it as the `agent` of a node", "agent %q is not used", e.Key.Text.Value)
		}
	}
}

// version is text, which the engine does not look at.
func (p *parser) version(m dialect.Mapping) {
	if v := m.Get("version"); v != nil && v.Kind == yamlnode.Scalar && p.Schema.Tag(v) != "!!str" {
		d := diag.Diagnostic{Code: diag.WrongShape, Span: v.Span, Message: "the version is text, and this is a number", Help: "write `\"" + clip(v.Text.Value) + "\"`"}
		d.Fixes = []diag.Fix{diag.Replace(v.Span, "\""+v.Text.Value+"\"")}
		p.Report(d)
	} else if _, ok := p.Reader.Text(v, "the version"); !ok && v == nil {
		p.refused(dialect.Head(m.Node), diag.MissingKey, "add `version: \"0.1\"`", "a workflow needs the key `version`")
	}
}

// input is the message of the workflow, which is asked for when the file has none.
func (p *parser) input(n *yamlnode.Node) {
	f := &schema.Field{Name: "message", Type: schema.StringType, Span: p.wf.Name.Span, Description: "what the workflow is asked"}
	p.wf.Input = []*schema.Field{f}
	m, ok := p.Mapping(n, inputShape)
	if !ok {
		return
	}
	if id, ok := p.Text(m.Get("message"), "the message"); ok {
		f.Span = id.Span
		f.Default = &schema.Default{JSON: jsonText(id.Name), Span: id.Span}
	}
}

// seeds are the values that the context begins with.
func (p *parser) seeds(n *yamlnode.Node) {
	m, ok := p.Mapping(n, stateShape)
	if !ok {
		return
	}
	seeds := &ir.Object{Span: n.Span}
	for _, bucket := range []string{"working", "output"} {
		b := m.Get(bucket)
		if b == nil {
			continue
		}
		if !p.IsMapping(b, "`"+bucket+"`") {
			continue
		}
		seeds.Entries = append(seeds.Entries, &ir.Entry{Key: ir.Ident{Name: bucket, Span: m.Key(bucket)}, Value: p.Value(b, nil)})
		for _, e := range b.Entries {
			p.place(bucket, ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span})
		}
	}
	p.tree.Seeds = seeds
}

// place declares a name of a bucket of the context, once.
func (p *parser) place(bucket string, id ir.Ident) {
	name := bucket + "." + id.Name
	if p.placed[name] {
		return
	}
	p.placed[name] = true
	p.wf.State = append(p.wf.State, &ir.State{Name: ir.Ident{Name: name, Span: id.Span}, Type: schema.AnyType, Span: id.Span})
}

// agentSection reads the agents. Each model is one of the workflow's, so that agents with the same model share it.
func (p *parser) agentSection(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if !p.IsMapping(n, "`agents`") {
		return
	}
	for _, e := range n.Entries {
		a := &agent{guards: p.guards}
		p.agents[e.Key.Text.Value] = a
		m, ok := p.Mapping(e.Value, agentShape)
		if !ok {
			continue
		}
		if g := m.Get("guardrails"); g != nil {
			a.guards = p.guardrails(g, false)
		}
		a.system = m.Get("system")
		p.Text(a.system, "`system`")
		if id, ok := p.modelName(m); ok {
			a.model = &ir.Model{Name: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Model: id, Params: answers(id.Name), Span: e.Value.Span}
		}
	}
}

// modelName reads the name of a model.
func (p *parser) modelName(m dialect.Mapping) (ir.Ident, bool) {
	id, ok := p.Text(m.Get("model"), "`model`")
	if ok && strings.TrimSpace(id.Name) == "" {
		p.Error(diag.BadModel, id.Span, "write it as in `openai:gpt-4o-mini`", "the name of the model is empty")
		return id, false
	}
	return id, ok
}

// edges reads the edges, each with the node that it leads to.
func (p *parser) edges(n *yamlnode.Node) {
	var names []string
	for _, n := range p.tree.Nodes {
		names = append(names, n.ID.Name)
	}
	for _, r := range p.Edges(n, edgeShape, names, p.when) {
		to := p.nodes[r.To.Name]
		to.Routes = append(to.Routes, r)
	}
}
