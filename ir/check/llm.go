package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// An Ask is what an llm node asks, and whom.
type Ask struct {
	Model  *ir.Model
	Prompt *Prompt
	Media  *Expected // of type list<media>; nil: none

	Messages *Expected // of type list<Message>; nil: none
	Format
}

// A Format is what the answer of a model has to be.
type Format struct {
	// Answer is what a model's JSON is decoded to: the node's result or, when that is not an object, a struct with it as its
	// only field, because models write JSON objects. Nil: the result is the answer's text.
	Answer *schema.Type
	Boxed  bool // Answer is such a struct
}

// A Prompt is a prompt with what is put into it.
type Prompt struct {
	IR    *ir.Prompt
	In    *schema.Type    // what the prompt's file takes; nil: the prompt is not a file, or takes nothing
	With  []*Argument     // of In
	Reads map[string]bool // which of them the file reads, by name
}

// ask types an llm node.
func (c *checker) ask(s *Step, v *ir.LLM, e *env) {
	a := &Ask{Model: c.model(v.Model)}
	s.Ask = a
	c.modelPolicy(a.Model, v.Model.Span)
	a.Prompt = c.prompt(v.Prompt, v.With, e)
	if v.System != nil {
		if p := v.Prompt; p != nil && p.File.Name != "" {
			c.report(diag.Diagnostic{Code: diag.Misplaced, Span: v.System.Source(), Message: "`system` cannot be combined with a prompt file",
				Help: "write it at the start of the file: `---`, `system: ...`, `---`", Related: related(p.File.Span, "the file is named here")})
		}
		c.value(v.System, schema.StringType, e)
	}
	if v.Media != nil {
		c.media(a, v.Media, e)
		c.mediaTypes(a.Model, v.Media)
	}
	a.Messages = c.messages(v.Messages, v.Prompt, v.With, e)
	s.Node.Result = schema.StringType
	if v.Out != nil {
		s.Node.Result = c.answer(s, &a.Format, v.Out)
	}
	if v.Reask > 0 && a.Answer == nil && s.Node.Result.Kind == schema.String {
		c.vainReask(s)
	}
}

func (c *checker) vainReask(s *Step) {
	c.report(diag.Diagnostic{Code: diag.Misplaced, Span: s.Node.ID.Span, Message: "`reask` has no effect without `out`: any text is valid", Help: "remove it, or say with `out` what is asked for"})
}

// messages types what was said before a prompt, which may be missing then.
func (c *checker) messages(v ir.Value, p *ir.Prompt, with *ir.With, e *env) *Expected {
	if v == nil {
		return nil
	}
	if p == nil && with != nil {
		c.report(diag.Diagnostic{Code: diag.Misplaced, Span: with.Span, Message: "`with` has no effect without a prompt file", Help: "remove it, or name a file: `prompt: {file: ...}`"})
	}
	want := schema.ListOf(schema.MessageType)
	c.value(v, want, e)
	return &Expected{Value: v, Type: want}
}

// answer types what is asked for with `out`.
func (c *checker) answer(s *Step, f *Format, out *schema.Type) *schema.Type {
	switch out.Kind {
	case schema.Invalid:
		return out
	case schema.String:
		if out.Go == nil {
			return out
		}
	case schema.Opt:
		c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: s.Node.ID.Span, Message: fmt.Sprintf("`out` is the type of an answer that is there, and this is %s", out),
			Help: "write `" + out.Elem.String() + "`, or a struct with an optional field"})
		return schema.InvalidType
	}
	f.Answer = out
	if out.Kind != schema.Struct {
		f.Boxed = true
		f.Answer = &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: "value", Type: out, Span: s.Node.ID.Span}}}
	}
	return out
}

// media types the images and files of a node: a list of them, written out or as an expression.
func (c *checker) media(a *Ask, v ir.Value, e *env) {
	want := schema.ListOf(schema.MediaType)
	a.Media = &Expected{Value: v, Type: want}
	if x, ok := v.(*ir.Expr); ok && x.Node != nil {
		if t := c.value(v, nil, e); t.Kind == schema.Struct && schema.Assignable(t, schema.MediaType) {
			c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Source(), Message: "`media` is a list, and this is one item",
				Help: "write `media: [$" + x.Text.Value + "]`"})
			return
		}
	}
	c.value(v, want, e)
}

// prompt types a prompt and what is put into it.
func (c *checker) prompt(p *ir.Prompt, with *ir.With, e *env) *Prompt {
	out := &Prompt{IR: p}
	var entries []*ir.Entry
	if with != nil {
		entries = with.Entries
	}
	switch {
	case p == nil, p.Text == nil: // reported: there is none, or its file cannot be read
		c.poisonEntries(entries, e)
		return out
	case p.File.Name == "":
		if with != nil {
			c.report(diag.Diagnostic{Code: diag.Misplaced, Span: with.Span, Message: "`with` has no effect on an inline prompt",
				Help: "write the values into the prompt: `{{ ... }}`; `with` is for a prompt file"})
			c.poisonEntries(entries, e)
		}
		c.value(p.Text, schema.StringType, e)
		return out
	}
	out.In = p.With
	if out.In == nil {
		out.In = &schema.Type{Kind: schema.Struct}
		for _, x := range entries {
			f := &schema.Field{Name: x.Key.Name, Span: x.Key.Span, Type: c.inferred(x.Value, e)}
			out.In.Fields = append(out.In.Fields, f)
			out.With = append(out.With, &Argument{Field: f, Value: &Expected{Value: x.Value, Type: f.Type}})
		}
	} else {
		out.With = c.arguments(entries, out.In, p.File.Span, e, p.File.Name, "value")
	}
	c.promptFile(p, out)
	return out
}

// promptFile types the text of a prompt file, which sees what it is given and nothing else. What is wrong in one that
// several nodes name is reported once.
func (c *checker) promptFile(p *ir.Prompt, out *Prompt) {
	f := p.Text.Text.Span.File
	if c.wrongPrompts[f] {
		told := c.sink
		c.sink = &diag.Sink{}
		defer func() { c.sink = told }()
	}
	before := c.sink.Errors()
	in := &env{c: c, params: out.In, called: "name"}
	c.value(p.Text, schema.StringType, in)
	templates := []*ir.Template{p.Text}
	if p.System != nil {
		c.value(p.System, schema.StringType, in)
		templates = append(templates, p.System)
	}
	if c.wrongPrompts == nil {
		c.wrongPrompts = map[*source.File]bool{}
	}
	if c.sink.Errors() > before {
		c.wrongPrompts[f] = true
		return
	}
	if c.sink.HasErrors() {
		return
	}
	out.Reads = map[string]bool{}
	for _, t := range templates {
		for _, s := range t.Tmpl.Segments {
			if s.Expr == nil {
				continue
			}
			for _, ref := range s.Expr.Refs() {
				out.Reads[ref.Text] = true
			}
		}
	}
	for _, x := range out.In.Fields {
		if !out.Reads[x.Name] {
			c.warn(diag.Diagnostic{Code: diag.Unused, Span: x.Span, Message: fmt.Sprintf("the prompt %s does not use %q", p.File.Name, x.Name),
				Help: "remove it, or write `{{ " + x.Name + " }}` in the file"})
			c.wrongPrompts[f] = p.With != nil
		}
	}
}

// model finds the model that a node names: one of `models:`, or provider:name. Nil after a mistake.
func (c *checker) model(id ir.Ident) *ir.Model {
	if id.Name == "" {
		return nil
	}
	for _, m := range c.wf.Models {
		if m.Name.Name == id.Name {
			return c.usedModel(m, id.Span)
		}
	}
	if strings.Contains(id.Name, ":") {
		m := &ir.Model{Name: ir.Ident{Name: modelName(id.Name), Span: id.Span}, Model: id, Span: id.Span}
		for _, other := range c.direct {
			if other.Model.Name == id.Name {
				return c.usedModel(other, id.Span)
			}
		}
		m.Provided = c.wf.Provides(m)
		c.direct = append(c.direct, m)
		return c.usedModel(m, id.Span)
	}
	var names []string
	for _, m := range c.wf.Models {
		names = append(names, m.Name.Name)
	}
	d := diag.Diagnostic{Code: diag.UnknownName, Span: id.Span, Message: fmt.Sprintf("model %q is not declared", id.Name)}
	diag.Suggest(&d, id.Name, names)
	if d.Help == "" {
		d.Help = "declare it: `models: {" + id.Name + ": \"openai:gpt-4o-mini\"}`"
	}
	c.report(d)
	return nil
}

// modelName is the name of a model that has none: openai:gpt-4o-mini is openai_gpt_4o_mini.
func modelName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return '_'
	}, text)
	if name = strings.Trim(name, "_"); name == "" || name[0] <= '9' {
		name = "the_" + name
	}
	return strings.TrimSuffix(name, "_")
}

// usedModel checks, once, a model that a node asks. Nil when it is wrong.
func (c *checker) usedModel(m *ir.Model, at source.Span) *ir.Model {
	if m.New != nil {
		c.madeModel(m)
		return m // the function that makes it says what it needs
	}
	ok, done := c.models[m]
	if !done {
		if c.models == nil {
			c.models = map[*ir.Model]bool{}
		}
		before := c.sink.Errors()
		c.checkModel(m)
		if ok = c.sink.Errors() == before; ok {
			c.modelSecret(m, at)
		}
		c.models[m] = ok
	}
	if !ok {
		return nil
	}
	return m
}

// checkModel checks what a model says about itself.
func (c *checker) checkModel(m *ir.Model) {
	if c.models[m] || m.Model.Name == "" || m.New != nil { // the environment completes it
		return
	}
	bad := func(at source.Span, message, help string) {
		c.report(diag.Diagnostic{Code: diag.BadModel, Span: at, Message: message, Help: help})
	}
	name, id := m.Split()
	var providers, asked []string
	for _, p := range ir.ModelProviders {
		if providers = append(providers, p.Name); p.Speaks != "scripted" {
			asked = append(asked, p.Name)
		}
	}
	p := m.Provider()
	switch {
	case id == "" || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		bad(m.Model.Span, fmt.Sprintf("%q is not a model: expected `provider:name`", m.Model.Name), "write it as in `openai:gpt-4o-mini`; the providers are "+quotedList(asked))
		return
	case m.Provided:
		if m.BaseURL.Name != "" {
			bad(m.BaseURL.Span, "provider `"+name+"` is brought by a Go program, which knows its address", "remove `base_url`")
		}
		return
	case p == nil:
		for _, own := range c.wf.Providers {
			providers = append(providers, own.Name)
		}
		d := diag.Diagnostic{Code: diag.BadModel, Span: m.Model.Span, Message: fmt.Sprintf("provider %q of model %q is not known", name, m.Model.Name),
			Help: "the providers are " + quotedList(asked) + "; of others that offer OpenAI's interface, write `openai:" + id + "` with their `base_url`"}
		if near := diag.Nearest(name, providers); near != "" {
			d.Help = "replace with `" + near + ":" + id + "`"
			d.Fixes = []diag.Fix{diag.Replace(m.Model.Span, near+":"+id)}
		}
		c.report(d)
		return
	case p.Speaks == "scripted":
		c.scriptedModel(m)
		return
	case m.Address() == "":
		bad(m.Model.Span, "`"+name+"` has no address of its own", "write `base_url`, as in `http://localhost:8000/v1`")
	}
	if m.BaseEnv != "" && p.Speaks != "openai" {
		bad(m.Model.Span, "models of `"+name+"` take no `base_env`", "remove it; the environment variables of the providers are in docs/language.md")
	}
	c.modelParams(m, p)
	if m.BaseURL.Name != "" {
		if why, help := wrongAddress(m.BaseURL.Name); why != "" {
			bad(m.BaseURL.Span, "`base_url` "+why, strings.Replace(strings.Replace(help, "mcp.example.com/mcp", "api.example.com/v1", 1), "use `auth`", "name it in `key`", 1))
		}
	}
}

// scriptedModel checks a model that answers from a file: it is asked nowhere.
func (c *checker) scriptedModel(m *ir.Model) {
	bad := func(at source.Span, message, help string) {
		c.report(diag.Diagnostic{Code: diag.BadModel, Span: at, Message: message, Help: help})
	}
	_, file := m.Split()
	if m.Script == nil {
		bad(m.Model.Span, fmt.Sprintf("scripted model %q is not declared under `models:`", m.Model.Name), "declare it: `models: {m: \"scripted:"+file+"\"}`")
	}
	if m.BaseURL.Name != "" {
		bad(m.BaseURL.Span, "a scripted model has no address", "remove `base_url`")
	}
	if m.Key.Name != "" {
		bad(m.Key.Span, "a scripted model needs no key", "remove `key`")
	}
}

// modelSecret checks that the key of a model is declared.
func (c *checker) modelSecret(m *ir.Model, at source.Span) {
	if m.Key.Name != "" {
		c.secret(m.Key)
		return
	}
	p := m.Provider()
	if p == nil || p.Key == "" || m.BaseURL.Name != "" || c.isSecret(p.Key) {
		return
	}
	d := diag.Diagnostic{Code: diag.ModelKey, Span: m.Model.Span, Message: fmt.Sprintf("model %q needs a key, and the secret %s is not declared", m.Model.Name, p.Key),
		Help: "add `" + p.Key + "` to `secrets:`, or name another secret with `key`"}
	if m.Model.Span.File != c.wf.File {
		d.Span, d.Related = at, related(m.Model.Span, "the model is declared here")
	}
	if after, ok := c.afterName(); ok && len(c.wf.Secrets) == 0 {
		d.Help = "add `secrets: [" + p.Key + "]`, or name another secret with `key`"
		d.Fixes = []diag.Fix{{Title: "declare the secret", Edits: []diag.Edit{{Span: after, New: "\nsecrets: [" + p.Key + "]"}}}}
	}
	c.report(d)
}

// afterName is the end of the line that names the workflow, where a section can be added.
func (c *checker) afterName() (source.Span, bool) {
	at := c.wf.Name.Span
	if at.File != c.wf.File || at.IsZero() {
		return at, false
	}
	text := at.File.Text
	start := strings.LastIndexByte(text[:at.Lo], '\n') + 1
	end := len(text)
	if i := strings.IndexAny(text[at.Hi:], "\r\n"); i >= 0 {
		end = at.Hi + i
	}
	return source.Span{File: at.File, Lo: end, Hi: end}, strings.HasPrefix(text[start:], "name:")
}

// ModelKey is the secret that a model of wf authenticates with: the one it names or, at its provider's own address, the
// provider's usual one. Empty: none.
func ModelKey(wf *ir.Workflow, m *ir.Model) string {
	if m.Key.Name != "" || m.BaseURL.Name != "" {
		return m.Key.Name
	}
	p := m.Provider()
	if p == nil || !slices.ContainsFunc(wf.Secrets, func(s *ir.Secret) bool { return s.Name.Name == p.Key }) {
		return ""
	}
	return p.Key
}

// modelPolicy holds asking a model to the policy: it has the effect asks, which is allowed unless the policy denies it.
func (c *checker) modelPolicy(m *ir.Model, at source.Span) {
	if m != nil && !c.allowed(ir.EffectsAsks) {
		c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: at, Message: fmt.Sprintf("asking model %q has effects asks, which the policy denies", m.Model.Name),
			Help: "remove `asks: deny` from the policy, or use a tool", Related: related(c.wf.Policy.Span, "the policy is here")})
	}
}

// checkModels checks the models of the file that no node asks: they are wrong all the same.
func (c *checker) checkModels() {
	for _, m := range c.wf.Models {
		if _, asked := c.models[m]; !asked && m.Span.File == c.wf.File && m.New == nil {
			c.checkModel(m)
			if m.Key.Name != "" && m.Script == nil {
				c.secret(m.Key)
			}
		}
	}
}

// Models are the models that the step itself asks.
func (s *Step) Models() []*ir.Model {
	var out []*ir.Model
	for _, u := range s.Uses {
		if m, ok := u.Of.(*ir.Model); ok {
			out = append(out, m)
		}
	}
	if s.Ask != nil && s.Ask.Model != nil {
		out = append(out, s.Ask.Model)
	}
	if s.Agent != nil && s.Agent.Model != nil {
		out = append(out, s.Agent.Model)
	}
	return out
}

// model names the variable of a model, and says whose key it takes.
func (n *Names) model(m *ir.Model, wf *ir.Workflow, prefix string) {
	if m == nil || n.Models[m] != "" {
		return
	}
	for other, name := range n.Models {
		if sameModel(m, other) && n.Keys[other] == ModelKey(wf, m) {
			n.Models[m], n.Keys[m] = name, n.Keys[other]
			return
		}
	}
	key := m.Name.Name
	if prefix != "" {
		key = prefix + "_" + key
	}
	n.Models[m], n.Keys[m] = n.take(goname.Local(key+"_model"), m.Name.Span), ModelKey(wf, m)
}

// sameModel reports whether two models are one: the same declaration, which two workflows include, or the same text.
func sameModel(a, b *ir.Model) bool {
	if a.New != nil && b.New != nil {
		return a.New.Node.String() == b.New.Node.String() && a.Name.Name == b.Name.Name
	}
	return a.Name.Name == b.Name.Name && a.Span.File.Name == b.Span.File.Name && a.Span.Lo == b.Span.Lo || a.Model.Span == a.Span && b.Model.Span == b.Span && a.Model.Name == b.Model.Name
}

// ask names what an llm node needs: its model, the types of its answer and of what its prompt takes, and the schema.
func (n *Names) ask(s *Step, wf *ir.Workflow, prefix string) {
	n.model(s.Ask.Model, wf, prefix)
	base := prefix + goname.Exported(strings.TrimSuffix(n.Nodes[s], "Node"))
	n.prompt(s.Ask.Prompt, base+"With")
	n.format(s, &s.Ask.Format, base)
}

// format names the type of a model's answer and its schema.
func (n *Names) format(s *Step, f *Format, base string) {
	at := s.Node.ID.Span
	if f.Boxed {
		n.named(f.Answer, base+"Answer", "is what a model answers to "+s.Node.ID.Name+".", at)
	}
	if f.Answer != nil {
		n.Schemas[s] = n.take(n.beside(s, "Schema", "AnswerSchema"), at)
	}
}

// prompt names the types of what a prompt file takes.
func (n *Names) prompt(p *Prompt, name string) {
	if p != nil && p.In != nil {
		for _, f := range p.In.Fields {
			n.anonymous(f.Type, name+goname.Exported(f.Name), "is "+f.Name+" of "+p.IR.File.Name+".", f.Span)
		}
	}
}
