package native

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// union reads `{oneof: {push: Push}, by: kind}`.
func (p *parser) union(n *yamlnode.Node, d *schema.Decl) *schema.Type {
	m, ok := p.mapping(n, shapeUnion)
	if !ok || m.get("by") == nil {
		return schema.InvalidType
	}
	d.Description = p.prose(m.get("description"), "the description")
	by, ok := p.text(m.get("by"), "the name of a field")
	if !ok {
		return schema.InvalidType
	}
	var list []*schema.Variant
	good := true
	p.each(m.get("oneof"), "oneof", naming{}, func(id ir.Ident, v *yamlnode.Node) {
		t := p.typeOf(v)
		if good = p.variant(id, v, t, by.Value) && good; good {
			list = append(list, &schema.Variant{Tag: id.Name, Type: t})
		}
	})
	if !good || len(list) == 0 {
		return schema.InvalidType
	}
	return schema.UnionOf(by.Value, list...)
}

// variant reports a type that cannot be that of a union, or that does not say so itself.
func (p *parser) variant(id ir.Ident, v *yamlnode.Node, t *schema.Type, by string) bool {
	if t.Kind == schema.Invalid && t.Go == nil {
		return false
	}
	if t.Kind != schema.Struct || t.Decl == nil || t.Go != nil || p.decls[t.Decl.Name] == nil {
		p.report(diag.BadVariant, v.Span, "write the name of a struct of `types`", "a variant is a struct that the file declares, this is %s", t)
		return false
	}
	f := t.Field(by)
	if f != nil && f.Type.Kind == schema.Enum && slices.Equal(f.Type.Values, []string{id.Name}) {
		return true
	}
	want := "`" + by + ": enum<" + id.Name + ">`"
	if f == nil {
		p.report(diag.BadVariant, v.Span, "add "+want+" to "+t.Decl.Name, "%s has no field `%s`, which says that it is %s", t, by, id.Name)
		return false
	}
	p.report(diag.BadVariant, v.Span, "write "+want+" in "+t.Decl.Name, "field `%s` of %s is %s, and must be %s alone", by, t, f.Type, id.Name)
	return false
}
