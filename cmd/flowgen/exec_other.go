//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// replaceProcess runs the program as a child, where a process cannot become another one, and ends with its exit code.
// An interrupt reaches both; what to do about it is the program's to decide.
func replaceProcess(exe string, args []string) error {
	cmd := exec.Command(exe, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(os.Interrupt)
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exitCode(ended.ExitCode())
	}
	return err
}
