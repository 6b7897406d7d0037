//go:build unix

package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A replica is a process that serves a workflow.
type replica struct {
	cmd  *exec.Cmd
	addr string
}

func newReplica(t *testing.T, exe, runs string) *replica {
	t.Helper()
	r := &replica{cmd: exec.Command(exe, "serve", "--addr", "127.0.0.1:0", "--admin", "off", "--runs", runs)}
	out, err := r.cmd.StderrPipe()
	if err != nil || r.cmd.Start() != nil {
		t.Fatal("no replica", err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line struct{ Msg, Addr string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			r.addr = line.Addr
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return r
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatal(said.String())
	return nil
}

// ask returns the body of an answer with one of the states.
func (r *replica) ask(method, path, body string, states ...int) (string, error) {
	req, err := http.NewRequest(method, "http://"+r.addr+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "wait=60")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // only read
	if err == nil && !slices.Contains(states, resp.StatusCode) {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return string(text), err
}

// begin begins a run, waits until it is over, and returns its id.
func (r *replica) begin(port int, at string) (id string, err error) {
	text, err := r.ask("POST", "/v1/workflows/shared/runs", fmt.Sprintf(`{"port": %d, "at": %q}`, port, at), http.StatusCreated)
	if err != nil {
		return "", err
	}
	var run struct{ ID, State string }
	if err := json.Unmarshal([]byte(text), &run); err != nil || run.State != "succeeded" {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return run.ID, nil
}

// Replicas that share a PostgreSQL have the runs of all of them, and write each once. REPLICAS_PACE=3 measures how many runs a second one,
// two and four of them do, for docs/benchmarks.md: the best of as many rounds, in turns.
func TestReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := program(t, "testdata/shared.flowgen.yaml", "--stores", "postgres", "--verbs", "serve")
	address := postgres(t, reader(t)) + "&search_path=h" + strconv.Itoa(replicated)
	counts, total, rounds := []int{2}, 24, 1
	if n, err := strconv.Atoi(os.Getenv("REPLICAS_PACE")); err == nil {
		counts, total, rounds = []int{1, 2, 4}, 1500, n
	}
	const clients = 16
	best := map[int]float64{}
	for round := range rounds {
		for _, n := range counts {
			w, err := newWorld(1)
			if err != nil {
				t.Fatal(err)
			}
			var all []*replica
			for range n {
				all = append(all, newReplica(t, exe, address))
			}
			ids := make([]string, total)
			var next atomic.Int64
			var wg sync.WaitGroup
			began := time.Now()
			for range clients {
				wg.Go(func() {
					for i := int(next.Add(1)) - 1; i < total; i = int(next.Add(1)) - 1 {
						var err error
						if ids[i], err = all[i%n].begin(w.port(), fmt.Sprintf("%d-%d-%d", round, n, i)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			best[n] = max(best[n], float64(total)/time.Since(began).Seconds())
			if t.Failed() {
				return
			}
			if done := w.effects(); len(done) != 2*total {
				t.Errorf("%d writes of %d", len(done), 2*total)
			}
			for at, times := range w.effects() {
				if times != 1 {
					t.Errorf("%s was written %d times", at, times)
				}
			}
			for i, id := range ids[:min(total, 24)] { // the next replica has it, too
				if text, err := all[(i+1)%n].ask("GET", "/v1/runs/"+id, "", http.StatusOK); err != nil || !strings.Contains(text, `"succeeded"`) {
					t.Error(err, text)
				}
			}
			for _, r := range all {
				_ = r.cmd.Process.Kill()
				_ = r.cmd.Wait()
			}
			http.DefaultClient.CloseIdleConnections()
			w.close()
		}
	}
	for _, n := range counts {
		t.Logf("| %d | %.0f | %.2f |", n, best[n], best[n]/best[counts[0]])
	}
}
