package codegen

import (
	"bytes"
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Texts writes a Go file of text functions alone, each with an exported one that `go` nodes of the native language can call: its
// input has a field for each parameter. A null is not a value to a text function, unless null says that it is one.
func Texts(list []*ir.TextFunc, null func(t *ir.TextFunc, param string) bool, opts Options) (src []byte, err error) {
	defer recovered(&err)
	sink := &diag.Sink{}
	p := check.Texts(list, sink)
	if p == nil {
		return nil, fmt.Errorf("text functions cannot be written: %s", sink.List()[0].Message)
	}
	g := &generator{p: p, opts: opts}
	g.file = jen.NewFilePathName(importPath(opts.Path), ident(opts.Package))
	g.imports, g.named = map[string]string{}, map[string]bool{}
	g.planImports()
	g.structs, g.patterns = g.file.Null(), jen.Null()
	g.file.PackageComment("Package " + ident(opts.Package) + " makes the texts of prompts that were templates. `flowgen convert` has written it.")
	for _, t := range p.Texts {
		g.exported(t, null)
	}
	g.texts()
	var buf bytes.Buffer
	if err := g.file.Render(&buf); err != nil {
		return nil, fmt.Errorf("generated code does not parse: %w", err)
	}
	return wrapLines(groupImports(buf.Bytes()))
}

// exported writes the function that a node calls.
func (g *generator) exported(t *check.TextFunc, null func(t *ir.TextFunc, param string) bool) {
	name := goname.Exported(t.IR.Name.Name)
	var fields, args []jen.Code
	taken := map[string]bool{}
	for _, p := range t.IR.Params {
		field := goname.Exported(p.Name)
		for taken[field] {
			field += "_"
		}
		taken[field] = true
		fields = append(fields, jen.Id(ident(field)).Qual(valuePath, "Value").Add(structTag(&schema.Field{Name: p.Name, Type: schema.AnyType}, false)))
		arg := jen.Qual(dynamicPath, "Of").Call(jen.Id("in").Dot(ident(field)))
		if !null(t.IR, p.Name) {
			arg = arg.Dot("NonNull").Call()
		}
		args = append(args, arg)
	}
	g.file.Line()
	var params []jen.Code
	if len(fields) > 0 {
		g.file.Add(comment(name + "In is what " + name + " is made of."))
		g.file.Type().Id(ident(name + "In")).Struct(fields...)
		g.file.Line()
		params = append(params, jen.Id("in").Id(ident(name+"In")))
	}
	results := []jen.Code{g.goType(t.Sig.Result)}
	if t.Sig.Fails {
		results = append(results, jen.Error())
	}
	g.file.Add(comment(name + " " + t.IR.Doc))
	g.file.Func().Id(ident(name)).Params(params...).Params(results...).Block(jen.Return(jen.Id(ident(g.p.Names.Texts[t.IR])).Call(args...)))
}
