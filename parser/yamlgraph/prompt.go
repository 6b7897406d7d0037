package yamlgraph

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A prompt is a prompt file. The same file is read once.
type prompt struct {
	name      string
	file      *source.File
	m         dialect.Mapping
	label     ir.Ident
	texts     map[string]*yamlnode.Node // system, user
	read      bool                      // as templates
	rendering *Rendering
	schema    string // JSON of the schema of the answer; empty: text
	provider  ir.Ident
	free      []variable // in the order of the texts
	told      map[string]bool
}

// A variable is a name that a prompt takes.
type variable struct {
	name    string
	at      source.Span // its first use
	guarded bool        // every use is one that a missing value does no harm to
}

var promptShape = &dialect.Shape{What: "a prompt file", Any: true, Keys: []dialect.Key{
	{Name: "system", Doc: "what the model receives first"},
	{Name: "user", Doc: "what it is asked"},
	{Name: "template", Doc: "another name of `user`"},
	{Name: "schema", Doc: "fields of the answer"},
	{Name: "output_schema", Doc: "a JSON Schema of the answer"},
	{Name: "provider", Doc: "who is asked"},
}}

// places are the files that a prompt may be, in the order in which the engine looks for them; then, as graphs are also
// compiled from elsewhere, the folders above the graph in place of the working directory.
func (p *parser) places(name string) []string {
	dir := path.Dir(p.File.Name)
	file := name + ".yaml"
	var out []string
	add := func(parts ...string) {
		if full := path.Join(parts...); !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	within := func(root string) {
		if p.promptsDir != "" {
			add(root, p.promptsDir, file)
		} else {
			add(root, "prompts", file)
		}
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			add(root, name[:i], "prompts", name[i+1:]+".yaml")
		}
	}
	if p.promptsDir != "" && p.promptsRelative {
		add(dir, p.promptsDir, file)
	}
	if p.promptsDir != "" {
		add(p.promptsDir, file)
	} else if p.promptsRelative {
		add(dir, file)
	}
	add("prompts", file)
	within("")
	for n := 0; n < 8; n++ {
		within(dir)
		if dir == "." || dir == "/" || strings.HasSuffix(dir, "..") {
			break
		}
		dir = path.Dir(dir)
	}
	return out
}

// distinct are the first n names, each once.
func distinct(names []string, n int) []string {
	var out []string
	for _, name := range names {
		if len(out) < n && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// prompt reads the file of a prompt; nil when there is none, or when it holds none. That of an agent may leave out what the
// model is asked: the field input.
func (p *parser) prompt(id ir.Ident, agent bool) *prompt {
	if q, done := p.prompts[id.Name]; done {
		return q
	}
	p.prompts[id.Name] = nil
	if id.Name == "" || strings.ContainsAny(id.Name, "\x00\r\n\\") || strings.Contains(id.Name, "://") || path.IsAbs(id.Name) {
		p.Error(diag.CannotRead, id.Span, "write a name such as `analyze`, or `folder/analyze`", "this is not the name of a prompt")
		return nil
	}
	places := p.places(id.Name)
	root, f := p.load.Find(id.Span, places...)
	if f == nil {
		p.Error(diag.CannotRead, id.Span, "add the file "+places[0], "cannot find prompt %q: none of the files %s exists", id.Name, strings.Join(distinct(places, 3), ", "))
		return nil
	}
	p.wf.Includes = append(p.wf.Includes, f)
	if root == nil {
		return nil
	}
	q := &prompt{name: id.Name, file: f, told: map[string]bool{}}
	var ok bool
	if q.m, ok = p.Mapping(root, promptShape); !ok || !p.promptTexts(q, agent) {
		return nil
	}
	p.promptSchema(q)
	if n := q.m.Get("provider"); n != nil {
		q.provider, _ = p.provider(n)
	}
	for _, key := range []string{"model", "temperature", "max_tokens"} {
		if e := root.Entry(key); e != nil && (key != "model" || p.opts.Upstream) {
			p.Warn(diag.IgnoredKey, e.Key.Span, "write it on the node, or below `defaults`", "the engine does not read the `%s` of a prompt file", key)
		}
	}
	p.prompts[id.Name] = q
	return q
}

// promptTexts reads the texts of a prompt.
func (p *parser) promptTexts(q *prompt, agent bool) bool {
	user := q.m.Get("user")
	if user == nil {
		if t := q.m.Get("template"); t != nil && !p.opts.Upstream {
			p.Differs(q.m.Key("template"), "write `user`", "the engine does not read `template`, which is documented as another name of `user`")
			user = t
		}
	}
	if user == nil && agent {
		user = &yamlnode.Node{Kind: yamlnode.Scalar, Span: dialect.Head(q.m.Node), Text: source.Text{Value: "{input}", Span: dialect.Head(q.m.Node)}}
	}
	if user == nil {
		p.Error(diag.MissingKey, dialect.Head(q.m.Node), "add `user`: what the model is asked", "a prompt file needs the key `user`")
		return false
	}
	q.texts = map[string]*yamlnode.Node{"user": user}
	ok := p.isText(user, "`user`")
	if n := q.m.Get("system"); n != nil {
		ok = p.isText(n, "`system`") && ok
		q.texts["system"] = n
	}
	q.label = ir.Ident{Name: q.name, Span: dialect.Head(q.m.Node)}
	return ok
}

func (p *parser) isText(n *yamlnode.Node, what string) bool {
	_, ok := p.Text(n, what)
	return ok
}

// render reads the texts of a prompt as templates, once; false after mistakes.
func (p *parser) render(q *prompt) bool {
	if q.read {
		return q.rendering != nil
	}
	q.read = true
	ok := true
	read := func(n *yamlnode.Node) *PromptTemplate {
		if n == nil {
			return nil
		}
		t := &PromptTemplate{Text: n.Text}
		if isJinja(n.Text.Value) {
			t.Body = p.jinja(n.Text, &ok)
		} else {
			t.Body = p.braces(n.Text, &ok)
		}
		return t
	}
	r := &Rendering{File: q.label, System: read(q.texts["system"]), User: read(q.texts["user"])}
	if ok {
		q.rendering, q.free = r, freeVariables(r)
	}
	return ok
}

// jinja reads a text in Jinja. ok is false after mistakes.
func (p *parser) jinja(text source.Text, ok *bool) []jinja.PromptNode {
	body, problems := jinja.Parse(text)
	for _, x := range problems {
		code := diag.ExprSyntax
		if x.Unsupported {
			code = diag.NotSupported
		}
		p.Error(code, x.Span, x.Help, "%s", x.Message)
		*ok = false
	}
	return body
}

// isJinja is how the engine decides whether a text is a template.
func isJinja(text string) bool { return strings.Contains(text, "{{") || strings.Contains(text, "{%") }

// fill gives the variables of a node's prompt their values. given are the node's variables; without them all fields of
// the state are what a prompt can take, and item is what a map around adds.
func (p *parser) fill(ask *TokenAsk, q *prompt, node ir.Ident, given *yamlnode.Node, values []*ir.Entry, item string) {
	ask.Prompt = q.rendering
	names := make([]string, 0, len(values))
	for _, v := range values {
		names = append(names, v.Key.Name)
	}
	for _, v := range q.free {
		entry := &ir.Entry{Key: ir.Ident{Name: v.name, Span: v.at}}
		i := slices.Index(names, v.name)
		switch {
		case v.name == "state":
			p.Warn(diag.IgnoredKey, v.at, "name the field itself", "`state` has no fields in the prompt of a node that asks a model")
			entry.Value = &ir.Object{Span: v.at}
		case i >= 0:
			entry.Value = values[i].Value
		case v.name == item && item != "":
			entry.Value = &dialect.Reference{Text: source.Text{Value: v.name, Span: v.at}, Root: "item", Missing: dialect.MissingNull}
		case len(values) > 0:
			p.notGiven(q, v, node, given, names)
			entry.Value = nil
		default:
			if p.named(v.name, v.at); p.fields[v.name] == nil {
				p.notGiven(q, v, node, nil, p.fieldNames())
				break
			}
			entry.Value = &dialect.Reference{Text: source.Text{Value: v.name, Span: v.at}, Root: "state", Path: []string{v.name}, Missing: dialect.MissingAbsent}
			if !v.guarded || p.opts.Upstream {
				ask.Needs = append(ask.Needs, entry)
			}
		}
		ask.Values = append(ask.Values, entry)
	}
}

func (p *parser) fieldNames() []string {
	var names []string
	for _, s := range p.wf.State {
		names = append(names, s.Name.Name)
	}
	return names
}

// notGiven reports a variable of a prompt that nothing gives a value. The engine looks for names with a pattern, and so
// refuses prompts that can do without.
func (p *parser) notGiven(q *prompt, v variable, node ir.Ident, given *yamlnode.Node, names []string) {
	if v.guarded && !p.opts.Upstream || q.told[node.Name+"\x00"+v.name] {
		return
	}
	q.told[node.Name+"\x00"+v.name] = true
	d := diag.Diagnostic{Code: diag.UnknownName, Span: v.at, Message: fmt.Sprintf("node %q does not give the prompt a variable `%s`", node.Name, v.name)}
	d.Related = append(d.Related, diag.Related{Span: node.Span, Message: "the node is here"})
	if given != nil {
		d.Related[0] = diag.Related{Span: dialect.Head(given), Message: "the variables of the node are here"}
		d.Help = "add it to `variables`"
	} else {
		d.Message = fmt.Sprintf("the state has no field `%s`, which node %q would give the prompt", v.name, node.Name)
		d.Help = "declare it in `state`"
	}
	if len(v.name) < 100 {
		if near := diag.Nearest(v.name, names); near != "" {
			d.Help += ", or write `" + near + "`"
		}
	}
	p.Report(d)
}
