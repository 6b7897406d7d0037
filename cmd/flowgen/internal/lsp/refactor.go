package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
)

// A Rewrite is the new text of a file.
type Rewrite struct {
	File     string
	Old, New string
	Create   bool // no such file
}

// A refactoring is an offer to change files. What it changes is found out when somebody takes it.
type refactoring struct {
	title, kind string
	root        *root // the workflow that it is about
	reload      bool  // it writes Go, which the proof has to load
	change      func() ([]Rewrite, error)
}

const (
	kindFix     = "quickfix"
	kindRewrite = "refactor.rewrite"
)

// refactorings are what can be done at a cursor besides the fixes of diagnostics.
func (s *server) refactorings(c cursor, to int) []refactoring {
	var out []refactoring
	for _, r := range c.roots {
		if r.result == nil || r.result.Workflow == nil {
			continue
		}
		out = append(out, s.missing(c, r)...)
		if r.name != c.name || len(r.list) > 0 && r.list[0].Severity == diag.Error {
			continue
		}
		wf := r.result.Workflow
		if wf.Public {
			if s.opts.Convert != nil {
				out = append(out, refactoring{root: r, title: "convert the file to flowgen's own language", kind: kindRewrite, change: func() ([]Rewrite, error) {
					return s.opts.Convert(r.name, s.ws.inputs())
				}})
			}
			continue
		}
		if len(r.result.Cases) == 0 && !wf.Library {
			out = append(out, refactoring{root: r, title: "create a test file", kind: kindRewrite, change: func() ([]Rewrite, error) { return firstCase(r.name, wf) }})
		}
		out = append(out, s.extraction(c, r, to)...)
		if n := nodeAt(&wf.Body, wf, c); n != nil {
			out = append(out, s.recordedCalls(r, n)...)
		}
	}
	return out
}

// nodeAt is the node of a body whose entry the cursor is in.
func nodeAt(b *ir.Body, wf *ir.Workflow, c cursor) *ir.Node {
	for _, n := range b.Nodes {
		if n.ID.Span.File == wf.File && wf.File.Text == c.doc.text.s && n.ID.Span.Lo <= c.off && c.off <= max(n.Span.Hi, n.ID.Span.Hi) {
			return n
		}
	}
	return nil
}

// maxRecorded is how many calls of a run are offered as nodes.
const maxRecorded = 20

// recordedCalls are the calls of the last run that a node has made and that can become nodes.
func (s *server) recordedCalls(r *root, n *ir.Node) (out []refactoring) {
	run := s.lastRun(r)
	if run == nil || s.opts.Materialize == nil {
		return nil
	}
	for _, call := range run.Calls {
		key, its := call.Key, func(t *ir.Tool) bool { return t.FullName() == call.Tool }
		if !strings.HasPrefix(key, n.ID.Name+"[") || len(out) == maxRecorded || !slices.ContainsFunc(r.result.Workflow.Tools, its) {
			continue
		}
		out = append(out, refactoring{root: r, title: "make a node of the recorded call " + key, kind: kindRewrite, change: func() ([]Rewrite, error) {
			return s.opts.Materialize(r.name, run.Folder, run.ID, key, s.ws.inputs())
		}})
	}
	return out
}

// missing are the files and functions that a diagnostic at the cursor says are missing.
func (s *server) missing(c cursor, r *root) (out []refactoring) {
	for _, x := range r.list {
		if x.Span.File == nil || fileOf(x, r.name) != c.name || x.Span.File.Text != c.doc.text.s || c.off < x.Span.Lo || x.Span.Hi < c.off {
			continue
		}
		if !r.result.Workflow.Public && r.result.Workflow.File != nil {
			out = append(out, s.supply(r, x)...)
		}
		switch written := strings.Trim(x.Span.Text(), `"'`); x.Code {
		case diag.CannotRead:
			name := path.Join(path.Dir(c.name), written)
			if ext := path.Ext(written); ext != ".md" && ext != ".txt" || !s.absent(c, name) {
				continue
			}
			out = append(out, refactoring{root: r, title: "create " + written, kind: kindFix, change: func() ([]Rewrite, error) {
				return []Rewrite{{File: name, New: "Write the prompt here.\n", Create: true}}, nil
			}})
		case diag.GoName, diag.GoPackage:
			out = append(out, s.stub(c, r, x)...)
		}
	}
	return out
}

// absent reports whether a file of the project could be created.
func (s *server) absent(c cursor, name string) bool {
	full := filepath.FromSlash(name)
	return files.Project(filepath.FromSlash(c.name)).Hold(full) && !files.Exists(full) && s.ws.docs[name] == nil
}

// firstCase is a file with one test case, of the values that the types of the input begin with.
func firstCase(name string, wf *ir.Workflow) ([]Rewrite, error) {
	var in []string
	for _, f := range wf.Input {
		if f.Default == nil && f.Type.Kind != schema.Opt {
			in = append(in, f.Name+": "+beginning(f.Type))
		}
	}
	text := "flowgen: 1\nworkflow: " + path.Base(name) + "\ncases:\n  first:\n    input: {" + strings.Join(in, ", ") + "}\n"
	file := strings.TrimSuffix(name, parser.WorkflowSuffix) + parser.CasesSuffix
	return []Rewrite{{File: file, New: text, Create: true}}, nil
}

// beginning is a value of a type, as YAML in brackets.
func beginning(t *schema.Type) string {
	switch t.Kind {
	case schema.Int, schema.Float:
		return "0"
	case schema.Bool:
		return "false"
	case schema.List:
		return "[]"
	case schema.Map:
		return "{}"
	case schema.Enum:
		return t.Values[0]
	case schema.Struct:
		var parts []string
		for _, f := range t.Fields {
			if f.Default == nil && f.Type.Kind != schema.Opt {
				parts = append(parts, f.Name+": "+beginning(f.Type))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return `""`
}

// offered are the refactorings of a place as the client knows them: it asks for the edit of one that somebody takes.
func (s *server) offered(c cursor, p codeActionParams, wants func(string) bool) (out []codeAction) {
	for _, f := range s.refactorings(c, c.doc.text.offset(p.Range.End)) {
		if wants(f.kind) {
			out = append(out, codeAction{Title: f.title, Kind: f.kind, Data: &actionData{p.TextDocument.URI, p.Range, f.title}})
		}
	}
	return out
}

// An actionData is what an action comes back with when its edit is wanted.
type actionData struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
	Title string `json:"title"`
}

// resolveAction gives an action its edit, or says why there is none.
func (s *server) resolveAction(params *json.RawMessage) (any, error) {
	a, err := decode[codeAction](params)
	if err != nil || a.Data == nil {
		return a, err
	}
	name := nameOf(a.Data.URI)
	d := s.ws.docs[name]
	if d == nil {
		return nil, refusal{codeInvalidParams, "the file is not open"}
	}
	c := cursor{name: name, doc: d, off: d.text.offset(a.Data.Range.Start), roots: s.ws.fresh(name)}
	for _, f := range s.refactorings(c, d.text.offset(a.Data.Range.End)) {
		if f.title == a.Title {
			a.Edit, err = s.carryOut(c, f)
			if err != nil {
				return nil, refusal{codeRefused, fmt.Sprintf("cannot %s: %v", a.Title, err)}
			}
			return a, nil
		}
	}
	return nil, refusal{codeModified, "the file has changed; the action is no longer available"}
}

// carryOut is the edit of a refactoring. It is proved: with the edit the workflows have no error that they did not have, and a fix takes
// one away. Warnings may be new: nothing reads a new node yet, and some are withheld while a file cannot be read.
func (s *server) carryOut(c cursor, f refactoring) (*workspaceEdit, error) {
	list, err := f.change()
	if err != nil {
		return nil, err
	}
	in := s.ws.inputs()
	if f.reload {
		in.Packages, in.Later = &bind.Cache{}, false
		s.ws.loaded = true // there is garbage of it
	}
	for _, e := range list {
		if e.Create && files.Exists(filepath.FromSlash(e.File)) {
			return nil, errors.New(e.File + " exists")
		}
		if d := s.ws.docs[e.File]; d != nil && d.text.s != e.Old {
			return nil, errors.New(e.File + " has changed")
		}
		in.Unsaved[e.File] = e.New
	}
	for _, r := range sortedRoots(s.ws.roots) {
		if !slices.Contains(c.roots, r) && !slices.ContainsFunc(list, func(e Rewrite) bool { return r.files[e.File] }) {
			continue
		}
		found := s.opts.Compile(r.name, in).List
		before, after := mistakes(r.list), mistakes(found)
		if d := worse(before, after); d != nil {
			return nil, errors.New(d.Message)
		}
		if f.kind == kindFix && r == f.root && len(after) >= len(before) && len(found) >= len(r.list) {
			return nil, errors.New("it would not fix the diagnostic")
		}
	}
	return s.ws.rewriting(list), nil
}

func mistakes(list []diag.Diagnostic) []diag.Diagnostic {
	return slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
}

// rewriting is the edit that makes new texts of files. New files are created.
func (w *workspace) rewriting(list []Rewrite) *workspaceEdit {
	edits := map[string][]textEdit{}
	for _, e := range list {
		edits[e.File] = []textEdit{newText(e.Old, w.utf8).edit(e.New)}
	}
	if !slices.ContainsFunc(list, func(e Rewrite) bool { return e.Create }) {
		return w.edits(edits)
	}
	out := &workspaceEdit{}
	for _, e := range list {
		if e.Create {
			out.Documents = append(out.Documents, createFile{"create", w.uri(e.File)})
		}
		out.Documents = append(out.Documents, documentEdit{w.identify(e.File), edits[e.File]})
	}
	return out
}
