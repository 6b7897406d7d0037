package convert

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A pyTexts takes the filter that writes values as Python does out of the texts of a body: the native language has none.
type pyTexts struct {
	*Converter
	body   *ir.Body
	node   *ir.Node // whose texts are rewritten
	behind bool     // they are what it writes to the state: nodes go behind it
	made   []*ir.Node
}

// PythonTexts gives the texts of a body the form of the native language: a choice for a bool, and for a value of another type
// a node that writes it, before the node that shows it.
func (c *Converter) PythonTexts(b *ir.Body) {
	for _, n := range slices.Clone(b.Nodes) {
		p := &pyTexts{Converter: c, body: b, node: n}
		switch v := n.Verb.(type) {
		case *ir.ToolCall:
			own := *v
			own.With, n.Verb = p.with(v.With), &own
		case *ir.GoCall:
			own := *v
			own.With, n.Verb = p.with(v.With), &own
		case *ir.Let:
			own := *v
			own.Fields, n.Verb = p.entries(v.Fields), &own
		case *ir.Human:
			own := *v
			own.Prompt, n.Verb = p.text(v.Prompt), &own
		case *ir.LLM:
			own := *v
			own.System, own.Prompt, n.Verb = p.text(v.System), p.prompt(v.Prompt), &own
		case *ir.Agent:
			own := *v
			own.System, own.Prompt, n.Verb = p.prompt(v.System), p.prompt(v.Prompt), &own
		case *ir.Fail:
			own := *v
			own.Message, n.Verb = p.text(v.Message), &own
		}
		for _, m := range p.made {
			InsertBefore(b, n.ID.Name, m)
		}
		p.written(n)
	}
}

// written rewrites the texts that a node writes to the state. What needs another node is written by that one.
func (p *pyTexts) written(n *ir.Node) {
	p.behind, p.made = true, nil
	var stay, moved []*ir.Set
	for _, s := range n.Set {
		own, before := *s, len(p.made)
		own.Value = p.value(s.Value)
		if len(p.made) > before || slices.ContainsFunc(moved, func(m *ir.Set) bool { return m.Field.Name == s.Field.Name }) {
			moved = append(moved, &own)
		} else {
			stay = append(stay, &own)
		}
	}
	if len(moved) == 0 {
		n.Set = stay
		return
	}
	n.Set = stay
	after := n.ID.Name
	for _, m := range p.made {
		insertAfter(p.body, after, m)
		after = m.ID.Name
	}
	p.made[len(p.made)-1].Set = moved
}

func (p *pyTexts) with(w *ir.With) *ir.With {
	if w == nil {
		return nil
	}
	own := *w
	own.Entries = p.entries(w.Entries)
	return &own
}

func (p *pyTexts) entries(list []*ir.Entry) (out []*ir.Entry) {
	for _, e := range list {
		out = append(out, &ir.Entry{Key: e.Key, Value: p.value(e.Value)})
	}
	return out
}

func (p *pyTexts) prompt(t *ir.Prompt) *ir.Prompt {
	if t == nil {
		return nil
	}
	own := *t
	own.System, own.Text = p.text(t.System), p.text(t.Text)
	return &own
}

func (p *pyTexts) value(v ir.Value) ir.Value {
	if t, is := v.(*ir.Template); is {
		own := p.text(t)
		if id, is := strings.CutPrefix(own.Text.Value, "{{ "); is && p.madeIDs[strings.TrimSuffix(id, " }}")] {
			return Ref(strings.TrimSuffix(id, " }}"), own.Text.Span)
		}
		return own
	}
	return Rewrite(v, p.value)
}

// text is text without the filter.
func (p *pyTexts) text(t *ir.Template) *ir.Template {
	if t == nil || t.Tmpl == nil || !slices.ContainsFunc(t.Tmpl.Segments, func(s expr.Segment) bool { return s.Filter == expr.PyText }) {
		return t
	}
	var b strings.Builder
	for i, s := range t.Tmpl.Segments {
		if s.Expr == nil {
			b.WriteString(literal(t.Tmpl, i))
			continue
		}
		shown := p.expr(t.Text.Value[s.Lo:s.Hi], s.Expr, s.Lo)
		if s.Filter == expr.PyText {
			shown = p.shown(strings.TrimSuffix(strings.TrimPrefix(shown, "{{ "), " | "+expr.PyText+" }}"), s.Expr.Type)
		}
		b.WriteString(shown)
	}
	return Text(b.String(), t.Text.Span)
}

// shown is a place as Python writes it.
func (p *pyTexts) shown(place string, t *schema.Type) string {
	switch {
	case t != nil && t.Kind == schema.Bool:
		return "{{ " + place + ` ? "True" : "False" }}`
	case t != nil && Plain(t):
		return "{{ " + place + " }}"
	}
	for _, m := range p.made {
		if m.Verb.(*ir.GoCall).With.Entries[0].Value.(*ir.Expr).Text.Value == place {
			return "{{ " + m.ID.Name + " }}"
		}
	}
	id := Free(NativeID(strings.ReplaceAll(place, ".", "_")+"_text"), func(id string) bool { return p.FreeID(id) != id || p.madeIDs[id] })
	p.madeIDs[id] = true
	p.made = append(p.made, &ir.Node{ID: Name(id), Verb: Call(PyText, Pair("v", Ref(place)))})
	return "{{ " + id + " }}"
}
