//go:build unix

package temporal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// rounds is how often something is killed: often, or as the variable of the environment says.
func rounds(variable string, often int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return often
}

const ledgerItems = `items=["a","bb","ccc","dddd"]`

// writes are the prefixes of what the ledger must not ask for twice.
var writes = []string{"book-", "charge-", "close-"}

// reckon compares what a run of the ledger has asked for and done with what it should have. It returns how often it asked again for
// what may be asked for again.
func reckon(t *testing.T, w *world, doubt bool) (repeated int) {
	t.Helper()
	asked, done := w.counts()
	for at, n := range done {
		if n > 1 {
			t.Errorf("%s was done %d times", at, n)
		}
	}
	for at, n := range asked {
		if n == 1 {
			continue
		}
		if slices.ContainsFunc(writes, func(p string) bool { return strings.HasPrefix(at, p) }) {
			t.Errorf("%s was asked for %d times", at, n)
		}
		repeated++
	}
	if !doubt && len(done) != 10 { // book, 4 charges, 4 mails, close
		t.Errorf("done is %v", done)
	}
	return repeated
}

// ended waits for the result of a run of the ledger, and reports whether it is in doubt.
func ended(t *testing.T, exe, id string) bool {
	t.Helper()
	out, complaints, code := call(t, exe, "result", id)
	doubt := code == 3 && strings.Contains(complaints, "it may have happened")
	if code != 0 && !doubt {
		t.Errorf("exit %d, %s%s", code, out, complaints)
	}
	return doubt
}

// Workers that are killed lose no call and repeat none that writes, but for those that are reported to be in doubt. In every second
// run the other worker is there before.
func TestKilled(t *testing.T) {
	served(t)
	exe := build(t, "testdata/ledger.flowgen.yaml")
	kills := rounds("TEMPORAL_KILLS", 4)
	var doubts, repeated atomic.Int64
	queues := make(chan string, 16) // each of one run at a time: a version of a program has at most 100
	for i := range cap(queues) {
		queues <- fmt.Sprint("killed-", i)
	}
	t.Run("runs", func(t *testing.T) {
		for run := range kills {
			t.Run(strconv.Itoa(run), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(run), 1))
				w := newWorld()
				defer w.close()
				id := fmt.Sprint("killed-", run)
				queue := <-queues
				t.Cleanup(func() { queues <- queue }) // after the workers have ended
				flags := []string{"--heartbeat", "2s", "--queue", queue}
				first := worker(t, exe, flags...)
				if run%2 == 1 {
					worker(t, exe, flags...)
				}
				kill := func() { _ = first.Process.Kill() }
				if run%2 == 1 { // the request may be the other one's
					w.let(1+r.IntN(17), kill)
				} else {
					w.arm(1+r.IntN(17), r.IntN(2) == 0, kill)
				}
				ok(t, exe, "start", "--id", id, "--queue", queue, "--input", "port="+strconv.Itoa(w.port()), "--input", ledgerItems)
				if run%2 == 0 {
					_ = first.Wait()
					worker(t, exe, flags...)
				}
				doubt := ended(t, exe, id)
				if doubt {
					doubts.Add(1)
				}
				repeated.Add(int64(reckon(t, w, doubt)))
			})
		}
	})
	t.Logf("%d kills: %d in doubt, %d reads and keyed calls repeated", kills, doubts.Load(), repeated.Load())
}

// A server that is killed and started again with its database loses no run and repeats no call that writes: of the runs that are under
// way, each ends with what it has to do done once.
func TestServerRestart(t *testing.T) {
	served(t)
	exe := build(t, "testdata/ledger.flowgen.yaml")
	publish := build(t, "testdata/publish.flowgen.yaml")
	was := server
	t.Cleanup(func() { server = was })
	s := &devServer{namespace: "restarts", db: filepath.Join(t.TempDir(), "temporal.db")}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill() })
	server = s.environ()
	worker(t, exe)
	worker(t, exe)
	worker(t, publish)
	ok(t, publish, "start", "--id", "asks", "--input", "what=the book")
	kills := rounds("TEMPORAL_RESTARTS", 2)
	doubts, repeated := 0, 0
	for round := range kills {
		r := rand.New(rand.NewPCG(uint64(round), 2))
		const runs = 3
		var worlds [runs]*world
		dead := make(chan bool)
		for i := range worlds {
			worlds[i] = newWorld()
			defer worlds[i].close()
		}
		worlds[0].let(1+r.IntN(17), func() { s.kill(); close(dead) })
		for i, w := range worlds {
			id := fmt.Sprint("restart-", round, "-", i)
			// the server may die before it has answered: the run is there all the same, or it is started again
			out, complaints, code := call(t, exe, "start", "--id", id, "--input", "port="+strconv.Itoa(w.port()), "--input", ledgerItems)
			if code != 0 {
				t.Logf("start: %s%s", out, complaints)
			}
			worlds[i].begun = code == 0
		}
		<-dead
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		for i, w := range worlds {
			id := fmt.Sprint("restart-", round, "-", i)
			if !w.begun {
				_, complaints, code := call(t, exe, "start", "--id", id, "--input", "port="+strconv.Itoa(w.port()), "--input", ledgerItems)
				if code != 0 && !strings.Contains(complaints, "a run already has the id "+id) {
					t.Fatalf("exit %d, %s", code, complaints)
				}
			}
			doubt := ended(t, exe, id)
			if doubt {
				doubts++
			}
			repeated += reckon(t, w, doubt)
			ok(t, exe, "replay", id)
		}
	}
	ok(t, publish, "respond", "asks", "ask", "yes") // open since before the first
	if out := fields[map[string]string](t, ok(t, publish, "result", "asks")); out["answer"] != "yes" || strings.TrimSpace(out["posted"]) != "posted 1 of the book" {
		t.Errorf("%v", out)
	}
	t.Logf("%d restarts: %d in doubt, %d reads and keyed calls repeated", kills, doubts, repeated)
}
