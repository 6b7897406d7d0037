//go:build !unix

package proc

import (
	"os"
	"os/exec"
)

// Without process groups only the first process is reached.

func ownGroup(*exec.Cmd) {}

func terminate(pid int) { kill(pid) }

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func signalName(*os.ProcessState) string { return "" }
