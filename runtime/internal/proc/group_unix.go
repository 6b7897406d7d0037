//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes cmd the leader of a new session and so of a new group. Without a terminal a program that wants to ask for a
// password fails at once instead of being stopped in the background until its deadline.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// The leader's number is the group's. A group that is gone already is not an error.

func terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

func signalName(s *os.ProcessState) string {
	status, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return nameOf(status.Signal())
}

func nameOf(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String() // a real-time signal has no name
}
