package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// UndoTool is the tool that the beginning of undos is recorded as, at the key UndoNode in the scope of the body. From there on a
// resumed run makes no call in that scope but undos. No policy counts it, and nothing stands in for it.
const UndoTool = "undo@1"

// UndoNode is the id of the node that UndoTool is recorded for; UndoSuffix ends the ids of nodes that undo others. No id of a workflow
// has a dot.
const (
	UndoNode   = "run.undo"
	UndoSuffix = ".undo"
)

// undoing is what undoes the successes in one body of a workflow.
type undoing struct {
	outer *undoing // of the workflow that runs this one; nil: there is none
	run   *Run     // of the body

	mu     sync.Mutex // guards what follows
	due    []func() error
	failed []error
}

// UndoError is the error of a run that failed, and of whose successes some could not be undone.
type UndoError struct {
	Err    error   // why the run failed
	Failed []error // *NodeError of each undo that failed, in the order of their keys
}

// Error returns a line for each error, that of the run first.
func (e *UndoError) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	for _, f := range e.Failed {
		b.WriteString("\n" + f.Error())
	}
	return b.String()
}

// Unwrap returns the errors, that of the run first: errors.As finds its code.
func (e *UndoError) Unwrap() []error { return append([]error{e.Err}, e.Failed...) }

// Undoing begins the body of a workflow some of whose nodes can be undone. Undo must be called with what comes of the body.
func (r *Run) Undoing() *Run {
	c := *r
	c.undo = &undoing{outer: r.undo, run: r}
	return &c
}

// OnFailure says what undoes a success when the body it belongs to fails: the call of t with in, for node n. It runs like a call of
// its own, except that nothing cancels it and no cap of a policy refuses it.
func OnFailure[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) {
	free := r.uncancelled()
	r.undo.mu.Lock()
	defer r.undo.mu.Unlock()
	r.undo.due = append(r.undo.due, func() error {
		_, err := Call(free, n, t, in)
		return err
	})
}

// Undo ends a body that Undoing began. When the body failed it makes the calls of OnFailure, the last first. When it succeeded, or a
// sibling's failure cancelled it, they pass to the workflow that runs it. A run that can go on, because a call is in doubt or the journal is
// out of reach, is not undone. Generated code defers it.
func (r *Run) Undo(err *error) {
	u := r.undo
	nested := u.outer != nil
	switch {
	case nested && (*err == nil || IsCancelled(*err)):
		u.outer.adopt(u)
		return
	case *err != nil && !isFatal(*err) && len(u.due) > 0 && !u.run.suspended(*err):
		u.undoAll()
	}
	switch {
	case nested:
		u.due = nil
		u.outer.adopt(u)
	case *err != nil && len(u.failed) > 0:
		slices.SortFunc(u.failed, func(a, b error) int { return strings.Compare(keyOf(a), keyOf(b)) })
		*err = &UndoError{Err: *err, Failed: u.failed}
	}
}

// adopt takes over what a body has left that ends.
func (u *undoing) adopt(ended *undoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.due, u.failed = append(u.due, ended.due...), append(u.failed, ended.failed...)
}

// undoAll makes the calls. One that fails does not keep the others from being made, unless it ends the run: then a resumed run goes on.
func (u *undoing) undoAll() {
	if err := u.begin(); err != nil {
		u.failed = append(u.failed, err)
		return
	}
	for _, undo := range slices.Backward(u.due) {
		err := undo()
		if err == nil {
			continue
		}
		if u.failed = append(u.failed, err); isFatal(err) {
			return
		}
	}
}

// begin records that the body is being undone.
func (u *undoing) begin() error {
	if u.run.eng == nil {
		return nil
	}
	free := u.run.uncancelled()
	free.guard = nil
	_, err := Call(free, &Node{ID: UndoNode, Pos: free.Info().Source, Index: -1}, Bind(UndoTool, None, func(context.Context, struct{}) (string, error) {
		if u.run.state.ctx.Err() == nil {
			return "", nil
		}
		return context.Cause(u.run.state.ctx).Error(), nil
	}, Timeout(0), Cancellable()), struct{}{})
	return err
}

// suspended reports whether a run that was stopped with err is to go on later.
func (r *Run) suspended(err error) bool {
	s, ok := r.eng.(Suspender)
	return ok && IsCancelled(err) && s.Suspended()
}

// uncancelled is r for calls that nothing cancels, and that no cap refuses.
func (r *Run) uncancelled() *Run {
	s := r.state
	c := *r
	c.undo, c.bound, c.guard = nil, nil, r.guard.uncapped()
	c.ctx = context.WithoutCancel(r.ctx)
	c.state = &state{root: s.root, rt: s.rt, ctx: context.WithoutCancel(s.ctx), seed: s.seed, begin: s.begin, broken: s.broken, tenant: s.tenant}
	return &c
}

// uncapped is the guards without what they count.
func (g *guard) uncapped() *guard {
	if g == nil {
		return nil
	}
	p := *g.policy
	p.MaxToolCalls, p.MaxPerTool, p.MaxCostUSD, p.MaxTokens, p.MaxTime = 0, nil, "", 0, 0
	c := newGuard(&p, g.outer.uncapped())
	c.turns = g.turns
	return c
}

func keyOf(err error) string {
	var ne *NodeError
	if errors.As(err, &ne) {
		return ne.Key
	}
	return ""
}
