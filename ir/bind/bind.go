// Package bind resolves the Go functions and types a workflow names. It asks go/packages for their export data, turns
// signatures and types into schema types, and takes descriptions from doc comments.
//
// A reference is "import/path.Func", or "./dir.Func" for a folder relative to the file that names it ("./.Func" for the
// folder itself). One Load call serves all references of a workflow and of its sub-workflows; when there is no
// reference, nothing is loaded. Only a named string type from a package that no reference names costs one more call, to
// see its constants.
//
// What a Go type is to a workflow, and what is refused because it would not survive the journal's encode and decode, is
// said at typ; the accepted signatures at signature.
package bind

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Options say where Go packages are looked for.
type Options struct {
	Dir     string            // folder of the workflow file, on disk; "" = the current one
	Overlay map[string][]byte // unsaved files by absolute name
	Env     []string          // environment of the go command; nil = this process's
	Tests   bool              // also see what _test.go files of the named packages declare
	Cache   *Cache            // what earlier calls loaded; nil = ask the go command
	Above   []string          // folders, absolute, whose modules the JavaScript tools of dialects may be, besides those next to the workflow
	Within  time.Duration     // how long a call of the go command may take, for tests; 0 = goTime
	Later   bool              // do not start the go command: what Cache does not have is reported as Loading
	Seen    func(name string) // called with the absolute name of each source of a tool in another language that was read or looked for
}

// Resolve fills every ir.GoFunc.Bind and ir.GoType.Type of wf and its sub-workflows, and the description, In and Out of
// tools that are Go functions or are written in another language. Declared `in:` and `out:` are narrowed Go types afterwards: the declared fields and
// constraints in the spelling of Go. Where a reference cannot be resolved, that is reported, Bind stays nil, and what
// the tool did not declare gets the poison type. Mistakes in Go types leave the poison type in their place.
//
// The packages' own code is not run. Resolve starts the go command; it is not safe for concurrent use on one workflow.
func Resolve(wf *ir.Workflow, opts Options, sink *diag.Sink) {
	newResolver(wf, opts, sink).run()
}

func newResolver(wf *ir.Workflow, opts Options, sink *diag.Sink) *resolver {
	if dir, err := filepath.Abs(opts.Dir); err == nil {
		opts.Dir = dir
	}
	l := &loader{opts: opts, byPattern: map[string]*packages.Package{}}
	return &resolver{
		loader:   l,
		wf:       wf,
		sink:     sink,
		files:    newGoFiles(l, path.Dir(wf.File.Name)),
		types:    map[string]*schema.Type{},
		reported: map[string]bool{},

		expanding: map[string]map[string]*expanding{},
	}
}

func (r *resolver) run() {
	r.golang()
	r.foreign()
}

func (r *resolver) golang() {
	refs := slices.DeleteFunc(collect(r.wf), r.bindKnown)
	if len(refs) == 0 {
		return
	}
	r.findModule()
	good := slices.DeleteFunc(slices.Clone(refs), func(f *ref) bool { return !r.split(f) || r.expands(f) })
	if r.load(good) {
		for _, f := range good {
			r.resolve(f)
		}
	}
	for _, f := range refs {
		f.poison()
	}
}

// A resolver is one call of Resolve.
type resolver struct {
	*loader
	wf       *ir.Workflow
	sink     *diag.Sink
	files    *goFiles
	types    map[string]*schema.Type // converted named types
	reported map[string]bool         // packages whose failure was reported

	expanding map[string]map[string]*expanding // see expander
}

func (r *resolver) resolve(f *ref) {
	pkg, ok := r.pkg(f)
	if !ok {
		return
	}
	if f.use == useType {
		r.resolveType(f, pkg)
		return
	}
	b := r.function(f, pkg)
	if b == nil {
		return
	}
	f.fn.Bind = b
	if f.use == useReducer && !b.Reducer {
		r.notReducer(f, b)
	}
	if f.tool != nil {
		r.fillTool(f, b)
	}
}

func (r *resolver) fillTool(f *ref, b *ir.GoBinding) {
	t := f.tool
	r.describeTool(f, b)
	if t.Description == "" {
		t.Description = b.Doc
	}
	if t.In == nil {
		t.In = b.In
	} else {
		t.In = r.agree(f, b, t.In, b.In, intoGo)
	}
	if t.Out == nil {
		t.Out = b.Out
	} else {
		t.Out = r.agree(f, b, t.Out, b.Out, fromGo)
	}
}

// resolveType completes the poison type the parser left in place, so that everything that points at it sees the type.
func (r *resolver) resolveType(f *ref, pkg *packages.Package) {
	t := r.namedType(f, pkg)
	if t == nil {
		return
	}
	decl, why := f.typ.Type.Decl, f.typ.Type.Why
	*f.typ.Type = *t
	f.typ.Type.Decl = decl
	if why != "" {
		f.typ.Type.Why = why
	}
}

// poison makes the rest of the compiler keep quiet about what could not be bound.
func (f *ref) poison() {
	if f.tool == nil || f.fn.Bind != nil {
		return
	}
	if f.tool.In == nil {
		f.tool.In = schema.InvalidType
	}
	if f.tool.Out == nil {
		f.tool.Out = schema.InvalidType
	}
}

// fail reports d without related places that are unknown.
func (r *resolver) fail(d diag.Diagnostic) {
	d.Related = slices.DeleteFunc(d.Related, func(rel diag.Related) bool { return rel.Span.IsZero() })
	if len(d.Related) == 0 {
		d.Related = nil
	}
	r.sink.Report(d)
}

// lastElement is the last element of an import path, as people say the package's name.
func lastElement(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
