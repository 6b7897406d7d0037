package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// door makes a call that something records, checks or bounds: each attempt passes the gates (gate.go) and the engine,
// regardless of the caller. The repetition is here, so that every engine has it.
//
//go:noinline
func door[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (Out, error) {
	o := &op[In, Out]{call: call{run: r, head: Head{Node: n, Tool: t.name, Effects: t.effects, Replay: t.replay, bounds: t.bounds(), InDoubt: t.doubt(n), Scope: r.scope, Visit: r.scope.enter(n), Attempt: 1}},
		tool: t, in: in}
	eng := r.carrier()
	begin := r.nodeStart(&o.head)
	var began, first time.Time
	timed := n.Timeout > 0 && n.Retry != nil
	if t.state == deprecated {
		r.warnDeprecated(&o.head)
	}
	policed := r.guard != nil || t.state == blocked
	var refused *value.ToolError
	if t.approve || r.guard != nil {
		var err error
		if refused, err = r.approved(&o.head, o, &t.toolOptions); err != nil {
			r.callEnd(o, begin, err, nil)
			var zero Out
			return zero, err
		}
	}
	for {
		err := r.state.broken
		at := r.attempt(&o.head, policed)
		if err == nil {
			var decided *Metadata
			if timed && first.IsZero() {
				first = r.Now()
			}
			if refused != nil {
				o.head.refuse(refused)
				decided = o.head.Metadata
			} else if late := r.refuseLate(eng, &o.head); !late && (policed || t.checkIn != nil) { // otherwise no gate of admission has anything to look at
				decided = o.admit(eng, o)
			}
			began = r.began()
			at.admitted(r, &o.head)
			r.guard.begin(r, o.head.Tool)
			err = eng.Do(r, o)
			r.guard.end(r, o.head.Tool)
			err = o.settle(o, decided, err)
			if b := o.head.Metadata; b != nil && o.head.Replayed && b.Logs != "" {
				r.logged(&o.head, b.Logs)
			}
		}
		at.ended(r, o, &o.out, err)
		if err == nil {
			r.callEnd(o, begin, nil, &o.out)
			r.receive(o, began, nil)
			return o.out, nil
		}
		next, err := r.again(&o.head, first, err)
		if next == nil {
			err = r.fail(&o.head, err)
			r.callEnd(o, begin, err, nil)
			r.receive(o, began, err)
			var zero Out
			return zero, err
		}
		if r = next; o.head.Replayed {
			first = time.Time{} // the bound begins with what this process does
		}
		// Engines keep the op that they have seen.
		o = &op[In, Out]{call: call{run: r, head: Head{Node: n, Tool: t.name, Effects: t.effects, Replay: t.replay, bounds: t.bounds(), InDoubt: t.doubt(n), Scope: r.scope, Visit: o.head.Visit, Attempt: o.head.Attempt + 1}},
			tool: t, in: in}
	}
}

// op is the Op of one attempt, and what the gates know of its types: the only allocation of a recorded call.
type op[In, Out any] struct {
	call
	tool *Tool[In, Out]
	in   In
	out  Out
}

func (o *op[In, Out]) Head() *Head { return &o.head }

// Exec passes the gates behind the engine and runs the tool.
func (o *op[In, Out]) Exec(ctx context.Context) error { return o.enter(ctx, o, o.tool.passage) }

// Value is what a context has besides Deadline, Done and Err of a call.
func (o *op[In, Out]) Value(key any) any {
	if key == (callKey{}) {
		if o.abandoned() {
			return nil
		}
		return caller(o)
	}
	return o.values().Value(key)
}

func (o *op[In, Out]) place() (*Run, *toolOptions) { return o.run, &o.tool.toolOptions }

func (o *op[In, Out]) idempotencyKey() string {
	if key, ok := o.tool.key.(func(In) string); ok {
		return key(o.in)
	}
	return ""
}

func (o *op[In, Out]) Cost() usage.Spend { return o.tool.most(&o.in) }

// EncodeIn is what is written of the input: without secrets, should there be one in it all the same.
func (o *op[In, Out]) EncodeIn(b []byte) ([]byte, error) {
	out, err := value.AppendCanonical(b, &o.in)
	if r := o.run.state.rt.redactor.Load(); r != nil && err == nil && r.FoundBytes(out[len(b):]) {
		return value.Canonicalize(b, r.JSON(out[len(b):]))
	}
	return out, err
}

// exactIn is the input as it is.
func (o *op[In, Out]) exactIn() ([]byte, error) { return value.AppendCanonical(nil, &o.in) }

func (o *op[In, Out]) EncodeOut(b []byte) ([]byte, error) {
	j, err := json.Marshal(&o.out)
	if b == nil {
		return j, err
	}
	return append(b, j...), err
}

func (o *op[In, Out]) DecodeOut(b []byte) error {
	var out Out
	if err := value.Unmarshal(b, &out); err != nil {
		return plain.Misfit(err)
	}
	o.out = out
	return nil
}

// checkIn holds the input to what its type says.
func (o *op[In, Out]) checkIn() *value.ToolError {
	if c := o.tool.checkIn; c != nil {
		return c.Check(&o.in)
	}
	return nil
}

// checkOut holds the output to what its type says.
func (o *op[In, Out]) checkOut() *value.ToolError {
	if c := o.tool.checkOut; c != nil {
		return c.Check(&o.out)
	}
	return nil
}

// CheckOut holds an output that did not come from the tool to what its type says. Journals ask for it.
func (o *op[In, Out]) CheckOut() error {
	if te := o.checkOut(); te != nil {
		return te
	}
	return nil
}

func (o *op[In, Out]) output() any         { return &o.out }
func (o *op[In, Out]) fits(limit int) bool { return o.tool.size.Fits(&o.out, limit) }
func (o *op[In, Out]) clear()              { o.out = *new(Out) }

// invoke runs the tool, or what stands in for it.
func (o *op[In, Out]) invoke(ctx context.Context) (err error) {
	if standIn := o.run.state.rt.standIn; standIn != nil && o.head.Tool != WaitTool && o.head.Tool != UndoTool {
		return o.stoodIn(ctx, standIn)
	}
	if f, instead := o.fake(); f != nil {
		o.out, err = f(ctx, o.in)
		return err
	} else if instead {
		return missingFake(o.head.Tool)
	}
	if b := o.head.bounds; b != nil && b.apart {
		return o.invokeApart(ctx)
	}
	o.out, err = o.tool.fn(ctx, o.in)
	return err
}

// fail makes the call's NodeError and remembers run errors that no catch may hide.
func (r *Run) fail(h *Head, err error) error {
	ne := &NodeError{Node: h.Node, Key: h.Key(), Err: r.classify(r.ctx, err)}
	if isFatal(ne) {
		r.state.fatal.CompareAndSwap(nil, ne)
	}
	return ne
}

// warnDeprecated tells observers once for each run and tool (Agent Tools 7.2).
func (r *Run) warnDeprecated(h *Head) {
	if !r.observed() {
		return
	}
	if _, told := r.state.warned.LoadOrStore(h.Tool, true); !told {
		r.emit(Event{Kind: Warning, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Message: "tool " + h.Tool + " is deprecated"})
	}
}

func (r *Run) nodeStart(h *Head) time.Time {
	if !r.observed() {
		return time.Time{}
	}
	now := r.Now()
	r.emit(Event{Kind: NodeStart, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now})
	return now
}

// nodeEnd tells observers of what is not a call.
func (r *Run) nodeEnd(h *Head, begin time.Time, err error) {
	if r.observed() {
		r.emit(r.ended(h, begin, err))
	}
}

// callEnd tells observers. out points to the output, or is nil.
func (r *Run) callEnd(o Op, begin time.Time, err error, out any) {
	if r.observed() {
		e := r.ended(o.Head(), begin, err)
		e.op, e.Usage = o, spent(o, out)
		r.emit(e)
	}
}

func (r *Run) ended(h *Head, begin time.Time, err error) Event {
	now, cost := r.Now(), usage.USD(0)
	if h.Metadata != nil {
		cost = h.Metadata.Cost
	}
	return Event{Kind: NodeEnd, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now, Duration: now.Sub(begin),
		Attempt: int(h.Attempt), Err: err, Replayed: h.Replayed, Cached: h.Cached, Cost: cost}
}
