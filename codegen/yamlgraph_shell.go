package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const (
	graphPath = runtimePath + "/yamlgraph"
	shellPath = graphPath + "/shell"
)

// shellTool writes the binding of a shell command.
func (g *generator) shellTool(t *ir.Tool, b *ir.ShellTool) jen.Code {
	fields := []jen.Code{field("Script", quote(b.Script.Name))}
	if parse := map[string]string{"json": "JSON", "none": "None"}[b.Parse]; parse != "" {
		fields = append(fields, field("Parse", jen.Qual(shellPath, ident(parse))))
	}
	if b.Dir != "" {
		fields = append(fields, field("Dir", quote(b.Dir)))
	}
	if len(b.Env) > 0 {
		fields = append(fields, field("Env", jen.Index().String().Values(quoteAll(b.Env)...)))
	}
	if len(b.Codes) > 0 {
		var codes []jen.Code
		for _, code := range b.Codes {
			codes = append(codes, jen.Lit(code))
		}
		fields = append(fields, field("Codes", jen.Index().Int().Values(codes...)))
	}
	args := []jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), jen.Qual(shellPath, "Command").Values(fields...)}
	return jen.Qual(shellPath, "Bind").Call(append(args, g.options(t)...)...)
}
