package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	goparser "go/parser"
	gotoken "go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// A wanted function is one of Go that a workflow names and that its package does not have.
type wanted struct {
	folder, name string // as the workflow says: "./tools", "Search"
	use          string // what it is for
	in           []*schema.Field
	out          *schema.Type // nil: not known
}

// stub offers to write the Go function that a diagnostic says is missing, with the types that the workflow calls it with.
func (s *server) stub(c cursor, r *root, x diag.Diagnostic) []refactoring {
	w := wantedAt(r.result.Workflow, x)
	if w == nil {
		return nil
	}
	return []refactoring{{root: r, title: "write the Go function " + w.name, kind: kindFix, reload: true, change: func() ([]Rewrite, error) { return s.write(c, w) }}}
}

// wantedAt is the function of the reference that a diagnostic is under; nil when it is none of a folder.
func wantedAt(wf *ir.Workflow, x diag.Diagnostic) *wanted {
	find := func(f *ir.GoFunc) *wanted {
		if f == nil || f.Bind != nil || f.Ref.Span.File != x.Span.File || x.Span.Lo < f.Ref.Span.Lo || f.Ref.Span.Hi < x.Span.Hi {
			return nil
		}
		ref := strings.TrimPrefix(f.Ref.Name, "go:")
		dot := strings.LastIndexByte(ref, '.')
		if dot <= strings.LastIndexByte(ref, '/') || dot < 0 || !gotoken.IsExported(ref[dot+1:]) || !gotoken.IsIdentifier(ref[dot+1:]) {
			return nil
		}
		w := &wanted{folder: ref[:dot], name: ref[dot+1:]}
		if w.folder != "" && w.folder != "." && !strings.HasPrefix(w.folder, "./") && !strings.HasPrefix(w.folder, "../") {
			return nil // of another module, perhaps
		}
		return w
	}
	for _, t := range wf.Tools {
		g, ok := t.Binding.(*ir.GoTool)
		if !ok {
			continue
		}
		w := find(g.Func)
		if w == nil {
			continue
		}
		w.use = "the tool " + cmp.Or(t.Key.Name, t.Name.Name)
		if t.In != nil && t.In.Kind == schema.Struct {
			w.in = t.In.Fields
		} else {
			w.in = told(&wf.Body, func(n *ir.Node) *ir.With {
				if call, ok := n.Verb.(*ir.ToolCall); ok && call.Tool == t {
					return call.With
				}
				return nil
			})
		}
		if t.Out != nil && t.Out.Kind != schema.Invalid {
			w.out = t.Out
		}
		return w
	}
	var found *wanted
	eachNode(&wf.Body, func(n *ir.Node) {
		g, ok := n.Verb.(*ir.GoCall)
		if !ok || found != nil {
			return
		}
		if found = find(g.Func); found != nil {
			found.use = "the node " + n.ID.Name
			found.in = fieldsGiven(g.With)
		}
	})
	return found
}

func eachNode(b *ir.Body, visit func(*ir.Node)) {
	for _, n := range b.Nodes {
		visit(n)
		if body := ir.BodyOf(n.Verb); body != nil {
			eachNode(body, visit)
		}
	}
}

// told are the fields that the first call gives which gives any.
func told(b *ir.Body, with func(*ir.Node) *ir.With) (out []*schema.Field) {
	eachNode(b, func(n *ir.Node) {
		if out == nil {
			out = fieldsGiven(with(n))
		}
	})
	return out
}

func fieldsGiven(w *ir.With) (out []*schema.Field) {
	if w == nil {
		return nil
	}
	for _, e := range w.Entries {
		out = append(out, &schema.Field{Name: e.Key.Name, Type: typeGiven(e.Value)})
	}
	return out
}

// typeGiven is the type of a value that a call is given.
func typeGiven(v ir.Value) *schema.Type {
	switch v := v.(type) {
	case *ir.Expr:
		if v.Node != nil && v.Node.Type != nil && v.Node.Type.Kind != schema.Invalid {
			return v.Node.Type
		}
	case *ir.Template:
		return schema.StringType
	case *ir.Scalar:
		switch v.Tag {
		case "!!int":
			return schema.IntType
		case "!!float":
			return schema.FloatType
		case "!!bool":
			return schema.BoolType
		case "!!str":
			return schema.StringType
		}
	}
	return schema.AnyType
}

// write is the new file with the function, in the folder of its package.
func (s *server) write(c cursor, w *wanted) ([]Rewrite, error) {
	folder := path.Join(path.Dir(c.name), w.folder)
	p := goPrinter{imports: map[string]bool{"errors": true, "context": true}, types: map[string]bool{}}
	pkg := ""
	sources := s.sources(c, folder, ".go")
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, _ := goparser.ParseFile(gotoken.NewFileSet(), name, sources[name], goparser.SkipObjectResolution)
		if f == nil || f.Name == nil {
			continue
		}
		pkg = f.Name.Name
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						p.types[t.Name.Name] = true
					}
				}
			}
		}
	}
	if pkg == "" {
		if pkg = goname.Package(path.Base(folder)); folder == path.Dir(c.name) || pkg == "" {
			return nil, errors.New("no Go file in " + folder + " says the name of its package")
		}
	}
	file := path.Join(folder, strings.ToLower(w.name)+".go")
	if sources[file] != "" || strings.HasSuffix(file, "_test.go") {
		file = path.Join(folder, strings.ToLower(w.name)+"_tool.go")
	}
	text, err := p.function(pkg, path.Base(c.name), w)
	return []Rewrite{{File: file, New: text, Create: true}}, err
}

// A goPrinter writes types of flowgen in Go.
type goPrinter struct {
	imports map[string]bool
	types   map[string]bool // names that the package has
	decls   []string
}

// mostParams is how many fields are parameters of their own. More are a struct.
const mostParams = 4

func (p *goPrinter) function(pkg, flow string, w *wanted) (string, error) {
	params := []string{"ctx context.Context"}
	structured := len(w.in) > mostParams || len(w.in) == 1 && w.in[0].Type.Present().Kind == schema.Struct
	for _, f := range w.in {
		if f.Default != nil || f.Type.Kind == schema.Opt || !gotoken.IsIdentifier(f.Name) || f.Name == "ctx" || f.Name == "_" || f.Name == "out" {
			structured = true
		}
	}
	if structured {
		params = append(params, "in "+p.declare(w.name+"In", w.in))
	} else {
		for _, f := range w.in {
			params = append(params, f.Name+" "+p.typ(f.Type, w.name+goname.Exported(f.Name)))
		}
	}
	out := w.out
	if out == nil {
		out = schema.AnyType
	}
	result := ""
	if out.Kind != schema.Struct || len(out.Fields) > 0 {
		result = p.typ(out, w.name+"Out")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n", pkg)
	for _, i := range slices.Sorted(maps.Keys(p.imports)) {
		if !strings.Contains(i, ".") {
			fmt.Fprintf(&b, "\t%q\n", i)
		}
	}
	if p.imports[valuePath] {
		fmt.Fprintf(&b, "\n\t%q\n", valuePath)
	}
	b.WriteString(")\n\n" + strings.Join(p.decls, ""))
	fmt.Fprintf(&b, "// %s is %s of %s.\n", w.name, w.use, flow)
	missing := fmt.Sprintf("errors.New(%q)", w.name+" is not written yet")
	if result == "" {
		fmt.Fprintf(&b, "func %s(%s) error {\n\treturn %s\n}\n", w.name, strings.Join(params, ", "), missing)
	} else {
		fmt.Fprintf(&b, "func %s(%s) (out %s, err error) {\n\treturn out, %s\n}\n", w.name, strings.Join(params, ", "), result, missing)
	}
	text, err := format.Source([]byte(b.String()))
	return string(text), err
}

const valuePath = "github.com/flowgen-dev/flowgen/runtime/value"

// typ is a type in Go; name is that of a struct, should it be one.
func (p *goPrinter) typ(t *schema.Type, name string) string {
	use := func(path, text string) string {
		p.imports[path] = true
		return text
	}
	switch t.Kind {
	case schema.Bool:
		return "bool"
	case schema.Int:
		return "int64"
	case schema.Float:
		return "float64"
	case schema.String, schema.Enum:
		return "string"
	case schema.Bytes:
		return "[]byte"
	case schema.Time:
		return use("time", "time.Time")
	case schema.Duration:
		return use("time", "time.Duration")
	case schema.List:
		return "[]" + p.typ(t.Elem, name)
	case schema.Map:
		return "map[string]" + p.typ(t.Elem, name)
	case schema.Opt:
		return "*" + p.typ(t.Elem, name)
	case schema.Struct:
		if t.Decl != nil {
			name = t.Decl.Name
		}
		return p.declare(name, t.Fields)
	}
	return use(valuePath, "value.Value")
}

// declare writes a struct, and returns its name.
func (p *goPrinter) declare(name string, fields []*schema.Field) string {
	free := name
	for n := 2; p.types[free]; n++ {
		free = fmt.Sprint(name, n)
	}
	p.types[free] = true
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is a part of what the workflow passes or expects.\ntype %s struct {\n", free, free)
	for _, f := range fields {
		id := goname.Exported(f.Name)
		options := ""
		if f.Default != nil {
			options = ",omitempty"
		}
		if f.Description != "" {
			fmt.Fprintf(&b, "\t// %s %s\n", id, strings.Join(strings.Fields(f.Description), " "))
		}
		fmt.Fprintf(&b, "\t%s %s `json:\"%s%s\"`\n", id, p.typ(f.Type, free+id), f.Name, options)
	}
	b.WriteString("}\n\n")
	p.decls = append(p.decls, b.String())
	return free
}
