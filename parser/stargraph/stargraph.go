// Package stargraph reads graphs of Stargraph into the IR: the form of the project's page (`graph:`), the strict IR
// document (`ir_version:`) and the authoring format (`routes:`). Their state and their routing are static, so that all
// three become workflows like native ones: the state is a struct, a rule a case of a switch. Scalars are what PyYAML takes
// them for.
package stargraph

import (
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
const Name = "stargraph"

// Is reports whether a tree has the shape of one of the three forms.
func Is(root *yamlnode.Node) bool {
	if root.Entry("ir_version") != nil || root.Entry("routes") != nil {
		return true
	}
	if g := root.Get("graph"); g != nil {
		return g.Kind == yamlnode.Scalar
	}
	return root.Entry("flowgen") == nil && kindsOnly(root.Get("nodes"))
}

// kindsOnly reports whether nodes are such as the authoring format has: a mapping, each with a kind of its own.
func kindsOnly(n *yamlnode.Node) bool {
	if n == nil || n.Kind != yamlnode.Mapping || len(n.Entries) == 0 {
		return false
	}
	for _, e := range n.Entries {
		if k := e.Value.Get("kind"); k == nil || k.Kind != yamlnode.Scalar || e.Value.Entry("type") != nil {
			return false
		}
	}
	return true
}

// A form is one of the three ways to write a graph.
type form uint8

const (
	page form = iota
	document
	authoring
)

// Parse reads the graph f, whose tree is root. It never returns nil: after mistakes, which go to sink, the workflow holds
// what could be read.
func Parse(root *yamlnode.Node, f *source.File, load dialect.Loader, opts dialect.Options, sink *diag.Sink) *ir.Workflow {
	p := &parser{Reader: dialect.NewReader(f, yamlnode.YAML11, sink), opts: opts, load: load, byID: map[string]*node{}, fields: map[string]*field{}}
	p.wf = &ir.Workflow{File: f, Name: ir.Ident{Name: stem(f.Name), Span: root.Span.Sub(0, 0)}}
	p.wf.Casts, p.wf.ShortKeys = true, true
	p.wf.Body.Span, p.wf.Body.EdgesWritten, p.wf.Body.EdgesSpan = root.Span, true, dialect.Head(root)
	shape, name := pageShape, "graph"
	switch {
	case root.Entry("ir_version") != nil:
		p.form, shape, name = document, documentShape, "id"
	case root.Get("graph") == nil:
		p.form, shape, name = authoring, authoringShape, "id"
	}
	m, ok := p.Mapping(root, shape)
	if !ok {
		return p.wf
	}
	load.Bindings(p.wf)
	p.graphName(m.Get(name))
	p.state(m)
	p.lm(m.Get("lm"))
	p.nodes(m.Get("nodes"))
	p.routing(m)
	for _, f := range p.later {
		f()
	}
	if !sink.HasErrors() {
		p.lower(dialect.Head(root))
		p.differences()
	}
	return p.wf
}

type parser struct {
	*dialect.Reader
	opts dialect.Options
	wf   *ir.Workflow
	form form

	list      []*node // in the order of the file
	byID      map[string]*node
	reading   *node          // the last that was begun
	inlined   []*source.File // the documents that are being read for a node
	fields    map[string]*field
	order     []*field
	slots     map[string]*slot
	filled    *schema.Type // what slots get and give
	stateName string       // "module:Class" of a state that is not here
	open      bool         // the class of the state is not known: it has the fields that nodes name

	stateRef string         // "module:Class"; empty: the state is declared here
	stateDef *ir.Definition // of its class
	once     []source.Span  // rules that are looked at once
	told     map[source.Span]bool
	load     dialect.Loader
	later    []func()               // looks at names when all nodes are read
	unless   map[string][2]*ir.Expr // when a step runs, and when it does not; others always do
	blocks   []*block
	shadows  map[*field]*field // the texts of fields that rules compare
	served   *served           // nil: the document says no model
}

var (
	authoringID = lazyregexp.New(`^[a-z0-9][a-z0-9_.\-]*$`)

	idForm   = lazyregexp.New(`^[a-z0-9][a-z0-9_\-.]{0,127}$`)
	notName  = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	nameForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

func stem(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if name = strings.Trim(notName.ReplaceAllString(name, "-"), "-"); !nameForm.MatchString(name) {
		return "graph"
	}
	return name
}

// identifier reads a name, which the engine refuses where it is not text to YAML.
func (p *parser) identifier(n *yamlnode.Node, what string) (ir.Ident, bool) {
	id, ok := p.Text(n, what)
	if tag := p.tagOf(n); ok && tag != "!!str" && p.form != page {
		p.Report(diag.Diagnostic{Code: diag.WrongShape, Span: id.Span, Message: what + " is text, and `" + id.Name + "` is " + tagNames[tag] + " to YAML", Help: "put it in quotes",
			Fixes: []diag.Fix{{Title: "put it in quotes", Edits: []diag.Edit{{Span: id.Span, New: `"` + id.Name + `"`}}}}})
		return id, false
	}
	return id, ok
}

func (p *parser) tagOf(n *yamlnode.Node) string {
	if n == nil || n.Kind != yamlnode.Scalar {
		return ""
	}
	return p.Schema.Tag(n)
}

var tagNames = map[string]string{"!!bool": "a boolean", "!!int": "a number", "!!float": "a number", "!!null": "nothing", "!!timestamp": "a date"}

// graphName is the name of the workflow: the engine takes any text, and Go packages and folders do not.
func (p *parser) graphName(n *yamlnode.Node) {
	id, ok := p.identifier(n, "the name of a graph")
	if !ok {
		return
	}
	if p.form == authoring && !authoringID.MatchString(id.Name) {
		p.Error(diag.BadName, id.Span, "", "the id of a graph is made of lower-case letters, digits, `_`, `-` and `.`, and begins with a letter or a digit")
	}
	if name := strings.Trim(notName.ReplaceAllString(id.Name, "-"), "-"); nameForm.MatchString(name) && len(name) <= 64 {
		p.wf.Name = ir.Ident{Name: name, Span: id.Span}
	}
}
