//go:build !js

package programs

import (
	"os"
	"syscall"
)

// endings are the signals that tell a process to end.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
