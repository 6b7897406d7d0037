// Package leaks holds tests to ending what they have begun.
package leaks

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// patience is how long goroutines that are about to end may take on a machine that is busy.
const patience = time.Minute

// Main runs the tests of a package and ends the process: with status 1 when they leave goroutines behind. It is for TestMain.
// What goleak.VerifyTestMain waits for is gone within half a second, which is not enough where others use the processors.
func Main(m interface{ Run() int }, options ...goleak.Option) {
	code := m.Run()
	proc.Close()
	if code == 0 {
		if err := find(patience, options...); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// find reports the goroutines that do not end within a time.
func find(within time.Duration, options ...goleak.Option) (err error) {
	for begin := time.Now(); ; {
		if err = goleak.Find(options...); err == nil || time.Since(begin) > within {
			return err
		}
	}
}
