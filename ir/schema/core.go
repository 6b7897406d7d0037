package schema

import "strings"

// DynamicPath is the package of values whose type only a run knows.
const DynamicPath = RuntimePath + "/dynamic"

// DynamicType is a value whose type only a run knows: absent, null, or a value. Every type but an opaque one converts into
// it by itself, and nothing out of it: what is done with it is done by functions of a runtime package.
var DynamicType = &Type{Kind: Dynamic, Go: &Go{Path: DynamicPath, Name: "Field"}}

// OpaqueOf is a type of a runtime package, of which a workflow knows nothing but the fields that are given here. Its values
// are handed on, and never compared, shown or encoded. Its zero value has a meaning: nothing was done.
func OpaqueOf(path, name string, fields ...*Field) *Type {
	return &Type{Kind: Opaque, Go: &Go{Path: path, Name: name}, Fields: fields}
}

// PointerTo is a pointer to an opaque type.
func PointerTo(t *Type) *Type {
	p, g := *t, *t.Go
	g.Ptr = true
	p.Go = &g
	return &p
}

// FuncOf is the type of a function that a function of a runtime package is handed.
func FuncOf(sig *Signature) *Type { return &Type{Kind: Opaque, Func: sig} }

// A Signature is the type of such a function.
type Signature struct {
	Params []*Type
	Result *Type // nil: none
	Fails  bool  // the last result is an error
}

// sameOpaque reports whether two opaque types are one in Go. One without type arguments stands for all of its instances.
func sameOpaque(from, to *Type) bool {
	switch {
	case from.Func != nil && to.Func != nil:
		return sameSignature(from.Func, to.Func)
	case from.Func != nil || to.Func != nil || from.Go == nil || to.Go == nil:
		return false
	case from.Go.Path != to.Go.Path || from.Go.Name != to.Go.Name || from.Go.Ptr != to.Go.Ptr:
		return false
	case len(to.Go.Args) == 0:
		return true
	}
	return sameTypes(from.Go.Args, to.Go.Args)
}

func sameSignature(a, b *Signature) bool {
	return a.Fails == b.Fails && (a.Result == nil) == (b.Result == nil) && (a.Result == nil || Equal(a.Result, b.Result)) && sameTypes(a.Params, b.Params)
}

func sameTypes(a, b []*Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// opaqueName is an opaque type as messages name it.
func opaqueName(t *Type) string {
	if t.Func != nil {
		return "a function"
	}
	if t.Go == nil {
		return Opaque.String()
	}
	return t.Go.Path[strings.LastIndexByte(t.Go.Path, '/')+1:] + "." + t.Go.Name
}

// Unknown reports whether only a run, or a runtime package, knows what values of the type are: the core's own operators
// refuse them.
func (t *Type) Unknown() bool { return t != nil && (t.Kind == Dynamic || t.Kind == Opaque) }
