//go:build !linux

package worker

import (
	"errors"
	"os"
)

// await blocks until the process has ended. There is no portable way to wait without reaping, so the state in cmd is set
// here already.
func (w *process) await() { _ = w.cmd.Wait() }

func (w *process) reap() {}

func (l Limits) set(int) error {
	if l != (Limits{}) {
		return errors.New("resource limits of workers need Linux")
	}
	return nil
}

func widen(*os.File) {}
