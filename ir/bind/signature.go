package bind

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// shapes is the help for every signature that does not fit.
const shapes = "accepted are func(ctx, In) (Out, error) with any of ctx, Out and error left out; In is a struct, a pointer to one, or any number of named parameters"

// function finds the function of a reference and describes it; nil after a report. The accepted shapes:
//
//	func(ctx context.Context, in In) (Out, error)          In a struct or *struct: its fields are the input
//	func(ctx context.Context, a string, n int) (Out, error) the input has a field for each parameter
//
// ctx, the parameters, Out and error may each be left out. Methods, generic and variadic functions and other results are
// refused.
func (r *resolver) function(f *ref, pkg *packages.Package) *ir.GoBinding {
	fn, ok := pkg.Types.Scope().Lookup(f.name).(*types.Func)
	if !ok || !fn.Exported() {
		r.noFunction(f, pkg)
		return nil
	}
	c := &converter{resolver: r, ref: f, fset: pkg.Fset}
	b := &ir.GoBinding{Path: pkg.PkgPath, Func: f.name, Package: pkg.Name}
	r.place(b, fn, pkg.Fset)
	sig := fn.Signature()
	params := make([]*types.Var, 0, sig.Params().Len())
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	if len(params) > 0 && isContext(params[0].Type()) {
		b.Context, params = true, params[1:]
	}
	switch name := pkg.Name + "." + f.name; {
	case sig.TypeParams().Len() > 0:
		r.shape(f, b, name+" is generic, and nothing says its type arguments")
	case sig.Variadic():
		r.shape(f, b, name+" is variadic; declare a function that takes a slice")
	case !c.results(b, sig.Results(), name) || !c.params(b, params, name):
	default:
		b.Reducer, b.Code = isReducer(sig), r.codeOf(pkg, f.name)
		return b
	}
	return nil
}

// place fills what the function's own file says: its doc comment and where it stands.
func (r *resolver) place(b *ir.GoBinding, fn *types.Func, fset *token.FileSet) {
	file := r.files.declaring(fn, fset)
	if decl := file.function(fn.Name()); decl != nil {
		b.Doc = describe(fn.Name(), decl.Doc)
		b.Directives = r.directives(file, decl)
		b.PosSpan = file.ident(decl.Name)
		b.Pos = file.pos(b.PosSpan)
		return
	}
	if p := fset.Position(fn.Pos()); p.IsValid() {
		shown, _ := r.files.display(p.Filename, b.Path)
		b.Pos = fmt.Sprintf("%s:%d:%d", shown, p.Line, p.Column)
	}
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" && n.Obj().Name() == "Context"
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isReducer reports whether sig is func(T, T) T.
func isReducer(sig *types.Signature) bool {
	p, res := sig.Params(), sig.Results()
	return p.Len() == 2 && res.Len() == 1 && types.Identical(p.At(0).Type(), p.At(1).Type()) && types.Identical(p.At(0).Type(), res.At(0).Type())
}

func (r *resolver) shape(f *ref, b *ir.GoBinding, msg string) bool {
	r.fail(diag.Diagnostic{Code: diag.GoShape, Span: f.span(), Message: msg, Help: shapes, Related: declared(b)})
	return false
}

func declared(b *ir.GoBinding) []diag.Related {
	return []diag.Related{{Span: b.PosSpan, Message: b.Package + "." + b.Func + " is declared here"}}
}

func (c *converter) results(b *ir.GoBinding, res *types.Tuple, name string) bool {
	n := res.Len()
	if n > 0 && isError(res.At(n-1).Type()) {
		b.Err = true
		n--
	}
	switch {
	case n > 1:
		return c.shape(c.ref, b, fmt.Sprintf("%s returns %d values; a tool returns one, and perhaps an error", name, n))
	case n == 1 && isError(res.At(0).Type()):
		return c.shape(c.ref, b, name+" returns two errors")
	case n == 1:
		b.Out = c.typ(res.At(0).Type(), spot{"the result of " + name, b.PosSpan})
	default:
		b.Out = schema.EmptyType
	}
	return true
}

func (c *converter) params(b *ir.GoBinding, params []*types.Var, name string) bool {
	for _, v := range params {
		if isContext(v.Type()) {
			return c.shape(c.ref, b, name+" takes a context that is not its first parameter")
		}
	}
	if len(params) == 1 && isStruct(params[0].Type()) {
		if c.structParam(b, params[0], name) {
			return true
		}
	}
	b.In = &schema.Type{Kind: schema.Struct}
	for i, v := range params {
		field := v.Name()
		if field == "" || field == "_" {
			if c.ref.use != useReducer {
				return c.shape(c.ref, b, fmt.Sprintf("parameter %d of %s has no name, so the input has none for it", i+1, name))
			}
			field = [...]string{"old", "new"}[min(i, 1)]
		}
		t := c.typ(v.Type(), spot{"parameter " + quote(field) + " of " + name, b.PosSpan})
		b.Params = append(b.Params, &ir.GoParam{Name: field, Type: t})
		b.In.Fields = append(b.In.Fields, &schema.Field{Name: field, Type: t})
	}
	return true
}

// structParam makes the one parameter the input itself, if it is a struct to workflows too, which time.Time is not.
func (c *converter) structParam(b *ir.GoBinding, v *types.Var, name string) bool {
	t, ptr := types.Unalias(v.Type()), false
	if p, ok := t.(*types.Pointer); ok {
		t, ptr = p.Elem(), true
	}
	in := c.typ(t, spot{"the parameter of " + name, b.PosSpan})
	switch {
	case in.Kind == schema.Invalid: // reported; poison
	case in.Kind != schema.Struct:
		return false
	case ptr:
		passed, spelt := *in, *in.Go
		spelt.Ptr = true
		passed.Go = &spelt
		in = &passed
	}
	field := v.Name()
	if field == "" || field == "_" {
		field = "in"
	}
	b.Struct, b.In = true, in
	b.Params = []*ir.GoParam{{Name: field, Type: in}}
	return true
}

func (r *resolver) notReducer(f *ref, b *ir.GoBinding) {
	r.fail(diag.Diagnostic{
		Code: diag.GoReducer, Span: f.span(),
		Message: b.Package + "." + b.Func + " is not a merge rule: that is func(old, new T) T, with T the type of the field",
		Related: declared(b),
	})
}

// noFunction reports why a name is not an exported function, and the nearest that is.
func (r *resolver) noFunction(f *ref, pkg *packages.Package) {
	obj := pkg.Types.Scope().Lookup(f.name)
	d := diag.Diagnostic{Code: diag.GoName, Span: f.nameSpan()}
	name := pkg.Name + "." + f.name
	switch obj.(type) {
	case *types.TypeName:
		d.Message = name + " is a type, not a function"
	case *types.Var:
		d.Message = name + " is a variable, not a function"
	case *types.Const:
		d.Message = name + " is a constant, not a function"
	default:
		if span, ok := r.unexported(f, pkg); ok {
			d.Message = name + " is not exported, so generated code cannot call it"
			d.Help = "rename it to " + exported(f.name) + " in Go"
			d.Related = []diag.Related{{Span: span, Message: "declared here"}}
		} else {
			d.Message = "package " + pkg.Name + " has no function " + quote(f.name)
		}
	}
	var names []string
	for _, n := range pkg.Types.Scope().Names() {
		if fn, ok := pkg.Types.Scope().Lookup(n).(*types.Func); ok && fn.Exported() {
			names = append(names, n)
		}
	}
	r.suggest(&d, f, names)
	r.fail(d)
}

func (r *resolver) suggest(d *diag.Diagnostic, f *ref, names []string) {
	near := diag.Nearest(f.name, names)
	if near == "" {
		return
	}
	d.Help = "replace with " + quote(near)
	if verbatim(d.Span, f.name) {
		d.Fixes = []diag.Fix{diag.Replace(d.Span, near)}
	}
}

// unexported looks for a function in the package's files: export data does not list what is not exported.
func (r *resolver) unexported(f *ref, pkg *packages.Package) (source.Span, bool) {
	if token.IsExported(f.name) || f.name == "init" {
		return source.Span{}, false
	}
	for _, name := range pkg.GoFiles {
		if g := r.files.open(name, pkg.PkgPath); g != nil {
			if decl := g.function(f.name); decl != nil {
				return g.ident(decl.Name), true
			}
		}
	}
	return source.Span{}, false
}

func exported(name string) string {
	first, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[n:]
}

// method reports a reference to a method, whose package exists when the type's name is taken off.
func (r *resolver) method(f *ref, owner *packages.Package) {
	typ := f.path[strings.LastIndexByte(f.path, '.')+1:]
	r.fail(diag.Diagnostic{
		Code: diag.GoShape, Span: f.span(),
		Message: owner.Name + "." + typ + "." + f.name + " is a method, and nothing says the value to call it on",
		Help:    "declare a function that calls it; " + shapes,
	})
}

// namedType converts the type of a `go:` type reference; nil after a report that leaves nothing to convert.
func (r *resolver) namedType(f *ref, pkg *packages.Package) *schema.Type {
	scope := pkg.Types.Scope()
	obj, ok := scope.Lookup(f.name).(*types.TypeName)
	name := pkg.Name + "." + f.name
	if !ok || !obj.Exported() {
		d := diag.Diagnostic{Code: diag.GoName, Span: f.nameSpan(), Message: "package " + pkg.Name + " has no type " + quote(f.name)}
		switch scope.Lookup(f.name).(type) {
		case *types.Func:
			d.Message = name + " is a function, not a type"
		case *types.TypeName:
			d.Message = name + " is not exported, so generated code cannot use it"
		}
		var names []string
		for _, n := range scope.Names() {
			if t, ok := scope.Lookup(n).(*types.TypeName); ok && t.Exported() {
				names = append(names, n)
			}
		}
		r.suggest(&d, f, names)
		r.fail(d)
		return nil
	}
	at := spot{name: name}
	if file := r.files.declaring(obj, pkg.Fset); file != nil {
		if spec := file.typ(f.name); spec != nil {
			at.span = file.ident(spec.Name)
		}
	}
	c := &converter{resolver: r, ref: f, fset: pkg.Fset}
	return c.typ(obj.Type(), at)
}
