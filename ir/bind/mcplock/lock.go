// Package mcplock reads and writes flowgen.lock, which holds what the tools of MCP servers, the operations of OpenAPI
// documents and the statements of databases were when a user had flowgen look at them, and gives tools that are bound to
// a server the types that their schemas say. Nothing here talks to a server.
//
// The file is JSON, made for reading in a diff: servers and tools in the order of their names, schemas canonical, hidden
// characters escaped. All workflows of a folder share one.
package mcplock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Name is the name of the file, next to the workflows it is about.
const Name = "flowgen.lock"

// version is the version of the file's form.
const version = "1"

// A Lock is what a lock file holds.
type Lock struct {
	File    *source.File // nil for one that was not read from a file
	Servers []*Server    // by name
}

// A Server is a server as it was when it was locked.
type Server struct {
	Name     string
	Command  []string // how it was started; nil for a remote server
	URL      string
	Document bool   // it is an OpenAPI document, whose file is its name, and its tools are operations
	SQL      string // the engine of a database, whose tools are statements; empty: it is none
	Self     string // its name by its own account
	Version  string // likewise
	Protocol string
	Tools    []*Tool  // those that workflows use, by name
	Others   []string // the names of its other tools

	span source.Span
}

// A Tool is a tool as it was when it was locked.
type Tool struct {
	Name  string
	Hash  string // SHA-256 of its canonical JSON
	Parts string // a check value of each part, by which the runtime says what has changed

	def  *node // an object with name, title, description, annotations, inputSchema and outputSchema, those it has
	file *source.File
	span source.Span // of its name
}

// parts are what is locked of a tool besides its name, in the order of Tool.Parts.
var parts = []string{"title", "description", "annotations", "inputSchema", "outputSchema"}

// NewTool makes a tool of its JSON: an object with name, title, description, annotations, inputSchema and outputSchema.
func NewTool(text string) (*Tool, error) {
	def, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	t := &Tool{Name: def.get("name").str(), def: def, file: source.NewFile(Name, text)}
	if t.Name == "" {
		return nil, errors.New("a tool has no name")
	}
	t.sums()
	return t, nil
}

// sums fills hash and parts.
func (t *Tool) sums() {
	t.Hash = "sha256:" + sum(t.def)
	var sums []string
	for _, p := range parts {
		if n := t.def.get(p); n != nil {
			sums = append(sums, sum(n)[:8])
		} else {
			sums = append(sums, "-")
		}
	}
	t.Parts = strings.Join(sums, " ")
}

func sum(n *node) string {
	h := sha256.Sum256(n.canonical(nil))
	return hex.EncodeToString(h[:])
}

// Types are those of a statement's parameters and of its rows, nil when it returns none. A column is always there: one that the schema
// does not require can be null.
func (t *Tool) Types() (in, out *schema.Type) {
	r := &reading{file: t.file, left: maxSchema, times: true}
	r.root = t.def.get("inputSchema")
	in = r.object(r.root, true)
	if r.root = t.def.get("outputSchema"); r.root != nil {
		out = r.typ(r.root, false)
		for _, f := range out.Fields {
			f.Omit = false
		}
	}
	return in, out
}

// Description is what the server says that the tool does.
func (t *Tool) Description() string { return t.def.get("description").str() }

// Hidden are the texts of the tool that hold characters nobody sees, or that change the order of others, escaped. Such
// characters can say to a model what a user does not read.
func (t *Tool) Hidden() []string {
	var out []string
	var walk func(n *node, where string)
	check := func(text, where string) {
		if shown, hidden := reveal(text); hidden {
			out = append(out, where+": "+shown)
		}
	}
	walk = func(n *node, where string) {
		if n.kind == '"' {
			check(n.text, where)
		}
		for i, it := range n.items {
			at := where
			if n.kind == '{' {
				check(n.keys[i].name, where)
				at = strings.TrimPrefix(where+"."+n.keys[i].name, ".")
			}
			walk(it, at)
		}
	}
	walk(t.def, "")
	return out
}

// Span is the place of the tool's name.
func (t *Tool) Span() source.Span { return t.span }

// Span is the place of the server's name.
func (s *Server) Span() source.Span { return s.span }

// Server returns the server of that name, or nil.
func (l *Lock) Server(name string) *Server {
	if l == nil {
		return nil
	}
	for _, s := range l.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Document returns the entry of the document of an operation, nil when it has none. Earlier locks have its name as it was written.
func (l *Lock) Document(b *ir.OpenAPITool) *Server {
	if l == nil {
		return nil
	}
	for _, s := range l.Servers {
		if s.Document && path.Clean(s.Name) == b.Document() {
			return s
		}
	}
	return nil
}

// Tool returns the tool of that name, or nil.
func (s *Server) Tool(name string) *Tool {
	for _, t := range s.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// names are those of all tools of the server.
func (s *Server) names() []string {
	names := slices.Clone(s.Others)
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Parse reads a lock file. What is wrong with it is reported once, and then there is no lock.
func Parse(f *source.File, sink *diag.Sink) *Lock {
	p := &parser{file: f, sink: sink}
	root, err := parseJSON(f.Text)
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		line := f.Pos(syntax.at)
		at := f.Offset(line.Line, 1)
		p.wrong(source.Span{File: f, Lo: at, Hi: at + len(f.Line(line.Line))}, "it is not JSON: "+syntax.why)
		return nil
	}
	l := &Lock{File: f}
	p.lock(root, l)
	if p.failed {
		return nil
	}
	return l
}

type parser struct {
	file   *source.File
	sink   *diag.Sink
	failed bool
}

func (p *parser) wrong(at source.Span, why string) {
	if p.failed {
		return
	}
	p.failed = true
	p.sink.Report(diag.Diagnostic{Code: diag.LockFile, Span: at, Message: Name + " cannot be used: " + why,
		Help: "restore it, or regenerate it with `flowgen lock`"})
}

// object is the object n, whose keys are all among the known.
func (p *parser) object(n *node, what string, known ...string) bool {
	if n.kind != '{' {
		p.wrong(n.span(p.file), what+" is an object")
		return false
	}
	for _, k := range n.keys {
		if known != nil && !slices.Contains(known, k.name) {
			p.wrong(k.span(p.file), what+fmt.Sprintf(" has an unknown key %q", k.name))
			return false
		}
	}
	return true
}

func (p *parser) lock(root *node, l *Lock) {
	if !p.object(root, "the file", "flowgen_lock", "servers") {
		return
	}
	v := root.get("flowgen_lock")
	if v == nil || v.text != version {
		p.wrong(root.span(p.file).Sub(0, 1), "it does not have version "+version)
		return
	}
	servers := root.get("servers")
	if servers == nil || !p.object(servers, "`servers`") {
		return
	}
	for i, k := range servers.keys {
		s := &Server{Name: k.name, span: k.span(p.file)}
		p.server(servers.items[i], s)
		l.Servers = append(l.Servers, s)
	}
}

func (p *parser) server(n *node, s *Server) {
	if !p.object(n, "a server", "command", "url", "openapi", "sql", "name", "version", "protocol", "tools", "others") {
		return
	}
	s.Command, s.URL = n.get("command").strs(), n.get("url").str()
	s.Document, s.SQL = n.get("openapi") != nil, n.get("sql").str()
	s.Self, s.Version, s.Protocol = n.get("name").str(), n.get("version").str(), n.get("protocol").str()
	s.Others = n.get("others").strs()
	tools := n.get("tools")
	if tools == nil || !p.object(tools, "`tools`") {
		return
	}
	for i, k := range tools.keys {
		if t := p.tool(k, tools.items[i]); t != nil {
			s.Tools = append(s.Tools, t)
		}
	}
}

// tool reads a tool. Its hash must be that of what is there: a merge may have mixed two versions.
func (p *parser) tool(k key, n *node) *Tool {
	if !p.object(n, "a tool", append([]string{"hash"}, parts...)...) {
		return nil
	}
	def := &node{kind: '{', lo: n.lo, hi: n.hi, keys: []key{{name: "name", lo: k.lo, hi: k.hi}}, items: []*node{{kind: '"', text: k.name, lo: k.lo, hi: k.hi}}}
	for _, part := range parts {
		if v := n.get(part); v != nil {
			def.keys, def.items = append(def.keys, key{name: part}), append(def.items, v)
		}
	}
	t := &Tool{Name: k.name, def: def, file: p.file, span: k.span(p.file)}
	t.sums()
	if h := n.get("hash").str(); h != t.Hash {
		p.wrong(t.span, fmt.Sprintf("the entry of tool %q was changed: its hash does not match", diag.Printable(k.name)))
		return nil
	}
	if hidden := t.Hidden(); hidden != nil {
		p.wrong(t.span, "a text of tool "+diag.Printable(k.name)+" has hidden characters")
		return nil
	}
	return t
}

// Format writes the file.
func (l *Lock) Format() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"flowgen_lock\": " + version + ",\n  \"servers\": {")
	slices.SortFunc(l.Servers, func(a, b *Server) int { return strings.Compare(a.Name, b.Name) })
	for i, s := range l.Servers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    " + quoted(s.Name) + ": {")
		s.format(&b)
		b.WriteString("\n    }")
	}
	if len(l.Servers) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("}\n}\n")
	return []byte(escaped(b.String()))
}

func (s *Server) format(b *bytes.Buffer) {
	sep := ""
	member := func(name, value string) {
		b.WriteString(sep + "\n      " + quoted(name) + ": " + value)
		sep = ","
	}
	switch {
	case s.Document:
		member("openapi", "true")
	case s.SQL != "":
		member("sql", quoted(s.SQL))
	case s.URL != "":
		member("url", quoted(s.URL))
	default:
		member("command", list(s.Command))
	}
	for _, m := range [][2]string{{"name", s.Self}, {"version", s.Version}, {"protocol", s.Protocol}} {
		if m[1] != "" {
			member(m[0], quoted(m[1]))
		}
	}
	slices.SortFunc(s.Tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	var tools bytes.Buffer
	tools.WriteByte('{')
	for i, t := range s.Tools {
		if i > 0 {
			tools.WriteByte(',')
		}
		tools.WriteString("\n        " + quoted(t.Name) + ": ")
		t.format(&tools)
	}
	if len(s.Tools) > 0 {
		tools.WriteString("\n      ")
	}
	tools.WriteByte('}')
	member("tools", tools.String())
	if len(s.Others) > 0 {
		slices.Sort(s.Others)
		member("others", "[\n        "+strings.Join(quotedAll(s.Others), ",\n        ")+"\n      ]")
	}
}

func (t *Tool) format(b *bytes.Buffer) {
	b.WriteString("{\n          \"hash\": " + quoted(t.Hash))
	for _, p := range parts {
		n := t.def.get(p)
		if n == nil {
			continue
		}
		b.WriteString(",\n          " + quoted(p) + ": ")
		if err := json.Indent(b, n.canonical(nil), "          ", "  "); err != nil {
			panic(err) // canonical JSON is JSON
		}
	}
	b.WriteString("\n        }")
}

func quoted(s string) string { return string(appendString(nil, s)) }

func quotedAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quoted(s)
	}
	return out
}

func list(items []string) string { return "[" + strings.Join(quotedAll(items), ", ") + "]" }
