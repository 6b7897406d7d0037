//go:build unix

package temporal

import (
	"fmt"
	"io"
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

	news  *sync.Cond // of mu: something was counted
	mu    sync.Mutex // guards the following
	asked map[string]int
	done  map[string]int             // what is sent with a key is done once
	left  map[string]int             // requests that got no answer and were given up
	keys  map[string]map[string]bool // idempotency keys by place
	in    int                        // requests until a worker is killed; 0: none is
	after bool                       // killed after the effect
	lives bool                       // the worker does: the request gets its answer
	kill  func()

	begun bool // of a run: it was started
}

func newWorld() *world {
	w := &world{asked: map[string]int{}, done: map[string]int{}, left: map[string]int{}, keys: map[string]map[string]bool{}}
	w.news = sync.NewCond(&w.mu)
	w.srv = httptest.NewServer(w)
	return w
}

func (w *world) port() int { return w.srv.Listener.Addr().(*net.TCPAddr).Port }

// ServeHTTP implements http.Handler.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	kind, at, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.mu.Lock()
	w.asked[at]++
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if w.keys[at] == nil {
			w.keys[at] = map[string]bool{}
		}
		w.keys[at][key] = true
	}
	w.news.Broadcast()
	var kill func()
	lives := w.lives
	if w.in > 0 {
		if w.in--; w.in == 0 {
			kill = w.kill
		}
	}
	if kill == nil || w.after || lives {
		if kind == "post" || kind == "send" && (r.Header.Get("Idempotency-Key") == "" || w.done[at] == 0) {
			w.done[at]++
		}
	}
	w.mu.Unlock()
	if kill != nil {
		kill()
		if !lives {
			<-r.Context().Done() // the worker is dead
			return
		}
	}
	if kind == "hold" {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices afterwards that nobody waits
		<-r.Context().Done()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.left[at]++
		w.news.Broadcast()
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

// let kills somebody else than the worker at the n-th request from now.
func (w *world) let(n int, kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in, w.lives, w.kill = n, true, kill
}

func (w *world) close() {
	w.srv.CloseClientConnections()
	w.srv.Close()
}

// awaits waits until what was counted says so.
func (w *world) awaits(f func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !f() {
		w.news.Wait()
	}
}

func (w *world) counts() (asked, done map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.asked), maps.Clone(w.done)
}
