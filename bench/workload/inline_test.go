package workload

import (
	"os/exec"
	"strings"
	"testing"
)

// Calls of package flow cost nothing, and what they look at first in core is inlined in programs, though these do not import core.
func TestCallsAreInlined(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", "../chain").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, least := range map[string]int{
		"flow.Call[": Nodes, "core.(*Node).Gated": 1, "core.(*Run).carrier": 1, "core.(*call).admit": 1,
	} {
		if got := strings.Count(string(out), "inlining call to "+name); got < least {
			t.Errorf("%s is inlined %d times, not %d", name, got, least)
		}
	}
}

// The beginning of an iteration is inlined in the loop that it belongs to.
func TestIterationsAreInlined(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", "../router").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "inlining call to core.(*Run).Iterate") {
		t.Error("Iterate is not inlined")
	}
}
