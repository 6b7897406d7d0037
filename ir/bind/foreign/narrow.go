package foreign

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// way is the way values go between the workflow and the source.
type way uint8

const (
	in  way = iota // into the source
	out            // from the source
)

// fits reports a declared type that the source contradicts; at names the place and span is where it is declared. Into
// the source, every declared value must be taken. From the source, the declaration may also promise less, or promise
// more where some of the source's values keep the promise: the others are errors at run time.
func (f *filler) fits(decl, got *schema.Type, at string, span source.Span, w way) {
	switch {
	case decl.Kind == schema.Invalid || got.Kind == schema.Invalid || got.Kind == schema.Any:
	case decl.Kind == schema.Any && (w == out || got.Kind == schema.Union): // which the source tells apart
	case got.Kind == schema.Opt:
		if decl.Kind != schema.Null {
			f.fits(decl.Present(), got.Elem, at, span, w)
		}
	case decl.Kind == schema.Opt && w == out: // declared optional, but always there
		if got.Kind != schema.Null {
			f.fits(decl.Elem, got, at, span, w)
		}
	case decl.Kind == schema.Struct && got.Kind == schema.Map:
		for _, d := range decl.Fields {
			f.fits(d.Type, got.Elem, at+"."+d.Name, f.at(d.Span), w)
		}
	case decl.Kind == schema.Struct && len(decl.Fields) == 0 && got.Kind == schema.Null: // returns nothing
	case texts(decl, got, w), numbers(decl, got, w):
	case decl.Kind != got.Kind:
		f.mismatch(decl, got, at, span)
	case decl.Kind == schema.Enum:
		if !subset(decl.Values, got.Values) && (w == in || !subset(got.Values, decl.Values)) {
			f.mismatch(decl, got, at, span)
		}
	case decl.Kind == schema.List || decl.Kind == schema.Map:
		f.fits(decl.Elem, got.Elem, at+"[]", span, w)
	case decl.Kind == schema.Struct:
		f.fitsFields(decl, got, at, span, w)
	}
}

// texts tells types whose values are text in JSON and that narrow a string.
func texts(decl, got *schema.Type, w way) bool {
	text := func(t *schema.Type) bool {
		return t.Kind == schema.Enum || t.Kind == schema.Time || t.Kind == schema.Duration || t.Kind == schema.Bytes
	}
	return text(decl) && got.Kind == schema.String || w == out && decl.Kind == schema.String && text(got)
}

// numbers tells an int where the source has any number, and where it does no harm the other way round.
func numbers(decl, got *schema.Type, w way) bool {
	return decl.Kind == schema.Int && got.Kind == schema.Float || w == out && decl.Kind == schema.Float && got.Kind == schema.Int
}

func (f *filler) fitsFields(decl, got *schema.Type, at string, span source.Span, w way) {
	lacking := f.unknown(decl, got, w)
	for _, d := range decl.Fields {
		if g := got.Field(d.Name); g != nil {
			f.fits(d.Type, g.Type, at+"."+d.Name, f.at(d.Span), w)
		}
	}
	f.lacks(lacking, at, span, w)
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(v string) bool { return !slices.Contains(b, v) })
}
