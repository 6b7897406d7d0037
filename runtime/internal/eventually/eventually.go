// Package eventually waits in tests for what other goroutines and processes do.
package eventually

import (
	"testing"
	"time"
)

// patience is far longer than anything takes on a machine that is busy.
const patience = 2 * time.Minute

// True returns when is does, and ends the test when that does not come. It is called by the goroutine of the test, and is for
// what sends no signal: where there is a channel or a pipe, tests wait for that.
func True(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Is(is) {
		t.Fatalf("after %v: not %s", patience, what)
	}
}

// Is calls is until it returns true, and reports whether it ever did.
func Is(is func() bool) bool {
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
