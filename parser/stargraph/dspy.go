package stargraph

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

var dspyConfig = modelConfig("the config of a dspy node",
	dialect.Key{Name: "signature", Doc: "what is asked, as in `question -> answer: str`"},
	dialect.Key{Name: "module", Doc: "predict or cot"},
	dialect.Key{Name: "signature_map", Doc: "state fields by fields of the signature"},
	dialect.Key{Name: "stub", Doc: "true: nothing is asked"},
)

// dspyNode reads a question by a signature of DSPy. What is asked is the same; how DSPy words it is not.
func (p *parser) dspyNode(x *node, m dialect.Mapping) {
	if p.Flag(m.Get("stub"), "`stub`", false) {
		p.Differs(m.Key("stub"), "remove `stub` to ask the model", "a stub asks nothing and writes nothing")
		return
	}
	n := m.Get("signature")
	if n == nil {
		p.Error(diag.MissingKey, dialect.Head(m.Node), "add `signature`: what is asked, as in `question -> answer: str`", "a dspy node needs the key `signature`, unless it is a stub")
		return
	}
	if _, ok := p.Text(n, "`signature`"); !ok {
		return
	}
	ins, outs, ok := p.signature(n.Text)
	if !ok {
		return
	}
	names := p.signatureMap(m.Get("signature_map"), append(ins[:len(ins):len(ins)], outs...))
	var inputs []*argument
	for _, f := range ins {
		id, text := f.id, source.Text{Value: f.id.Name, Span: f.id.Span, Opaque: true}
		if to, ok := names[f.id.Name]; ok {
			id, text = to, source.Text{Value: to.Name, Span: to.Span, Opaque: true}
		}
		if field := p.read(id, f.typ); field != nil {
			inputs = append(inputs, &argument{key: f.id, text: text, segments: []segment{{field: field}}})
		}
	}
	var outputs []output
	if n := m.Get("module"); n != nil && p.Word(n, "the module of a dspy node", "predict", "cot") == "cot" {
		steps := output{name: reasoning(outs), typ: schema.StringType, doc: "the reasons, step by step, before the rest"}
		if f := p.fields[steps.name]; f != nil && f.declared {
			steps.kept = schema.StringType
		}
		outputs = append(outputs, steps)
	}
	for _, f := range outs {
		to := f.id
		if name, ok := names[f.id.Name]; ok {
			to = name
		}
		outputs = append(outputs, output{name: f.id.Name, typ: f.typ, kept: f.typ, to: to})
	}
	system := "Given the fields " + listed(ins) + ", produce the fields " + listed(outs) + "."
	if m.Get("instructions") != nil {
		system = ""
	}
	p.question(x, m, system, inputs, outputs)
}

// reasoning is what chains of thought are called, unless the signature has such a field.
func reasoning(outs []signed) string {
	for _, f := range outs {
		if f.id.Name == "reasoning" {
			return "steps"
		}
	}
	return "reasoning"
}

func listed(fields []signed) string {
	var names []string
	for _, f := range fields {
		names = append(names, "`"+f.id.Name+"`")
	}
	return strings.Join(names, ", ")
}

// A signed field is one of a signature.
type signed struct {
	id  ir.Ident
	typ *schema.Type
}

// signature reads `a, b: int -> c: list[str]`.
func (p *parser) signature(t source.Text) (ins, outs []signed, ok bool) {
	i := strings.Index(t.Value, "->")
	if i < 0 {
		if strings.Contains(t.Value, ":") && !strings.Contains(t.Value, " ") {
			p.Error(diag.NotSupported, t.Span, "write the signature as text, as in `question -> answer: str`", "signatures that are Python classes are not compiled")
			return nil, nil, false
		}
		p.Error(diag.BadLiteral, t.Span, "write it as in `question -> answer: str`", "a signature has an arrow between what is given and what is asked for")
		return nil, nil, false
	}
	ins, ok = p.signatureSide(t, 0, i)
	outs, good := p.signatureSide(t, i+2, len(t.Value))
	seen := map[string]bool{}
	for _, f := range append(ins[:len(ins):len(ins)], outs...) {
		if seen[f.id.Name] {
			p.Error(diag.DuplicateName, f.id.Span, "", "the field `%s` appears twice in the signature", f.id.Name)
			return nil, nil, false
		}
		seen[f.id.Name] = true
	}
	return ins, outs, ok && good
}

func (p *parser) signatureSide(t source.Text, lo, hi int) (fields []signed, ok bool) {
	at := lo
	for _, one := range split(t.Value[lo:hi]) {
		begin := at + strings.Index(t.Value[at:hi], one)
		at = begin + len(one)
		name, typ, annotated := strings.Cut(one, ":")
		name = strings.TrimSpace(name)
		id := ir.Ident{Name: name, Span: t.At(begin, at)}
		if !fieldForm.MatchString(name) {
			p.Error(diag.BadLiteral, id.Span, "write it as in `question, notes: list[str] -> answer: str`", "`%s` is not a field of a signature", one)
			return nil, false
		}
		f := signed{id, schema.StringType}
		if annotated {
			id.Name = strings.TrimSpace(typ)
			if f.typ = p.pythonType(id); f.typ == nil {
				return nil, false
			}
		}
		fields = append(fields, f)
	}
	return fields, true
}

// signatureMap reads which state fields stand for which fields of the signature.
func (p *parser) signatureMap(n *yamlnode.Node, fields []signed) map[string]ir.Ident {
	out := map[string]ir.Ident{}
	if n == nil {
		return out
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.id.Name)
	}
	for _, e := range p.pairs(n, "`signature_map`") {
		name, field := e.Key.Text.Value, ir.Ident{Name: e.Value.Text.Value, Span: e.Value.Place()}
		if !contains(known, name) {
			if contains(known, field.Name) { // the other way around
				name, field = field.Name, ir.Ident{Name: name, Span: e.Key.Span}
			} else {
				d := diag.Diagnostic{Code: diag.UnknownName, Span: e.Key.Span, Message: "the signature has no field `" + name + "`"}
				diag.Suggest(&d, name, known)
				p.Report(d)
				continue
			}
		}
		out[name] = field
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

var reactConfig = modelConfig("the config of a react node",
	dialect.Key{Name: "tools", Required: true, Doc: "the registry keys of the tools"},
	dialect.Key{Name: "input", Doc: "the state field with the question"},
	dialect.Key{Name: "max_iters", Doc: "the most answers of the model"},
)

// reactNode reads a model that works with tools.
func (p *parser) reactNode(x *node, m dialect.Mapping) {
	input := p.one(x, m, "question")
	iters := p.Count(m.Get("max_iters"), "`max_iters`", 1, 64, 8)
	calls := max(iters, defaultCalls)
	tools := p.toolList(m.Get("tools"))
	model := p.model(x, m)
	system := "Answer the question with the help of the tools."
	if n, ok := p.constant(m.Get("instructions"), "`instructions`"); ok {
		system = n.key.Name
	}
	at := x.kind.Span
	answer := p.result(ir.Ident{Name: "answer", Span: at}, schema.StringType)
	trace := p.result(ir.Ident{Name: "tool_trace", Span: at}, schema.AnyType)
	x.lower = func() []*ir.Node {
		prompt := labelled(at, input)
		agent := &ir.Agent{Model: model, Tools: ir.AgentTools(tools...), Policy: &ir.Policy{MaxIterations: &iters, MaxToolCalls: &calls, Span: at}, Span: x.at.Span,
			System: &ir.Prompt{Text: mixed(source.Text{Span: at, Opaque: true}, []segment{{lit: system}}), Span: at}, Prompt: &ir.Prompt{Text: prompt, Span: at}}
		ask := &ir.Node{ID: x.id, Verb: agent, Span: x.at.Span}
		ask.Set = []*ir.Set{p.set(answer, at, resultField(at, x.id.Name, "response"), schema.StringType)}
		f := runtimeFunc(at, reactPackage, "Trace", "lists the calls of an agent.", schema.AnyType, param("calls", schema.MapOf(schema.EnvelopeType)), param("order", schema.ListOf(schema.StringType)))
		f.Bind.Err = false
		w := &ir.With{Span: at}
		for _, k := range []struct{ arg, from string }{{"calls", "tools_by_id"}, {"order", "tool_order"}} {
			w.Entries = append(w.Entries, &ir.Entry{Key: ir.Ident{Name: k.arg, Span: at}, Value: resultField(at, x.id.Name, k.from)})
		}
		list := &ir.Node{ID: p.part(x, "trace"), Verb: &ir.GoCall{Func: f, With: w}, Span: x.at.Span}
		list.Set = []*ir.Set{p.set(trace, at, result(at, list.ID.Name), schema.AnyType)}
		return []*ir.Node{ask, list}
	}
}

// defaultCalls is how many calls an agent makes at most unless it may ask more often.
const defaultCalls = 25

const reactPackage = runtimePackage + "/react"

var bareTool = lazyregexp.New(`^[^@]+$`)

// toolList reads the tools of a model: registry keys, or mappings with id and version.
func (p *parser) toolList(n *yamlnode.Node) []ir.Ident {
	if n == nil {
		return nil
	}
	switch {
	case n.Kind != yamlnode.Sequence:
		p.WrongShape(n, "`tools` is a list of registry keys")
		return nil
	case len(n.Items) == 0:
		p.Error(diag.BadLiteral, dialect.Head(n), "", "a react node needs at least one tool")
		return nil
	}
	var out []ir.Ident
	for _, it := range n.Items {
		node, version := it, ""
		if it.Kind == yamlnode.Mapping {
			if v := it.Get("version"); v != nil && v.Kind == yamlnode.Scalar {
				version = v.Text.Value
			}
			node = it.Get("id")
		}
		key, ok := p.Text(node, "the registry key of a tool")
		if !ok {
			continue
		}
		if version != "" && bareTool.MatchString(key.Name) {
			key.Name += "@" + version
		}
		if t := p.tool(&key); t != nil {
			p.denied(key, t)
			out = append(out, key)
		}
	}
	return out
}
