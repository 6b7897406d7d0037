// Package yamlgraph reads YAMLGraph files into the IR: graphs whose nodes hand on tokens. Scalars are what PyYAML takes
// them for. Where the project's page and its engine differ the page holds, or with Options.Upstream the engine; a file that
// depends on such a place is told so (differences.go is the table).
package yamlgraph

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
const Name = "yamlgraph"

// Is reports whether a tree has the shape of the dialect: nodes by name with a type, a prompt or a state_key, or edges
// from START or to END.
func Is(root *yamlnode.Node) bool {
	for _, other := range []string{"flowgen", "graph", "ir_version", "routes", "agents"} {
		if root.Entry(other) != nil {
			return false
		}
	}
	nodes := root.Get("nodes")
	if nodes == nil || nodes.Kind != yamlnode.Mapping {
		return false
	}
	for _, e := range nodes.Entries {
		if e.Value.Entry("kind") != nil && e.Value.Entry("type") == nil {
			continue // of Stargraph
		}
		if t := e.Value.Get("type"); is(t, "human") || is(t, "workflow") || is(t, "swrm") || is(t, "factory") {
			return false // a language that has nodes of these types
		}
		if t := e.Value.Get("type"); e.Value.Entry("prompt") != nil || e.Value.Entry("state_key") != nil || t != nil && t.Kind == yamlnode.Scalar && slices.Contains(words, t.Text.Value) {
			return e.Value.Entry("config") == nil
		}
	}
	edges := root.Get("edges")
	if edges == nil || edges.Kind != yamlnode.Sequence {
		return false
	}
	for _, e := range edges.Items {
		if is(e.Get("from"), start) || is(e.Get("to"), end) {
			return true
		}
	}
	return false
}

func is(n *yamlnode.Node, word string) bool {
	return n != nil && n.Kind == yamlnode.Scalar && n.Text.Value == word
}

// The names of where a graph begins and ends.
const (
	start = "START"
	end   = "END"
)

// Parse reads the graph f, whose tree is root. It never returns nil: after mistakes, which go to sink, the workflow holds
// what could be read.
func Parse(root *yamlnode.Node, f *source.File, load dialect.Loader, opts dialect.Options, sink *diag.Sink) *ir.Workflow {
	p := &parser{Reader: dialect.NewReader(f, yamlnode.YAML11, sink), load: load, opts: opts, nodes: map[string]*Node{}, tools: map[string]*ir.Tool{}, kinds: map[string]string{}, parsed: map[string]bool{}, programs: map[*ir.Tool]bool{}, types: map[string]string{}, fields: map[string]*ir.State{}, timeouts: map[string]*ir.Duration{}, prompts: map[string]*prompt{}, answers: map[string]string{}}
	p.wf = &ir.Workflow{File: f, Origin: Name, Settle: p.settle}
	p.tree = &Tree{Workflow: p.wf, Upstream: opts.Upstream, Choices: map[string]Choice{}}
	p.wf.Tree = p.tree
	p.wf.Name = ir.Ident{Name: folderName(f.Name), Span: root.Span.Sub(0, 0)}
	p.era(root)
	if m, ok := p.Mapping(p.expand(root), topShape); ok {
		p.graph(m)
	}
	return p.wf
}

type parser struct {
	*dialect.Reader
	load     dialect.Loader
	opts     dialect.Options
	wf       *ir.Workflow
	tree     *Tree
	nodes    map[string]*Node
	names    []string            // of nodes, in file order
	tools    map[string]*ir.Tool // python tools by name
	bound    map[string]*ir.Tool // of flowgen.bindings.yaml
	bindable []string            // the python tools that those take the place of
	kinds    map[string]string   // the types of all tools
	parsed   map[string]bool     // shell tools whose output is JSON
	programs map[*ir.Tool]bool   // that copilot nodes ask
	graphs   []*graphTool
	types    map[string]string // of nodes
	dropped  []string          // nodes that stand for others and could not be read
	fields   map[string]*ir.State
	paths    []*dialect.Reference    // into values of the state
	timeouts map[string]*ir.Duration // of shell tools by name
	item     string                  // what the item of the map around is called
	told     bool                    // the note about the field of tool_call nodes is written

	maxTokens       int64 // of the answers of the node that is read; 0: nothing bounds them
	maxItems        int   // of maps that do not say; 0: nothing bounds them
	width           int   // items of a map in parallel; 0: as many as usual
	defaults        dialect.Mapping
	promptsDir      string
	promptsRelative bool
	prompts         map[string]*prompt
	answers         map[string]string // JSON Schemas of classes of answers
	asked           []*asking
	laxTypes        map[*yamlnode.Node]bool // types whose warning is written
	toldModels      map[source.Span]bool
	stateAt         source.Span  // where a graph without the section `state` can get one; zero: it has one
	undeclared      []undeclared // the fields that it would have
}

// folderName is what a graph without a name is called: as its file, or as the folder of a graph.yaml.
func folderName(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	if base == "graph" && path.Dir(name) != "." {
		base = path.Base(path.Dir(name))
	}
	if base = strings.Trim(notName.ReplaceAllString(base, "-"), "-"); base == "" {
		return "graph"
	}
	return base
}

var (
	idForm   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notName  = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	notModel = lazyregexp.New(`[^a-z0-9]+`)
)

func (p *parser) graph(m dialect.Mapping) {
	if id, ok := p.Text(m.Get("name"), "the name of a graph"); ok {
		id.Name = strings.Trim(notName.ReplaceAllString(id.Name, "-"), "-") // it names folders and Go packages
		if id.Name == "" {
			id.Name = p.wf.Name.Name
		}
		p.wf.Name = id
	}
	if id, ok := p.Text(m.Get("description"), "the description"); ok {
		p.wf.Description = strings.TrimSpace(id.Name)
	}
	p.refused(m)
	p.settings(m)
	p.config(m.Get("config"))
	p.state(m.Get("state"))
	if at := m.Key("nodes"); m.Get("state") == nil && at.File != nil && at.File.Pos(at.Lo).Col == 1 {
		p.stateAt = source.Span{File: at.File, Lo: at.Lo, Hi: at.Lo}
	}
	p.dataFiles(m.Get("data_files"))
	p.bindings()
	p.toolSection(m.Get("tools"))
	p.nodeSection(m)
	p.initial(m.Get("variables"))
	p.readPrompts()
	p.limits(m)
	p.edges(m)
	p.routes()
	p.parsable()
	p.loopExits(m.Get("loop_exits"))
	p.verify(m.Get("verify"))
	p.exports(m.Get("exports"))
	p.field(ir.Ident{Name: "current_step", Span: p.wf.Name.Span}, schema.StringType)
	p.common()
}

// refused reports the sections that have no effect here.
func (p *parser) refused(m dialect.Mapping) {
	if m.Get("checkpointer") != nil {
		p.Differs(m.Key("checkpointer"), "every run is recorded: continue it with `flowgen resume`", "flowgen does not write to the engine's checkpointer")
	}
	if m.Get("observability") != nil {
		p.Differs(m.Key("observability"), "read the journal of a run, or its traces", "flowgen does not write the engine's logs")
	}
	if m.Get("exports") != nil {
		p.Differs(m.Key("exports"), "take the fields from the output of the run", "no files are written; the engine's command line writes them with --export")
	}
}

// toolSection reads the tools. Only python tools can be called by nodes that are compiled.
func (p *parser) toolSection(n *yamlnode.Node) {
	switch {
	case n == nil:
		return
	case !p.IsMapping(n, "`tools`"):
		return
	}
	for _, e := range n.Entries {
		n := p.declared(e)
		if n == nil {
			p.kinds[e.Key.Text.Value] = "" // what is wrong with it is reported
			continue
		}
		key := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		if t := n.Get("type"); is(t, "schema_loader") || is(t, "write_data_file") {
			p.kinds[key.Name] = ""
			p.Error(diag.NotSupported, t.Span, "write a python tool, or read files with `data_files`", "tools of the type %s are not compiled", t.Text.Value)
			continue
		}
		m, ok := p.Mapping(n, toolShape)
		if !ok {
			continue
		}
		kind := "shell"
		if t := m.Get("type"); t != nil {
			kind = p.Word(t, "the type of a tool", "shell", "python", "websearch", "graph")
		}
		switch p.kinds[key.Name] = kind; kind {
		case "websearch":
			p.search(m, key)
		case "python":
			if t := p.bound[key.Name]; t != nil {
				p.tools[key.Name] = t
				p.bindable = append(p.bindable, key.Name)
				continue
			}
			p.python(m, key)
		case "graph":
			p.graphTool(m, key)
		case "shell":
			p.shell(m, key)
		}
	}
}

// kindOf is the type of a tool of the file; empty for those that take the place of others.
func (p *parser) kindOf(t *ir.Tool) string {
	switch {
	case p.programs[t]:
		return "copilot"
	case t.File != p.File:
		return ""
	}
	return p.kinds[t.Key.Name]
}

func (p *parser) python(m dialect.Mapping, key ir.Ident) {
	module, home := p.module(m, key)
	if m.Get("function") == nil {
		p.Error(diag.MissingKey, key.Span, "add `function`: what is called", "a python tool needs the key `function`")
	}
	function, ok := p.Text(m.Get("function"), "`function`")
	if module.Name == "" || !ok {
		return
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + key.Name, Span: key.Span}, Version: "1", Key: key, Effects: ir.EffectsExternal, EffectsSpan: key.Span,
		In: schema.AnyType, Out: schema.AnyType, OutSpan: key.Span, Binding: &ir.PythonTool{Ref: ir.Ident{Name: module.Name + ":" + function.Name, Span: module.Span}, Free: true, Home: home}, File: p.File, Span: key.Span}
	if d, ok := p.Text(m.Get("description"), "the description"); ok {
		t.Description = d.Name
	}
	p.tools[key.Name] = t
	p.wf.Tools = append(p.wf.Tools, t)
}

// module is the module of a python tool. One that is named by its file is in the folder of the file.
func (p *parser) module(m dialect.Mapping, key ir.Ident) (module ir.Ident, home string) {
	file, ok := p.Text(m.Get("path"), "`path`")
	if !ok || m.Get("module") != nil {
		if m.Get("module") == nil {
			p.Error(diag.MissingKey, key.Span, "add `module`: the module, as in mypackage.tools", "a python tool needs the key `module`")
		}
		module, _ = p.Text(m.Get("module"), "`module`")
		return module, ""
	}
	stem, python := strings.CutSuffix(path.Base(file.Name), ".py")
	if home = path.Dir(path.Clean(file.Name)); !python || path.IsAbs(file.Name) || home == ".." || strings.HasPrefix(home, "../") {
		p.Error(diag.BadLiteral, file.Span, "", "the path of a python tool is a file with .py, in the folder of this file or below")
		return ir.Ident{}, ""
	}
	return ir.Ident{Name: stem, Span: file.Span}, home
}
