package worker

import (
	"os/exec"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
)

// A count that lasts finds processes of calls that came one after the other. They are not left behind; what two counts find is.
func TestChildrenOfCallsAreNotKept(t *testing.T) {
	var c children
	for i, tt := range []struct {
		found []int
		kept  int64
	}{{[]int{1, 2, 3, 4}, 0}, {[]int{9, 8, 7, 6, 5}, 0}, {[]int{5, 10, 6, 5}, 2}, {nil, 0}} {
		c.count(func() []int { return tt.found })
		if kept := c.kept.Load(); kept != tt.kept {
			t.Errorf("count %d: %d are kept, want %d", i, kept, tt.kept)
		}
	}
	c.count(func() []int {
		c.count(func() []int { t.Error("two counts at a time"); return nil })
		return nil
	})
}

// A call that failed may have failed for want of processes: what is left behind is known without a second count.
func TestLeftBehindIsKnownAtOnce(t *testing.T) {
	cmd := exec.Command("sh", "-c", "for i in $(seq 30); do sleep 1000 & done; echo; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { child.Kill(); _, _ = child.Reap() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	g := newGauge(child.Pid)
	if g == nil {
		t.Skip("/proc does not tell")
	}
	defer g.close()
	g.countLeft()
	if leak := g.look(1); leak != leaksChildren {
		t.Errorf("found %v, want %v", leak, leaksChildren)
	}
}

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
