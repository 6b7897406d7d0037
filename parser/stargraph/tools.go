package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

var registryKey = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+@[^@\s]+$`)

// tool finds what a registry key is bound to: what flowgen.bindings.yaml says, or a tool that comes with the runtime. The
// key becomes empty when there is none, which is reported.
func (p *parser) tool(key *ir.Ident) *ir.Tool {
	if p.form == authoring && key.Name != "" && !strings.Contains(key.Name, "@") {
		key.Name += "@1"
	}
	if p.reading != nil {
		p.reading.tools = append(p.reading.tools, key.Name)
	}
	for _, t := range p.wf.Tools {
		if t.FullName() == key.Name {
			return t
		}
	}
	if t := p.decorated(*key); t != nil {
		return t
	}
	if t := p.builtin(*key); t != nil {
		p.wf.Tools = append(p.wf.Tools, t)
		return t
	}
	d := diag.Diagnostic{Code: diag.UnknownTool, Span: key.Span, Message: "no tool is bound to the registry key `" + key.Name + "`"}
	var keys []string
	for _, t := range p.wf.Tools {
		keys = append(keys, t.FullName())
	}
	for k := range builtins {
		keys = append(keys, k)
	}
	if p.opts.Python != nil {
		tools, why := p.opts.Python.Tools(p.File, modules)
		for _, t := range tools {
			keys = append(keys, t.FullName())
		}
		if why != "" {
			d.Message += ", and the project's Python is not looked through: " + why
		}
	}
	slices.Sort(keys)
	keys = slices.DeleteFunc(keys, func(k string) bool { // another tool of the engine is no help
		name, _, _ := strings.Cut(k, "@")
		return !strings.HasPrefix(key.Name, name+"@") && !diag.Close(key.Name, k)
	})
	diag.Suggest(&d, key.Name, keys)
	if !registryKey.MatchString(key.Name) {
		d.Message = "`" + key.Name + "` is not a registry key"
		d.Help, d.Fixes = "a key is namespace.name@version, as in "+broker, nil
	} else if engines[strings.SplitN(key.Name, ".", 2)[0]] || key.Name == "std.shell@1" || key.Name == "std.graph_invoke@1" {
		d.Message = "`" + key.Name + "` is a tool of the engine that does not come with flowgen, and that `stargraph run` denies"
		d.Fixes, d.Help = nil, bindHelp(key.Name)
	} else if len(d.Fixes) == 0 {
		d.Help = bindHelp(key.Name)
	}
	p.Report(d)
	key.Name = ""
	return nil
}

// engines are the namespaces of the engine's tools for services of others, all of which need permissions.
var engines = map[string]bool{"servicenow": true, "slack": true, "github": true, "s3": true, "email": true, "postgres": true, "cargonet": true}

func bindHelp(key string) string {
	return "bind it in flowgen.bindings.yaml next to this file: `flowgen: 1`, and below `tools:` a line like `" + key + ": {go: ./tools.Function, effects: reads}`"
}

// own is a tool of the runtime that a kind of nodes calls: made once.
func (p *parser) own(key ir.Ident, make func() *ir.Tool) *ir.Tool {
	for _, t := range p.wf.Tools {
		if t.FullName() == key.Name {
			return t
		}
	}
	t := make()
	p.wf.Tools = append(p.wf.Tools, t)
	return t
}

func text(s string, at source.Span) *ir.Scalar {
	return &ir.Scalar{Text: source.Text{Value: s, Span: at, Opaque: true}, Tag: "!!str"}
}

// broker is the registry key of the one tool that the page describes.
const broker = "nautilus.broker_request@1"

// Packages of the runtime whose functions nodes call.
const (
	runtimePackage  = schema.RuntimePath + "/stargraph"
	nautilusPackage = runtimePackage + "/nautilus"
)

func param(name string, typ *schema.Type) *ir.GoParam { return &ir.GoParam{Name: name, Type: typ} }

// runtimeFunc is a function of a package of the runtime, whose last result is an error.
func runtimeFunc(at source.Span, path, name, doc string, out *schema.Type, params ...*ir.GoParam) *ir.GoFunc {
	in := &schema.Type{Kind: schema.Struct}
	for _, x := range params {
		in.Fields = append(in.Fields, &schema.Field{Name: x.Name, Type: x.Type})
	}
	b := &ir.GoBinding{Path: path, Func: name, Package: path[strings.LastIndexByte(path, '/')+1:], Doc: doc, Err: true, In: in, Out: out, Params: params}
	return &ir.GoFunc{Ref: ir.Ident{Name: path + "." + name, Span: at}, Bind: b}
}

// runtimeTool is a tool that is a function of the runtime. Its first parameter is a context.
func runtimeTool(key ir.Ident, path, function, doc string, effects ir.Effects, out *schema.Type, params ...*ir.GoParam) *ir.Tool {
	f := runtimeFunc(source.Span{File: key.Span.File}, path, function, doc, out, params...)
	f.Bind.Context = true
	name, version, _ := strings.Cut(key.Name, "@")
	return &ir.Tool{Name: ir.Ident{Name: name, Span: key.Span}, Version: version, Key: key, Description: doc, Effects: effects, EffectsSpan: key.Span,
		In: f.Bind.In, Out: out, OutSpan: key.Span, Binding: &ir.GoTool{Func: f}, File: key.Span.File, Span: key.Span}
}
