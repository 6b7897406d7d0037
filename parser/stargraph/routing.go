package stargraph

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A rule leads from one node to another, or to the end, when a field has a value.
type rule struct {
	field  *field      // nil: always
	value  source.Text // as text
	target ir.Ident    // empty: the run ends
	span   source.Span
}

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
				p.add(x, &rule{field: verdict, value: p.compared(c.Key), span: c.Key.Span}, c.Value, "done")
			}
			continue
		}
		p.add(x, &rule{span: e.Key.Span}, e.Value, "done")
	}
}

// compared is the text that the value of a field is compared with: what Python makes of the scalar.
func (p *parser) compared(n *yamlnode.Node) source.Text {
	t := n.Text
	switch tag := p.Schema.Tag(n); tag {
	case "!!bool":
		t.Value, t.Opaque = "False", true
		if v, _ := yamlnode.Bool11(n.Text.Value); v {
			t.Value = "True"
		}
	case "!!null":
		t.Value, t.Opaque = "None", true
	case "!!int", "!!float":
		text, _, ok := yamlnode.Number11(n.Text.Value)
		if !ok || tag == "!!float" && text != n.Text.Value { // Python's spelling of other numbers is its own
			p.Error(diag.BadLiteral, n.Span, "put it in quotes", "values are compared as text: say which text this number is")
			return t
		}
		t.Value, t.Opaque = text, true
	}
	if t.Value != n.Text.Value {
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
	p.addRule(x, r)
}

func (p *parser) addRule(x *node, r *rule) {
	if r.field != nil && r.field.typ.Kind != schema.String {
		p.Error(diag.NotSupported, r.span, "", "only fields of the type str are tested by routes, and %s is not one", r.field.id.Name)
		return
	}
	x.rules = append(x.rules, r)
}

// from is a node by its id.
func (p *parser) from(id ir.Ident) *node {
	if x := p.byID[id.Name]; x != nil {
		return x
	}
	d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: "there is no node `" + id.Name + "`"}
	var names []string
	for _, x := range p.list {
		names = append(names, x.id.Name)
	}
	if len(id.Name) < 100 {
		diag.Suggest(&d, id.Name, names)
	}
	p.Report(d)
	return nil
}

// rules reads the rules of an IR document.
func (p *parser) rules(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Sequence {
		p.WrongShape(n, "`rules` is a list")
		return
	}
	ids := map[string]source.Span{}
	for _, it := range n.Items {
		m, ok := p.Mapping(it, ruleShape)
		if !ok {
			continue
		}
		id, _ := p.Text(m.Get("id"), "the id of a rule")
		if first, dup := ids[id.Name]; dup && id.Name != "" {
			p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: id.Span, Message: "there are two rules `" + id.Name + "`", Related: []diag.Related{{Span: first, Message: "the first is here"}}})
		}
		ids[id.Name] = id.Span
		if x, r := p.when(m); x != nil {
			p.then(x, r, m)
		}
	}
}

// when reads the facts that a rule asks for: after which node it is looked at, and which value a field has.
func (p *parser) when(m dialect.Mapping) (*node, *rule) {
	n := m.Get("when")
	switch {
	case n == nil:
		p.Error(diag.NotSupported, dialect.Head(m.Node), "write `when: {node: ...}`", "a rule that says no node is not compiled")
		return nil, nil
	case n.Kind == yamlnode.Scalar:
		return p.clips(n)
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "`when` is a mapping or text")
		return nil, nil
	}
	var x *node
	r := &rule{span: dialect.Head(n)}
	at := n.Get("node")
	if at == nil {
		p.Error(diag.NotSupported, dialect.Head(n), "add `node`", "a rule that says no node is not compiled")
		return nil, nil
	}
	if id, ok := p.Text(at, "`node`"); ok {
		x = p.from(id)
	}
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		if name == "node" {
			continue
		}
		if r.field != nil {
			p.Error(diag.NotSupported, e.Key.Span, "test one field", "a rule that tests several fields is not compiled")
			return nil, nil
		}
		if e.Value.Kind != yamlnode.Scalar {
			p.WrongShape(e.Value, "the value of a field is a scalar")
			return nil, nil
		}
		if r.field = p.read(ir.Ident{Name: name, Span: e.Key.Span}, schema.StringType); r.field == nil {
			return nil, nil
		}
		r.value = p.compared(e.Value)
	}
	return x, r
}

var (
	clipsNode  = regexp.MustCompile(`^\s*(?:\?[A-Za-z][A-Za-z0-9_-]*\s*<-\s*)?\(\s*node-id\s+\(\s*id\s+"?([a-z0-9][a-z0-9_\-.]*)"?\s*\)\s*\)\s*`)
	clipsField = regexp.MustCompile(`^(?:\?[A-Za-z][A-Za-z0-9_-]*\s*<-\s*)?\(\s*([A-Za-z_][A-Za-z0-9_-]*)\s+\(\s*value\s+"([^"\\]*)"\s*\)\s*\)\s*$`)
)

// clips reads the two patterns of CLIPS that say the same as a mapping: a node, and perhaps the value of one field.
func (p *parser) clips(n *yamlnode.Node) (*node, *rule) {
	t := n.Text
	m := clipsNode.FindStringSubmatchIndex(t.Value)
	if m == nil {
		p.Error(diag.NotSupported, dialect.Head(n), "write `when: {node: ...}`", "this pattern is not compiled: only (node-id (id X)) and (field (value \"x\")) are")
		return nil, nil
	}
	x := p.from(ir.Ident{Name: t.Value[m[2]:m[3]], Span: t.At(m[2], m[3])})
	r := &rule{span: dialect.Head(n)}
	rest := t.Value[m[1]:]
	if rest == "" {
		return x, r
	}
	f := clipsField.FindStringSubmatchIndex(rest)
	if f == nil {
		p.Error(diag.NotSupported, t.At(m[1], len(t.Value)), "write `when: {node: ..., field: value}`", "this pattern is not compiled: only (node-id (id X)) and (field (value \"x\")) are")
		return nil, nil
	}
	name := strings.ReplaceAll(rest[f[2]:f[3]], "-", "_")
	if r.field = p.read(ir.Ident{Name: name, Span: t.At(m[1]+f[2], m[1]+f[3])}, schema.StringType); r.field == nil {
		return nil, nil
	}
	r.value = source.Text{Value: rest[f[4]:f[5]], Span: t.At(m[1]+f[4], m[1]+f[5]), Opaque: true}
	return x, r
}

// then reads what a rule does. A rule with anything else than goto and halt is dropped by the engine.
func (p *parser) then(x *node, r *rule, m dialect.Mapping) {
	n := m.Get("then")
	switch {
	case n == nil || n.Kind == yamlnode.Sequence && len(n.Items) == 0:
		p.Warn(diag.IgnoredKey, dialect.Head(m.Node), "remove it", "a rule without `then` does nothing")
		return
	case n.Kind != yamlnode.Sequence:
		p.WrongShape(n, "`then` is a list")
		return
	}
	var halt, next *rule
	for _, it := range n.Items {
		kind := it.Get("kind")
		if it.Kind != yamlnode.Mapping || kind == nil || kind.Kind != yamlnode.Scalar {
			p.WrongShape(it, "an action is a mapping with the key `kind`")
			return
		}
		shape := actions[kind.Text.Value]
		if shape == nil {
			switch kind.Text.Value {
			case "parallel", "retry", "assert", "retract", "interrupt":
				p.Error(diag.NotSupported, kind.Span, "remove the rule", "the engine's router drops a rule with the action %s, and it is not compiled", kind.Text.Value)
			default:
				p.Word(kind, "the kind of an action", "goto", "halt", "parallel", "retry", "assert", "retract", "interrupt")
			}
			return
		}
		a, _ := p.Mapping(it, shape)
		one := *r
		if kind.Text.Value == "halt" {
			halt = &one
			continue
		}
		id, ok := p.Text(a.Get("target"), "`target`")
		to := p.from(id)
		if !ok || to == nil {
			return
		}
		if one.target = to.target(id.Span); next == nil {
			next = &one
		}
	}
	if halt != nil {
		next = halt
	}
	p.addRule(x, next)
}

// edges makes edges of the rules of every node, and of the order of the file where none holds. A halt counts before a
// goto.
func (p *parser) edges() {
	for i, x := range p.list {
		var next ir.Ident
		if i+1 < len(p.list) {
			next = p.list[i+1].id
		}
		p.leave(x, next)
	}
}

// leave makes the edges that lead from a node: one, a switch over the field that its rules test, or such with an edge back.
func (p *parser) leave(x *node, next ir.Ident) {
	e := &ir.Edge{From: x.id, Span: x.id.Span}
	on, rules, last := p.choices(x)
	if last != nil {
		next, e.Span = last.target, last.span
	}
	var back *ir.Edge
	for _, r := range rules {
		target := r.target
		if p.leadsBack(x, target) {
			if back != nil {
				p.Error(diag.NotSupported, r.span, "", "a second value that leads back from %s is not compiled", x.id.Name)
				return
			}
			cond := on.path() + " == " + strconv.Quote(r.value.Value)
			back = &ir.Edge{From: x.id, To: []ir.Ident{target}, When: reference(r.span, cond), Back: true, Span: r.span}
			target.Name = ""
		}
		e.Cases = append(e.Cases, &ir.Case{Value: &ir.Scalar{Text: r.value, Tag: "!!str"}, To: []ir.Ident{orEnd(target, r.span)}})
	}
	edges := &p.wf.Body.Edges
	switch {
	case p.leadsBack(x, next) && on != nil:
		p.Error(diag.NotSupported, e.Span, "write a route for the values that lead on, and let the others lead to a node behind", "values that are not named cannot lead back from %s", x.id.Name)
	case p.leadsBack(x, next):
		*edges = append(*edges, &ir.Edge{From: x.id, To: []ir.Ident{next}, When: reference(e.Span, "true"), Back: true, Span: e.Span})
	case on == nil && next.Name != "":
		e.To = []ir.Ident{next}
		*edges = append(*edges, e)
	case back != nil && len(e.Cases) == 1:
		e.Cases, e.To, e.When = nil, []ir.Ident{orEnd(next, e.Span)}, reference(e.Span, strings.Replace(back.When.Text.Value, "==", "!=", 1))
		*edges = append(*edges, back, e)
	case on != nil:
		if back != nil {
			*edges = append(*edges, back)
		}
		e.Switch, e.Default = reference(e.Span, on.path()), []ir.Ident{orEnd(next, e.Span)}
		*edges = append(*edges, e)
	}
}

// choices are the rules of a node that test a field, each value once, halts before gotos; and the first that always holds.
func (p *parser) choices(x *node) (on *field, rules []*rule, last *rule) {
	seen := map[string]bool{}
	for _, halts := range []bool{true, false} {
		for _, r := range x.rules {
			switch {
			case (r.target.Name == "") != halts || last != nil:
			case r.field == nil:
				last = r
			case on != nil && on != r.field:
				p.Error(diag.NotSupported, r.span, "test one field", "rules of one node that test several fields are not compiled")
			case !seen[r.value.Value]:
				on, seen[r.value.Value] = r.field, true
				rules = append(rules, r)
			}
		}
	}
	return on, rules, last
}

func orEnd(id ir.Ident, at source.Span) ir.Ident {
	if id.Name == "" {
		return ir.Ident{Name: "end", Span: at}
	}
	return id
}

// leadsBack reports whether a target lies where the run has been.
func (p *parser) leadsBack(x *node, target ir.Ident) bool {
	to := p.byID[target.Name]
	return target.Name != "" && to != nil && to.index <= x.index
}
