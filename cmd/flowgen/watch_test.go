package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCheckWatch: `check --watch` says what is wrong after each change: of a workflow, of a Go function it calls, of a test, and of a
// file that was not there before. An interrupt ends it.
func TestCheckWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code := "package tools\n\nfunc Double(n int) int { return 2 * n }\n"
	flow := "flowgen: 1\nname: sums\ninput: {n: int}\ntools:\n  double: {go: ./tools.Double, effects: none}\nnodes:\n  two: {tool: double, with: {n: $input.n}}\noutput: {n: $two}\n"
	write("go.mod", "module example.com/sums\n\ngo 1.26\n")
	write("tools/tools.go", code)
	write("sums.flowgen.yaml", flow)
	cmd := exec.Command("flowgen", "check", "--watch")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			lines <- s.Text()
		}
	}()
	report := func() string {
		t.Helper()
		var b strings.Builder
		patience := time.After(5 * time.Minute)
		for {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("it has ended: %s", b.String())
				}
				b.WriteString(line + "\n")
				if strings.HasPrefix(line, "flowgen: ") {
					return b.String()
				}
			case <-patience:
				t.Fatalf("no report: %s", b.String())
			}
		}
	}
	until := func(what string, good func(string) bool) {
		t.Helper()
		for {
			if r := report(); good(r) {
				return
			}
		}
	}
	clean := func(r string) bool { return strings.HasPrefix(r, "flowgen: 0 messages; watching ") }
	if r := report(); !clean(r) {
		t.Errorf("at first: %s", r)
	}
	write("sums.flowgen.yaml", strings.Replace(flow, "$input.n}", "$input.m}", 1))
	until("a wrong field", func(r string) bool { return strings.Contains(r, "sums.flowgen.yaml:7:") })
	write("sums.flowgen.yaml", flow)
	until("fixed", clean)
	write("tools/tools.go", strings.Replace(code, "n int)", "n, m int)", 1))
	until("a changed Go function", func(r string) bool { return strings.Contains(r, "sums.flowgen.yaml:") })
	write("tools/tools.go", code)
	until("fixed Go", clean)
	write("sums.test.yaml", "flowgen: 1\ncases:\n  one: {input: {x: 1}}\n")
	until("a wrong test", func(r string) bool { return strings.Contains(r, "sums.test.yaml:3:") })
	write("sums.test.yaml", "flowgen: 1\ncases:\n  one: {input: {n: 1}, want: {output: {n: 2}}}\n")
	until("a fixed test", clean)
	write("other.flowgen.yaml", "flowgen: 1\nname: other\nnodse: {}\n")
	until("a new file", func(r string) bool { return strings.Contains(r, "other.flowgen.yaml:") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range lines {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
