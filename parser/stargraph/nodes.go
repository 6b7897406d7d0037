package stargraph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A node as it is read, before it is known which fields of the state are only given and which are written.
type node struct {
	id    ir.Ident
	at    *yamlnode.Node
	index int
	key   ir.Ident // of its tool; empty: it calls none
	args  []*argument
	text  []segment // of a template
	from  source.Text
	out   ir.Ident // the field that gets the result; empty: none

	rules []*rule // where a run goes after it
}

// An argument of a tool: a constant, or text with fields in it.
type argument struct {
	key      ir.Ident
	constant ir.Value
	segments []segment
	text     source.Text
}

// A segment is text, or a field of the state.
type segment struct {
	lit   string
	field *field
}

// whole reports whether an argument is a field as it is.
func (a *argument) whole() bool { return len(a.segments) == 1 && a.segments[0].field != nil }

// nodes reads the nodes: a list, or in the authoring format a mapping.
func (p *parser) nodes(n *yamlnode.Node) {
	switch {
	case n == nil:
	case p.form == authoring && n.Kind == yamlnode.Mapping:
		for _, e := range n.Entries {
			p.node(ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, e.Value)
		}
	case p.form == authoring:
		p.WrongShape(n, "`nodes` is a mapping from names to nodes")
	case n.Kind != yamlnode.Sequence:
		p.WrongShape(n, "`nodes` is a list")
	default:
		for _, it := range n.Items {
			if it.Kind != yamlnode.Mapping {
				p.WrongShape(it, "a node is a mapping")
				continue
			}
			id, _ := p.Text(it.Get("id"), "the id of a node")
			p.node(id, it)
		}
	}
	if n != nil && len(n.Items)+len(n.Entries) == 0 && n.Kind != yamlnode.Scalar {
		p.Error(diag.MissingKey, n.Span, "add a node", "a graph has at least one node")
	}
}

// node reads one node.
func (p *parser) node(id ir.Ident, n *yamlnode.Node) {
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "a node is a mapping")
		return
	}
	x := &node{id: id, at: n, index: len(p.list)}
	p.declare(x)
	kind := n.Get("kind")
	if kind == nil || kind.Kind != yamlnode.Scalar {
		p.Mapping(n, p.plainShape())
		return
	}
	word := kind.Text.Value
	compiled, known := kinds[word]
	switch {
	case strings.Contains(word, ":"):
		p.Error(diag.NotSupported, kind.Span, "make a tool of it, and bind it in flowgen.bindings.yaml", "nodes that are Python classes are not compiled")
		return
	case !known:
		p.Word(kind, "the kind of a node", compiledKinds()...)
		return
	case !compiled:
		p.Error(diag.NotSupported, kind.Span, "", "nodes of the kind %s are not compiled", word)
		return
	case p.form == page && word == "template":
		p.Error(diag.NotSupported, kind.Span, "write an IR document or the authoring format", "nodes of the kind template stand in the other two forms")
		return
	}
	switch word {
	case "tool":
		p.toolNode(x)
	case "template":
		p.templateNode(x)
	default:
		p.plainNode(x)
	}
}

func compiledKinds() []string {
	var out []string
	for k, ok := range kinds {
		if ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// declare files a node under its id.
func (p *parser) declare(x *node) {
	if x.id.Name == "" {
		return
	}
	if !idForm.MatchString(x.id.Name) {
		p.Error(diag.BadName, x.id.Span, "", "the id of a node is made of lower-case letters, digits, `_`, `-` and `.`, and begins with a letter or a digit")
	}
	if first := p.byID[x.id.Name]; first != nil {
		p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: x.id.Span, Message: "there are two nodes `" + x.id.Name + "`",
			Related: []diag.Related{{Span: first.id.Span, Message: "the first is here"}}})
		return
	}
	p.byID[x.id.Name] = x
	p.list = append(p.list, x)
}

// plainShape is that of a node that takes nothing.
func (p *parser) plainShape() *dialect.Shape {
	switch p.form {
	case page:
		return pagePlainShape
	case document:
		return documentNodeShape
	}
	return &dialect.Shape{What: "a node", Keys: []dialect.Key{{Name: "kind", Required: true, Doc: "tool, template, echo, ..."}}}
}

// plainNode reads a node that does nothing. The engine takes any config for it and looks at none.
func (p *parser) plainNode(x *node) {
	if p.form == authoring {
		p.Mapping(x.at, &dialect.Shape{What: "a node that does nothing", Open: true, Keys: []dialect.Key{{Name: "kind", Required: true, Doc: "echo, halt or passthrough"}}})
		return
	}
	m, _ := p.Mapping(x.at, p.plainShape())
	if p.form == document {
		if c := m.Get("config"); c != nil && c.Kind == yamlnode.Mapping {
			p.Mapping(c, &dialect.Shape{What: "a node that does nothing", Open: true})
		}
	}
}

// config is where the keys of a kind stand: in `config`, or beside `kind`. ok is false after a mistake, and when there is
// none: a node without one does nothing.
func (p *parser) config(x *node, shape *dialect.Shape) (m dialect.Mapping, ok bool) {
	if p.form == authoring {
		own := &dialect.Shape{What: shape.What, Keys: append([]dialect.Key{{Name: "kind", Doc: "the kind"}}, shape.Keys...)}
		return p.Mapping(x.at, own)
	}
	outer, _ := p.Mapping(x.at, documentNodeShape)
	c := outer.Get("config")
	if c == nil || c.Kind == yamlnode.Mapping && len(c.Entries) == 0 {
		p.Warn(diag.IgnoredKey, dialect.Head(x.at), "add `config`", "a node without `config` does nothing")
		return dialect.Mapping{}, false
	}
	return p.Mapping(c, shape)
}

// toolNode reads a call.
func (p *parser) toolNode(x *node) {
	var m dialect.Mapping
	var ok bool
	if p.form == page {
		m, ok = p.Mapping(x.at, pageToolShape)
	} else {
		m, ok = p.config(x, toolConfig)
	}
	if !ok {
		return
	}
	key, ok := p.Text(m.Get("tool"), "`tool`")
	if !ok {
		return
	}
	tool := p.tool(&key)
	x.key = key
	if p.form == page {
		p.inputs(x, tool, m.Get("inputs"))
	} else {
		p.mapped(x, tool, m.Get("inputs"), m.Get("static"))
		x.out = ir.Ident{Name: "tool_result", Span: key.Span}
	}
	if id, ok := p.Text(m.Get("out"), "`out`"); ok {
		x.out = id
	}
	p.result(x, tool)
}

// result files the field that gets a result.
func (p *parser) result(x *node, tool *ir.Tool) {
	if x.out.Name == "" {
		return
	}
	if !fieldForm.MatchString(x.out.Name) {
		p.Error(diag.BadName, x.out.Span, "", "the name of a state field is made of letters, digits and _")
		return
	}
	typ := schema.AnyType
	if tool != nil && tool.Out != nil {
		typ = tool.Out
	}
	p.write(x.out, typ)
}

// inputs reads the arguments of the page's form: constants, and text with `{{state.field}}`.
func (p *parser) inputs(x *node, tool *ir.Tool, n *yamlnode.Node) {
	if n == nil {
		return
	}
	if n.Kind != yamlnode.Mapping {
		p.WrongShape(n, "`inputs` is a mapping from arguments to values")
		return
	}
	for _, e := range n.Entries {
		a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}}
		x.args = append(x.args, a)
		if p.Schema.Tag(e.Value) == "!!str" && strings.Contains(e.Value.Text.Value, "{{") {
			a.text = e.Value.Text
			a.segments = p.segments(e.Value.Text, argumentType(tool, a.key.Name))
			continue
		}
		a.constant = p.Value(e.Value, p.literal)
	}
}

// literal is text inside a list or a mapping, where references have no meaning that is known.
func (p *parser) literal(n *yamlnode.Node) ir.Value {
	if i := strings.Index(n.Text.Value, "{{"); i >= 0 {
		p.Error(diag.NotSupported, n.Text.At(i, len(n.Text.Value)), "give the reference an argument of its own", "references inside lists and mappings are not compiled")
	}
	return &ir.Scalar{Text: n.Text, Tag: "!!str"}
}

func argumentType(tool *ir.Tool, name string) *schema.Type {
	if tool != nil && tool.In != nil {
		if f := tool.In.Field(name); f != nil {
			return f.Type
		}
	}
	return nil
}

var stateReference = regexp.MustCompile(`\{\{\s*state\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// segments reads text with `{{state.field}}`. A field that is the whole text has the type that is asked for, one inside text
// is text.
func (p *parser) segments(t source.Text, typ *schema.Type) []segment {
	var out []segment
	last := 0
	found := stateReference.FindAllStringSubmatchIndex(t.Value, -1)
	for _, m := range found {
		p.plain(t, last, m[0], &out)
		want := schema.StringType
		if m[0] == 0 && m[1] == len(t.Value) {
			want = typ
		}
		if f := p.read(ir.Ident{Name: t.Value[m[2]:m[3]], Span: t.At(m[2], m[3])}, want); f != nil {
			out = append(out, segment{field: f})
		}
		last = m[1]
	}
	p.plain(t, last, len(t.Value), &out)
	return out
}

// plain adds literal text.
func (p *parser) plain(t source.Text, lo, hi int, out *[]segment) {
	s := t.Value[lo:hi]
	if i := strings.Index(s, "{{"); i >= 0 {
		end := len(s)
		if j := strings.Index(s[i:], "}}"); j >= 0 {
			end = i + j + 2
		}
		p.Error(diag.NotSupported, t.At(lo+i, lo+end), "write `{{state.field}}`", "only fields of the state can stand in braces")
		return
	}
	if s != "" {
		*out = append(*out, segment{lit: s})
	}
}

// mapped reads the arguments of the other forms: names of fields, and constants.
func (p *parser) mapped(x *node, tool *ir.Tool, inputs, static *yamlnode.Node) {
	seen := map[string]source.Span{}
	if inputs != nil && inputs.Kind != yamlnode.Mapping {
		p.WrongShape(inputs, "`inputs` is a mapping from arguments to state fields")
	} else if inputs != nil {
		for _, e := range inputs.Entries {
			a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}}
			seen[a.key.Name] = a.key.Span
			id, ok := p.Text(e.Value, "a state field")
			if !ok {
				continue
			}
			if strings.Contains(id.Name, "{{") {
				p.Error(diag.UnknownName, id.Span, "write the field's name alone", "the engine takes this for the name of a state field")
				continue
			}
			a.text = e.Value.Text
			if f := p.read(id, argumentType(tool, a.key.Name)); f != nil {
				a.segments = []segment{{field: f}}
				x.args = append(x.args, a)
			}
		}
	}
	if static != nil && static.Kind != yamlnode.Mapping {
		p.WrongShape(static, "`static` is a mapping from arguments to constants")
	} else if static != nil {
		for _, e := range static.Entries {
			a := &argument{key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, constant: p.Value(e.Value, nil)}
			if first, dup := seen[a.key.Name]; dup {
				p.Report(diag.Diagnostic{Code: diag.DuplicateName, Span: a.key.Span, Message: "the argument `" + a.key.Name + "` stands in `inputs` and in `static`",
					Related: []diag.Related{{Span: first, Message: "here it is a state field"}}})
			}
			x.args = append(x.args, a)
		}
	}
}

var placeholder = regexp.MustCompile(`\{\{|\}\}|\{([^{}]*)\}|[{}]`)

// templateNode reads Python's format over bare names of fields.
func (p *parser) templateNode(x *node) {
	m, ok := p.config(x, templateConfig)
	if !ok {
		return
	}
	n := m.Get("template")
	if _, ok := p.Text(n, "`template`"); !ok {
		return
	}
	t := n.Text
	x.from = t
	last := 0
	lit := func(s string) {
		if s != "" {
			x.text = append(x.text, segment{lit: s})
		}
	}
	for _, at := range placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		lit(t.Value[last:at[0]])
		last = at[1]
		switch whole := t.Value[at[0]:at[1]]; {
		case whole == "{{" || whole == "}}":
			lit(whole[:1])
		case at[2] < 0:
			p.Error(diag.BadLiteral, t.At(at[0], at[1]), "write `{{` for a brace that is text", "this brace has no other end")
		default:
			p.formatField(x, t, at[2], at[3])
		}
	}
	lit(t.Value[last:])
	if x.out, ok = p.Text(m.Get("out"), "`out`"); ok {
		p.result(x, &ir.Tool{Out: schema.StringType})
	}
}

// formatField reads what stands between braces: the name of a field whose text is the same in Python and here.
func (p *parser) formatField(x *node, t source.Text, lo, hi int) {
	name := t.Value[lo:hi]
	if !fieldForm.MatchString(name) {
		p.Error(diag.NotSupported, t.At(lo-1, hi+1), "write the name of a field alone", "formats and paths in templates are not compiled")
		return
	}
	f := p.read(ir.Ident{Name: name, Span: t.At(lo, hi)}, schema.StringType)
	if f == nil {
		return
	}
	if f.typ == nil || f.typ.Kind != schema.String && f.typ.Kind != schema.Int {
		p.Error(diag.NotSupported, t.At(lo-1, hi+1), "", "only fields of the types str and int are put into templates")
		return
	}
	x.text = append(x.text, segment{field: f})
}

// reference is a typed value by its path.
func reference(at source.Span, path string) *ir.Expr {
	tree, _ := expr.Parse(path) // paths are made of names: there is nothing that could be wrong
	return &ir.Expr{Text: source.Text{Value: path, Span: at, Opaque: true}, Node: tree}
}

func (f *field) path() string {
	if f.written {
		return "state." + f.id.Name
	}
	return "input." + f.id.Name
}

// mixed is text with fields in it.
func mixed(t source.Text, segments []segment) ir.Value {
	text := source.Text{Span: t.Span, Opaque: true}
	tmpl := &expr.Template{}
	for _, s := range segments {
		lo := len(text.Value)
		if s.field == nil {
			text.Value += s.lit
			tmpl.Segments = append(tmpl.Segments, expr.Segment{Lit: s.lit, Lo: lo, Hi: len(text.Value)})
			continue
		}
		tree, _ := expr.Parse(s.field.path())
		text.Value += "{{ " + s.field.path() + " }}"
		tmpl.Segments = append(tmpl.Segments, expr.Segment{Expr: tree, Lo: lo, Hi: len(text.Value)})
	}
	return &ir.Template{Text: text, Tmpl: tmpl}
}

// lower makes a node of the IR.
func (x *node) lower() *ir.Node {
	n := &ir.Node{ID: x.id, Verb: &ir.Let{}, Span: x.at.Span}
	switch {
	case x.key.Name != "":
		w := &ir.With{Span: dialect.Head(x.at)}
		for _, a := range x.args {
			v := a.constant
			switch {
			case a.whole():
				v = reference(a.text.Span, a.segments[0].field.path())
			case v == nil:
				v = mixed(a.text, a.segments)
			}
			w.Entries = append(w.Entries, &ir.Entry{Key: a.key, Value: v})
		}
		n.Verb = &ir.ToolCall{Name: x.key, With: w}
		if x.out.Name != "" {
			n.Set = []*ir.Set{{Field: x.out, Value: result(x.out.Span, x.id.Name)}}
		}
	case x.out.Name != "":
		n.Set = []*ir.Set{{Field: x.out, Value: mixed(x.from, x.text)}}
	}
	return n
}

// result is the result of a node. Ids need not be what an expression takes for a name.
func result(at source.Span, id string) *ir.Expr {
	return &ir.Expr{Text: source.Text{Value: id, Span: at, Opaque: true}, Node: &expr.Node{Op: expr.Name, Text: id, Hi: len(id), NameHi: len(id)}}
}

// lower makes the nodes and the edges between them.
func (p *parser) lower(at source.Span) {
	begin := p.lowerState(at)
	p.edges()
	reached := p.reached()
	for _, x := range p.list {
		if reached[x.id.Name] {
			p.wf.Body.Nodes = append(p.wf.Body.Nodes, x.lower())
			continue
		}
		p.Warn(diag.Unreachable, x.id.Span, "add a route to it, or remove it", "no route leads to node %q: it never runs, and is left out", x.id.Name)
	}
	p.wf.Body.Edges = slices.DeleteFunc(p.wf.Body.Edges, func(e *ir.Edge) bool { return !reached[e.From.Name] })
	if begin != nil {
		p.wf.Body.Nodes = append([]*ir.Node{begin}, p.wf.Body.Nodes...)
		p.wf.Body.Edges = append([]*ir.Edge{{From: begin.ID, To: []ir.Ident{p.list[0].id}, Span: at}}, p.wf.Body.Edges...)
	}
}

// reached are the nodes that the edges lead to from the first.
func (p *parser) reached() map[string]bool {
	next := map[string][]ir.Ident{}
	for _, e := range p.wf.Body.Edges {
		to := append(slices.Clone(e.To), e.Default...)
		for _, c := range e.Cases {
			to = append(to, c.To...)
		}
		next[e.From.Name] = append(next[e.From.Name], to...)
	}
	out := map[string]bool{p.list[0].id.Name: true}
	for queue := []string{p.list[0].id.Name}; len(queue) > 0; queue = queue[1:] {
		for _, id := range next[queue[0]] {
			if !out[id.Name] {
				out[id.Name] = true
				queue = append(queue, id.Name)
			}
		}
	}
	return out
}
