package stargraph

import (
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
	tests  []test   // all of them have to hold; none: always
	target ir.Ident // empty: the run ends
	span   source.Span
}

// A test holds when the text that Python makes of a field is a value.
type test struct {
	field *field
	value source.Text
	span  source.Span
}

// A place where a rule is looked at: after a node, or after each.
type after struct {
	node  *node // nil: every node
	never bool
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
		p.ruleID(m, ids)
		at, r, ok := p.when(m)
		if next, live := p.then(m); ok && live && !at.never {
			p.file(at, r, next)
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
func (p *parser) file(at after, r *rule, next *ir.Ident) {
	if next != nil {
		r.target = *next
	}
	if at.node != nil {
		at.node.rules = append(at.node.rules, r)
		return
	}
	for _, x := range p.list {
		x.rules = append(x.rules, r)
	}
}

// when reads the facts that a rule asks for. ok is false after a mistake.
func (p *parser) when(m dialect.Mapping) (at after, r *rule, ok bool) {
	n := m.Get("when")
	switch {
	case n == nil || n.Kind == yamlnode.Scalar && strings.TrimSpace(n.Text.Value) == "":
		return p.always(m)
	case n.Kind == yamlnode.Scalar:
		return p.clips(n)
	case n.Kind != yamlnode.Mapping:
		p.WrongShape(n, "`when` is a mapping or text")
		return after{}, nil, false
	case len(n.Entries) == 0:
		p.Error(diag.MissingKey, dialect.Head(n), "add `node`", "a `when` that is a mapping has at least one key")
		return after{}, nil, false
	}
	r, ok = &rule{span: dialect.Head(n)}, true
	for _, e := range n.Entries {
		ok = p.condition(e, &at, r) && ok
	}
	return at, r, ok
}

// condition reads one key of `when`: the node, or a field with its value.
func (p *parser) condition(e yamlnode.Entry, at *after, r *rule) bool {
	name := e.Key.Text.Value
	if name == "node" {
		id, ok := p.Text(e.Value, "`node`")
		if !ok {
			return false
		}
		at.node = p.from(id)
		return at.node != nil
	}
	if e.Value.Kind != yamlnode.Scalar && e.Value.Kind != yamlnode.Null {
		p.WrongShape(e.Value, "the value of a field is a scalar")
		return false
	}
	f := p.read(ir.Ident{Name: name, Span: e.Key.Span}, schema.StringType)
	if f == nil {
		return false
	}
	p.unmirrored(f, e.Key.Span)
	r.tests = append(r.tests, test{f, p.compared(e.Value, f), e.Value.Place()})
	return true
}

// always is a rule that asks for nothing: CLIPS looks at it once, after the first node.
func (p *parser) always(m dialect.Mapping) (after, *rule, bool) {
	if len(p.list) == 0 {
		return after{}, nil, false
	}
	p.Differs(dialect.Head(m.Node), "write `when: {node: "+p.list[0].id.Name+"}`", "a rule that asks for nothing is looked at once, after the first node")
	p.once = append(p.once, dialect.Head(m.Node))
	return after{node: p.list[0]}, &rule{span: dialect.Head(m.Node)}, true
}

// clips reads the left side of a rule in CLIPS.
func (p *parser) clips(n *yamlnode.Node) (at after, r *rule, ok bool) {
	t := n.Text
	list, bad := readClips(t.Value)
	if bad != nil {
		p.Error(diag.NotSupported, t.At(bad.lo, bad.hi), "write `when: {node: ..., field: value}`", "this condition of CLIPS is not compiled: %s", bad.why)
		return after{}, nil, false
	}
	r, ok = &rule{span: dialect.Head(n)}, true
	for _, c := range list {
		ok = p.pattern(t, c, &at, r) && ok
	}
	return at, r, ok
}

// pattern makes a test of a pattern. A pattern that no fact of the engine fits makes the rule one that never holds.
func (p *parser) pattern(t source.Text, c pattern, at *after, r *rule) bool {
	whole, value := t.At(c.lo, c.hi), t.At(c.valLo, c.valLo)
	if c.slot != "" {
		value = t.At(c.valLo, c.valHi)
	}
	switch {
	case c.name == "initial-fact":
		at.never = true
		p.Differs(whole, "", "CLIPS 6.4, which the engine runs, has no initial-fact: this rule never holds")
		return true
	case c.name == "node-id" && c.slot == "id" && c.form == '?', c.name == "node-id" && c.slot == "":
		return true
	case c.name == "node-id" && c.slot == "id":
		x := p.from(ir.Ident{Name: c.value, Span: t.At(c.valLo, c.valLo+len(c.value))})
		if x != nil && at.node != nil && at.node != x {
			at.never = true
			p.Warn(diag.IgnoredKey, whole, "", "this rule never holds: it asks for two nodes")
		}
		at.node = x
		return x != nil
	}
	f := p.fields[c.name]
	if f == nil {
		f = p.fields[strings.ReplaceAll(c.name, "-", "_")]
	}
	switch {
	case f == nil || c.slot != "" && c.slot != "value":
		at.never = true
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.IgnoredKey, Span: whole, Message: "this rule never holds: the engine has no facts of this form"}
		if near := diag.Nearest(c.name, p.fieldNames()); f == nil && near != "" && diag.Close(c.name, near) {
			d.Help = "`" + near + "` may be meant"
		} else {
			d.Help = "write `(field (value \"x\"))` with the name of a state field"
		}
		p.Report(d)
	case c.slot == "" || c.form == '?': // the field, whatever its value
	case c.form == 's':
		at.never = true
		p.Warn(diag.IgnoredKey, value, "put it in quotes", "this rule never holds: values of fields are text, and %s is not", c.value)
	default:
		value = t.At(c.valLo+1, c.valHi-1) // without its quotes
		r.tests = append(r.tests, test{f, source.Text{Value: c.value, Span: value, Opaque: true}, value})
	}
	return true
}

func (p *parser) fieldNames() []string {
	var names []string
	for _, f := range p.order {
		names = append(names, f.id.Name)
	}
	return names
}

// then reads what a rule does: the next node, nil for the end. A rule that does anything else than goto and halt is
// dropped by the engine's router; live is false for it, and after mistakes.
func (p *parser) then(m dialect.Mapping) (next *ir.Ident, live bool) {
	n := m.Get("then")
	switch {
	case n == nil || n.Kind == yamlnode.Sequence && len(n.Items) == 0:
		p.Warn(diag.IgnoredKey, dialect.Head(m.Node), "remove it", "a rule without `then` does nothing")
		return nil, false
	case n.Kind != yamlnode.Sequence:
		p.WrongShape(n, "`then` is a list")
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
			to := p.from(id)
			if live = ok && to != nil && live; live && next == nil {
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
	if n.Kind != yamlnode.Mapping || word == nil || word.Kind != yamlnode.Scalar {
		p.WrongShape(n, "an action is a mapping with the key `kind`")
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
