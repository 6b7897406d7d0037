package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const copilotPath = graphPath + "/copilot"

// copilotTool writes the binding of the program that a copilot node asks.
func (g *generator) copilotTool(t *ir.Tool, b *ir.CopilotTool) jen.Code {
	fields := []jen.Code{field("Backend", quote(b.Backend))}
	if b.Model != "" {
		fields = append(fields, field("Model", quote(b.Model)))
	}
	for _, part := range []struct {
		name  string
		flags []string
	}{{"Before", b.Before}, {"After", b.After}} {
		if len(part.flags) > 0 {
			fields = append(fields, field(part.name, jen.Index().String().Values(quoteAll(part.flags)...)))
		}
	}
	if b.Continue {
		fields = append(fields, field("Continue", jen.True()))
	}
	if b.Here {
		fields = append(fields, field("Here", jen.True()))
	}
	args := []jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), jen.Qual(copilotPath, "Program").Values(fields...)}
	return jen.Qual(copilotPath, "Bind").Call(append(args, g.options(t)...)...)
}
