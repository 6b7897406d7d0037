//go:build unix

package temporal

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// world is the outside of the runs: a server that counts what it is asked for and what it does.
type world struct {
	srv *httptest.Server

	mu    sync.Mutex // guards the following
	asked map[string]int
	done  map[string]int // what is sent with a key is done once
	in    int            // requests until a worker is killed; 0: none is
	after bool           // killed after the effect
	kill  func()
}

func newWorld() *world {
	w := &world{asked: map[string]int{}, done: map[string]int{}}
	w.srv = httptest.NewServer(w)
	return w
}

func (w *world) port() int { return w.srv.Listener.Addr().(*net.TCPAddr).Port }

// ServeHTTP implements http.Handler.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	kind, at, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.mu.Lock()
	w.asked[at]++
	var kill func()
	if w.in > 0 {
		if w.in--; w.in == 0 {
			kill = w.kill
		}
	}
	if kill == nil || w.after {
		if kind == "post" || kind == "send" && (r.Header.Get("Idempotency-Key") == "" || w.done[at] == 0) {
			w.done[at]++
		}
	}
	w.mu.Unlock()
	if kill != nil {
		kill()
		<-r.Context().Done() // the worker is dead
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(rw, len(at))
}

// arm kills at the n-th request from now.
func (w *world) arm(n int, after bool, kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in, w.after, w.kill = n, after, kill
}

func (w *world) counts() (asked, done map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.asked), maps.Clone(w.done)
}
