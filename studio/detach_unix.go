//go:build unix

package studio

import (
	"os/exec"
	"syscall"
)

// detach gives a program a session of its own: it does not end with the terminal of studio.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
