package runs

import (
	"errors"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

func TestCalm(t *testing.T) {
	var i idle
	before := int64(-1)
	look := func(what string, want bool) {
		t.Helper()
		now, calm := i.calm(before)
		if calm != want {
			t.Errorf("%s: calm is %t, want %t", what, calm, want)
		}
		before = now
	}
	look("at first", false)
	look("nothing has begun", true)
	i.begin()
	look("a call has begun", false)
	look("it goes on", false)
	i.end()
	look("it has ended", false)
	look("nothing since", true)
	i.begin()
	i.end()
	look("another has begun and ended", false)
	look("nothing since then", true)
}

// A run whose goroutines all wait for answers is still, one with a goroutine that goes on, or has not begun, is not.
func TestStill(t *testing.T) {
	i := newIdle()
	e := &Engine{idle: idle{still: i.still}}
	still := func(what string, want bool) {
		t.Helper()
		got := false
		select {
		case <-i.still:
			got = true
		default:
		}
		if got != want {
			t.Errorf("%s: still is %t, want %t", what, got, want)
		}
	}
	info := &flow.Info{Name: "still"}
	rt, err := flow.New(info)
	if err != nil {
		t.Fatal(err)
	}
	run := rt.Start(t.Context())
	defer run.End(&err)
	asked, release := make(chan struct{}), make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = e.Fork(run, 3, 3, func(_ *flow.Run, n int) error {
			switch n {
			case 0, 1: // they ask
				e.idle.rests(1)
				asked <- struct{}{}
				<-release
				e.idle.others.Add(1)
			case 2:
				<-asked
				<-asked
				still("one branch goes on", false)
			}
			return nil
		})
	}()
	<-i.still // the third has ended
	close(release)
	<-over
	if n := e.idle.others.Load(); n != 0 {
		t.Errorf("%d goroutines are left", n)
	}
	failed := errors.New("failed")
	_ = e.Fork(run, 5, 1, func(_ *flow.Run, n int) error {
		if n == 1 {
			return failed
		}
		return nil
	})
	if n := e.idle.others.Load(); n != 0 {
		t.Errorf("%d goroutines are left behind a failure", n)
	}
	e.idle.rests(1)
	still("the only goroutine asks", true)
}
