package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
)

type greeter interface{ Greet(name string) string }

type polite struct{}

func (polite) Greet(name string) string { return "Dear " + name }

// TestSlots: what New is given reaches the tools of its runs, called directly and through the door.
func TestSlots(t *testing.T) {
	node := &runtime.Node{ID: "greet"}
	info := &runtime.Info{Name: "slots", Nodes: []*runtime.Node{node}}
	tool := runtime.Bind("greet@1", runtime.None, func(ctx context.Context, name string) (string, error) {
		return runtime.Slots[greeter](ctx).Greet(name), nil
	})
	for _, opts := range [][]runtime.Option{nil, {runtime.WithEngine(runtime.Goroutines{})}, {runtime.WithTenant("a")}} {
		rt, err := runtime.New(info, append([]runtime.Option{runtime.WithSlots[greeter](polite{})}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		run := runtime.Start(t.Context(), rt, "in")
		out, err := runtime.Call(run, node, tool, "Ann")
		runtime.End(run, &out, &err)
		if err != nil || out != "Dear Ann" {
			t.Error(out, err)
		}
	}
	if _, err := runtime.New(info, runtime.WithSlots[greeter](nil)); err == nil || !strings.Contains(err.Error(), "workflow slots: New was given nil in place of its Slots") {
		t.Error(err)
	}
}
