package foreign

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// MaxFields is how many fields a type of a source may have, those of the types of its fields included. What a workflow may use
// is bounded by package check; this bound is for reading types that double with every line.
const MaxFields = 10_000

// Put adds a field to a struct, in the place of one of the same name. Fields beyond MaxFields are left out: the struct is too large
// with one of them, and Fill reports it.
func Put(t *schema.Type, f *schema.Field) {
	if len(t.Fields) > MaxFields {
		return
	}
	for i, old := range t.Fields {
		if old.Name == f.Name {
			t.Fields[i] = f
			return
		}
	}
	t.Fields = append(t.Fields, f)
}

// PutAll puts the fields of another struct, in linear time.
func PutAll(t *schema.Type, fields []*schema.Field) {
	at := map[string]int{}
	for i, f := range t.Fields {
		at[f.Name] = i
	}
	for _, f := range fields {
		if i, ok := at[f.Name]; ok {
			t.Fields[i] = f
		} else if len(t.Fields) <= MaxFields {
			at[f.Name] = len(t.Fields)
			t.Fields = append(t.Fields, f)
		}
	}
}

// AddValue adds a value to an enum, once. An enum of more than MaxEnum values is any string.
func AddValue(t *schema.Type, v string) {
	if len(t.Values) <= MaxEnum && !slices.Contains(t.Values, v) {
		t.Values = append(t.Values, v)
	}
}

// Either is the smallest type of two; any for types that are too large to compare.
func Either(a, b *schema.Type) *schema.Type {
	number := func(t *schema.Type) bool { return t.Kind == schema.Int || t.Kind == schema.Float }
	switch {
	case a == b:
		return a
	case a.Kind == schema.Enum && b.Kind == schema.Enum:
		t := schema.EnumOf(slices.Clone(a.Values)...)
		for _, v := range b.Values {
			AddValue(t, v)
		}
		if len(t.Values) > MaxEnum {
			return schema.StringType
		}
		return t
	case a.Kind == schema.Enum && b.Kind == schema.String, a.Kind == schema.String && b.Kind == schema.Enum:
		return schema.StringType
	case Same(a, b):
		return a
	case number(a) && number(b):
		return schema.FloatType
	}
	return schema.AnyType
}

// Same is schema.Equal, but for types that are too large to compare. Those are the same if they are one.
func Same(a, b *schema.Type) bool {
	return a == b || !tooLarge(a) && !tooLarge(b) && schema.Equal(a, b)
}

// tooLarge reports whether a type has more than MaxFields fields with those in it, or is nested too deeply to be looked at.
func tooLarge(t *schema.Type) bool {
	left := MaxFields
	var fits func(t *schema.Type, depth int) bool
	fits = func(t *schema.Type, depth int) bool {
		if t == nil {
			return true
		}
		if left--; left < 0 || depth > 2*maxNested {
			return false
		}
		if slices.ContainsFunc(t.Variants, func(v *schema.Variant) bool { return !fits(v.Type, depth+1) }) {
			return false
		}
		return fits(t.Elem, depth+1) && !slices.ContainsFunc(t.Fields, func(f *schema.Field) bool { return !fits(f.Type, depth+1) })
	}
	return !fits(t, 0)
}

// maxNested is how deep the types of a workflow may be nested.
const maxNested = 32

// large reports what a source takes or returns that is too large, and stands the type of a mistake in for it.
func (f *filler) large(t *schema.Type, verb string) *schema.Type {
	if t == nil || !tooLarge(t) {
		return t
	}
	f.report(diag.Diagnostic{
		Code: diag.SourceShape, Span: f.place(),
		Message: fmt.Sprintf("%s %s more than %d fields, those of their types included, or nested too deeply", f.sig.Name, verb, MaxFields),
		Help:    "write a small function around it that has fewer", Related: f.defined(),
	})
	return schema.InvalidType
}
