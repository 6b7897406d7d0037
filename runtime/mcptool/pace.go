package mcptool

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// The client keeps what a server asks for until it is answered, and a server can draw that out: what comes is bounded by its
// number.
const (
	maxAsked     = 1000 // requests of a local server without an answer
	maxAnswering = 100  // answers to requests of a remote server under way, each of which is a connection

	burstLines  = 20_000 // of the events of a remote server, at once; an event has two or three
	steadyLines = 1000   // a second, after that

	freeStreams = 20 // streams that a remote server may end at once; after that it waits for each
)

// betweenStreams is the least time between two streams of a server that ends them.
const betweenStreams = time.Second

var errFlood = errors.New("the server sends too many messages")

// A pace is how much more a server may send. It is safe for concurrent use.
type pace struct {
	mu   sync.Mutex
	left float64
	at   time.Time // of left; zero: nothing has been sent
}

// take reports whether n more lines may come, now.
func (p *pace) take(n int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		p.left = burstLines
	} else {
		p.left = min(p.left+max(now.Sub(p.at).Seconds(), 0)*steadyLines, burstLines)
	}
	p.at = now
	p.left -= float64(n)
	return p.left >= 0
}

// unhurried waits before a request for a stream when the server has ended many: it decides how soon the client asks again.
func (x *session) unhurried(ctx context.Context, req *http.Request) error {
	if req.Method != http.MethodGet || x.gets.Add(1) <= freeStreams {
		return ctx.Err()
	}
	t := time.NewTimer(betweenStreams)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
