// Package cputime measures processor time, for tests that bound what something may cost: how long it takes depends on what
// else the machine does.
package cputime

import "time"

// Of calls f and returns the processor time that the process has used meanwhile. Other processes do not count; the garbage
// collector and other goroutines of this one do.
func Of(f func()) time.Duration {
	before := used()
	f()
	return used() - before
}
