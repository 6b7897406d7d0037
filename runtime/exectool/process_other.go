//go:build !linux

package exectool

import "os"

// limit has nothing to set: limits of others can be set on Linux only.
func limit(*os.Process) {}

// await blocks until the first process has ended. There is no portable way to
// wait without reaping, so the state in cmd is set here already.
func (p *process) await() { _ = p.cmd.Wait() }

func (p *process) reap() {}
