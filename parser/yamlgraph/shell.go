package yamlgraph

import (
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

// Names in a command; {{ and }} stand for braces.
var (
	commandPart = lazyregexp.New(`\{\{|\}\}|\{([^{}]*)\}?|\}`)
	variableOK  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// made is the binding of a tool that a function of the engine makes.
func made(reach *ir.Reach, f *expr.Func, args ...*expr.Node) *ir.Made {
	return &ir.Made{New: as(expr.Invoke(f, args...)), Reach: reach}
}

// shell reads a tool that is a shell command.
func (p *parser) shell(m dialect.Mapping, key ir.Ident) {
	command, ok := p.Text(m.Get("command"), "`command`")
	if !ok {
		if m.Get("command") == nil {
			p.Error(diag.MissingKey, key.Span, "add `command`: what the shell runs", "a shell tool needs the key `command`")
		}
		return
	}
	fields := []expr.Entry{expr.Put("script", expr.Const(command.Name))}
	if n := m.Get("parse"); n != nil {
		word := p.Word(n, "`parse`", "text", "json", "none")
		if f := parses[word]; f != nil {
			fields = append(fields, expr.Put("parse", expr.Invoke(f)))
		}
		p.parsed[key.Name] = word == "json"
	}
	if dir, ok := p.Text(m.Get("working_dir"), "`working_dir`"); ok && dir.Name != "." {
		fields = append(fields, expr.Put("dir", expr.Const(dir.Name)))
	}
	if env := p.environment(m.Get("env")); len(env) > 0 {
		fields = append(fields, expr.Put("env", textList(env)))
	}
	if codes := p.codes(m.Get("success_codes")); codes != nil {
		fields = append(fields, expr.Put("codes", codes))
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + key.Name, Span: key.Span}, Version: "1", Key: key, Effects: ir.EffectsExternal, EffectsSpan: key.Span,
		In: schema.AnyType, Out: schema.AnyType, OutSpan: key.Span, File: p.File, Span: key.Span}
	t.Binding = made(&ir.Reach{Commands: []string{"sh"}, Env: []string{"*"}}, fnShell, expr.Const(t.FullName()), expr.Invoke(dialect.External), expr.Struct(commandType, fields...))
	t.Def = &ir.Definition{Name: key.Name, Span: key.Span, In: p.inWords(command)}
	if d, ok := p.Text(m.Get("description"), "the description"); ok {
		t.Description = d.Name
	}
	p.timeouts[key.Name] = &ir.Duration{Value: 30 * time.Second, Span: key.Span}
	if n := m.Get("timeout"); n != nil {
		p.timeouts[key.Name] = p.seconds(n, "the timeout of a tool")
	}
	p.tools[key.Name] = t
	p.wf.Tools = append(p.wf.Tools, t)
}

// inWords are the names in a command, each of which is a required text for agents.
func (p *parser) inWords(command ir.Ident) *schema.Type {
	in := &schema.Type{Kind: schema.Struct}
	for _, m := range commandPart.FindAllStringSubmatch(command.Name, -1) {
		switch {
		case m[0] == "{{" || m[0] == "}}":
		case variableOK.MatchString(m[1]) && strings.HasSuffix(m[0], "}"):
			if in.Field(m[1]) == nil {
				in.Fields = append(in.Fields, &schema.Field{Name: m[1], Type: schema.StringType, Span: command.Span})
			}
		default:
			p.Warn(diag.IgnoredKey, command.Span, "write {{ and }} for braces of the shell", "this command always fails: `%s` is not a variable", m[0])
			return in
		}
	}
	return in
}

// environment reads environment variables.
func (p *parser) environment(n *yamlnode.Node) []string {
	if n == nil {
		return nil
	}
	if !p.IsMapping(n, "`env`") {
		return nil
	}
	var out []string
	for _, e := range n.Entries {
		if v, ok := p.Text(e.Value, "a variable of `env`"); ok {
			out = append(out, e.Key.Text.Value+"="+v.Name)
		}
	}
	return out
}

// codes reads exit codes; nil for 0 alone.
func (p *parser) codes(n *yamlnode.Node) *expr.Node {
	if n == nil {
		return nil
	}
	if !p.IsList(n, "`success_codes`") {
		return nil
	}
	out, others := &expr.Node{Op: expr.ListLit}, len(n.Items) > 1
	for _, it := range n.Items {
		code := p.Count(it, "an exit code", 0, 255, 0)
		out.Kids, others = append(out.Kids, expr.Const(code)), others || code != 0
	}
	if !others {
		return nil
	}
	return out
}

var toolNodeShape = nodeShape("a tool node", dialect.Key{Name: "tool", Required: true, Doc: "the shell tool"}, dialect.Key{Name: "variables", Doc: "the names of its command with their values"}, loopLimitKey)

// toolNode reads a node that runs a shell tool.
func (p *parser) toolNode(m dialect.Mapping, out *Node) {
	name, ok := p.Text(m.Get("tool"), "`tool`")
	if !ok {
		return
	}
	t := p.tools[name.Name]
	switch kind, declared := p.kinds[name.Name]; {
	case !declared:
		p.unknownTool(name)
		return
	case kind == "":
		return // reported
	case kind != "shell":
		p.Error(diag.UnknownName, name.Span, "", "tool %q is a %s tool, and a tool node runs shell tools", name.Name, kind)
		return
	case t == nil:
		return // reported
	}
	k := out.Token
	k.OnError = p.onError(m)
	k.Key = p.key(m, out.ID)
	out.Timeout = p.timeouts[name.Name]
	given := map[string]bool{}
	if n := m.Get("variables"); n != nil {
		if !p.IsMapping(n, "`variables`") {
			return
		}
		for _, e := range n.Entries {
			given[e.Key.Text.Value] = true
			k.Values = append(k.Values, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: p.value(e.Value)})
		}
	}
	for _, f := range t.Def.In.Fields {
		if !given[f.Name] {
			p.Warn(diag.UnknownName, name.Span, "add it to `variables`", "the command of tool %q needs the variable `%s`: without it the node fails", name.Name, f.Name)
		}
	}
	out.Verb = &ir.ToolCall{Name: name}
}
