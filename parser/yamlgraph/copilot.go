package yamlgraph

import (
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

var (
	flagShape = &dialect.Shape{What: "`cli_flags`", Open: true, Keys: []dialect.Key{
		{Name: "model", Doc: "the model"}, {Name: "resume", Doc: "the session that goes on"}, {Name: "continue_session", Doc: "whether the last session goes on"},
		{Name: "allow_all_paths", Doc: "whether all files may be used"}, {Name: "allow_all_tools", Doc: "whether all tools may be used"},
	}}
	claudeShape   = &dialect.Shape{What: "`cli_flags` of claude", Keys: append(append([]dialect.Key{}, flagShape.Keys...), dialect.Key{Name: "tools", Doc: "tools that there are"}, dialect.Key{Name: "allowed_tools", Doc: "tools that may be used"}, dialect.Key{Name: "max_turns", Doc: "how often the model is asked at most"})}
	opencodeShape = &dialect.Shape{What: "`cli_flags` of opencode", Keys: flagShape.Keys[:2]}
	opencodeModel = lazyregexp.New(`^[^/\s]+/[^/\s]+$`)
)

var copilotShape = nodeShape("a copilot node", dialect.Key{Name: "prompt", Required: true, Doc: "the prompt file, without `.yaml`"}, dialect.Key{Name: "variables", Doc: "what the prompt's variables stand for"},
	dialect.Key{Name: "state_key", Required: true, Doc: "the field of the answer"}, dialect.Key{Name: "backend", Doc: "cli, claude, opencode or api"}, dialect.Key{Name: "cli_flags", Doc: "how the program is called"},
	dialect.Key{Name: "model", Doc: "the model"}, dialect.Key{Name: "provider", Doc: "who is asked, with `backend: api`"}, dialect.Key{Name: "output_model", Doc: "a class of Python, with `backend: api`"},
	dialect.Key{Name: "requires", Doc: "not read by the engine"})

// copilot reads a node that asks a program which works by itself.
func (p *parser) copilot(m dialect.Mapping, out *Node, inside bool) {
	backend := "cli"
	if n := m.Get("backend"); n != nil {
		if backend = p.Word(n, "the backend of a copilot node", "cli", "api", "claude", "opencode"); backend == "" {
			return
		}
	}
	file, ok := p.Text(m.Get("prompt"), "`prompt`")
	key, keyed := p.Text(m.Get("state_key"), "`state_key`")
	if !ok || !keyed {
		return
	}
	for _, name := range []string{"on_error", "requires"} {
		if m.Get(name) != nil {
			p.Warn(diag.IgnoredKey, m.Key(name), "remove it", "the engine does not read `%s` of a copilot node: an error ends the run", name)
		}
	}
	file.Name = strings.TrimSuffix(strings.TrimSuffix(file.Name, ".yaml"), ".yml")
	if !inside {
		p.field(key, schema.AnyType)
	}
	t := out.Token
	t.Key = key
	t.Ask = &TokenAsk{Fail: AskRaise}
	x := &asking{node: out, kind: "copilot", m: m, file: file, vars: m.Get("variables"), item: p.item}
	p.asked = append(p.asked, x)
	if backend == "api" {
		x.kind = "api"
		t.Ask.Copilot = true
		out.Verb = &ir.LLM{Span: m.Node.Span}
		return
	}
	if out.Timeout == nil {
		out.Timeout = &ir.Duration{Value: 300 * time.Second, Span: out.ID.Span}
	}
	program := p.program(m, backend, t)
	if program == nil {
		return
	}
	name := out.ID
	name.Name += "_" + backend
	tool := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + name.Name, Span: name.Span}, Version: "1", Key: name, Description: "The program " + map[string]string{"cli": "copilot"}[backend] + strings.TrimPrefix(backend, "cli") + ".",
		Effects: ir.EffectsExternal, EffectsSpan: name.Span, In: schema.AnyType, Out: schema.AnyType, OutSpan: name.Span, File: p.File, Span: m.Node.Span}
	command := map[string]string{"cli": "copilot", "claude": "claude", "opencode": "opencode"}[backend]
	tool.Binding = made(&ir.Reach{Commands: []string{command}, Env: []string{"*"}}, fnProgram, expr.Const(tool.FullName()), expr.Invoke(dialect.External), program)
	p.programs[tool] = true
	p.wf.Tools = append(p.wf.Tools, tool)
	out.Verb = &ir.ToolCall{Name: name}
}

// program reads how a program is called.
func (p *parser) program(m dialect.Mapping, backend string, t *Token) *expr.Node {
	var model string
	var before, after []string
	if id, ok := p.Text(p.setting(m, "model"), "`model`"); ok {
		model = id.Name
	}
	shape := map[string]*dialect.Shape{"cli": flagShape, "claude": claudeShape, "opencode": opencodeShape}[backend]
	f := dialect.Mapping{Node: &yamlnode.Node{Kind: yamlnode.Mapping, Span: m.Node.Span}, Shape: shape}
	if n := m.Get("cli_flags"); n != nil {
		var ok bool
		if f, ok = p.Mapping(n, shape); !ok {
			return nil
		}
	}
	if id, ok := p.Text(f.Get("model"), "`model`"); ok {
		model = id.Name
	}
	if n := f.Get("resume"); n != nil {
		if _, ok := p.Text(n, "`resume`"); ok {
			t.Payload = p.value(n)
		}
	}
	goesOn := p.Flag(f.Get("continue_session"), "`continue_session`", false)
	paths, all := p.Flag(f.Get("allow_all_paths"), "`allow_all_paths`", false), p.Flag(f.Get("allow_all_tools"), "`allow_all_tools`", false)
	switch backend {
	case "cli":
		if paths {
			before = append(before, "--allow-all-paths")
		}
		if all {
			before = append(before, "--allow-all-tools")
		}
	case "claude":
		if f.Get("tools") != nil {
			after = append(after, "--tools", p.joinedNames(f.Get("tools"), "`tools`"))
		}
		if allowed := p.joinedNames(f.Get("allowed_tools"), "`allowed_tools`"); all {
			after = append(after, "--dangerously-skip-permissions")
		} else if allowed != "" {
			after = append(after, "--allowedTools", allowed)
		}
		if n := p.Count(f.Get("max_turns"), "`max_turns`", 1, 1_000_000, 0); n > 0 {
			after = append(after, "--max-turns", strconv.FormatInt(n, 10))
		}
	case "opencode":
		if !opencodeModel.MatchString(strings.TrimSpace(model)) {
			p.Error(diag.MissingKey, m.Key("backend"), "write `model: provider/model`", "opencode is asked for a model of a provider")
			return nil
		}
	}
	fields := []expr.Entry{expr.Put("backend", expr.Const(backend))}
	add := func(name string, set bool, v *expr.Node) {
		if set {
			fields = append(fields, expr.Put(name, v))
		}
	}
	add("model", model != "", expr.Const(model))
	add("before", len(before) > 0, textList(before))
	add("after", len(after) > 0, textList(after))
	add("continue", goesOn, expr.Const(true))
	add("here", paths && backend == "claude", expr.Const(true))
	return expr.Struct(programType, fields...)
}

func (p *parser) joinedNames(n *yamlnode.Node, what string) string {
	var names []string
	for _, id := range p.Idents(n, what) {
		names = append(names, id.Name)
	}
	return strings.Join(names, ",")
}
