package core

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// fakes are the functions that run in place of tools.
type fakes struct {
	real bool        // a tool without a fake runs, whatever its effects
	by   map[any]any // *Tool[In, Out] -> func(context.Context, In) (Out, error), nil for none
}

// unfaked is the kind of the run error of a call whose tool has no fake. It cannot be caught: a test that passes because a
// workflow handles the error would not have tested anything.
const unfaked RunErrorKind = "no_fake"

// WithFakes replaces tools and models in tests, by what the method Fake of each returns: WithFakes of a generated file calls
// it. A fake passes all gates of its tool: its input and output are checked, and it is counted, bounded and recorded. It
// needs no secrets and no sandbox, and its results are not cached. A tool whose fake is nil and whose effects are none runs.
// A call of any other fails the run with a *RunError that nothing catches, unless realTools says that such tools run, too.
func WithFakes(realTools bool, tools ...Option) Option {
	return func(rt *Runtime) {
		rt.faked().real = realTools
		for _, o := range tools {
			o(rt)
		}
	}
}

func (rt *Runtime) faked() *fakes {
	if rt.fakes == nil {
		rt.fakes = &fakes{by: map[any]any{}}
	}
	return rt.fakes
}

// Fake is an argument of WithFakes: f runs in place of the tool. It must be safe for concurrent use, like the tool.
func (t *Tool[In, Out]) Fake(f func(context.Context, In) (Out, error)) Option {
	return func(rt *Runtime) {
		var fn any // f as it is would be a function that is nil, and no nil
		if f != nil {
			fn = f
		}
		rt.faked().by[t] = fn
	}
}

// fake returns what runs in place of the tool, and whether the tool itself does not run. f is nil when that is a mistake.
func (o *op[In, Out]) fake() (f func(context.Context, In) (Out, error), instead bool) {
	all := o.run.state.rt.fakes
	if all == nil {
		return nil, false
	}
	switch fn := all.by[o.tool].(type) {
	case func(context.Context, In) (Out, error):
		return fn, true
	default:
		_, known := all.by[o.tool]
		return nil, known && !all.real && o.tool.effects > None
	}
}

// faked reports whether the tool does not run, and so needs none of what it needs.
func (o *op[In, Out]) faked() bool {
	_, instead := o.fake()
	return instead
}

// missingFake is the error of a call that would have left the test.
func missingFake(tool string) error {
	name, _ := SplitTool(tool)
	return &RunError{Kind: unfaked, Message: "the test has no fake for " + value.Clip(name, 200) + ": set its field of Fakes, or AllowReal to run the tools without a fake"}
}
