package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Dump writes a workflow as text, one fact a line, in file order and without places: for golden tests, and for people
// who want to see what the compiler understood. Sub-workflows follow, indented, each once.
func Dump(w *Workflow) string {
	d := &dumper{seen: map[*Workflow]bool{}}
	d.workflow(w)
	return d.b.String()
}

type dumper struct {
	b      strings.Builder
	indent int
	seen   map[*Workflow]bool
}

// line writes words that are not empty, with blanks between them.
func (d *dumper) line(words ...string) {
	start := true
	for _, w := range words {
		switch {
		case w == "":
			continue
		case start:
			d.b.WriteString(strings.Repeat("  ", d.indent))
		default:
			d.b.WriteByte(' ')
		}
		start = false
		d.b.WriteString(w)
	}
	if !start {
		d.b.WriteByte('\n')
	}
}

// in writes what f writes one level deeper.
func (d *dumper) in(f func()) {
	d.indent++
	f()
	d.indent--
}

// dumpOpt is the word and its value, or nothing.
func dumpOpt(word, value string) string {
	if value == "" {
		return ""
	}
	return word + " " + value
}

func dumpQuoteIf(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

func (d *dumper) workflow(w *Workflow) {
	if w == nil {
		d.line("no workflow")
		return
	}
	d.seen[w] = true
	d.line("workflow", w.Name.Name)
	d.in(func() {
		d.line(dumpOpt("description", dumpQuoteIf(w.Description)))
		for _, f := range w.Includes {
			d.line("includes", f.Name)
		}
		for _, t := range w.Types {
			d.decl(t)
		}
		for _, f := range w.Input {
			d.field("input", f)
		}
		for _, s := range w.State {
			d.state(s)
		}
		for _, s := range w.Secrets {
			d.line("secret", s.Name.Name, dumpOpt("from", strings.Join(s.From, ", ")))
		}
		for _, p := range w.Providers {
			d.line("provider", p.Name)
		}
		for _, m := range w.Models {
			d.model(m)
		}
		for _, s := range w.Servers {
			d.server(s)
		}
		for _, t := range w.Tools {
			d.tool(t)
		}
		for _, a := range w.Agents {
			d.line("agent", a.Name.Name)
			d.in(func() { d.agent(&a.Agent) })
		}
		d.policy(w.Policy)
		d.defaults(&w.Defaults)
		d.body(&w.Body)
		for _, o := range w.Output {
			d.output(o)
		}
		for _, c := range w.Claims {
			d.line("claim", c.Name)
		}
		for _, g := range w.GoTypes {
			d.line("go type", g.Ref.Name)
		}
		for _, f := range w.Flows {
			if !d.seen[f] {
				d.workflow(f)
			}
		}
	})
}

func (d *dumper) decl(t *schema.Decl) {
	anonymous := *t.Type
	anonymous.Decl = nil
	if anonymous.Kind != schema.Struct {
		d.line("type", t.Name, dumpTypeText(&anonymous), dumpQuoteIf(t.Description))
		return
	}
	d.line("type", t.Name, dumpQuoteIf(t.Description))
	d.in(func() {
		for _, f := range anonymous.Fields {
			d.field("field", f)
		}
	})
}

// dumpTypeText is a type as the language spells it; unknown Go types by their import path.
func dumpTypeText(t *schema.Type) string {
	switch {
	case t == nil:
		return "-"
	case t.Decl == nil && t.Kind == schema.Invalid && t.Go != nil:
		return "go:" + t.Go.Path + "." + t.Go.Name
	case t.Decl == nil && (t.Kind == schema.List || t.Kind == schema.Map || t.Kind == schema.Opt):
		return t.Kind.String() + "<" + dumpTypeText(t.Elem) + ">"
	}
	return t.String()
}

func (d *dumper) field(word string, f *schema.Field) {
	t := f.Type
	nested := t.Kind == schema.Struct && t.Decl == nil && t.Go == nil && hasFacts(t)
	words := []string{word, f.Name, dumpTypeText(t)}
	if nested {
		words[2] = "struct"
	}
	if f.Default != nil {
		words = append(words, "default "+f.Default.JSON)
	}
	words = append(words, dumpOpt("min", dumpNumber(f.Min)), dumpOpt("max", dumpNumber(f.Max)), dumpOpt("pattern", dumpQuoteIf(f.Pattern)), dumpQuoteIf(f.Description))
	d.line(words...)
	if nested {
		d.in(func() {
			for _, g := range t.Fields {
				d.field("field", g)
			}
		})
	}
}

// hasFacts reports whether the fields of a struct say more than their types.
func hasFacts(t *schema.Type) bool {
	for _, f := range t.Fields {
		if f.Default != nil || f.Min != nil || f.Max != nil || f.Pattern != "" || f.Description != "" || hasFacts(f.Type.Present()) {
			return true
		}
	}
	return false
}

func dumpNumber(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func dumpInt(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

func (d *dumper) state(s *State) {
	init := ""
	if s.Init != nil {
		init = s.Init.JSON
	}
	merge := [...]string{"", "append", "set_once", "go:", "sum"}[s.Merge.Kind]
	if s.Merge.Reducer != nil {
		merge += s.Merge.Reducer.Ref.Name
	}
	d.line("state", s.Path(), dumpTypeText(s.Type), dumpOpt("init", init), dumpOpt("merge", merge))
}

func (d *dumper) output(o *Output) {
	typ := ""
	if o.Type != nil {
		typ = dumpTypeText(o.Type)
	}
	d.line("output", o.Name.Name, typ, "=", dumpValue(o.Value), dumpQuoteIf(o.Description))
}

func (d *dumper) model(m *Model) {
	d.line("model", m.Name.Name, m.Model.Name, dumpOpt("base_url", m.BaseURL.Name), dumpOpt("key", m.Key.Name), dumpOpt("temperature", dumpNumber(m.Params.Temperature)),
		dumpOpt("top_p", dumpNumber(m.Params.TopP)), dumpOpt("max_tokens", dumpMaxTokens(m)), dumpOpt("seed", dumpInt(m.Params.Seed)), dumpOpt("stop", dumpQuoteAll(m.Params.Stop)))
	if m.Script != nil {
		d.in(func() { d.line("answers", strconv.Quote(m.Script.Answers)) })
	}
	if p := m.Price; p != nil {
		d.in(func() { d.line("price", "input", p.Input, dumpOpt("cached", p.Cached), "output", p.Output) })
	}
}

func (d *dumper) server(s *Server) {
	d.line("server", s.Name.Name, dumpOpt("command", dumpQuoteAll(s.Command)), dumpOpt("url", s.URL), dumpOpt("auth", dumpAuth(s.Auth)))
	d.in(func() { d.pairs("env", s.Env) })
}

func dumpQuoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return strings.Join(out, " ")
}

func dumpAuth(a *Auth) string {
	if a == nil {
		return ""
	}
	return strings.Join(strings.Fields(a.Kind+" "+a.Header+" "+a.Secret.Name), " ")
}

func (d *dumper) pairs(word string, vars []EnvVar) {
	for _, v := range vars {
		if v.Secret.Name != "" {
			d.line(word, v.Name.Name, "=", "secret", v.Secret.Name)
			continue
		}
		d.line(word, v.Name.Name, "=", dumpTemplate(v.Value))
	}
}

func (d *dumper) params(word string, list []Param) {
	for _, x := range list {
		text := dumpValue(x.Value)
		if t, ok := x.Value.(*Template); ok {
			text = dumpTemplate(t)
		}
		d.line(word, x.Name.Name, "=", text, dumpQuoteIf(x.Join))
	}
}

func (d *dumper) tool(t *Tool) {
	d.line("tool", t.FullName(), dumpOpt("effects", t.Effects.String()), dumpQuoteIf(t.Description))
	d.in(func() {
		d.binding(t.Binding)
		if t.Def != nil {
			for _, f := range t.Def.Files {
				d.line("source", f.Name)
			}
		}
		if t.In != nil {
			d.line("in", dumpFlag(t.In.Kind == schema.Any, "any"))
			d.in(func() {
				for _, f := range t.In.Fields {
					d.field("field", f)
				}
			})
		}
		if t.Out != nil {
			d.line("out", dumpTypeText(t.Out))
		}
		d.line(dumpOpt("auth", dumpAuth(t.Auth)))
		if t.MaxOutput != 0 {
			d.line("max_output", strconv.FormatInt(t.MaxOutput, 10))
		}
		if t.Approve {
			d.line("approve")
		}
		d.line(dumpOpt("timeout", dumpSpan(t.Timeout)))
		d.line(dumpOpt("state", t.State))
		d.line(dumpOpt("replay", t.Replay))
		d.line(dumpOpt("permissions", dumpQuoteAll(t.Permissions)))
		d.line(dumpOpt("cache", t.Cache), dumpSpan(t.CacheTTL))
		d.line(dumpOpt("rate", t.Rate))
		d.line(dumpOpt("queue", dumpQuoteIf(t.Queue)))
		d.line(dumpOpt("cost_usd", t.CostUSD))
		switch {
		case t.IdempotencyKey != nil:
			d.line("idempotency_key", dumpTemplate(t.IdempotencyKey))
		case t.Idempotency:
			d.line("idempotency_key call_id")
		}
		d.doubt(t.InDoubt)
		for _, x := range t.Examples {
			d.line("example", dumpConst(x.InJSON), "->", dumpConst(x.OutJSON), dumpQuoteIf(x.Description))
		}
		d.line(dumpOpt("category", t.Category))
		d.line(dumpOpt("tags", dumpQuoteAll(t.Tags)))
	})
}

func dumpSpan(d *Duration) string {
	if d == nil {
		return ""
	}
	return d.Value.String()
}

func (d *dumper) binding(b Binding) {
	switch b := b.(type) {
	case *GoTool:
		d.line("go", b.Func.Ref.Name)
	case *CommandTool:
		d.command(b)
	case *HTTPTool:
		d.line("http", b.Method, dumpTemplate(b.URL))
		d.in(func() {
			if b.Base.Name != "" {
				d.line("base", b.Base.Name)
			}
			d.params("header", b.Headers)
			d.params("query", b.Query)
			if b.Body != nil {
				d.line("body", dumpValue(b.Body))
			}
			if b.HTMLText {
				d.line("html text")
			}
			if b.RefuseExtra {
				d.line("extra refuse")
			}
		})
	case *OpenAPITool:
		d.line("openapi", b.Ref(), dumpOpt("base", b.Base.Name))
	case *PythonTool:
		d.line("python", b.Ref.Name, dumpOpt("venv", b.Venv.Name), dumpFlag(b.Free, "free"), dumpOpt("home", b.Home))
	case *JSTool:
		d.line("js", b.Path.Name, dumpOpt("engine", b.Engine))
	case *MCPTool:
		d.line("mcp", b.Ref.Name)
	case *SlotTool:
		d.line("slot", b.Name.Name)
	case *StarlarkTool:
		d.line("starlark", b.Path.Name)
	case *SQLTool:
		d.line("sql", b.Engine, strconv.Quote(b.Text), dumpOpt("rows", b.Rows))
	case *WasmTool:
		d.line("wasm", b.Path.Name, dumpOpt("export", b.Export.Name))
	}
}

func (d *dumper) command(c *CommandTool) {
	word := "command"
	if c.Shell {
		word = "shell"
	}
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = dumpTemplate(a)
	}
	d.line(word, strings.Join(args, " "))
	d.in(func() {
		if c.Stdin != nil {
			d.line("stdin", dumpTemplate(c.Stdin))
		}
		if c.Dir != nil {
			d.line("dir", dumpTemplate(c.Dir))
		}
		d.pairs("env", c.Env)
		d.line("format", [...]string{"text", "lines", "json", "none"}[c.Format])
	})
}

func (d *dumper) policy(p *Policy) {
	if p == nil {
		return
	}
	d.line("policy")
	d.in(func() {
		for _, c := range []struct {
			name  string
			value *int64
		}{{"max_iterations", p.MaxIterations}, {"max_tool_calls", p.MaxToolCalls}, {"max_total_tokens", p.MaxTokens}} {
			if c.value != nil {
				d.line(c.name, dumpCap(*c.value))
			}
		}
		d.line(dumpOpt("max_cost_usd", p.MaxCostUSD))
		d.line(dumpOpt("max_time", dumpSpan(p.MaxTime)))
		if p.NoModels {
			d.line("asks deny")
		}
		var effects []string
		for _, e := range p.Effects {
			effects = append(effects, e.String())
		}
		d.line(dumpOpt("effects", strings.Join(effects, " ")))
		d.line(dumpOpt("grants", dumpQuoteAll(p.Grants)))
		d.line(dumpOpt("net allow", dumpQuoteAll(p.NetAllow)))
		if p.EnvironmentProxy {
			d.line("net proxy environment")
		}
		d.line(dumpOpt("sandbox min", p.SandboxMin))
	})
}

func dumpMaxTokens(m *Model) string {
	if m.Unbounded {
		return "unbounded"
	}
	return dumpInt(m.Params.MaxTokens)
}

func dumpCap(n int64) string {
	if n == Unbounded {
		return "unbounded"
	}
	return strconv.FormatInt(n, 10)
}

func (d *dumper) defaults(x *Defaults) {
	d.line(dumpOpt("default timeout", dumpSpan(x.Timeout)))
	if x.OnError != nil {
		d.line("default on_error", dumpOnError(x.OnError))
	}
	if x.Retry != nil {
		d.line("default retry", dumpRetry(x.Retry))
	}
	if j := x.Journal; j != nil {
		d.line("journal", dumpOpt("dir", dumpQuoteIf(j.Dir)), dumpOpt("sync", j.Sync))
	}
}

func (d *dumper) doubt(x *Doubt) {
	if x == nil {
		return
	}
	words := []string{"on_in_doubt", x.Policy}
	if x.JSON != nil {
		words = append(words, x.JSON.JSON)
	}
	d.line(words...)
}

func dumpOnError(e *OnError) string {
	if e.Kind == OnErrorDefault {
		return "default " + dumpValue(e.Default)
	}
	return [...]string{"fail", "skip"}[e.Kind]
}

func dumpRetry(r *Retry) string {
	var b strings.Builder
	if r.Attempts > 0 || r.Timeout == nil {
		fmt.Fprintf(&b, "attempts %d", r.Attempts)
	}
	if len(r.Codes) > 0 {
		b.WriteString(" codes " + dumpNames(r.Codes))
	}
	if r.Constant {
		b.WriteString(" constant")
	}
	if r.Base != nil {
		b.WriteString(" base " + dumpSpan(r.Base))
	}
	if r.Cap != nil {
		b.WriteString(" cap " + dumpSpan(r.Cap))
	}
	if r.Jitter != 0 {
		b.WriteString(" jitter " + dumpNumber(&r.Jitter))
	}
	if r.Timeout != nil {
		b.WriteString(" timeout " + dumpSpan(r.Timeout))
	}
	return strings.TrimPrefix(b.String(), " ")
}

// dumpConst is a constant of the file as JSON.
func dumpConst(d *schema.Default) string {
	if d == nil {
		return "-"
	}
	return d.JSON
}

func dumpFlag(set bool, word string) string {
	if set {
		return word
	}
	return ""
}
