package worker

import (
	"context"
	"errors"
	"os"
	"time"
)

// partial is a frame whose body has not come whole.
type partial struct {
	header
	flight *flight
	body   []byte
	have   int
}

var errProtocol = errors.New("no frame of the protocol")

// readFor reads frames until the one that ends f, or until ctx ends. With an error nothing more can be read and the
// worker has been killed. The caller has the turn.
func (w *process) readFor(ctx context.Context, f *flight) (reply, bool, error) {
	if w.broken != nil {
		return reply{}, false, w.broken
	}
	undo := interrupt(ctx, w.out.SetReadDeadline)
	defer undo()
	for {
		if len(f.done) > 0 || len(f.runs) > 0 {
			return reply{}, false, nil
		}
		r, mine, err := w.next(f)
		switch {
		case mine:
			return r, true, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return reply{}, false, nil // ctx, or the burial: whichever it is comes by itself
		case err != nil:
			w.broken = err
			if errors.Is(err, errProtocol) {
				w.kill(garbage)
			} else {
				w.hungUp(mute)
			}
			return reply{}, false, err
		}
	}
}

// drain reads what a dead worker has left behind, within Grace.
func (w *process) drain() {
	_ = w.out.SetReadDeadline(time.Now().Add(w.pool.grace))
	late := time.AfterFunc(2*w.pool.grace, func() { _ = w.out.Close() }) // ends a reader that undid the deadline
	w.turn <- struct{}{}
	late.Stop()
	_ = w.out.SetReadDeadline(time.Now().Add(w.pool.grace))
	for w.broken == nil {
		_, _, w.broken = w.next(nil)
	}
	<-w.turn
}

// next reads one frame, or what has come of it; it can be called again after a deadline. It delivers the frame, unless
// it ends f: then it returns the reply.
func (w *process) next(f *flight) (r reply, mine bool, err error) {
	if w.part == nil {
		b, err := w.in.Peek(headerSize)
		if err != nil {
			return r, false, err
		}
		h, ok := parseHeader(b)
		if !ok {
			return r, false, errProtocol
		}
		if _, err := w.in.Discard(headerSize); err != nil {
			return r, false, err
		}
		if w.part, err = w.open(h); err != nil || w.part == nil {
			return r, false, err
		}
	}
	p := w.part
	for p.have < len(p.body) {
		n, err := w.in.Read(p.body[p.have:])
		p.have += n
		if err != nil {
			return r, false, err
		}
	}
	w.part = nil
	switch p.kind {
	case kindAttached:
		p.flight.beside = p.body
		return r, false, nil
	case kindLogs:
		if p.flight != nil { // else a thread of a call that has ended goes on
			p.flight.log(p.body)
		}
		return r, false, nil
	}
	p.flight.finish(p.kind == kindError)
	if p.kind == kindError {
		r = reply{err: Answered(p.flight.call.ctx, p.flight.call.What, p.body)}
	} else {
		r = reply{body: p.body}
	}
	if p.flight == f {
		return r, true, nil
	}
	p.flight.done <- r
	return reply{}, false, nil
}

// open handles a frame without a body, and makes room for one with a body.
func (w *process) open(h header) (*partial, error) {
	w.pool.mu.Lock()
	f := w.flights[h.id]
	known := h.id > 0 && h.id <= w.last
	asked := f != nil && f.asked
	w.pool.mu.Unlock()
	switch h.kind {
	case kindReady:
		if w.ready || h.id != 0 || h.size != 0 {
			return nil, errProtocol
		}
		w.ready = true
		return nil, nil
	case kindRuns:
		if !known || h.size != 0 {
			return nil, errProtocol
		}
		if asked && len(f.runs) == 0 {
			f.runs <- struct{}{}
		}
		return nil, nil
	case kindAttached:
		if f == nil || f.beside != nil || h.size > maxAttached {
			return nil, errProtocol
		}
		return &partial{header: h, flight: f, body: make([]byte, h.size)}, nil
	case kindLogs:
		if !known || h.size > maxLogs {
			return nil, errProtocol
		}
		return &partial{header: h, flight: f, body: make([]byte, h.size)}, nil
	case kindResult, kindError:
		if f == nil {
			return nil, errProtocol
		}
		limit := maxError
		if h.kind == kindResult {
			limit = f.call.maxOutput()
		}
		if h.size > limit { // nothing of it is read, so the stream ends here
			f.finish(true)
			f.done <- reply{err: tooLarge(f.call)}
			return nil, errProtocol
		}
		return &partial{header: h, flight: f, body: make([]byte, h.size)}, nil
	}
	return nil, errProtocol
}
