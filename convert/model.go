package convert

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// secrets writes the secrets that the workflow declares, as keys of models are.
func (c *converter) secrets() {
	l := &list{flow: true}
	for _, s := range c.wf.Secrets {
		l.add(scalar(s.Name.Name), source.Span{})
	}
	c.doc.addUnlessEmpty("secrets", l, source.Span{})
}

// model writes a model with its parameters.
func (c *converter) model(m *ir.Model) value {
	rest := *m
	rest.Name, rest.Model, rest.BaseURL, rest.Key, rest.Span, rest.Params, rest.Unbounded, rest.BaseEnv = ir.Ident{}, ir.Ident{}, ir.Ident{}, ir.Ident{}, source.Span{}, ir.ModelParams{}, false, "" // the variable is the engine's
	c.rest(m.Span, "the model", &rest)
	v := flow(pair("model", scalar(quoted(m.Model.Name))))
	text := func(key, s string) {
		if s != "" {
			v.add(key, scalar(quoted(s)), source.Span{})
		}
	}
	float := func(key string, f *float64) {
		if f != nil {
			v.add(key, scalar(strconv.FormatFloat(*f, 'f', -1, 64)), source.Span{})
		}
	}
	whole := func(key string, n *int64) {
		if n != nil {
			v.add(key, scalar(strconv.FormatInt(*n, 10)), source.Span{})
		}
	}
	text("base_url", m.BaseURL.Name)
	text("key", m.Key.Name)
	float("temperature", m.Params.Temperature)
	float("top_p", m.Params.TopP)
	whole("max_tokens", m.Params.MaxTokens)
	if m.Unbounded && m.Params.MaxTokens == nil {
		v.add("max_tokens", scalar("unbounded"), source.Span{})
	}
	whole("seed", m.Params.Seed)
	if stop := m.Params.Stop; len(stop) > 0 {
		l := &list{flow: true}
		for _, s := range stop {
			l.add(scalar(quoted(s)), source.Span{})
		}
		v.add("stop", l, source.Span{})
	}
	if len(v.entries) == 1 {
		return v.entries[0].value
	}
	return v
}

// staticAsk writes a question to a model.
func (c *converter) staticAsk(n *ir.Node, v *ir.LLM, m *mapping) {
	rest := *v
	rest.Model, rest.System, rest.Prompt, rest.Out, rest.Reask, rest.Span = ir.Ident{}, nil, nil, nil, 0, source.Span{}
	c.rest(n.ID.Span, "the node "+n.ID.Name, &rest)
	m.add("llm", scalar(nativeID(v.Model.Name)), source.Span{})
	system := v.System
	if system == nil && v.Prompt != nil {
		system = v.Prompt.System
	}
	if system != nil {
		m.add("system", c.native(system), source.Span{})
	}
	if v.Prompt == nil || v.Prompt.File.Name != "" || v.Prompt.Text == nil {
		c.refuse(n.ID.Span, "", "the prompt of %s is not converted", n.ID.Name)
		return
	}
	m.add("prompt", c.native(v.Prompt.Text), source.Span{})
	if v.Out != nil && (v.Out.Kind != schema.String || v.Out.Decl != nil) {
		m.add("out", c.typ(v.Out, n.ID.Span), source.Span{})
	}
	if v.Reask > 0 {
		m.add("reask", number(v.Reask), source.Span{})
	}
}

// staticTypes writes the types that the workflow names.
func (c *converter) staticTypes() {
	types := &mapping{}
	for _, d := range c.wf.Types {
		if d.Type == nil || d.Type.Kind != schema.Struct {
			types.add(d.Name, c.spelled(d.Type, d.Span), source.Span{})
			continue
		}
		m := flow()
		for _, f := range d.Type.Fields {
			m.add(f.Name, c.field(f), source.Span{})
		}
		types.add(d.Name, m, source.Span{})
	}
	c.doc.addUnlessEmpty("types", types, source.Span{})
}

// spelled is a type as it is written where it gets its name.
func (c *converter) spelled(t *schema.Type, at source.Span) value {
	own := *t
	own.Decl = nil
	return c.typ(&own, at)
}
