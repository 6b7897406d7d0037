package parser_test

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
)

// TestFunctions compares the tables of functions with the packages of the runtime: names, parameters, results, errors, and the
// fields of structs.
func TestFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("loads packages of the runtime")
	}
	tables := map[string][]*expr.Func{"dialect": dialect.Functions(), "jinja": jinja.Table}
	var paths []string
	for _, d := range parser.Languages() {
		if d.Functions != nil {
			tables[d.Name] = d.Functions
		}
	}
	if len(tables) < 2 {
		t.Fatal("no dialect has a table")
	}
	for _, fs := range tables {
		for _, f := range fs {
			paths = append(paths, f.Path)
		}
	}
	loaded := load(t, paths)
	for name, fs := range tables {
		t.Run(name, func(t *testing.T) {
			for _, f := range fs {
				if wrong := compareFunc(loaded, f); wrong != "" {
					t.Errorf("%s.%s: %s", f.Path, f.Name, wrong)
				}
				for what, lie := range lies(f) {
					if compareFunc(loaded, lie) == "" {
						t.Errorf("%s.%s: with %s nothing is found", f.Path, f.Name, what)
					}
				}
			}
		})
	}
}

// lies are entries that say something else: the comparison finds each.
func lies(f *expr.Func) map[string]*expr.Func {
	other := &schema.Type{Kind: schema.Opaque, Go: &schema.Go{Path: schema.FlowPath, Name: "Missing"}}
	change := func(c func(f *expr.Func)) *expr.Func {
		lie := *f
		lie.Params = slices.Clone(f.Params)
		c(&lie)
		return &lie
	}
	out := map[string]*expr.Func{"another name": change(func(f *expr.Func) { f.Name += "X" })}
	if len(f.TypeArgs) == 0 && f.Name != "Call" { // what these return, their arguments say
		out["another result"] = change(func(f *expr.Func) { f.Result = other })
	}
	if f.Const {
		return out
	}
	out["another way to fail"] = change(func(f *expr.Func) { f.Fails = !f.Fails })
	out["one parameter more"] = change(func(f *expr.Func) { f.Params = append(f.Params, other) })
	if n := len(f.Params); n > 1 {
		out["one parameter less"] = change(func(f *expr.Func) { f.Params = f.Params[:n-1] })
	}
	return out
}

func load(t *testing.T, paths []string) map[string]*types.Package {
	t.Helper()
	slices.Sort(paths)
	list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, append(slices.Compact(paths), schema.RuntimePath, schema.FlowPath, schema.ToolPath, schema.ValuePath, schema.ModelPath)...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*types.Package{}
	for _, p := range list {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		out[p.PkgPath] = p.Types
	}
	return out
}

// compareFunc says what differs between an entry of a table and the package.
func compareFunc(loaded map[string]*types.Package, f *expr.Func) string {
	scope := loaded[f.Path].Scope()
	if f.Const {
		if o := scope.Lookup(f.Name); o == nil {
			return "there is none"
		} else if got := same(loaded, f.Result, o.Type()); got != "" {
			return got
		}
		return ""
	}
	var sig *types.Signature
	params := f.Params
	if f.Method {
		if params[0].Go == nil {
			return "the receiver is no named type"
		}
		of := loaded[params[0].Go.Path]
		if of == nil {
			return params[0].Go.Path + " is not loaded"
		}
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(of.Scope().Lookup(params[0].Go.Name).Type()), true, of, f.Name)
		fn, ok := m.(*types.Func)
		if !ok {
			return "there is no such method"
		}
		sig, params = fn.Signature(), params[1:]
	} else {
		fn, ok := scope.Lookup(f.Name).(*types.Func)
		if !ok {
			return "there is no such function"
		}
		sig = fn.Signature()
	}
	return compareSignature(loaded, sig, params, f.Variadic, f.Result, f.Fails)
}

func compareSignature(loaded map[string]*types.Package, sig *types.Signature, params []*schema.Type, variadic bool, result *schema.Type, fails bool) string {
	if sig.Params().Len() != len(params) || sig.Variadic() != variadic {
		return fmt.Sprintf("it takes %s", sig.Params())
	}
	for i, p := range params {
		have := sig.Params().At(i).Type()
		if s, ok := have.(*types.Slice); ok && variadic && i == len(params)-1 {
			have = s.Elem()
		}
		if wrong := same(loaded, p, have); wrong != "" {
			return fmt.Sprintf("parameter %d: %s", i, wrong)
		}
	}
	n := 0
	if result != nil {
		if sig.Results().Len() == 0 {
			return "it has no result"
		}
		if wrong := same(loaded, result, sig.Results().At(0).Type()); wrong != "" {
			return "the result: " + wrong
		}
		n++
	}
	if fails {
		n++
	}
	if sig.Results().Len() != n || fails && sig.Results().At(n-1).Type().String() != "error" {
		return fmt.Sprintf("it returns %s", sig.Results())
	}
	return ""
}

// unalias replaces the names of the runtime's packages by those that they are aliases of.
var unalias = strings.NewReplacer(schema.RuntimePath+".", schema.CorePath+".", schema.FlowPath+".", schema.CorePath+".", schema.ToolPath+".", schema.CorePath+".")

// same says how a type of a table differs from one of Go. One without type arguments stands for all of its instances.
func same(loaded map[string]*types.Package, t *schema.Type, have types.Type) string {
	have = types.Unalias(have)
	if _, generic := have.(*types.TypeParam); generic {
		return ""
	}
	if t.Func != nil {
		sig, ok := have.Underlying().(*types.Signature)
		if !ok {
			return "it is " + have.String()
		}
		return compareSignature(loaded, sig, t.Func.Params, false, t.Func.Result, t.Func.Fails)
	}
	if t.Kind == schema.Opt {
		p, ok := have.(*types.Pointer)
		if !ok {
			return "it is no pointer"
		}
		return same(loaded, t.Elem, p.Elem())
	}
	if t.Go != nil && schema.Ours(t.Go.Path) && loaded[t.Go.Path].Scope().Lookup(t.Go.Name) == nil {
		return t.Go.Path + " has no " + t.Go.Name
	}
	want := goName(t)
	got := have.String()
	if t.Go != nil && len(t.Go.Args) == 0 {
		got, _, _ = strings.Cut(got, "[")
		if t.Go.Ptr && !strings.HasPrefix(have.String(), "*") {
			return "it is no pointer"
		}
	}
	if generics(have) {
		got, _, _ = strings.Cut(got, "[")
		want, _, _ = strings.Cut(want, "[")
	}
	got, want = unalias.Replace(got), unalias.Replace(want)
	if got != want && unalias.Replace(have.Underlying().String()) != want {
		return fmt.Sprintf("it is %s, and the table says %s", got, want)
	}
	return fieldsOf(loaded, t, have)
}

// generics reports whether a type has type parameters in it.
func generics(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	for a := range named.TypeArgs().Types() {
		if _, param := a.(*types.TypeParam); param {
			return true
		}
	}
	return false
}

// fieldsOf compares the fields that a table gives of a struct.
func fieldsOf(loaded map[string]*types.Package, t *schema.Type, have types.Type) string {
	if t.Kind != schema.Opaque {
		return ""
	}
	if p, ok := have.(*types.Pointer); ok {
		have = p.Elem()
	}
	for _, f := range t.Fields {
		name := f.GoName
		if name == "" {
			name = strings.ToUpper(f.Name[:1]) + f.Name[1:]
		}
		o, _, _ := types.LookupFieldOrMethod(have, true, nil, name)
		v, ok := o.(*types.Var)
		if !ok {
			return have.String() + " has no field " + name
		}
		if wrong := same(loaded, f.Type, v.Type()); wrong != "" {
			return "field " + name + ": " + wrong
		}
	}
	return ""
}

// goName is a type as go/types writes it.
func goName(t *schema.Type) string {
	if t.Go != nil {
		name := t.Go.Name
		if t.Go.Path != "" {
			name = t.Go.Path + "." + name
		}
		var args []string
		for _, a := range t.Go.Args {
			args = append(args, goName(a))
		}
		if len(args) > 0 {
			name += "[" + strings.Join(args, ", ") + "]"
		}
		if t.Go.Ptr {
			name = "*" + name
		}
		return name
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
	case schema.Duration:
		return "time.Duration"
	case schema.List:
		return "[]" + goName(t.Elem)
	case schema.Struct:
		return "struct{}"
	}
	return schema.ValuePath + ".Value"
}
