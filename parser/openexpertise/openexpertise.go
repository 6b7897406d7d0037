// Package openexpertise reads OpenExpertise experiences into the IR. Scalars are what JavaScript's yaml package takes them
// for. Where the project's page and its engine differ the page holds, or with Options.Upstream the engine; a file that
// depends on such a place is told so (differences.go is the table).
package openexpertise

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
const Name = "openexpertise"

// Is reports whether a tree has the shape of the dialect: nodes below `graph`.
func Is(root *yamlnode.Node) bool {
	g := root.Get("graph")
	return g != nil && g.Entry("nodes") != nil
}

// Parse reads the experience f, whose tree is root. It never returns nil: after mistakes, which go to sink, the workflow
// holds what could be read.
func Parse(root *yamlnode.Node, f *source.File, load dialect.Loader, opts dialect.Options, sink *diag.Sink) *ir.Workflow {
	p := &parser{Reader: dialect.NewReader(f, yamlnode.Core, sink), load: load, opts: opts, nodes: map[string]*Node{}, tools: map[string]*ir.Tool{}, written: map[*Node]bool{}, bound: map[string]*ir.Tool{}, datasets: map[*Node]*dataset{}}
	p.tree = &Tree{Upstream: opts.Upstream, Concurrency: 1}
	p.wf = &ir.Workflow{File: f, Origin: Name, ShortKeys: true, Settle: p.settle, Tree: p.tree}
	p.wf.Name = ir.Ident{Name: stem(f.Name), Span: root.Span.Sub(0, 0)}
	if m, ok := p.Mapping(root, topShape); ok {
		p.experience(m)
	}
	return p.wf
}

type parser struct {
	*dialect.Reader
	load    dialect.Loader
	opts    dialect.Options
	wf      *ir.Workflow
	tree    *Tree
	nodes   map[string]*Node
	tools   map[string]*ir.Tool // by path
	written map[*Node]bool      // nodes with an on_error of their own

	bound    map[string]*ir.Tool // of flowgen.bindings.yaml
	datasets map[*Node]*dataset
}

func stem(name string) string {
	base := path.Base(name)
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	return base
}

var (
	nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	idForm   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notName  = lazyregexp.New(`[^A-Za-z0-9_-]+`)
)

// experience reads the sections.
func (p *parser) experience(m dialect.Mapping) {
	if id, ok := p.Text(m.Get("name"), "the name of an experience"); ok {
		if !nameForm.MatchString(id.Name) { // it names folders and Go packages
			if id.Name = strings.Trim(notName.ReplaceAllString(id.Name, "-"), "-"); id.Name == "" {
				id.Name = p.wf.Name.Name
			}
		}
		p.wf.Name = id
	}
	if v := m.Get("version"); v != nil && v.Kind == yamlnode.Scalar && p.Schema.Tag(v) != "!!str" {
		p.Error(diag.WrongShape, v.Place(), "write three numbers, as in `version: 1.0.0`, or quotes around it", "the version of an experience is text, and %s is a number or a word of YAML", v.Text.Value)
	} else {
		p.Text(v, "the version of an experience")
	}
	if id, ok := p.Text(m.Get("description"), "the description"); ok {
		p.wf.Description = strings.TrimSpace(id.Name)
	}
	p.bindings()
	p.stateSection(m.Get("state"))
	p.phases(m.Get("phases"))
	if r, ok := p.Mapping(m.Get("runtime"), runtimeShape); ok {
		p.tree.Concurrency = int(p.Count(r.Get("concurrency"), "`concurrency`", 1, 1000, 1))
	}
	if g, ok := p.Mapping(m.Get("graph"), graphShape); ok {
		p.graph(g)
	}
	p.placeholders()
	p.differences()
}

var stateTypes = map[string]*schema.Type{
	"string": schema.StringType, "number": schema.FloatType, "boolean": schema.BoolType,
	"object": schema.MapOf(schema.AnyType), "array": schema.ListOf(schema.AnyType), "null": schema.AnyType,
}

var merges = map[string]ir.MergeKind{"last_wins": ir.MergeLast, "set_once": ir.MergeSetOnce, "array_append": ir.MergeAppend}

// stateSection reads the fields of the state.
func (p *parser) stateSection(n *yamlnode.Node) {
	m, ok := p.Mapping(n, stateShape)
	if !ok {
		return
	}
	fields := m.Get("schema")
	if fields == nil {
		return
	}
	if !p.IsMapping(fields, "`schema`") {
		return
	}
	for _, e := range fields.Entries {
		s := &ir.State{Name: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Type: schema.AnyType, Span: e.Key.Span}
		p.wf.State = append(p.wf.State, s)
		if !idForm.MatchString(s.Name.Name) {
			p.BadField(s.Name.Span)
		}
		f, ok := p.Mapping(e.Value, fieldShape)
		if !ok {
			continue
		}
		if w := p.Word(f.Get("type"), "the type of a state field", "string", "number", "boolean", "object", "array", "null"); w != "" {
			s.Type = stateTypes[w]
		}
		if n := f.Get("merge"); n != nil {
			s.Merge = ir.Merge{Kind: merges[p.Word(n, "`merge`", "last_wins", "set_once", "array_append")], Span: n.Span}
		}
		if s.Merge.Kind == ir.MergeAppend && s.Type.Kind != schema.List && s.Type.Kind != schema.Any {
			p.Error(diag.BadMerge, s.Merge.Span, "declare `type: array`", "array_append takes arrays, and %s is declared %s", s.Name.Name, f.Get("type").Text.Value)
		}
	}
}

// phases are labels.
func (p *parser) phases(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if !p.IsList(n, "`phases`") {
		return
	}
	for _, it := range n.Items {
		if m, ok := p.Mapping(it, phaseShape); ok {
			p.Text(m.Get("id"), "the id of a phase")
			p.Text(m.Get("title"), "the title of a phase")
		}
	}
}

// graph reads nodes, edges, pipelines and loops, in this order: each names those before it.
func (p *parser) graph(m dialect.Mapping) {
	p.wf.Body.Span = m.Node.Span
	nodes := m.Get("nodes")
	switch {
	case nodes == nil:
	case !p.IsList(nodes, "`nodes`"):
	case len(nodes.Items) == 0:
		p.NoNodes(nodes.Span)
	default:
		for _, it := range nodes.Items {
			p.node(it)
		}
	}
	for _, r := range p.Edges(m.Get("edges"), edgeShape, p.tree.names(), p.when) {
		to := p.nodes[r.To.Name]
		to.Routes = append(to.Routes, r)
	}
	main := &Phase{Kind: PhaseGraph, Span: m.Node.Span}
	p.tree.Phases = append(p.tree.Phases, main)
	inside := map[*Node]source.Span{}
	p.pipelines(m.Get("pipelines"), inside)
	p.loops(m.Get("loops"), inside)
	for _, n := range p.tree.Nodes {
		if _, is := inside[n]; !is {
			main.Nodes = append(main.Nodes, n)
		}
		n.Routes = slices.DeleteFunc(n.Routes, func(r *dialect.Route) bool { return p.outside(n, r, inside) })
	}
}

// outside reports whether an edge touches a pipeline or a loop, whose nodes run after the graph and in an order of their
// own: then it orders nothing. Where it says something else than happens anyway, it receives so.
func (p *parser) outside(n *Node, r *dialect.Route, inside map[*Node]source.Span) bool {
	from := p.nodes[r.From.Name]
	at, to := inside[n]
	other, is := inside[from]
	if from == nil || !to && !is {
		return false
	}
	follows := func() bool { // one after the other, in the same pipeline or loop
		for _, ph := range p.tree.Phases {
			for i, m := range ph.Nodes {
				if i > 0 && m == n && ph.Nodes[i-1] == from && ph.Kind != PhaseGraph {
					return true
				}
			}
		}
		return false
	}
	if r.When == nil && to && (!is || follows()) {
		return true // it runs after the graph, or after that node, anyway
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: r.Span, Help: "remove the edge"}
	if to {
		d.Message = "this edge decides nothing: \"" + n.ID.Name + "\" runs where its pipeline or loop says, after the graph"
		d.Related = []diag.Related{{Span: at, Message: "the node is part of this"}}
	} else {
		d.Message = "\"" + n.ID.Name + "\" runs before \"" + from.ID.Name + "\" in spite of this edge: pipelines and loops come after the graph"
		d.Related = []diag.Related{{Span: other, Message: "the node is part of this"}}
		if r.When != nil {
			n.Whens = append(n.Whens, r.When)
		}
	}
	p.Report(d)
	return true
}
