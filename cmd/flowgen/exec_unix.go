//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// replaceProcess becomes the program, so that signals, the terminal and the exit code are its own.
func replaceProcess(exe string, args []string) error {
	return syscall.Exec(exe, append([]string{filepath.Base(exe)}, args...), os.Environ())
}
