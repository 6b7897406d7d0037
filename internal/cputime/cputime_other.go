//go:build !unix

package cputime

import "time"

var began = time.Now()

// The time that passes is at least as long.
func used() time.Duration { return time.Since(began) }
