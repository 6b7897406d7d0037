// Package dialect is what the readers of the public dialects share: mappings with known keys, text, numbers, lists of
// names and constants, each with its exact place, and the wording of what is wrong with them, which is that of the native
// language.
package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// Options are what a dialect is read with.
type Options struct {
	Upstream bool              // --compat upstream: where the page and the engine differ, the engine
	Tools    map[string]string // files of tools by the names of the slots that they are bound to
	Child    bool              // another file runs this one
	Root     string            // the file that the command names: programs look for what it and its children name from its folder
	Python   ir.PythonReader   // reads sources of Python; nil: there is none to read them with
}

// A Loader brings the files that a workflow names. Its methods report what goes wrong, at the place of ref.
type Loader interface {
	// Text reads a file of text. The same file is always the same *source.File; ok is false when it cannot be read.
	Text(from *source.File, ref ir.Ident) (f *source.File, ok bool)
	// Find reads the first of several files of YAML that is there; names are whole, as from where the command runs. f is nil
	// when there is none, and root when it is not YAML, which is reported.
	Find(at source.Span, names ...string) (root *yamlnode.Node, f *source.File)
	// Flow parses a workflow of any dialect, nil when it cannot be read.
	Flow(from *source.File, ref ir.Ident) *ir.Workflow
	// FlowNear is Flow for a name that is relative to the folder of from or, when no such file, to the one that the
	// command runs in; with here the other way around. beside says that it was the folder of from.
	FlowNear(from *source.File, ref ir.Ident, here bool) (wf *ir.Workflow, beside bool)
	// Bindings adds the tools of flowgen.bindings.yaml next to the workflow to it, if there is such a file.
	Bindings(wf *ir.Workflow)
	// Folder lists the files and the folders of a folder next to from, in the order of their names; none where folders cannot be
	// looked through.
	Folder(from *source.File, dir string) (files, folders []string)
}

// A Reader reads the tree of one file. Only the first 500 mistakes are reported.
type Reader struct {
	Sink   *diag.Sink
	File   *source.File
	Schema yamlnode.Schema
	before int
	broken map[string]bool // see Broken
}

// NewReader is a reader of f, whose scalars are what schema says.
func NewReader(f *source.File, schema yamlnode.Schema, sink *diag.Sink) *Reader {
	return &Reader{Sink: sink, File: f, Schema: schema, before: sink.Errors()}
}

const (
	maxErrors  = 500
	suggestFor = 60 // characters of a name that is compared with others
)

// Report adds a diagnostic.
func (r *Reader) Report(d diag.Diagnostic) {
	if r.Sink.Errors()-r.before < maxErrors {
		r.Sink.Report(d)
	}
}

// Error reports a mistake at a place, with what to do when one answer is right.
func (r *Reader) Error(code diag.Code, at source.Span, help, format string, args ...any) {
	r.Report(diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// Warn reports what the engine takes without a word.
func (r *Reader) Warn(code diag.Code, at source.Span, help, format string, args ...any) {
	r.Report(diag.Diagnostic{Severity: diag.Warning, Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// Differs notes that the file depends on a place where page and engine differ.
func (r *Reader) Differs(at source.Span, help, format string, args ...any) {
	r.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
}

// A Key is a key that a mapping may have.
type Key struct {
	Name     string
	Required bool
	Doc      string // one line, a noun phrase
	Form     Form   // for JSONSchema
}

// A Shape is a mapping of the dialect.
type Shape struct {
	What string // "a node"
	Keys []Key
	Open bool // the engine takes other keys and ignores them: a warning; else they are mistakes
	Any  bool // other keys belong to the format
}

func (s *Shape) names() []string {
	var out []string
	for _, k := range s.Keys {
		out = append(out, k.Name)
	}
	return out
}

func (s *Shape) has(name string) bool {
	for _, k := range s.Keys {
		if k.Name == name {
			return true
		}
	}
	return false
}

// A Mapping is a mapping whose keys are known.
type Mapping struct {
	Node  *yamlnode.Node
	Shape *Shape
}

// Get is the value of a key; nil when it is not written or null.
func (m Mapping) Get(name string) *yamlnode.Node {
	if v := m.Node.Get(name); v != nil && v.Kind != yamlnode.Null {
		return v
	}
	return nil
}

// Key is the place of a key.
func (m Mapping) Key(name string) source.Span {
	if e := m.Node.Entry(name); e != nil {
		return e.Key.Span
	}
	return Head(m.Node)
}

// Head is the first line of a node.
func Head(n *yamlnode.Node) source.Span {
	if i := strings.IndexAny(n.Span.Text(), "\r\n"); i >= 0 {
		return n.Span.Sub(0, i)
	}
	return n.Span
}

// Mapping reads n as a mapping of a shape; ok is false when it is none.
func (r *Reader) Mapping(n *yamlnode.Node, s *Shape) (m Mapping, ok bool) {
	if n == nil || !r.IsMapping(n, s.What) {
		return Mapping{}, false
	}
	m = Mapping{n, s}
	astray := map[string]bool{}
	for _, e := range n.Entries {
		switch name := e.Key.Text.Value; {
		case s.has(name) || s.Open && shared(e.Value):
		case s.Any:
			r.strange(m, e.Key, name)
		default:
			astray[r.unknownKey(m, e.Key, name)] = true
		}
	}
	for _, k := range s.Keys {
		if k.Required && m.Get(k.Name) == nil && !astray[k.Name] {
			r.Report(yamlnode.MissingKey(Head(n), s.What, k.Name, k.Doc))
		}
	}
	return m, true
}

// unknownKey reports a key that the shape does not have, and returns the one that may be meant.
func (r *Reader) unknownKey(m Mapping, key *yamlnode.Node, name string) string {
	d := yamlnode.UnknownKey(key.Span, name, m.Shape.What)
	if word, value, ok := strings.Cut(name, ":"); ok && m.Shape.has(word) && key.Style == yamlnode.Plain && m.Node.Get(name).Kind == yamlnode.Null && m.Node.Get(word) == nil {
		d.Help = "write `" + word + ": " + value + "`, with a space"
		r.Report(d)
		return word
	}
	near := ""
	if len(name) <= suggestFor {
		near = diag.Nearest(name, m.Shape.names())
	}
	if m.Shape.Open && !m.lacks(name, near) {
		d.Severity, d.Code = diag.Warning, diag.IgnoredKey
		d.Message += " (ignored)"
	}
	switch {
	case near != "" && m.Node.Get(near) == nil && (!m.Shape.Open || diag.Close(name, near)):
		d.Help = "replace with `" + near + "`"
		d.Fixes = []diag.Fix{diag.Replace(key.Span, near)}
	case m.Shape.Open:
		near, d.Help = "", "remove it"
	default:
		near, d.Help = "", "the keys of "+m.Shape.What+" are "+list(m.Shape.names(), "and")
	}
	r.Report(d)
	return near
}

// strange warns of a key that belongs to a format, when it is nearly one that the shape has and the mapping lacks.
func (r *Reader) strange(m Mapping, key *yamlnode.Node, name string) {
	if len(name) > suggestFor {
		return
	}
	near := diag.Nearest(name, m.Shape.names())
	if near == "" || m.Node.Get(near) != nil || !diag.Close(name, near) {
		return
	}
	d := yamlnode.UnknownKey(key.Span, name, m.Shape.What)
	d.Severity, d.Code, d.Help = diag.Warning, diag.IgnoredKey, "replace with `"+near+"`"
	d.Message += " (ignored)"
	d.Fixes = []diag.Fix{diag.Replace(key.Span, near)}
	r.Report(d)
}

// lacks reports whether a key is in place of one that the mapping must have: then it is not a key that is merely ignored.
func (m Mapping) lacks(name, near string) bool {
	return diag.Close(name, near) && m.Get(near) == nil && slices.ContainsFunc(m.Shape.Keys, func(k Key) bool { return k.Required && k.Name == near })
}

// shared reports whether a value is there for the anchors in it, as parts that other values are made of are.
func shared(n *yamlnode.Node) bool {
	if n.Anchor != "" {
		return true
	}
	for _, e := range n.Entries {
		if shared(e.Value) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, shared)
}

// WrongShape reports a value of another kind than is asked for.
func (r *Reader) WrongShape(n *yamlnode.Node, message string) {
	r.Report(yamlnode.WrongShape(Head(n), n, message))
}

// IsMapping reports a value that is not a mapping; what says what it is.
func (r *Reader) IsMapping(n *yamlnode.Node, what string) bool {
	if n.Kind != yamlnode.Mapping {
		r.WrongShape(n, what+" is a mapping")
	}
	return n.Kind == yamlnode.Mapping
}

// IsList reports a value that is not a list; what says what it is.
func (r *Reader) IsList(n *yamlnode.Node, what string) bool {
	if n.Kind != yamlnode.Sequence {
		r.WrongShape(n, what+" is a list")
	}
	return n.Kind == yamlnode.Sequence
}

// NoNodes reports a workflow without nodes.
func (r *Reader) NoNodes(at source.Span) {
	r.Report(yamlnode.NoNodes(at))
}

// NoField is the warning about a reference to a field that the state does not have.
func NoField(at source.Span, name string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: at, Message: fmt.Sprintf("the state has no field %q: the value is always missing", name)}
}

// NoList is the report of a list that is a field of the state which is declared as something else.
func NoList(severity diag.Severity, at source.Span, s *ir.State) diag.Diagnostic {
	return diag.Diagnostic{Severity: severity, Code: diag.TypeMismatch, Span: at, Message: fmt.Sprintf("this takes a list, and the state field %s is not declared as one", s.Name.Name),
		Related: []diag.Related{{Span: s.Name.Span, Message: "it is declared here"}}}
}

// BadField reports the name of a state field that the public dialects do not allow.
func (r *Reader) BadField(at source.Span) {
	r.Error(diag.BadName, at, "", "the name of a state field is made of letters, digits and _")
}

// Text reads a scalar as text.
func (r *Reader) Text(n *yamlnode.Node, what string) (ir.Ident, bool) {
	switch {
	case n == nil:
		return ir.Ident{}, false
	case n.Kind != yamlnode.Scalar:
		r.WrongShape(n, what+" is text")
		return ir.Ident{}, false
	}
	return ir.Ident{Name: n.Text.Value, Span: n.Place()}, true
}

// Word reads one of several words.
func (r *Reader) Word(n *yamlnode.Node, what string, words ...string) string {
	id, ok := r.Text(n, what)
	if !ok {
		return ""
	}
	for _, w := range words {
		if w == id.Name {
			return w
		}
	}
	d := yamlnode.UnknownWord(id.Span, id.Name, what)
	d.Help = "use " + list(words, "or")
	if len(id.Name) <= suggestFor {
		if near := diag.Nearest(id.Name, words); near != "" {
			d.Help, d.Fixes = "replace with `"+near+"`", []diag.Fix{diag.Replace(id.Span, near)}
		}
	}
	r.Report(d)
	return ""
}

// list is words as a sentence has them: `a`, `b` or `c`.
func list(words []string, last string) string {
	if len(words) == 1 {
		return "`" + words[0] + "`"
	}
	n := len(words) - 1
	return "`" + strings.Join(words[:n], "`, `") + "` " + last + " `" + words[n] + "`"
}

func clip(s string) string {
	if runes := []rune(s); len(runes) > suggestFor {
		return string(runes[:suggestFor]) + "..."
	}
	return s
}

// Count reads an integer from least to most.
func (r *Reader) Count(n *yamlnode.Node, what string, least, most int64, absent int64) int64 {
	if n == nil {
		return absent
	}
	if n.Kind == yamlnode.Scalar && r.Schema.Tag(n) == "!!int" {
		if text, whole, ok := yamlnode.Number(n.Text.Value); ok && whole {
			var v int64
			if _, err := fmt.Sscan(text, &v); err == nil && v >= least && v <= most {
				return v
			}
			r.Report(yamlnode.OutOfRange(Head(n), what, least, most))
			return absent
		}
	}
	if n.Kind != yamlnode.Scalar {
		r.WrongShape(n, what+" is an integer")
		return absent
	}
	r.Report(yamlnode.NotWhole(Head(n), n.Text.Value, what))
	return absent
}

// Flag reads true or false, in the words of YAML 1.1; absent when nothing is written.
func (r *Reader) Flag(n *yamlnode.Node, what string, absent bool) bool {
	if n == nil {
		return absent
	}
	if r.Schema.Tag(n) != "!!bool" {
		r.NotBool(n, what)
		return absent
	}
	v, _ := yamlnode.Bool11(n.Text.Value)
	return v
}

// NotBool reports a value that is neither true nor false.
func (r *Reader) NotBool(n *yamlnode.Node, what string) {
	r.Error(diag.BadLiteral, Head(n), "", "%s is true or false", what)
}

// Idents reads a list of names.
func (r *Reader) Idents(n *yamlnode.Node, what string) []ir.Ident {
	if n == nil {
		return nil
	}
	if n.Kind != yamlnode.Sequence {
		r.WrongShape(n, what+" is a list of names")
		return nil
	}
	out := make([]ir.Ident, 0, len(n.Items))
	for _, it := range n.Items {
		if id, ok := r.Text(it, "a name in "+what); ok {
			out = append(out, id)
		}
	}
	return out
}

// Value reads constants, with what text makes of the strings in them.
func (r *Reader) Value(n *yamlnode.Node, text func(n *yamlnode.Node) ir.Value) ir.Value {
	return r.ValueOf(n, func(n *yamlnode.Node) ir.Value {
		if text != nil && r.Schema.Tag(n) == "!!str" {
			return text(n)
		}
		return r.Scalar(n)
	})
}

// ValueOf reads a value of any kind, whose scalars are what scalar says.
func (r *Reader) ValueOf(n *yamlnode.Node, scalar func(n *yamlnode.Node) ir.Value) ir.Value {
	switch n.Kind {
	case yamlnode.Mapping:
		o := &ir.Object{Span: n.Span}
		for _, e := range n.Entries {
			o.Entries = append(o.Entries, &ir.Entry{Key: ir.Ident{Name: e.Key.Text.Value, Span: e.Key.Span}, Value: r.ValueOf(e.Value, scalar)})
		}
		return o
	case yamlnode.Sequence:
		l := &ir.List{Span: n.Span}
		for _, it := range n.Items {
			l.Items = append(l.Items, r.ValueOf(it, scalar))
		}
		return l
	}
	return scalar(n)
}

// Scalar reads one constant. Numbers and booleans get the spelling of JSON, whatever the file's is.
func (r *Reader) Scalar(n *yamlnode.Node) *ir.Scalar {
	s := &ir.Scalar{Text: n.Text, Tag: r.Schema.Tag(n)}
	if n.Kind == yamlnode.Null {
		s.Tag = "!!null"
	}
	switch s.Tag {
	case "!!int", "!!float":
		r.Number(s, n, yamlnode.Number)
	case "!!bool":
		s.Text.Value = strings.ToLower(n.Text.Value)
	}
	return s
}

// Number gives s the text and the tag of a number that read understands, as JSON writes it.
func (r *Reader) Number(s *ir.Scalar, n *yamlnode.Node, read func(string) (text string, whole, ok bool)) {
	text, whole, ok := read(n.Text.Value)
	if !ok {
		r.Error(diag.BadLiteral, n.Span, "put it in quotes if it is text", "`%s` is not representable as a JSON number", clip(n.Text.Value))
		text, whole = "0", true
	}
	s.Text.Value = text
	if s.Tag = "!!float"; whole {
		s.Tag = "!!int"
	}
}
