package worker

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// flight is a call that has its place in a worker. The pool's lock guards asked, late and the membership in
// process.flights.
type flight struct {
	call  *Call
	proc  *process
	id    uint32
	lane  int
	alone bool
	asked bool // the worker was asked to stop it
	late  bool // its context ended, it did not

	unsent bool          // it could not be written whole; only who makes the call looks at it
	beside []byte        // what it has attached; written by who reads, before done
	done   chan reply    // one
	runs   chan struct{} // one: the worker says that the call still runs

	logging sync.Mutex
	logged  bool // nothing more is logged: who makes the call has left
}

// log takes what the call has printed. Any call of the worker may have read it.
func (f *flight) log(text []byte) {
	f.logging.Lock()
	defer f.logging.Unlock()
	if !f.logged {
		tool.Context(f.call.ctx).Log(text)
	}
}

// endLog keeps what comes later out of the logs.
func (f *flight) endLog() {
	f.logging.Lock()
	defer f.logging.Unlock()
	f.logged = true
}

// reply is the end of a flight: a body, or an error (a *lost when the worker is gone).
type reply struct {
	body []byte
	err  error
}

// book adds a call to the worker. The pool is locked.
func (w *process) book(c *Call, alone bool) *flight {
	w.last++
	f := &flight{call: c, proc: w, id: w.last, alone: alone, done: make(chan reply, 1), runs: make(chan struct{}, 1)}
	if len(w.lanes) == 2 && w.first != nil {
		f.lane = 1
	} else {
		w.first = f
	}
	w.alone = w.alone || alone
	w.flights[f.id] = f
	w.peak.Store(max(w.peak.Load(), int64(len(w.flights))))
	w.pool.clock++
	w.used = w.pool.clock
	return f
}

// land removes f from its worker. The pool is locked.
func (f *flight) land() {
	w := f.proc
	delete(w.flights, f.id)
	if w.first == f {
		w.first = nil
	}
	if f.alone {
		w.alone = false
	}
	if f.late {
		w.late--
	}
}

// giveBack lands a flight that never went to the worker. The pool is locked.
func (f *flight) giveBack() {
	f.land()
	f.proc.settle()
}

// finish ends f and lets others have its place. A call that failed and was the only one may have failed because of what others
// left behind: so that no more do, the processes are counted at once.
func (f *flight) finish(failed bool) {
	w, p := f.proc, f.proc.pool
	if failed {
		p.mu.Lock()
		only := len(w.flights) == 1
		p.mu.Unlock()
		if only {
			w.gauge.countLeft()
		}
	}
	leak := w.gauge.look(w.peak.Load()) // the call that finishes reads, one at a time
	p.mu.Lock()
	f.land()
	if leak != nil && w.state == live {
		w.state, w.closing, w.leak = retired, true, leak
	}
	w.settle()
	if len(p.waiting) > 0 {
		p.kick()
	}
	p.mu.Unlock()
}

// do sends the call and waits for its end.
func (f *flight) do(ctx context.Context) ([]byte, error) {
	defer f.endLog()
	if err := f.send(ctx); err != nil {
		return nil, err
	}
	if r, ok := f.wait(ctx); ok {
		if r.err == nil {
			r.err = Attach(ctx, f.call.What, f.beside)
		}
		return r.body, r.err
	}
	f.stop()
	return nil, ended(f.call, ctx.Err())
}

// wait returns the end of f, or false when ctx has ended or the worker says that the call still runs. Who waits reads
// what the worker writes, one at a time and for all: so a call that is alone pays for no other goroutine.
func (f *flight) wait(ctx context.Context) (reply, bool) {
	turn := f.proc.turn
	for {
		select {
		case r := <-f.done:
			return r, true
		default: // before the turn, which may be free as well
		}
		select {
		case r := <-f.done:
			return r, true
		case <-f.runs:
			return reply{}, false
		case <-ctx.Done():
			return reply{}, false
		case turn <- struct{}{}:
			r, ok, err := f.proc.readFor(ctx, f)
			<-turn
			if ok {
				return r, true
			}
			if err != nil {
				turn = nil // there is nothing to read any more: the worker's burial brings the end
			}
		}
	}
}

// send writes the call, and the asset it needs, to the worker.
func (f *flight) send(ctx context.Context) error {
	w, l := f.proc, f.proc.lanes[f.lane]
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		w.pool.mu.Lock()
		f.giveBack()
		w.pool.kick()
		w.pool.mu.Unlock()
		return ended(f.call, ctx.Err())
	}
	defer func() { <-l.busy }()
	b := l.room[:0]
	if a := f.call.Asset; a != nil && !l.has[a.Key] {
		b = frame(b, 0, kindAsset, a.Body)
		l.has[a.Key] = true
	}
	b = frame(b, f.id, kindCall, f.call.Body...)
	err := l.write(ctx, b)
	if cap(b) <= keepRoom {
		l.room = b
	}
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) { // ctx has ended, and what was written in part cannot be taken back
			w.kill(stuck)
			return ended(f.call, ctx.Err())
		}
		f.unsent = true
		w.hungUp(deaf) // what cannot be written will not be answered
	}
	return nil // the answer, or the worker's death, comes to done
}

// stop ends a call whose context has ended. When it returns, the call has stopped, or its worker has been killed, or
// takes no new calls and will be killed.
func (f *flight) stop() {
	w := f.proc
	w.pool.mu.Lock()
	f.asked = true
	w.pool.mu.Unlock()
	w.tell(f.id, kindCancel)
	grace, cancel := context.WithTimeout(context.Background(), w.pool.grace)
	defer cancel()
	if _, ok := f.wait(grace); ok {
		return
	}
	if grace.Err() == nil { // it runs
		w.retire(f)
		return
	}
	w.pool.mu.Lock()
	w.markLate(f)
	w.pool.mu.Unlock()
	w.kill(stuck)
	<-f.done
}

// lane is one pipe into a worker.
type lane struct {
	file *os.File
	busy chan struct{}   // holds one while somebody writes
	room []byte          // of the writer
	has  map[string]bool // assets that were sent
}

const keepRoom = 256 << 10

// write writes b unless ctx ends first.
func (l *lane) write(ctx context.Context, b []byte) error {
	defer interrupt(ctx, l.file.SetWriteDeadline)()
	_, err := l.file.Write(b)
	return err
}

// interrupt has set called with a time that is past when ctx ends, and the zero time when it is undone.
func interrupt(ctx context.Context, set func(time.Time) error) (undo func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ran := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ran)
		_ = set(time.Unix(1, 0))
	})
	return func() {
		if !stop() {
			<-ran
			_ = set(time.Time{})
		}
	}
}

// tell sends a frame without a body. A worker that does not read within Grace will be found out by the caller.
func (w *process) tell(id uint32, kind byte) {
	l := w.lanes[len(w.lanes)-1]
	ctx, cancel := context.WithTimeout(context.Background(), w.pool.grace)
	defer cancel()
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.busy }()
	switch err := l.write(ctx, frame(nil, id, kind)); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.kill(stuck)
	case err != nil:
		w.hungUp(deaf)
	}
}

// tooLarge is the error of a result beyond the cap of its call.
func tooLarge(c *Call) error {
	e := value.Errorf(value.PolicyDenied, "the result of %s is larger than the %d bytes allowed: raise max_output", c.What, c.maxOutput())
	e.Details = value.Map(value.Entry{Key: "max_output", Value: value.Int(int64(c.maxOutput()))})
	return e
}

func (c *Call) maxOutput() int { return MaxOutput(c.MaxOutput) }

// MaxOutput is the bound that a declared one gives: DefaultMaxOutput for 0, and MaxFrame at most.
func MaxOutput(declared int) int {
	if declared <= 0 {
		return DefaultMaxOutput
	}
	return min(declared, MaxFrame)
}
