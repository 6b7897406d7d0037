package stargraph

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// defaultModel is asked where neither the node nor the document says which.
const defaultModel = "openai:gpt-4o-mini"

// modelKeys are the keys of every kind that asks a model.
var modelKeys = []dialect.Key{
	{Name: "instructions", Doc: "what the model receives first"},
	{Name: "model", Doc: "the model, as in openai/gpt-4o-mini"},
	{Name: "api_base", Doc: "the address of the model's server"},
	{Name: "api_key_env", Doc: "the environment variable with the key"},
}

// modelConfig is the config of a kind that asks a model.
func modelConfig(what string, keys ...dialect.Key) *dialect.Shape {
	return &dialect.Shape{What: what, Keys: append(keys, modelKeys...)}
}

var lmShape = &dialect.Shape{What: "the language model", Keys: []dialect.Key{
	{Name: "provider", Doc: "sglang"},
	{Name: "model", Required: true, Doc: "the model that the server has"},
	{Name: "host", Doc: "where the server is"},
	{Name: "port", Doc: "where the server is"},
	{Name: "args", Doc: "arguments of the server"},
	{Name: "startup_timeout_s", Doc: "how long the server may take to start"},
}}

// A served model is what the section `lm` says.
type served struct {
	model ir.Ident
	base  ir.Ident
}

// lm reads the language model of the document: a server that speaks OpenAI's interface. The engine starts it when it does
// not run; programs of flowgen start none.
func (p *parser) lm(n *yamlnode.Node) {
	if n == nil {
		return
	}
	m, ok := p.Mapping(n, lmShape)
	if !ok {
		return
	}
	if w := m.Get("provider"); w != nil {
		p.Word(w, "the provider of the language model", "sglang")
	}
	id, ok := p.Text(m.Get("model"), "`model`")
	if !ok {
		return
	}
	host := "127.0.0.1"
	if h, ok := p.Text(m.Get("host"), "`host`"); ok {
		host = h.Name
	}
	port := p.Count(m.Get("port"), "`port`", 1, 65535, 30000)
	p.served = &served{model: ir.Ident{Name: "openai:" + id.Name, Span: id.Span}, base: ir.Ident{Name: "http://" + host + ":" + strconv.FormatInt(port, 10) + "/v1", Span: id.Span}}
	p.Differs(m.Key("model"), "start it before the run, as in `python -m sglang.launch_server --model-path "+id.Name+"`", "the engine starts this server when it does not run; programs of flowgen ask it and start none")
}

// model declares the model that a node asks, and the secret that it takes.
func (p *parser) model(x *node, m dialect.Mapping) ir.Ident {
	id := ir.Ident{Name: defaultModel, Span: x.kind.Span}
	var base, key ir.Ident
	if p.served != nil {
		id, base = p.served.model, p.served.base
	}
	if n, ok := p.Text(m.Get("model"), "`model`"); ok {
		id, base = p.provider(n), ir.Ident{}
	}
	if n, ok := p.Text(m.Get("api_base"), "`api_base`"); ok {
		base = n
		if _, rest, found := strings.Cut(id.Name, ":"); found && !strings.HasPrefix(id.Name, "anthropic:") && !strings.HasPrefix(id.Name, "gemini:") {
			id.Name = "openai:" + rest
		}
	}
	if n, ok := p.Text(m.Get("api_key_env"), "`api_key_env`"); ok {
		key = n
	}
	for _, have := range p.wf.Models {
		if have.Model.Name == id.Name && have.BaseURL.Name == base.Name && have.Key.Name == key.Name {
			return have.Name
		}
	}
	d := &ir.Model{Name: ir.Ident{Name: p.modelName(id.Name), Span: id.Span}, Model: id, BaseURL: base, Key: key, Unbounded: true, Span: id.Span}
	if pr := d.Provider(); key.Name == "" && base.Name == "" && pr != nil {
		key = ir.Ident{Name: pr.Key, Span: id.Span}
	}
	if key.Name != "" {
		p.secret(key)
	}
	p.wf.Models = append(p.wf.Models, d)
	return d.Name
}

// prefixes are the providers of LiteLLM's names that flowgen asks, by what is before the slash.
var prefixes = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "groq": "groq", "openrouter": "openrouter", "ollama": "ollama", "ollama_chat": "ollama",
	"hosted_vllm": "vllm", "vllm": "vllm", "sglang": "vllm", "local": "vllm", "text-completion-openai": "openai",
}

// provider makes provider:name of a model as LiteLLM calls it.
func (p *parser) provider(id ir.Ident) ir.Ident {
	if before, _, ok := strings.Cut(id.Name, ":"); ok && !strings.Contains(before, "/") && (&ir.Model{Model: id}).Provider() != nil {
		return id
	}
	if before, rest, ok := strings.Cut(id.Name, "/"); ok {
		if known := prefixes[before]; known != "" {
			id.Name = known + ":" + rest
			return id
		}
	}
	switch {
	case strings.HasPrefix(id.Name, "claude"):
		id.Name = "anthropic:" + id.Name
	case strings.HasPrefix(id.Name, "gemini"):
		id.Name = "gemini:" + id.Name
	default:
		id.Name = "openai:" + id.Name
	}
	return id
}

var modelSign = lazyregexp.New(`[^a-z0-9]+`)

// modelName is a name that no other model has.
func (p *parser) modelName(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	base := strings.Trim(modelSign.ReplaceAllString(strings.ToLower(rest), "_"), "_")
	if base == "" || base[0] <= '9' {
		base = "model_" + base
	}
	if len(base) > 40 {
		base = base[:40]
	}
	name := base
	for i := 2; p.hasModel(name); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	return name
}

func (p *parser) hasModel(name string) bool {
	for _, m := range p.wf.Models {
		if m.Name.Name == name {
			return true
		}
	}
	return false
}

func (p *parser) secret(id ir.Ident) {
	if !secretForm.MatchString(id.Name) {
		p.Error(diag.BadName, id.Span, "", "the name of an environment variable is made of letters, digits and _")
		return
	}
	for _, s := range p.wf.Secrets {
		if s.Name.Name == id.Name {
			return
		}
	}
	p.wf.Secrets = append(p.wf.Secrets, &ir.Secret{Name: id})
}

var secretForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// An output is a field of the answer of a model.
type output struct {
	name string
	typ  *schema.Type // of the answer
	kept *schema.Type // of a state field that nothing declares; nil: none is written
	doc  string
	to   ir.Ident // the state field
}

// question makes a node a question to a model, whose answer goes into fields of the state.
func (p *parser) question(x *node, m dialect.Mapping, system string, inputs []*argument, outputs []output) {
	model := p.model(x, m)
	at := x.kind.Span
	if n, ok := p.constant(m.Get("instructions"), "`instructions`"); ok {
		system = joined(n.key.Name, system)
	}
	fields := make([]*field, len(outputs))
	answer := &schema.Type{Kind: schema.Struct}
	for i := range outputs {
		o := &outputs[i]
		answer.Fields = append(answer.Fields, &schema.Field{Name: o.name, Type: o.typ, Description: o.doc, Span: at})
		if o.kept != nil {
			if o.to.Name == "" {
				o.to = ir.Ident{Name: o.name, Span: at}
			}
			fields[i] = p.result(o.to, o.kept)
			if o.typ.Kind == schema.String || o.typ.Kind == schema.Enum {
				p.keeps(fields[i], o.kept)
			}
		}
	}
	x.lower = func() []*ir.Node {
		v := &ir.LLM{Model: model, Prompt: &ir.Prompt{Text: labelled(at, inputs), Span: at}, Out: answer, Span: x.at.Span}
		if system != "" {
			v.System = mixed(source.Text{Span: at, Opaque: true}, []segment{{lit: system}})
		}
		n := &ir.Node{ID: x.id, Verb: v, Span: x.at.Span}
		for i, o := range outputs {
			if fields[i] != nil {
				n.Set = append(n.Set, p.set(fields[i], o.to.Span, resultField(o.to.Span, x.id.Name, o.name), o.typ))
			}
		}
		if len(outputs) == 1 && outputs[0].typ.Kind == schema.String { // text is asked for as text
			v.Out = nil
			n.Set = []*ir.Set{p.set(fields[0], outputs[0].to.Span, result(at, x.id.Name), schema.StringType)}
		}
		return []*ir.Node{n}
	}
}

func joined(parts ...string) string {
	var out []string
	for _, s := range parts {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n\n")
}

// labelled is what a node works on: one value as it is, several with their names.
func labelled(at source.Span, inputs []*argument) *ir.Template {
	if len(inputs) == 1 {
		return mixed(source.Text{Span: inputs[0].text.Span, Opaque: true}, inputs[0].segments)
	}
	w := newWriter(at)
	for i, a := range inputs {
		if i > 0 {
			w.lit("\n\n")
		}
		w.lit(a.key.Name + ": ")
		for _, s := range a.segments {
			w.segment(s)
		}
	}
	return w.template()
}
