package yamlgraph

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

var interruptShape = nodeShape("an interrupt node", dialect.Key{Name: "message", Doc: "what is asked: text or a mapping"}, dialect.Key{Name: "prompt", Doc: "the prompt that the question is made with"},
	dialect.Key{Name: "resume_key", Doc: "the field of the answer"}, dialect.Key{Name: "variables", Doc: "what the prompt is made of"}, dialect.Key{Name: "idempotent", Doc: "whether what the field holds already is asked"})

// interrupt reads a node that asks a person. What it asks is the field state_key when that has a value, else the message.
func (p *parser) interrupt(m dialect.Mapping, out *ir.Node) {
	name := func(key, absent string) ir.Ident {
		id, ok := p.Text(m.Get(key), "`"+key+"`")
		if !ok {
			id = ir.Ident{Name: absent, Span: out.ID.Span}
		}
		p.field(id, schema.AnyType)
		return id
	}
	t := out.Dynamic.Token
	t.Fresh = !p.truth(m.Get("idempotent"), "`idempotent`", true)
	t.Key, t.Resume = name("state_key", "interrupt_message"), name("resume_key", "user_input")
	out.Verb = &ir.Human{Span: m.Node.Span}
	switch message := m.Get("message"); {
	case m.Get("prompt") != nil:
		p.Error(diag.NotSupported, m.Key("prompt"), "ask with an llm node before, whose state_key is that of this node", "a question that a model makes is not compiled")
	case message == nil:
		o := &ir.Object{Span: m.Node.Span}
		o.Entries = []*ir.Entry{{Key: ir.Ident{Name: "node"}, Value: &ir.Scalar{Text: source.Text{Value: out.ID.Name, Span: out.ID.Span}, Tag: "!!str"}}}
		t.Payload = o
	case message.Kind == yamlnode.Scalar:
		t.Payload = p.message(message)
	default:
		t.Payload = p.constant(message)
	}
}

var (
	jinjaName  = lazyregexp.New(`\{\{-?\s*((?:state\.)?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*-?\}\}`)
	formatName = lazyregexp.New(`\{((?:state\.)?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\}`)
)

// message reads text with names of the state in braces, of Jinja or of Python's format.
func (p *parser) message(n *yamlnode.Node) ir.Value {
	t := n.Text
	form := formatName
	if strings.Contains(t.Value, "{{") || strings.Contains(t.Value, "{%") {
		form = jinjaName
		if strings.ContainsAny(form.ReplaceAllString(t.Value, ""), "{}") {
			p.Error(diag.NotSupported, n.Span, "make the text in a python node", "a message with more than names in braces is not compiled")
			return p.Scalar(n)
		}
	}
	found := form.FindAllStringSubmatchIndex(t.Value, -1)
	if len(found) == 0 {
		return p.Scalar(n)
	}
	out := &ir.Mixed{Text: t}
	at := 0
	for _, m := range found {
		if m[0] > at {
			out.Segments = append(out.Segments, ir.MixedSegment{Lit: t.Value[at:m[0]]})
		}
		ref := p.reference(source.Text{Value: t.Value[m[0]:m[1]], Span: t.At(m[0], m[1])}, strings.TrimPrefix(t.Value[m[2]:m[3]], "state."))
		ref.Missing = ir.MissingKeep
		if form == jinjaName {
			ref.Missing = ir.MissingAbsent
		}
		out.Segments = append(out.Segments, ir.MixedSegment{Ref: ref})
		at = m[1]
	}
	if at < len(t.Value) {
		out.Segments = append(out.Segments, ir.MixedSegment{Lit: t.Value[at:]})
	}
	return out
}
