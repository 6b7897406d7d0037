package convert

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Secrets writes the secrets that the workflow declares, as keys of models are, and those that its conversion needs besides.
func (c *Converter) Secrets(more ...string) {
	var names []string
	for _, s := range c.Workflow.Secrets {
		names = append(names, s.Name.Name)
	}
	c.Doc.AddUnlessEmpty("secrets", doc.Words(append(names, more...)...), source.Span{})
}

// Model writes a model with its parameters.
func (c *Converter) Model(m *ir.Model) doc.Value {
	rest := *m
	rest.Name, rest.Model, rest.BaseURL, rest.Key, rest.Span, rest.Params, rest.Unbounded, rest.BaseEnv, rest.Reach = ir.Ident{}, ir.Ident{}, ir.Ident{}, ir.Ident{}, source.Span{}, ir.ModelParams{}, false, "", nil // variables are the engine's
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
		v.Add("stop", doc.QuotedWords(stop...), source.Span{})
	}
	if len(v.Entries) == 1 {
		return v.Entries[0].Value
	}
	return v
}
