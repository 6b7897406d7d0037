// Command playground is the compiler of the documentation's playground page: compiled to WebAssembly, it gives the page
//
//	flowgen.compile(text) // a Result, as JSON
//
// Elsewhere it reads a workflow from standard input and prints the same. It starts no program and reads no file: Go functions,
// Python, servers and all else that a file only names are stubs, by the `in:` and `out:` that their tools declare.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"unicode/utf16"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

// file is what the text on the page is called.
const file = "workflow.flowgen.yaml"

// maxText bounds the text, in bytes.
const maxText = 1 << 20

// A Result is what the page shows. Without a program Go, Plan and Graph are empty.
type Result struct {
	Diagnostics []Diagnostic     `json:"diagnostics"`
	Text        string           `json:"text"` // of the diagnostics, as in a terminal
	Go          string           `json:"go"`
	Plan        string           `json:"plan"`
	Mermaid     string           `json:"mermaid"`
	Graph       *picture.Picture `json:"graph"`
	Stubs       []string         `json:"stubs"`   // tools whose code is not looked for
	Problem     string           `json:"problem"` // why there is no result, when the text is not to blame
}

// A Diagnostic has its place in the units of JavaScript's texts.
type Diagnostic struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Help     string `json:"help"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	From     int    `json:"from"`
	To       int    `json:"to"`
}

// compileJSON is compile for callers in other languages.
func compileJSON(text string) string {
	out, err := json.Marshal(compile(text))
	if err != nil {
		return `{"problem":"the result cannot be written"}`
	}
	return string(out)
}

// compile is `check`, `generate`, `graph` and `plan` of one file.
func compile(text string) (r *Result) {
	r = &Result{Diagnostics: []Diagnostic{}, Stubs: []string{}}
	defer func() { // the page stays
		if what := recover(); what != nil {
			r = &Result{Diagnostics: []Diagnostic{}, Stubs: []string{}, Problem: fmt.Sprint("flowgen failed, please report the text: ", what)}
		}
	}()
	if len(text) > maxText {
		r.Problem = fmt.Sprintf("the text is larger than %d MiB", maxText>>20)
		return r
	}
	sink := &diag.Sink{}
	w := parser.Parse(only(text), file, sink)
	var p *check.Program
	s := &stubs{sink: sink, seen: map[*ir.Workflow]bool{}}
	if w != nil {
		s.workflow(w)
		p = check.Check(w, sink)
	}
	r.diagnostics(text, parser.SoundFixes(sink.List()))
	r.Stubs = append(r.Stubs, s.names...)
	if p == nil || sink.HasErrors() || w.Library {
		return r
	}
	r.program(p, s.open)
	return r
}

// program shows what becomes of a workflow without mistakes; its Go only when all types are known.
func (r *Result) program(p *check.Program, open bool) {
	data := plan.Of(p).JSON()
	var err error
	if r.Plan, err = cli.PlanText(data); err != nil {
		r.Problem = err.Error()
		return
	}
	info := &flow.Info{Name: p.WF.Name.Name, Facts: flow.NewFacts(`{"plan":` + data + `}`)}
	for _, s := range p.Table {
		info.Nodes = append(info.Nodes, &flow.Node{ID: s.Node.ID.Name})
	}
	for _, e := range codegen.Edges(p.Body) {
		info.Edges = append(info.Edges, flow.Edge{From: e.From, To: e.To, Label: e.Label})
	}
	r.Mermaid, r.Graph = cli.Mermaid(info), picture.Of(cli.ShapeOf(info))
	if open {
		return
	}
	out, err := codegen.Generate(p, codegen.Options{Package: goname.Package(p.WF.Name.Name)})
	if err != nil {
		r.Problem = err.Error()
		return
	}
	r.Go = string(out)
}

func (r *Result) diagnostics(text string, list []diag.Diagnostic) {
	for _, d := range list {
		out := Diagnostic{Severity: d.Severity.String(), Code: string(d.Code), Message: d.Message, Help: d.Help}
		if d.Span.File != nil {
			at := d.Span.Start()
			out.Line, out.Column = at.Line, at.Col
			out.From, out.To = units(text, d.Span.Lo), units(text, d.Span.Hi)
		}
		r.Diagnostics = append(r.Diagnostics, out)
	}
	var b bytes.Buffer
	_ = diag.Text(&b, list, diag.TextOptions{Width: 100}) // a buffer takes everything
	r.Text = b.String()
}

// units is how many units of UTF-16 come before a byte of a text.
func units(text string, at int) int {
	n := 0
	for _, c := range text[:min(at, len(text))] {
		n += max(utf16.RuneLen(c), 1)
	}
	return n
}

// only is a disk with one file.
type only string

// ReadFile implements parser.Files.
func (text only) ReadFile(name string) ([]byte, error) {
	if name != file {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

var _ parser.Files = only("")

// stubs puts slots in the place of what the playground has no code for.
type stubs struct {
	sink  *diag.Sink
	seen  map[*ir.Workflow]bool
	names []string
	open  bool // a type is not known, so that no Go can be generated
}

func (s *stubs) workflow(w *ir.Workflow) {
	if w == nil || s.seen[w] {
		return
	}
	s.seen[w] = true
	for _, t := range w.GoTypes {
		s.unknown(t.Ref, "a Go type", "declare the type in the file")
	}
	for _, f := range w.State {
		if f.Merge.Reducer != nil {
			s.unknown(f.Merge.Reducer.Ref, "a Go function", "use `append`, `sum` or `set_once`")
		}
	}
	for _, t := range w.Tools {
		s.tool(w, t)
	}
	s.body(w, &w.Body)
	for _, f := range w.Flows {
		s.workflow(f)
	}
}

func (s *stubs) body(w *ir.Workflow, b *ir.Body) {
	for _, n := range b.Nodes {
		if v, ok := n.Verb.(*ir.GoCall); ok && !provide(w, v.Func, nil) {
			s.unknown(v.Func.Ref, "a Go function", "declare it under `tools:` with `in:` and `out:`")
		}
		if inside := ir.BodyOf(n.Verb); inside != nil {
			s.body(w, inside)
		}
	}
}

// tool makes a stub of a tool whose code or schema is elsewhere.
func (s *stubs) tool(w *ir.Workflow, t *ir.Tool) {
	at := t.Key
	switch b := t.Binding.(type) {
	case *ir.GoTool:
		if provide(w, b.Func, t) {
			return
		}
		at = b.Func.Ref
	case *ir.PythonTool, *ir.JSTool, *ir.MCPTool, *ir.StarlarkTool, *ir.WasmTool, *ir.OpenAPITool:
	default:
		return
	}
	if t.In == nil || t.Out == nil {
		s.unknown(at, "the tool", "declare its `in:` and `out:`")
		t.In, t.Out = known(t.In), known(t.Out)
		return
	}
	s.names = append(s.names, t.Key.Name)
	t.Binding = &ir.SlotTool{Name: t.Key}
}

// unknown says why nothing can be said of a reference.
func (s *stubs) unknown(at ir.Ident, what, help string) {
	s.open = true
	span := at.Span
	if span.File == nil {
		span = source.Span{}
	}
	s.sink.Report(diag.Diagnostic{Severity: diag.Note, Code: diag.GoPackage, Span: span,
		Message: "the playground has only this file and does not see " + what + " `" + at.Name + "`", Help: help + ", or install flowgen"})
}

// provide binds a function that the runtime has for workflows of any language, and reports whether it is one.
func provide(w *ir.Workflow, fn *ir.GoFunc, t *ir.Tool) bool {
	b := w.Provided.Function(fn.Ref.Name)
	if b == nil {
		return fn.Bind != nil
	}
	own := *b
	fn.Bind = &own
	if t != nil && t.In == nil {
		t.In = own.In
	}
	if t != nil && t.Out == nil {
		t.Out = own.Out
	}
	return true
}

// known is a type, or the one about which nothing more is said.
func known(t *schema.Type) *schema.Type {
	if t == nil {
		return schema.InvalidType
	}
	return t
}
