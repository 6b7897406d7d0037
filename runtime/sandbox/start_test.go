//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// output runs a command in the sandbox.
func output(t *testing.T, p *Profile, need isolate.Need, cmd *exec.Cmd) (string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	child, err := p.Start(cmd, need)
	w.Close()
	if err != nil {
		return "", err
	}
	text, readErr := io.ReadAll(r)
	end, over := reap(child)
	return string(text), errors.Join(end, readErr, over)
}

// reap waits for the end of a process: end is its own fault, over the isolation's.
func reap(child *proc.Child) (end, over error) {
	state, over := child.Reap()
	if !state.Success() {
		end = fmt.Errorf("%+v", state)
	}
	return end, over
}

func TestWhatAToolSees(t *testing.T) {
	t.Setenv("SECRET_TOKEN", canary)
	cmd := exec.Command("sh", "-c", `pwd; echo "$HOME $TMPDIR $PATH $NAMED"; echo hi > file; cat file; umask; env | grep -c SECRET; echo to-stderr >/dev/stderr`)
	cmd.Env = []string{"NAMED=a b", "PATH=" + os.Getenv("HOME") + ":/usr/bin:/bin:relative", "HOME=" + os.Getenv("HOME"), "LATIN=\xff"}
	got, err := output(t, new(Profile), isolate.Need{}, cmd)
	lines := strings.Split(got, "\n")
	dir := lines[0]
	want := strings.Join([]string{dir, dir + " " + dir + " /usr/bin:/bin a b", "hi", "0077", "0", "to-stderr", ""}, "\n")
	if got != want || !strings.HasPrefix(filepath.Base(dir), "flowgen-sandbox-") {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private directory is still there: %v", err)
	}
	if cmd.Args[0] != "sh" || cmd.Dir != "" || len(cmd.ExtraFiles) != 0 {
		t.Errorf("the command looks like %v in %q afterwards", cmd.Args, cmd.Dir)
	}
}

// A command without an environment has none: that exec.Cmd would inherit all is what the sandbox is there to prevent.
func TestNoEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", canary)
	got, err := output(t, new(Profile), isolate.Need{}, exec.Command("env"))
	if err != nil || strings.Contains(got, canary) || strings.Count(got, "\n") != 3 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestExtraFilesAndInput(t *testing.T) {
	cmd := exec.Command("sh", "-c", "cat <&3; cat; ls -l /proc/self/fd 2>/dev/null | wc -l; cat <&4")
	r, w, err := os.Pipe()
	check(t, err)
	_, err = io.WriteString(w, "extra ")
	check(t, err)
	w.Close()
	cmd.ExtraFiles = []*os.File{r}
	in, w, err := os.Pipe()
	check(t, err)
	_, err = io.WriteString(w, "input\n")
	check(t, err)
	w.Close()
	defer in.Close()
	cmd.Stdin = in
	got, _ := output(t, new(Profile), isolate.Need{}, cmd)
	if !strings.HasPrefix(got, "extra input\n") || !strings.Contains(got, "Bad file descriptor") && !strings.Contains(got, "4: ") {
		t.Errorf("got %q", got)
	}
	r.Close()
}

func TestReadsAndDirectory(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "module.txt"), []byte("module"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/sh\ncat module.txt\n"), 0o755))
	script := func(name string) *exec.Cmd { cmd := exec.Command(name); cmd.Dir = dir; return cmd }

	got, err := output(t, &Profile{Read: []string{dir}}, isolate.Need{}, script("./run.sh"))
	if got != "module" || err != nil {
		t.Errorf("with the directory: %q, %v", got, err)
	}
	got, err = output(t, new(Profile), isolate.Need{Read: []string{dir, filepath.Join(dir, "missing")}}, script("./run.sh"))
	if got != "module" || err != nil {
		t.Errorf("with the need: %q, %v", got, err)
	}
	got, err = output(t, new(Profile), isolate.Need{}, script("./run.sh")) // the program is read, its neighbour is not
	if !strings.Contains(got, "Permission denied") || err == nil {
		t.Errorf("without: %q, %v", got, err)
	}
	cmd := exec.Command("sh", "-c", "echo x > module.txt; echo x > other")
	cmd.Dir = dir
	if got, err = output(t, &Profile{Read: []string{dir}}, isolate.Need{}, cmd); err == nil {
		t.Errorf("what is read can be written: %q", got)
	}
}

func TestProgramsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	check(t, os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600))
	orphan := filepath.Join(dir, "orphan")
	check(t, os.WriteFile(orphan, []byte("#!/no/such/interpreter\n"), 0o700))
	for name, want := range map[string]error{"flowgen-no-such-program": exec.ErrNotFound, plain: os.ErrPermission, dir: os.ErrPermission,
		filepath.Join(dir, "none"): os.ErrNotExist, orphan: os.ErrNotExist} {
		if _, err := output(t, new(Profile), isolate.Need{}, exec.Command(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	bad := filepath.Join(dir, "bad")
	check(t, os.WriteFile(bad, []byte("\x7fELF nonsense"), 0o700))
	var te *value.ToolError
	if _, err := output(t, new(Profile), isolate.Need{}, exec.Command(bad)); !errors.As(err, &te) || te.Code != value.SandboxError {
		t.Errorf("nonsense: %v", err)
	}
}

// TestOldKernels shows the kernel with fewer versions of Landlock: the trial must hold for each that is enough, signals and all,
// and nothing may run below.
func TestOldKernels(t *testing.T) {
	if landlockABI() < scopeABI {
		t.Skipf("this kernel has version %d itself", landlockABI())
	}
	for abi := range 10 {
		err := prove(abi)
		if enough := abi >= leastABI; (err == nil) != enough {
			t.Errorf("version %d: %v", abi, err)
		}
		var te *value.ToolError
		if err != nil && (!errors.As(err, &te) || te.Code != value.SandboxError || !strings.Contains(te.Message, "Landlock version 3")) {
			t.Errorf("version %d: %v", abi, err)
		}
	}
}

// TestTrialFindsHoles takes one wall away at a time: a trial that does not notice proves nothing.
func TestTrialFindsHoles(t *testing.T) {
	dir := publicDir(t)
	check(t, os.WriteFile(filepath.Join(dir, trialFile), nil, 0o600))
	check(t, os.Chmod(filepath.Join(dir, trialFile), 0o666))
	check(t, os.Chmod(dir, 0o777))
	for name, tt := range map[string]struct {
		hole func(*box)
		want string
	}{
		"none":       {func(*box) {}, ""},
		"readable":   {func(b *box) { b.grants = []grant{{Path: []byte(dir), Rights: readAll}} }, "reading a file of others"},
		"writable":   {func(b *box) { b.grants = []grant{{Path: []byte(dir), Rights: unix.LANDLOCK_ACCESS_FS_WRITE_FILE}} }, "writing a file of others"},
		"parent":     {func(b *box) { b.grants = []grant{{Path: []byte("/proc"), Rights: readAll}} }, ""}, // ptrace rules still hold
		"not inside": {func(b *box) { b.trial.Inside = []byte(dir) }, "writing the private directory"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &box{abi: landlockABI(), limits: DefaultLimits()}
			check(t, b.prepare())
			defer b.remove()
			b.trial = &trial{Outside: []byte(dir), Inside: []byte(b.dir)}
			tt.hole(b)
			err := b.tryOut()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNoAccident starts this program in ways that look like the shim's.
func TestNoAccident(t *testing.T) {
	memory := func(text string, seal bool) *os.File {
		fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		check(t, err)
		f := os.NewFile(uintptr(fd), "x")
		_, err = f.WriteString(text)
		check(t, err)
		if seal {
			_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
			check(t, err)
		}
		return f
	}
	stranger, err := (&description{Parent: 1, Program: []byte("/bin/true")}).file()
	check(t, err)
	plain, err := os.Open("/dev/null")
	check(t, err)
	runs := func(args []string, file *os.File, env ...string) (string, int) {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = args
		cmd.Env = append(env, "FLOWGEN_ATTACK=whoami")
		if file != nil {
			cmd.ExtraFiles = []*os.File{file}
		}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	for name, args := range map[string][]string{"plain": {"program"}, "no number": {marker}, "more": {marker, "3", "x"}, "second": {"program", marker}} {
		if out, code := runs(args, stranger, "FLOWGEN_SANDBOX=3", marker+"=3"); code != 0 || !strings.Contains(out, "euid") {
			t.Errorf("%s: the program did not run: %d %q", name, code, out)
		}
	}
	for name, f := range map[string]*os.File{"no file": nil, "plain file": plain, "open file": memory(magic+"{}", false), "empty": memory("", true),
		"nonsense": memory("x", true), "bad JSON": memory(magic+"{", true), "of another parent": stranger} {
		if out, code := runs([]string{marker, "3"}, f); code != shimExit || strings.Contains(out, "euid") {
			t.Errorf("%s: exit %d, %q", name, code, out)
		}
	}
	for _, number := range []string{"", "x", "-1", "0", "2", "999999"} {
		if out, code := runs([]string{marker, number}, stranger); code != shimExit || strings.Contains(out, "euid") {
			t.Errorf("descriptor %q: exit %d, %q", number, code, out)
		}
	}
}

// TestDiesWithParent kills the program that started a tool.
func TestDiesWithParent(t *testing.T) {
	r, w, err := os.Pipe()
	check(t, err)
	defer r.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"FLOWGEN_ATTACK=start and wait", "PATH=" + systemPath, "TMPDIR=" + t.TempDir()}
	cmd.Stdout, cmd.Stderr = w, w
	check(t, cmd.Start())
	w.Close()
	buf := make([]byte, 100)
	n, err := r.Read(buf)
	if err != nil || string(buf[:n]) != "ready\n" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_ = r.SetReadDeadline(time.Now().Add(40 * time.Second))
	if n, err := r.Read(buf); err != io.EOF { // its other end is the tool's alone
		t.Errorf("the tool still has its output: %q, %v", buf[:n], err)
	}
}

func startAndWait() {
	cmd := exec.Command("/bin/sleep", "60")
	cmd.Stdout = os.Stdout
	if _, err := new(Profile).Start(cmd, isolate.Need{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	select {}
}

func TestWarm(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	child, err := new(Profile).Start(cmd, isolate.Need{Warm: true})
	check(t, err)
	if pgid, err := unix.Getpgid(child.Pid); err != nil || pgid != child.Pid {
		t.Errorf("group %d, %v", pgid, err)
	}
	cpu := func(pid int) string { // this program may have a limit itself
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		check(t, err)
		return regexp.MustCompile(`Max cpu time .*`).FindString(string(limits))
	}
	if got, own := cpu(child.Pid), cpu(os.Getpid()); got != own || got == "" {
		t.Errorf("limits of a warm process: %q, of this one %q", got, own)
	}
	child.Kill()
	if end, over := reap(child); end == nil || over != nil {
		t.Errorf("%v, %v", end, over)
	}
}

func TestLimitsOfAProfile(t *testing.T) {
	got, err := output(t, &Profile{Limits: Limits{Memory: 100 << 20, Files: 40, FileSize: 1 << 20, CPU: 3 * time.Second}}, isolate.Need{},
		exec.Command("sh", "-c", "ulimit -d; ulimit -n; ulimit -f; ulimit -t; ulimit -c"))
	if want := "102400\n40\n2048\n3\n0\n"; got != want || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = output(t, &Profile{Limits: Limits{Processes: 33}}, isolate.Need{}, exec.Command("grep", "Max processes", "/proc/self/limits"))
	var n int
	if _, err := fmt.Sscanf(got, "Max processes %d", &n); err != nil || os.Getuid() == 0 && n != 33 || n < 33 || n > 1<<20 { // root's tools have a user each
		t.Errorf("processes: %q, %v", got, err)
	}
	if err != nil {
		t.Error(err)
	}
	if l := (Limits{Memory: 1}).fill(); l.Memory != leastMemory || l.Files != DefaultLimits().Files {
		t.Errorf("got %+v", l)
	}
}

func TestInterpreters(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "mod.py"), []byte("X = 41\n"), 0o600))
	pythons := []string{"python3"}
	if path, err := exec.LookPath("python3"); err == nil {
		if real, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output(); err == nil {
			pythons = append(pythons, path, string(bytes.TrimSpace(real)))
		}
		venv := filepath.Join(dir, "venv")
		if err := exec.Command(path, "-m", "venv", "--without-pip", venv).Run(); err == nil {
			pythons = append(pythons, filepath.Join(venv, "bin", "python"))
		}
	} else if os.Getenv("CI") != "" {
		t.Fatal("no python3")
	}
	for _, python := range slices.Compact(pythons) {
		cmd := exec.Command(python, "-c", fmt.Sprintf(`import sys, ssl, json, decimal, ctypes, subprocess, tempfile, shutil, threading
sys.path.insert(0, %q)
import mod
th = threading.Thread(target=lambda: None); th.start(); th.join()
f = tempfile.NamedTemporaryFile(mode="w", delete=False); f.write("x"); f.close(); shutil.copy(f.name, f.name + "2")
print(mod.X + 1, subprocess.run(["echo", "sub"], capture_output=True, text=True).stdout)`, dir))
		if got, err := output(t, new(Profile), isolate.Need{Read: []string{dir}}, cmd); got != "42 sub\n\n" || err != nil {
			t.Errorf("%s: %q, %v", python, got, err)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no node")
		}
		t.Skip("no node")
	}
	cmd := exec.Command("node", "-e", `const {execFileSync} = require("child_process"), fs = require("fs");
fs.writeFileSync("x", "y"); new (require("worker_threads").Worker)("postMessage", {eval: true}).on("error", () => {});
console.log(6 * 7, execFileSync("echo", ["sub"]).toString())`)
	if got, err := output(t, new(Profile), isolate.Need{}, cmd); got != "42 sub\n\n" || err != nil {
		t.Errorf("node: %q, %v", got, err)
	}
}

func TestTier(t *testing.T) {
	tier, err := new(Profile).Obtain(t.Context(), runtime.Process)
	if tier != runtime.Process || err != nil {
		t.Errorf("got %v, %v", tier, err)
	}
}

// BenchmarkStart compares a process with and without isolation.
func BenchmarkStart(b *testing.B) {
	for _, program := range [][]string{{"/bin/true"}, {"/usr/bin/python3", "-I", "-S", "-c", "pass"}} {
		b.Run(filepath.Base(program[0])+"/plain", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(program[0], program[1:]...)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(filepath.Base(program[0])+"/process", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(program[0], program[1:]...)
				child, err := standard.Start(cmd, isolate.Need{})
				if err == nil {
					err = errors.Join(reap(child))
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
