package sirenspec

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Choose calls the tool that stands for a function of Python, by the name of its module and its own, out of those that
// call knows.
func (f *Flow) Choose(r *flow.Run, n *flow.Node, call func(*flow.Run, string, *value.Args) (value.Value, error), p Policy, name Template, args ...Arg) (dynamic.Field, error) {
	text, err := name.text()
	if err == nil {
		text, err = filled(text)
	}
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	if f.entries, err = appendArgs(f.entries[:0], args); err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	for attempt := 0; ; attempt++ {
		f.given = value.EntryArgs(f.entries)
		out, err := call(r, text, &f.given)
		switch err = r.Fail(n, err); {
		case err == nil:
			return dynamic.Of(out), nil
		case flow.Skipped(err) != nil: // no tool error
			return dynamic.Field{}, err
		case attempt < p.Retries:
		case p.Skip:
			return dynamic.Null(), nil
		default:
			return dynamic.Field{}, err
		}
	}
}
