package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A rule leads from one node to another, or to the end, when fields of the state have values.
type rule struct {
	tests    []test   // all of them have to hold; none: always
	target   ir.Ident // empty: the run ends
	span     source.Span
	salience int
	rank     int // of the facts that it asks for, in the order in which the engine asserts them, the last
}

// A test holds when the text that Python makes of a field is a value, or is not.
type test struct {
	field *field
	value source.Text
	span  source.Span
	not   bool
}

// A way is one in which the left side of a rule can hold.
type way struct {
	every bool    // it is looked at after every node
	nodes []*node // else after these
	tests []test
	rank  int
}

// rules reads the rules of an IR document.
func (p *parser) rules(n *yamlnode.Node) {
	if n == nil {
		return
	}
	if !p.IsList(n, "`rules`") {
		return
	}
	ids := map[string]source.Span{}
	for _, it := range n.Items {
		m, ok := p.Mapping(it, ruleShape)
		if !ok {
			continue
		}
		p.ruleID(m, ids)
		ways, salience, ok := p.when(m)
		at := dialect.Head(m.Node)
		if when := m.Get("when"); len(ways) > 0 && when != nil {
			at = dialect.Head(when)
		}
		if next, live := p.then(m); ok && live {
			for _, w := range ways {
				p.file(w, salience, next, at)
			}
		}
	}
}

func (p *parser) ruleID(m dialect.Mapping, ids map[string]source.Span) {
	id, ok := p.Text(m.Get("id"), "the id of a rule")
	if !ok {
		return
	}
	p.slug(id, "a rule")
	if first, dup := ids[id.Name]; dup {
		p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: id.Span, Message: "there are two rules `" + id.Name + "`", Related: []diag.Related{{Span: first, Message: "the first is here"}}})
	}
	ids[id.Name] = id.Span
}

// file gives a rule to the nodes that it is looked at after.
func (p *parser) file(w way, salience int, next *ir.Ident, at source.Span) {
	r := &rule{tests: w.tests, span: at, salience: salience, rank: w.rank}
	if next != nil {
		r.target = *next
	}
	if w.every {
		w.nodes = p.list
	}
	for _, x := range w.nodes {
		x.rules = append(x.rules, r)
	}
}

// when reads the facts that a rule asks for. ok is false after a mistake.
func (p *parser) when(m dialect.Mapping) (ways []way, salience int, ok bool) {
	n := m.Get("when")
	switch {
	case n == nil || n.Kind == yamlnode.Scalar && strings.TrimSpace(n.Text.Value) == "":
		return p.always(m), 0, true
	case n.Kind == yamlnode.Scalar:
		return p.clips(n)
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "`when` is a mapping or text")
		return nil, 0, false
	case len(n.Entries) == 0:
		p.Error(diag.MissingKey, dialect.Head(n), "add `node`", "a `when` that is a mapping has at least one key")
		return nil, 0, false
	}
	w, ok := way{every: true}, true
	for _, e := range n.Entries {
		ok = p.condition(e, &w) && ok
	}
	return []way{w}, 0, ok
}

// condition reads one key of `when`: the node, or a field with its value.
func (p *parser) condition(e yamlnode.Entry, w *way) bool {
	name := e.Key.Text.Value
	if name == "node" {
		id, ok := p.Text(e.Value, "`node`")
		if !ok {
			return false
		}
		x := p.from(id)
		w.every, w.nodes = false, []*node{x}
		return x != nil
	}
	switch {
	case e.Value.Kind == yamlnode.Null || e.Value.Kind == yamlnode.Scalar && p.Schema.Tag(e.Value) == "!!null":
		p.Error(diag.BadLiteral, e.Value.Place(), "write \"None\" for a field without a value", "a rule compares with a text, a number or a boolean")
		return false
	case e.Value.Kind != yamlnode.Scalar:
		p.WrongShape(e.Value, "the value of a field is a scalar")
		return false
	}
	f := p.fact(name)
	if f == nil {
		f = p.read(ir.Ident{Name: name, Span: e.Key.Span}, schema.StringType)
	}
	if f == nil {
		return false
	}
	p.unmirrored(f, e.Key.Span)
	w.tests = append(w.tests, test{field: f, value: p.compared(e.Value, f), span: e.Value.Place()})
	w.rank = max(w.rank, p.rankOf(f))
	return true
}

// fact is the field that the facts of a template are made of: the template has its name, or the one that its class says.
func (p *parser) fact(template string) *field {
	mangled := strings.ReplaceAll(template, ".", "-")
	for _, f := range p.order {
		if f.template != "" && strings.ReplaceAll(f.template, ".", "-") == mangled {
			return f
		}
	}
	if f := p.fields[template]; f != nil {
		return f
	}
	return p.fields[strings.ReplaceAll(template, "-", "_")]
}

// rankOf is when the engine asserts the fact of a field: after that of the node, in the order of the state.
func (p *parser) rankOf(f *field) int { return slices.Index(p.order, f) + 1 }

// always is a rule that asks for nothing: CLIPS looks at it once, after the first node.
func (p *parser) always(m dialect.Mapping) []way {
	if len(p.list) == 0 {
		return nil
	}
	p.Differs(dialect.Head(m.Node), "write `when: {node: "+p.list[0].id.Name+"}`", "a rule that asks for nothing is looked at once, after the first node")
	p.once = append(p.once, dialect.Head(m.Node))
	return []way{{nodes: p.list[:1], rank: -1}}
}

// then reads what a rule does: the next node, nil for the end. A rule that does anything else than goto and halt is
// dropped by the engine's router; live is false for it, and after mistakes.
func (p *parser) then(m dialect.Mapping) (next *ir.Ident, live bool) {
	n := m.Get("then")
	switch {
	case n == nil || n.Kind == yamlnode.Sequence && len(n.Items) == 0:
		p.Warn(diag.IgnoredKey, dialect.Head(m.Node), "remove it", "a rule without `then` does nothing")
		return nil, false
	case !p.IsList(n, "`then`"):
		return nil, false
	}
	live = true
	halts := false
	var dropped *yamlnode.Node
	for _, it := range n.Items {
		kind, a, ok := p.action(it)
		switch {
		case !ok:
			live = false
		case kind == "halt":
			halts = true
		case kind == "goto":
			id, ok := p.Text(a.Get("target"), "`target`")
			if !ok { // which was said
				live = false
				break
			}
			to := p.from(id)
			if live = to != nil && live; live && next == nil {
				target := to.target(id.Span)
				next = &target
			}
		case dropped == nil:
			dropped = it.Get("kind")
		}
	}
	if dropped != nil {
		p.Warn(diag.IgnoredKey, dropped.Span, "remove the rule, or the action", "the engine's router drops a rule with the action %s: it does nothing", dropped.Text.Value)
		return nil, false
	}
	if halts {
		next = nil
	}
	return next, live
}

// action reads one action of a rule.
func (p *parser) action(n *yamlnode.Node) (kind string, m dialect.Mapping, ok bool) {
	word := n.Get("kind")
	switch {
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "an action is a mapping with the key `kind`")
		return "", m, false
	case word == nil:
		p.Error(diag.MissingKey, dialect.Head(n), "add `kind`: "+strings.Join(actionKinds, ", "), "an action needs the key `kind`")
		return "", m, false
	case word.Kind != yamlnode.Scalar:
		p.WrongShape(word, "the kind of an action is text")
		return "", m, false
	}
	kind = word.Text.Value
	if actions[kind] == nil {
		p.Word(word, "the kind of an action", actionKinds...)
		return "", m, false
	}
	m, ok = p.Mapping(n, actions[kind])
	return kind, m, ok
}
