package core

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestGatesOfTools: a tool has the gates that every tool has, and those of what it declares, in the order of the list.
func TestGatesOfTools(t *testing.T) {
	names := func(o ...ToolOption) (out []string) {
		tool := Bind("t.t@1", None, func(context.Context, int) (int, error) { return 0, nil }, o...)
		for _, g := range tool.passage {
			out = append(out, g.name)
		}
		return out
	}
	own := map[string]ToolOption{"cache": CacheForever(), "rate": Rate(1, time.Second), "secrets": Secrets("KEY"), "sandbox": Require(Container), "usage": CostUSD("0.01"), "size": MaxOutput(9)}
	var all []ToolOption
	plain := names()
	for _, g := range passage {
		if o := own[g.name]; o != nil {
			all = append(all, o)
			if got := names(o); len(got) != len(plain)+1 || !slices.Contains(got, g.name) {
				t.Errorf("a tool with the gate %q has %q", g.name, got)
			}
		} else if !slices.Contains(plain, g.name) {
			t.Errorf("a plain tool lacks the gate %q", g.name)
		}
	}
	if len(all) != len(own) {
		t.Errorf("%d gates are of some tools", len(all))
	}
	want := []string{"cache", "rate", "timeout", "panic", "secrets", "sandbox", "size", "output", "usage"}
	if got := names(all...); !slices.Equal(got, want) {
		t.Errorf("a tool with everything has %q", got)
	}
}
