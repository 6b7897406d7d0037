//go:build !js && !wasip1 && !plan9

package files

import "syscall"

// noWait is the flag of an open that does not wait for the other end of a pipe.
const noWait = syscall.O_NONBLOCK
