package bind

import (
	"go/token"
	"go/types"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// A converter turns the Go types that one reference reaches into schema types.
type converter struct {
	*resolver
	ref   *ref
	fset  *token.FileSet
	stack []string // named types that are being converted, for recursion
}

// A spot is where a Go type stands: how to call it, and the place in the Go file if that is known.
type spot struct {
	name string // "tools.SearchIn.Hooks", "parameter `n` of tools.Search"
	span source.Span
}

func (s spot) sub(suffix string) spot { return spot{s.name + suffix, s.span} }

const maxDepth = 50 // of types within types

// typ converts a Go type. The rule behind every refusal: the value of a journalled type must survive encode and decode
// by encoding/json, with int and float, nil and empty kept apart.
//
//	bool, string, float32, float64, all sized and unsized integers   bool, string, float, int
//	[]byte, time.Time, time.Duration, value.Value                  bytes, time, duration, any
//	[]T, map[string]T, *T                                            list<T>, map<T>, opt<T>
//	a named string type with exported constants in its package       enum of their values, in order of declaration
//	a named struct                                                   its exported fields; see structFields
//	any other named type                                             as its underlying type
//
// Refused: functions, channels, arrays, complex numbers, uintptr, interfaces (any too: value.Value is the dynamic
// type), anonymous structs, recursive types, maps with other keys, and types with a JSON or text form of their own such
// as netip.Addr or big.Int, whose values no workflow could make or look into.
func (c *converter) typ(t types.Type, at spot) *schema.Type {
	as, _ := t.(*types.Alias)
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return c.basic(t, at)
	case *types.Named:
		return c.named(t, as, at)
	case *types.Pointer:
		return c.pointer(t, at)
	case *types.Slice:
		return c.slice(t, at)
	case *types.Map:
		if key, ok := types.Unalias(t.Key()).(*types.Basic); !ok || key.Kind() != types.String {
			return c.refuse(at, "is a map whose keys are not strings", "make its keys of type string")
		}
		return schema.MapOf(c.typ(t.Elem(), at.sub("[]")))
	case *types.Array:
		return c.refuse(at, "is an array", "make it a slice")
	case *types.Signature:
		return c.refuse(at, "is a func", "")
	case *types.Chan:
		return c.refuse(at, "is a channel", "")
	case *types.Interface:
		return c.refuse(at, "is an interface", "make it a concrete type; value.Value is the one that holds anything")
	case *types.Struct:
		return c.refuse(at, "is a struct without a name", "declare a type for it")
	}
	return c.refuse(at, "is a "+types.TypeString(t, shortName), "")
}

// refuse reports that a type cannot be journalled and stands the poison type in for it.
func (c *converter) refuse(at spot, what, help string) *schema.Type {
	verdict := ", so it cannot be journalled"
	if strings.HasPrefix(what, "is a") && !strings.Contains(what, ",") {
		verdict = ", which cannot be journalled"
	}
	c.fail(diag.Diagnostic{
		Code: diag.GoType, Span: c.ref.span(),
		Message: at.name + " " + what + verdict,
		Help:    help,
		Related: []diag.Related{{Span: at.span, Message: "declared here"}},
	})
	return schema.InvalidType
}

func shortName(p *types.Package) string { return p.Name() }

func (c *converter) basic(t *types.Basic, at spot) *schema.Type {
	info := t.Info()
	switch {
	case t.Kind() == types.Invalid:
		return c.invalid(at)
	case info&types.IsBoolean != 0:
		return schema.BoolType
	case info&types.IsString != 0:
		return schema.StringType
	case t.Kind() == types.Int64:
		return schema.IntType
	case t.Kind() == types.Float64:
		return schema.FloatType
	case info&types.IsInteger != 0 && t.Kind() != types.Uintptr:
		return &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: types.Typ[t.Kind()].Name()}} // byte is uint8
	case info&types.IsFloat != 0:
		return &schema.Type{Kind: schema.Float, Go: &schema.Go{Name: t.Name()}}
	}
	return c.refuse(at, "is of type "+t.Name(), "")
}

// invalid is a type that does not compile. That was reported with the package, unless the package is the one that waits
// for the generated file.
func (c *converter) invalid(at spot) *schema.Type {
	if p := c.byPattern[c.ref.pattern]; p == nil || !c.reported[p.PkgPath] {
		c.fail(diag.Diagnostic{
			Code: diag.GoCompile, Span: c.ref.span(),
			Message: at.name + " has a type that is not defined, or not without the generated file",
			Help:    "declare it outside of generated code",
			Related: []diag.Related{{Span: at.span, Message: "declared here"}},
		})
	}
	return schema.InvalidType
}

func (c *converter) pointer(t *types.Pointer, at spot) *schema.Type {
	if _, ok := types.Unalias(t.Elem()).(*types.Pointer); ok {
		return c.refuse(at, "is a pointer to a pointer", "")
	}
	elem := c.typ(t.Elem(), at)
	if elem.Kind == schema.Any {
		return c.refuse(at, "is a pointer to a value.Value", "a value.Value can itself be null")
	}
	return schema.OptOf(elem, at.name+" is a pointer, which may be nil")
}

func (c *converter) slice(t *types.Slice, at spot) *schema.Type {
	elem := types.Unalias(t.Elem())
	if b, ok := elem.(*types.Basic); ok && b.Kind() == types.Uint8 {
		return schema.BytesType
	}
	if b, ok := elem.Underlying().(*types.Basic); ok && b.Kind() == types.Uint8 {
		return c.refuse(at, "is a slice of a named byte type", "make it []byte")
	}
	return schema.ListOf(c.typ(t.Elem(), at.sub("[]")))
}

// known are the types with a meaning of their own.
var known = map[string]*schema.Type{
	"time.Time":                     schema.TimeType,
	"time.Duration":                 schema.DurationType,
	schema.ValuePath + ".Value":     schema.AnyType,
	schema.ValuePath + ".ToolError": schema.ErrorType,
	schema.ValuePath + ".Code":      schema.ErrorType.Fields[0].Type,
	schema.CorePath + ".Failure":    schema.FailureType,
}

// named converts a type with a name. Those of the runtime are written by the alias of the package that promises them.
func (c *converter) named(n *types.Named, as *types.Alias, at spot) *schema.Type {
	obj := n.Obj()
	if obj.Pkg() == nil { // error
		return c.refuse(at, "is an "+obj.Name(), "return errors as the last result")
	}
	id := obj.Pkg().Path() + "." + obj.Name()
	if t := known[id]; t != nil {
		return t
	}
	key := types.TypeString(n, nil)
	if t := c.types[key]; t != nil {
		return t
	}
	for i, outer := range c.stack {
		if outer == key || i >= maxDepth {
			return c.refuse(at, "leads back to "+types.TypeString(n, shortName)+", a type that holds itself", "keep the nested part as value.Value, or as a list with references")
		}
	}
	if why, help := c.unusable(n); why != "" {
		return c.refuse(at, why, help)
	}
	c.stack = append(c.stack, key)
	defer func() { c.stack = c.stack[:len(c.stack)-1] }()
	goType := &schema.Go{Path: obj.Pkg().Path(), Name: obj.Name()}
	if goType.Path == schema.CorePath && as != nil && schema.Ours(as.Obj().Pkg().Path()) {
		goType.Path, goType.Name = as.Obj().Pkg().Path(), as.Obj().Name()
	}
	for i := range n.TypeArgs().Len() {
		goType.Args = append(goType.Args, c.typ(n.TypeArgs().At(i), at.sub("[...]")))
	}
	t := c.underlying(n, at)
	if t.Kind != schema.Invalid {
		t.Go = goType
	}
	c.types[key] = t
	return t
}

// underlying makes a new type that named can add its name to.
func (c *converter) underlying(n *types.Named, at spot) *schema.Type {
	switch u := n.Underlying().(type) {
	case *types.Struct:
		return c.structType(n, u, at)
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			if values := c.constants(n); len(values) > 0 {
				return schema.EnumOf(values...)
			}
		}
		t := *c.basic(u, at)
		return &t
	case *types.Pointer:
		return c.refuse(at, "is a named pointer type", "")
	default:
		t := *c.typ(u, at)
		return &t
	}
}

// unusable says why a named type cannot be written, or not be journalled, by generated code.
func (c *converter) unusable(n *types.Named) (why, help string) {
	obj := n.Obj()
	name := types.TypeString(obj.Type(), shortName)
	switch {
	case obj.Pkg().Path() == "context" && obj.Name() == "Context":
		return "is a context.Context", "a context can only be the first parameter"
	case obj.Pkg().Path() == "encoding/json":
		return "is a " + name, "use value.Value"
	case types.IsInterface(n):
		return "is the interface " + name, "make it a concrete type; value.Value is the one that holds anything"
	case !obj.Exported():
		return "is of the unexported type " + name, "export the type"
	case n.TypeParams().Len() > 0 && n.TypeArgs().Len() == 0:
		return "is the generic type " + name, "declare a type that names its arguments"
	case c.files.declaring(obj, c.fset).writtenByFlowgen():
		return "is of type " + name + ", which flowgen generates", "declare the type outside of generated code"
	}
	for _, m := range []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"} {
		if found, _, _ := types.LookupFieldOrMethod(n, true, nil, m); found != nil {
			if _, ok := found.(*types.Func); ok {
				return "is a " + name + ", whose encoded form is its own (" + m + ")", "use string or another plain type, and convert in the tool"
			}
		}
	}
	return "", ""
}

// qualified is "tools.SearchIn".
func qualified(n *types.Named) string {
	s := types.TypeString(n.Obj().Type(), shortName)
	if i := strings.IndexByte(s, '['); i >= 0 {
		s = s[:i]
	}
	return s
}
