// Package pysource reads the signatures of Python functions out of their source, without running it: it finds the module
// as Python's import would, has Python's own parser describe it, and turns annotations into types.
package pysource

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/internal/programs"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the sources of the tools are.
type Options struct {
	Files    *foreign.Files
	Folder   func(*source.File) foreign.Folder // of a workflow file
	Provided *ir.Provided                      // nil: nothing
}

// Resolve fills the Python tools among tools. It runs the user's own Python, at most once, to parse; nothing of the modules
// themselves is run, and nothing of the environments that tools name. An interpreter that was started before in the same way
// is asked again.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink, probes: map[string]*probe{}, failed: map[string]error{}, worlds: map[string]*world{}, names: map[string]bool{}}
	defer r.close()
	for _, t := range tools {
		r.names[t.FullName()] = true
	}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.PythonTool); ok && t.Def == nil { // else its dialect has read it
			r.tool(t, b)
		}
	}
}

type resolver struct {
	opts   Options
	sink   *diag.Sink
	probes map[string]*probe // by the name of the interpreter
	failed map[string]error
	worlds map[string]*world // by folder and virtual environment
	names  map[string]bool   // name@version of all tools
}

func (r *resolver) close() {
	for _, p := range r.probes {
		p.release()
	}
}

// A ref is `module:function` with its places.
type ref struct {
	tool             *ir.Tool
	module, function string
	span             source.Span
}

func newRef(t *ir.Tool, b *ir.PythonTool) (ref, bool) {
	module, function, ok := strings.Cut(b.Ref.Name, ":")
	return ref{t, module, function, b.Ref.Span}, ok && module != "" && function != ""
}

// at is the place of a part of the reference; the whole of it when it does not be there verbatim.
func (f ref) at(part string, fromEnd bool) source.Span {
	whole := f.module + ":" + f.function
	i := strings.Index(f.span.Text(), whole)
	if i < 0 {
		return f.span
	}
	if fromEnd {
		i += len(whole) - len(part)
	}
	return f.span.Sub(i, i+len(part))
}

func (r *resolver) tool(t *ir.Tool, b *ir.PythonTool) {
	f, ok := newRef(t, b)
	if !ok {
		foreign.Poison(t) // reported by the parser
		return
	}
	if t.In != nil && t.In.Kind == schema.Any && b.Free {
		r.untyped(t, b, f)
		return
	}
	w := r.world(f, b)
	if w == nil {
		if t.In != nil && t.Out != nil {
			foreign.Fill(t, foreign.Signature{Name: b.Ref.Name}, r.sink)
		}
		foreign.Poison(t)
		return
	}
	sym, ok := r.find(w, f)
	if !ok {
		foreign.Poison(t)
		return
	}
	rd := &reader{world: w}
	in, out, refused, at := rd.signature(sym)
	span := sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name)
	if refused != "" {
		where := span
		if at != nil {
			where = at.At.in(sym.in.file.Source, at.Name)
		}
		r.report(foreign.Refused(f.at(f.function, true), b.Ref.Name, refused, "write a small function around it", where, "it is defined here"))
		foreign.Poison(t)
		return
	}
	r.describe(rd, t, f, sym)
	if r.opts.Provided != nil && b.Spare == nil {
		for _, m := range r.opts.Provided.Modules {
			if w.imports(f.module, m.Package) {
				b.Spare = m
				break
			}
		}
	}
	if t.In != nil && t.In.Kind == schema.Any {
		if !sym.stmt.Rest {
			r.report(foreign.Refused(f.at(f.function, true), b.Ref.Name, "names its parameters, and `in: any` is for one with `**kwargs`", "leave out `in`", span, "it is defined here"))
		}
		if t.Out == nil {
			t.Out = schema.AnyType
		}
		t.Def = &ir.Definition{Name: b.Ref.Name, Span: span, In: in, Async: sym.stmt.Async, Files: w.closure(f.module)}
		return
	}
	foreign.Fill(t, foreign.Signature{
		Name: b.Ref.Name, Span: span, In: in, Out: out, Open: sym.stmt.Rest, Async: sym.stmt.Async,
		Description: foreign.Summary(sym.stmt.Doc), Files: w.closure(f.module),
	}, r.sink)
}

// world is where the tool's module is looked for; nil when Python is not installed, which was reported.
func (r *resolver) world(f ref, b *ir.PythonTool) *world {
	return r.worldAt(r.opts.Folder(f.tool.File), f, b)
}

func (r *resolver) worldAt(home foreign.Folder, f ref, b *ir.PythonTool) *world {
	key := home.Disk + "\x00" + b.Venv.Name
	if w := r.worlds[key]; w != nil {
		return w
	}
	venv, ok := r.venv(home, b)
	if !ok {
		return nil
	}
	p, err := r.python(home.Disk)
	if err != nil {
		r.noPython(f, err)
		return nil
	}
	w := newWorld(r.opts.Files, p, home, venv)
	r.worlds[key] = w
	return w
}

// python is the interpreter that parses what belongs to a folder. It is the user's own whatever environment a tool runs in:
// that of the tool may have come with the tool.
func (r *resolver) python(dir string) (*probe, error) {
	exe, err := interpreter(programs.Strangers(dir))
	if err != nil {
		r.failed[""] = err
		return nil, err
	}
	if r.probes[exe] == nil && r.failed[exe] == nil {
		if r.probes[exe], err = startProbe(exe, programs.Strangers(dir)); err != nil {
			r.failed[exe] = err
			delete(r.probes, exe)
		}
	}
	return r.probes[exe], r.failed[exe]
}

// noPython reports that the source cannot be read: a warning when the declaration says all there is to know.
func (r *resolver) noPython(f ref, err error) {
	d := unchecked(f, err.Error())
	if f.tool.In != nil && f.tool.Out != nil {
		d.Severity = diag.Warning
		d.Help = "install Python, so that a mistake shows before the workflow runs"
	} else {
		d.Message = fmt.Sprintf("the source of %s cannot be read: %s", f.module+":"+f.function, err)
		d.Help = "install Python, or declare `in:` and `out:`"
	}
	r.report(d)
}

// unchecked is a tool of which no source is known.
func unchecked(f ref, why string) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.Interpreter, Span: f.span, Message: f.module + ":" + f.function + " is not checked against its source: " + why}
}

// unparsed reports a module that is not Python.
func (r *resolver) unparsed(f ref, m *module, at source.Span) {
	r.report(diag.Diagnostic{Code: diag.SourceSyntax, Span: f.at(f.module, false), Message: "module `" + f.module + "` cannot be read: " + m.facts.Error,
		Related: []diag.Related{{Span: at, Message: "here"}}})
}

// find is the function that a reference names.
func (r *resolver) find(w *world, f ref) (symbol, bool) {
	m, wrong := w.module(f.module)
	if wrong != nil {
		r.wrongModule(w, f, wrong)
		return symbol{}, false
	}
	if at, bad := m.syntaxError(); bad {
		r.unparsed(f, m, at)
		return symbol{}, false
	}
	sym, ok := w.resolve(m, f.function, 0)
	if ok && sym.stmt != nil && sym.stmt.Kind == "def" {
		return sym, true
	}
	d := diag.Diagnostic{Code: diag.SourceName, Span: f.at(f.function, true), Message: "module `" + f.module + "` has no function `" + f.function + "`"}
	switch {
	case !ok:
		suggest(&d, f.function, functions(m))
	case sym.stmt == nil && r.declared(f, "it comes from "+sym.name+", whose source cannot be read"):
		return symbol{}, false
	case sym.stmt == nil:
		d.Message = "`" + f.function + "` of module `" + f.module + "` comes from `" + sym.name + "`, whose source cannot be read"
		d.Help = "declare `in:` and `out:`"
	case sym.stmt.Kind == "class":
		d.Message = "`" + f.function + "` of module `" + f.module + "` is a class, not a function"
		d.Help = "write a function that makes one and returns what the workflow needs"
	default:
		if r.declared(f, "what it is, only running the module would say") {
			return symbol{}, false
		}
		d.Message = "what `" + f.function + "` of module `" + f.module + "` is, only running it would say"
		d.Help = "define it with `def`, or declare `in:` and `out:`"
	}
	if ok && sym.stmt != nil {
		d.Related = []diag.Related{{Span: sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name), Message: "it is defined here"}}
	}
	r.report(d)
	return symbol{}, false
}

// declared warns that a tool whose types are all declared could not be checked against its source; false when they are
// not.
func (r *resolver) declared(f ref, why string) bool {
	t := f.tool
	if t.In == nil || t.Out == nil {
		return false
	}
	name := f.module + ":" + f.function
	d := unchecked(f, why)
	d.Severity = diag.Warning
	r.report(d)
	foreign.Fill(t, foreign.Signature{Name: name}, r.sink)
	return true
}

// functions are the names in a module that may be functions.
func functions(m *module) []string {
	var names []string
	for _, s := range m.facts.Body {
		if (s.Kind == "def" || s.Kind == "from") && s.Member != "*" && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func suggest(d *diag.Diagnostic, name string, candidates []string) {
	near := diag.Nearest(name, candidates)
	switch {
	case near == "":
	case d.Span.Text() == name:
		d.Fixes = []diag.Fix{diag.Replace(d.Span, near)}
		d.Help = d.Fixes[0].Title
	default:
		d.Help = "replace with `" + near + "`"
	}
}

func (r *resolver) wrongModule(w *world, f ref, p *problem) {
	d := diag.Diagnostic{Code: diag.SourceMissing, Span: f.at(f.module, false)}
	switch {
	case p.compiled && r.declared(f, "the module is not written in Python"):
		return
	case p.compiled:
		d.Code = diag.SourceSyntax
		d.Message = "module `" + f.module + "` is not written in Python, so the input of " + f.function + " is unknown"
		d.Help = "declare `in:` and `out:`"
	case p.empty:
		d.Message = "`" + f.module + "` is a folder without __init__.py, which has no functions"
	case p.reading != "":
		d.Code = diag.SourceSyntax
		d.Message = "module `" + f.module + "` cannot be read: " + p.reading
	default:
		r.noModule(&d, w, f, p.missing)
	}
	r.report(d)
}

// noModule says which part of a dotted name is not there.
func (r *resolver) noModule(d *diag.Diagnostic, w *world, f ref, miss *missing) {
	parts := strings.Split(f.module, ".")
	before, part := strings.Join(parts[:miss.part], "."), parts[miss.part]
	d.Message = "cannot find Python module `" + f.module + "`"
	switch {
	case before != "" && miss.in == nil:
		d.Message += ": `" + before + "` is a module, not a package"
	case before != "":
		d.Message += ": package `" + before + "` has no `" + part + "`"
	default:
		d.Help = "it is looked for in the folder of this file, in PYTHONPATH, among the installed packages and in Python's library"
	}
	if near := diag.Nearest(part, w.modulesIn(miss.in)); near != "" && diag.Close(part, near) {
		parts[miss.part] = near
		whole := strings.Join(parts, ".")
		d.Help = "replace with `" + whole + "`"
		if d.Span.Text() == f.module {
			d.Fixes = []diag.Fix{diag.Replace(d.Span, whole)}
		}
	}
}

func (r *resolver) report(d diag.Diagnostic) { r.sink.Report(d) }

// closure is the module and what it imports, directly or not, as far as it is in the workflow's folder.
func (w *world) closure(name string) []ir.SourceFile {
	var out []ir.SourceFile
	w.each(name, func(m *module) { out = append(out, m.file.For(m.found.rel)) })
	slices.SortFunc(out, func(a, b ir.SourceFile) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// imports reports whether a module or what it imports of the workflow's folder imports a package.
func (w *world) imports(name, pkg string) bool {
	found := false
	w.each(name, func(m *module) {
		found = found || slices.ContainsFunc(m.facts.Imports, func(i imported) bool {
			first, _, _ := strings.Cut(i.Module, ".")
			return i.Level == 0 && first == pkg
		})
	})
	return found
}

// each visits a module and what it imports, directly or not, as far as it is in the workflow's folder.
func (w *world) each(name string, f func(*module)) {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if name == "" || seen[name] || len(seen) > maxClosure {
			return
		}
		seen[name] = true
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			visit(name[:i]) // a package comes before what is in it
		}
		first, _, _ := strings.Cut(name, ".")
		if !seen[first] || w.foreign(first) {
			return
		}
		m, wrong := w.module(name)
		if wrong != nil || !m.found.place.local {
			return
		}
		f(m)
		for _, i := range m.facts.Imports {
			from := m.relative(i.Level, i.Module)
			visit(from)
			for _, n := range i.Names {
				if from != "" && identifier(n) {
					visit(from + "." + n)
				}
			}
		}
	}
	visit(name)
}

// maxClosure is how many modules are followed.
const maxClosure = 5000

// foreign tells modules that are not in the workflow's folder, without reading them.
func (w *world) foreign(first string) bool {
	local, done := w.local[first]
	if !done {
		f := w.findIn([]dir{{place: w.places[0]}}, first)
		local = f != nil
		w.local[first] = local
	}
	return !local
}

// venv is the virtual environment of a tool: the one it names, or the one that is active. ok is false when the one it
// names is not there, which was reported.
func (r *resolver) venv(home foreign.Folder, b *ir.PythonTool) (venv *foreign.Folder, ok bool) {
	if b.Venv.Name == "" {
		return activeVenv(home.Disk), true
	}
	if !filepath.IsLocal(filepath.FromSlash(b.Venv.Name)) {
		r.report(diag.Diagnostic{Code: diag.SourceMissing, Span: b.Venv.Span, Message: "`" + b.Venv.Name + "` is outside the folder of this file"})
		return nil, false
	}
	dir := home.Join(path.Clean(b.Venv.Name))
	dir.Root = home.Disk // links of the environment stay there
	if !r.opts.Files.IsFile(dir, "pyvenv.cfg") {
		r.report(diag.Diagnostic{Code: diag.SourceMissing, Span: b.Venv.Span, Message: "no virtual environment in `" + b.Venv.Name + "`",
			Help: "make it with `python3 -m venv " + dir.Typed + "`"})
		return nil, false
	}
	return &dir, true
}
