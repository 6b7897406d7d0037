//go:build unix

package temporal

import (
	"strconv"
	"testing"
)

// A write in flight is cancelled with its run, on the worker that makes it, and what was done before is undone.
func TestWriteCancelled(t *testing.T) {
	served(t)
	w := newWorld()
	defer w.close()
	exe := build(t, "testdata/hold.flowgen.yaml")
	worker(t, exe, "--heartbeat", "2s")
	ok(t, exe, "start", "--id", "held", "--input", "port="+strconv.Itoa(w.port()))
	w.awaits(func() bool { return w.asked["ship"] == 1 })
	ok(t, exe, "cancel", "held")
	fails(t, 1, "was cancelled", exe, "result", "held")
	w.awaits(func() bool { return w.left["ship"] == 1 })
	asked, done := w.counts()
	if asked["ship"] != 1 || done["room"] != 1 || done["free"] != 1 {
		t.Errorf("asked %v, done %v", asked, done)
	}
	ok(t, exe, "replay", "held")
}

// Caps are those of the run, wherever its calls are made: a call that a cache answers gives its cost back, and one of a model the tokens
// that it did not need. A cache is shared by runs and workers of a tenant, and by no other tenant.
func TestCapsAndCaches(t *testing.T) {
	served(t)
	w := newWorld()
	defer w.close()
	exe := build(t, "testdata/promises.flowgen.yaml")
	cache := t.TempDir()
	port := "port=" + strconv.Itoa(w.port())
	first := worker(t, exe, "--cache", cache)
	run := func(id, items string, more ...string) string {
		return ok(t, exe, append([]string{"start", "--id", "caps-" + id, "--wait", "--input", port, "--input", "items=" + items}, more...)...)
	}
	const six = `["a","a","a","a","a","a"]`
	want := ok(t, exe, "run", "--quiet", "--no-journal", "--cache", t.TempDir(), "--input", port, "--input", "items="+six)
	asked, _ := w.counts()
	if asked["a"] != 1 {
		t.Fatalf("in one process it asked %v", asked)
	}
	if got := run("kept", six); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	worker(t, exe, "--cache", cache)
	run("again", six)
	run("other", six, "--tenant", "acme")
	run("other-again", six, "--tenant", "acme")
	if asked, _ = w.counts(); asked["a"] != 3 { // in one process, of the first run, of the tenant's first
		t.Errorf("asked %v", asked)
	}
	ok(t, exe, "start", "--id", "dear", "--input", port, "--input", `items=["b","c","d"]`)
	fails(t, 1, "of the policy's 1 only 0.2 are left", exe, "result", "dear")
	if asked, _ = w.counts(); asked["b"] != 1 || asked["c"] != 1 || asked["d"] != 0 {
		t.Errorf("asked %v", asked)
	}
}
