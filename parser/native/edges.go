package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// fieldPath is an expression that needs nothing but its `$`.
var fieldPath = lazyregexp.New(`^[a-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// edges reads the list of edges: chains as text, the rest as mappings.
func (p *parser) edges(n *yamlnode.Node) []*ir.Edge {
	if n.Kind != yamlnode.Sequence {
		p.wrongShape(n, "`edges` is a list", "write `- a -> b`, one line for each chain")
		return nil
	}
	var out []*ir.Edge
	for _, it := range n.Items {
		switch it.Kind {
		case yamlnode.Scalar:
			out = append(out, p.edgeChain(it)...)
		case yamlnode.Mapping:
			if e := p.edge(it); e != nil {
				out = append(out, e)
			}
		default:
			p.wrongShape(it, "an edge is text like `a -> b`, or a mapping", "")
		}
	}
	return out
}

const edgeHelp = "write `a -> b`, `a -> b -> c` or `a, b -> c`"

// edgeChain reads `a, b -> c -> d, e`.
func (p *parser) edgeChain(n *yamlnode.Node) []*ir.Edge {
	t := n.Text
	if at, arrow := wrongArrow(t.Value); at >= 0 {
		d := diag.Diagnostic{Code: diag.BadEdgeForm, Span: t.At(at, at+len(arrow)), Message: "`" + arrow + "` is not an arrow", Help: "replace with `->`"}
		d.Fixes = []diag.Fix{diag.Replace(d.Span, "->")}
		p.say(d)
		return nil
	}
	var steps [][]ir.Ident
	lo := 0
	for _, part := range strings.Split(t.Value, "->") {
		step, ok := p.edgeNames(t, lo, lo+len(part))
		if !ok {
			return nil
		}
		steps = append(steps, step)
		lo += len(part) + len("->")
	}
	if len(steps) == 1 {
		p.report(diag.BadEdgeForm, textSpan(t), edgeHelp, "an edge leads from one node to another")
		return nil
	}
	var out []*ir.Edge
	for i := range steps[1:] {
		for _, from := range steps[i] {
			if p.isEnd(from) {
				continue
			}
			to := steps[i+1]
			span := source.Span{File: from.Span.File, Lo: from.Span.Lo, Hi: max(from.Span.Hi, to[len(to)-1].Span.Hi)}
			out = append(out, &ir.Edge{From: from, To: to, Span: span})
		}
	}
	return out
}

// wrongArrow finds what people write for an arrow.
func wrongArrow(s string) (int, string) {
	for _, a := range []string{"-->", "->>", "=>", "→", ">>", "<-"} {
		if at := strings.Index(s, a); at >= 0 {
			return at, a
		}
	}
	if at := strings.IndexByte(s, '>'); at >= 0 && !strings.Contains(s, "->") {
		return at, ">"
	}
	return -1, ""
}

// edgeNames reads the ids between commas in [lo, hi) of a text.
func (p *parser) edgeNames(t source.Text, lo, hi int) ([]ir.Ident, bool) {
	var out []ir.Ident
	for _, part := range strings.Split(t.Value[lo:hi], ",") {
		name := strings.TrimSpace(part)
		at := lo + strings.Index(part, name)
		lo += len(part) + 1
		switch {
		case name == "":
			p.report(diag.BadEdgeForm, textSpan(t), edgeHelp, "a node is missing in the edge")
			return nil, false
		case !idForm.MatchString(name) && p.ids[name].IsZero(): // a node with such an id was reported there
			p.report(diag.BadEdgeForm, t.At(at, at+len(name)), edgeHelp, "`%s` is not a node id", shorten(name))
			return nil, false
		}
		out = append(out, identAt(t, at, at+len(name)))
	}
	return out, true
}

func (p *parser) isEnd(from ir.Ident) bool {
	if from.Name != "end" {
		return false
	}
	p.report(diag.BadEdgeForm, from.Span, "", "nothing comes after `end`")
	return true
}

// edge reads a mapping; nil when it leads nowhere.
func (p *parser) edge(n *yamlnode.Node) *ir.Edge {
	shape := shapeEdge
	switch {
	case n.Get("switch") != nil || n.Get("cases") != nil:
		shape = shapeSwitch
	case n.Get("max") != nil || n.Get("exhausted") != nil:
		shape = shapeBack
	}
	m, _ := p.mapping(n, shape)
	e := &ir.Edge{Span: n.Span}
	from := p.targets(m.get("from"))
	if len(from) > 1 {
		p.report(diag.BadEdgeForm, from[1].Span, "write one edge for each", "an edge written as a mapping leads from one node")
	}
	if len(from) == 0 || p.isEnd(from[0]) {
		return nil
	}
	e.From = from[0]
	e.To = p.targets(m.get("to"))
	if v := m.get("when"); v != nil {
		e.When = p.expr(v)
	}
	switch shape {
	case shapeSwitch:
		p.switchEdge(e, m)
		if e.Switch == nil {
			return nil
		}
	case shapeBack:
		p.backEdge(e, m)
	}
	if shape != shapeSwitch && len(e.To) == 0 {
		return nil
	}
	return e
}

// targets reads one or several ids: a, `a, b` or [a, b].
func (p *parser) targets(n *yamlnode.Node) []ir.Ident {
	if n == nil {
		return nil
	}
	items := []*yamlnode.Node{n}
	if n.Kind == yamlnode.Sequence {
		items = n.Items
	}
	var out []ir.Ident
	for _, it := range items {
		if !isScalar(it) {
			p.wrongShape(it, "a node id is expected", "")
			continue
		}
		if ids, ok := p.edgeNames(it.Text, 0, len(it.Text.Value)); ok {
			out = append(out, ids...)
		}
	}
	return out
}

func (p *parser) switchEdge(e *ir.Edge, m mapping) {
	if v := m.get("switch"); v != nil {
		e.Switch = p.expr(v)
	}
	cases := m.get("cases")
	if cases != nil && cases.Kind != yamlnode.Mapping {
		p.wrongShape(cases, "`cases` is a mapping from values to nodes", "")
	} else if cases != nil {
		for _, c := range cases.Entries {
			to := p.targets(c.Value)
			if v := p.caseValue(c.Key); v != nil && len(to) > 0 {
				e.Cases = append(e.Cases, &ir.Case{Value: v, To: to})
			}
		}
	}
	e.Default = p.targets(m.get("default"))
}

// caseValue reads a literal.
func (p *parser) caseValue(key *yamlnode.Node) ir.Value {
	t, ok := p.text(key, "a case")
	if !ok {
		return nil
	}
	tag := key.Tag
	if tag == "" {
		tag = "!!str"
	}
	return &ir.Scalar{Text: t, Tag: tag}
}

func (p *parser) backEdge(e *ir.Edge, m mapping) {
	e.Back = true
	if len(e.To) > 1 {
		p.report(diag.BadEdgeForm, e.To[1].Span, "", "an edge back leads to one node, where the loop begins")
		e.To = e.To[:1]
	}
	if v := m.get("max"); v != nil {
		e.Max = 1
		if c, ok := p.bound(v, "`max`"); ok {
			e.Max = c
		}
	}
	if x := p.targets(m.get("exhausted")); len(x) > 1 {
		p.report(diag.BadEdgeForm, x[1].Span, "", "`exhausted` leads to one node")
	} else if len(x) == 1 {
		e.Exhausted = &x[0]
	}
}
