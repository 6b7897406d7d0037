package stargraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// maxSteps is how many nodes of a subgraph run at most unless it says something else.
const maxSteps = 50

var subgraphKeys = []dialect.Key{
	{Name: "inputs", Doc: "fields of this graph by fields of the subgraph"},
	{Name: "outputs", Doc: "fields of the subgraph by fields of this graph"},
	{Name: "max_steps", Doc: "how many nodes of it run at most"},
}

// The document has `spec` next to `config`; the other forms have all keys next to `kind`.
var (
	subgraphConfig = &dialect.Shape{What: "the config of a subgraph node", Keys: subgraphKeys}
	subgraphBeside = &dialect.Shape{What: "a subgraph node", Keys: append([]dialect.Key{{Name: "spec", Doc: "the file of the graph"}}, subgraphKeys...)}
)

// subgraphNode reads a node that runs another graph.
func (p *parser) subgraphNode(x *node, m dialect.Mapping) {
	spec := x.at.Get("spec")
	if spec == nil || spec.Kind == yamlnode.Null {
		p.Warn(diag.IgnoredKey, dialect.Head(x.at), "add `spec`: the file of the graph", "a subgraph without `spec` does nothing")
		return
	}
	id, ok := p.Text(spec, "`spec`")
	if !ok {
		return
	}
	if p.inline(x, m, id) {
		return
	}
	flow := p.load.Flow(p.beside(), id)
	if flow == nil {
		return
	}
	p.addFlow(flow)
	args, given := p.handed(m.Get("inputs"), flow)
	type copied struct {
		to   ir.Ident
		f    *field
		from string
		typ  *schema.Type
	}
	var back []copied
	bound(flow, p.Count(m.Get("max_steps"), "`max_steps`", 1, 10_000, maxSteps))
	p.later = append(p.later, func() { // fields that both have go in and come back, unless something is said of them
		for _, f := range flow.Input {
			if own := p.fields[f.Name]; own != nil && !given[f.Name] {
				args = append(args, &argument{key: ir.Ident{Name: f.Name, Span: x.kind.Span}, text: source.Text{Value: f.Name, Span: x.kind.Span, Opaque: true}, segments: []segment{{field: own}}})
			}
		}
		if n := m.Get("outputs"); n != nil && len(n.Entries) > 0 {
			return
		}
		for _, o := range flow.Output {
			id := ir.Ident{Name: o.Name.Name, Span: x.kind.Span}
			if p.fields[id.Name] == nil || !changes(flow, id.Name) && !given[id.Name] {
				continue
			}
			typ := p.fieldOf(flow, id)
			f := p.write(id, typ)
			p.keeps(f, typ.Present())
			back = append(back, copied{id, f, id.Name, typ})
		}
	})
	if n := m.Get("outputs"); n != nil {
		for _, e := range p.pairs(n, "`outputs`") {
			typ := p.fieldOf(flow, ir.Ident{Name: e.Value.Text.Value, Span: e.Value.Place()})
			if typ == nil {
				continue
			}
			to := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
			f := p.result(to, typ)
			p.keeps(f, typ.Present())
			back = append(back, copied{to, f, e.Value.Text.Value, typ})
		}
	}
	x.lower = func() []*ir.Node {
		n := &ir.Node{ID: x.id, Verb: &ir.Flow{Path: id, With: with(dialect.Head(x.at), args), Flow: flow}, Span: x.at.Span}
		for _, c := range back {
			v := resultField(c.to.Span, x.id.Name, c.from)
			if c.typ.Kind == schema.Opt && c.f.typ.Kind != schema.Opt && !c.f.optional && c.f.typ.Kind != schema.Any {
				v = orElse(v, c.f)
			}
			n.Set = append(n.Set, p.set(c.f, c.to.Span, v, c.typ.Present()))
		}
		return []*ir.Node{n}
	}
}

// orElse is a value, or what a field has when there is none.
func orElse(v *ir.Expr, f *field) *ir.Expr {
	path := f.path()
	tree, _ := expr.Parse("default(a, " + path + ")")
	tree.Kids[0] = v.Node
	return &ir.Expr{Text: source.Text{Value: "default(" + v.Text.Value + ", " + path + ")", Span: v.Text.Span, Opaque: true}, Node: tree}
}

// pairs are the entries of a mapping from names to names.
func (p *parser) pairs(n *yamlnode.Node, what string) []yamlnode.Entry {
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, what+" is a mapping from fields to fields")
		return nil
	}
	var out []yamlnode.Entry
	for _, e := range n.Entries {
		if _, ok := p.Text(e.Value, "the name of a field"); ok {
			out = append(out, e)
		}
	}
	return out
}

func (p *parser) addFlow(flow *ir.Workflow) {
	for _, w := range p.wf.Flows {
		if w == flow {
			return
		}
	}
	p.wf.Flows = append(p.wf.Flows, flow)
}

// bound holds the loops of a graph to a number of nodes. A graph that several nodes run is held to the largest.
func bound(flow *ir.Workflow, steps int64) {
	for _, n := range flow.Body.Nodes {
		if l, ok := n.Verb.(*ir.Loop); ok {
			l.Max = max(l.Max, int(steps))
		}
	}
}

// changes reports whether a node of a graph writes a field.
func changes(flow *ir.Workflow, field string) bool {
	return slices.ContainsFunc(flow.State, func(s *ir.State) bool { return s.Name.Name == field })
}

// handed are the fields that a subgraph is given by name, and which of its fields get them.
func (p *parser) handed(n *yamlnode.Node, flow *ir.Workflow) (args []*argument, given map[string]bool) {
	given = map[string]bool{}
	if n == nil {
		return nil, given
	}
	for _, e := range p.pairs(n, "`inputs`") {
		key := ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}
		given[key.Name] = true
		var typ *schema.Type
		var names []string
		for _, f := range flow.Input {
			if names = append(names, f.Name); f.Name == key.Name {
				typ = f.Type
			}
		}
		if typ == nil && len(flow.Output) > 0 {
			d := diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: key.Span, Message: "the graph " + flow.File.Name + " has no field `" + key.Name + "`: nothing is made of this"}
			if near := diag.Nearest(key.Name, names); near != "" && diag.Close(key.Name, near) {
				d.Help = "`" + near + "` may be meant"
			}
			p.Report(d)
			continue
		}
		if f := p.read(ir.Ident{Name: e.Value.Text.Value, Span: e.Value.Place()}, typ); f != nil {
			args = append(args, &argument{key: key, text: e.Value.Text, segments: []segment{{field: f}}})
		}
	}
	return args, given
}

// fieldOf is the type of a field that a graph ends with; nil after a mistake.
func (p *parser) fieldOf(flow *ir.Workflow, id ir.Ident) *schema.Type {
	var names []string
	for _, o := range flow.Output {
		names = append(names, o.Name.Name)
	}
	for _, s := range flow.State {
		if s.Name.Name == id.Name {
			return s.Type
		}
	}
	for _, f := range flow.Input {
		if f.Name == id.Name {
			return f.Type
		}
	}
	if len(flow.Output) > 0 { // else what is wrong with it was reported
		d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: "the graph " + flow.File.Name + " has no field `" + id.Name + "`"}
		diag.Suggest(&d, id.Name, names)
		p.Report(d)
	}
	return nil
}
