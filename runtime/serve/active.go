package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// active is a run that this process is at.
type active struct {
	id       string
	workflow *Workflow
	tenant   string
	fresh    bool   // a new run
	trace    string // of the request that began it, or has it go on
	input    []byte // known when begun is closed
	since    time.Time
	ctx      context.Context
	cancel   context.CancelCauseFunc

	begun chan struct{}    // closed when its beginning is recorded, or that it goes on; the following is known then
	past  *journal.Journal // what was recorded before; nil: a new run
	done  chan struct{}    // closed when it is over; the following is known then
	end   journal.Finish
	code  string // of its failure
	err   error  // why it is not recorded, or goes on no more
}

var (
	errCancelled = errors.New("the run was cancelled")
	errDrained   = errors.New("the server stops") // the run goes on with the next one
)

// hasBegun reports whether the beginning of a run is recorded, or that it goes on.
func (a *active) hasBegun() bool {
	select {
	case <-a.begun:
		return true
	default:
		return false
	}
}

// begins waits until a run has begun, or goes on, and reports whether it does.
func (a *active) begins() bool {
	select {
	case <-a.begun:
		return true
	case <-a.done:
		return a.hasBegun()
	}
}

// admit makes room for a run, or finds the one that has the id. The run must be launched then. There is always room for one that is
// not new.
func (s *Server) admit(w *Workflow, id, tenant string, fresh bool) (a *active, there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.active[id]; a != nil {
		return a, true, nil
	}
	switch {
	case s.draining:
		return nil, false, fault(http.StatusServiceUnavailable, "DRAINING", "the server is about to stop").later(5 * time.Second)
	case fresh && len(s.active) >= s.o.MaxRuns+s.o.MaxQueue:
		return nil, false, fault(http.StatusTooManyRequests, "QUEUE_FULL", "too many runs wait for their turn").later(time.Second)
	case fresh && s.tenants[tenant] >= s.o.MaxTenant:
		return nil, false, fault(http.StatusTooManyRequests, "QUEUE_FULL", "too many runs of this tenant wait for their turn").later(time.Second)
	}
	a = &active{id: id, workflow: w, tenant: tenant, fresh: fresh, since: time.Now(), begun: make(chan struct{}), done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancelCause(s.ctx)
	s.active[id] = a
	if len(s.active) >= s.o.MaxRuns+s.o.MaxQueue && s.full.IsZero() {
		s.full = a.since
	}
	if s.own != nil {
		s.own[id] = true
	}
	s.tenants[tenant]++
	s.all.Add(1)
	if t := s.timers[id]; t != nil {
		t.Stop()
		delete(s.timers, id)
	}
	delete(s.waiting, id)
	delete(s.stopped, id)
	return a, false, nil
}

// launch runs an admitted run, with the engine that open makes, until it is over.
func (s *Server) launch(a *active, input []byte, open func(*flow.Info) (*runs.Engine, error)) {
	a.input = input
	go func() {
		ctx := a.ctx
		defer s.all.Done()
		defer a.cancel(nil)
		if a.tenant != "" {
			ctx = runtime.TenantContext(ctx, a.tenant)
		}
		g := &gate{s: s, a: a, ctx: ctx}
		under := engine.NewContext(ctx, func(info *flow.Info) (e engine.Engine, err error) {
			if g.Engine, err = open(info); err != nil {
				return nil, err
			}
			return g, nil
		})
		if a.fresh {
			under = runtime.WithRunID(under, a.id)
		}
		a.err = a.workflow.run(under, input)
		s.over(a, g)
	}()
}

// over is what happens when a run is over.
func (s *Server) over(a *active, g *gate) {
	if g.slot {
		<-s.slots
	}
	if a.err != nil {
		if waits := (*runtime.Waiting)(nil); errors.As(a.err, &waits) {
			a.end.Outcome = journal.Waiting
		}
	}
	if g.Engine != nil {
		_ = g.Engine.Close() // of a run that has not begun
	}
	begun, log := g.begun, traced(s.o.Log, a.trace)
	if a.err != nil {
		if p := (*panicked)(nil); errors.As(a.err, &p) {
			log.Error("run panicked", "run", a.id, "workflow", a.workflow.Name(), "value", p.Error(), "stack", string(p.stack))
		}
	}
	switch {
	case !begun:
		log.Warn("run not begun", "run", a.id, "workflow", a.workflow.Name(), "error", a.err)
	default:
		log.Info("run over", "run", a.id, "workflow", a.workflow.Name(), "outcome", string(a.end.Outcome), "duration", time.Since(a.since))
		s.metrics.run(a.workflow.Name(), a.end.Outcome, time.Since(a.since))
	}
	s.mu.Lock()
	delete(s.active, a.id)
	if len(s.active) < s.o.MaxRuns+s.o.MaxQueue {
		s.full = time.Time{}
	}
	if s.tenants[a.tenant]--; s.tenants[a.tenant] <= 0 {
		delete(s.tenants, a.tenant)
	}
	switch {
	case a.end.Outcome == journal.Waiting:
		s.waiting[a.id] = a.workflow.Name()
	case a.end.Outcome == journal.Open && a.err != nil && !a.left() && (begun || !a.fresh):
		s.stopped[a.id] = a.err.Error()
	}
	s.mu.Unlock()
	if a.end.Outcome == journal.Waiting {
		s.arm(a.id, true)
	}
	close(a.done)
}

// left reports whether a run is over for this process because it was none to go on with.
func (a *active) left() bool {
	return errors.Is(a.err, runs.ErrBusy) || errors.Is(a.err, runs.ErrExists) || errors.Is(a.err, errOver)
}

// gate is the engine of a run that waits for its turn behind its first line, and that leaves no end when the server stops.
type gate struct {
	*runs.Engine
	s     *Server
	a     *active
	ctx   context.Context
	begun bool
	slot  bool // it has one of Server.slots
}

// Start implements engine.Starter.
func (g *gate) Start(r *flow.Run) error {
	if err := g.Engine.Start(r); err != nil {
		return err
	}
	g.begun = true
	close(g.a.begun)
	select {
	case g.s.slots <- struct{}{}:
		g.slot = true
		return nil
	default:
	}
	g.s.queued.Add(1)
	defer g.s.queued.Add(-1)
	select {
	case g.s.slots <- struct{}{}:
		g.slot = true
	case <-g.ctx.Done(): // its calls end at once
	}
	return nil
}

// Suspended implements engine.Suspender.
func (g *gate) Suspended() bool { return g.drained() || g.Engine.Suspended() }

func (g *gate) drained() bool { return errors.Is(context.Cause(g.ctx), errDrained) }

// Finish implements engine.Finisher.
func (g *gate) Finish(r *flow.Run, err error) error {
	g.a.end = journal.FinishOf(r, err)
	if err != nil && g.drained() && g.a.end.Outcome == journal.Cancelled {
		g.a.end = journal.Finish{}
		return g.Engine.Finish(r, &runtime.RunError{Kind: runtime.JournalUnavailable, Message: errDrained.Error()}) // without a last line
	}
	g.a.code = codeOf(err)
	return g.Engine.Finish(r, err)
}

// goingOn says how a run goes on.
type goingOn struct {
	runs.Continue
	trace     string // of the request that asks for it
	cancelled bool   // to end at once
	answer    string // key of the question whose answer it goes on with
}

// errOver is the error of a run that is over, so that it does not go on.
var errOver = errors.New("the run has ended")

// goOn resumes a run, or finds the one that goes on in the way that is wanted.
func (s *Server) goOn(id string, how *goingOn) (*active, error) {
	j, err := s.o.Runs.Read(id)
	if err != nil {
		return nil, err
	}
	h := j.Header()
	w := s.workflows[h.Workflow]
	switch {
	case w == nil:
		return nil, fault(http.StatusConflict, "STOPPED", "the workflow of the run is not served").of(id)
	case strings.Contains(string(h.Input), redact.Redacted):
		return nil, fault(http.StatusConflict, "STOPPED", "the run's input contained a secret, which its journal omits").of(id)
	}
	for {
		a, there, err := s.admit(w, id, h.Tenant, false)
		if err != nil {
			return nil, err
		}
		if !there {
			s.resumed(a, h.Input, how)
			return a, nil
		}
		if s.fits(a, how) {
			return a, nil
		}
	}
}

// resumed launches an admitted run that goes on.
func (s *Server) resumed(a *active, input []byte, how *goingOn) {
	a.trace = how.trace
	s.launch(a, input, func(info *flow.Info) (e *runs.Engine, err error) {
		err = unlocked(s.ctx, func() error {
			e, a.past, err = s.o.Runs.Resume(info, a.id, how.Continue)
			return err
		})
		if err != nil {
			return nil, err
		}
		if end := a.past.Finish().Outcome; end == journal.Succeeded || end == journal.Failed && !how.Again { // since it was looked at
			err = errors.Join(errOver, e.Close())
		}
		return e, err
	})
	if how.cancelled {
		a.cancel(errCancelled)
	}
}

// fits has a run that is active go on in the way that is wanted, and reports whether it does. One that is about to leave does not:
// it was begun a second time, found its journal locked, or ends without the answer.
func (s *Server) fits(a *active, how *goingOn) bool {
	if !a.begins() {
		return false
	}
	if how.answer != "" {
		if a.past != nil {
			if _, ok := a.past.Answered(how.answer); ok {
				return true
			}
		}
		<-a.done // its journal was free for the answer
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[a.id] != a {
		return false
	}
	if how.cancelled {
		a.cancel(errCancelled)
	}
	return true
}

const (
	unlocking  = 500 * time.Millisecond
	lookLocked = 5 * time.Millisecond
)

// unlocked calls f until no other has the journal that it is for, or for some time: an answer locks a journal for a moment.
func unlocked(ctx context.Context, f func() error) error {
	for begin := time.Now(); ; {
		err := f()
		if !errors.Is(err, runs.ErrBusy) || time.Since(begin) > unlocking {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lookLocked):
		}
	}
}

// recover finds out what the last process has left, and goes on with it.
func (s *Server) recover() {
	list, err := s.o.Runs.List()
	if err != nil {
		s.o.Log.Error("the runs of the previous process cannot be listed", "error", err)
	}
	s.mu.Lock()
	own := s.own
	s.own = nil
	s.mu.Unlock()
	var left, waiting []string
	for _, r := range list {
		if s.workflows[r.Workflow] == nil || own[r.ID] {
			continue
		}
		switch r.Outcome {
		case journal.Open:
			if r.Failure != "" {
				s.o.Log.Warn("run cannot be read", "run", r.ID, "error", r.Failure)
				continue
			}
			left = append(left, r.ID)
		case journal.Waiting:
			s.mu.Lock()
			if s.active[r.ID] == nil {
				s.waiting[r.ID] = r.Workflow
			}
			s.mu.Unlock()
			waiting = append(waiting, r.ID)
		}
	}
	close(s.found)
	for _, id := range waiting { // behind found: the time for an answer is read from all of a journal
		if s.ctx.Err() != nil {
			return
		}
		if s.arm(id, !s.o.Leave) {
			left = append(left, id)
		}
	}
	if s.o.Leave {
		s.leave(left)
		return
	}
	for _, id := range left { // each takes its turn
		select {
		case s.slots <- struct{}{}:
			<-s.slots
		case <-s.ctx.Done():
			return
		}
		a, err := s.goOn(id, &goingOn{})
		if err != nil {
			s.o.Log.Warn("run does not continue", "run", id, "error", err)
			s.mu.Lock()
			s.stopped[id] = err.Error()
			s.mu.Unlock()
			continue
		}
		if a.begins() {
			s.o.Log.Info("run goes on", "run", id, "workflow", a.workflow.Name())
		}
	}
}

// leave says of runs of the last process that they do not go on by themselves.
func (s *Server) leave(left []string) {
	for _, id := range left {
		if s.o.Runs.Busy(id) { // another process is at it
			continue
		}
		s.mu.Lock()
		if s.active[id] == nil {
			s.stopped[id] = "the previous process did not finish the run, and --on-restart is leave: resume it to continue"
		}
		s.mu.Unlock()
	}
}

// arm has a run that waits go on when the time for an answer is over, if it is to go on by itself. It reports whether it can now.
func (s *Server) arm(id string, itself bool) (now bool) {
	j, err := s.o.Runs.Read(id)
	if err != nil {
		return false
	}
	var first time.Time
	open := j.Questions()
	for _, q := range open {
		if at := j.Header().Begin.Add(q.Start + q.Limit); q.Limit > 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if len(open) == 0 {
		return true
	}
	if first.IsZero() || !itself {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining || s.active[id] != nil || s.timers[id] != nil {
		return false
	}
	s.timers[id] = time.AfterFunc(time.Until(first)+time.Millisecond, func() {
		if _, err := s.goOn(id, &goingOn{}); err != nil {
			s.o.Log.Warn("run does not continue", "run", id, "error", err)
		}
	})
	return false
}

// stubborn is how long calls may take to end that were told to.
const stubborn = 5 * time.Second

// Shutdown ends the server: new runs are refused, streams of events end, and runs go on until they are over or ctx is done. Those
// that are not over are stopped, so that the next process goes on with them. The error is that of ctx when there were such.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	for _, t := range s.timers {
		t.Stop()
	}
	s.mu.Unlock()
	s.streams.end()
	over := make(chan struct{})
	go func() {
		s.all.Wait()
		close(over)
	}()
	var err error
	select {
	case <-over:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.stop(errDrained)
	select {
	case <-over:
	case <-time.After(stubborn):
		err = errors.Join(err, errors.New("serve: some calls do not finish"))
	}
	s.o.Runs.Watch(nil)
	return err
}

// Drain has Admin say that the server is not ready, so that nobody sends requests any more. Those that come are answered until
// Shutdown.
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
}
