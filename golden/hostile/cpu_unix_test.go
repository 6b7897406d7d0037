//go:build unix

package hostile

import (
	"syscall"
	"time"
)

// cpu is the processor time that f takes, the garbage collector's included: other programs do not count.
func cpu(f func()) time.Duration {
	before := used()
	f()
	return used() - before
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
