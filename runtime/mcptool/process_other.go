//go:build !linux

package mcptool

// await blocks until the first process has ended. There is no portable way to
// wait without reaping, so the state in cmd is set here already.
func (p *process) await() { _ = p.cmd.Wait() }

func (p *process) collect() {}
