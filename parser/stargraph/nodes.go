package stargraph

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// ending is a node's id that the IR has for the end.
const ending = "end"

// A node as it is read, before it is known which fields of the state are only given and which are written.
type node struct {
	id    ir.Ident
	at    *yamlnode.Node
	index int
	kind  ir.Ident
	rules []*rule // where a run goes after it

	// lower makes the steps of the IR that the node becomes, the first of which has its id; nil: it does nothing. It is
	// called when the types of all fields are known, and which of them nodes write.
	lower    func() []*ir.Node
	class    *classUse      // nil: it is not a Python class
	config   *yamlnode.Node // what its class is made with; nil: nothing
	compares map[*field]bool
	texts    []func() *ir.Node // write what rules compare of fields that are not scalars
	block    *block            // nil: it has no nodes that run in parallel
	members  []*member         // which it reads of the values of fields
	tools    []string          // full names of the tools that it calls
	late     *ir.Ident         // where a run goes when nobody answers in time; its name is empty for the end
}

// nodes reads the nodes: a list, or in the authoring format a mapping.
func (p *parser) nodes(n *yamlnode.Node) {
	switch {
	case n == nil:
	case p.form == authoring && n.Kind == yamlnode.Mapping:
		for _, e := range n.Entries {
			if p.tagOf(e.Key) == "!!bool" {
				p.identifier(e.Key, "the name of a node")
			}
			p.node(ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, e.Value)
		}
	case p.form == authoring:
		p.WrongShape(n, "`nodes` is a mapping from names to nodes")
	case !p.IsList(n, "`nodes`"):
	default:
		for _, it := range n.Items {
			if !p.IsMapping(it, "a node") {
				if it.Kind == yamlnode.Scalar {
					p.Broken(it.Text.Value)
				}
				continue
			}
			id, _ := p.identifier(it.Get("id"), "the id of a node")
			p.node(id, it)
		}
	}
	switch {
	case n == nil || len(n.Items)+len(n.Entries) > 0 || n.Kind == yamlnode.Scalar:
	case p.form == document && n.Kind == yamlnode.Sequence:
		p.Warn(diag.IgnoredKey, n.Span, "add a node", "the graph has no nodes: a run ends immediately")
	default:
		p.NoNodes(n.Span)
	}
}

// node reads one node.
func (p *parser) node(id ir.Ident, n *yamlnode.Node) {
	if !p.IsMapping(n, "a node") {
		p.Broken(id.Name)
		return
	}
	x := &node{id: id, at: n, index: len(p.list)}
	p.declare(x)
	p.reading = x
	kind := n.Get("kind")
	if kind == nil || kind.Kind != yamlnode.Scalar {
		p.Mapping(n, p.plainShape())
		return
	}
	word := kind.Text.Value
	k, known := kinds()[word]
	switch {
	case strings.Contains(word, ":") && !strings.ContainsFunc(word, unicode.IsSpace): // module:class
		p.classNode(x, kind)
	case !known:
		p.Word(kind, "the kind of a node", kindWords()...)
	case k.read == nil:
		p.unread(ir.Ident{Name: word, Span: kind.Span})
		p.plainNode(x)
	default:
		x.kind = ir.Ident{Name: word, Span: kind.Span}
		if m, ok := p.config(x, k.shape); ok {
			k.read(p, x, m)
		}
	}
}

// declare files a node under its id.
func (p *parser) declare(x *node) {
	if x.id.Name == "" {
		return
	}
	p.slug(x.id, "a node")
	if first := p.byID[x.id.Name]; first != nil {
		p.Duplicate("node", x.id, first.id.Span)
		return
	}
	p.byID[x.id.Name] = x
	if x.id.Name == ending { // which is where edges of the IR end
		x.id.Name = p.free(ending + "_")
		p.byID[x.id.Name] = x
	}
	p.list = append(p.list, x)
}

// target is the node as something at a place leads to it.
func (x *node) target(at source.Span) ir.Ident { return ir.Ident{Name: x.id.Name, Span: at} }

// plainShape is that of a node that takes nothing.
func (p *parser) plainShape() *dialect.Shape {
	switch p.form {
	case page:
		return pagePlainShape
	case document:
		return documentNodeShape
	}
	return &dialect.Shape{What: "a node", Keys: []dialect.Key{{Name: "kind", Required: true, Doc: "tool, template, echo, ..."}}}
}

// plainNode reads a node that does nothing. The engine takes any config for it and looks at none.
func (p *parser) plainNode(x *node) {
	if p.form == authoring {
		p.Mapping(x.at, &dialect.Shape{What: "a node that does nothing", Open: true, Keys: []dialect.Key{{Name: "kind", Required: true, Doc: "echo, halt or passthrough"}}})
		return
	}
	m, _ := p.Mapping(x.at, p.plainShape())
	if p.form == document {
		if c := m.Get("config"); c != nil && c.Kind == yamlnode.Mapping {
			p.Mapping(c, &dialect.Shape{What: "a node that does nothing", Open: true})
		}
	}
}

// config is where the keys of a kind stand: in `config`, or next to `kind`. ok is false after a mistake, and when there is
// none: the engine takes a tool without one for a node that does nothing.
func (p *parser) config(x *node, shape *dialect.Shape) (m dialect.Mapping, ok bool) {
	if p.form != document {
		own := []dialect.Key{{Name: "kind", Doc: "the kind"}}
		if p.form == page {
			own = append([]dialect.Key{{Name: "id", Required: true, Doc: "its name"}}, own...)
		}
		return p.Mapping(x.at, &dialect.Shape{What: "a node of the kind " + x.kind.Name, Keys: append(own, shape.Keys...)})
	}
	if x.kind.Name == "subgraph" {
		shape = subgraphConfig
	}
	outer, _ := p.Mapping(x.at, documentNodeShape)
	c := outer.Get("config")
	if c != nil && (c.Kind != yamlnode.Mapping || len(c.Entries) > 0) {
		return p.Mapping(c, shape)
	}
	if x.kind.Name == "tool" {
		p.Warn(diag.IgnoredKey, dialect.Head(x.at), "add `config`", "a node without `config` does nothing")
		return dialect.Mapping{}, false
	}
	none := &yamlnode.Node{Kind: yamlnode.Mapping, Span: x.at.Span}
	return p.Mapping(none, shape)
}

// steps are the steps of a node, one after the other, of which the first has its id.
func (p *parser) steps(x *node) []*ir.Node {
	id := x.id
	list := p.membersOf(x)
	switch {
	case x.lower != nil:
		list = append(list, x.lower()...)
	case len(list) == 0:
		list = []*ir.Node{{ID: x.id, Verb: &ir.Let{}, Span: x.at.Span}}
	}
	for _, t := range x.texts {
		list = append(list, t())
	}
	x.id = id
	return list
}

// part is the id of a further step of a node.
func (p *parser) part(x *node, what string) ir.Ident {
	base := x.id.Name + "_" + what
	name := base
	for i := 2; p.byID[name] != nil; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	p.byID[name] = x
	return ir.Ident{Name: name, Span: x.id.Span}
}

// written is the id of a node as the file has it.
func (x *node) written() string { return x.id.Span.Text() }
