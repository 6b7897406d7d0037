//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
)

// TestCost measures what isolation adds to the start of a process, side by side: P31 allows 10 ms.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	plain := func() error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Run()
	}
	isolated := func() error {
		cmd := exec.Command("/bin/true")
		release, err := standard.Start(cmd, isolate.Need{})
		if err != nil {
			return err
		}
		return errors.Join(cmd.Wait(), release())
	}
	again := func() error {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{marker, "3"}
		_ = cmd.Run()
		return nil
	}
	check(t, isolated())
	var times [3][]time.Duration
	for range 40 {
		for i, f := range []func() error{plain, isolated, again} {
			begin := time.Now()
			check(t, f())
			times[i] = append(times[i], time.Since(begin))
		}
	}
	var median, least [3]time.Duration
	for i := range times {
		slices.Sort(times[i])
		median[i], least[i] = times[i][len(times[i])/2], times[i][0]
	}
	t.Logf("plain %v, isolated %v, this program alone %v (least %v)", median[0], median[1], median[2], least)
	// The least is what isolation costs; the rest is what else the machine does.
	if over := least[1] - least[0]; over > 10*time.Millisecond {
		t.Errorf("isolation adds %v", over)
	}
}
