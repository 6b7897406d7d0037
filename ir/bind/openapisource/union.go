package openapisource

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// union is the type of alternatives that a discriminator tells apart; nil when one of them is not a struct, or has no tag.
func (r *reading) union(list openapi3.SchemaRefs, by *openapi3.Discriminator) *schema.Type {
	var variants []*schema.Variant
	null := false
	for _, ref := range list {
		t := r.typ(ref)
		null = null || t.Kind == schema.Null || t.Kind == schema.Opt
		if t = t.Present(); t.Kind == schema.Null {
			continue
		}
		tags := r.tags(ref, by)
		if t.Kind != schema.Struct || len(tags) == 0 {
			return nil
		}
		for _, tag := range tags {
			variants = append(variants, &schema.Variant{Tag: tag, Type: tagged(t, by.PropertyName, tag)})
		}
	}
	slices.SortStableFunc(variants, func(a, b *schema.Variant) int { return cmp.Compare(a.Tag, b.Tag) })
	twice := slices.CompactFunc(slices.Clone(variants), func(a, b *schema.Variant) bool { return a.Tag == b.Tag })
	if len(variants) < 2 || len(variants) > foreign.MaxEnum || len(twice) < len(variants) {
		return nil
	}
	t := schema.UnionOf(by.PropertyName, variants...)
	if null {
		return schema.OptOf(t, "it may be null")
	}
	return t
}

// tags are the values of the discriminator that mean a schema: those of the mapping, else what the schema itself says, else its name.
func (r *reading) tags(ref *openapi3.SchemaRef, by *openapi3.Discriminator) []string {
	var out []string
	for _, tag := range slices.Sorted(maps.Keys(by.Mapping)) {
		to := by.Mapping[tag].Ref
		if ref.Ref != "" && (to == ref.Ref || to == path.Base(ref.Ref)) {
			out = append(out, tag)
		}
	}
	if out != nil || ref.Value == nil {
		return out
	}
	if shape, ok := r.flatten(ref.Value, 0); ok {
		if p := shape.props[by.PropertyName]; p != nil && p.Value != nil {
			if t := constants(p.Value); t != nil && t.Present().Kind == schema.Enum && len(t.Present().Values) == 1 {
				return t.Present().Values
			}
		}
	}
	if ref.Ref != "" {
		return []string{path.Base(ref.Ref)}
	}
	return nil
}

// tagged is a struct whose field by has one value.
func tagged(t *schema.Type, by, tag string) *schema.Type {
	is := &schema.Field{Name: by, Type: schema.EnumOf(tag)}
	if f := t.Field(by); f != nil {
		is.Description, is.Span = f.Description, f.Span
	}
	c := *t
	c.Fields = append([]*schema.Field{is}, slices.DeleteFunc(slices.Clone(t.Fields), func(f *schema.Field) bool { return f.Name == by })...)
	return &c
}
