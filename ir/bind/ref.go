package bind

import (
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// use is what a reference is for.
type use uint8

const (
	useTool use = iota
	useCall
	useReducer
	useType
)

// A ref is one reference to Go in a workflow file.
type ref struct {
	id   ir.Ident
	file *source.File // relative paths start in its folder
	use  use
	fn   *ir.GoFunc // nil for types
	tool *ir.Tool   // of useTool
	typ  *ir.GoType // of useType

	text    string // as written, without a `go:` prefix
	path    string // as written: "example.com/t", "./tools"
	name    string // the function or type
	pattern string // what the go command is asked for
	owner   string // for "example.com/t.Type.Method": the pattern "example.com/t"; else ""
}

// collect finds the references of wf and everything below it, each once, in file order.
func collect(wf *ir.Workflow) []*ref {
	c := &collector{seen: map[any]bool{}}
	c.workflow(wf)
	return c.refs
}

type collector struct {
	seen map[any]bool
	refs []*ref
	file *source.File
}

func (c *collector) add(f *ref) {
	f.file = f.id.Span.File
	if f.file == nil {
		f.file = c.file
	}
	c.refs = append(c.refs, f)
}

func (c *collector) first(p any) bool {
	was := c.seen[p]
	c.seen[p] = true
	return !was
}

func (c *collector) workflow(wf *ir.Workflow) {
	if wf == nil || !c.first(wf) {
		return
	}
	outer := c.file
	c.file = wf.File
	defer func() { c.file = outer }()
	for _, t := range wf.GoTypes {
		if t.Type != nil && c.first(t) {
			c.add(&ref{id: t.Ref, use: useType, typ: t})
		}
	}
	for _, s := range wf.State {
		c.function(s.Merge.Reducer, useReducer, nil)
	}
	for _, t := range wf.Tools {
		if g, ok := t.Binding.(*ir.GoTool); ok {
			c.function(g.Func, useTool, t)
		}
	}
	c.body(&wf.Body)
	for _, sub := range wf.Flows {
		c.workflow(sub)
	}
}

func (c *collector) function(fn *ir.GoFunc, u use, t *ir.Tool) {
	if fn != nil && fn.Bind == nil && fn.Ref != (ir.Ident{}) && c.first(fn) { // a tool of the runtime is bound by the parser, and what is not text was reported there
		c.add(&ref{id: fn.Ref, use: u, fn: fn, tool: t})
	}
}

func (c *collector) body(b *ir.Body) {
	for _, n := range b.Nodes {
		if v, ok := n.Verb.(*ir.GoCall); ok {
			c.function(v.Func, useCall, nil)
		}
		if inside := ir.BodyOf(n.Verb); inside != nil {
			c.body(inside)
		}
	}
}

// at is the place of a part of the reference; the whole of it when the part does not be there verbatim.
func (f *ref) at(part string, fromEnd bool) source.Span {
	text := f.id.Span.Text()
	i := strings.Index(text, f.text)
	if i < 0 || part == "" {
		return f.id.Span
	}
	if fromEnd {
		i += len(f.text) - len(part)
	}
	return f.id.Span.Sub(i, i+len(part))
}

func (f *ref) nameSpan() source.Span { return f.at(f.name, true) }
func (f *ref) pathSpan() source.Span { return f.at(f.path, false) }
func (f *ref) span() source.Span     { return f.at(f.text, false) }

// verbatim reports whether the part's place holds the part and nothing else, so that an edit there is safe.
func verbatim(s source.Span, part string) bool { return part != "" && s.Text() == part }

// split takes the reference apart: the name follows the last dot after the last slash, so "gopkg.in/yaml.v3.Marshal" is
// Marshal of gopkg.in/yaml.v3. It reports what is not a reference.
func (r *resolver) split(f *ref) bool {
	f.text = strings.TrimPrefix(f.id.Name, "go:")
	slash := strings.LastIndexByte(f.text, '/')
	dot := strings.LastIndexByte(f.text[slash+1:], '.')
	what := "function"
	if f.use == useType {
		what = "type"
	}
	if dot < 0 || f.text[slash+1+dot:] == "." {
		return r.malformed(f, f.span(), "names no "+what)
	}
	dot += slash + 1
	f.path, f.name = f.text[:dot], f.text[dot+1:]
	if !token.IsIdentifier(f.name) {
		return r.malformed(f, f.nameSpan(), "ends in "+quote(f.name)+", which is not a Go name")
	}
	if rel, ok := relative(f.path); ok {
		if f.file == nil || f.file.Module == "" {
			return r.relative(f, rel)
		}
		if !r.ofModule(f, rel) {
			return false
		}
	}
	if f.pattern == "" && (!importPath(f.path) || reserved[f.path] || strings.HasSuffix(f.path, ".go")) {
		return r.malformed(f, f.pathSpan(), "starts with "+quote(f.path)+", which is not an import path")
	}
	if f.pattern == "" {
		f.pattern = f.path
	}
	last := lastElement(f.pattern)
	if i := strings.LastIndexByte(last, '.'); i >= 0 && token.IsExported(last[i+1:]) {
		f.owner = f.pattern[:len(f.pattern)-len(last)+i]
	}
	return true
}

// ofModule is the pattern of a folder relative to a file of a Go module: its import path.
func (r *resolver) ofModule(f *ref, rel string) bool {
	module, _, _ := strings.Cut(f.file.Module, "@")
	pattern := path.Join(module, path.Dir(strings.TrimPrefix(f.file.Name, f.file.Module+"/")), rel)
	if pattern != module && !strings.HasPrefix(pattern, module+"/") || !importPath(pattern) {
		return r.malformed(f, f.pathSpan(), "starts with "+quote(f.path)+", which is not a folder of its module")
	}
	f.pattern = pattern
	return true
}

// importPath reports whether p can be an import path, and not a flag, a query or a pattern of the go command. What it
// lets through that is none, the go command refuses.
func importPath(p string) bool {
	for elem := range strings.SplitSeq(p, "/") {
		if elem == "" || elem[0] == '-' || strings.HasSuffix(elem, ".") || strings.Contains(elem, "...") {
			return false
		}
		for _, r := range elem {
			if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._~+", r) {
				return false
			}
		}
	}
	return true
}

// reserved are patterns of the go command that look like import paths.
var reserved = map[string]bool{"all": true, "std": true, "cmd": true, "work": true, "tool": true, "C": true}

// quote shows what a file says inside a message: on one line, and not without end.
func quote(s string) string {
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return "`" + s + "`"
}

// relative reports whether p is a path relative to a folder, and cleans it. ".Func" and "./.Func" are the folder itself.
func relative(p string) (string, bool) {
	switch {
	case p == "" || p == "." || p == "..":
		return path.Clean(p), true
	case strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../"):
		return path.Clean(p), true
	}
	return "", false
}

// relative turns a path relative to the reference's own file into one relative to the workflow's folder, in which the
// go command runs.
func (r *resolver) relative(f *ref, rel string) bool {
	if strings.Contains(rel, "...") || strings.HasSuffix(rel, ".go") || strings.ContainsAny(rel, "\\\n\r\x00*?") {
		return r.malformed(f, f.pathSpan(), "starts with "+quote(f.path)+", which is not a folder of Go files")
	}
	if r.root == "" {
		r.fail(diag.Diagnostic{
			Code: diag.GoPackage, Span: f.pathSpan(),
			Message: quote(f.path) + " is a folder outside of any Go module",
			Help:    "run `go mod init` in the folder of the workflow, or above it",
		})
		return false
	}
	if last := path.Base(rel); last != ".." {
		if i := strings.LastIndexByte(last, '.'); i > 0 && token.IsExported(last[i+1:]) {
			f.owner = r.relPattern(f, rel[:len(rel)-len(last)+i])
		}
	}
	f.pattern = r.relPattern(f, rel)
	return true
}

func (r *resolver) relPattern(f *ref, rel string) string {
	dir := r.folderOf(f.file)
	to, err := filepath.Rel(r.opts.Dir, filepath.Join(dir, filepath.FromSlash(rel)))
	if err != nil {
		to = rel
	}
	to = filepath.ToSlash(to)
	if to == ".." || strings.HasPrefix(to, "../") {
		return to
	}
	return "./" + strings.TrimPrefix(to, "./")
}

// folderOf is the folder on disk of a workflow file. File names are relative to where the command runs, or absolute;
// what is known on disk is the folder of the root workflow.
func (r *resolver) folderOf(f *source.File) string {
	if f == nil || f == r.wf.File {
		return r.opts.Dir
	}
	dir := filepath.FromSlash(path.Dir(f.Name))
	if filepath.IsAbs(dir) {
		return dir
	}
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(r.wf.File.Name)), dir)
	if err != nil {
		return dir
	}
	return filepath.Join(r.opts.Dir, rel)
}

func (r *resolver) malformed(f *ref, span source.Span, what string) bool {
	r.fail(diag.Diagnostic{
		Code: diag.GoReference, Span: span,
		Message: "the Go reference " + quote(f.text) + " " + what,
		Help:    "write the import path, a dot and the name: example.com/app/tools.Search, or ./tools.Search for a folder next to this file",
	})
	return false
}
