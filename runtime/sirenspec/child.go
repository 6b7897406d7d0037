package sirenspec

import (
	"context"
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// link is how the Flow of a workflow finds that of the workflow which runs it.
type link struct{ outer, inner *Flow }

type linkKey struct{}

// Inner makes the Flow of a workflow that another one runs with Child: its first agent receives what that workflow was
// asked.
func Inner(r *flow.Run) *Flow {
	f := &Flow{message: dynamic.Text("")}
	if l, ok := r.Context().Value(linkKey{}).(*link); ok {
		f.message = l.outer.message
		l.inner = f
	}
	return f
}

// Child runs another workflow in the scope of node n, with what args give, and returns what it has written below output. A
// child that fails is not a failure of its node: what it wrote until then is the result, unless a text for an agent or a user
// cannot be made. What it took counts as taken by the node.
func (f *Flow) Child(r *flow.Run, n *flow.Node, run func(r *flow.Run, given dynamic.Field) (dynamic.Field, error), args ...Arg) (dynamic.Field, error) {
	given, err := resolveArgs(args)
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	l := &link{outer: f}
	inside := r.In(n)
	out, err := run(inside.Branch(context.WithValue(inside.Context(), linkKey{}, l)), dynamic.Of(given))
	if l.inner != nil {
		f.spent.tokens.Add(l.inner.spent.tokens.Load())
	}
	var end crash
	if errors.As(err, &end) {
		return dynamic.Field{}, end.error
	}
	if err != nil {
		return out, flow.Skipped(err)
	}
	return out, nil
}

// A crash is the error of an agent or a question whose text cannot be made: the engine does not end the workflow with it but
// the node that runs the workflow.
type crash struct{ error }

func (e crash) Unwrap() error { return e.error }

// asked is the text of a question to a user. Without one it is the name of the node.
func asked(n *flow.Node, prompt Template) (runtime.Question, error) {
	text, err := prompt.text()
	if err == nil && strings.Contains(text, mark) {
		text, err = shown(text)
	}
	if text == "" {
		text = n.ID
	}
	return runtime.Question{Text: text}, err
}

// Person asks a user.
func Person(r *flow.Run, n *flow.Node, prompt Template) (string, error) {
	q, err := asked(n, prompt)
	if err != nil {
		return "", crash{r.Fail(n, err)}
	}
	return flow.Ask[string](r, n, q)
}

// PersonOr is Person with what stands for an answer that nobody gives.
func PersonOr(r *flow.Run, n *flow.Node, prompt Template, instead string) (string, error) {
	q, err := asked(n, prompt)
	if err != nil {
		return "", crash{r.Fail(n, err)}
	}
	return flow.AskOr(r, n, q, instead)
}
