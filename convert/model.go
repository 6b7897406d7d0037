package convert

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// secrets writes the secrets that the workflow declares, as keys of models are.
func (c *Converter) secrets() {
	l := &doc.List{Flow: true}
	for _, s := range c.Workflow.Secrets {
		l.Add(doc.Scalar(s.Name.Name), source.Span{})
	}
	c.Doc.AddUnlessEmpty("secrets", l, source.Span{})
}

// Model writes a model with its parameters.
func (c *Converter) Model(m *ir.Model) doc.Value {
	rest := *m
	rest.Name, rest.Model, rest.BaseURL, rest.Key, rest.Span, rest.Params, rest.Unbounded, rest.BaseEnv = ir.Ident{}, ir.Ident{}, ir.Ident{}, ir.Ident{}, source.Span{}, ir.ModelParams{}, false, "" // the variable is the engine's
	c.Rest(m.Span, "the model", &rest)
	v := doc.Flow(doc.Pair("model", doc.Scalar(doc.Quoted(m.Model.Name))))
	text := func(key, s string) {
		if s != "" {
			v.Add(key, doc.Scalar(doc.Quoted(s)), source.Span{})
		}
	}
	float := func(key string, f *float64) {
		if f != nil {
			v.Add(key, doc.Scalar(strconv.FormatFloat(*f, 'f', -1, 64)), source.Span{})
		}
	}
	whole := func(key string, n *int64) {
		if n != nil {
			v.Add(key, doc.Scalar(strconv.FormatInt(*n, 10)), source.Span{})
		}
	}
	text("base_url", m.BaseURL.Name)
	text("key", m.Key.Name)
	float("temperature", m.Params.Temperature)
	float("top_p", m.Params.TopP)
	whole("max_tokens", m.Params.MaxTokens)
	if m.Unbounded && m.Params.MaxTokens == nil {
		v.Add("max_tokens", doc.Scalar("unbounded"), source.Span{})
	}
	whole("seed", m.Params.Seed)
	if stop := m.Params.Stop; len(stop) > 0 {
		l := &doc.List{Flow: true}
		for _, s := range stop {
			l.Add(doc.Scalar(doc.Quoted(s)), source.Span{})
		}
		v.Add("stop", l, source.Span{})
	}
	if len(v.Entries) == 1 {
		return v.Entries[0].Value
	}
	return v
}

// staticAsk writes a question to a model.
func (c *Converter) staticAsk(n *ir.Node, v *ir.LLM, m *doc.Mapping) {
	rest := *v
	rest.Model, rest.System, rest.Prompt, rest.Out, rest.Reask, rest.Span = ir.Ident{}, nil, nil, nil, 0, source.Span{}
	c.Rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	m.Add("llm", doc.Scalar(NativeID(v.Model.Name)), source.Span{})
	system := v.System
	if system == nil && v.Prompt != nil {
		system = v.Prompt.System
	}
	if system != nil {
		m.Add("system", c.Native(system), source.Span{})
	}
	if v.Prompt == nil || v.Prompt.File.Name != "" || v.Prompt.Text == nil {
		c.Refuse(n.ID.Span, "", "the prompt of %s is not converted", n.ID.Name)
		return
	}
	m.Add("prompt", c.Native(v.Prompt.Text), source.Span{})
	if v.Out != nil && (v.Out.Kind != schema.String || v.Out.Decl != nil) {
		m.Add("out", c.Typ(v.Out, n.ID.Span), source.Span{})
	}
	if v.Reask > 0 {
		m.Add("reask", doc.Number(v.Reask), source.Span{})
	}
}

// staticTypes writes the types that the workflow names.
func (c *Converter) staticTypes() {
	types := &doc.Mapping{}
	for _, d := range c.Workflow.Types {
		if d.Type == nil || d.Type.Kind != schema.Struct {
			types.Add(d.Name, c.spelled(d.Type, d.Span), source.Span{})
			continue
		}
		m := doc.Flow()
		for _, f := range d.Type.Fields {
			m.Add(f.Name, c.Field(f), source.Span{})
		}
		types.Add(d.Name, m, source.Span{})
	}
	c.Doc.AddUnlessEmpty("types", types, source.Span{})
}

// spelled is a type as it is written where it gets its name.
func (c *Converter) spelled(t *schema.Type, at source.Span) doc.Value {
	own := *t
	own.Decl = nil
	return c.Typ(&own, at)
}
