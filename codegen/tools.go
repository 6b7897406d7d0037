package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// tools binds every tool that a node calls.
func (g *generator) tools() {
	var defs []jen.Code
	for _, t := range g.usedTools() {
		defs = append(defs, g.server(t)...)
		defs = append(defs, jen.Id(ident(g.p.Names.Tools[t])).Op("=").Add(g.bound(t)))
	}
	if len(defs) == 0 {
		return
	}
	g.file.Line()
	g.file.Comment("Tools, bound at compile time.")
	g.file.Var().Defs(defs...)
}

func (g *generator) bound(t *ir.Tool) jen.Code {
	if t.Approve {
		return jen.Add(g.bind(t)).Dot("Approved").Call()
	}
	return g.bind(t)
}

func (g *generator) bind(t *ir.Tool) jen.Code {
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		return jen.Qual(flowPath, "Bind").Call(g.bindArgs(t, g.goToolFunc(t, b.Func.Bind))...)
	case *ir.SlotTool:
		if b.StandIn != nil {
			return jen.Qual(execPath, "StandIn").Types(g.inType(t), g.outType(t)).Call(g.bindArgs(t, quote(*b.StandIn))...)
		}
		return g.slotTool(t, b)
	case *ir.CommandTool:
		return g.command(t, b)
	case *ir.HTTPTool:
		return g.http(t, b)
	case *ir.PythonTool:
		return g.pythonTool(t, b)
	case *ir.MCPTool:
		return g.mcp(t, b)
	case *ir.JSTool:
		return g.jsTool(t, b)
	case *ir.Made:
		return g.made(t, b)
	case *ir.StarlarkTool:
		return g.starlarkTool(t, b)
	case *ir.SQLTool:
		return g.sqlTool(t, b)
	case *ir.WasmTool:
		return g.wasmTool(t, b)
	}
	return jen.Nil()
}

// bindArgs are the arguments that every binding starts with, and those that a Go function ends with.
func (g *generator) bindArgs(t *ir.Tool, f jen.Code) []jen.Code {
	args := []jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), f}
	switch t.Binding.(type) {
	case *ir.GoTool, *ir.SlotTool:
	default:
		return args // the others bound what they read
	}
	args = append(args, g.options(t)...)
	if t.MaxOutput > 0 {
		args = append(args, jen.Qual(flowPath, "MaxOutput").Call(jen.Lit(int(t.MaxOutput))))
	}
	if t.Auth != nil { // the function reads it with tool.Auth
		args = append(args, jen.Qual(flowPath, "Secrets").Call(quote(t.Auth.Secret.Name)))
	}
	return args
}

func effectsName(e ir.Effects) jen.Code {
	return jen.Qual(flowPath, ident(map[ir.Effects]string{
		ir.EffectsNone: "None", ir.EffectsReads: "Reads", ir.EffectsWrites: "Writes", ir.EffectsExternal: "External",
	}[e]))
}

// inType is the Go type of a tool's input.
func (g *generator) inType(t *ir.Tool) *jen.Statement {
	if t.In == nil || len(t.In.Fields) == 0 && t.In.Go == nil && t.In.Kind != schema.Any {
		return jen.Struct()
	}
	return g.goType(t.In)
}

// goToolFunc is the function itself where it has the shape of a tool, func(context.Context, In) (Out, error), and else a
// function of that shape that calls it.
func (g *generator) goToolFunc(t *ir.Tool, f *ir.GoBinding) jen.Code {
	hasOut := f.Out != schema.EmptyType
	if f.Context && f.Struct && f.Err && hasOut {
		return g.goFunc(f)
	}
	ctx, in := jen.Id("_"), jen.Id("_")
	var args []jen.Code
	if f.Context {
		ctx = jen.Id("ctx")
		args = append(args, jen.Id("ctx"))
	}
	switch {
	case f.Struct:
		in = jen.Id("in")
		args = append(args, jen.Id("in"))
	case len(f.In.Fields) > 0:
		in = jen.Id("in")
		for _, p := range f.In.Fields {
			args = append(args, jen.Id("in").Dot(ident(fieldName(p))))
		}
	}
	result := jen.Code(jen.Struct())
	if hasOut {
		result = g.goType(f.Out)
	}
	c := g.goFunc(f).Call(args...)
	var code []jen.Code
	switch {
	case hasOut && f.Err:
		code = []jen.Code{jen.Return(c)}
	case hasOut:
		code = []jen.Code{jen.Return(c, jen.Nil())}
	case f.Err:
		code = []jen.Code{jen.Return(jen.Struct().Values(), c)}
	default:
		code = []jen.Code{c, jen.Return(jen.Struct().Values(), jen.Nil())}
	}
	return jen.Func().Params(ctx.Qual("context", "Context"), in.Add(g.inType(t))).Params(result, jen.Error()).Block(code...)
}

// request is the body of the function that makes of an input what a tool asks for: a value of type typ, with the error of what
// could not be calculated.
func (g *generator) request(typ jen.Code) *block {
	return &block{fn: &function{g: g, names: map[string]bool{}}, scope: &scope{}, fail: func(err jen.Code) []jen.Code {
		return []jen.Code{jen.Return(jen.Add(typ).Values(jen.Id("Err").Op(":").Add(err)))}
	}}
}

// command writes a command tool: a function from the input to the command line.
func (g *generator) command(t *ir.Tool, c *ir.CommandTool) jen.Code {
	b := g.request(jen.Qual(execPath, "Command"))
	text := func(tmpl *ir.Template) jen.Code { return b.valueAs(tmpl, schema.StringType) }
	var fields []jen.Code
	add := func(name string, v jen.Code) { fields = append(fields, jen.Id(ident(name)).Op(":").Add(v)) }

	args := c.Args
	if c.Shell {
		add("Shell", text(args[0]))
		args = args[1:]
	}
	var words []jen.Code
	for _, a := range args {
		words = append(words, text(a))
	}
	if len(words) > 0 {
		add("Args", jen.Index().String().Values(words...))
	}
	if c.Dir != nil {
		add("Dir", text(c.Dir))
	}
	var env, secrets []jen.Code
	for _, e := range c.Env {
		if s := e.Secret.Name; s != "" {
			secrets = append(secrets, quote(e.Name.Name+"="+s))
			continue
		}
		env = append(env, text(envEntry(e)))
	}
	if len(env) > 0 {
		add("Env", jen.Index().String().Values(env...))
	}
	if len(secrets) > 0 {
		add("SecretEnv", jen.Index().String().Values(secrets...))
	}
	if c.Inherit {
		add("Inherit", jen.True())
	}
	if c.Verbatim {
		add("Verbatim", jen.True())
	}
	if c.Stdin != nil {
		add("Stdin", text(c.Stdin))
	}
	if t.MaxOutput > 0 {
		add("MaxOutput", jen.Lit(int(t.MaxOutput)))
	}
	in := jen.Id("in")
	if t.In == nil || len(t.In.Fields) == 0 || !usesInput(c) {
		in = jen.Id("_")
	}
	b.add(jen.Return(jen.Qual(execPath, "Command").Custom(braces(len(fields) > 1), fields...)))
	f := jen.Func().Params(in.Add(g.inType(t))).Qual(execPath, "Command").Block(b.code...)
	bound := jen.Qual(execPath, ident(map[ir.Format]string{
		ir.FormatText: "Text", ir.FormatLines: "Lines", ir.FormatJSON: "JSON", ir.FormatNone: "None",
	}[c.Format]))
	if c.Format == ir.FormatJSON {
		bound = bound.Types(g.inType(t), g.goType(t.Out))
	}
	call := g.bindArgs(t, f)
	if names := secretNames(c); len(names) > 0 {
		call = append(call, jen.Qual(flowPath, "Secrets").Call(names...))
	}
	return bound.Call(append(call, g.options(t)...)...)
}

// envEntry is the text NAME=value.
func envEntry(e ir.EnvVar) *ir.Template {
	name := expr.Segment{Lit: e.Name.Name + "="}
	return &ir.Template{Text: e.Value.Text, Tmpl: &expr.Template{Segments: append([]expr.Segment{name}, e.Value.Tmpl.Segments...)}}
}

func constantText(t *ir.Template) (string, bool) {
	text := ""
	for _, s := range t.Tmpl.Segments {
		if s.Expr != nil {
			return "", false
		}
		text += s.Lit
	}
	return text, true
}

func secretNames(c *ir.CommandTool) []jen.Code {
	var names []jen.Code
	for _, e := range c.Env {
		if s := e.Secret.Name; s != "" {
			names = append(names, quote(s))
		}
	}
	return names
}

func usesInput(c *ir.CommandTool) bool {
	for _, t := range append(append([]*ir.Template{c.Stdin, c.Dir}, c.Args...), envTemplates(c)...) {
		if t == nil {
			continue
		}
		if _, constant := constantText(t); !constant {
			return true
		}
	}
	return false
}

func envTemplates(c *ir.CommandTool) []*ir.Template {
	var out []*ir.Template
	for _, e := range c.Env {
		out = append(out, e.Value)
	}
	return out
}
