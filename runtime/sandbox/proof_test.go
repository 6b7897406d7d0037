//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A trial that failed counts for a moment, one that succeeded for good.
func TestFailureIsTriedAgain(t *testing.T) {
	check(t, available())
	set := func(err error, ago time.Duration) {
		proof.mu.Lock()
		defer proof.mu.Unlock()
		proof.err, proof.at = err, time.Now().Add(-ago)
	}
	defer set(nil, 0)
	mood := errors.New("the machine's mood")
	set(mood, -time.Hour) // a look at the clock takes time, too
	if err := available(); err != mood {
		t.Errorf("right after it: %v", err)
	}
	set(mood, retrial)
	if err := available(); err != nil {
		t.Errorf("later: %v", err)
	}
	at := proof.at
	set(nil, time.Hour)
	if err := available(); err != nil || !proof.at.Before(at) {
		t.Errorf("success is tried again: %v", err)
	}
}

func TestGVisorFailureIsTriedAgain(t *testing.T) {
	needGVisor(t)
	p := &kernelProof
	set := func(err error, ago time.Duration) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err, p.at = err, time.Now().Add(-ago)
	}
	defer set(nil, 0)
	mood := errors.New("the machine's mood")
	set(mood, -time.Hour)
	if err := kernelAvailable(); err != mood {
		t.Errorf("right after it: %v", err)
	}
	set(mood, retrial)
	if err := kernelAvailable(); err != nil {
		t.Errorf("later: %v", err)
	}
	at := p.at
	set(nil, time.Hour)
	if err := kernelAvailable(); err != nil || !p.at.Before(at) {
		t.Errorf("success is tried again: %v", err)
	}
	runsc, err := findRunsc()
	check(t, err)
	t.Setenv("PATH", "")
	t.Setenv(RunscVariable, runsc)
	if got, err := findRunsc(); got != runsc || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	set(mood, -time.Hour)
	p.runsc = "another"
	if err := kernelAvailable(); err != nil {
		t.Errorf("another runsc: %v", err)
	}
}

// The count of a user's threads is used for a moment, for this user only.
func TestTasksAreCounted(t *testing.T) {
	const nobody = 1 << 30
	self := os.Geteuid()
	forget := func(uid, n int, ago time.Duration) {
		counted.Lock()
		defer counted.Unlock()
		counted.uid, counted.n, counted.at = uid, n, time.Now().Add(-ago)
	}
	defer forget(-1, 0, time.Hour)
	forget(self, -5, -time.Hour)
	if n, err := tasks(self); n != -5 || err != nil {
		t.Errorf("right after it: %d, %v", n, err)
	}
	if n, err := tasks(nobody); n != 0 || err != nil {
		t.Errorf("of nobody: %d, %v", n, err)
	}
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("of this user: %d, %v", n, err)
	}
	forget(self, -5, fresh)
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("later: %d, %v", n, err)
	}
	counted.at = time.Time{}
	counted.n = -5
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("at first: %d, %v", n, err)
	}
	if n := threads(fmt.Sprint(resting(t))); n != 1 {
		t.Errorf("%d threads of a shell", n)
	}
	if n := threads("none"); n != 0 {
		t.Errorf("%d threads of no process", n)
	}
}

// The limits and the state of a process that has none are noticed.
func TestStateAndLimitsAreLookedAt(t *testing.T) {
	var have unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &have))
	for _, tt := range []struct {
		value uint64
		ok    bool
	}{{have.Max, true}, {have.Max + 1, true}, {have.Max - 1, false}, {0, false}} {
		d := &description{Limits: []limit{{unix.RLIMIT_NOFILE, tt.value}}}
		if err := d.limitsHold(); (err == nil) != tt.ok {
			t.Errorf("%d of %d: %v", tt.value, have.Max, err)
		}
	}
	if err := (&description{}).stateHolds(); err == nil {
		t.Error("this process is isolated")
	}
}
