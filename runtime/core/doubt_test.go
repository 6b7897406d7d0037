package core

import (
	"context"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// seen is an engine that keeps the heads of all attempts.
type seen struct {
	Goroutines
	heads []*Head
}

func (s *seen) Do(r *Run, op Op) error {
	s.heads = append(s.heads, op.Head())
	return s.Goroutines.Do(r, op)
}

func TestDoubtOfACall(t *testing.T) {
	ask, done := &Doubt{Policy: AskInDoubt}, &Doubt{Policy: AssumeDone, Output: "7"}
	fails := 1
	f := func(context.Context, int) (int, error) {
		if fails--; fails >= 0 {
			return 0, value.Errorf(value.NetworkError, "once")
		}
		return 1, nil
	}
	plain := Bind("plain@1", Writes, func(_ context.Context, n int) (int, error) { return n, nil })
	tool := Bind("tool@1", Writes, f, OnInDoubt(*ask))
	retry := &Retry{Attempts: 2}

	eng := &seen{}
	rt, err := New(&Info{Name: "w"}, WithEngine(eng))
	if err != nil {
		t.Fatal(err)
	}
	run := rt.Start(context.Background())
	for _, n := range []*Node{{ID: "a", Retry: retry}, {ID: "b", InDoubt: done}} {
		if _, err := Call(run, n, tool, 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Call(run, &Node{ID: "c"}, plain, 1); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		key string
		d   Doubt
		nil bool
	}{{"a", *ask, false}, {"a", *ask, false}, {"b", *done, false}, {"c", Doubt{}, true}}
	if len(eng.heads) != len(want) {
		t.Fatalf("%d attempts, want %d", len(eng.heads), len(want))
	}
	for i, w := range want {
		h := eng.heads[i]
		if h.Key() != w.key || (h.InDoubt == nil) != w.nil || h.InDoubt != nil && *h.InDoubt != w.d {
			t.Errorf("attempt %d: %s %v, want %s %v", i, h.Key(), h.InDoubt, w.key, w.d)
		}
	}
}
