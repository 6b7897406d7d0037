package pysource

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// untyped finds the function of a tool that takes and gives what it likes: one of a dialect with dynamic data. What cannot
// be found now is looked for when the workflow runs, as the dialect's engine does.
func (r *resolver) untyped(t *ir.Tool, b *ir.PythonTool, f ref) {
	w, root := r.free(f, b)
	if w == nil {
		return
	}
	warn := func(message string) {
		r.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Interpreter, Span: f.span, Message: message, Help: "it is looked for when the workflow runs"})
	}
	m, wrong := w.module(f.module)
	if wrong != nil {
		if !wrong.compiled && f.module != "os.path" { // what is compiled cannot be read, and os.path is made when os is imported
			warn("module `" + f.module + "` is not found here")
		}
		return
	}
	if at, bad := m.syntaxError(); bad {
		r.unparsed(f, m, at)
		return
	}
	sym, ok := w.resolve(m, f.function, 0)
	if !ok {
		warn("module `" + f.module + "` has no function `" + f.function + "`")
	}
	t.Def = &ir.Definition{Name: b.Ref.Name, Files: w.closure(f.module), Root: root}
	if ok && sym.stmt != nil {
		t.Def.Span, t.Def.Async = sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name), sym.stmt.Async
		if sym.stmt.Kind == "def" && b.Free {
			t.Def.In = parameters(sym)
		}
	}
	if first := sym.stmt; ok && first != nil && t.Description == "" {
		t.Description = foreign.Summary(first.Doc)
	}
}

// parameters are those of a function, without their types; nil when it takes any number of them.
func parameters(sym symbol) *schema.Type {
	in := &schema.Type{Kind: schema.Struct}
	for _, p := range sym.stmt.Params {
		if p.Kind == "positional" {
			return nil
		}
		f := &schema.Field{Name: p.Name, Span: p.At.in(sym.in.file.Source, p.Name), Type: schema.AnyType}
		if p.Default != nil {
			f.Type, f.Omit = schema.OptOf(schema.AnyType, "it has a default"), true
		}
		in.Fields = append(in.Fields, f)
	}
	if len(in.Fields) == 0 {
		return nil
	}
	return in
}

// maxAbove is how many folders above the workflow file are looked at.
const maxAbove = 8

// free is where the module of a tool is looked for. A tool that is bound to its file's folder stays there; another is
// found in the working directory, next to the file or above it, whichever has the module first, as the engine has it that
// begins with its working directory. root is the folder of the module, relative to the file's.
func (r *resolver) free(f ref, b *ir.PythonTool) (w *world, root string) {
	home := r.opts.Folder(f.tool.File)
	if !b.Free {
		return r.world(f, b), ""
	}
	if b.Home != "" {
		return r.worldAt(home.Join(b.Home), f, b), b.Home
	}
	for _, folder := range r.withModule(home, f.module) {
		w := r.worldAt(folder, f, b)
		if w == nil {
			return nil, ""
		}
		if m, wrong := w.module(f.module); wrong == nil && m.found.place.local {
			if rel, err := filepath.Rel(home.Disk, folder.Disk); err == nil && rel != "." {
				root = filepath.ToSlash(rel)
			}
			return w, root
		}
	}
	return r.world(f, b), ""
}

// withModule are the folders around a workflow that have the outermost package of a module, in the order in which they count.
func (r *resolver) withModule(home foreign.Folder, module string) []foreign.Folder {
	var folders []foreign.Folder
	if cwd, err := os.Getwd(); err == nil {
		folders = append(folders, foreign.Folder{Disk: cwd, Typed: "."})
	}
	folders = append(folders, home)
	for at := home; len(folders) < maxAbove; folders = append(folders, at) {
		if at = at.Join(".."); at.Disk == filepath.Dir(at.Disk) {
			break
		}
	}
	first, _, _ := strings.Cut(module, ".")
	for _, folder := range slices.Clone(folders) { // projects with their packages below src
		folders = append(folders, folder.Join("src"))
	}
	return slices.DeleteFunc(folders, func(folder foreign.Folder) bool {
		return !r.opts.Files.IsFile(folder, first+".py") && !r.opts.Files.IsDir(folder, first)
	})
}
