//go:build unix

package temporal

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/internal/built"
)

// file writes a file for a verb.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers are the inputs port and items of a run, in a file.
func numbers(t *testing.T, port, n int) string {
	t.Helper()
	in := map[string]any{}
	if port > 0 {
		in["port"] = port
	}
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	in["items"] = items
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "in.json", string(b))
}

// Payloads that the server refuses are in the store, a call of a queue waits for the workers of the queue, and the secret is nowhere.
func TestLargeQueuedSecret(t *testing.T) {
	served(t)
	const secret = "s3cr3t-0f-the-w0rker"
	t.Setenv("TOKEN", secret)
	exe := build(t, "testdata/large.flowgen.yaml")
	store := t.TempDir()
	worker(t, exe, "--blobs", store)
	ok(t, exe, "start", "--id", "large", "--blobs", store)
	pending := func() string {
		s := fields[struct{ Pending []struct{ Tool string } }](t, ok(t, exe, "describe", "large"))
		if len(s.Pending) == 1 {
			return s.Pending[0].Tool
		}
		return ""
	}
	for pending() != "large.count@1" {
	}
	worker(t, exe, "--blobs", store, "--queue", "large/wide")
	out := fields[struct {
		Size int
		Said string
	}](t, ok(t, exe, "result", "large", "--blobs", store))
	if out.Size != 3_000_000 || !strings.Contains(out.Said, "the token is [redacted]") {
		t.Errorf("%+v", out)
	}
	s := fields[state](t, ok(t, exe, "describe", "large"))
	if s.Bytes > 20_000 {
		t.Errorf("the history has %d bytes", s.Bytes)
	}
	ok(t, exe, "replay", "large", "--blobs", store)
	history := ok(t, exe, "history", "large")
	ok(t, exe, "replay", "--blobs", store, file(t, "large.json", history))
	files, err := filepath.Glob(filepath.Join(store, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		history += string(b)
	}
	if strings.Contains(history, secret) || strings.Contains(history, "czNjcjN0LTBmLXRoZS13MHJrZXI") { // base64 of it
		t.Error("the secret has left the worker")
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, 1, "the same --blobs", exe, "replay", "large", "--blobs", store)
}

// Without a store the failure says what to do.
func TestLargeWithoutStore(t *testing.T) {
	served(t)
	t.Setenv("TOKEN", "unknown")
	exe := build(t, "testdata/large.flowgen.yaml")
	worker(t, exe)
	ok(t, exe, "start", "--id", "larger")
	fails(t, 1, "the output of large.fill@1 has 3001026 bytes", exe, "result", "larger")
}

// A write of a lost worker is taken as done, or asked about, as the workflow says.
func TestInDoubt(t *testing.T) {
	served(t)
	exe := build(t, "testdata/doubt.flowgen.yaml")
	for _, tt := range []struct {
		id      string
		at      int // the request at which the worker dies
		answer  string
		first   int
		second  int
		started map[string]int
	}{
		{"assumed", 1, "", 7, 6, map[string]int{"first": 1, "second": 1}},
		{"told", 2, "41", 5, 41, map[string]int{"first": 1, "second": 1}},
		{"again", 2, "again", 5, 6, map[string]int{"first": 1, "second": 2}},
	} {
		w := newWorld()
		first := worker(t, exe, "--heartbeat", "2s")
		w.arm(tt.at, true, func() { _ = first.Process.Kill() })
		ok(t, exe, "start", "--id", tt.id, "--input", "port="+strconv.Itoa(w.port()))
		_ = first.Wait()
		second := worker(t, exe, "--heartbeat", "2s")
		if tt.answer != "" {
			for ok(t, exe, "questions", tt.id) == "[]\n" {
			}
			fails(t, 2, "expected the call's output as JSON", exe, "respond", tt.id, "perhaps")
			ok(t, exe, "respond", tt.id, "second/in_doubt", tt.answer)
		}
		out := fields[struct{ First, Second int }](t, ok(t, exe, "result", tt.id))
		asked, _ := w.counts()
		if out.First != tt.first || out.Second != tt.second || asked["first"] != tt.started["first"] || asked["second"] != tt.started["second"] {
			t.Errorf("%s: %+v after %v", tt.id, out, asked)
		}
		_ = second.Process.Kill()
		_ = second.Wait()
		w.close()
	}
}

// A write with a key whose worker is lost, before or behind its effect, is made again by another one with the same key, and happens once.
func TestRetryWithKey(t *testing.T) {
	served(t)
	exe := build(t, "testdata/ledger.flowgen.yaml")
	for _, after := range []bool{false, true} {
		w := newWorld()
		id := fmt.Sprint("keyed-", after)
		flags := []string{"--heartbeat", "2s", "--queue", id}
		first := worker(t, exe, flags...)
		w.arm(5, after, func() { _ = first.Process.Kill() }) // open, book, price, charge, mail
		ok(t, exe, "start", "--id", id, "--queue", id, "--input", "port="+strconv.Itoa(w.port()), "--input", `items=["a"]`)
		_ = first.Wait()
		worker(t, exe, flags...)
		ok(t, exe, "result", id)
		asked, done := w.counts()
		mails := 0
		for at, keys := range w.keys {
			if mails++; asked[at] != 2 || done[at] != 1 || len(keys) != 1 {
				t.Errorf("%s: asked for %d times with %d keys, done %d times", at, asked[at], len(keys), done[at])
			}
		}
		if mails != 1 {
			t.Errorf("%d mails", mails)
		}
		w.close()
	}
}

// A run with more writes than a history holds goes on in new ones, on two workers of which none dies, and writes each once: writes alone,
// and writes among batches of reads and calls without effects.
func TestManyWrites(t *testing.T) {
	served(t)
	items, events := 600, 500
	if n, err := strconv.Atoi(os.Getenv("TEMPORAL_ITEMS")); err == nil {
		items, events = n, 20_000
	}
	for _, name := range []string{"many", "mixed"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			defer w.close()
			exe := build(t, "testdata/"+name+".flowgen.yaml")
			store := t.TempDir()
			flags := []string{"--blobs", store, "--events", strconv.Itoa(events)}
			first, second := worker(t, exe, flags...), worker(t, exe, flags...)
			began := time.Now()
			out := fields[struct{ Sum, Count int }](t, ok(t, exe, "start", "--id", name, "--wait", "--blobs", store, "--input-json", numbers(t, w.port(), items)))
			asked, done := w.counts()
			for at, n := range done {
				if n != 1 {
					t.Errorf("%s was written %d times", at, n)
				}
			}
			s := fields[state](t, ok(t, exe, "describe", name))
			t.Logf("%d items in %v: %+v in the last history, workers of %d and %d MB", items, time.Since(began).Round(time.Second), s, memory(t, first), memory(t, second))
			if out.Count != items || len(done) != items || s.Events > events+6*64 {
				t.Errorf("%+v, %d writes, %+v", out, len(done), s)
			}
			if name == "mixed" && len(asked) != 2*items {
				t.Errorf("%d requests", len(asked))
			}
			began = time.Now()
			ok(t, exe, append([]string{"replay", name}, flags...)...)
			t.Logf("replayed in %v", time.Since(began).Round(100*time.Millisecond))
		})
	}
}

// memory ends a worker and returns the most megabytes that it had.
func memory(t *testing.T, worker *exec.Cmd) int64 {
	t.Helper()
	_ = worker.Process.Kill()
	_ = worker.Wait()
	return worker.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // KiB on Linux
}

// What a run has recorded is shown as a journal, and compared with one.
func TestInspect(t *testing.T) {
	served(t)
	w := newWorld()
	exe := build(t, "testdata/ledger.flowgen.yaml")
	inputs := []string{"--input", "port=" + strconv.Itoa(w.port()), "--input", `items=["a","bb","ccc"]`}
	dir := t.TempDir()
	ok(t, exe, append([]string{"run", "--quiet", "--runs", dir}, inputs...)...)
	plain := file(t, "plain.jsonl", ok(t, exe, "inspect", "latest", "--runs", dir, "--format", "jsonl"))
	worker(t, exe)
	ok(t, exe, append([]string{"start", "--id", "shown", "--wait"}, inputs...)...)
	flowgen := built.Flowgen(t)
	out, complaints, _ := call(t, flowgen, "diff", "--temporal", exe, plain, "shown")
	_, differs, _ := strings.Cut(out, "\n\n")
	if strings.TrimSpace(differs) != "run\n  program is missing, was \"(devel)\"" { // which histories do not know
		t.Errorf("%s%s", out, complaints)
	}
	material := []string{"materialize", "--temporal", exe, "--file", "testdata/ledger.flowgen.yaml", "--dry-run"}
	if text := ok(t, flowgen, append(material, "shown", "each[1]/charge")...); !strings.Contains(text, "charge-bb-8") {
		t.Error(text)
	}
	for code, args := range map[int][]string{2: append(slices.Clone(material), "nothing", "open"), 1: append(slices.Clone(material), "shown", "each[1]/chrage")} {
		_, complaints, got := call(t, flowgen, args...)
		if got != code || strings.Count(complaints, "\n") > 2 || strings.Contains(complaints, "cannot read") { // one mistake, one message
			t.Errorf("%v: exit %d, %s", args, got, complaints)
		}
	}
	fails(t, 1, "`"+exe+" inspect --temporal shown` lists its calls", flowgen, append(material, "shown", "nowhere")...)
	fails(t, 2, "unknown run nothing", flowgen, "diff", "--temporal", exe, plain, "nothing")
	if text := ok(t, exe, "inspect", "--temporal", "shown", "each[1]/charge"); !strings.Contains(text, "ledger.post@1") {
		t.Error(text)
	}
	if text := ok(t, exe, "inspect", "--temporal", "shown"); !strings.Contains(text, "succeeded") {
		t.Error(text)
	}
	fails(t, 2, "unknown run nothing", exe, "inspect", "--temporal", "nothing")
	fails(t, 2, "which run?", exe, "inspect", "--temporal")
	fails(t, 2, "inspect --temporal shown shows its calls", exe, "inspect", "--temporal", "shown", "zzz")
	t.Setenv("FLOWGEN_RUNS", "off") // is about other runs
	ok(t, exe, "inspect", "--temporal", "shown")
}

// A run ends on the version that began it. A worker that continues runs of other versions stops where the program has changed, names
// the node, and does no harm: the right worker goes on.
func TestVersions(t *testing.T) {
	served(t)
	text, err := os.ReadFile("testdata/publish.flowgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	edited := func(name, old, now string) string {
		path := filepath.Join(t.TempDir(), name, "publish.flowgen.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return build(t, path)
	}
	old, later := build(t, "testdata/publish.flowgen.yaml"), edited("later", "posted {{ text }}", "printed {{ text }}")
	waits := func(exe, id string) {
		for ok(t, exe, "questions", id) == "[]\n" {
		}
	}
	worker(t, old)
	ok(t, old, "start", "--id", "before", "--input", "what=v1")
	waits(old, "before")
	worker(t, later)
	ok(t, later, "start", "--id", "after", "--input", "what=v2")
	waits(later, "after")
	for id, want := range map[string]string{"before": "posted 1 of v1", "after": "printed 1 of v2"} {
		ok(t, old, "respond", id, "ask", "yes")
		out := fields[map[string]string](t, ok(t, old, "result", id))
		if strings.TrimSpace(out["posted"]) != want {
			t.Errorf("%s: %v", id, out)
		}
	}

	// Without pinned versions, on a queue of its own.
	queue := []string{"--queue", "unpinned"}
	first := worker(t, old, append(queue, "--unpinned")...)
	ok(t, old, append([]string{"start", "--id", "unpinned", "--input", "what=v3"}, queue...)...)
	waits(old, "unpinned")
	ok(t, old, "respond", "unpinned", "ask", "yes")
	for fields[state](t, ok(t, old, "describe", "unpinned")).Status == "running" && !strings.Contains(ok(t, old, "questions", "unpinned"), "many") {
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	// An edit of what the run has still to do replays.
	worker(t, later, append(queue, "--unpinned")...)
	out := fields[map[string]string](t, ok(t, later, "result", "unpinned"))
	if !strings.Contains(out["posted"], "of v3") {
		t.Errorf("%v", out)
	}
}

// said collects what a worker says.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

// A worker of another program stops at the node that is another, says so, and leaves the run to the right one.
func TestWrongWorker(t *testing.T) {
	served(t)
	w := newWorld()
	text, err := os.ReadFile("testdata/doubt.flowgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asking := func(name, at string) string {
		s := strings.Replace(string(text), "edges: [first -> second -> end]", "edges: [first -> stop -> second -> end]", 1)
		s = strings.Replace(s, "  second: {", "  stop: {human: \"Go on?\"}\n  second: {", 1)
		s = strings.Replace(s, "at: first}}\n  stop", "at: "+at+"}}\n  stop", 1)
		path := filepath.Join(t.TempDir(), name, "doubt.flowgen.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		return build(t, path)
	}
	right, wrong := asking("right", "first"), asking("wrong", "erste")
	queue := []string{"--queue", "wrong"}
	first := worker(t, right, append(queue, "--unpinned")...)
	ok(t, right, append([]string{"start", "--id", "wrong", "--input", "port=" + strconv.Itoa(w.port())}, queue...)...)
	for ok(t, right, "questions", "wrong") == "[]\n" {
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	var complaints said
	cmd := exec.Command(wrong, append([]string{"worker", "--unpinned"}, queue...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), server...), &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	respond := make(chan string, 1)
	go func() { // waits until a worker has taken it
		c := exec.Command(right, "respond", "wrong", "stop", "go")
		c.Env = append(os.Environ(), server...)
		b, err := c.CombinedOutput()
		respond <- fmt.Sprint(string(b), err)
	}()
	for !complaints.has("first") {
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if asked, _ := w.counts(); asked["erste"] != 0 || asked["second"] != 0 {
		t.Errorf("the wrong worker has done %v", asked)
	}
	worker(t, right, append(queue, "--unpinned")...)
	if got := <-respond; got != "<nil>" {
		ok(t, right, "respond", "wrong", "stop", "go") // it was refused while the wrong worker ran
	}
	ok(t, right, "result", "wrong")
	if asked, _ := w.counts(); asked["first"] != 1 || asked["second"] != 1 {
		t.Errorf("%v", asked)
	}
}
