package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var interruptShape = nodeShape("an interrupt node", dialect.Key{Name: "message", Doc: "what is asked: text or a mapping"}, dialect.Key{Name: "prompt", Doc: "the prompt that the question is made with"},
	dialect.Key{Name: "resume_key", Doc: "the field of the answer"}, dialect.Key{Name: "idempotent", Doc: "whether what the field holds is asked"},
	dialect.Key{Name: "provider", Doc: "who makes the question"}, dialect.Key{Name: "model", Doc: "the model"}, dialect.Key{Name: "temperature", Doc: "of the question"})

// interrupt reads a node that asks a user. What it asks is the field state_key when that has a value, else the message.
func (p *parser) interrupt(m dialect.Mapping, out *Node) {
	name := func(key, absent string) ir.Ident {
		id, ok := p.Text(m.Get(key), "`"+key+"`")
		if !ok {
			id = ir.Ident{Name: absent, Span: out.ID.Span}
		}
		return id
	}
	t := out.Token
	t.Fresh = !p.Flag(m.Get("idempotent"), "`idempotent`", true)
	t.Key, t.Resume = name("state_key", "interrupt_message"), name("resume_key", "user_input")
	if m.Get("state_key") != nil {
		p.field(t.Key, schema.AnyType)
	} else if p.fields[t.Key.Name] == nil { // what is asked is written nowhere, so that every node asks its own question
		t.Key, t.Fresh = ir.Ident{}, true
	}
	if m.Get("resume_key") == nil && p.fields[t.Resume.Name] == nil {
		p.Warn(diag.UnknownName, out.ID.Span, "write `resume_key: FIELD`", "the state has no field `%s`, which takes the answer where `resume_key` is missing", t.Resume.Name)
	}
	p.field(t.Resume, schema.AnyType)
	out.Verb = &ir.Human{Span: m.Node.Span}
	switch message := m.Get("message"); {
	case m.Get("prompt") != nil:
		file, ok := p.Text(m.Get("prompt"), "`prompt`")
		if !ok {
			return
		}
		if message != nil {
			p.Warn(diag.IgnoredKey, m.Key("message"), "remove it", "nothing reads the message of a node with a `prompt`")
		}
		t.Ask = &TokenAsk{Fail: AskRaise}
		p.asked = append(p.asked, &asking{node: out, kind: "interrupt", m: m, file: file})
	case message == nil:
		o := &ir.Object{Span: m.Node.Span}
		o.Entries = []*ir.Entry{{Key: ir.Ident{Name: "node"}, Value: &ir.Scalar{Text: source.Text{Value: out.ID.Name, Span: out.ID.Span}, Tag: "!!str"}}}
		t.Payload = o
	case message.Kind == yamlnode.Scalar:
		if t.Payload = p.message(message); t.Payload == nil {
			t.Ask = &TokenAsk{}
			p.asked = append(p.asked, &asking{node: out, kind: "message", m: m, vars: message})
		}
	default:
		t.Payload = p.constant(message)
	}
}

var (
	jinjaName  = lazyregexp.New(`\{\{-?\s*((?:state\.)?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\s*-?\}\}`)
	formatName = lazyregexp.New(`\{((?:state\.)?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\}`)
)

// message reads text with names of the state in braces, of Jinja or of Python's format; nil when it is more of a template.
func (p *parser) message(n *yamlnode.Node) ir.Value {
	t := n.Text
	form := formatName
	if strings.Contains(t.Value, "{{") || strings.Contains(t.Value, "{%") {
		form = jinjaName
		if strings.ContainsAny(form.ReplaceAllString(t.Value, ""), "{}") {
			return nil
		}
	}
	found := form.FindAllStringSubmatchIndex(t.Value, -1)
	if len(found) == 0 {
		return p.Scalar(n)
	}
	out := &dialect.Mixed{Text: t}
	at := 0
	for _, m := range found {
		if m[0] > at {
			out.Segments = append(out.Segments, dialect.MixedSegment{Lit: t.Value[at:m[0]]})
		}
		ref := p.reference(source.Text{Value: t.Value[m[0]:m[1]], Span: t.At(m[0], m[1])}, strings.TrimPrefix(t.Value[m[2]:m[3]], "state."))
		ref.Missing = dialect.MissingKeep
		if form == jinjaName {
			ref.Missing = dialect.MissingAbsent
		}
		out.Segments = append(out.Segments, dialect.MixedSegment{Ref: ref})
		at = m[1]
	}
	if at < len(t.Value) {
		out.Segments = append(out.Segments, dialect.MixedSegment{Lit: t.Value[at:]})
	}
	return out
}

// template reads a message that is a template of Jinja over the fields of the state.
func (p *parser) template(x *asking) {
	text := x.vars.Text
	body, problems := jinja.Parse(text)
	for _, y := range problems {
		code := diag.ExprSyntax
		if y.Unsupported {
			code = diag.NotSupported
		}
		p.Error(code, y.Span, y.Help, "%s", y.Message)
	}
	if len(problems) > 0 {
		return
	}
	jinja.WalkPrompt(body, func(e *jinja.PromptExpr) bool {
		if e.Op == "attr" && e.Kids[0].Op == "name" && e.Kids[0].Name == "state" { // state.field is the field
			*e = jinja.PromptExpr{Op: "name", Name: e.Name, Span: e.Span}
		}
		return true
	})
	ask := x.node.Token.Ask
	ask.Prompt = &Rendering{File: ir.Ident{Name: x.node.ID.Name, Span: x.vars.Span}, User: &PromptTemplate{Text: text, Body: body}}
	for _, v := range freeVariables(ask.Prompt) {
		entry := &ir.Entry{Key: ir.Ident{Name: v.name, Span: v.at}}
		if p.named(v.name, v.at); p.fields[v.name] != nil {
			entry.Value = &dialect.Reference{Text: source.Text{Value: v.name, Span: v.at}, Root: "state", Path: []string{v.name}, Missing: dialect.MissingAbsent}
		} else {
			p.Warn(diag.UnknownName, v.at, "declare it in `state`", "the state has no field `%s`: it is always undefined", v.name)
		}
		ask.Values = append(ask.Values, entry)
	}
}
