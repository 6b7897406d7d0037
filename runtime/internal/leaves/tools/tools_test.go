package tools_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var node = &runtime.Node{ID: "n", Pos: "f.yaml:1:1"}

func start(t *testing.T, o ...runtime.Option) *runtime.Run {
	t.Helper()
	t.Cleanup(worker.Shutdown)
	rt, err := runtime.New(&runtime.Info{Name: "test"}, o...)
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
