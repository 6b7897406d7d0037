// Package native reads flowgen's own language into the IR: the shapes of the language reference, each key of a table,
// each value with its exact place. It resolves what the text itself says (types, files, the shape of every part); names
// of nodes and tools are resolved by ir/check.
package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A Loader brings the files that a workflow names. Its methods report what goes wrong, at the place of ref, and then
// return nil.
type Loader interface {
	// Include reads a file of the native language, as a tree. The same file is always the same *source.File.
	Include(from *source.File, ref ir.Ident) (*yamlnode.Node, *source.File)
	// Prompt reads a Markdown file: its front matter, nil when it has none, and the text after it. front is nil as well
	// when it is not YAML, which is reported once. The same file is always the same *source.File.
	Prompt(from *source.File, ref ir.Ident) (front *yamlnode.Node, text source.Text, f *source.File)
	// Answers reads the file of answers of a scripted model, as a tree, nil when it is not YAML. The same file is always the
	// same *source.File.
	Answers(from *source.File, ref ir.Ident) (*yamlnode.Node, *source.File)
	// Flow parses a workflow of any dialect. The same file is always the same *ir.Workflow.
	Flow(from *source.File, ref ir.Ident) *ir.Workflow
}

// Parse reads the workflow file f, whose tree is root. It never returns nil: after mistakes, which go to sink, the
// workflow holds what could be read, so that what refers to the rest is not reported again. Only the first 500 mistakes are
// reported.
func Parse(root *yamlnode.Node, f *source.File, load Loader, sink *diag.Sink) *ir.Workflow {
	p := &parser{sink: sink, before: sink.Errors(), load: load, file: f, decls: map[string]*declaration{}, names: map[string]source.Span{}, included: map[*source.File]bool{f: true}}
	p.wf = &ir.Workflow{File: f, Library: isLibrary(root)}
	s := shapeWorkflow
	if p.wf.Library {
		s = shapeLibrary
	}
	if m, ok := p.mapping(root, s); ok {
		p.workflow(m)
	}
	return p.wf
}

// A parser reads one workflow with what it includes.
type parser struct {
	sink   *diag.Sink
	before int // errors that were in the sink at the start
	load   Loader
	wf     *ir.Workflow
	file   *source.File // being read: the workflow's, or an included one

	decls     map[string]*declaration // by type name
	order     []*declaration
	resolving []*declaration
	words     []string // words that may stand for the type being read

	names      map[string]source.Span // what is declared, by "sort name": for clashes
	ids        map[string]source.Span // node ids of the workflow
	vars       []ir.Ident             // `as` and `index` names around the node being read
	included   map[*source.File]bool
	chain      []*source.File // files that include one another, down to the one being read
	pending    []pendingTools
	agentNodes []pendingAgents
	prompts    map[string]bool // prompt files that were read before
	scripts    map[*source.File]*ir.ModelScript
	cut        source.Span // what YAML has cut: its rest looks like keys, and is reported with its beginning
}

// pendingTools are the tools of one file; they are read when all types are known.
type pendingTools struct {
	node      *yamlnode.Node
	file      *source.File
	namespace string
}

// workflow reads the sections in the order in which they depend on one another: types before everything that uses them.
func (p *parser) workflow(m mapping) {
	p.version(m)
	p.workflowName(m)
	p.wf.Description = p.prose(m.get("description"), "the description")
	p.chain = []*source.File{p.file}
	p.library(m, p.wf.Name.Name)
	p.resolveTypes()
	for _, x := range p.wf.Models {
		x.Provided = p.wf.Provides(x)
	}
	p.tools()
	p.pendingAgents()
	if n := m.get("input"); n != nil {
		p.wf.Input = p.fields(n, "input", declaredID)
	}
	p.state(m.get("state"))
	p.secrets(m.get("secrets"))
	p.wf.Policy = p.policy(m.get("policy"), shapePolicy)
	p.defaults(m.get("defaults"))
	if p.wf.Library {
		return
	}
	p.ids = map[string]source.Span{}
	p.declareIDs(m.get("nodes"), source.Span{})
	p.wf.Body = p.body(m)
	p.wf.Body.Span = m.node.Span
	p.output(m.get("output"))
}

// library reads the sections that can be included.
func (p *parser) library(m mapping, namespace string) {
	p.include(m.get("include"))
	if n := m.get("types"); n != nil {
		p.declareTypes(n)
	}
	if n := m.get("tools"); n != nil {
		p.pending = append(p.pending, pendingTools{n, p.file, namespace})
	}
	p.providers(m.get("providers"))
	p.models(m.get("models"))
	p.servers(m.get("servers"))
	if n := m.get("agents"); n != nil {
		p.agentNodes = append(p.agentNodes, pendingAgents{n, p.file})
	}
}

// languageVersion is the version of the language this package reads.
const languageVersion = "1"

func (p *parser) version(m mapping) {
	n := m.get("flowgen")
	if n == nil {
		return
	}
	switch {
	case !isScalar(n):
		p.wrongShape(n, "the version of the language is a number", "")
	case n.Text.Value != languageVersion:
		p.replace(diag.BadVersion, textSpan(n.Text), languageVersion, "this compiler reads version %s of the language, not `%s`", languageVersion, shorten(n.Text.Value))
	}
}

// workflowName reads the name; a missing one is made from the file's, so that everything named after it has a name.
func (p *parser) workflowName(m mapping) {
	p.wf.Name = ir.Ident{Name: stem(p.file.Name), Span: m.node.Span.Sub(0, 0)}
	n := m.get("name")
	if n == nil {
		return
	}
	t, ok := p.text(n, "the name of a workflow")
	if !ok {
		return
	}
	id := ir.Ident{Name: t.Value, Span: textSpan(t)}
	p.checkName(id, workflowID)
	if idForm.MatchString(id.Name) {
		p.wf.Name = id
	} else if better := toID(id.Name); idForm.MatchString(better) {
		p.wf.Name = ir.Ident{Name: better, Span: id.Span}
	}
}

// prose reads text for people: dollars and braces mean nothing in it.
func (p *parser) prose(n *yamlnode.Node, what string) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != yamlnode.Scalar:
		p.wrongShape(n, what+" is text", "")
		return ""
	}
	return n.Text.Value
}

// each calls f for every entry of a mapping from names to something, in file order. A value may be null.
func (p *parser) each(n *yamlnode.Node, what string, rule naming, f func(id ir.Ident, v *yamlnode.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Mapping {
		p.wrongShape(n, "`"+what+"` is a mapping", "")
		return
	}
	seen := map[string]bool{}
	for _, e := range n.Entries {
		if p.isCut(e.Key) {
			continue
		}
		id, ok := p.name(e.Key, rule)
		if !ok || seen[id.Name] {
			continue // duplicate keys are reported with the YAML
		}
		seen[id.Name] = true
		f(id, e.Value)
	}
}

// cutBy notes what YAML has cut a value from, so that the keys that it makes of the rest are known as such.
func (p *parser) cutBy(v *yamlnode.Node) {
	if !isScalar(v) {
		return
	}
	if text := v.Text.Value; v.Style == yamlnode.DoubleQuoted && strings.Count(text, "{{") > strings.Count(text, "}}") {
		p.quoteInside(v.Text)
	} else if v.Style == yamlnode.Plain && strings.HasPrefix(text, "enum") {
		p.cutEnum(v.Text, 0)
	}
}

// isCut reports whether a key is the rest of something that YAML has cut.
func (p *parser) isCut(key *yamlnode.Node) bool {
	return key.Span.File == p.cut.File && key.Span.Lo >= p.cut.Lo && key.Span.Lo < p.cut.Hi
}

// declare files a name of one sort and reports a second use.
func (p *parser) declare(sort string, id ir.Ident) bool {
	if first, taken := p.names[sort+" "+id.Name]; taken {
		p.clash(sort, id, first)
		return false
	}
	p.names[sort+" "+id.Name] = id.Span
	return true
}

// clash reports a name that two files, or two spellings, declare.
func (p *parser) clash(sort string, id ir.Ident, first source.Span) {
	help := ""
	if first.File != id.Span.File {
		help = "rename one of the two, or include only one of the files"
	}
	p.duplicate(sort, id, first, help)
}
