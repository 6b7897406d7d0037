package stargraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// inline makes a node of the nodes of a document that has no rules and no state of its own: the engine runs them one after the
// other, on the state of the graph that runs it. done is false for other graphs, which are run as such.
func (p *parser) inline(x *node, m dialect.Mapping, id ir.Ident) (done bool) {
	for _, key := range []string{"inputs", "outputs"} {
		if n := m.Get(key); n != nil && len(n.Entries) > 0 {
			return false
		}
	}
	f, ok := p.load.Text(p.beside(), id)
	if !ok {
		return true // what is wrong was reported
	}
	root, problems := yamlnode.Parse(f)
	if root == nil || len(problems) > 0 || slices.Contains(p.inlined, f) {
		return false
	}
	yamlnode.Merge(root)
	if !p.follows(root) {
		return false
	}
	p.wf.Includes = append(p.wf.Includes, f)
	kids := p.nodesOf(root, f)
	if len(kids) == 0 {
		return true
	}
	for _, k := range kids {
		k.id.Name = p.free(x.id.Name + "_" + k.id.Name)
		p.byID[k.id.Name] = k
	}
	x.lower = func() []*ir.Node {
		kids[0].id = x.id
		var list []*ir.Node
		for _, k := range kids {
			list = append(list, p.steps(k)...)
		}
		return list
	}
	return true
}

// follows reports whether a document is nodes one after the other that ask nobody, without a state and routes of its own.
func (p *parser) follows(root *yamlnode.Node) bool {
	if root.Entry("ir_version") == nil {
		return false
	}
	if n := root.Get("state_schema"); n != nil && len(n.Entries) > 0 {
		return false
	}
	if n := root.Get("state_class"); n != nil && n.Kind != yamlnode.Null && (n.Kind != yamlnode.Scalar || n.Text.Value != p.stateRef) {
		return false
	}
	if n := root.Get("nodes"); n == nil || n.Kind != yamlnode.Sequence || slices.ContainsFunc(n.Items, asks) {
		return false
	}
	n := root.Get("rules")
	return n == nil || n.Kind == yamlnode.Sequence && !slices.ContainsFunc(n.Items, routes)
}

// asks reports whether a node asks a user.
func asks(n *yamlnode.Node) bool {
	kind := n.Get("kind")
	return kind != nil && kind.Kind == yamlnode.Scalar && kind.Text.Value == "interrupt"
}

// routes reports whether the engine's router keeps a rule.
func routes(n *yamlnode.Node) bool {
	then := n.Get("then")
	if then == nil || then.Kind != yamlnode.Sequence {
		return true
	}
	return !slices.ContainsFunc(then.Items, func(a *yamlnode.Node) bool {
		kind := a.Get("kind")
		return kind == nil || kind.Kind != yamlnode.Scalar || kind.Text.Value != "goto" && kind.Text.Value != "halt"
	})
}

// nodesOf reads the nodes of another document, whose ids are its own.
func (p *parser) nodesOf(root *yamlnode.Node, f *source.File) []*node {
	list, form, byID, reading := p.list, p.form, p.byID, p.reading
	p.list, p.form, p.byID = nil, document, map[string]*node{}
	p.inlined = append(p.inlined, f)
	if m, ok := p.Mapping(root, documentShape); ok {
		p.version(m)
		p.records(m)
		p.nodes(m.Get("nodes"))
		p.rules(m.Get("rules"))
	}
	kids := p.list
	p.inlined = p.inlined[:len(p.inlined)-1]
	p.list, p.form, p.byID, p.reading = list, form, byID, reading
	return kids
}

// beside is the file whose folder the names of graphs are relative to.
func (p *parser) beside() *source.File {
	if n := len(p.inlined); n > 0 {
		return p.inlined[n-1]
	}
	return p.File
}
