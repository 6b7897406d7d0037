// Package index finds what names in the files of a workflow stand for: where each is declared, and where it is used. It reads
// what ir/check has resolved, and so knows of a name what the compiler knows of it, in files with mistakes too.
package index

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Kind is what a name is of.
type Kind string

// The kinds, as people call them.
const (
	Flow     Kind = "workflow"
	Node     Kind = "node"
	Tool     Kind = "tool"
	Type     Kind = "type"
	Model    Kind = "model"
	Agent    Kind = "agent"
	Server   Kind = "server"
	Secret   Kind = "secret"
	Input    Kind = "input"
	State    Kind = "state field"
	Output   Kind = "output"
	Field    Kind = "field"
	Variable Kind = "variable"
	Case     Kind = "test case"
	File     Kind = "file"
	Function Kind = "function"
)

// A Name is something that has a name in the files of a workflow.
type Name struct {
	Kind  Kind
	Text  string
	At    source.Span // of its declaration; zero: it has none
	Body  source.Span // the declaration as a whole, for outlines; zero: At
	Type  *schema.Type
	In    *schema.Type // what a call of it takes: of tools, workflows, and nodes that call these
	Doc   string
	Notes []string // what else a person has to know, a sentence each
}

// Key tells names apart, across workflows and compilations of the same text. What is declared without its name being written, as the
// fields of an agent's result are by its node, is told apart by its name too.
func (n *Name) Key() string {
	if n.At.File == nil {
		return string(n.Kind) + "\x00" + n.Text
	}
	key := n.At.File.Name + "\x00" + strconv.Itoa(n.At.Lo)
	if n.At.Text() != n.Text {
		key += "\x00" + string(n.Kind) + "\x00" + n.Text
	}
	return key
}

// A Ref is a place where a name is written.
type Ref struct {
	At       source.Span
	Name     *Name
	Declares bool
	Writes   bool         // the value, as `set` does
	Type     *schema.Type // of the value here, where it is read
}

// An Index is the names of a workflow, with those of the files that it includes, runs and is tested by.
type Index struct {
	Refs  []Ref // in order of files and places
	Names []*Name
	Calls []source.Span // names of functions of the language, where they are called

	Links  []Link // names of files
	Locked []Ref  // entries of flowgen.lock, as uses of the tools and servers that they are of
}

// A Link is the name of a file where it is written.
type Link struct {
	At   source.Span
	File string // as flowgen names it; there may be no such file
}

// At is the reference at an offset of a file; of two that meet there the one that begins there. nil: there is none.
func (x *Index) At(file string, off int) *Ref {
	var best *Ref
	for i := range x.Refs {
		r := &x.Refs[i]
		if r.At.File.Name == file && r.At.Lo <= off && off <= r.At.Hi && (best == nil || r.At.Hi-r.At.Lo < best.At.Hi-best.At.Lo || off == r.At.Lo) {
			best = r
		}
	}
	return best
}

// To lists the references to a name.
func (x *Index) To(key string) []Ref {
	var out []Ref
	for _, r := range x.Refs {
		if r.Name.Key() == key {
			out = append(out, r)
		}
	}
	return out
}

// Build indexes a workflow that was checked, and its tests.
func Build(wf *ir.Workflow, tests []*ir.CaseFile) *Index {
	b := &builder{names: map[string]*Name{}, seen: map[any]bool{}, at: map[source.Span]bool{}}
	b.workflow(wf)
	for _, f := range tests {
		b.tests(wf, f)
	}
	slices.SortStableFunc(b.out.Refs, func(x, y Ref) int {
		return cmp.Or(cmp.Compare(x.At.File.Name, y.At.File.Name), cmp.Compare(x.At.Lo, y.At.Lo), cmp.Compare(x.At.Hi, y.At.Hi))
	})
	return &b.out
}

type builder struct {
	out   Index
	names map[string]*Name
	seen  map[any]bool
	at    map[source.Span]bool
	wf    *ir.Workflow
}

// declare adds a name where it is declared.
func (b *builder) declare(kind Kind, id ir.Ident, body source.Span, t *schema.Type, doc string) *Name {
	n := b.name(kind, id.Name, id.Span)
	n.Body, n.Type, n.Doc = body, t, doc
	if !b.written(id.Span, id.Name) && kind != Flow {
		n.Body = source.Span{} // no part of the outline
	}
	b.add(Ref{At: id.Span, Name: n, Declares: true})
	return n
}

// name is the name that is declared at a place.
func (b *builder) name(kind Kind, text string, at source.Span) *Name {
	n := &Name{Kind: kind, Text: text, At: unquoted(at)}
	if old := b.names[n.Key()]; old != nil {
		return old
	}
	b.names[n.Key()] = n
	b.out.Names = append(b.out.Names, n)
	return n
}

func (b *builder) add(r Ref) {
	r.At = unquoted(r.At)
	if r.At.File == nil || r.At.Lo >= r.At.Hi || b.at[r.At] || r.Name.Kind != File && r.Name.Kind != Function && !b.written(r.At, r.Name.Text) {
		return
	}
	b.at[r.At] = true
	b.out.Refs = append(b.out.Refs, r)
}

// written reports whether a place has a name. In the files of other engines much stands for names that nobody has written: a node that
// they begin with, or a secret that a kind of nodes needs. Such a name may be spelt in another way than in flowgen.
func (b *builder) written(at source.Span, name string) bool {
	if b.wf == nil || !b.wf.Public || at.File == nil {
		return true
	}
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	text := letters(at.Text())
	name, _, _ = strings.Cut(name, "@")
	name = letters(name)
	return text != "" && (strings.HasSuffix(name, text) || strings.Contains(text, name))
}

// use adds a reference to what is declared at a place.
func (b *builder) use(at source.Span, kind Kind, text string, decl source.Span) {
	b.add(Ref{At: at, Name: b.name(kind, text, decl)})
}

// unquoted is the inside of a quoted scalar without escapes.
func unquoted(s source.Span) source.Span {
	t := s.Text()
	if len(t) > 1 && (t[0] == '"' || t[0] == '\'') && t[len(t)-1] == t[0] && !strings.ContainsAny(t[1:len(t)-1], `\'"`) {
		return s.Sub(1, len(t)-1)
	}
	return s
}

func (b *builder) workflow(wf *ir.Workflow) {
	if wf == nil || b.seen[wf] {
		return
	}
	b.seen[wf] = true
	for _, child := range wf.Flows {
		b.workflow(child)
	}
	outer := b.wf
	b.wf = wf
	defer func() { b.wf = outer }()
	if wf.Name.Span.File != nil {
		b.declare(Flow, wf.Name, wf.Name.Span, nil, wf.Description).Notes = caps(wf.Policy)
	}
	b.declarations(wf)
	for _, u := range wf.TypeUses {
		b.use(u.At, Type, u.Decl.Name, u.Decl.Span)
	}
	b.body(&wf.Body)
	for _, o := range wf.Output {
		b.value(o.Value)
	}
	b.files(wf)
}

func (b *builder) declarations(wf *ir.Workflow) {
	for _, d := range wf.Types {
		b.declare(Type, ir.Ident{Name: d.Name, Span: d.Span}, d.Span, d.Type, d.Description)
		b.fields(Field, d.Type)
	}
	b.fields(Input, &schema.Type{Kind: schema.Struct, Fields: wf.Input})
	for _, s := range wf.State {
		b.declare(State, s.Name, s.Span, s.Type, "")
		b.fields(Field, s.Type)
	}
	for _, o := range wf.Output {
		b.declare(Output, o.Name, o.Span, o.Type, o.Description)
	}
	for _, s := range wf.Secrets {
		b.declare(Secret, s.Name, s.Name.Span, nil, "")
	}
	for _, m := range wf.Models {
		b.declare(Model, m.Name, m.Span, nil, "").Notes = modelNotes(m)
		b.secret(m.Key)
	}
	for _, s := range wf.Servers {
		b.declare(Server, s.Name, s.Span, nil, "")
		b.auth(s.Auth)
		for _, e := range s.Env {
			b.secret(e.Secret)
		}
	}
	for _, a := range wf.Agents {
		b.declare(Agent, a.Name, a.Span, nil, "").Notes = caps(a.Agent.Policy)
		b.agent(&a.Agent)
	}
	for _, t := range wf.Tools {
		b.tool(t)
	}
}

// fields declares the fields of a type where it is written.
func (b *builder) fields(kind Kind, t *schema.Type) {
	if t == nil || b.seen[t] {
		return
	}
	b.seen[t] = true
	if t.Elem != nil {
		b.fields(Field, t.Elem)
	}
	for _, f := range t.Fields {
		if f.Span.File != nil {
			b.declare(kind, ir.Ident{Name: f.Name, Span: f.Span}, f.Span, f.Type, f.Description)
		}
		b.fields(Field, f.Type)
	}
	for _, v := range t.Variants {
		b.fields(Field, v.Type)
	}
}

func (b *builder) secret(id ir.Ident) {
	if id.Name == "" {
		return
	}
	for _, s := range b.wf.Secrets {
		if s.Name.Name == id.Name {
			b.use(id.Span, Secret, id.Name, s.Name.Span)
		}
	}
}

func (b *builder) auth(a *ir.Auth) {
	if a != nil {
		b.secret(a.Secret)
	}
}

func (b *builder) tool(t *ir.Tool) {
	id := t.Key
	if id.Span.File == nil {
		id = t.Name
	}
	n := b.declare(Tool, id, t.Span, t.Out, t.Description)
	n.In, n.Notes = t.In, toolNotes(t)
	b.fields(Field, t.In)
	b.fields(Field, t.Out)
	b.auth(t.Auth)
	if t.IdempotencyKey != nil {
		b.value(t.IdempotencyKey)
	}
	texts := func(list ...*ir.Template) {
		for _, x := range list {
			if x != nil {
				b.value(x)
			}
		}
	}
	params := func(list []ir.Param) {
		for _, p := range list {
			b.value(p.Value)
		}
	}
	switch v := t.Binding.(type) {
	case *ir.GoTool:
		b.function(v.Func)
	case *ir.CommandTool:
		texts(v.Args...)
		texts(v.Stdin, v.Dir)
		for _, e := range v.Env {
			texts(e.Value)
			b.secret(e.Secret)
		}
	case *ir.HTTPTool:
		if v.Document != nil {
			break // what is sent is written in another file
		}
		texts(v.Places...)
		params(v.Headers)
		params(v.Query)
		b.value(v.Body)
	case *ir.MCPTool:
		for _, s := range b.wf.Servers {
			if s.Name.Name == v.Server.Name {
				b.use(v.Server.Span, Server, s.Name.Name, s.Name.Span)
			}
		}
	}
	if ref := foreignRef(t.Binding); t.Def != nil && ref.Span.File != nil && t.Def.Span.File != nil {
		n := b.name(Function, t.Def.Name, t.Def.Span)
		b.add(Ref{At: ref.Span, Name: n, Type: t.Out})
		b.add(Ref{At: t.Def.Span, Name: n, Declares: true})
	}
}

// foreignRef is where a tool names a function that is not Go.
func foreignRef(binding ir.Binding) ir.Ident {
	switch v := binding.(type) {
	case *ir.PythonTool:
		return v.Ref
	case *ir.JSTool:
		return v.Path
	case *ir.StarlarkTool:
		return v.Path
	case *ir.MCPTool:
		return v.Tool
	}
	return ir.Ident{}
}

func (b *builder) function(f *ir.GoFunc) {
	if f == nil || f.Ref.Span.File == nil || f.Bind == nil || f.Bind.PosSpan.File == nil {
		return
	}
	n := b.name(Function, f.Bind.Path+"."+f.Bind.Func, f.Bind.PosSpan)
	n.Doc, n.Type = f.Bind.Doc, f.Bind.Out
	b.add(Ref{At: f.Ref.Span, Name: n})
	b.add(Ref{At: f.Bind.PosSpan, Name: n, Declares: true})
}
