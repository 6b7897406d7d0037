package lsp

import (
	"cmp"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/index"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser"
)

// Compile checks one workflow file, as `flowgen check` does.
type Compile func(name string, from Inputs) *Result

// Inputs are what a compilation sees besides the disk.
type Inputs struct {
	Unsaved  map[string]string // texts by the names of files
	Packages *bind.Cache
	Later    bool // Go packages that are not in Packages are not loaded
	Look     func(n *expr.Node, env expr.Env)
}

// A Result is what Compile found.
type Result struct {
	Workflow *ir.Workflow   // nil when the file cannot be read
	Program  *check.Program // nil when there are errors
	List     []diag.Diagnostic
	Cases    []*ir.CaseFile
	Files    []string // all that were read, or looked for
}

// A workspace is the files that are open, and what is known of the workflows that they are, or belong to.
type workspace struct {
	opts      Options
	utf8      bool
	versioned bool // the client takes edits with the versions of texts
	all       bool // a workflow that cannot be read is one all the same: it was named

	docs  map[string]*document // open files by name
	roots map[string]*root     // workflows by name

	dirty []string // roots to compile, in order
	scan  []string // workflow files of the workspace that were not looked at yet

	published   map[string]publishParams // by URI
	unpublished map[string]bool          // names of files whose diagnostics may have changed

	packages *bind.Cache
	sources  goSources
	stale    bool            // Go files have changed since they were loaded
	pending  map[string]bool // roots whose Go packages are not loaded
	loading  bool
	loaded   bool // packages, whose garbage is still there
}

// A document is an open file.
type document struct {
	uri     string
	version int
	text    *text
}

// A root is a workflow file that is compiled by itself.
type root struct {
	name   string
	files  map[string]bool // what it was made of
	serves map[string]bool // files that it includes or runs
	list   []diag.Diagnostic
	index  *index.Index
	result *Result // nil while none of its files is open
	golang bool    // names Go packages
}

func newWorkspace(opts Options) *workspace {
	return &workspace{opts: opts, docs: map[string]*document{}, roots: map[string]*root{}, published: map[string]publishParams{},
		unpublished: map[string]bool{}, packages: &bind.Cache{}, pending: map[string]bool{}}
}

// begin lists the workflows of the workspace.
func (w *workspace) begin(folder bool) {
	if folder {
		w.scan, _ = w.opts.Find()
	}
}

func (w *workspace) open(uri string, version int, s string) {
	name := nameOf(uri)
	w.docs[name] = &document{uri: uri, version: version, text: newText(s, w.utf8)}
	delete(w.published, uri) // the client knows nothing of the document yet
	w.changed(name)
	if filepath.Base(name) == parser.BindingsName {
		w.scan = append(siblings(name), w.scan...)
	}
}

func (w *workspace) change(uri string, version int, list []change) {
	name := nameOf(uri)
	d := w.docs[name]
	if d == nil { // its text is not known
		return
	}
	if version != 0 && version <= d.version { // it comes late or twice, and is about a text that is gone
		return
	}
	t := d.text.apply(list)
	w.docs[name] = &document{uri: d.uri, version: version, text: t}
	w.changed(name)
}

func (w *workspace) close(uri string) {
	name := nameOf(uri)
	if w.docs[name] == nil {
		return
	}
	delete(w.docs, name)
	w.changed(name)
}

// onDisk is told of a file that was written or deleted.
func (w *workspace) onDisk(name string) {
	if w.docs[name] == nil || filepath.Ext(name) == ".go" {
		w.changed(name)
	}
}

// changed marks what is made of a file.
func (w *workspace) changed(name string) {
	w.unpublished[name] = true
	base := filepath.Base(name)
	if filepath.Ext(name) == ".go" || base == "go.mod" || base == "go.sum" || base == "go.work" {
		w.sources.note(name, w.docs[name])
		w.stale = true
	}
	used := false
	for _, r := range sortedRoots(w.roots) {
		if r.files[name] {
			w.mark(r.name)
			used = true
		}
	}
	if used && strings.HasSuffix(name, parser.WorkflowSuffix) && w.roots[name] == nil && w.docs[name] != nil {
		used = false // others have looked for it, but it is new
	}
	switch {
	case used:
	case strings.HasSuffix(name, parser.CasesSuffix):
		for _, r := range sortedRoots(w.roots) { // tests are found by their folder
			if filepath.Dir(r.name) == filepath.Dir(name) {
				w.mark(r.name)
			}
		}
	case strings.HasSuffix(name, parser.WorkflowSuffix), w.docs[name] != nil && (filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"):
		w.mark(name)
	}
}

func (w *workspace) mark(name string) {
	if !slices.Contains(w.dirty, name) {
		w.dirty = append(w.dirty, name)
	}
}

// compileNext compiles a workflow that has changed, those that are open first; it returns false when there is none.
func (w *workspace) compileNext() bool {
	if len(w.dirty) == 0 {
		return false
	}
	i := max(0, slices.IndexFunc(w.dirty, func(n string) bool { return w.docs[n] != nil }))
	name := w.dirty[i]
	w.dirty = slices.Delete(w.dirty, i, i+1)
	w.compile(name)
	return true
}

// scanNext looks at one workflow of the workspace; it returns false when all were looked at.
func (w *workspace) scanNext() bool {
	for len(w.scan) > 0 {
		name := w.scan[0]
		w.scan = w.scan[1:]
		if w.roots[name] == nil {
			w.compile(name)
			return true
		}
	}
	return false
}

// orphaned reports whether an open file that is to be published belongs to no workflow so far: it may be a prompt of one that was
// not looked at yet.
func (w *workspace) orphaned() bool {
	for name := range w.unpublished {
		if w.docs[name] != nil && w.rootsOf(name) == nil {
			return true
		}
	}
	return false
}

// settle compiles all that is left to, for answers about the entire workspace.
func (w *workspace) settle() {
	for w.compileNext() || w.scanNext() {
	}
}

// fresh compiles what a file belongs to, where that was not done since its last change, and returns these roots: those that are
// the file itself first.
func (w *workspace) fresh(name string) []*root {
	for _, n := range slices.Clone(w.dirty) {
		if r := w.roots[n]; n == name || r != nil && r.files[name] {
			w.dirty = slices.DeleteFunc(w.dirty, func(d string) bool { return d == n })
			w.compile(n)
		}
	}
	if w.rootsOf(name) == nil {
		for w.scanNext() {
			if w.rootsOf(name) != nil {
				break
			}
		}
	}
	return w.rootsOf(name)
}

// rootsOf are the roots that a file belongs to, itself first.
func (w *workspace) rootsOf(name string) []*root {
	var out []*root
	for _, r := range sortedRoots(w.roots) {
		if r.name == name {
			out = slices.Insert(out, 0, r)
		} else if r.files[name] {
			out = append(out, r)
		}
	}
	return out
}

func (w *workspace) inputs() Inputs {
	in := Inputs{Unsaved: map[string]string{}, Packages: w.packages, Later: true}
	for name, d := range w.docs {
		in.Unsaved[name] = d.text.s
	}
	return in
}

func (w *workspace) compile(name string) {
	old := w.roots[name]
	if old != nil {
		for _, d := range old.list {
			w.unpublished[fileOf(d, name)] = true
		}
	}
	w.unpublished[name] = true
	res := w.opts.Compile(name, w.inputs())
	r := &root{name: name, files: map[string]bool{name: true}, serves: map[string]bool{}}
	for _, f := range res.Files {
		r.files[nameOfFile(f)] = true
	}
	if !strings.HasSuffix(name, parser.WorkflowSuffix) && !w.all && slices.ContainsFunc(res.List, unknownLanguage) || !w.all && w.docs[name] == nil && !slices.Contains(res.Files, name) {
		delete(w.roots, name) // a YAML file of something else, or one that is gone
		return
	}
	loading := false
	for _, d := range res.List {
		if d.Message == bind.Loading {
			loading = true
			continue
		}
		r.list = append(r.list, d)
		w.unpublished[fileOf(d, name)] = true
	}
	if loading {
		w.pending[name] = true
	}
	r.golang = loading || old != nil && old.golang
	if res.Workflow != nil {
		r.index = index.Build(res.Workflow, res.Cases)
		for _, f := range res.Workflow.Includes {
			r.serves[f.Name] = true
		}
		for _, f := range res.Workflow.Flows {
			r.serves[f.File.Name] = true
		}
	} else if old != nil {
		r.index = old.index // the last good answers
		maps.Copy(r.files, old.files)
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(r.files)), func(f string) bool { return w.docs[f] != nil }) {
		r.result = res
		if res.Workflow == nil && old != nil && old.result != nil {
			res.Workflow = old.result.Workflow
		}
	}
	w.roots[name] = r
	if old == nil && len(r.serves) > 0 { // what it includes is seen through it
		maps.Copy(w.unpublished, r.serves)
	}
}

func unknownLanguage(d diag.Diagnostic) bool { return d.Code == diag.UnknownLanguage }

// served are the workflows that others include or run: their diagnostics are those of the others.
func (w *workspace) served() map[string]bool {
	serves := map[string]map[string]bool{}
	for _, r := range w.roots {
		serves[r.name] = r.serves
	}
	return Served(serves)
}

// Served are the files that are seen through others, by what each file includes or runs: those to which a file leads that no other one
// includes or runs. Files that include one another are seen by themselves, unless such a file leads to them.
func Served(serves map[string]map[string]bool) map[string]bool {
	named := map[string]bool{}
	for name, list := range serves {
		for f := range list {
			named[f] = named[f] || f != name
		}
	}
	out := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		for f := range serves[name] {
			if !out[f] && named[f] {
				out[f] = true
				walk(f)
			}
		}
	}
	for name := range serves {
		if !named[name] {
			walk(name)
		}
	}
	return out
}

// publishable are the diagnostics of the files whose diagnostics have changed, and of those that are open whose text has.
func (w *workspace) publishable() []publishParams {
	served := w.served()
	byFile := map[string][]diag.Diagnostic{}
	for _, r := range sortedRoots(w.roots) {
		if served[r.name] {
			continue
		}
		for _, d := range r.list {
			name := fileOf(d, r.name)
			if w.unpublished[name] && !slices.ContainsFunc(byFile[name], func(o diag.Diagnostic) bool { return sameMistake(d, o) }) {
				byFile[name] = append(byFile[name], d)
			}
		}
	}
	var out []publishParams
	for _, name := range slices.Sorted(maps.Keys(w.unpublished)) {
		p := publishParams{URI: w.uri(name), Diagnostics: []diagnostic{}}
		if d := w.docs[name]; d != nil {
			p.Version = &d.version
		} else if filepath.Ext(name) == ".go" {
			continue
		}
		sink := &diag.Sink{}
		for _, d := range byFile[name] {
			sink.Report(d)
		}
		for _, d := range sink.List() {
			if len(p.Diagnostics) < maxDiagnostics {
				p.Diagnostics = append(p.Diagnostics, w.diagnostic(d))
			}
		}
		before, known := w.published[p.URI]
		if known && reflect.DeepEqual(before, p) || !known && len(p.Diagnostics) == 0 && p.Version == nil {
			continue
		}
		w.published[p.URI] = p
		out = append(out, p)
	}
	clear(w.unpublished)
	return out
}

const maxDiagnostics = 500 // of a file

func sameMistake(a, b diag.Diagnostic) bool {
	return a.Code == b.Code && a.Message == b.Message && a.Severity == b.Severity && a.Span.Lo == b.Span.Lo && a.Span.Hi == b.Span.Hi
}

// fileOf is the file that a diagnostic is shown in: one without a place, in the workflow's own.
func fileOf(d diag.Diagnostic, name string) string {
	if d.Span.File == nil {
		return name
	}
	return nameOfFile(d.Span.File.Name)
}

func sortedRoots(m map[string]*root) []*root {
	return slices.SortedFunc(maps.Values(m), func(a, b *root) int { return cmp.Compare(a.name, b.name) })
}
