package check

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// stops are how many texts at which an answer ends the providers' own addresses take.
var stops = map[string]int{"openai": 4, "gemini": 5}

// modelParams checks that a provider has the parameters of a model: what it would refuse with every call is a mistake
// here.
func (c *checker) modelParams(m *ir.Model, p *ir.ModelProvider) {
	bad := func(at source.Span, message, help string) {
		c.report(diag.Diagnostic{Code: diag.BadModel, Span: at, Message: message, Help: help})
	}
	q := &m.Params
	if (p.Speaks == "anthropic" || p.Speaks == "responses") && q.Seed != nil {
		bad(q.SeedSpan, "models of `"+p.Name+"` take no `seed`", "remove it")
	}
	if t := q.Temperature; p.Speaks == "anthropic" && t != nil && *t > 1 {
		bad(q.TemperatureSpan, "models of `"+p.Name+"` take a `temperature` from 0 to 1", "write at most 1")
	}
	if p.Speaks == "responses" && q.Stop != nil {
		bad(q.StopSpan, "models of `"+p.Name+"` take no texts to `stop` at", "remove it, or use `openai:`")
	}
	if most := stops[p.Name]; most > 0 && m.BaseURL.Name == "" && len(q.Stop) > most {
		bad(q.StopSpan, fmt.Sprintf("models of `%s` take at most %d texts to `stop` at, and these are %d", p.Name, most, len(q.Stop)), "remove some")
	}
}

// mediaTypes checks the kinds of images and files that are written out against what the provider of a model takes.
func (c *checker) mediaTypes(m *ir.Model, v ir.Value) {
	list, ok := v.(*ir.List)
	if !ok || m == nil || m.Provider() == nil || m.Provider().Speaks != "anthropic" {
		return
	}
	for _, item := range list.Items {
		o, ok := item.(*ir.Object)
		if !ok {
			continue
		}
		var kind *ir.Scalar
		var address bool
		for _, x := range o.Entries {
			switch x.Key.Name {
			case "type":
				kind, _ = x.Value.(*ir.Scalar)
			case "url":
				address = true
			}
		}
		if kind == nil {
			continue
		}
		text := kind.Text.Value
		if strings.HasPrefix(text, "image/") || text == "application/pdf" || strings.HasPrefix(text, "text/") && !address {
			continue
		}
		c.report(diag.Diagnostic{Code: diag.BadModel, Span: kind.Text.Span, Message: fmt.Sprintf("models of `%s` take images, PDF files and the `data` of texts, not %s", m.Provider().Name, text),
			Help: "inline its content as text in the prompt, or use another model"})
	}
}
