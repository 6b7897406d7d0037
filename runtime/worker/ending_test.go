//go:build unix

package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// What the isolation says about the end of a worker stands, also when its connection is found to be closed after that: by a
// process that it has left behind and that ends last.
func TestTheIsolationSaysWhy(t *testing.T) {
	last := filepath.Join(t.TempDir(), "end")
	p := newPool(t, "ok", func(c *Config) {
		c.Start = func(cmd *exec.Cmd) (*proc.Child, error) {
			child, err := proc.Start(cmd)
			if err == nil {
				child.After(func() error {
					return errors.Join(os.WriteFile(last, nil, 0o600), errors.New("it wrote more than it may"))
				})
			}
			return child, err
		}
	})
	_, err := p.Call(t.Context(), request("escape "+last, flow.Writes))
	wantTool(t, err, value.SandboxError, "f: the test worker was stopped: it wrote more than it may")
}

// A worker that ends by itself closes its pipes before anybody can know that it ends. Who finds one closed does not take that
// for the reason; and what he could not write is done by another worker.
func TestAPipeThatClosesFirst(t *testing.T) {
	p := patient(newPool(t, "ok", func(c *Config) { c.MaxWorkers = 1 }))
	p.get(t, "echo warm")
	var wg sync.WaitGroup
	var err error
	name, end := gate(t)
	wg.Go(func() { _, err = p.Call(t.Context(), request("shut "+name, flow.Writes)) })
	p.begun(t, "shut")
	p.mu.Lock()
	w := p.procs[0]
	w.first = nil // the lane that is closed is taken
	p.mu.Unlock()
	wg.Go(func() {
		defer end()
		eventually.True(t, "the next call has the closed lane", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(w.flights) == 2
		})
	})
	if got := p.get(t, "echo x"); got != "x" {
		t.Errorf("got %q", got)
	}
	wg.Wait()
	wantTool(t, err, value.SandboxError, "f: the test worker exited with status 3: last words")
}
