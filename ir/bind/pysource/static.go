package pysource

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A Reader reads classes and decorated functions for the reader of a dialect. It implements ir.PythonReader, is not safe
// for concurrent use, and has to be closed. Python is started when something is read.
type Reader struct {
	r     *resolver
	tools map[string][]*ir.Tool // by folder
}

// NewReader is a reader of the files that opts say.
func NewReader(opts Options) *Reader {
	r := &resolver{opts: opts, sink: &diag.Sink{}, probes: map[string]*probe{}, failed: map[string]error{}, worlds: map[string]*world{}, names: map[string]bool{}}
	return &Reader{r: r, tools: map[string][]*ir.Tool{}}
}

// Close ends the interpreter, if there is one.
func (x *Reader) Close() { x.r.close() }

// Class implements ir.PythonReader.
func (x *Reader) Class(from *source.File, id ir.Ident) (c *ir.PythonClass, why string, absent bool) {
	c, sym, rd, why, absent := x.class(from, id)
	if c != nil && sym.stmt.Kind == "class" {
		rd.describeClass(sym, c)
	}
	return c, why, absent
}

// class finds a class; c is nil, with the reason, when it is not there.
func (x *Reader) class(from *source.File, id ir.Ident) (c *ir.PythonClass, sym symbol, rd *reader, why string, absent bool) {
	module, name, ok := strings.Cut(id.Name, ":")
	if !ok || module == "" || name == "" {
		return nil, sym, nil, "`" + id.Name + "` is not module:Class", false
	}
	b := &ir.PythonTool{Ref: id, Free: true}
	f := ref{&ir.Tool{File: from, Binding: b}, module, name, id.Span}
	w, root := x.r.free(f, b)
	if w == nil {
		return nil, sym, nil, "there is no Python to read it with", false
	}
	m, wrong := w.module(module)
	switch {
	case wrong != nil:
		return nil, sym, nil, "there is no Python module `" + module + "` beside the graph, in the working directory or among the installed packages", wrong.missing != nil && wrong.missing.part == 0
	case m.facts.Error != "":
		return nil, sym, nil, "module `" + module + "` cannot be read: " + m.facts.Error, false
	}
	sym, ok = w.resolve(m, name, 0)
	if !ok || sym.stmt == nil || sym.stmt.Kind != "class" && sym.stmt.Kind != "def" {
		return nil, sym, nil, "module `" + module + "` has no class `" + name + "`", false
	}
	rd = &reader{world: w, result: true}
	c = &ir.PythonClass{Def: &ir.Definition{Name: id.Name, Span: sym.stmt.At.in(sym.in.file.Source, sym.stmt.Name), Files: w.closure(module), Root: root}}
	return c, sym, rd, "", false
}

// describeClass reads the members and the method execute of a class and its bases.
func (r *reader) describeClass(sym symbol, c *ir.PythonClass) {
	c.Fields = &schema.Type{Kind: schema.Struct}
	bases := append([]symbol{sym}, r.ancestors(sym, 0)...)
	for _, b := range bases {
		if b.stmt == nil {
			module, _ := split(b.name)
			c.Unread = c.Unread || !known(module)
			continue
		}
		for _, m := range b.stmt.Methods {
			if m.Name == "execute" && c.Node == nil {
				c.Node = &ir.PythonUse{Reads: m.Reads, ReadsAll: m.All, Writes: m.Writes, WritesAny: m.Any, Async: m.Async, Span: m.At.in(b.in.file.Source, m.Name)}
			}
		}
	}
	for _, b := range slices.Backward(bases) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || strings.HasPrefix(p.Name, "_") || p.Name == "model_config" || r.classVariable(b.in, p.Type) {
				continue
			}
			f := &schema.Field{Name: p.Name, Type: r.annotation(b.in, p.Type, 0), Span: p.At.in(b.in.file.Source, p.Name)}
			text := r.initial(b.in, p, f.Type, 0)
			if text == "" && p.Default != nil && f.Type.Kind != schema.Opt { // only the class can make it
				f.Type, text = schema.OptOf(f.Type, "its class makes its default"), "null"
			}
			if text != "" {
				f.Default = &schema.Default{JSON: text, Span: f.Span}
			}
			put(c.Fields, f)
		}
	}
}

// initial is what a member begins with, as JSON: its default, or the zero value of its type. "" when there is none, and for
// defaults that only running the class can tell.
func (r *reader) initial(m *module, p *param, t *schema.Type, depth int) string {
	n := p.Default
	if n != nil && n.T == "call" && n.X != nil && (n.X.S == "Field" || n.X.S == "field") {
		made := word(n.K, "default_factory")
		switch given := word(n.K, "default"); {
		case given != nil:
			n = given
		case len(n.E) > 0:
			n = n.E[0]
		case made == nil:
			n = nil
		case made.T == "lambda":
			n = made.X
		default:
			n = &node{T: "call", X: made, At: made.At}
		}
	}
	if n != nil && n.T == "" && n.S == "..." {
		n = nil
	}
	text := ""
	switch {
	case n == nil && t.Kind == schema.Struct:
		text = r.empty(m, p.Type, depth)
	case n == nil:
		text = zero(t)
	case n.T == "call" && len(n.E)+len(n.K) == 0:
		text = r.called(m, n.X, t, depth)
	default:
		text = r.literalJSON(m, n, 0)
	}
	if text == "" || schema.CheckJSON([]byte(text), t) != "" {
		return ""
	}
	return text
}

// called is what a class gives that is called without arguments.
func (r *reader) called(m *module, n *node, t *schema.Type, depth int) string {
	switch sym := r.qualify(m, n, 0); {
	case sym.stmt != nil && depth < maxDepth:
		return r.empty(m, n, depth)
	case sym.name == "builtins.dict":
		return "{}"
	case sym.name == "builtins.list", sym.name == "builtins.set", sym.name == "builtins.tuple", sym.name == "builtins.frozenset":
		return "[]"
	case strings.HasPrefix(sym.name, "builtins."):
		return zero(t)
	}
	return ""
}

// literalJSON is a literal, a list of such, or a member of an Enum as JSON; "" for what has to be run.
func (r *reader) literalJSON(m *module, n *node, depth int) string {
	if n == nil || depth > maxDepth {
		return ""
	}
	switch n.T {
	case "none":
		return "null"
	case "list":
		var parts []string
		for _, e := range n.E {
			part := r.literalJSON(m, e, depth+1)
			if part == "" {
				return ""
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case "dict":
		var parts []string
		for _, k := range n.K {
			part := r.literalJSON(m, k.X, depth+1)
			if part == "" {
				return ""
			}
			key, _ := json.Marshal(k.Name) // text is always JSON
			parts = append(parts, string(key)+":"+part)
		}
		if strconv.Itoa(len(parts)) == n.S {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return ""
	case "attr":
		sym := r.qualify(m, n.X, 0)
		if sym.stmt == nil || sym.stmt.Kind != "class" {
			return ""
		}
		for _, p := range sym.stmt.Params {
			if p.Name == n.S && p.Default != nil {
				return constant(p.Default)
			}
		}
	}
	return constant(n)
}

// empty is an object of a class, each of whose members begins with something; "" for others.
func (r *reader) empty(m *module, annotation *node, depth int) string {
	if annotation != nil && annotation.T == "str" && annotation.X != nil {
		annotation = annotation.X
	}
	sym := r.qualify(m, annotation, 0)
	if sym.stmt == nil || sym.stmt.Kind != "class" {
		return ""
	}
	var parts []string
	for _, b := range slices.Backward(append([]symbol{sym}, r.ancestors(sym, 0)...)) {
		if b.stmt == nil {
			continue
		}
		for _, p := range b.stmt.Params {
			if p.Type == nil || strings.HasPrefix(p.Name, "_") || p.Name == "model_config" || r.classVariable(b.in, p.Type) {
				continue
			}
			text := r.initial(b.in, p, r.annotation(b.in, p.Type, 0), depth+1)
			if text == "" {
				return ""
			}
			parts = append(parts, strconv.Quote(p.Name)+":"+text)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// zero is the zero value of a type as JSON, as the engine fills fields that a run is not given; "" for types without.
func zero(t *schema.Type) string {
	switch t.Kind {
	case schema.String, schema.Bytes:
		return `""`
	case schema.Int, schema.Float:
		return "0"
	case schema.Bool:
		return "false"
	case schema.List:
		return "[]"
	case schema.Map:
		return "{}"
	case schema.Opt, schema.Any, schema.Null:
		return "null"
	}
	return ""
}

// Limits of the search for decorated functions.
const (
	maxModules = 400
	maxFolders = 200
)

// skipped are folders that hold no modules of a project.
var skipped = []string{"node_modules", "__pycache__", "tests", "test", "venv", "env", "dist", "build", "site-packages", "docs"}

// Tools implements ir.PythonReader.
func (x *Reader) Tools(from *source.File) []*ir.Tool {
	home := x.r.opts.Folder(from)
	if done, ok := x.tools[home.Disk]; ok {
		return done
	}
	x.tools[home.Disk] = nil
	best := map[string]*decorated{}
	var order []*decorated
	at := home
	for up := x.above(home); len(order) < maxModules; up-- {
		for _, top := range []foreign.Folder{at, at.Join("src")} {
			root, _ := filepath.Rel(home.Disk, top.Disk)
			if root == "." {
				root = ""
			}
			var names []string
			if !x.r.opts.Files.IsFile(top, "__init__.py") { // else they are imported from further up
				names = x.modules(top)
			}
			for _, name := range names {
				disk := filepath.Join(top.Disk, filepath.FromSlash(name))
				had := best[disk]
				if had != nil && had.unknown == 0 {
					continue
				}
				d := x.decorated(from, top, filepath.ToSlash(root), name)
				if had == nil {
					best[disk] = d
					order = append(order, d)
				} else if d.unknown < had.unknown {
					*had = *d
				}
			}
		}
		if up <= 0 {
			break
		}
		at = at.Join("..")
	}
	var out []*ir.Tool
	for _, d := range order {
		out = append(out, d.tools...)
	}
	x.tools[home.Disk] = out
	return out
}

// decorated are the tools of a module as it is found from one folder, where some of what it imports may not be found.
type decorated struct {
	tools   []*ir.Tool
	unknown int
}

// unknown is how many imports of a module lead nowhere. The engine's own have stand-ins.
func (w *world) unknown(m *module) int {
	n := 0
	for _, i := range m.facts.Imports {
		name := m.relative(i.Level, i.Module)
		if first, _, _ := strings.Cut(name, "."); name != "" && (known(name) || first == "stargraph" || first == "pydantic" || slices.Contains(w.probe.hello.Builtin, first)) {
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
// to the working directory. Without either it is none.
func (x *Reader) above(home foreign.Folder) int {
	cwd, _ := os.Getwd() // without one there is none to stop at
	at, working := home, 0
	for up := 0; up <= 5; up++ {
		if x.top(at) {
			return up
		}
		if at.Disk == cwd {
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

// modules are the Python files below a folder.
func (x *Reader) modules(at foreign.Folder) []string {
	var out []string
	folders := 0
	var visit func(rel string)
	visit = func(rel string) {
		if folders++; folders > maxFolders || strings.Count(rel, "/") > 4 {
			return
		}
		for _, n := range x.r.opts.Files.Names(at.Join(rel)) {
			name := n
			if rel != "" {
				name = rel + "/" + n
			}
			base, python := strings.CutSuffix(n, ".py")
			switch {
			case len(out) >= maxModules:
				return
			case python && identifier(base) && !strings.HasPrefix(base, "test_") && x.r.opts.Files.IsFile(at, name):
				out = append(out, name)
			case rel == "" && n == "src" && !x.r.opts.Files.IsFile(at, "src/__init__.py"): // a top of its own
			case identifier(n) && !strings.HasPrefix(n, ".") && !slices.Contains(skipped, n) && x.r.opts.Files.IsDir(at, name):
				visit(name)
			}
		}
	}
	visit("")
	return out
}

// decorated are the tools of one module.
func (x *Reader) decorated(from *source.File, at foreign.Folder, root, name string) *decorated {
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
	out := &decorated{unknown: w.unknown(m)}
	for _, s := range m.facts.Body {
		if s.Kind == "def" {
			if t := x.decoratedTool(from, w, m, s, module, root); t != nil {
				out.tools = append(out.tools, t)
			}
		}
	}
	return out
}

// decoratedTool is a function with a literal registry key; nil for others.
func (x *Reader) decoratedTool(from *source.File, w *world, m *module, s *statement, module, root string) *ir.Tool {
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
		t.Binding = &ir.PythonTool{Ref: ir.Ident{Name: module + ":" + s.Name, Span: span}, Free: true, Spare: true}
		sp.read()
		in, out, refused, _ := rd.signature(sym)
		if refused != "" {
			in, out = schema.AnyType, schema.AnyType
		}
		if t.Effects == ir.EffectsUnset {
			t.Effects = ir.EffectsExternal
		}
		t.EffectsSpan = span
		foreign.Fill(t, foreign.Signature{Name: module + ":" + s.Name, Span: span, In: in, Out: out, Open: s.Rest, Async: s.Async, Description: firstLine(s.Doc), Files: w.closure(module)}, &diag.Sink{})
		t.Def.Root = root
		return t
	}
	return nil
}
