package schema

import "slices"

// UnionOf is a type whose values are structs, told apart by the field by. Variants have checked fields: by is an enum of one value.
func UnionOf(by string, variants ...*Variant) *Type {
	t := &Type{Kind: Union, By: by, Variants: variants}
	t.Fields = []*Field{{Name: by, Type: EnumOf(t.Tags()...)}}
	return t
}

// Tags lists the values of the field By.
func (t *Type) Tags() []string {
	out := make([]string, len(t.Variants))
	for i, v := range t.Variants {
		out[i] = v.Tag
	}
	return out
}

// Variant is the variant with a tag, nil when there is none.
func (t *Type) Variant(tag string) *Variant {
	for _, v := range t.Variants {
		if v.Tag == tag {
			return v
		}
	}
	return nil
}

// VariantOf is the variant of a union that a struct is, nil when it is none: the very type that was declared.
func (t *Type) VariantOf(s *Type) *Variant {
	for _, v := range t.Variants {
		if v.Type == s || v.Type.Decl != nil && s.Decl != nil && v.Type.Decl.Name == s.Decl.Name && Equal(v.Type, s) {
			return v
		}
	}
	return nil
}

// sameUnion reports whether two unions are one declaration, which workflows that include it have a copy of each.
func sameUnion(a, b *Type) bool {
	return a == b || a.Decl != nil && b.Decl != nil && a.Decl.Name == b.Decl.Name && a.By == b.By && slices.EqualFunc(a.Variants, b.Variants, func(v, w *Variant) bool {
		return v.Tag == w.Tag && Equal(v.Type, w.Type)
	})
}
