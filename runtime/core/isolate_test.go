package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// machine has the sandbox tiers up to one.
type machine struct {
	tier runtime.Tier
	err  error
}

func (m machine) Obtain(context.Context, runtime.Tier) (runtime.Tier, error) { return m.tier, m.err }

func TestNewNeedsTiers(t *testing.T) {
	node := &flow.Node{ID: "boxed", Pos: "f.yaml:3:1"}
	info := func(m machine) *flow.Info {
		return &flow.Info{Name: "w", Nodes: []*flow.Node{node}, Needs: []flow.Need{{Node: node, Isolation: m, Tier: runtime.GVisor}}}
	}
	missing := value.Errorf(value.SandboxError, "gVisor is missing")
	for _, tt := range []struct {
		m    machine
		o    []runtime.Option
		want string
	}{
		{m: machine{tier: runtime.GVisor}},
		{m: machine{tier: runtime.Process}, want: "f.yaml:3:1: node boxed: SANDBOX_ERROR: the sandbox tier gvisor is required, but only process is available"},
		{m: machine{err: missing}, want: "f.yaml:3:1: node boxed: SANDBOX_ERROR: gVisor is missing"},
		{m: machine{err: missing}, o: []runtime.Option{runtime.WithEngine(journal.Replay(journal.NewRecorder().Journal()))}}, // runs no tool
	} {
		_, err := flow.New(info(tt.m), tt.o...)
		var te *value.ToolError
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &te) || te.Code != value.SandboxError || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.m, err, tt.want)
		}
	}
}
