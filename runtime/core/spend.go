package core

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// meter says what calls of a language model take.
type meter[In, Out any] struct {
	most func(*In) usage.Spend
	took func(*In, *Out) usage.Spend
}

// Metered marks a tool that asks a language model. Budgets reserve for an attempt what most says, and get back what took
// says it did not take. Such a call is none of a tool, see Policy.
func Metered[In, Out any](most func(*In) usage.Spend, took func(*In, *Out) usage.Spend) ToolOption {
	m := &meter[In, Out]{most, took}
	return func(o *toolOptions) { o.meter, o.cancels = m, true }
}

// Spends tells what calls took from their outputs, nil where an output does not say: their usage and their cost, which budgets
// count when the call has ended. Out is the tool's.
func Spends[Out any](f func(*Out) *usage.Usage) ToolOption {
	return func(o *toolOptions) {
		o.spends = func(out any) *usage.Usage {
			if p, ok := out.(*Out); ok {
				return f(p)
			}
			return nil
		}
	}
}

// most is what an attempt takes at most.
func (t *Tool[In, Out]) most(in *In) usage.Spend {
	if m, ok := t.meter.(*meter[In, Out]); ok {
		return m.most(in)
	}
	return usage.Spend{Cost: t.cost}
}

// meters notes next to the call what it may take, before it is made.
func (o *op[In, Out]) meters() {
	b, most := o.head.metadata(), o.tool.most(&o.in)
	b.Metered, b.Cost, b.Tokens = true, most.Cost, most.Tokens
}

// Unspent marks the error of an attempt of a Metered tool that took nothing, because the other side has refused it or
// never got it. The errors that it wraps are found by errors.Is and errors.As as before.
func Unspent(err error) error {
	if err == nil {
		return nil
	}
	return unspent{err}
}

type unspent struct{ error }

func (u unspent) Unwrap() error { return u.error }

// metered notes what the call of a model took. A failed one does not say. It keeps nothing of what was reserved when it is
// marked Unspent, or when its code means that the provider has not begun; and all of it otherwise, because the provider
// may have billed it: an answer that was lost on its way was made all the same, and nobody here knows how long it was.
func (o *op[In, Out]) metered(err error) {
	b := o.head.metadata()
	if err != nil {
		if te := value.ToolErrorOf(err); errors.As(err, new(unspent)) || te != nil && (te.Code == value.RateLimit || te.Code == value.AuthRequired || te.Code == value.ValidationError) {
			b.Cost, b.Tokens = 0, 0
		}
		return
	}
	took := o.tool.meter.(*meter[In, Out]).took(&o.in, &o.out)
	b.Cost, b.Tokens = took.Cost, took.Tokens
}

// Capped reports whether a policy bounds what the run's calls cost or take in tokens.
func (r *Run) Capped() bool {
	for g := r.guard; g != nil; g = g.outer {
		if g.budget != unbounded || g.policy.MaxTokens > 0 {
			return true
		}
	}
	return false
}
