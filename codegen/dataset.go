package codegen

import (
	"net/url"
	"path"
	"path/filepath"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

const (
	sqlitePath = experiencePath + "/sqlite"
	webPath    = experiencePath + "/web"
)

// datasetTool writes the binding of a source of records.
func (g *generator) datasetTool(t *ir.Tool, b *ir.DatasetTool) jen.Code {
	name := quote(t.FullName())
	switch b.Kind {
	case "sqlite":
		return jen.Qual(sqlitePath, "Rows").Call(name, g.datasetFile(t, b), quote(b.Query))
	case "http":
		fields := []jen.Code{field("Method", quote(b.Method)), field("URL", quote(b.URI.Name))}
		if b.Body != "" || b.JSON {
			fields = append(fields, field("Body", quote(b.Body)))
		}
		if b.JSON {
			fields = append(fields, field("JSON", jen.True()))
		}
		return jen.Qual(webPath, "Fetch").Call(name, effectsName(check.Effects(t)), jen.Qual(webPath, "Request").Values(fields...))
	case "mcp-resource":
		server := jen.Qual(mcpPath, "Remote").Call(append([]jen.Code{quote(t.Key.Name), quote(b.Server)}, reached(b.Server)...)...)
		if b.Server == "" {
			server = jen.Qual(mcpPath, "Local").Call(quote(t.Key.Name), jen.Index().String().Values(quoteAll(b.Command)...))
		}
		return jen.Qual(mcpPath, "Resource").Call(name, server, quote(b.URI.Name))
	}
	return jen.Qual(experiencePath, "File").Call(name, g.datasetFile(t, b), quote(b.Format))
}

// reached is the option that lets a program reach the host of an address that the workflow names, wherever it is.
func reached(address string) []jen.Code {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	allowed := []jen.Code{quote(u.Hostname())}
	if u.Hostname() == "localhost" {
		allowed = append(allowed, quote("loopback"))
	}
	return []jen.Code{jen.Qual(httpPath, "Allow").Call(allowed...)}
}

// datasetFile is the name of a file as the program looks for it: relative to the folder of the experience that is compiled,
// while the file says it relative to its own.
func (g *generator) datasetFile(t *ir.Tool, b *ir.DatasetTool) jen.Code {
	name := b.URI.Name
	if t.File == nil || t.File == g.p.WF.File || path.IsAbs(name) {
		return quote(name)
	}
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(g.p.WF.File.Name)), filepath.FromSlash(path.Dir(t.File.Name)))
	if err != nil {
		return quote(name)
	}
	return quote(path.Join(filepath.ToSlash(rel), name))
}

// records is the call of a dataset node's tool.
func (b *dynamicBody) records(s *check.Step, t *ir.DatasetTool, flow string) jen.Code {
	args := []jen.Code{jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool])), b.policy(s.Node.Dynamic), quote(s.Node.Dynamic.Writes[0].Name)}
	if t.Kind != "http" && t.Kind != "mcp-resource" {
		return jen.Id(ident(flow)).Dot("Dataset").Call(args...)
	}
	rule := "Array"
	if t.Wrap {
		rule = "Wrapped"
	}
	return jen.Id(ident(flow)).Dot("Response").Call(append(args, jen.Qual(experiencePath, ident(rule)))...)
}
