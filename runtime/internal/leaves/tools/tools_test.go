package tools_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func start(t *testing.T, o ...runtime.Option) *flow.Run {
	t.Helper()
	t.Cleanup(worker.Shutdown)
	rt, err := flow.New(&flow.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

func interpreter(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
