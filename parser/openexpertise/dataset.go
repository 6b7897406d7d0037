package openexpertise

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// sourceKinds are the kinds of sources, and sourceKeys the keys that each has.
var (
	sourceKinds = []string{"file", "sqlite", "http", "mcp-resource"}
	sourceKeys  = map[string][]dialect.Key{
		"file": {{Name: "uri", Required: true, Doc: "the file, relative to this one", Form: dialect.Scalar},
			{Name: "format", Doc: "json, jsonl or csv", Form: dialect.OneWord("json", "jsonl", "csv", "parquet")}},
		"sqlite": {{Name: "uri", Required: true, Doc: "the database, relative to this file", Form: dialect.Scalar},
			{Name: "query", Required: true, Doc: "the SQL whose rows are the records", Form: dialect.Scalar}},
		"http": {{Name: "url", Required: true, Doc: "the address", Form: dialect.Scalar},
			{Name: "method", Doc: "GET, POST and the like", Form: dialect.Scalar}, {Name: "body", Doc: "what is sent: text, or a value that becomes JSON"}},
		"mcp-resource": {{Name: "server", Required: true, Doc: "the address of the server, or the command that starts it"},
			{Name: "uri", Required: true, Doc: "the resource", Form: dialect.Scalar}},
	}
)

// A dataset reads records: from a file, a database, a server or a resource.
type dataset struct {
	Kind    string      // of sourceKinds
	URI     ir.Ident    // of the file, the database or the resource, or an address
	Format  string      // of a file: json, jsonl, csv; parquet cannot be read
	Query   string      // of sqlite
	Method  string      // of http
	Body    string      // of http: what is sent
	JSON    bool        // of http: the body is JSON
	Wrap    bool        // of http and mcp-resource: what is not an array becomes the one item of an array
	Server  string      // of mcp-resource: an address; empty: Command
	Command []string    // of mcp-resource: what starts the server
	Env     []ir.EnvVar // of mcp-resource: variables of the server that are secrets
}

// sourceShape is a source of a kind, which the pages call `kind` and the engine's own examples `type`.
func sourceShape(key, kind string) *dialect.Shape {
	first := dialect.Key{Name: key, Required: true, Doc: "file, sqlite, http or mcp-resource", Form: dialect.OneWord(kind)}
	return &dialect.Shape{What: "a source of the kind " + kind, Open: true, Keys: append([]dialect.Key{first}, sourceKeys[kind]...)}
}

// anySource is the form of a source: its keys follow from its kind.
func anySource() dialect.Form {
	var all []dialect.Form
	for _, kind := range sourceKinds {
		all = append(all, dialect.Of(sourceShape("kind", kind)), dialect.Of(sourceShape("type", kind)))
	}
	return dialect.OneOf(all...)
}

// dataset reads a dataset node: records from somewhere, which become the value of one field.
func (p *parser) dataset(m dialect.Mapping, out *Node) {
	if len(out.Writes) != 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "", "a dataset node writes exactly one state field")
		return
	}
	n := m.Get("source")
	if n == nil {
		return
	}
	key, kind := "kind", "file"
	if n.Kind == yamlnode.Mapping {
		if n.Get("kind") == nil && n.Get("type") != nil {
			key = "type"
		}
		if k := n.Get(key); k != nil {
			if kind = p.Word(k, "the kind of a source", sourceKinds...); kind == "" {
				return
			}
		}
	}
	s, ok := p.Mapping(n, sourceShape(key, kind))
	if !ok {
		return
	}
	b := &dataset{Kind: kind, Wrap: (kind == "http" || kind == "mcp-resource") && !p.opts.Upstream}
	effects := ir.EffectsReads
	switch kind {
	case "file":
		ok = p.fileSource(s, b)
	case "sqlite":
		q, has := p.Text(s.Get("query"), "`query`")
		b.URI, ok = p.Text(s.Get("uri"), "`uri`")
		b.Query, ok = q.Name, ok && has
	case "http":
		if ok = p.httpSource(s, b); b.Method != "GET" && b.Method != "HEAD" {
			effects = ir.EffectsExternal
		}
	case "mcp-resource":
		ok = p.resourceSource(s, b)
	}
	if !ok {
		return
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + out.ID.Name, Span: b.URI.Span}, Version: "1", Key: ir.Ident{Name: p.toolName("", out.ID.Name), Span: b.URI.Span}, Effects: effects, EffectsSpan: b.URI.Span,
		In: schema.EmptyType, Out: schema.AnyType, OutSpan: b.URI.Span, File: p.File, Span: b.URI.Span}
	if kind == "http" || kind == "mcp-resource" {
		t.Out = schema.StringType // the answer, which becomes records when it is there
	}
	t.Binding = &ir.Made{New: &ir.Expr{Node: b.made(t, p.place(b)), Text: source.Text{Span: b.URI.Span}}, Reach: b.reach(t)}
	p.wf.Tools = append(p.wf.Tools, t)
	out.Verb = &ir.ToolCall{Name: t.Key, Tool: t}
	p.datasets[out] = b
}

// fileSource reads a file of records. Its format follows from its name when it is not written.
func (p *parser) fileSource(s dialect.Mapping, b *dataset) (ok bool) {
	if b.URI, ok = p.Text(s.Get("uri"), "`uri`"); !ok {
		return false
	}
	at := b.URI.Span
	switch f := s.Get("format"); {
	case f != nil:
		if b.Format, at = p.Word(f, "the format of a dataset", "json", "jsonl", "csv", "parquet"), f.Span; b.Format == "" {
			return false
		}
	default:
		switch b.Format = strings.TrimPrefix(path.Ext(b.URI.Name), "."); b.Format {
		case "json", "jsonl", "csv", "parquet":
		default:
			p.Error(diag.MissingKey, dialect.Head(s.Node), "add `format`: json, jsonl or csv", "the format of file %s is unknown", b.URI.Name)
			return false
		}
	}
	if b.Format == "parquet" {
		p.Warn(diag.IgnoredKey, at, "convert the file to JSON Lines", "the engine does not read Parquet: this node always fails")
	}
	return true
}

// httpSource reads a request for records. A body that is not text is sent as JSON.
func (p *parser) httpSource(s dialect.Mapping, b *dataset) (ok bool) {
	if b.URI, ok = p.Text(s.Get("url"), "`url`"); !ok {
		return false
	}
	if !strings.HasPrefix(b.URI.Name, "http://") && !strings.HasPrefix(b.URI.Name, "https://") {
		p.Error(diag.BadLiteral, b.URI.Span, "", "an address begins with http:// or https://")
		return false
	}
	b.Method = "GET"
	if n := s.Get("method"); n != nil {
		id, ok := p.Text(n, "`method`")
		if !ok {
			return false
		}
		if b.Method = strings.ToUpper(id.Name); !methods[b.Method] {
			p.Error(diag.UnknownWord, id.Span, "", "`%s` is not an HTTP method", id.Name)
			return false
		}
	}
	switch n := s.Get("body"); {
	case n == nil:
	case n.Kind == yamlnode.Scalar && p.Schema.Tag(n) == "!!str":
		b.Body = n.Text.Value
	default:
		b.Body, b.JSON = dialect.JSON(p.Value(n, nil)), true
	}
	return true
}

var methods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true}

// resourceSource reads a resource of an MCP server: the address of the server or the words of the command that starts it,
// as one text or as a list.
func (p *parser) resourceSource(s dialect.Mapping, b *dataset) (ok bool) {
	if b.URI, ok = p.Text(s.Get("uri"), "`uri`"); !ok {
		return false
	}
	n := s.Get("server")
	switch {
	case n == nil:
		return false
	case n.Kind == yamlnode.Sequence:
		for _, id := range p.Idents(n, "`server`") {
			b.Command = append(b.Command, id.Name)
		}
	default:
		id, ok := p.Text(n, "`server`")
		if !ok {
			return false
		}
		if s := p.served(id.Name); s != nil {
			return p.knownServer(id, s, b)
		}
		if strings.HasPrefix(id.Name, "http://") || strings.HasPrefix(id.Name, "https://") {
			b.Server = id.Name
			return true
		}
		b.Command = strings.Fields(id.Name)
	}
	if len(b.Command) == 0 {
		p.Error(diag.BadLiteral, dialect.Head(n), "", "`server` is the address of an MCP server, or the command that starts it")
	}
	return len(b.Command) > 0
}

// served reports whether a server answers with the records, as text.
func (b *dataset) served() bool { return b.Kind == "http" || b.Kind == "mcp-resource" }

// made makes the tool. file is the name of its file.
func (b *dataset) made(t *ir.Tool, file string) *expr.Node {
	name := expr.Const(t.FullName())
	switch b.Kind {
	case "sqlite":
		return expr.Invoke(fnRows, name, expr.Const(file), expr.Const(b.Query))
	case "http":
		fields := []expr.Entry{expr.Put("method", expr.Const(b.Method)), expr.Put("url", expr.Const(b.URI.Name))}
		if b.Body != "" || b.JSON {
			fields = append(fields, expr.Put("body", expr.Const(b.Body)))
		}
		if b.JSON {
			fields = append(fields, expr.Put("json", expr.Const(true)))
		}
		effects := dialect.Reads
		if t.Effects != ir.EffectsReads {
			effects = dialect.External
		}
		return expr.Invoke(fnFetch, name, expr.Invoke(effects), expr.Struct(requestType, fields...))
	case "mcp-resource":
		local := []*expr.Node{expr.Const(t.Key.Name), texts(b.Command)}
		for _, v := range b.Env {
			local = append(local, expr.Const(v.Name.Name+"="+v.Secret.Name))
		}
		server := expr.Invoke(dialect.MCPLocal, local...)
		if b.Server != "" {
			server = expr.Invoke(dialect.MCPRemote, append([]*expr.Node{expr.Const(t.Key.Name), expr.Const(b.Server)}, reached(b.Server)...)...)
		}
		return expr.Invoke(dialect.MCPResource, name, server, expr.Const(b.URI.Name))
	}
	return expr.Invoke(fnFile, name, expr.Const(file), expr.Const(b.Format))
}

func texts(words []string) *expr.Node {
	l := &expr.Node{Op: expr.ListLit}
	for _, w := range words {
		l.Kids = append(l.Kids, expr.Const(w))
	}
	return l
}

// reached is the option that lets a program reach the host of an address that the file names, wherever it is.
func reached(address string) []*expr.Node {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	allowed := []*expr.Node{expr.Const(u.Hostname())}
	if u.Hostname() == "localhost" {
		allowed = append(allowed, expr.Const("loopback"))
	}
	return []*expr.Node{expr.Invoke(dialect.AllowHosts, allowed...)}
}

// reach is what the tool can touch.
func (b *dataset) reach(t *ir.Tool) *ir.Reach {
	server := []*ir.Server{{Name: t.Key, Command: b.Command, Env: b.Env, URL: b.Server}}
	switch {
	case b.Kind == "http":
		return &ir.Reach{Hosts: []string{host(b.URI.Name)}}
	case b.Server != "":
		return &ir.Reach{Hosts: []string{host(b.Server)}, Servers: server}
	case len(b.Command) > 0:
		return &ir.Reach{Commands: b.Command[:1], Servers: server}
	}
	return &ir.Reach{Code: []string{"data:" + b.URI.Name}}
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "*"
	}
	return strings.ToLower(u.Host)
}

// place is the name of a dataset's file as the program looks for it: from the folder of the experience that is compiled, while
// the file says it from its own.
func (p *parser) place(b *dataset) string {
	name := b.URI.Name
	if p.opts.Root == "" || p.File.Name == p.opts.Root || path.IsAbs(name) {
		return name
	}
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(p.opts.Root)), filepath.FromSlash(path.Dir(p.File.Name)))
	if err != nil {
		return name
	}
	return path.Join(filepath.ToSlash(rel), name)
}
