package core

import (
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Attempt is a completed attempt of a call: when it passed each gate, and its result. It is valid only during the call of
// Attempted or Used that receives it.
type Attempt struct {
	Run      *Run // the same for all attempts of a run
	Key      string
	Node     *Node
	Tool     string // name@version; provider:name@1 for a model
	Number   int    // from 1
	Effects  Effects
	Tenant   string
	Start    time.Time // when the gates began to look at it
	Admitted time.Time // when the policy had decided
	End      time.Time
	Policed  bool      // there was a policy that could have refused it
	Denied   bool      // and that did
	Replayed bool      // answered from a journal
	Cached   bool      // answered from a cache
	Cost     usage.USD // of a tool that says what it costs, when it ran
	Usage    *usage.Usage
	Model    string // that answered, as its provider says
	Err      error  // *ToolError, *RunError or nil; without secrets

	op Op
}

// CallID returns the id of the call (Agent Tools 6.1), the same for all of its attempts; "" when the input cannot be
// encoded.
func (a *Attempt) CallID() string {
	in, err := a.Input()
	if err != nil {
		return ""
	}
	return CallID(a.Tool, in, a.Key)
}

// Input returns the input as canonical JSON, without secrets.
func (a *Attempt) Input() ([]byte, error) { return a.op.EncodeIn(nil) }

// Output returns the output as JSON, without secrets. It means nothing when there is an error.
func (a *Attempt) Output() ([]byte, error) {
	b, err := a.op.EncodeOut(nil)
	if r := a.Run.state.rt.redactor.Load(); r != nil && err == nil {
		b = r.JSON(b)
	}
	return b, err
}

// Tracer is an Observer that also receives every attempt. Attempted is called before the event for the failed attempt or
// the end of its node. It is called concurrently and must return quickly.
type Tracer interface {
	Observer
	Attempted(*Attempt)
}

// A Propagator is a Tracer that begins the span of an attempt before the attempt is made, so that what a tool asks of other
// services can be part of the trace.
type Propagator interface {
	Tracer
	// Attempting is called when the policy has let an attempt through, and returns the traceparent of its span (W3C Trace
	// Context), "" when there is none. Attempted follows with the same Attempt, complete; until then it says nothing about
	// input, output and what came of it.
	Attempting(*Attempt) (traceparent string)
}

// UsageSink receives a record of every attempt of a call, for billing and analytics: tool or model, tenant, duration,
// tokens, cost. Calls that a policy refused or a journal answered are not included. Used is called concurrently and must
// return quickly.
type UsageSink interface{ Used(*Attempt) }

// WithUsage adds a sink of usage records.
func WithUsage(s UsageSink) Option {
	return func(rt *Runtime) {
		if s != nil {
			rt.sinks = append(rt.sinks, s)
		}
	}
}

// UsageFunc is a function used as a UsageSink.
type UsageFunc func(*Attempt)

// Used calls f.
func (f UsageFunc) Used(a *Attempt) { f(a) }

// Root returns the Run that all branches of the run come from: the one that Start returned.
func (r *Run) Root() *Run { return r.state.root }

// Tenant returns whom the run is for, see WithTenant.
func (r *Run) Tenant() string { return r.state.tenant }

// attempt begins the account of an attempt, nil when nobody wants one. All methods take nil.
func (r *Run) attempt(h *Head, policed bool) *Attempt {
	rt := r.state.rt
	if len(rt.tracers) == 0 && len(rt.sinks) == 0 {
		return nil
	}
	return &Attempt{Run: r.state.root, Key: h.Key(), Node: h.Node, Tool: h.Tool, Number: int(h.Attempt), Effects: h.Effects,
		Tenant: r.state.tenant, Start: r.Now(), Policed: policed}
}

// admitted notes that the policy has decided.
func (a *Attempt) admitted(r *Run, h *Head) {
	if a == nil {
		return
	}
	a.Admitted = r.Now()
	if h.Metadata != nil && h.Metadata.Denied {
		return
	}
	for _, t := range r.state.rt.tracers {
		if p, ok := t.(Propagator); ok {
			if parent := p.Attempting(a); parent != "" {
				h.metadata().parent = parent
			}
		}
	}
}

// ended completes the account and hands it over. out points to the output.
func (a *Attempt) ended(r *Run, op Op, out any, err error) {
	if a == nil {
		return
	}
	h := op.Head()
	a.op, a.End, a.Err, a.Replayed, a.Cached = op, r.Now(), err, h.Replayed, h.Cached
	if a.Admitted.IsZero() {
		a.Admitted = a.End
	}
	if b := h.Metadata; b != nil {
		a.Denied, a.Cost = b.Denied, b.Cost
	}
	if err == nil {
		a.Usage = spent(op, out)
		if m, ok := out.(usage.Modelled); ok {
			a.Model = m.AnsweredBy()
		}
	} else {
		a.Err = r.redacted(r.classify(r.ctx, err))
	}
	rt := r.state.rt
	for _, t := range rt.tracers {
		t.Attempted(a)
	}
	if a.Denied || a.Replayed {
		return
	}
	for _, s := range rt.sinks {
		s.Used(a)
	}
}
