//go:build linux

package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestPaused: a process that is stopped during a write for longer than its lease, and that goes on when another one has had the run, writes
// nothing and makes no call any more. What it had announced was in doubt for the other one.
func TestPaused(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and stops it")
	}
	exe, reader := program(t, ledger, "--stores", "postgres,sqlite"), reader(t)
	for name, in := range map[string]func(t *testing.T, h *history){
		"sqlite": func(t *testing.T, h *history) {
			h.in("sqlite://"+filepath.Join(t.TempDir(), "runs.db")+"?lease=1s", &stored{exe: reader})
		},
		"postgres": func(t *testing.T, h *history) {
			h.in(schema(postgres(t, reader), h.seed), &stored{exe: reader}) // whose connections stay
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := newHistory("", exe, pausing, "effect")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(h.world.close)
			in(t, h)
			input, err := json.Marshal(map[string]any{"port": h.world.port(), "items": h.items})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "run", "--quiet", "--runs", h.at, "--input-json", "-")
			cmd.Stdin = bytes.NewReader(input)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			started, paused := make(chan struct{}), make(chan struct{})
			var once sync.Once
			h.world.meet(func(at string) {
				if strings.HasPrefix(at, "book-") {
					once.Do(func() {
						<-started
						if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
							t.Error(err)
						}
						close(paused)
					})
				}
			})
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			close(started)
			<-paused
			for h.world.effects()[book()] == 0 { // its answer is on the way, to nobody who reads it
			}
			if err := h.look(false); err != nil {
				t.Fatal(err)
			}
			l := late{h, t}
			_, said, code := l.resume()
			if err := h.doubt([]byte(said)); code == 0 || err != nil || h.given["book"] != fmt.Sprint(answer(book())) {
				t.Fatalf("exit %d: %v: %v\n%s", code, h.given, err, said)
			}
			stdout, said, code := l.resume("--in-doubt", "book="+h.given["book"])
			l.done(stdout, said, code)
			before := l.journal()

			if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(stderr.String(), "another process has taken over the run") {
				t.Errorf("%v\n%s", err, stderr.String())
			}
			h.world.settle()
			if after := l.journal(); !bytes.Equal(before, after) {
				t.Errorf("it has written:\n%s\nbefore:\n%s", after, before)
			}
			l.done(stdout, said, code)
		})
	}
}

func book() string { return fmt.Sprintf("book-%d", answer("open")) }

// journal is the text of the journal.
func (l late) journal() []byte {
	l.t.Helper()
	data, err := l.disk.ReadFile(filepath.Join(l.log, l.id, "journal.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	return data
}
