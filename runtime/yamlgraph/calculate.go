package yamlgraph

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Add is a + b; a list grows by b, or by its items when it is a list. Of Add, Sub, Mul and Div: a left side that is
// missing or null gives null. An error is kept for the node that the value is for, which fails, but for one that only
// sets fields: there the field stays as it is.
func (f *Flow) Add(a, b dynamic.Field) dynamic.Field {
	if a.Value().Kind() == value.ListKind && b.Value().Kind() != value.ListKind {
		b = dynamic.List(b)
	}
	return f.calculate(a, b, py.Add)
}

// Sub is a - b.
func (f *Flow) Sub(a, b dynamic.Field) dynamic.Field { return f.calculate(a, b, py.Sub) }

// Mul is a * b.
func (f *Flow) Mul(a, b dynamic.Field) dynamic.Field { return f.calculate(a, b, py.Mul) }

// Div is a / b.
func (f *Flow) Div(a, b dynamic.Field) dynamic.Field { return f.calculate(a, b, py.Div) }

func (f *Flow) calculate(a, b dynamic.Field, op func(a, b dynamic.Field) (dynamic.Field, error)) dynamic.Field {
	if a.Value().IsNull() {
		return dynamic.Null()
	}
	v, err := op(a, b)
	if err == nil {
		return v
	}
	if f.wrong == nil {
		f.wrong = err
	}
	return dynamic.Field{}
}

// given ends with what was wrong with the values that node n is given, nil when nothing was.
func (f *Flow) given(r *flow.Run, n *flow.Node) error {
	err := f.wrong
	if f.wrong = nil; err == nil {
		return nil
	}
	var te *value.ToolError
	if !errors.As(err, &te) {
		te = value.Invalid("%v", err)
	}
	return r.Fail(n, te)
}

// Fill is what stands for a reference inside of text: the value as Python writes it, or the reference itself where there
// is none.
func Fill(v dynamic.Field, written string) string {
	if v.Value().IsNull() {
		return written
	}
	return py.Str(v)
}
