//go:build !unix

package worker

import (
	"os"
	"os/exec"
)

// Descriptors cannot be handed to a process here, so Start reports that workers are not possible.

func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) { _ = p.Kill() }

func signalName(*os.ProcessState) string { return "" }
