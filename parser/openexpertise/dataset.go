package openexpertise

import (
	"path"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// sourceKinds are the kinds of sources, and sources the keys that each has.
var (
	sourceKinds = []string{"file", "sqlite", "http", "mcp-resource"}
	sources     = map[string]*dialect.Shape{
		"file": sourceShape("file", dialect.Key{Name: "uri", Required: true, Doc: "the file, relative to this one", Form: dialect.Scalar},
			dialect.Key{Name: "format", Doc: "json, jsonl or csv", Form: dialect.OneWord("json", "jsonl", "csv", "parquet")}),
		"sqlite": sourceShape("sqlite", dialect.Key{Name: "uri", Required: true, Doc: "the database, relative to this file", Form: dialect.Scalar},
			dialect.Key{Name: "query", Required: true, Doc: "the SQL whose rows are the records", Form: dialect.Scalar}),
		"http": sourceShape("http", dialect.Key{Name: "url", Required: true, Doc: "the address", Form: dialect.Scalar},
			dialect.Key{Name: "method", Doc: "GET, POST and the like", Form: dialect.Scalar}, dialect.Key{Name: "body", Doc: "what is sent: text, or a value that becomes JSON"}),
		"mcp-resource": sourceShape("mcp-resource", dialect.Key{Name: "server", Required: true, Doc: "the address of the server, or the command that starts it"},
			dialect.Key{Name: "uri", Required: true, Doc: "the resource", Form: dialect.Scalar}),
	}
)

func sourceShape(kind string, own ...dialect.Key) *dialect.Shape {
	return &dialect.Shape{What: "a source of the kind " + kind, Open: true, Keys: append([]dialect.Key{{Name: "kind", Required: true, Doc: "file, sqlite, http or mcp-resource", Form: dialect.OneWord(kind)}}, own...)}
}

// anySource is the form of a source: its keys follow from its kind.
func anySource() dialect.Form {
	var all []dialect.Form
	for _, kind := range sourceKinds {
		all = append(all, dialect.Of(sources[kind]))
	}
	return dialect.OneOf(all...)
}

// dataset reads a dataset node: records from somewhere, which become the value of one field.
func (p *parser) dataset(m dialect.Mapping, out *ir.Node) {
	if len(out.Dynamic.Writes) != 1 {
		p.Error(diag.WrongShape, m.Key("writes"), "", "a dataset node writes exactly one state field")
		return
	}
	n := m.Get("source")
	if n == nil {
		return
	}
	kind := "file"
	if k := n.Get("kind"); n.Kind == yamlnode.Mapping && k != nil {
		if kind = p.Word(k, "the kind of a source", sourceKinds...); kind == "" {
			return
		}
	}
	s, ok := p.Mapping(n, sources[kind])
	if !ok {
		return
	}
	b := &ir.DatasetTool{Kind: kind, Wrap: (kind == "http" || kind == "mcp-resource") && !p.opts.Upstream}
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
		In: schema.EmptyType, Out: schema.AnyType, OutSpan: b.URI.Span, Binding: b, File: p.File, Span: b.URI.Span}
	if kind == "http" || kind == "mcp-resource" {
		t.Out = schema.StringType // the answer, which becomes records when it is there
	}
	p.wf.Tools = append(p.wf.Tools, t)
	out.Verb = &ir.ToolCall{Name: t.Key}
}

// fileSource reads a file of records. Its format follows from its name when it is not written.
func (p *parser) fileSource(s dialect.Mapping, b *ir.DatasetTool) (ok bool) {
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
			p.Error(diag.MissingKey, dialect.Head(s.Node), "add `format`: json, jsonl or csv", "nothing says what the file %s is made of", b.URI.Name)
			return false
		}
	}
	if b.Format == "parquet" {
		p.Warn(diag.IgnoredKey, at, "convert the file to JSON Lines", "the engine does not read Parquet: this node always fails")
	}
	return true
}

// httpSource reads a request for records. A body that is no text is sent as JSON.
func (p *parser) httpSource(s dialect.Mapping, b *ir.DatasetTool) (ok bool) {
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
			p.Error(diag.UnknownWord, id.Span, "", "`%s` is no method of HTTP", id.Name)
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
func (p *parser) resourceSource(s dialect.Mapping, b *ir.DatasetTool) (ok bool) {
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
