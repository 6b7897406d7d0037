// Package jssource makes one module of a JavaScript or TypeScript file and all that it imports, checks its default
// export, and reads the types that TypeScript or a JSDoc comment gives it. It is the only importer of esbuild.
package jssource

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Options say where the sources of the tools are.
type Options struct {
	Files  *foreign.Files
	Folder func(*source.File) foreign.Folder // of a workflow file
	Home   string                            // folder on disk of the workflow that is compiled
}

// Resolve fills the JavaScript and TypeScript tools among tools. Nothing of the modules is run and nothing is fetched.
func Resolve(tools []*ir.Tool, opts Options, sink *diag.Sink) {
	r := &resolver{opts: opts, sink: sink, worlds: map[string]*world{}}
	for _, t := range tools {
		if b, ok := t.Binding.(*ir.JSTool); ok {
			r.tool(t, b)
		}
	}
}

type resolver struct {
	opts   Options
	sink   *diag.Sink
	worlds map[string]*world // by folder
}

func (r *resolver) tool(t *ir.Tool, b *ir.JSTool) {
	defer foreign.Poison(t)
	if b.Path.Name == "" {
		return // reported by the parser
	}
	home := r.opts.Folder(t.File)
	project := home.Above
	if !dynamic(t) {
		home.Above = nil // of the native language: modules stay inside of the folder
	}
	key := home.Disk + strings.Repeat("/", len(home.Above))
	w := r.worlds[key]
	if w == nil {
		w = &world{files: r.opts.Files, home: home, modules: map[string]*module{}, types: map[*decl]*named{}}
		r.worlds[key] = w
	}
	rel := path.Clean(filepath.ToSlash(b.Path.Name))
	f, err := w.files.Read(home, rel)
	if err != nil {
		r.unreadable(b, w, rel, err)
		return
	}
	in := newSources(w.files, home, project, r.places(t))
	made := makeBundle(in, rel, b.Engine == "embedded")
	if w.files.Seen != nil {
		for _, name := range in.seen {
			w.files.Seen(name)
		}
	}
	if len(made.errors) > 0 {
		r.broken(b, w, in, made.errors)
		return
	}
	m := w.module(rel)
	if m == nil {
		return
	}
	if !r.exports(b, m, made) || !r.engine(b, made) {
		return
	}
	b.Bundle = made.code
	fn := m.defaultExport(0)
	m.jsDoc(&fn)
	if fn.refused != "" && !(dynamic(t) && fn.callable) {
		r.report(diag.Diagnostic{Code: diag.SourceShape, Span: b.Path.Span, Message: "the default export of " + b.Path.Name + " cannot be a tool: " + fn.refused,
			Help: "export a function that takes one object", Related: []diag.Related{{Span: fn.span, Message: "it is exported here"}}})
		return
	}
	if dynamic(t) {
		t.Def = &ir.Definition{Name: b.Path.Name, Span: fn.span, Async: fn.async, Files: []ir.SourceFile{f.For(rel)}}
		return
	}
	foreign.Fill(t, foreign.Signature{
		Name: b.Path.Name, Span: fn.span, In: fn.in, Out: fn.out, Open: fn.open, Async: fn.async, Description: foreign.Summary(docText(fn.doc)),
		Files: []ir.SourceFile{f.For(rel)},
	}, r.sink)
}

// dynamic reports whether a tool is of a dialect with dynamic data: it takes and gives what it likes, and expects to run as
// its engine runs it.
func dynamic(t *ir.Tool) bool { return t.In != nil && t.In.Kind == schema.Any }

// places are those of the modules of tools that run where their engine runs them.
func (r *resolver) places(t *ir.Tool) *places {
	if !dynamic(t) {
		return nil
	}
	return newPlaces(realName(r.opts.Home))
}

// exports checks that there is a default export.
func (r *resolver) exports(b *ir.JSTool, m *module, made bundle) bool {
	if slices.Contains(made.exports, "default") {
		return true
	}
	d := diag.Diagnostic{Code: diag.SourceName, Span: b.Path.Span, Message: b.Path.Name + " has no default export", Help: "write `export default function` in it"}
	if n := len(made.exports); n > 0 {
		names := slices.Clone(made.exports[:min(n, 5)])
		d.Message += "; it exports " + strings.Join(names, ", ")
		if decl := m.exported(names[0], 0); decl != nil {
			d.Related = []diag.Related{{Span: decl.in.span(decl.name), Message: names[0] + " is defined here"}}
		}
	}
	r.report(d)
	return false
}

// engine checks that a module for the embedded engine needs nothing of Node.
func (r *resolver) engine(b *ir.JSTool, made bundle) bool {
	if b.Engine != "embedded" || len(made.builtins) == 0 {
		return true
	}
	r.report(diag.Diagnostic{Code: diag.EngineUnfit, Span: b.Path.Span, Message: b.Path.Name + " imports " + strings.Join(made.builtins, ", ") + ", which only Node has",
		Help: "leave out `engine: embedded`, or the import"})
	return false
}

func (r *resolver) unreadable(b *ir.JSTool, w *world, rel string, err error) {
	d := foreign.Unreadable(b.Path.Span, b.Path.Name, err)
	if errors.Is(err, foreign.ErrOutside) && len(w.home.Above) > 0 {
		d.Help = "run flowgen in a folder that holds both the workflow and the module"
	}
	if dir := path.Dir(rel); !errors.Is(err, foreign.ErrOutside) {
		var names []string
		for _, n := range w.files.Names(w.home.Join(dir)) {
			if end := path.Ext(n); end == ".ts" || end == ".js" || end == ".mjs" || end == ".cjs" {
				names = append(names, n)
			}
		}
		if near := diag.Nearest(path.Base(rel), names); near != "" && diag.Close(path.Base(rel), near) {
			if near = path.Join(dir, near); !strings.HasPrefix(near, "../") {
				near = "./" + near
			}
			d.Help = "replace with `" + near + "`"
			if d.Span.Text() == b.Path.Name {
				d.Fixes = []diag.Fix{diag.Replace(d.Span, near)}
			}
		}
	}
	r.report(d)
}

// broken reports the first error of esbuild with its place.
func (r *resolver) broken(b *ir.JSTool, w *world, in *sources, errs []api.Message) {
	e := errs[0]
	d := foreign.CannotRead(diag.SourceSyntax, b.Path.Span, b.Path.Name, lower(strings.ReplaceAll(e.Text, space+":", "")))
	if at := e.Location; at != nil {
		name := in.given[strings.TrimPrefix(at.File, space+":")]
		if rel, err := filepath.Rel(in.real, name); err == nil && name != "" {
			if f, err := w.files.Read(w.home, filepath.ToSlash(rel)); err == nil {
				lo := min(f.Source.Offset(at.Line, 1)+at.Column, len(f.Source.Text))
				d.Related = []diag.Related{{Span: source.Span{File: f.Source, Lo: lo, Hi: min(lo+max(at.Length, 1), len(f.Source.Text))}, Message: "here"}}
			}
		}
	}
	r.report(d)
}

func lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func (r *resolver) report(d diag.Diagnostic) {
	d.Related = slices.DeleteFunc(d.Related, func(rel diag.Related) bool { return rel.Span.IsZero() })
	if len(d.Related) == 0 {
		d.Related = nil
	}
	r.sink.Report(d)
}
