//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

// P7: journals that were recorded once replay for ever. Each folder of testdata/kept has a workflow, runs of it, and what
// replaying each printed. CRASH_RECORD=N records the runs of folder N; a folder is never recorded again.
func TestKeptJournals(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	if folder := os.Getenv("CRASH_RECORD"); folder != "" {
		recordKept(t, filepath.Join("testdata/kept", folder))
	}
	folders, err := filepath.Glob("testdata/kept/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("nothing is kept", err)
	}
	n := 0
	for _, folder := range folders {
		exe := program(t, filepath.Join(folder, "kept.flowgen.yaml"))
		list, err := runs.Open(filepath.Join(folder, "runs"), runs.Options{}).List()
		if err != nil || len(list) < 3 {
			t.Fatalf("%s: %d runs, %v", folder, len(list), err)
		}
		for _, run := range list {
			got, code := replayed(t, exe, folder, run.ID)
			want, err := os.ReadFile(filepath.Join(folder, "runs", run.ID, "replayed.txt"))
			if err != nil || fmt.Sprintf("exit %d\n%s", code, got) != string(want) {
				t.Errorf("%s: exit %d\n%s\nwant (%v) %s", run.ID, code, got, err, want)
			}
			n++
		}
		delete(built, filepath.Join(folder, "kept.flowgen.yaml")) // others have the same name
	}
	t.Logf("%d journals of %d programs", n, len(folders))
}

func replayed(t *testing.T, exe, folder, id string) (out []byte, code int) {
	t.Helper()
	cmd := exec.Command(exe, "replay", id, "--quiet", "--runs", filepath.Join(folder, "runs"))
	out, err := cmd.Output() // messages may be worded better one day
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, cmd.ProcessState.ExitCode()
}

// recordKept records a run that waits and is answered, one that is killed and resumed, one that is stopped, and one whose
// model fails.
func recordKept(t *testing.T, folder string) {
	t.Helper()
	dir := filepath.Join(folder, "runs")
	if _, err := os.Stat(dir); err == nil {
		t.Fatal(folder + " has been recorded")
	}
	exe := program(t, filepath.Join(folder, "kept.flowgen.yaml"))
	silent := false
	m, err := fake.Start("key-of-the-test", func(*fake.Request) *fake.Response {
		if silent {
			return fake.Say("that is no answer")
		}
		return fake.Say(`{"route": "skip", "why": "it is as good as any"}`)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	kept := runs.Open(dir, runs.Options{})
	start := func(env []string, after func(*exec.Cmd), args ...string) {
		cmd := exec.Command(exe, append(args, "--quiet", "--runs", dir)...)
		cmd.Env = append(append(os.Environ(), "OPENAI_API_KEY=key-of-the-test", "OPENAI_BASE_URL="+m.Base(fake.OpenAI)), env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if after != nil {
			after(cmd)
		}
		_ = cmd.Wait() // what has come of it is in the journal
	}
	for i, how := range []string{"answered", "killed", "stopped", "failed"} {
		w, err := newWorld(uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		silent = how == "failed"
		input := []string{"run", "--input", fmt.Sprintf("port=%d", w.port()), "--input", `items=["a","b","c"]`}
		var stop func(*exec.Cmd)
		switch how {
		case "killed":
			stop = func(c *exec.Cmd) { w.arm(5, func() { _ = c.Process.Kill() }) }
		case "stopped":
			stop = func(c *exec.Cmd) { w.arm(5, func() { _ = c.Process.Signal(syscall.SIGTERM) }) }
		}
		start(nil, stop, input...)
		w.disarm()
		id, err := kept.Find("kept", "latest")
		if err != nil {
			t.Fatal(err)
		}
		if how == "killed" {
			start(nil, nil, "resume", id)
		}
		if how == "answered" || how == "killed" {
			start(nil, nil, "respond", id, "yes")
		}
		out, code := replayed(t, exe, folder, id)
		if err := os.WriteFile(filepath.Join(dir, id, "replayed.txt"), []byte(fmt.Sprintf("exit %d\n%s", code, out)), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, id, "journal.jsonl.lock"))
		t.Logf("%s: %s: exit %d\n%s", how, id, code, out)
	}
}

// P7: a second process at a run is told so at once, and the first goes on.
func TestTwoAtOneRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	h, err := newHistory(t.TempDir(), program(t, "testdata/ledger.flowgen.yaml"), 1, "effect")
	if err != nil {
		t.Fatal(err)
	}
	defer h.world.close()
	input, err := json.Marshal(map[string]any{"port": h.world.port(), "items": h.items})
	if err != nil {
		t.Fatal(err)
	}
	busy := make(chan struct{})
	first := exec.Command(h.exe, "run", "--quiet", "--runs", h.folder.Dir(), "--input-json", "-")
	first.Stdin = bytes.NewReader(input)
	h.world.arm(2, func() { close(busy) }) // the third request is not answered
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-busy
	list, err := h.folder.List()
	if err != nil || len(list) != 1 || list[0].Outcome != journal.Open {
		t.Fatalf("%+v, %v", list, err)
	}
	before, err := os.ReadFile(filepath.Join(h.folder.Dir(), list[0].ID, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	fastest := time.Hour
	for range 10 {
		begin := time.Now()
		out, err := exec.Command(h.exe, "resume", list[0].ID, "--quiet", "--runs", h.folder.Dir()).CombinedOutput()
		fastest = min(fastest, time.Since(begin))
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "another process is using this run") {
			t.Fatalf("the second one: %v\n%s", err, out)
		}
	}
	if fastest > 2*time.Second { // a second program that waited would do so until the first has ended, which is never
		t.Errorf("it receives after %v", fastest)
	}
	after, err := os.ReadFile(filepath.Join(h.folder.Dir(), list[0].ID, "journal.jsonl"))
	if err != nil || !bytes.HasPrefix(after, before) || bytes.Contains(after, []byte(`"kind":"resume"`)) {
		t.Errorf("the second one has written into the journal (%v)", err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	t.Logf("told after %v", fastest)
}
