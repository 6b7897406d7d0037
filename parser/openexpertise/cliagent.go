package openexpertise

import (
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// cliAgent reads a cli-agent node: a command that is given the prompt, and whose output becomes one field of the state, or
// as JSON all those that it has.
func (p *parser) cliAgent(m dialect.Mapping, out *Node) {
	who := p.Word(m.Get("provider"), "the provider of a cli-agent", "claude-code", "codex", "gemini")
	prompt, ok := p.Text(m.Get("prompt"), "`prompt`")
	if who == "" || !ok {
		return
	}
	out.Prompt = &dialect.Mixed{Text: m.Get("prompt").Text}
	format := "text"
	if f := m.Get("output_format"); f != nil {
		if format = p.Word(f, "`output_format`", "text", "json"); format == "" {
			return
		}
	}
	if n := m.Get("schema"); n != nil && format == "json" {
		out.Schema = p.answerSchema(n)
	} else if n != nil {
		p.Warn(diag.IgnoredKey, m.Key("schema"), "write `output_format: json`", "a schema says nothing about text")
	}
	if format == "text" && len(out.Writes) > 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "write `output_format: json`", "a cli-agent with text output writes at most one state field")
		return
	}
	out.JSON = format == "json"
	ms := p.Count(m.Get("timeout_ms"), "`timeout_ms`", 1000, 86_400_000, 600_000)
	out.Timeout = &ir.Duration{Value: time.Duration(ms) * time.Millisecond, Span: m.Key("timeout_ms")}
	model := ""
	if n := m.Get("model"); n != nil {
		if id, ok := p.Text(n, "`model`"); ok {
			model = id.Name
		}
	}
	var extra []string
	for _, id := range p.Idents(m.Get("extra_args"), "`extra_args`") {
		extra = append(extra, id.Name)
	}
	c := &ir.CommandTool{Span: prompt.Span, Format: ir.FormatText, Inherit: true, Verbatim: format == "text"}
	before, after := command(who, format, model, extra)
	for _, a := range before {
		c.Args = append(c.Args, word(a, prompt.Span))
	}
	parsed, _ := expr.ParseTemplate("{{ " + promptField + " }}")
	c.Args = append(c.Args, &ir.Template{Text: source.Text{Value: prompt.Name, Span: prompt.Span, Opaque: true}, Tmpl: parsed})
	for _, a := range after {
		c.Args = append(c.Args, word(a, prompt.Span))
	}
	if n := m.Get("workdir"); n != nil {
		if id, ok := p.Text(n, "`workdir`"); ok {
			c.Dir = word(id.Name, n.Span)
		}
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + out.ID.Name, Span: prompt.Span}, Version: "1", Key: ir.Ident{Name: p.toolName("", out.ID.Name), Span: out.ID.Span},
		Effects: ir.EffectsExternal, EffectsSpan: out.ID.Span, Out: schema.StringType, OutSpan: out.ID.Span, Binding: c, File: p.File, Span: out.Span,
		In: &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: promptField, Type: schema.StringType, Span: prompt.Span}}}}
	p.wf.Tools = append(p.wf.Tools, t)
	out.Verb = &ir.ToolCall{Name: t.Key, Tool: t}
}

// promptField is the input of the commands.
const promptField = "prompt"

// command is how a provider's program is called: the words before the prompt, and those after it.
func command(who, format, model string, extra []string) (before, after []string) {
	var named []string
	if model != "" {
		named = []string{"--model", model}
	}
	switch who {
	case "codex":
		return slices.Concat([]string{"codex", "exec", "--skip-git-repo-check"}, named, extra), nil
	case "gemini":
		return []string{"gemini", "--yolo", "--prompt"}, slices.Concat(named, extra)
	}
	return []string{"claude", "-p"}, slices.Concat([]string{"--output-format", format}, named, extra)
}

// word is a constant word of a command.
func word(s string, at source.Span) *ir.Template {
	return &ir.Template{Text: source.Text{Value: s, Span: at, Opaque: true}, Tmpl: &expr.Template{Segments: []expr.Segment{{Lit: s}}}}
}
