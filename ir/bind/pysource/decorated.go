package pysource

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Limits of the search for decorated functions.
const (
	maxModules = 400
	maxFolders = 500
	maxBelow   = 8
	maxUp      = 5
)

// skipped are folders that hold no modules of a project.
var skipped = []string{"node_modules", "__pycache__", "tests", "test", "venv", "env", "dist", "build", "site-packages", "docs"}

// Tools implements ir.PythonReader.
func (x *Reader) Tools(from *source.File, spare *ir.PythonModules) (list []*ir.Tool, why string) {
	home := x.r.opts.Folder(from)
	if done, ok := x.tools[home.Disk]; ok {
		return done, x.unread
	}
	x.tools[home.Disk] = nil
	best := map[string]*decorated{} // by file
	var order []*decorated
	at := home
	for range x.above(home) + 1 {
		tops := []foreign.Folder{at}
		for i := 0; i < len(tops) && len(order) < maxModules; i++ {
			root, _ := filepath.Rel(home.Disk, tops[i].Disk)
			if root = filepath.ToSlash(root); root == "." {
				root = ""
			}
			names, more := x.modules(tops[i])
			for tops = append(tops, more...); len(names) > 0; names = names[1:] {
				disk := filepath.Join(tops[i].Disk, filepath.FromSlash(names[0]))
				had := best[disk]
				if had != nil && had.unknown == 0 {
					continue
				}
				d := x.decorated(from, tops[i], root, names[0], spare)
				if had == nil {
					best[disk] = d
					order = append(order, d)
				} else if d.unknown < had.unknown {
					*had = *d
				}
			}
		}
		at = at.Join("..")
	}
	for _, d := range order {
		list = append(list, d.tools...)
	}
	for _, err := range x.r.failed {
		x.unread = err.Error()
	}
	x.tools[home.Disk] = list
	return list, x.unread
}

// decorated are the tools of a module as it is found from one folder, where some of what it imports may not be found.
type decorated struct {
	tools   []*ir.Tool
	unknown int
}

// unknown is how many imports of a module lead nowhere. Some have stand-ins.
func (w *world) unknown(m *module, spare *ir.PythonModules) int {
	n := 0
	for _, i := range m.facts.Imports {
		name := m.relative(i.Level, i.Module)
		if first, _, _ := strings.Cut(name, "."); name != "" && (known(name) || first == spare.Package || known(first) || slices.Contains(w.probe.hello.Builtin, first)) {
			continue
		}
		if name == "" {
			n++
		} else if _, miss := w.find(name); miss != nil {
			n++
		}
	}
	return n
}

// above is how many folders above a graph belong to its project: up to a folder that says it is the top of one, or else up
// to the working directory. Without either it is none but the packages that the graph is in.
func (x *Reader) above(home foreign.Folder) int {
	cwd, _ := os.Getwd() // without one there is none to stop at
	at, working := home, 0
	for up := 0; up <= maxUp; up++ {
		if x.top(at) {
			return up
		}
		if x.r.opts.Files.IsFile(at, "__init__.py") && working >= up {
			working = up + 1
		} else if at.Disk == cwd {
			working = up
		}
		at = at.Join("..")
	}
	return working
}

// top reports whether a folder is the top of a project.
func (x *Reader) top(at foreign.Folder) bool {
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "go.mod", "flowgen.bindings.yaml"} {
		if x.r.opts.Files.IsFile(at, name) {
			return true
		}
	}
	return x.r.opts.Files.IsDir(at, ".git")
}

// modules are the Python files below a folder that modules are imported from, and the folders below it that are such
// themselves: src, and those whose names no package can have. A package is imported from further up.
func (x *Reader) modules(at foreign.Folder) (names []string, tops []foreign.Folder) {
	files, folders := x.r.opts.Files, 0
	if files.IsFile(at, "__init__.py") {
		return nil, nil
	}
	var visit func(rel string)
	visit = func(rel string) {
		if folders++; folders > maxFolders || strings.Count(rel, "/") > maxBelow {
			return
		}
		for _, e := range files.Entries(at.Join(rel)) {
			n, name := e.Name, path.Join(rel, e.Name)
			base, python := strings.CutSuffix(n, ".py")
			switch {
			case len(names) >= maxModules:
				return
			case python && identifier(base) && !strings.HasPrefix(base, "test_") && files.IsFile(at, name):
				names = append(names, name)
			case strings.HasPrefix(n, ".") || slices.Contains(skipped, n) || !e.Folder && !(e.Link && files.IsDir(at, name)):
			case !identifier(n) || rel == "" && n == "src" && !files.IsFile(at, "src/__init__.py"):
				tops = append(tops, at.Join(name))
			default:
				visit(name)
			}
		}
	}
	visit("")
	return names, tops
}

// decorated are the tools of one module.
func (x *Reader) decorated(from *source.File, at foreign.Folder, root, name string, spare *ir.PythonModules) *decorated {
	text, err := x.r.opts.Files.Read(at, name)
	if err != nil || !strings.Contains(text.Source.Text, "@") || !strings.Contains(text.Source.Text, "tool(") {
		return &decorated{}
	}
	module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__"), "/", ".")
	id := ir.Ident{Name: module + ":", Span: source.Span{File: from}}
	b := &ir.PythonTool{Ref: id}
	w := x.r.worldAt(at, ref{&ir.Tool{File: from, Binding: b}, module, "", id.Span}, b)
	if w == nil {
		return &decorated{}
	}
	m, wrong := w.module(module)
	if wrong != nil || m.facts.Error != "" {
		return &decorated{}
	}
	out := &decorated{unknown: w.unknown(m, spare)}
	for _, s := range m.facts.Body {
		if s.Kind == "def" {
			if t := x.decoratedTool(from, w, m, s, module, root, spare); t != nil {
				out.tools = append(out.tools, t)
			}
		}
	}
	return out
}

// decoratedTool is a function with a literal registry key; nil for others.
func (x *Reader) decoratedTool(from *source.File, w *world, m *module, s *statement, module, root string, spare *ir.PythonModules) *ir.Tool {
	sym := symbol{in: m, stmt: s}
	rd := &reader{world: w}
	for _, mark := range s.Marks {
		if mark == nil || mark.T != "call" || mark.X == nil || mark.X.S != "tool" {
			continue
		}
		quiet := &resolver{opts: x.r.opts, sink: &diag.Sink{}, names: map[string]bool{}}
		span := s.At.in(m.file.Source, s.Name)
		t := &ir.Tool{File: from, Span: span}
		sp := &spec{resolver: quiet, reader: rd, tool: t, ref: ref{t, module, s.Name, span}, in: m, words: mark.K}
		namespace, ok1 := sp.text("namespace")
		name, ok2 := sp.text("name")
		version, ok3 := sp.text("version")
		if !ok1 || !ok2 || !ok3 {
			return nil
		}
		t.Key = ir.Ident{Name: namespace + "." + name + "@" + version, Span: span}
		t.Name, t.Version = ir.Ident{Name: namespace + "." + name, Span: span}, version
		t.Binding = &ir.PythonTool{Ref: ir.Ident{Name: module + ":" + s.Name, Span: span}, Free: true, Spare: spare}
		sp.read()
		in, out, refused, _ := rd.signature(sym)
		if refused != "" {
			in, out = schema.AnyType, schema.AnyType
		}
		narrow(in, word(mark.K, "input_schema"))
		if t.Effects == ir.EffectsUnset {
			t.Effects = ir.EffectsExternal
		}
		t.EffectsSpan = span
		foreign.Fill(t, foreign.Signature{Name: module + ":" + s.Name, Span: span, In: in, Out: out, Open: s.Rest, Async: s.Async, Description: foreign.Summary(s.Doc), Files: w.closure(module)}, &diag.Sink{})
		t.Def.Root, t.Def.Wrong = root, sp.refused(span, spare)
		if said := sp.described(s.Doc); said != t.Description {
			t.Description, t.Def.Says = said, t.Description
		}
		return t
	}
	return nil
}

// described is the description as the decorator of an engine makes it: what it is given, as it is, or the first line of the
// docstring.
func (s *spec) described(doc string) string {
	if text, ok := s.text("description"); ok {
		return text
	}
	doc = strings.TrimSpace(doc)
	if i := strings.IndexAny(doc, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"); i >= 0 { // where str.splitlines ends lines
		return doc[:i]
	}
	return doc
}

// refused is what the decorator of an engine does not take, and Python raises for.
func (s *spec) refused(at source.Span, spare *ir.PythonModules) (list []diag.Related) {
	wrong := func(at source.Span, message string) { list = append(list, diag.Related{Span: at, Message: message}) }
	for _, k := range s.words {
		if !slices.Contains(spare.Decorator, k.Name) {
			place := at
			if k.X != nil {
				place = k.X.At.in(s.in.file.Source, "")
			}
			wrong(place, "the decorator has no keyword `"+k.Name+"`")
		}
	}
	words := strings.Join(spare.Effects, ", ")
	switch n := s.value("side_effects"); {
	case n == nil:
		wrong(at, "the decorator needs `side_effects`: "+words)
	case (n.T == "str" || n.T == "attr") && !slices.Contains(spare.Effects, n.S):
		wrong(n.At.in(s.in.file.Source, ""), "`"+n.S+"` is none of the words of `side_effects`: "+words)
	}
	return list
}
