package sirenspec

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

func jsonText(s string) string {
	b, _ := json.Marshal(s) // text always has JSON
	return string(b)
}

// nodeSection reads the nodes.
func (p *parser) nodeSection(m dialect.Mapping) {
	p.wf.Body.Span = m.Node.Span
	n := m.Get("nodes")
	if n == nil {
		return
	}
	if !p.IsMapping(n, "`nodes`") {
		return
	}
	for _, e := range n.Entries {
		p.Broken(e.Key.Text.Value)
		p.node(ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, e.Value)
	}
	if len(n.Entries) == 0 {
		p.NoNodes(n.Span)
	}
}

var idForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func (p *parser) node(id ir.Ident, n *yamlnode.Node) {
	if !p.IsMapping(n, "a node") {
		return
	}
	if !idForm.MatchString(id.Name) {
		p.Error(diag.BadName, id.Span, "", "a node name has letters, digits, _ and -, and starts with a letter or _")
		return
	}
	kind := "agent"
	if k := n.Get("type"); k != nil && k.Kind != yamlnode.Null {
		if kind = p.Word(k, "the type of a node", "agent", "tool", "swrm", "factory", "workflow", "human"); kind == "" {
			return
		}
	}
	out := &Node{ID: id, Span: n.Span}
	switch kind {
	case "agent":
		p.agentNode(n, out)
	case "tool":
		p.toolNode(n, out)
	case "swrm":
		p.swarmNode(n, out)
	case "factory":
		p.factoryNode(n, out)
	case "workflow":
		p.childNode(n, out)
	case "human":
		p.humanNode(n, out)
	}
	if out.Verb == nil {
		p.place("working", id) // it has its name, so that nothing is said about who reads it
		return
	}
	p.nodes[id.Name] = out
	p.tree.Nodes = append(p.tree.Nodes, out)
	p.place("working", id)
}

// writes reads the path that a node's text goes to.
func (p *parser) writes(m dialect.Mapping, out *Node) {
	id, ok := p.Text(m.Get("writes"), "`writes`")
	if !ok {
		return
	}
	path := strings.Split(id.Name, ".")
	for _, name := range path {
		if name == "" {
			p.Error(diag.BadLiteral, id.Span, "", dialect.PathForm)
			return
		}
	}
	switch {
	case path[0] == "memory" && len(path) > 1:
		p.memorizes(id)
		out.Writes = path
		return
	case path[0] != "working" && path[0] != "output" || len(path) < 2:
		p.Error(diag.BadLiteral, id.Span, "write `output."+path[len(path)-1]+"`", "`writes` begins with `working.`, `output.` or `memory.`")
		return
	}
	p.place(path[0], ir.Ident{Name: path[1], Span: id.Span})
	out.Writes = path
	if len(path) == 2 && path[0] == "working" && path[1] == out.ID.Name {
		p.Differs(id.Span, "write it to `output."+path[1]+"`, or to another name", "working.%s is also where the engine keeps the result of the node %q: the text is replaced by {'output': text}, and that is what the next agent receives", path[1], out.ID.Name)
	}
}

// toolNode reads a node that calls a tool.
func (p *parser) toolNode(n *yamlnode.Node, out *Node) {
	m, ok := p.Mapping(n, toolNodeShape)
	if !ok {
		return
	}
	d := out
	d.OutputKey = "output"
	if id, ok := p.Text(m.Get("output_key"), "`output_key`"); ok {
		d.OutputKey = id.Name
	}
	d.Attempts = 1 + int(p.Count(m.Get("retry"), "`retry`", 0, 1000, 0))
	if f := m.Get("on_failure"); f != nil && p.Word(f, "the on_failure of a tool node", "raise", "skip") == "skip" {
		d.Skips = true
	}
	t := &ir.Tool{Name: ir.Ident{Name: p.wf.Name.Name + "." + out.ID.Name, Span: out.ID.Span}, Version: "1", Key: out.ID, Effects: ir.EffectsExternal, EffectsSpan: out.ID.Span,
		Out: schema.AnyType, OutSpan: out.ID.Span, File: p.File, Span: out.ID.Span}
	switch p.Word(m.Get("tool"), "`tool`", "http", "python") {
	case "http":
		p.httpTool(m.Get("config"), out, t)
	case "python":
		p.pythonTool(m.Get("config"), out, t)
	}
	if t.Binding == nil {
		return
	}
	p.wf.Tools = append(p.wf.Tools, t)
	out.Verb = &ir.ToolCall{Name: t.Key}
}

// httpTool reads the config of the http adapter.
func (p *parser) httpTool(n *yamlnode.Node, out *Node, t *ir.Tool) {
	m, ok := p.Mapping(n, httpShape)
	if !ok {
		return
	}
	r := &Request{Method: "GET", URL: p.template(m.Get("url"), "`url`"), Seconds: p.Count(m.Get("timeout"), "`timeout`", 1, 86400, 10)}
	if w := m.Get("method"); w != nil {
		r.Method = p.Word(w, "`method`", "GET", "POST")
	}
	if h := m.Get("headers"); h != nil {
		if !p.IsMapping(h, "`headers`") {
			return
		}
		for _, e := range h.Entries {
			if v := p.template(e.Value, "the header "+e.Key.Text.Value); v != nil {
				r.Headers = append(r.Headers, Header{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: v})
			}
		}
	}
	r.Body = p.template(m.Get("body"), "`body`")
	if r.URL == nil || r.Method == "" {
		return
	}
	if r.Method == "GET" {
		t.Effects = ir.EffectsReads
	}
	r.Host = p.host(r.URL)
	seen := map[string]bool{}
	for _, x := range append([]*dialect.Mixed{r.URL, r.Body}, values(r.Headers)...) {
		if x == nil {
			continue
		}
		for _, s := range x.Segments {
			if s.Ref != nil && s.Ref.Root == "env" && !seen[s.Ref.Path[0]] {
				seen[s.Ref.Path[0]] = true
				r.Env = append(r.Env, s.Ref.Path[0])
			}
		}
	}
	t.In = schema.AnyType
	t.Binding = &ir.Made{} // when it is translated
	out.Request = r
}

func values(list []Header) []*dialect.Mixed {
	var out []*dialect.Mixed
	for _, e := range list {
		out = append(out, e.Value)
	}
	return out
}

// variables are the environment variables that values name.
func variables(args *ir.Object) []string {
	var out []string
	if args != nil {
		dialect.ValueReferences(args, func(r *dialect.Reference) {
			if r.Root == "env" && !slices.Contains(out, r.Path[0]) {
				out = append(out, r.Path[0])
			}
		})
	}
	return out
}

// host is the host that a URL names before its first placeholder; empty when it does not name one.
func (p *parser) host(m *dialect.Mixed) string {
	if len(m.Segments) == 0 || m.Segments[0].Ref != nil {
		if len(m.Segments) == 0 {
			p.Error(diag.BadLiteral, m.Text.Span, "", "the address is empty")
		}
		return ""
	}
	head := m.Segments[0].Lit
	if i := strings.Index(head, "://"); len(m.Segments) > 1 && (i < 0 || !strings.ContainsAny(head[i+3:], "/?#")) {
		return "" // the placeholder is part of the host
	}
	u, err := url.Parse(head)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		p.Error(diag.BadLiteral, m.Text.Span, "write the entire address, as in https://api.example.com/items", "this is not an http or https URL")
		return ""
	}
	return u.Hostname()
}

var (
	moduleForm   = lazyregexp.New(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)
	functionForm = lazyregexp.New(`^[\pL_][\pL\pN_]*$`)
)

// pythonTool reads the config of the python adapter.
func (p *parser) pythonTool(n *yamlnode.Node, out *Node, t *ir.Tool) {
	m, ok := p.Mapping(n, pythonShape)
	if !ok {
		return
	}
	module, ok1 := p.Text(m.Get("module"), "`module`")
	function, ok2 := p.Text(m.Get("function"), "`function`")
	if a := m.Get("args"); a != nil {
		if !p.IsMapping(a, "`args`") {
			return
		}
		out.Args, _ = p.Value(a, func(n *yamlnode.Node) ir.Value {
			if x := p.mixed(n.Text); len(x.Segments) > 0 {
				return x
			}
			return p.Scalar(n)
		}).(*ir.Object)
	}
	if !ok1 || !ok2 {
		return
	}
	if p.chosen(m.Get("module").Text, m.Get("function").Text, out) {
		return
	}
	for _, x := range []struct {
		id   ir.Ident
		form *lazyregexp.Regexp
		what string
	}{{module, moduleForm, "a module"}, {function, functionForm, "a function"}} {
		if !x.form.MatchString(x.id.Name) {
			p.Error(diag.BadName, x.id.Span, "", "this is not a valid name of %s in Python", x.what)
			return
		}
	}
	t.In = schema.AnyType
	t.Binding = &ir.PythonTool{Free: true, Env: variables(out.Args), Ref: ir.Ident{Name: module.Name + ":" + function.Name, Span: module.Span}}
}
