package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Waiting is the error of a recorded run that stopped because it waits for users: the process has no way to ask them, and
// nothing else in the run can make progress. Its journal has its state. Any process can resume it with the answer: see
// Folder.Respond and Resume of package journal/runs.
type Waiting struct {
	RunID     string
	Workflow  string
	Question  Question   // the first of Questions
	Questions []Question // those that have no answer, in the order of their keys
}

// Error says which run waits for the answers to which questions.
func (w *Waiting) Error() string {
	keys := make([]string, len(w.Questions))
	for i, q := range w.Questions {
		keys[i] = q.Key
	}
	return "run " + w.RunID + " waits for an answer to " + strings.Join(keys, ", ")
}

// Waiter is an Engine whose runs can stop while they wait for users, and be resumed later.
type Waiter interface {
	Suspender
	// Answered returns what a user has said to the question of that key while the run was stopped.
	Answered(key string) (answer string, ok bool)
	// Wait calls stop as soon as nothing else in the run goes on, and returns when ctx is done.
	Wait(ctx context.Context, stop func()) error
}

// errWaiting is why the context of a run that waits is cancelled.
var errWaiting = errors.New("it waits for answers")

// waits is what a run with a Waiter knows of its open questions.
type waits struct {
	eng  Waiter
	stop context.CancelCauseFunc

	mu   sync.Mutex // guards open
	open []Question
}

// patient lets a run whose engine is a Waiter stop when nobody else is asked.
func (r *Run) patient() {
	eng, ok := r.eng.(Waiter)
	if !ok {
		return
	}
	s := r.state
	s.waits = &waits{eng: eng}
	s.ctx, s.waits.stop = context.WithCancelCause(s.ctx)
	r.ctx = s.ctx
}

// wait is what a question does that no user is available to answer: the run stops until there is one. A node's timeout counts
// from the first time that it was asked.
func (w *waits) wait(ctx context.Context, r *Run, h *Head, q Question) error {
	if limit := r.Limit(h).Of; limit > 0 && h.Since != nil {
		// A question of the future is of a clock that was ahead: nobody knows since when it is open, and it must not stay so.
		if r.Now().Sub(*h.Since).Abs() > limit {
			return value.Errorf(value.Timeout, "no answer within %v", limit)
		}
	}
	w.mu.Lock()
	w.open = append(w.open, q)
	w.mu.Unlock()
	return w.eng.Wait(ctx, func() { w.stop(errWaiting) })
}

// stoppedForPeople reports whether err is that of a run or call that ends because the run waits for answers.
func (r *Run) stoppedForPeople(err error) bool {
	w := r.state.waits
	return w != nil && IsCancelled(err) && w.eng.Suspended() && context.Cause(r.state.ctx) == errWaiting
}

// waiting is the error of a run that has stopped with err because it waits, else err.
func (r *Run) waiting(err error) error {
	w := r.state.waits
	if w == nil {
		return err
	}
	defer w.stop(nil)
	if !r.stoppedForPeople(err) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	open := slices.Clone(w.open)
	slices.SortStableFunc(open, func(a, b Question) int { return strings.Compare(a.Key, b.Key) })
	return &Waiting{RunID: r.ID(), Workflow: r.Info().Name, Question: open[0], Questions: open}
}
