//go:build !linux

package proc

import (
	"os"
	"os/exec"
)

func start(cmd *exec.Cmd) (*Child, error) { return direct(cmd) }

// Parent returns the number of the process whose children Start makes.
func Parent() int { return os.Getpid() }

// Close has nothing to end.
func Close() {}

// await would wait for the end of a process without collecting it, which nothing portable does.
func await(int) bool { return false }
