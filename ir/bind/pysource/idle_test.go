package pysource

import "testing"

// CloseIdle ends the interpreters that are kept.
func CloseIdle() {
	idle.Lock()
	defer idle.Unlock()
	for _, list := range idle.probes {
		for _, p := range list {
			p.close()
		}
	}
	idle.probes = nil
}

// TestIdle: an interpreter is kept for the next compilation, one that was killed is not.
func TestIdle(t *testing.T) {
	exe, err := interpreter(nil)
	if err != nil {
		t.Skip(err)
	}
	start := func() *probe {
		t.Helper()
		p, err := startProbe(exe, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := start()
	other := start() // both are in use
	if first == other {
		t.Fatal("one interpreter for two at a time")
	}
	first.release()
	again := start()
	if again != first {
		t.Error("the interpreter is not kept")
	}
	if err := again.ask("def f(x: int) -> int: ...\n", &facts{}); err != nil {
		t.Fatal(err)
	}
	if err := again.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := again.ask("x = 1\n", &facts{}); err == nil {
		t.Error("a dead interpreter answers")
	}
	again.release()
	last := start()
	if last == again {
		t.Error("a dead interpreter is kept")
	}
	last.release()
	other.release()
}
