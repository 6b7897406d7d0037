package native

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// model reads provider:id, or a mapping with it.
func (p *parser) model(x *ir.Model, v *yamlnode.Node) {
	defer func() {
		if provider, file := x.Split(); provider == scriptedModel && file != "" {
			x.Script = p.script(x.Model, file)
		}
	}()
	if isScalar(v) {
		x.Model = p.ref(v, "a model")
		return
	}
	m, ok := p.mapping(v, shapeModel)
	if !ok {
		return
	}
	for _, k := range []struct {
		name string
		to   *ir.Ident
	}{{"model", &x.Model}, {"base_url", &x.BaseURL}, {"key", &x.Key}} {
		if n := m.get(k.name); n != nil {
			*k.to = p.ref(n, "`"+k.name+"`")
		}
	}
	if n := m.get("base_env"); n != nil {
		if id := p.ref(n, "the name of a variable"); id.Name != "" {
			p.checkName(id, variableName)
			x.BaseEnv = id.Name
		}
	}
	x.Params.Temperature = p.between(m.get("temperature"), "`temperature`", 0, 2)
	x.Params.TopP = p.between(m.get("top_p"), "`top_p`", 0, 1)
	whole := func(key string, least int64) *int64 {
		if n := m.get(key); n != nil {
			if c, ok := p.count(n, "`"+key+"`", least); ok {
				return &c
			}
		}
		return nil
	}
	if n := m.get("max_tokens"); n != nil {
		if c, ok := p.bound(n, "`max_tokens`"); ok && c == 0 {
			x.Unbounded = true
		} else if ok {
			x.Params.MaxTokens = new(int64)
			*x.Params.MaxTokens = int64(c)
		}
	}
	x.Params.Seed = whole("seed", 0)
	for _, k := range []struct {
		name string
		to   *source.Span
	}{{"temperature", &x.Params.TemperatureSpan}, {"seed", &x.Params.SeedSpan}, {"stop", &x.Params.StopSpan}} {
		if n := m.get(k.name); n != nil {
			*k.to = n.Place()
		}
	}
	x.Params.Stop = p.strs(m.get("stop"), "a text")
	if n := m.get("price"); n != nil {
		if q, ok := p.mapping(n, shapePrice); ok {
			amount := func(key string) string {
				if v := q.get(key); v != nil {
					return p.money(v, "`"+key+"`")
				}
				return ""
			}
			x.Price = &ir.ModelPrice{Input: amount("input"), Cached: amount("cached"), Output: amount("output")}
		}
	}
}

// between reads a number from lo to hi. Nil after a mistake.
func (p *parser) between(n *yamlnode.Node, what string, lo, hi float64) *float64 {
	if n == nil {
		return nil
	}
	f, ok := p.number(n, what)
	if ok && (f < lo || f > hi) {
		p.say(yamlnode.OutOfRange(textSpan(n.Text), what, lo, hi))
		return nil
	}
	if !ok {
		return nil
	}
	return &f
}

// prompt reads text, or {file: path}.
func (p *parser) prompt(n *yamlnode.Node) *ir.Prompt {
	if n == nil {
		return nil
	}
	if n.Kind != yamlnode.Mapping {
		t := p.textOnly(n, "a prompt")
		if t == nil {
			return nil
		}
		return &ir.Prompt{Text: t, Span: n.Span}
	}
	x := &ir.Prompt{Span: n.Span}
	if m, _ := p.mapping(n, shapePrompt); m.get("file") != nil {
		x.File = p.ref(m.get("file"), "a file")
		if x.File.Name != "" {
			p.promptFile(x)
		}
	}
	return x
}

// shapePromptFile is the front matter of a prompt file. It is not a part of a workflow file.
var shapePromptFile = &Shape{
	Name: "front matter", What: "the front matter of a prompt", Doc: "The part between `---` lines at the start of a prompt file.",
	Keys: []Key{
		{Name: "system", Value: template, Doc: "the system prompt"},
		{Name: "in", Value: fields, Doc: "the names that the text can use, with their types"},
	},
	Renamed: map[string]string{"with": "in"},
	Instead: map[string]string{
		"prompt": "the prompt is the text after the front matter", "user": "the prompt is the text after the front matter", "input": "write `in:`",
		"model": "the model belongs at the node", "out": "`out` belongs at the node", "temperature": "parameters belong at the model, under `models:`",
	},
}

// promptFile reads the file of a prompt. What is wrong in one that several nodes name is reported once.
func (p *parser) promptFile(x *ir.Prompt) {
	front, text, f := p.load.Prompt(p.file, x.File)
	if f == nil {
		return
	}
	if p.prompts == nil {
		p.prompts = map[string]bool{}
	}
	if p.prompts[f.Name] {
		sink, before := p.sink, p.before
		p.sink, p.before = &diag.Sink{}, 0
		defer func() { p.sink, p.before = sink, before }()
	} else {
		p.wf.Includes = append(p.wf.Includes, f)
	}
	p.prompts[f.Name] = true
	outer := p.file
	p.file = f
	defer func() { p.file = outer }()
	if front != nil && front.Kind != yamlnode.Null {
		if m, ok := p.mapping(front, shapePromptFile); ok {
			if n := m.get("system"); n != nil {
				x.System = p.textOnly(n, "a system prompt")
			}
			if n := m.get("in"); n != nil {
				x.With = &schema.Type{Kind: schema.Struct, Fields: p.fields(n, "in", fieldID)}
			}
		}
	}
	if strings.TrimSpace(text.Value) == "" {
		p.report(diag.BadPrompt, text.Span, "write the prompt after the front matter", "this prompt has no text")
	}
	x.Text = p.template(text)
}
