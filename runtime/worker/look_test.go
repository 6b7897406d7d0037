package worker

import (
	"os/exec"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// BenchmarkLook is what every call pays for the look at its worker.
func BenchmarkLook(b *testing.B) {
	child, err := proc.Start(exec.Command("sleep", "1000"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { child.Kill(); _, _ = child.Reap() }()
	g := newGauge(child.Pid)
	defer g.close()
	for b.Loop() {
		g.look(1)
	}
}
