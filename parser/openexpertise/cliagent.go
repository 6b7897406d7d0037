package openexpertise

import (
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// cliAgent reads a cli-agent node: a command that is given the prompt, and whose output becomes one field of the state, or
// as JSON all those that it has.
func (p *parser) cliAgent(m dialect.Mapping, out *ir.Node) {
	d := out.Dynamic
	who := p.Word(m.Get("provider"), "the provider of a cli-agent", "claude-code", "codex", "gemini")
	prompt, ok := p.Text(m.Get("prompt"), "`prompt`")
	if who == "" || !ok {
		return
	}
	d.Prompt = &ir.Mixed{Text: m.Get("prompt").Text}
	format := "text"
	if f := m.Get("output_format"); f != nil {
		if format = p.Word(f, "`output_format`", "text", "json"); format == "" {
			return
		}
	}
	if m.Get("schema") != nil {
		p.Warn(diag.IgnoredKey, m.Key("schema"), "remove it", "the schema of a cli-agent is not checked here: the types of the state are")
	}
	if format == "text" && len(d.Writes) > 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "write `output_format: json`", "a cli-agent with text output writes at most one state field")
		return
	}
	if d.JSON = format == "json"; !d.JSON && len(d.Writes) == 0 {
		d.Writes = nil
	}
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
	c := &ir.CommandTool{Span: prompt.Span, Format: ir.FormatText}
	for _, a := range command(who, format, model, extra) {
		c.Args = append(c.Args, p.word(a, prompt.Span))
	}
	if n := m.Get("workdir"); n != nil {
		if id, ok := p.Text(n, "`workdir`"); ok {
			c.Dir = p.word(id.Name, n.Span)
		}
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + out.ID.Name, Span: prompt.Span}, Version: "1", Key: ir.Ident{Name: p.toolName("", out.ID.Name), Span: out.ID.Span},
		Effects: ir.EffectsExternal, EffectsSpan: out.ID.Span, Out: schema.StringType, OutSpan: out.ID.Span, Binding: c, File: p.File, Span: out.Span,
		In: &schema.Type{Kind: schema.Struct, Fields: []*schema.Field{{Name: promptField, Type: schema.StringType, Span: prompt.Span}}}}
	p.wf.Tools = append(p.wf.Tools, t)
	out.Verb = &ir.ToolCall{Name: t.Key}
}

// promptField is the input of the commands; in the words of a command it stands for the prompt.
const promptField = "prompt"

// command is how a provider's program is called. An empty word stands for the prompt.
func command(who, format, model string, extra []string) []string {
	var named []string
	if model != "" {
		named = []string{"--model", model}
	}
	switch who {
	case "codex":
		return append(append(append([]string{"codex", "exec", "--skip-git-repo-check"}, named...), extra...), "")
	case "gemini":
		return []string{"gemini", "--yolo", "--prompt", ""}
	}
	return append(append([]string{"claude", "-p", "", "--output-format", format}, named...), extra...)
}

// word is a constant word of a command, or the prompt.
func (p *parser) word(s string, at source.Span) *ir.Template {
	t := &ir.Template{Text: source.Text{Value: s, Span: at, Opaque: true}, Tmpl: &expr.Template{Segments: []expr.Segment{{Lit: s}}}}
	if s == "" {
		parsed, _ := expr.ParseTemplate("{{ " + promptField + " }}")
		t.Tmpl = parsed
	}
	return t
}
