package core

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Effects is the kind of effect that a call has outside the run.
type Effects uint8

// The effects, from harmless to unknown. From Writes on a call in flight is cancelled only with the entire run.
const (
	None     Effects = iota // pure
	Reads                   // reads the world
	Writes                  // changes the world
	External                // anything
)

var effectNames = [...]string{"none", "reads", "writes", "external"}

// String returns the word the workflow language uses.
func (e Effects) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return effectNames[External]
}

// Tool is an ordinary typed function bound to its name, effects and checks. It is read-only and safe for concurrent use.
type Tool[In, Out any] struct {
	name     string
	effects  Effects
	gated    bool
	floats   bool // gated, but only for floats that may be no number
	fn       func(context.Context, In) (Out, error)
	checkIn  *value.Checker
	checkOut *value.Checker
	size     value.Size[Out]
	toolOptions
}

// Bind makes a tool of f. name is name@version. In and Out must survive a round trip through JSON: exported fields, no
// functions, channels or interfaces, text in valid UTF-8. f must not change its input and must be safe for concurrent
// use. It returns a *ToolError to choose the code; any other error becomes UNKNOWN. When its context is cancelled it
// should return the context's error soon.
func Bind[In, Out any](name string, e Effects, f func(context.Context, In) (Out, error), o ...ToolOption) *Tool[In, Out] {
	t := &Tool[In, Out]{name: name, effects: e, fn: f}
	for _, opt := range o {
		opt(&t.toolOptions)
	}
	if fill, ok := t.filled.(func(In) (In, error)); ok {
		t.fn = func(ctx context.Context, in In) (Out, error) {
			full, err := fill(in)
			if err != nil {
				var zero Out
				return zero, err
			}
			return f(ctx, full)
		}
	} else if t.filled != nil {
		panic(fmt.Sprintf("flow.Bind: what fills the input of %s takes another one", name))
	}
	t.replay = t.replayPolicy(e)
	t.checkIn, t.checkOut = value.CheckerFor[In](), value.CheckerFor[Out]()
	t.size = value.SizeOf[Out]()
	if t.maxOutput == 0 && t.meter == nil && !value.Bounded[Out]() { // what a model may answer is its provider's matter
		t.maxOutput = DefaultMaxOutput
	}
	t.passage = passageOf(&t.toolOptions)
	t.gated = t.checkIn != nil || t.checkOut != nil || t.gates()
	t.floats = t.gated && !t.gates() && !t.checkIn.Walks() && !t.checkOut.Walks()
	if _, ok := t.key.(func(In) string); t.key != nil && !ok {
		panic(fmt.Sprintf("flow.Bind: the idempotency key of %s takes another input than the tool", name))
	}
	if _, ok := t.meter.(*meter[In, Out]); t.meter != nil && !ok {
		panic(fmt.Sprintf("flow.Bind: the meter of %s is of another type than the tool", name))
	}
	return t
}

// Name returns the name without the version.
func (t *Tool[In, Out]) Name() string { n, _ := SplitTool(t.name); return n }

// Version returns the version.
func (t *Tool[In, Out]) Version() string { _, v := SplitTool(t.name); return v }

// Effects returns what calls do to the world.
func (t *Tool[In, Out]) Effects() Effects { return t.effects }
