//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
)

// fakeRunsc is a program in the place of gVisor's.
func fakeRunsc(t *testing.T, script string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "runsc")
	check(t, os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv(RunscVariable, name)
}

// The trial in gVisor must end well and say so.
func TestGVisorTrialIsRead(t *testing.T) {
	for script, want := range map[string]string{
		"echo " + passed: "", "echo hole; exit 1": "hole (exit code 1)", "echo hole": "hole (exit code 0)", "echo " + passed + "; exit 3": passed + " (exit code 3)",
		"echo a; echo b; exit 2": "a (exit code 2)", "": " (exit code 0)",
		`for a; do case $a in --log=*) echo "x FATAL ERROR: no kernel" > "${a#--log=}";; esac; done; exit 1`:         "gVisor could not run the tool: no kernel",
		`for a; do case $a in --log=*) echo "x FATAL ERROR: no kernel" > "${a#--log=}";; esac; done; echo ` + passed: "gVisor could not run the tool: no kernel",
	} {
		fakeRunsc(t, script)
		if err := tryKernel(); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
}

// What runsc has left is removed by runsc, and the limit that was exceeded says more than what runsc says about its end.
func TestGVisorIsCleanedUp(t *testing.T) {
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	fakeRunsc(t, `echo "$@" >> '`+told+`'`)
	b := &kernelBox{box: &box{folder: &folder{path: filepath.Join(dir, "base")}}, base: filepath.Join(dir, "base"), id: "flowgen-none", runsc: os.Getenv(RunscVariable)}
	release := func(state bool, over error) error {
		t.Helper()
		check(t, os.MkdirAll(b.state(), 0o700))
		if state {
			check(t, os.WriteFile(filepath.Join(b.state(), "x.state"), nil, 0o600))
		}
		check(t, os.WriteFile(b.log(), []byte("FATAL ERROR: killed\n"), 0o600))
		lock, err := os.Open(b.base)
		check(t, err)
		b.folder.lock = lock
		b.watch = watched{stop: make(chan struct{}), done: make(chan struct{}), over: over}
		close(b.watch.done)
		return b.release()
	}
	if err := release(false, nil); err == nil || !strings.HasSuffix(err.Error(), "killed") {
		t.Error(err)
	}
	if text, _ := os.ReadFile(told); len(text) > 0 {
		t.Errorf("runsc is called with %q where it has left nothing", text)
	}
	over := errors.New("over")
	if err := release(true, over); err != over {
		t.Error(err)
	}
	if text, _ := os.ReadFile(told); !strings.HasSuffix(string(text), "delete --force flowgen-none\n") {
		t.Errorf("runsc is called with %q", text)
	}
}

func TestGVisorFlags(t *testing.T) {
	for uid, want := range map[int]bool{0: true, firstUser: false} {
		b := &kernelBox{box: &box{uid: uid}}
		if got := slices.Contains(b.flags(), "--rootless"); got != want {
			t.Errorf("user %d: %q", uid, b.flags())
		}
	}
	if _, ok := In(runtime.GVisor).(*Kernel); !ok {
		t.Error("gVisor is no kernel")
	}
	if _, ok := In(runtime.Process).(*Profile); !ok {
		t.Error("a process has no profile")
	}
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "runsc"), []byte("#!/bin/sh\n"), 0o700))
	t.Chdir(dir)
	for _, name := range []string{"./runsc", "flowgen-no-runsc"} {
		t.Setenv(RunscVariable, name)
		want := map[bool]error{true: exec.ErrDot, false: exec.ErrNotFound}[name == "./runsc"]
		if path, err := findRunsc(); path != "" || err == nil || !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("%q, %v", path, err)
		}
	}
}

// The trial in gVisor finds each hole that there can be.
func TestGVisorTrialFindsHoles(t *testing.T) {
	needGVisor(t)
	exe, err := os.Executable()
	check(t, err)
	kernel, err := inGVisor(t, new(Kernel), "uname -rv")
	check(t, err)
	const none, nowhere = "/flowgen-none/file", "127.0.0.1:1"
	for _, tt := range []struct {
		script string
		args   []string
		want   string
	}{
		{`exec "$@"`, []string{none, nowhere, release()}, passed},
		{`"$@"; exit`, []string{none, nowhere, release()}, passed}, // the second process, whose parent is the first
		{`sh -c '"$@"; exit' sh "$@"; exit`, []string{none, nowhere, release()}, "other processes are there"},
		{`exec "$@"`, []string{"/usr/bin/env", nowhere, release()}, "env is there"},
		{`exec "$@"`, []string{"./none", nowhere, release()}, "a directory outside can be written"}, // its own is meant
		{`TMPDIR=/none exec "$@"`, []string{none, nowhere, release()}, "the private directory cannot be written"},
		{`exec "$@"`, []string{none, nowhere, strings.TrimSpace(kernel)}, "the kernel is the one outside"},
		{`exec "$@" more`, []string{none, nowhere, release()}, "euid"},
	} {
		cmd := exec.Command("sh", append([]string{"-c", tt.script, "sh", exe, kernelMarker}, tt.args...)...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "FLOWGEN_ATTACK=whoami")
		if out, _ := gvisorSaid(t, cmd, &Kernel{Read: []string{exe}}); !strings.HasPrefix(out, tt.want) {
			t.Errorf("%s %q: %q, want %q", tt.script, tt.args, out, tt.want)
		}
	}
}
