package dialect

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Values of workflows whose types only a run knows.

// Messages of the readers of conditions.
const (
	PathForm = "a path consists of names separated by dots"
	NoNumber = "this is not a number"
)

// A Route leads from a node to another, when its condition holds.
type Route struct {
	From, To ir.Ident
	When     *Predicate // nil: always
	Span     source.Span
}

// A Reference is a place in dynamic data.
type Reference struct {
	Text source.Text
	Root string // state, item, index, ...: what the dialect's reader knows
	Path []string
	// Filter is a function that the value goes through; empty: none.
	Filter  string
	Default string // what the filter puts in place of a value that is missing
	Missing Missing
}

// Missing is what stands for a value that is not there.
type Missing uint8

// It is left out, stays as it is written, is null, or is an error.
const (
	MissingAbsent Missing = iota
	MissingKeep
	MissingNull
	MissingError
)

// Mixed is text with references in it.
type Mixed struct {
	Text     source.Text
	Segments []MixedSegment
}

// A MixedSegment is literal text or a reference.
type MixedSegment struct {
	Lit string
	Ref *Reference // nil: Lit
}

// Source is the place of the value.
func (r *Reference) Source() source.Span { return r.Text.Span }

// Source is the place of the value.
func (m *Mixed) Source() source.Span { return m.Text.Span }

// A Predicate is a test on dynamic data: a comparison, a combination, a constant or a value that is taken for true or
// false.
type Predicate struct {
	Op   string // && || == != < <= > >= ref const length, and what else the reader of a dialect and its translator know
	Kids []*Predicate
	Ref  *Reference // ref
	Lit  *ir.Scalar // const
	Span source.Span
}

var operators = []string{"&&", "||", "==", "!=", "<", "<=", ">", ">="}

// String is the condition in the spelling of the native language.
func (c *Predicate) String() string {
	switch c.Op {
	case "ref":
		return c.Ref.Text.Value
	case "length":
		return "length(" + c.Kids[0].String() + ")"
	}
	side := func(k *Predicate) string {
		if k.Op == "||" && c.Op != "||" || c.Op != "&&" && c.Op != "||" && slices.Contains(operators, k.Op) {
			return "(" + k.String() + ")"
		}
		return k.String()
	}
	if !slices.Contains(operators, c.Op) {
		return c.Span.Text()
	}
	return side(c.Kids[0]) + " " + c.Op + " " + side(c.Kids[1])
}

// Refs calls f for every reference of the condition.
func (c *Predicate) Refs(f func(*Reference)) {
	if c == nil {
		return
	}
	if c.Ref != nil {
		f(c.Ref)
	}
	for _, k := range c.Kids {
		k.Refs(f)
	}
}

// ValueReferences calls f for every reference of a value.
func ValueReferences(v ir.Value, f func(*Reference)) {
	switch v := v.(type) {
	case *Reference:
		f(v)
	case *Mixed:
		for _, s := range v.Segments {
			if s.Ref != nil {
				f(s.Ref)
			}
		}
	case interface{ Parts() []ir.Value }: // that a dialect has besides
		for _, x := range v.Parts() {
			ValueReferences(x, f)
		}
	case *ir.List:
		for _, x := range v.Items {
			ValueReferences(x, f)
		}
	case *ir.Object:
		for _, e := range v.Entries {
			ValueReferences(e.Value, f)
		}
	}
}
