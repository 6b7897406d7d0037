package codegen

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
)

// need is a variable or a program that New looks for, and what of the workflow needs it.
type need struct{ name, of string }

// environment are the variables that tools read.
func (g *generator) environment() []need {
	var out []need
	for _, t := range g.usedTools() {
		if h, ok := t.Binding.(*ir.HTTPTool); ok && h.Base.Name != "" {
			out = append(out, need{h.Base.Name, "base URL of tool " + t.Key.Name})
		}
	}
	return out
}

// commands are the programs of tools and servers that are named by a relative path.
func (g *generator) commands() []need {
	var out []need
	add := func(name, of string) {
		if strings.Contains(name, "/") && !path.IsAbs(name) {
			out = append(out, need{name, of})
		}
	}
	for _, t := range g.usedTools() {
		if c, ok := t.Binding.(*ir.CommandTool); ok && !c.Shell && c.Dir == nil && len(c.Args) > 0 {
			if name, constant := constantText(c.Args[0]); constant {
				add(name, "tool "+t.Key.Name)
			}
		}
		if s := g.serverOf(t); s != nil && len(s.Command) > 0 {
			add(s.Command[0], "server "+s.Name.Name)
		}
	}
	return out
}

// needFields are the fields of Info with them: each name once.
func needFields(key string, list []need) []jen.Code {
	var fields []jen.Code
	seen := map[string]bool{}
	for _, n := range list {
		if !seen[n.name] {
			seen[n.name] = true
			fields = append(fields, jen.Values(field("Name", quote(n.name)), field("Description", quote(n.of))))
		}
	}
	if fields == nil {
		return nil
	}
	return []jen.Code{field(key, jen.Index().Qual(flowPath, "Field").Custom(braces(len(fields) > 1), fields...))}
}
