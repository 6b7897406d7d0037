package temporal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// execution is the engine of one run.
type execution struct {
	*program
	root  workflow.Context
	setup Setup
	open  map[string]*question
	queue []*waiting // calls for the next batch
	makes bool       // batches
	// calls in flight that go on from earlier ones, by the ids of their activities
	continuing map[string]*continued
	marks      int // bytes of markers of local activities since a workflow task has ended
	ended      workflow.Future

	// What a journal would hold.
	begin  time.Time
	input  []byte
	calls  []kept
	finish journal.Finish

	// About going on in a new history.
	old     *journal.Journal // nil in the first history
	past    *journal.Past    // of old
	answers int              // given from old
	settled bool             // old has answered what it can
	most    int              // events of this history
	stays   bool             // the journal is too large to go on in another one
	busy    int              // calls and pauses in flight
	held    int              // calls that wait for the new history
	pausing bool             // the next Sleep is that of a wait, which goes on in the new history
}

// Executes is false: activities make the calls, so that the workflow needs no secrets.
func (e *execution) Executes() bool { return false }

// OwnTime is true: the time is that of the history.
func (e *execution) OwnTime() bool { return true }

// Identify implements engine.Identifier. The id is the workflow's.
func (e *execution) Identify(string) error { return nil }

// ID returns the id of the run.
func (e *execution) ID() string { return workflow.GetInfo(e.root).WorkflowExecution.ID }

// Seed follows from the id of the first history, which a reset keeps, so that nothing has to be recorded. Results of another run are of
// its seed.
func (e *execution) Seed() uint64 {
	if e.old != nil {
		return e.old.Header().Seed
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(workflow.GetInfo(e.root).FirstRunID)) // a hash does not fail
	return h.Sum64()
}

// Now returns the time of the history.
func (e *execution) Now(r *flow.Run) time.Time { return workflow.Now(within(r.Context()).Context) }

// Sleep is a timer.
func (e *execution) Sleep(r *flow.Run, d time.Duration) error {
	wait := e.pausing
	e.pausing = false
	if err := r.Cancelled(); err != nil || d <= 0 {
		return err
	}
	if !wait {
		e.busy++
		defer func() { e.busy-- }()
	}
	err := workflow.Sleep(within(r.Context()).Context, d)
	if c := r.Cancelled(); c != nil {
		return c
	}
	return err
}

// Fork runs the bodies as coroutines. A panic fails the workflow's task, which Temporal repeats: it is not caught.
func (e *execution) Fork(r *flow.Run, n, limit int, body func(*flow.Run, int) error) error {
	if n == 0 {
		return nil
	}
	outer := within(r.Context())
	ctx, cancel := workflow.WithCancel(outer.Context)
	workers := min(n, max(limit, 1))
	stops := workers < n
	batch := outer.batch || e.opts.together() > 1 && (workers >= wideBranches || workers > 1 && n >= wideItems)
	if batch && !e.makes {
		e.makes = true
		workflow.GoNamed(e.root, "batches", e.batches)
	}
	next, left := 0, workers
	var first engine.FirstFailure
	for w := range workers {
		workflow.GoNamed(ctx, "branch "+strconv.Itoa(w), func(ctx workflow.Context) {
			branch := r.Branch(wctx{ctx, batch})
			for next < n && !(stops && first.Failed()) {
				i := next
				next++
				if err := body(branch, i); err != nil {
					first.Set(i, err)
					cancel()
				}
			}
			left--
		})
	}
	calm, _ := workflow.NewDisconnectedContext(outer.Context) // all branches are waited for
	if err := workflow.Await(calm, func() bool { return left == 0 }); err != nil {
		return err
	}
	cancel()
	return first.Err()
}

// Do makes one attempt of a call.
func (e *execution) Do(r *flow.Run, op engine.Op) error {
	h := op.Head()
	ctx := within(r.Context())
	asks := h.Tool == engine.WaitTool || h.Tool == engine.HumanTool
	if e.past != nil {
		if answered, err := e.past.Answer(op); answered || err != nil { // R1 of package journal
			e.rest(ctx.Context)
			return err
		}
		if !e.settled && !asks { // R2
			if err := workflow.Await(ctx.Context, func() bool { return e.settled }); err != nil {
				return cancelled(r)
			}
		}
	}
	if err := r.Cancelled(); err != nil && (h.Effects < flow.Writes || e.root.Err() != nil) {
		return err
	}
	if !asks {
		if err := e.hold(ctx.Context); err != nil {
			return cancelled(r)
		}
		e.busy++
		defer func() { e.busy-- }()
	}
	end := e.keep(ctx.Context, op)
	err := e.do(r, ctx, op)
	end(err)
	return err
}

// cancelled is the error of a call that has waited in vain.
func cancelled(r *flow.Run) error {
	if c := r.Cancelled(); c != nil {
		return c
	}
	return &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByRun, Message: "the workflow was cancelled", Err: errCancelled}
}

// do makes an attempt that no record answers.
func (e *execution) do(r *flow.Run, ctx wctx, op engine.Op) error {
	h := op.Head()
	switch h.Tool {
	case engine.WaitTool, engine.UndoTool: // they wait with Sleep, or record that something begins
		e.pausing = h.Tool == engine.WaitTool
		return op.Exec(r.Context())
	case engine.HumanTool:
		return e.ask(r, op)
	}
	p := op.(engine.Portable)
	c, ok, err := p.Carry()
	switch {
	case err != nil:
		return value.Invalid("the call cannot be made by a worker: %v", err)
	case !ok:
		return op.Exec(r.Context()) // says why it was refused
	case e.names[p.Callable()] == "":
		return value.Errorf(value.Unknown, "tool %s is made while the workflow runs, so that no worker has it", h.Tool)
	}
	c.Tool = e.names[p.Callable()]
	if n := len(c.In) + overhead; e.tooLarge(n) {
		return value.Invalid("the input of the call has %d bytes, too many for a history: %s", n, storeHelp)
	}
	var l engine.Landed
	id := e.id(h, &c)
	if c.Continues {
		e.continuing[id] = &continued{op: p}
		defer delete(e.continuing, id)
	}
	if err := e.call(ctx, h, p.Callable().Queue(), id, &c, &l); err != nil {
		return e.lost(r, h, p, id, err)
	}
	return p.Land(&l)
}

// misfit fails the task of a workflow whose history was written by a program that called something else. The run waits for a worker
// with the right program.
func (e *execution) misfit(h *engine.Head) {
	panic(fmt.Sprintf("flowgen: node %s (%s) was called with another input when the run was recorded: the workflow was changed before this node. "+
		"Run the worker with the program that started the run, or start a new run", h.Key(), h.Node.Pos))
}

// id is that of a call's activity: its key, the attempt from 2 on, and what is called. Replays compare it.
func (e *execution) id(h *engine.Head, c *engine.Carried) string {
	id := h.Key()
	if h.Attempt > 1 {
		id += "~" + strconv.Itoa(int(h.Attempt))
	}
	return id + "@" + receipt(e.hashed.Nodes[place.ReplaceAllString(h.Key(), "")], c)
}

// place matches items and visits in keys.
var place = regexp.MustCompile(`\[\d+\]|#\d+`)

func hashesOf(info *flow.Info) *journal.Hashes {
	h, err := journal.ParseHashes(info.Facts.Hashes())
	if err != nil {
		return &journal.Hashes{} // keys alone are compared
	}
	return h
}

// call makes the attempt with an activity of its own, a batch or a local activity.
func (e *execution) call(ctx wctx, h *engine.Head, queue, id string, c *engine.Carried, l *engine.Landed) error {
	wait := e.wait(c)
	switch {
	case e.opts.Local && h.Effects == flow.None && queue == "":
		err := e.local(ctx.Context, id, wait, c, l)
		if err == nil && l.Asked != id {
			e.misfit(h)
		}
		return err
	case ctx.batch && h.Effects < flow.Writes:
		if err := e.together(ctx.Context, id, queue, c, l); !errors.Is(err, errNoRoom) {
			if err == nil && l.Asked != c.Asked() {
				e.misfit(h)
			}
			return err
		}
	}
	o := workflow.ActivityOptions{TaskQueue: queue, ActivityID: id, StartToCloseTimeout: wait, HeartbeatTimeout: e.opts.heartbeat(), WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute}}
	if h.Effects < flow.Writes {
		return landed(workflow.ExecuteActivity(workflow.WithActivityOptions(ctx.Context, o), e.activity(c.Tool), sent{Carried: *c, id: id}), ctx.Context, l)
	}
	if d := h.InDoubt; d == nil || d.Policy != flow.RetryWithKey {
		o.RetryPolicy.MaximumAttempts = 1 // a lost worker leaves it in doubt
	}
	// A write is cancelled with the run, not by a sibling. The context must be of this coroutine.
	calm, cancel := workflow.NewDisconnectedContext(ctx.Context)
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(calm, o), e.activity(c.Tool), sent{Carried: *c, id: id})
	s := workflow.NewSelector(calm).AddFuture(f, func(workflow.Future) {})
	if e.root.Err() == nil { // an undo goes on
		s.AddReceive(e.root.Done(), func(workflow.ReceiveChannel, bool) { cancel() })
	}
	s.Select(calm)
	return landed(f, calm, l)
}

// wait is how long the server waits for an attempt. The worker enforces the timeout; the server acts when the worker is lost.
func (e *execution) wait(c *engine.Carried) time.Duration {
	if d := c.Timeout(); d > 0 {
		return d + spare
	}
	return e.opts.longest()
}

// landed waits for a result. It takes the tool's error out of the activity's, in which the server shows it.
func landed(f workflow.Future, ctx workflow.Context, l *engine.Landed) error {
	var g got
	err := f.Get(ctx, &g)
	var ae *temporal.ApplicationError
	if errors.As(err, &ae) && ae.HasDetails() && ae.Details(&g) == nil && g.Error != nil {
		err = nil
	}
	*l = g.Landed
	return err
}

// lost is the result of an activity without one.
func (e *execution) lost(r *flow.Run, h *engine.Head, p engine.Portable, id string, err error) error {
	if temporal.IsCanceledError(err) {
		return cancelled(r)
	}
	var timeout *temporal.TimeoutError
	if !errors.As(err, &timeout) {
		return value.Errorf(value.Unknown, "activity %s: %v", id, err)
	}
	switch d := h.InDoubt; {
	case h.Effects < flow.Writes:
		return p.Land(&engine.Landed{Ran: true, Error: value.Errorf(value.Timeout, "no worker returned a result: %v", timeout)})
	case d != nil && d.Policy == flow.AssumeDone:
		return p.Land(&engine.Landed{Ran: true, Out: json.RawMessage(d.Output)})
	case d != nil && d.Policy == flow.AskInDoubt:
		return e.askInDoubt(r, h, p)
	}
	return &runtime.RunError{Kind: runtime.InDoubt, Message: fmt.Sprintf("%s started on a lost worker: it may have happened", h.Key()), Err: timeout}
}

// room ends the workflow's task when its markers have become large: the server terminates runs whose message to it has more
// than 4 MB.
func (e *execution) room(ctx workflow.Context) error {
	if e.marks > 1<<20 {
		e.marks, e.ended = 0, workflow.NewTimer(e.root, time.Millisecond)
	}
	if f := e.ended; f != nil && !f.IsReady() {
		return f.Get(ctx, nil)
	}
	return nil
}

func (e *execution) local(ctx workflow.Context, id string, wait time.Duration, c *engine.Carried, l *engine.Landed) error {
	if err := e.room(ctx); err != nil {
		return err
	}
	defer func() { e.marks += len(l.Out) + 512 }()
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: wait,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
	return landed(workflow.ExecuteLocalActivity(ctx, e.activity(c.Tool), sent{Carried: *c, id: id}), ctx, l)
}
