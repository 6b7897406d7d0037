//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// agency is where trips are booked. It counts what it has done for each idempotency key.
type agency struct {
	mu      sync.Mutex
	order   []string                   // of bookings and cancellations
	done    map[string]map[string]bool // the keys, by what was cancelled
	process *os.Process
	killAt  int // the process dies when this cancellation is asked for, from 1
	asked   int
	paid    int  // how often
	after   bool // the cancellation has happened by then
}

func (a *agency) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path == "/refuse" || r.URL.Path == "/stop" {
		a.paid++
	}
	what, cancels := strings.CutPrefix(r.URL.Path, "/cancel/")
	switch {
	case r.URL.Path == "/refuse":
		http.Error(w, "no money", http.StatusBadRequest)
		return
	case r.URL.Path == "/stop": // the program is asked to stop, and the answer never comes
		_ = a.process.Signal(syscall.SIGTERM)
		a.mu.Unlock()
		<-r.Context().Done()
		a.mu.Lock()
		return
	case cancels:
		a.asked++
		dies := a.asked == a.killAt
		if !dies || a.after {
			a.cancel(what, r.Header.Get("Idempotency-Key"))
		}
		if dies {
			_ = a.process.Kill()
			return
		}
	default:
		a.order = append(a.order, strings.TrimPrefix(r.URL.Path, "/book/"))
	}
	_, _ = fmt.Fprint(w, 1)
}

func (a *agency) cancel(what, key string) {
	if a.done[what] == nil {
		a.done[what] = map[string]bool{}
	}
	if !a.done[what][key] {
		a.order = append(a.order, "-"+what)
	}
	a.done[what][key] = true
}

// start runs the program to its end.
func (a *agency) start(t *testing.T, input []byte, exe string, args ...string) (stderr string, state *os.ProcessState) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	var complaints bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &complaints
	a.mu.Lock()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.process = cmd.Process
	a.mu.Unlock()
	_ = cmd.Wait() // its state is looked at
	return complaints.String(), cmd.ProcessState
}

// A run that is killed while it is undone, and resumed, undoes what is left, each once, and does nothing else; so does one that was asked
// to stop.
func TestKilledWhileUndone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and kills it")
	}
	exe := program(t, "testdata/trip.flowgen.yaml")
	for _, how := range []string{"refuse", "stop"} {
		for killAt := 0; killAt <= 3; killAt++ {
			for _, after := range []bool{false, true} {
				if killAt == 0 && after {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%v", how, killAt, after), func(t *testing.T) {
					a := &agency{done: map[string]map[string]bool{}, killAt: killAt, after: after}
					server := httptest.NewServer(a)
					defer server.Close()
					dir := t.TempDir()
					input, err := json.Marshal(map[string]any{"port": server.Listener.Addr().(*net.TCPAddr).Port, "hotels": []string{"a", "b"}, "pay": how})
					if err != nil {
						t.Fatal(err)
					}
					stderr, state := a.start(t, input, exe, "run", "--quiet", "--runs", dir, "--input-json", "-")
					list, err := runs.Open(dir, runs.Options{}).List()
					if err != nil || len(list) != 1 {
						t.Fatal(list, err, stderr)
					}
					if killed := state.Sys().(syscall.WaitStatus).Signaled(); killed != (killAt > 0) {
						t.Fatalf("killed: %v\n%s", killed, stderr)
					} else if killed {
						stderr, _ = a.start(t, nil, exe, "resume", list[0].ID, "--quiet", "--runs", dir)
					}
					a.check(t, how, stderr)
					j, err := runs.Open(dir, runs.Options{}).Read(list[0].ID)
					if err != nil {
						t.Fatal(err)
					}
					if want := map[string]journal.Outcome{"refuse": journal.Failed, "stop": journal.Cancelled}[how]; j.Finish().Outcome != want {
						t.Errorf("the run ended as %q, want %q", j.Finish().Outcome, want)
					}
				})
			}
		}
	}
}

// check looks at what was booked and cancelled.
func (a *agency) check(t *testing.T, how, stderr string) {
	t.Helper()
	for _, what := range []string{"flight", "a", "b"} {
		if n := len(a.done[what]); n != 1 {
			t.Errorf("%s was cancelled with %d keys\n%s", what, n, stderr)
		}
	}
	if len(a.order) != 6 {
		t.Fatalf("%q\n%s", a.order, stderr)
	}
	if a.paid != 1 {
		t.Errorf("the trip was paid %d times", a.paid)
	}
	first, last := a.order[0], a.order[5]
	if diff := cmp.Diff([]string{"flight", "-flight"}, []string{first, last}); diff != "" {
		t.Errorf("the order of %q: %s", a.order, diff)
	}
	if says := map[string]string{"refuse": "node paid: ", "stop": "cancelled"}[how]; !strings.Contains(stderr, says) {
		t.Errorf("it says %q, without %q", stderr, says)
	}
}
