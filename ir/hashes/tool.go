package hashes

import (
	"path"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// tool is the hash of a tool: its declaration and the sources that belong to the workflow. What a model is told of it
// counts when one is told.
func (m *maker) tool(t *ir.Tool, told bool) string {
	var x text
	x.line("tool", t.FullName())
	x.line("effects", check.Effects(t).String())
	if told {
		x.line("description", t.Description)
	}
	x.line("in", m.typ(t.In, told))
	x.line("out", m.typ(t.Out, false))
	if a := t.Auth; a != nil {
		x.line("auth", a.Kind, a.Header, a.Secret.Name)
	}
	x.number("max_output", t.MaxOutput)
	x.mark("approve", t.Approve)
	x.duration("timeout", t.Timeout)
	if t.State != "active" {
		x.line("state", t.State)
	}
	x.line("replay", t.Replay)
	for _, p := range t.Permissions {
		x.line("permission", p)
	}
	x.line("sandbox", strings.TrimPrefix(t.Sandbox.Name, "native"), m.root.Sandbox[t]) // native is what holds unless written
	x.line("cache", t.Cache)
	x.duration("ttl", t.CacheTTL)
	x.mark("idempotent", t.Idempotency)
	x.line("key", template(t.IdempotencyKey))
	m.binding(&x, t)
	return x.sum()
}

// binding writes what a tool runs as.
func (m *maker) binding(x *text, t *ir.Tool) {
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		m.function(x, b.Func)
	case *ir.SlotTool: // what is in it, only the program knows that embeds the workflow
		x.line("slot", b.Name.Name)
		if b.Config != nil {
			x.line("config", b.Config.JSON)
		}
	case *ir.CommandTool:
		x.mark("command", true)
		x.mark("shell", b.Shell)
		for _, a := range b.Args {
			x.line("arg", template(a))
		}
		x.line("stdin", template(b.Stdin))
		x.line("dir", template(b.Dir))
		x.pairs("env", b.Env)
		x.line("format", strconv.Itoa(int(b.Format)))
		x.mark("inherit", b.Inherit)
		x.mark("verbatim", b.Verbatim)
	case *ir.HTTPTool:
		x.line("http", b.Method, template(b.URL))
		if b.Base.Name != "" {
			x.line("base", b.Base.Name)
		}
		x.params("header", b.Headers)
		x.params("query", b.Query)
		if b.Body != nil {
			x.line("body", value(b.Body))
		}
		x.mark("html text", b.HTMLText)
		x.mark("extra refuse", b.RefuseExtra)
	case *ir.PythonTool:
		python(x, t, b)
	case *ir.JSTool:
		x.line("js", b.Engine, b.Bundle)
	case *ir.Made:
		m.made(x, b)
	case *ir.StarlarkTool:
		x.line("starlark", b.Function)
		sources(x, t, false)
	case *ir.SQLTool:
		x.line("sql", b.Engine, b.DB.Name, b.Text, b.Rows)
		x.line("bound", b.Params...)
		x.number("max_rows", b.MaxRows)
	case *ir.WasmTool:
		x.line("wasm", b.Function())
		sources(x, t, false)
	case *ir.MCPTool:
		x.line("mcp", b.Tool.Name, b.Hash, strconv.Itoa(int(b.Result)))
		x.line("server", m.server(t, b))
	}
}

func python(x *text, t *ir.Tool, b *ir.PythonTool) {
	x.line("python", b.Ref.Name, b.Venv.Name)
	x.mark("free", b.Free)
	x.line("env", b.Env...)
	x.line("home", b.Home)
	x.mark("spare", b.Spare != nil)
	if b.Filled != nil {
		x.line("filled", value(b.Filled))
		functions(x, b.Filled)
	}
	if c := b.Class; c != nil {
		x.line("class", append([]string{c.State, c.Config}, c.Writes...)...)
	}
	sources(x, t, true) // the names are those of modules
}

func sources(x *text, t *ir.Tool, named bool) {
	if t.Def == nil {
		return
	}
	for _, f := range t.Def.Files {
		if named {
			x.line("module", path.Clean(f.Name))
		}
		x.line("source", f.Text)
	}
}

// function writes the signature of a Go function, and what its code is.
func (m *maker) function(x *text, f *ir.GoFunc) {
	if f == nil {
		return
	}
	b := f.Bind
	if b == nil {
		x.line("go", f.Ref.Name)
		return
	}
	x.line("go", b.Path, b.Func)
	if b.Code != "" {
		x.line("code", b.Code)
	}
	x.mark("context", b.Context)
	x.mark("struct", b.Struct)
	x.mark("variadic", b.Variadic)
	x.mark("error", b.Err)
	for _, p := range b.Params {
		x.line("param", p.Name, m.typ(p.Type, false))
	}
	x.line("in", m.typ(b.In, false))
	x.line("out", m.typ(b.Out, false))
}

// server is the hash of the server that a tool is on.
func (m *maker) server(t *ir.Tool, b *ir.MCPTool) string {
	for _, p := range append([]*check.Program{m.root}, m.root.Flows...) {
		for _, s := range p.WF.Servers {
			if s.Name.Name != b.Server.Name || !declares(p.WF, t) {
				continue
			}
			var x text
			x.line("url", s.URL)
			for _, a := range s.Command {
				x.line("arg", strconv.Quote(a))
			}
			x.pairs("env", s.Env)
			if a := s.Auth; a != nil {
				x.line("auth", a.Kind, a.Header, a.Secret.Name)
			}
			return x.sum()
		}
	}
	return ""
}

func declares(wf *ir.Workflow, t *ir.Tool) bool {
	for _, x := range wf.Tools {
		if x == t {
			return true
		}
	}
	return false
}
