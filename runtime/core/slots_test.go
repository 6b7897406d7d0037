package core_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
)

type greeter interface{ Greet(name string) string }

type polite struct{}

func (polite) Greet(name string) string { return "Dear " + name }

// TestSlots: what New is given reaches the tools of its runs, called directly and through the door.
func TestSlots(t *testing.T) {
	node := &flow.Node{ID: "greet"}
	info := &flow.Info{Name: "slots", Nodes: []*flow.Node{node}}
	tool := flow.Bind("greet@1", flow.None, func(ctx context.Context, name string) (string, error) {
		return flow.Slots[greeter](ctx).Greet(name), nil
	})
	for _, opts := range [][]runtime.Option{nil, {runtime.WithEngine(engine.Goroutines{})}, {runtime.WithTenant("a")}} {
		rt, err := flow.New(info, append([]runtime.Option{runtime.WithSlots[greeter](polite{})}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		run := flow.Start(t.Context(), rt, "in")
		out, err := flow.Call(run, node, tool, "Ann")
		flow.End(run, &out, &err)
		if err != nil || out != "Dear Ann" {
			t.Error(out, err)
		}
	}
	if _, err := flow.New(info, runtime.WithSlots[greeter](nil)); err == nil || !strings.Contains(err.Error(), "workflow slots: New received nil instead of Slots") {
		t.Error(err)
	}
}
