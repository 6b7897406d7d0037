//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// needGVisor skips a test where gVisor is not installed. In CI it must be.
func needGVisor(t *testing.T) {
	t.Helper()
	if _, err := findRunsc(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err := kernelAvailable(); err != nil {
		t.Fatal(err)
	}
}

// inGVisor runs a script and returns what it printed.
func inGVisor(t *testing.T, k *Kernel, script string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Env = []string{}
	return gvisorSaid(t, cmd, k)
}

// gvisorSaid runs a command in gVisor, and returns what it printed and how it ended.
func gvisorSaid(t *testing.T, cmd *exec.Cmd, k *Kernel) (string, error) {
	t.Helper()
	said, err := os.CreateTemp(t.TempDir(), "said")
	check(t, err)
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	child, err := k.start(cmd, isolate.Need{})
	check(t, err)
	late := time.AfterFunc(4*time.Minute, child.Kill)
	defer late.Stop()
	state, err := child.Reap()
	out, readErr := os.ReadFile(said.Name())
	check(t, readErr)
	if err == nil && !state.Success() {
		err = fmt.Errorf("%+v", state)
	}
	return string(out), err
}

func TestGVisorRuns(t *testing.T) {
	needGVisor(t)
	t.Setenv("TMPDIR", t.TempDir())
	out, err := inGVisor(t, new(Kernel), `id -u; pwd; ls -a; echo x > y && cat y; echo "$1"; exit 3`, "a b")
	if fmt.Sprint(err) != "{Lost:false Code:3 Signal:}" || !strings.HasSuffix(out, "\n.\n..\nx\na b\n") {
		t.Errorf("%q, %v", out, err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "flowgen-sandbox-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A tool starts in its directory though it cannot read it.
func TestGVisorDirectory(t *testing.T) {
	needGVisor(t)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "hidden"), nil, 0o600))
	cmd := exec.Command("sh", "-c", "pwd; ls; echo end")
	cmd.Env, cmd.Dir = []string{}, dir
	if out, err := gvisorSaid(t, cmd, new(Kernel)); out != dir+"\nend\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestGVisorIsMissing(t *testing.T) {
	t.Setenv(RunscVariable, filepath.Join(t.TempDir(), "runsc"))
	_, err := new(Kernel).Obtain(context.Background(), runtime.GVisor)
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.SandboxError || !strings.Contains(te.Message, "gVisor is missing: ") || !strings.Contains(te.Message, Runsc) {
		t.Error(err)
	}
}

// limits of a small sandbox.
var small = Limits{Memory: 64 << 20, Disk: 1 << 20, Files: 32, FileSize: 16 << 20, Processes: 20, CPU: 2 * time.Second}

// TestGVisorLimits goes beyond each limit.
func TestGVisorLimits(t *testing.T) {
	needGVisor(t)
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Skip("no python3 in /usr/bin")
	}
	for _, tt := range []struct{ name, code, want string }{
		{"memory", `b = []
while True: b.append(bytearray(b"x" * (1 << 20)))`, "MemoryError|more than|Code:137|SIGKILL"},
		{"memory of many", `import os
while True:
    if os.fork() == 0:
        b = bytearray(b"x" * (48 << 20))
        import time; time.sleep(60)
    import time; time.sleep(0.2)`, "more than|Code|Signal"},
		{"processor", `while True: pass`, "processor time|Code|Signal"},
		{"files", `f = []
while True: f.append(open("/dev/null"))`, "Too many open files|Code|Signal"},
		{"disk", `i = 0
while True:
    i += 1
    open(str(i), "wb").write(b"x" * (1 << 18))
    import time; time.sleep(0.02)`, "wrote more than"},
		{"file", `open("x", "wb").write(b"x" * (32 << 20))`, "File too large|wrote more|Code|Signal"},
		{"processes", `import os, time
for i in range(200):
    if os.fork() == 0: time.sleep(60)
print("ESCAPED")`, "unavailable|more than|Code|Signal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := inGVisor(t, &Kernel{Limits: small}, python+` -I -S -c "$1"`, tt.code)
			if err == nil || !regexp.MustCompile(tt.want).MatchString(out+err.Error()) {
				t.Errorf("%q, %v\nwant %s", out, err, tt.want)
			}
		})
	}
}

// ownKernel are payloads that succeed in gVisor and reach nothing outside: what they use is the sandbox's own kernel, which ends with
// it. Memory is counted outside, and only when it is used.
var ownKernel = map[string]bool{
	"512 MiB growing": true, "512 MiB memory": true, "512 MiB shared": true, "SysV memory": true, "own memory": true,
	"clear death signal": true, "exotic calls": true, "raw netlink": true, "user namespace": true, "memory file + exec": true,
	"host's groups": true, "host's mounts": true, "host's network": true, "keeper environ": true, "signal keeper": true, // of the sandbox's /proc; the parent there is attackAll
	"group of its own": true, "session of its own": true, "orphan": true,
}

// alone are payloads that are about limits; TestGVisorLimits goes beyond those of gVisor.
var alone = map[string]bool{"300 processes": true, "many files": true, "endless loop": true}

// attackAll runs all payloads in one sandbox, each as a process of its own.
func attackAll() {
	for _, name := range slices.Sorted(maps.Keys(payloads)) {
		if alone[name] {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "FLOWGEN_ATTACK=") }), "FLOWGEN_ATTACK="+name)
		cmd.WaitDelay = time.Second
		out, err := cmd.CombinedOutput()
		cancel()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		fmt.Printf("%s\t%s %v\n", name, lines[len(lines)-1], err)
	}
}

// processesOf are the command lines of processes that hold a text, this one's excepted.
func processesOf(text string) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) && filepath.Base(filepath.Dir(file)) != fmt.Sprint(os.Getpid()) {
			out = append(out, string(line))
		}
	}
	return out
}

// TestGVisorMatrix runs the payloads of TestMatrix, which shows that each of them works without isolation.
func TestGVisorMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each of a hundred escapes")
	}
	needGVisor(t)
	v := newVictim(t)
	v.restore(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cmd := exec.Command(v.self)
	v.work = "" // the private directory
	cmd.Env = append(v.env(), "FLOWGEN_ATTACK=every")
	out, err := gvisorSaid(t, cmd, &Kernel{Read: []string{v.readable}})
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left := processesOf(temp); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	tried := 0
	for line := range strings.Lines(out) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if payloads[name] == nil {
			t.Errorf("output %q", line)
			continue
		}
		tried++
		if open := strings.HasPrefix(verdict, "OK"); open != ownKernel[name] {
			t.Errorf("%s: %s", name, verdict)
		}
	}
	if want := len(payloads) - len(alone); tried != want {
		t.Errorf("%d payloads, want %d", tried, want)
	}
	for f, want := range map[string]string{worldFile: canary, "removable": canary, "modes": canary} {
		if text, err := os.ReadFile(filepath.Join(v.base, f)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", f, text, err)
		}
	}
}

// TestGVisorMemoryIsWatched is about machines whose control groups cannot be written.
func TestGVisorMemoryIsWatched(t *testing.T) {
	needGVisor(t)
	was := cgroups
	cgroups = func() bool { return false }
	defer func() { cgroups = was }()
	out, err := inGVisor(t, &Kernel{Limits: small}, `x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done`)
	if err == nil || !strings.Contains(out+err.Error(), "took more than 67108864 bytes of memory") {
		t.Errorf("%q, %v", out, err)
	}
}
