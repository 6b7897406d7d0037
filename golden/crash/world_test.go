//go:build unix

package crash

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// world is the outside of a run: a server that counts what it is asked for and what it has done.
type world struct {
	srv *httptest.Server

	mu    sync.Mutex // guards the following
	asked map[string]int
	done  map[string]int
	keys  map[string]map[string]bool // idempotency keys by place
	open  map[net.Conn]bool
	rand  *rand.Rand
	in    int // requests until the process is killed; 0: it is not
	when  int // before the effect, behind it, or behind the answer
	kill  func()
	met   func(at string) // nil: nothing happens when something is asked for

	closed *sync.Cond // a connection is no longer open
}

func newWorld(seed uint64) (*world, error) {
	w := &world{asked: map[string]int{}, done: map[string]int{}, keys: map[string]map[string]bool{}, open: map[net.Conn]bool{}, rand: rand.New(rand.NewPCG(seed, 7))}
	w.srv = httptest.NewUnstartedServer(w)
	w.closed = sync.NewCond(&w.mu)
	w.srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch s {
		case http.StateNew:
			w.open[c] = true
		case http.StateClosed, http.StateHijacked:
			delete(w.open, c)
			w.closed.Broadcast()
		}
	}
	w.srv.Start()
	return w, nil
}

func (w *world) close() { w.srv.Close() }

func (w *world) port() int { return w.srv.Listener.Addr().(*net.TCPAddr).Port }

// answer is what the world says about a place, always.
func answer(at string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, at)
	return int(h.Sum32() % 1000)
}

// ServeHTTP implements http.Handler.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	kind, at, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	kill, when, nap, flaky := w.enter(kind, at, r.Header.Get("Idempotency-Key"))
	w.mu.Lock()
	met := w.met
	w.mu.Unlock()
	if met != nil {
		met(at)
	}
	time.Sleep(nap)
	if kill != nil && when == 0 {
		kill()
		<-r.Context().Done() // it is dead
		return
	}
	if kind != "look" {
		w.do(kind, at)
	}
	if kill != nil && when == 1 {
		kill()
		<-r.Context().Done() // it is dead
		return
	}
	if flaky {
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	switch at {
	case "nothing":
		http.NotFound(rw, r)
		return
	case "large":
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(rw, strings.Repeat("x", 70_000))
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(rw, answer(at))
	if kill != nil {
		_ = http.NewResponseController(rw).Flush()
		time.Sleep(nap / 4)
		kill()
	}
}

// enter counts a request and says what is to come of it. Every second price is not to be had at once.
func (w *world) enter(kind, at, key string) (kill func(), when int, nap time.Duration, flaky bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[at]++
	if kind != "look" {
		if w.keys[at] == nil {
			w.keys[at] = map[string]bool{}
		}
		if key != "" {
			w.keys[at][key] = true
		}
	}
	if w.in > 0 {
		if w.in--; w.in == 0 {
			kill = w.kill
		}
	}
	flaky = strings.HasPrefix(at, "price-") && answer(at)%2 == 0 && w.asked[at] == 1
	return kill, w.when, time.Duration(w.rand.Int64N(int64(2 * time.Millisecond))), flaky
}

// do has an effect. What is sent with a key has it once.
func (w *world) do(kind, at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind == "send" && w.done[at] > 0 {
		return
	}
	w.done[at]++
}

// arm kills a process when it asks for the next but n.
func (w *world) arm(n int, kill func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in, w.when, w.kill = n+1, w.rand.IntN(3), kill
}

// meet has met called when something is asked for, before it happens.
func (w *world) meet(met func(at string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.met = met
}

func (w *world) disarm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in = 0
}

// settle returns when nothing is under way any more that a dead process has asked for. Connections are taken in their
// order, so that all of its are known when one that was made afterwards is.
func (w *world) settle() {
	own := &http.Transport{DisableKeepAlives: true}
	if resp, err := (&http.Client{Transport: own}).Get(w.srv.URL + "/settle/"); err == nil {
		_ = resp.Body.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.open) > 0 {
		w.closed.Wait()
	}
	delete(w.asked, "")
	delete(w.done, "")
	delete(w.keys, "")
}

func (w *world) requests() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.asked)
}

func (w *world) effects() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.done)
}

func (w *world) idempotency() map[string]map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.keys)
}
