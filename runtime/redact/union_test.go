package redact_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type event interface{ tagOfEvent() string }

type push struct {
	Kind string `json:"kind"`
	Ref  string `json:"ref"`
}

func (push) tagOfEvent() string { return "push" }

var _ = value.Union("kind", map[string]event{"push": push{}})

// TestOutputOfUnion: an interface cannot be written to in place, and what it holds is cleaned all the same.
func TestOutputOfUnion(t *testing.T) {
	r := redact.New("hunter2-hunter2")
	out := struct{ List []event }{[]event{push{"push", "a hunter2-hunter2 b"}, nil}}
	if err := r.Output(&out, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := out.List[0].(push).Ref; r.Found(got) || got == "" {
		t.Errorf("%q is left", got)
	}
}
