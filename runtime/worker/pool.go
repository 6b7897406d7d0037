package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// waiter is a call that has no worker yet.
type waiter struct {
	call  *Call
	alone bool
	got   chan *flight // one, or closed after err is set
	err   error
}

// acquire finds c a place in a worker, waiting for it when there is none. With alone the worker has no other call
// and takes none until this one is done.
func (p *Pool) acquire(ctx context.Context, c *Call, alone bool) (*flight, error) {
	p.mu.Lock()
	if len(p.waiting) == 0 { // who waits already comes first
		if f := p.place(c, alone); f != nil {
			p.mu.Unlock()
			return f, nil
		}
	}
	w := &waiter{call: c, alone: alone, got: make(chan *flight, 1)}
	p.waiting = append(p.waiting, w)
	p.kick()
	p.mu.Unlock()
	select {
	case f, ok := <-w.got:
		if !ok {
			return nil, w.err
		}
		return f, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	} else if f, ok := <-w.got; ok { // it came at the same moment
		f.giveBack()
		p.kick()
	}
	return nil, ended(c, ctx.Err())
}

// place books c into a worker; nil when it must wait. The pool is locked.
func (p *Pool) place(c *Call, alone bool) *flight {
	if p.closed {
		return nil
	}
	var best *process
	for _, w := range p.procs {
		if !w.takes(c.Holder) {
			continue
		}
		switch {
		case len(w.flights) == 0:
			if best == nil || len(best.flights) > 0 || w.used > best.used {
				best = w
			}
		case best == nil || len(w.flights) < len(best.flights):
			best = w
		}
	}
	if best == nil {
		return nil
	}
	if len(best.flights) > 0 && (alone || len(p.procs)+p.starting < p.config.MaxWorkers || len(best.flights) >= p.config.PerWorker) {
		return nil
	}
	return best.book(c, alone)
}

// kick gives waiting calls their places and starts workers for the rest. The pool is locked.
func (p *Pool) kick() {
	var left []*waiter
	for _, w := range p.waiting {
		if f := p.place(w.call, w.alone); f != nil {
			w.got <- f
			continue
		}
		left = append(left, w)
	}
	p.waiting = left
	if p.closed || len(left) == 0 {
		return
	}
	for p.starting < len(left) && len(p.procs)+p.starting < p.config.MaxWorkers {
		p.starting++
		p.life.Add(1)
		go p.start(left[p.starting-1].call.Holder)
	}
	if len(p.procs)+p.starting >= p.config.MaxWorkers {
		p.makeRoom(left)
	}
}

// makeRoom ends an idle worker of another holder when a waiting call finds none it may use.
func (p *Pool) makeRoom(left []*waiter) {
	if p.starting > 0 {
		return
	}
	for _, c := range left {
		served := slices.ContainsFunc(p.procs, func(w *process) bool { return w.holder == c.call.Holder || w.state == retired })
		if served {
			continue
		}
		for _, w := range p.procs {
			if w.state == live && len(w.flights) == 0 {
				w.state = retired
				go w.close()
				return
			}
		}
	}
}

// errShut is the error of a worker that Shutdown ended before it was ready.
var errShut = errors.New("the pool was shut down")

// start brings up one worker. The caller has counted it in starting and life.
func (p *Pool) start(holder string) {
	w, err := p.launch(holder)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting--
	switch {
	case errors.Is(err, errShut): // calls that have come since then get another one
	case err != nil && len(p.procs)+p.starting == 0:
		for _, c := range p.waiting {
			c.err = err
			close(c.got)
		}
		p.waiting = nil
		return
	case err != nil:
		return // others are there to serve
	case w.state == live && p.closed:
		go w.close()
	}
	p.kick()
}

// failed is the error of a worker that could not be started.
func (p *Pool) failed(err error) error {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te
	}
	return value.Errorf(value.SandboxError, "the %s could not be started: %s", p.config.Name, reason(err))
}
