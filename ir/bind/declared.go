package bind

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// direction is the way values go between the workflow and Go.
type direction uint8

const (
	intoGo direction = iota // `in:`
	fromGo                  // `out:`
)

func (d direction) String() string { return [...]string{"in", "out"}[d] }

// agree narrows the Go type got by what the tool declares. The result is written as Go has it, with the declared fields,
// in the declared order, and the declared constraints. What does not fit is reported where it is declared.
func (r *resolver) agree(f *ref, b *ir.GoBinding, decl, got *schema.Type, way direction) *schema.Type {
	n := &narrower{resolver: r, bind: b, way: way}
	span := f.span()
	if decl.Decl != nil && !decl.Decl.Span.IsZero() {
		span = decl.Decl.Span
	}
	return n.narrow(decl, got, way.String(), span)
}

type narrower struct {
	*resolver
	bind *ir.GoBinding
	way  direction
}

// narrow is the type that decl and got agree on; at names the place and span is where it is declared.
func (n *narrower) narrow(decl, got *schema.Type, at string, span source.Span) *schema.Type {
	switch {
	case decl.Kind == schema.Invalid && decl.Go == nil:
		return decl // what is wrong with it was said: nothing is said about what follows from it
	case decl.Kind == schema.Invalid || got.Kind == schema.Invalid:
		return got
	case decl.Kind == schema.Opt && got.Kind != schema.Opt && n.way == fromGo:
		return n.narrow(decl.Elem, got, at, span) // declared optional, but always there
	case decl.Kind == schema.Enum && got.Kind == schema.String:
		return enumIn(got, decl.Values)
	case decl.Kind == schema.String && got.Kind == schema.Enum && n.way == fromGo:
		return got
	case decl.Kind == schema.Enum && got.Kind == schema.Enum:
		return n.enum(decl, got, at, span)
	case decl.Kind != got.Kind:
		return n.mismatch(decl, got, at, span)
	}
	out := *got
	switch got.Kind {
	case schema.Opt:
		out.Elem = n.narrow(decl.Elem, got.Elem, at, span)
	case schema.List, schema.Map:
		out.Elem = n.narrow(decl.Elem, got.Elem, at+"[]", span)
	case schema.Struct:
		out.Fields = n.fields(decl, got, at, span)
	default:
		return got
	}
	return &out
}

func (n *narrower) enum(decl, got *schema.Type, at string, span source.Span) *schema.Type {
	inside := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(v string) bool { return !slices.Contains(b, v) })
	}
	switch {
	case inside(decl.Values, got.Values):
		return enumIn(got, decl.Values)
	case n.way == fromGo && inside(got.Values, decl.Values):
		return got
	}
	return n.mismatch(decl, got, at, span)
}

func (n *narrower) mismatch(decl, got *schema.Type, at string, span source.Span) *schema.Type {
	d := foreign.Mismatch(diag.GoDeclared, span, decl, got, at, n.name())
	d.Related = declared(n.bind)
	n.fail(d)
	return schema.InvalidType
}

func (n *narrower) name() string { return n.bind.Package + "." + n.bind.Func }

func (n *narrower) fields(decl, got *schema.Type, at string, span source.Span) []*schema.Field {
	var fields []*schema.Field
	for _, d := range decl.Fields {
		place := d.Span
		if place.IsZero() {
			place = span
		}
		g := got.Field(d.Name)
		if g == nil {
			n.noField(d, got, at, place)
			continue
		}
		merged := *g
		merged.Type = n.narrow(d.Type, g.Type, at+"."+d.Name, place)
		merged.Span = d.Span
		if d.Description != "" {
			merged.Description = d.Description
		}
		if d.Default != nil {
			merged.Default = d.Default
		}
		if d.Min != nil {
			merged.Min = d.Min
		}
		if d.Max != nil {
			merged.Max = d.Max
		}
		if d.Pattern != "" {
			merged.Pattern = d.Pattern
		}
		fields = append(fields, &merged)
	}
	if n.way == intoGo {
		for _, g := range got.Fields {
			if g.Required() && g.Type.Kind != schema.Invalid && decl.Field(g.Name) == nil {
				n.fail(diag.Diagnostic{
					Code: diag.GoDeclared, Span: span,
					Message: quote(at) + " lacks " + quote(g.Name) + ", which " + n.name() + " requires",
					Help:    "add " + quote(g.Name+": "+g.Type.String()) + ", or leave the declaration out",
					Related: declared(n.bind),
				})
			}
		}
	}
	return fields
}

func (n *narrower) noField(d *schema.Field, got *schema.Type, at string, span source.Span) {
	verb := " has no input "
	if n.way == fromGo {
		verb = " returns no "
	}
	out := diag.Diagnostic{
		Code: diag.GoDeclared, Span: span,
		Message: n.name() + verb + quote(d.Name) + " (" + at + ")",
		Related: declared(n.bind),
	}
	if near := diag.Nearest(d.Name, got.FieldNames()); near != "" {
		out.Help = "replace with " + quote(near)
		if verbatim(span, d.Name) {
			out.Fixes = []diag.Fix{diag.Replace(span, near)}
		}
	}
	n.fail(out)
}
