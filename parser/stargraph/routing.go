package stargraph

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// branches reports whether some node may not run.
func (p *parser) branches() bool {
	for _, x := range p.list {
		if len(x.rules) > 0 || x.late != nil {
			return true
		}
	}
	return false
}

// routing reads rules or routes.
func (p *parser) routing(m dialect.Mapping) {
	switch p.form {
	case document:
		p.rules(m.Get("rules"))
		p.parallel(m.Get("parallel"))
	case authoring:
		p.routes(m.Get("routes"))
	}
}

// routes reads `source: target` and `source: {verdict: target}`.
func (p *parser) routes(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "`routes` is a mapping from nodes to what comes next")
		return
	}
	for _, e := range n.Entries {
		x := p.from(ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span})
		if e.Value.Kind == yamlnode.Mapping {
			verdict := p.fields["verdict"]
			if verdict == nil || !verdict.route {
				p.Error(diag.UnknownName, e.Key.Span, "declare it: `verdict: {type: str, route: true}`", "routes by value need the state field `verdict` with `route: true`")
				continue
			}
			for _, c := range e.Value.Entries {
				p.add(x, &rule{tests: []test{{field: verdict, value: p.compared(c.Key, verdict), span: c.Key.Span}}, span: c.Key.Span}, c.Value, "done")
			}
			continue
		}
		p.add(x, &rule{span: e.Key.Span}, e.Value, "done")
	}
}

// compared is the text that the value of a field is compared with: what Python makes of the scalar.
func (p *parser) compared(n *yamlnode.Node, f *field) source.Text {
	t := n.Text
	switch tag := p.Schema.Tag(n); tag {
	case "!!bool":
		t.Value, t.Opaque = "False", true
		if v, _ := yamlnode.Bool11(n.Text.Value); v {
			t.Value = "True"
		}
	case "!!null":
		t.Value, t.Opaque, t.Span = "None", true, n.Span
	case "!!int", "!!float":
		text, _, ok := yamlnode.Number11(n.Text.Value)
		if !ok {
			p.Error(diag.BadLiteral, n.Span, "put it in quotes", "values are compared as text: say which text this number is")
			return t
		}
		if tag == "!!float" {
			v, _ := strconv.ParseFloat(text, 64) // it is a number
			text = pythonFloat(v)
		}
		t.Value, t.Opaque = text, true
	}
	if t.Value != n.Text.Value && (f == nil || f.typ != nil && (f.typ.Kind == schema.String || f.typ.Kind == schema.Enum)) {
		p.Warn(diag.DialectDiffers, n.Span, "put it in quotes if that is not meant", "to the engine this is the text %s", t.Value)
	}
	return t
}

// add gives a node a rule whose target is read from n.
func (p *parser) add(x *node, r *rule, n *yamlnode.Node, end string) {
	id, ok := p.Text(n, "the next node")
	if !ok || x == nil {
		return
	}
	if id.Name != end || p.byID[end] != nil {
		to := p.from(id)
		if to == nil {
			return
		}
		r.target = to.target(id.Span)
	}
	x.rules = append(x.rules, r)
}

// from is a node by its id.
func (p *parser) from(id ir.Ident) *node {
	if x := p.byID[id.Name]; x != nil {
		return x
	}
	p.UnknownNode(id, p.nodeNames())
	return nil
}
