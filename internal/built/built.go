// Package built is for tests that run programs: flowgen, and what it generates, each built once for all tests of a package.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	dir string

	mu   sync.Mutex // held while a program is built
	made = map[string]string{}
)

// Main is for TestMain: it runs the tests with a folder for what they build, and removes it.
func Main(run func() int) int {
	var err error
	if dir, err = os.MkdirTemp("", "built"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return run()
}

// Go builds a command of this repository, a path below its root.
func Go(t testing.TB, path string) (exe string) {
	t.Helper()
	return once(t, path, filepath.Base(path), func(exe string) *exec.Cmd {
		return exec.Command("go", "build", "-ldflags=-s", "-o", exe, "github.com/flowgen-dev/flowgen/"+path)
	})
}

// Flowgen builds flowgen.
func Flowgen(t testing.TB) (exe string) {
	t.Helper()
	return Go(t, "cmd/flowgen")
}

// Workflow builds a workflow.
func Workflow(t testing.TB, file string, flags ...string) (exe string) {
	t.Helper()
	flowgen := Flowgen(t)
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return once(t, strings.Join(append([]string{file}, flags...), " "), name, func(exe string) *exec.Cmd {
		cache, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(flowgen, append([]string{"build", file, "-o", exe}, flags...)...)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+strings.TrimSpace(string(cache)))
		return cmd
	})
}

// once builds what is not there yet, in a folder of its own.
func once(t testing.TB, what, name string, build func(exe string) *exec.Cmd) string {
	t.Helper()
	if dir == "" {
		t.Fatal("TestMain does not call built.Main")
	}
	mu.Lock()
	defer mu.Unlock()
	if exe := made[what]; exe != "" {
		return exe
	}
	exe := filepath.Join(dir, strconv.Itoa(len(made)), name)
	if err := os.MkdirAll(filepath.Dir(exe), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := build(exe).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
	made[what] = exe
	return exe
}
