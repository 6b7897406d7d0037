package core

import (
	"testing"
	"time"
)

// An attempt that is not asked for its Limit is one that no Limit would bound.
func TestUnbounded(t *testing.T) {
	free := 0
	for i := range 1 << 9 {
		has := func(bit int) bool { return i>>bit&1 == 1 }
		n, opts, eng := &Node{ID: "a"}, &toolOptions{cancels: has(0)}, Engine(Goroutines{})
		h := Head{Node: n, Tool: "t@1"}
		if has(1) {
			opts.timeout = time.Second
		}
		if has(2) {
			n.Timeout = time.Second
		}
		if has(3) {
			n.Retry = &Retry{Timeout: time.Second}
		}
		if has(4) {
			h.Effects = Reads
		}
		if has(5) {
			eng = &elsewhere{limit: &Limit{written: true}}
		}
		r := &Run{eng: eng}
		if has(6) {
			r.bound = &bound{node: n, until: time.Now().Add(time.Hour)}
		}
		if has(7) {
			r.guard = &guard{work: &worktime{most: time.Hour, since: time.Now()}}
		}
		if has(8) {
			r.guard = &guard{outer: r.guard}
		}
		h.bounds = opts.bounds()
		c := &call{run: r, head: h}
		if !c.unbounded(opts) {
			continue
		}
		free++
		if l := r.Limit(&c.head); l.written || opts.cancels || opts.waits(&c.head, l) {
			t.Errorf("%09b: %+v", i, l)
		}
	}
	if free == 0 {
		t.Error("every attempt is asked for its Limit")
	}
}
