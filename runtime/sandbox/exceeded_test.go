//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
)

// resting starts a shell that waits for another, and returns its number once both rest.
func resting(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "(echo ready; read line); true")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	_, err = out.Read(make([]byte, 6))
	check(t, err)
	rests := func(pid string) bool {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && strings.HasPrefix(string(text[bytes.LastIndexByte(text, ')')+1:]), " S ")
	}
	eventually.True(t, "both processes rest", func() bool {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		check(t, err)
		list := strings.Fields(string(children))
		return len(list) == 1 && rests(list[0]) && rests(fmt.Sprint(cmd.Process.Pid))
	})
	return cmd.Process.Pid
}

// Each limit is what may be reached and not be gone beyond.
func TestExceeded(t *testing.T) {
	pid := resting(t)
	var used consumption
	used.add(pid, 0)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "file"), make([]byte, 100_000), 0o600))
	size, files := (&folder{path: dir}).size()
	if size < 100_000 || files != 2 || used.memory <= 0 {
		t.Fatalf("%d bytes in %d files, %+v", size, files, used)
	}
	limits := Limits{Memory: used.memory - kernelMemory, Disk: size, Processes: used.processes - kernelProcesses, CPU: used.cpu}
	for _, tt := range []struct {
		change func(*kernelBox)
		want   string
	}{
		{func(*kernelBox) {}, ""},
		{func(b *kernelBox) { b.limits.Disk-- }, "private directory"},
		{func(b *kernelBox) { b.limits.Memory-- }, "bytes of memory"},
		{func(b *kernelBox) { b.limits.Processes-- }, "processes"},
		{func(b *kernelBox) { b.limits.CPU-- }, "processor time"},
		{func(b *kernelBox) { b.limits.CPU--; b.warm = true }, ""},
	} {
		b := &kernelBox{box: &box{dir: dir, limits: limits}}
		tt.change(b)
		if err := b.exceeded(pid); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", b.limits, err, tt.want)
		}
	}
}

func TestTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range entries - 1 { // and the directory
		check(t, os.Link(first(t, dir), filepath.Join(dir, fmt.Sprint(i))))
	}
	b := &kernelBox{box: &box{dir: dir, limits: DefaultLimits()}}
	if err := b.exceeded(-1); err == nil || !strings.Contains(err.Error(), "20000 files") { // the first is one more
		t.Error(err)
	}
	check(t, os.Remove(filepath.Join(dir, "0")))
	if err := b.exceeded(-1); err != nil {
		t.Error(err)
	}
}

// first is a file that many links lead to, which is quicker than making many files.
func first(t *testing.T, dir string) string {
	name := filepath.Join(dir, "first")
	if _, err := os.Lstat(name); err != nil {
		check(t, os.WriteFile(name, nil, 0o600))
	}
	return name
}

// Processes of processes are counted down to a depth.
func TestConsumptionIsBounded(t *testing.T) {
	pid := resting(t)
	for depth, want := range map[int]int{0: 2, deepestProcess - 1: 2, deepestProcess: 1, deepestProcess + 1: 0} {
		var c consumption
		if c.add(pid, depth); c.processes != want {
			t.Errorf("at depth %d: %+v", depth, c)
		}
	}
	var none consumption
	if none.add(1<<30, 0); none != (consumption{}) {
		t.Errorf("%+v", none)
	}
}

// The name of a process may hold anything. The four times behind it count, its own and those of its children.
func TestProcessorTime(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]time.Duration{
		"7 (a ) 9 (b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0":   1270 * time.Millisecond,
		"7 (x) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4":               1270 * time.Millisecond,
		"7 (x) S 1 2 3 4 5 6 7 8 9 10 100 20 3":                 0,
		"7 (x":                                                  0,
		"7 (1 2 3 4 5) S 1 2 3 4 5 6 7 8 9 10 11 0 0 0 99 99 9": 110 * time.Millisecond,
	} {
		check(t, os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o600))
		if got := cpuOf(dir); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := cpuOf(filepath.Join(dir, "none")); got != 0 {
		t.Error(got)
	}
}

// The last error in runsc's log says why it ended.
func TestComplaint(t *testing.T) {
	b := &kernelBox{base: t.TempDir()}
	if got := b.complaint(); got != "" {
		t.Errorf("without a log: %q", got)
	}
	long := strings.Repeat("x", maxComplaint)
	for text, want := range map[string]string{
		"": "", "I0101 all is well\n": "", "FATAL ERROR: no": "no", "a FATAL ERROR: first\nb FATAL ERROR: last\nmore\n": "last", "FATAL ERROR: " + long + "y\n": long,
	} {
		check(t, os.WriteFile(b.log(), []byte(text), 0o600))
		if got := b.complaint(); got != want {
			t.Errorf("%.50q: %.50q, want %.50q", text, got, want)
		}
	}
}
