//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os/exec"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// isolated is a process that is to be isolated: a box, or a kernelBox.
type isolated interface {
	prepare() error
	describe(cmd *exec.Cmd, read []string) error
	launch(cmd *exec.Cmd) (*proc.Child, error)
	exceeded(pid int) error
	release() error
	remove()
	watcher() *watched
}

// begin starts cmd in b, where it can read the paths of read, and ends it when it goes beyond a limit.
func begin(b isolated, cmd *exec.Cmd, read []string) (*proc.Child, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	err := b.describe(cmd, read)
	var child *proc.Child
	if err == nil {
		child, err = b.launch(cmd)
	}
	if err != nil {
		b.remove()
		return nil, err
	}
	child.After(b.release)
	b.watcher().begin(child, b.exceeded)
	return child, nil
}

// watched is a process whose limits are looked at from outside.
type watched struct {
	stop chan struct{}
	done chan struct{} // closed when nobody looks any more
	over error         // the limit that it went beyond; once done is closed
}

func (b *box) watcher() *watched { return &b.watch }

// begin ends the process when exceeded returns a limit that it went beyond.
func (w *watched) begin(child *proc.Child, exceeded func(pid int) error) {
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.done)
		tick := time.NewTicker(glance)
		defer tick.Stop()
		for w.over == nil {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			w.over = exceeded(child.Pid)
		}
		child.Kill()
	}()
}

// end stops looking, and returns the limit that the process went beyond, or nil.
func (w *watched) end() error {
	close(w.stop)
	<-w.done
	return w.over
}
