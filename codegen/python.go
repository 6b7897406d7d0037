package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const pythonPath = runtimePath + "/pytool"

// pythonTool writes the binding of a Python function.
func (g *generator) pythonTool(t *ir.Tool, b *ir.PythonTool) jen.Code {
	if b.Class != nil {
		return g.pythonClass(t, b)
	}
	module, function, _ := strings.Cut(b.Ref.Name, ":")
	var fields []jen.Code
	if s := g.python[t]; s != nil {
		fields = append(fields, field("Source", jen.Id(ident(s.name))))
	}
	fields = append(fields, field("Module", quote(module)), field("Name", quote(function)))
	if t.MaxOutput > 0 {
		fields = append(fields, field("MaxOutput", jen.Lit(int(t.MaxOutput))))
	}
	call := []jen.Code{jen.Qual(pythonPath, "Func").Values(fields...)}
	if b.Filled != nil {
		call = append(call, jen.Qual(flowPath, "Filled").Call(g.apart(b.Filled.Node)))
	}
	return g.foreign(pythonPath, t, call...)
}

// pythonClass writes the binding of a class that is a node.
func (g *generator) pythonClass(t *ir.Tool, b *ir.PythonTool) jen.Code {
	fields := []jen.Code{field("Source", jen.Id(ident(g.python[t].name))), field("Name", quote(b.Ref.Name))}
	if b.Class.State != "" {
		fields = append(fields, field("State", quote(b.Class.State)))
	}
	if b.Class.Config != "" {
		fields = append(fields, field("Config", quote(b.Class.Config)))
	}
	var writes []jen.Code
	for _, name := range b.Class.Writes {
		writes = append(writes, quote(name))
	}
	fields = append(fields, field("Writes", jen.Index().String().Values(writes...)))
	return g.foreign(b.Spare.Path, t, jen.Qual(importPath(b.Spare.Path), "Class").Values(fields...))
}

// foreign is the call of the Bind of a package that runs another language.
func (g *generator) foreign(pkg string, t *ir.Tool, what ...jen.Code) jen.Code {
	args := append([]jen.Code{quote(t.FullName()), effectsName(check.Effects(t))}, what...)
	args = append(args, g.options(t)...)
	if t.Auth != nil {
		args = append(args, jen.Qual(flowPath, "Secrets").Call(quote(t.Auth.Secret.Name)))
	}
	return jen.Qual(importPath(pkg), "Bind").Types(g.inType(t), g.outType(t)).Call(args...)
}

// outType is the Go type of a tool's result.
func (g *generator) outType(t *ir.Tool) *jen.Statement {
	if t.Out == nil {
		return jen.Struct()
	}
	return g.goType(t.Out)
}
