//go:build !js && !wasip1 && !plan9

// Package nowait has the flag of an open that does not wait for the other end of a pipe.
package nowait

import "syscall"

// Flag is for os.OpenFile; 0 on systems that have none.
const Flag = syscall.O_NONBLOCK
