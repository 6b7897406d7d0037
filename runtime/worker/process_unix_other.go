//go:build unix && !linux

package worker

import "syscall"

// dieWithParent has nothing to do: workers end when their pipes do.
func dieWithParent(*syscall.SysProcAttr) {}
