//go:build !unix

package mcptool

import (
	"os"
	"os/exec"
)

// Without process groups only the process itself can be ended, and only hard.

func ownGroup(*exec.Cmd) {}

func terminateGroup(p *os.Process) { _ = p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }

func signalName(*os.ProcessState) string { return "" }
