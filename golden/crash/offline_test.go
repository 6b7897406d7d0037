//go:build linux && (amd64 || arm64)

package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/examples/triage/host"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// launched names the variable that makes this test's binary become another program, which dies when it asks for a socket
// or a process.
const launched = "CRASH_LAUNCH"

func init() {
	if os.Getenv(launched) == "" {
		return
	}
	runtime.LockOSThread()
	fmt.Fprintln(os.Stderr, become(os.Args[1:]))
	os.Exit(100)
}

// become executes a program without sockets and processes. Threads are no processes.
func become(args []string) error {
	const (
		number = 0  // of the system call, in seccomp_data
		flags  = 16 // its first argument, where clone has its flags
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	end := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	program := []unix.SockFilter{load(number)}
	for _, call := range append([]uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_PTRACE}, forks...) {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1}, end(unix.SECCOMP_RET_KILL_PROCESS))
	}
	program = append(program,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE3, Jf: 1}, end(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)), // then clone is asked, whose flags can be seen
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE, Jf: 3}, load(flags),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jt: 1}, end(unix.SECCOMP_RET_KILL_PROCESS),
		end(unix.SECCOMP_RET_ALLOW))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0); err != nil {
		return err
	}
	env := []string{}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, launched+"=") {
			env = append(env, v)
		}
	}
	return unix.Exec(args[0], args, env)
}

// offline runs a program without sockets, processes, clock and random numbers.
func offline(env []string, args ...string) (out, stderr []byte, state *os.ProcessState, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(append(os.Environ(), launched+"=1"), env...)
	var stdout, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &complaints
	err = cmd.Run()
	return stdout.Bytes(), complaints.Bytes(), cmd.ProcessState, err
}

// forbidden is what functions of the standard library do in an instrumented program when the variable is set, unless a
// package is initialized: some note when the program began.
const forbidden = `
	if _, not := syscall.Getenv("CRASH_FORBIDDEN"); not {
		var stack [64]uintptr
		frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack[:])])
		for more := true; ; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == "runtime.doInit1" {
				break
			}
			if !more {
				panic("%s")
			}
		}
	}
`

// offlineExamples are the examples that are replayed.
var offlineExamples = []string{"hello", "release-notes", "api-report", "incident", "triage"}

var instrumentedOnce sync.Once

// instrumented builds the examples, once, as programs in which the clock and random numbers can be forbidden, into a folder.
func instrumented(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(binaries, "instrumented")
	instrumentedOnce.Do(func() { buildInstrumented(t, dir) })
	if _, err := os.Stat(filepath.Join(dir, offlineExamples[0])); err != nil {
		t.Fatal("the examples were not built")
	}
	return dir
}

func buildInstrumented(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root := goEnv("GOROOT")
	replace := map[string]string{}
	for _, f := range []struct{ file, function, what string }{
		{"src/time/time.go", "func Now() Time {\n", "the clock is read"},
		{"src/math/rand/v2/rand.go", "func Uint64() uint64 {", "a random number"},
		{"src/crypto/rand/rand.go", "func Read(b []byte) (n int, err error) {\n", "random bytes"},
	} {
		name := filepath.Join(root, filepath.FromSlash(f.file))
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		was := string(text)
		now := strings.Replace(was, f.function, f.function+fmt.Sprintf(forbidden, f.what), 1)
		if now == was {
			t.Fatalf("%s has no %s", f.file, f.function)
		}
		for _, imported := range []string{"runtime", "syscall"} {
			if !strings.Contains(now, "\t\""+imported+"\"\n") {
				now = strings.Replace(now, "import (\n", "import (\n\t\""+imported+"\"\n", 1)
			}
		}
		to := filepath.Join(dir, strings.ReplaceAll(f.file, "/", "_"))
		if err := os.WriteFile(to, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[name] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(config, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-ldflags=-s", "-overlay", config, "-o", dir + string(filepath.Separator)}
	for _, name := range offlineExamples {
		args = append(args, "../../examples/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// P35: a replay opens no socket, starts no process, and reads neither the clock nor random numbers: a workflow with
// requests, a model and an agent gives the same bytes where each of those is the end of the program.
func TestReplayReachesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and much of the standard library")
	}
	exe := filepath.Join(instrumented(t), "triage")
	h, err := host.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Stop() })
	folder := runs.Open(t.TempDir(), runs.Options{})
	input := fmt.Sprintf("port=%d", h.Port)
	cmd := exec.Command(exe, "run", "--quiet", "--runs", folder.Dir(), "--input", input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	want, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	id, err := folder.Find("triage", "latest")
	if err != nil {
		t.Fatal(err)
	}
	key := "OPENAI_API_KEY=nobody-is-asked" // without one the program starts a model server
	out, complaints, _, err := offline([]string{key, "CRASH_FORBIDDEN=1"}, exe, "replay", id, "--quiet", "--runs", folder.Dir())
	if err != nil || !bytes.Equal(out, want) {
		t.Errorf("%v: %s\n%s", err, out, complaints)
	}
	// That is no accident: a run reaches both.
	_, complaints, state, _ := offline([]string{key}, exe, "run", "--quiet", "--no-journal", "--input", input)
	if state == nil || !state.Sys().(syscall.WaitStatus).Signaled() || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSYS {
		t.Errorf("a run without sockets: %v\n%s", state, complaints)
	}
	_, complaints, _, err = offline([]string{key, "CRASH_FORBIDDEN=1"}, exe, "run", "--quiet", "--runs", folder.Dir(), "--input", input)
	if err == nil || !bytes.Contains(complaints, []byte("the clock is read")) && !bytes.Contains(complaints, []byte("random")) {
		t.Errorf("a run without a clock: %v\n%s", err, complaints)
	}
}

// repository makes a git repository of one commit: this module need not lie in one.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "feat: begin"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}

// The same for the other examples, with tools of every kind: what they call when they run is not there when they are
// replayed.
func TestReplaysReachNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs and much of the standard library")
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := instrumented(t)
	for _, name := range offlineExamples {
		if name == "triage" {
			continue // TestReplayReachesNothing has it
		}
		t.Run(name, func(t *testing.T) {
			if name == "incident" && os.Getenv("CI") == "" {
				for _, program := range []string{"python3", "node"} {
					if _, err := exec.LookPath(program); err != nil {
						t.Skip("needs ", program)
					}
				}
			}
			kept := t.TempDir()
			exe := filepath.Join(dir, name)
			args := []string{"run", "--quiet", "--runs", kept}
			if name == "release-notes" {
				args = append(args, "--input", "repo="+repository(t))
			}
			cmd := exec.Command(exe, args...)
			cmd.Dir = filepath.Join(examples, name)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			want, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			out, complaints, _, err := offline([]string{"CRASH_FORBIDDEN=1"}, exe, "replay", "latest", "--quiet", "--runs", kept)
			if err != nil || !bytes.Equal(out, want) {
				t.Errorf("%v: %s\n%s", err, out, complaints)
			}
		})
	}
}
