package engine

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// A Text grows.
type Text struct{ b []byte }

// Add adds text.
func (t *Text) Add(s string) { t.b = append(t.b, s...) }

// Length is how many items a list has.
func (t *Text) Length(f dynamic.Field) dynamic.Field {
	items, _ := f.Items()
	return dynamic.Whole(int64(len(items)))
}

// Items are those of a list.
func (t *Text) Items(f dynamic.Field) []dynamic.Field {
	items, _ := f.Items()
	var out []dynamic.Field
	for _, v := range items {
		out = append(out, dynamic.Of(v))
	}
	return out
}

// Inner is the text that a function makes, as a value.
func (t *Text) Inner(f func(inner *Text)) dynamic.Field {
	var inner Text
	f(&inner)
	return dynamic.Text(string(inner.b))
}

// Done is the text, which must not be empty.
func Done(t *Text) (string, error) {
	if len(t.b) == 0 {
		return "", errors.New("the text is empty")
	}
	return string(t.b), nil
}

// Write asks a model with a prompt that is made when the node runs.
func (f *Flow) Write(r *flow.Run, n *flow.Node, m *llm.Model, prompt func() (string, error)) (Ended, error) {
	text, err := prompt()
	if err != nil {
		return Ended{}, r.Fail(n, err)
	}
	return f.Ask(r, n, m, text)
}
