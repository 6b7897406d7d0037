package sirenspec

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// Child runs another workflow in the scope of node n, with what args give, and returns what it has written below output. A
// child that fails is no failure of its node: what it wrote until then is the result.
func Child(r *runtime.Run, n *runtime.Node, run func(r *runtime.Run, given dynamic.Field) (dynamic.Field, error), args ...Arg) (dynamic.Field, error) {
	given, err := resolveArgs(args)
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	out, err := run(r.In(n), dynamic.Of(given))
	if err != nil {
		return out, runtime.Skipped(err)
	}
	return out, nil
}

// Person asks a person.
func Person(r *runtime.Run, n *runtime.Node, prompt Template) (string, error) {
	text, err := prompt.text()
	if err != nil {
		return "", r.Fail(n, err)
	}
	return runtime.Ask[string](r, n, runtime.Question{Text: text})
}

// PersonOr is Person with what stands for an answer that nobody gives.
func PersonOr(r *runtime.Run, n *runtime.Node, prompt Template, instead string) (string, error) {
	text, err := prompt.text()
	if err != nil {
		return "", r.Fail(n, err)
	}
	return runtime.AskOr(r, n, runtime.Question{Text: text}, instead)
}

// PersonOrSkip is Person for a node that is skipped when nobody answers: the result is nil then.
func PersonOrSkip(r *runtime.Run, n *runtime.Node, prompt Template) (*string, error) {
	text, err := prompt.text()
	if err != nil {
		return nil, r.Fail(n, err)
	}
	return runtime.AskOrSkip[string](r, n, runtime.Question{Text: text})
}
