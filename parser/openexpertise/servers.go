package openexpertise

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// serversName is the file next to an experience that names MCP servers, by `mcpServers` or `servers`.
const serversName = "mcp.json"

var serverShape = &dialect.Shape{What: "an MCP server", Open: true, Keys: []dialect.Key{
	{Name: "type", Doc: "stdio or http, which the other keys say, too", Form: dialect.Scalar},
	{Name: "command", Doc: "the program that starts the server", Form: dialect.Scalar},
	{Name: "args", Doc: "its arguments"},
	{Name: "env", Doc: "its variables: `${NAME}` is an environment variable"},
	{Name: "url", Doc: "the address of the server", Form: dialect.Scalar},
}}

// served is what mcp.json says of a server; nil when it names none like it.
func (p *parser) served(name string) *yamlnode.Node {
	root, _ := p.load.Find(source.Span{File: p.File}, path.Join(path.Dir(p.File.Name), serversName))
	if root == nil {
		return nil
	}
	list := root.Get("mcpServers")
	if list == nil {
		list = root.Get("servers")
	}
	if list == nil || list.Kind != yamlnode.Mapping {
		return nil
	}
	return list.Get(name)
}

var variable = lazyregexp.New(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// knownServer takes a server from mcp.json.
func (p *parser) knownServer(id ir.Ident, n *yamlnode.Node, b *dataset) bool {
	m, ok := p.Mapping(n, serverShape)
	if !ok {
		return false
	}
	if n := m.Get("url"); n != nil {
		b.Server = n.Text.Value
	} else if n := m.Get("command"); n != nil {
		b.Command = []string{n.Text.Value}
		for _, a := range p.Idents(m.Get("args"), "`args`") {
			b.Command = append(b.Command, a.Name)
		}
	}
	if (b.Server == "") == (len(b.Command) == 0) || b.Server != "" && !strings.HasPrefix(b.Server, "http://") && !strings.HasPrefix(b.Server, "https://") {
		p.Error(diag.MissingKey, dialect.Head(n), "", "the server %s of %s needs a `command` or a `url` that begins with http:// or https://", id.Name, serversName)
		return false
	}
	env := m.Get("env")
	if env == nil {
		return true
	}
	if !p.IsMapping(env, "`env`") {
		return false
	}
	for _, e := range env.Entries {
		from := variable.FindStringSubmatch(e.Value.Text.Value)
		if from == nil {
			p.Error(diag.NotSupported, e.Value.Span, "write `${"+e.Key.Text.Value+"}` and set the variable", "values of variables are not compiled into programs")
			return false
		}
		secret := ir.Ident{Name: from[1], Span: e.Value.Span}
		p.secret(secret)
		b.Env = append(b.Env, ir.EnvVar{Name: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Secret: secret})
	}
	return true
}
