//go:build unix

// Package temporal runs generated programs as workers of a real Temporal server, a process of its own. TEMPORAL_SERVER is the
// program `temporal`; `make temporal` installs it. Without it, histories that were recorded are replayed.
package temporal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/internal/built"
)

var (
	server []string // where it is, for environments
	shared = &devServer{namespace: "golden"}
)

func TestMain(m *testing.M) {
	os.Exit(built.Main(func() int {
		if os.Getenv("TEMPORAL_SERVER") == "" {
			return m.Run()
		}
		if err := shared.start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer shared.kill()
		server = shared.environ()
		return m.Run()
	}))
}

// build compiles a workflow with --engine temporal.
func build(t *testing.T, workflow string, more ...string) string {
	t.Helper()
	return built.Workflow(t, workflow, append([]string{"--engine", "temporal"}, more...)...)
}

// call runs a verb of a program.
func call(t *testing.T, exe string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), server...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// ok is call for a verb that must succeed.
func ok(t *testing.T, exe string, args ...string) string {
	t.Helper()
	out, complaints, code := call(t, exe, args...)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", args, code, out, complaints)
	}
	return out
}

// fails is call for a verb that must fail with the code, and say so.
func fails(t *testing.T, code int, says, exe string, args ...string) {
	t.Helper()
	out, complaints, got := call(t, exe, args...)
	if got != code || !strings.Contains(complaints, says) {
		t.Errorf("%s: exit %d, %s%s\nwant %d, %s", args, got, out, complaints, code, says)
	}
}

// worker starts a worker and returns when it works.
func worker(t *testing.T, exe string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(exe, append([]string{"worker"}, args...)...)
	cmd.Env = append(os.Environ(), server...)
	out, err := cmd.StderrPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal("no worker", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ready := make(chan bool)
	go func() {
		lines := bufio.NewScanner(out)
		for seen := false; lines.Scan(); {
			if !seen && strings.HasPrefix(lines.Text(), "worker of ") {
				seen = true
				ready <- true
			}
		}
		close(ready)
	}()
	if !<-ready {
		t.Fatal("the worker has ended")
	}
	return cmd
}

// fields decodes what a verb printed.
func fields[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

type state struct {
	Status string
	Events int
	Bytes  int
}

// A run on the server returns what a run in one process does, and its history replays.
func TestSameResults(t *testing.T) {
	served(t)
	w := newWorld()
	for name, inputs := range map[string][]string{
		"ledger": {"--input", "port=" + strconv.Itoa(w.port()), "--input", `items=["a","bb","ccc"]`},
		"trip":   {"--input", "city=Paris"},
	} {
		t.Run(name, func(t *testing.T) {
			exe := build(t, "testdata/"+name+".flowgen.yaml")
			want := ok(t, exe, append([]string{"run", "--quiet", "--no-journal"}, inputs...)...)
			worker(t, exe)
			got := ok(t, exe, append([]string{"start", "--id", name, "--wait"}, inputs...)...)
			if got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			s := fields[state](t, ok(t, exe, "describe", name))
			t.Logf("%+v", s)
			if s.Status != "completed" {
				t.Errorf("%+v", s)
			}
			ok(t, exe, "replay", name)
			record(t, exe, name)
			fails(t, 2, "a run already has the id "+name, exe, append([]string{"start", "--id", name}, inputs...)...)
		})
	}
}

// Questions wait in the workflow, on any worker; only answers to open questions are taken.
func TestQuestions(t *testing.T) {
	served(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	first := worker(t, exe)
	ok(t, exe, "start", "--id", "asks", "--input", "what=the book")
	for ok(t, exe, "questions", "asks") == "[]\n" {
	}
	if q := fields[[]map[string]any](t, ok(t, exe, "questions", "asks")); len(q) != 1 || q[0]["key"] != "ask" || q[0]["question"] != "Publish the book?" {
		t.Errorf("%v", q)
	}
	fails(t, 2, `"perhaps" is none of yes, no`, exe, "respond", "asks", "perhaps")
	fails(t, 2, `unknown question "nobody"; open questions: ask`, exe, "respond", "asks", "nobody", "yes")
	fails(t, 2, "unknown run nothing", exe, "respond", "nothing", "yes")
	_ = first.Process.Kill()
	_ = first.Wait()
	worker(t, exe)
	ok(t, exe, "respond", "asks", "yes")
	fails(t, 2, "", exe, "respond", "asks", "ask", "yes") // it has its answer
	out := fields[map[string]string](t, ok(t, exe, "result", "asks"))
	record(t, exe, "asks")
	if out["answer"] != "yes" || strings.TrimSpace(out["posted"]) != "posted 1 of the book" { // nobody said how many: on_timeout
		t.Errorf("%v", out)
	}

	ok(t, exe, "start", "--id", "stops", "--input", "what=nothing")
	ok(t, exe, "cancel", "stops")
	fails(t, 1, "was cancelled", exe, "result", "stops")
}

// Simultaneous calls without effects are one activity: a wide map stays far below the server's limit of 51,200 events.
func TestWide(t *testing.T) {
	served(t)
	exe := build(t, "testdata/wide.flowgen.yaml")
	w := worker(t, exe)
	items := rounds("TEMPORAL_ITEMS", 10_000)
	out := fields[map[string]int](t, ok(t, exe, "start", "--id", "wide", "--wait", "--input-json", numbers(t, 0, items)))
	if out["sum"] != (items-1)*items || out["count"] != items {
		t.Errorf("%v", out)
	}
	s := fields[state](t, ok(t, exe, "describe", "wide"))
	if s.Events > items/10 {
		t.Errorf("%d events", s.Events)
	}
	ok(t, exe, "replay", "wide")
	t.Logf("%d items: %+v, a worker of %d MB", items, s, memory(t, w))
}

// A history is only replayed by a program that asks the same. The difference is told by node.
func TestForeignHistory(t *testing.T) {
	served(t)
	w := newWorld()
	exe := build(t, "testdata/ledger.flowgen.yaml")
	worker(t, exe)
	ok(t, exe, "start", "--id", "history", "--wait", "--input", "port="+strconv.Itoa(w.port()), "--input", `items=["a"]`)
	text, err := os.ReadFile("testdata/ledger.flowgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct{ old, edited, says string }{
		{`at: "book-{{ open }}"`, `at: "buch-{{ open }}"`, "book"},                                    // the node's own version
		{"polls: {type: list<int>, init: []", "polls: {type: list<int>, init: [1]", "rounds[0]/poll"}, // what it is given
		{"port: $input.port, at: open", "port: $input.port, at: open", ""},
	} {
		edited := strings.Replace(string(text), tt.old, tt.edited, 1)
		file := filepath.Join(t.TempDir(), fmt.Sprint(i), "ledger.flowgen.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		other := build(t, file)
		if tt.says == "" {
			ok(t, other, "replay", "history")
			continue
		}
		fails(t, 1, tt.says, other, "replay", "history")
	}
	publish := build(t, "testdata/publish.flowgen.yaml")
	fails(t, 2, "history is a history of workflow ledger, and this program is publish", publish, "replay", "history")
	fails(t, 2, "is not a workflow history", publish, "replay", "testdata/answers.yaml")
}

// The commands of the guide do what it says.
func TestGuide(t *testing.T) {
	served(t)
	page, err := os.ReadFile("../../docs/guides/temporal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml file=ship.flowgen.yaml\n")
	workflow, rest, _ := strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```sh\n")
	commands, _, found := strings.Cut(rest, "```")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ship.flowgen.yaml"), []byte(workflow), 0o600); err != nil || !found {
		t.Fatal(err)
	}
	ran := 0
	for part := range strings.SplitSeq(commands, "$ ") {
		command, want, _ := strings.Cut(part, "\n")
		switch {
		case command == "":
			continue
		case strings.HasSuffix(command, " &"):
			worker(t, filepath.Join(dir, "ship"))
			continue
		case strings.Contains(command, " respond "): // the guide's reader is slower
			for ok(t, filepath.Join(dir, "ship"), "questions", "monday") == "[]\n" {
			}
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), server...), "PATH="+filepath.Dir(built.Flowgen(t))+":"+os.Getenv("PATH"))
		out, err := cmd.Output()
		if err != nil || want != "...\n" && strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
			t.Fatalf("%s: %v\n%s\nwant %s", command, err, out, want)
		}
		ran++
	}
	if ran != 5 {
		t.Errorf("%d commands", ran)
	}
}
