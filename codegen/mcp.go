package codegen

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const mcpPath = runtimePath + "/mcptool"

// server declares the server of a tool, before the first of its tools.
func (g *generator) server(t *ir.Tool) []jen.Code {
	s := g.serverOf(t)
	if s == nil {
		return nil
	}
	name := g.p.Names.Servers[s]
	if g.servers[name] {
		return nil
	}
	if g.servers == nil {
		g.servers = map[string]bool{}
	}
	g.servers[name] = true
	return []jen.Code{jen.Id(ident(name)).Op("=").Add(g.newServer(s, t))}
}

// serverOf is the server of a tool, nil when the tool is not one of a server.
func (g *generator) serverOf(t *ir.Tool) *ir.Server {
	for _, p := range g.programs() {
		if slices.Contains(p.WF.Tools, t) {
			return check.ServerOf(p.WF, t)
		}
	}
	return nil
}

func (g *generator) newServer(s *ir.Server, t *ir.Tool) jen.Code {
	if s.URL == "" {
		var words []jen.Code
		for _, w := range s.Command {
			words = append(words, quote(w))
		}
		args := []jen.Code{quote(s.Name.Name), jen.Index().String().Values(words...)}
		for _, v := range s.Env {
			args = append(args, quote(v.Name.Name+"="+v.Secret.Name))
		}
		return jen.Qual(mcpPath, "Local").Call(args...)
	}
	args := append([]jen.Code{quote(s.Name.Name), quote(s.URL)}, authOption(s.Auth)...)
	if allowed := g.netAllow(t); len(allowed) > 0 {
		args = append(args, jen.Qual(httpPath, "Allow").Call(allowed...))
	}
	return jen.Qual(mcpPath, "Remote").Call(args...)
}

// mcp writes a tool of a server: its types, and what was locked of it.
func (g *generator) mcp(t *ir.Tool, b *ir.MCPTool) jen.Code {
	pin := []jen.Code{field("Tool", quote(b.Tool.Name)), field("Hash", quote(b.Hash)), field("Parts", quote(b.Parts))}
	if t.MaxOutput > 0 {
		pin = append(pin, field("MaxOutput", jen.Lit(int(t.MaxOutput))))
	}
	if b.Open && b.Result == ir.MCPJSON {
		pin = append(pin, field("Open", jen.True()))
	}
	var bound *jen.Statement
	switch b.Result {
	case ir.MCPText:
		bound = jen.Qual(mcpPath, "Text").Types(g.inType(t))
	case ir.MCPJSON:
		bound = jen.Qual(mcpPath, "JSON").Types(g.inType(t), g.goType(t.Out))
	case ir.MCPAny:
		bound = jen.Qual(mcpPath, "Any").Types(g.inType(t))
	}
	args := []jen.Code{quote(t.FullName()), effectsName(check.Effects(t)), jen.Id(ident(g.p.Names.Servers[g.serverOf(t)])), jen.Qual(mcpPath, "Pin").Custom(braces(true), pin...)}
	return bound.Call(append(args, g.options(t)...)...)
}
