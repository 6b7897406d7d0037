package schema

import "slices"

// Equal reports whether a and b are the same type to a workflow; how they are written in Go does not matter.
func Equal(a, b *Type) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Opaque:
		return sameOpaque(a, b) && sameOpaque(b, a)
	case List:
		return Equal(a.Elem, b.Elem) && subset(a.Known, b.Known) && subset(b.Known, a.Known)
	case Map, Opt:
		return Equal(a.Elem, b.Elem)
	case Enum:
		return slices.Equal(a.Values, b.Values)
	case Union:
		return sameUnion(a, b)
	case Struct:
		if len(a.Fields) != len(b.Fields) {
			return false
		}
		for _, f := range a.Fields {
			g := b.Field(f.Name)
			if g == nil || !Equal(f.Type, g.Type) {
				return false
			}
		}
	}
	return true
}

// Poisoned reports whether the type, or a part of it, is one that a mistake was reported about.
func Poisoned(t *Type) bool {
	switch t.Kind {
	case Invalid:
		return true
	case List, Map, Opt:
		return Poisoned(t.Elem)
	}
	return slices.ContainsFunc(t.Fields, func(f *Field) bool { return Poisoned(f.Type) }) ||
		slices.ContainsFunc(t.Variants, func(v *Variant) bool { return Poisoned(v.Type) })
}

// Assignable reports whether every value of type from may be where to is asked for, without conversion: nothing is
// coerced, dropped or defaulted. Any fits only Any; an int is not a float; a list of enums is a list of strings.
func Assignable(from, to *Type) bool {
	switch {
	case from.Kind == Invalid || to.Kind == Invalid:
		return true
	case from.Kind == Null && to.Kind == Opaque:
		return to.Go != nil && to.Go.Ptr
	case from.Kind == Opaque || to.Kind == Opaque:
		return from.Kind == to.Kind && sameOpaque(from, to)
	case from.Kind == Dynamic || to.Kind == Dynamic:
		return to.Kind == Dynamic
	case to.Kind == Any:
		return true
	case to.Kind == Opt:
		return from.Kind == Null || Assignable(from.Present(), to.Elem)
	case from.Kind == Opt:
		return false
	case from.Kind == Enum && to.Kind == String:
		return true
	case from.Kind == Enum && to.Kind == Enum:
		return subset(from.Values, to.Values)
	case from.Kind == Struct && to.Kind == Union:
		return to.VariantOf(from) != nil
	case from.Kind != to.Kind:
		return false
	}
	switch from.Kind {
	case Union:
		return sameUnion(from, to)
	case List:
		return Assignable(from.Elem, to.Elem) && subset(to.Known, from.Known)
	case Map:
		return Assignable(from.Elem, to.Elem)
	case Struct:
		for _, f := range from.Fields {
			if g := to.Field(f.Name); g == nil || !Assignable(f.Type, g.Type) {
				return false
			}
		}
		for _, g := range to.Fields {
			if g.Required() && from.Field(g.Name) == nil {
				return false
			}
		}
	}
	return true
}

func subset(a, b []string) bool {
	for _, v := range a {
		if !slices.Contains(b, v) {
			return false
		}
	}
	return true
}

// Join is the smallest type that both a and b can stand for, or nil.
func Join(a, b *Type) *Type {
	switch {
	case a.Kind == Invalid || b.Kind == Invalid:
		return InvalidType
	case a.Kind == Null && b.Kind == Null:
		return a
	case a.Kind == Null:
		return OptOf(b, "it may be null")
	case b.Kind == Null:
		return OptOf(a, "it may be null")
	case Assignable(a, b):
		return b
	case Assignable(b, a):
		return a
	case a.knows() || b.knows():
		return Join(a.Plain(), b.Plain())
	case a.Kind == Enum && b.Kind == Enum:
		return StringType
	}
	return nil
}
