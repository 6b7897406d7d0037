package core

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

type fakeIn struct {
	N int64 `json:"n"`
}

type fakeOut struct {
	Kind string `json:"kind" flow:"enum=a|b"`
}

// TestFakes: a fake runs behind the gates of its tool, and none is needed of what the tool needs.
func TestFakes(t *testing.T) {
	reached := func(context.Context, fakeIn) (fakeOut, error) {
		t.Error("the tool has run")
		return fakeOut{}, nil
	}
	tool := Bind("w.fetch@1", Reads, reached, Secrets("FAKE_KEY"), CacheForever(), MaxOutput(1000))
	other := Bind("w.other@1", External, reached)
	pure := Bind("w.pure@1", None, func(_ context.Context, in fakeIn) (fakeOut, error) { return fakeOut{"b"}, nil })
	node := &Node{ID: "n", Pos: "w.flowgen.yaml:1:1", Index: 0}
	info := &Info{Name: "w", Nodes: []*Node{node}, Secrets: []string{"FAKE_KEY"}}
	run := func(t *testing.T, call func(r *Run) error, real bool, o ...Option) error {
		t.Helper()
		rt, err := New(info, WithFakes(real, o...), WithSecrets(func(string) (string, bool) { return "", false }))
		if err != nil {
			t.Fatal(err)
		}
		r := rt.Start(t.Context())
		err = call(r)
		r.End(&err)
		return err
	}
	fake := func(kind string) Option {
		return tool.Fake(func(_ context.Context, in fakeIn) (fakeOut, error) { return fakeOut{kind}, nil })
	}
	t.Run("answers", func(t *testing.T) {
		if err := run(t, func(r *Run) error {
			out, err := Call(r, node, tool, fakeIn{1})
			if err == nil && out.Kind != "a" {
				t.Errorf("got %v", out)
			}
			return err
		}, false, fake("a")); err != nil {
			t.Error(err)
		}
	})
	t.Run("checked", func(t *testing.T) {
		err := run(t, func(r *Run) error { _, err := Call(r, node, tool, fakeIn{1}); return err }, false, fake("c"))
		if te := value.ToolErrorOf(err); te == nil || te.Code != value.ValidationError {
			t.Errorf("got %v", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		err := run(t, func(r *Run) error {
			_, err := CallOr(r, node, other, fakeIn{1}, fakeOut{"a"})
			return err
		}, false, other.Fake(nil))
		var re *RunError
		if !errors.As(err, &re) || !strings.Contains(err.Error(), "no fake for w.other") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("pure", func(t *testing.T) {
		if err := run(t, func(r *Run) error { _, err := Call(r, node, pure, fakeIn{1}); return err }, false, pure.Fake(nil)); err != nil {
			t.Error(err)
		}
	})
	t.Run("real", func(t *testing.T) {
		ran := false
		own := Bind("w.own@1", External, func(context.Context, fakeIn) (fakeOut, error) { ran = true; return fakeOut{"a"}, nil })
		if err := run(t, func(r *Run) error { _, err := Call(r, node, own, fakeIn{1}); return err }, true, own.Fake(nil)); err != nil || !ran {
			t.Errorf("%v, ran: %v", err, ran)
		}
	})
}
