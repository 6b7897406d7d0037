//go:build linux

package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
)

func TestMain(m *testing.M) {
	if script := os.Getenv("FLOWGEN_TEST_PROGRAM"); script != "" {
		program(script)
		return
	}
	code := m.Run()
	Close()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// patience is for machines that are busy: nothing takes as long.
const patience = time.Minute

// program starts a tool that runs the script, and waits until it is told to end.
func program(script string) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stdout = os.Stdout
	if _, err := Start(cmd); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if os.Getenv("FLOWGEN_TEST_CATCH") != "" { // and goes on to end in its own way
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM, unix.SIGINT)
		<-c
		os.Exit(3)
	}
	_, _ = io.ReadAll(os.Stdin)
}

// The scripts say `ready` when all that they start has started. What they leave behind holds their output open.
var scripts = map[string]string{
	"itself":                         `echo ready; exec sleep 1000`,
	"a child":                        `sleep 1000 & echo ready; wait`,
	"a child of one that ended":      `(sleep 1000 & echo ready)`,
	"one that left the group":        `setsid sh -c 'echo ready; exec sleep 1000' & wait`,
	"a daemon":                       `(setsid sh -c '(setsid sh -c "echo ready; exec sleep 1000" &)' &); exec sleep 1000`,
	"a daemon of a tool that ended":  `(setsid sh -c '(setsid sh -c "echo ready; exec sleep 1000" &)' &)`,
	"without environment":            `env -i setsid /bin/sh -c 'echo ready; exec /bin/sleep 1000' & wait`,
	"deaf to signals":                `trap "" TERM INT HUP; setsid sh -c 'trap "" TERM INT HUP; echo ready; while :; do sleep 1000; done' & wait`,
	"a tree":                         `for i in 1 2 3; do setsid sh -c 'sleep 1000 & sleep 1000 & wait' & done; sleep 1000 & echo ready; wait`,
	"stopped":                        `setsid sh -c 'echo ready; kill -STOP $$' & wait`,
	"with a death signal of its own": `setsid setpriv --pdeathsig clear sh -c 'echo ready; exec sleep 1000' & wait`,
}

// TestNothingOutlivesTheProgram ends programs in all ways, and waits for the last of what their tools have started.
func TestNothingOutlivesTheProgram(t *testing.T) {
	ends := map[string]func(*exec.Cmd, io.Closer) error{
		"kill -9": func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(unix.SIGKILL) },
		"SIGTERM": func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(unix.SIGTERM) },
		"SIGINT":  func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(unix.SIGINT) },
		"caught":  func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(unix.SIGTERM) },
		"its end": func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
	}
	for name, script := range scripts {
		for how, end := range ends {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				r, w, err := os.Pipe()
				check(t, err)
				defer r.Close()
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = []string{"FLOWGEN_TEST_PROGRAM=" + script}
				if how == "caught" {
					cmd.Env = append(cmd.Env, "FLOWGEN_TEST_CATCH=1")
				}
				cmd.Stdout, cmd.Stderr = w, w
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				in, err := cmd.StdinPipe()
				check(t, err)
				check(t, cmd.Start())
				w.Close()
				out := bufio.NewReader(r)
				check(t, r.SetReadDeadline(time.Now().Add(patience)))
				if line, err := out.ReadString('\n'); line != "ready\n" {
					t.Fatalf("%q, %v", line, err)
				}
				check(t, end(cmd, in))
				_ = cmd.Wait()
				if rest, err := io.ReadAll(out); err != nil { // ends when the last who can write is gone
					t.Errorf("something still runs: %q, %v", rest, err)
				}
			})
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command and returns its output and end.
func run(t *testing.T, cmd *exec.Cmd) (string, State, error) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	c, err := Start(cmd)
	w.Close()
	if err != nil {
		return "", State{}, err
	}
	text, err := io.ReadAll(r)
	check(t, err)
	s, err := c.Reap()
	if again, _ := c.Reap(); again != s {
		t.Errorf("ends as %v and as %v", s, again)
	}
	c.Kill() // hits nobody
	return string(text), s, err
}

// ignored are the signals that this process ignores, as /proc shows them: what nohup starts ignores one.
func ignored(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, mask, _ := strings.Cut(string(status), "SigIgn:")
	mask, _, _ = strings.Cut(mask, "\n")
	return "SigIgn:" + mask + "\n"
}

func TestStart(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	t.Setenv("INHERITED", "yes")
	t.Chdir(dir)
	check(t, os.Mkdir("sub", 0o700))
	check(t, os.WriteFile("sub/prog", []byte("#!/bin/sh\npwd\n"), 0o755))
	for _, tt := range []struct {
		name, dir string
		args, env []string
		out       string
		state     State
	}{
		{"output", "", []string{"/bin/echo", "a", "", "b c\xff"}, nil, "a  b c\xff\n", State{}},
		{"environment", "", []string{"/usr/bin/env"}, []string{"A=1", "A=2", "B=\xff="}, "A=2\nB=\xff=\n", State{}},
		{"no environment", "", []string{"/usr/bin/env"}, []string{}, "", State{}},
		{"this environment", "", []string{"/bin/sh", "-c", "echo $INHERITED"}, nil, "yes\n", State{}},
		{"directory", "", []string{"/bin/pwd"}, nil, dir + "\n", State{}},
		{"relative", "sub", []string{"./prog"}, nil, dir + "/sub\n", State{}},
		{"code", "", []string{"/bin/sh", "-c", "exit 7"}, nil, "", State{Code: 7}},
		{"signal", "", []string{"/bin/sh", "-c", "kill -USR1 $$"}, nil, "", State{Code: -1, Signal: "SIGUSR1"}},
		{"leader", "", []string{"/bin/sh", "-c", `read -r a b c d e f g < /proc/self/stat; [ $$ = $e ] && [ $$ = $f ] && echo leader`}, nil, "leader\n", State{}},
		{"no input", "", []string{"/bin/cat"}, nil, "", State{}},
		{"default signals", "", []string{"/bin/sh", "-c", "grep SigIgn /proc/self/status"}, nil, ignored(t), State{}},
	} {
		cmd := exec.Command(tt.args[0], tt.args[1:]...)
		cmd.Dir, cmd.Env = tt.dir, tt.env
		out, state, err := run(t, cmd)
		if out != tt.out || state != tt.state || err != nil {
			t.Errorf("%s: %q, %+v, %v", tt.name, out, state, err)
		}
		if cmd.Process != nil || cmd.ProcessState != nil {
			t.Errorf("%s: the command was changed", tt.name)
		}
	}
	large := make([]string, 20)
	for i := range large {
		large[i] = fmt.Sprint(i, strings.Repeat("x", 100<<10))
	}
	if out, _, err := run(t, exec.Command("/bin/echo", large[:15]...)); len(out) < 15*100<<10 || err != nil {
		t.Errorf("large arguments: %d bytes, %v", len(out), err)
	}
	for name, tt := range map[string]struct {
		args []string
		dir  string
		want error
	}{
		"missing":    {[]string{"/no/such"}, "", fs.ErrNotExist},
		"PATH":       {[]string{"flowgen-no-such"}, "", exec.ErrNotFound},
		"directory":  {[]string{"/bin/true"}, "/no/such", fs.ErrNotExist},
		"permission": {[]string{"/etc/passwd"}, "", fs.ErrPermission},
		"zero":       {[]string{"/bin/echo", "a\x00b"}, "", syscall.EINVAL},
		"too long":   {[]string{"/bin/echo", strings.Repeat("x", 3<<20)}, "", syscall.E2BIG},
	} {
		cmd := exec.Command(tt.args[0], tt.args[1:]...)
		cmd.Dir = tt.dir
		if _, _, err := run(t, cmd); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAfter(t *testing.T) {
	c, err := Start(exec.Command("sleep", "1000"))
	check(t, err)
	calls := 0
	c.After(func() error { calls++; return io.ErrUnexpectedEOF })
	c.Terminate()
	if s, err := c.Reap(); s.Signal != "SIGTERM" || err != io.ErrUnexpectedEOF || calls != 1 {
		t.Errorf("%+v, %v, %d", s, err, calls)
	}
	if _, err := c.Reap(); err != nil || calls != 1 {
		t.Errorf("twice: %v, %d", err, calls)
	}
}

// A keeper that is killed takes the children along, and another takes its place.
func TestKeeperDies(t *testing.T) {
	c, err := Start(exec.Command("sleep", "1000"))
	check(t, err)
	check(t, unix.Kill(Parent(), unix.SIGKILL))
	if s, err := c.Reap(); !s.Lost || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if out, s, err := run(t, exec.Command("echo", "again")); out != "again\n" || !s.Success() || err != nil {
		t.Errorf("%q, %+v, %v", out, s, err)
	}
}

func TestDirect(t *testing.T) {
	c, err := direct(exec.Command("sh", "-c", "sleep 1000 & exit 3"))
	check(t, err)
	if s, err := c.Reap(); s != (State{Code: 3}) || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
	c, err = direct(exec.Command("sleep", "1000"))
	check(t, err)
	c.Kill()
	if s, err := c.Reap(); s.Signal != "SIGKILL" || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Children that ended, asked for and adopted, leave nothing in the table of processes.
func TestNoZombies(t *testing.T) {
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			cmd := exec.Command("sh", "-c", "(sleep 0 &) ; (setsid sh -c 'exit 1' &); sleep 1000 & exit 0")
			c, err := Start(cmd)
			if err != nil {
				t.Error(err)
				return
			}
			if s, err := c.Reap(); !s.Success() || err != nil {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	wg.Wait()
	file := "/proc/" + strconv.Itoa(Parent()) + "/task/" + strconv.Itoa(Parent()) + "/children"
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	eventually.True(t, "without children", func() bool {
		text, err := os.ReadFile(file)
		return len(text) == 0 && err == nil
	})
}

// The keeper has neither the environment nor the arguments of the program, and ends with Close.
func TestKeeper(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	Close()
	_, _, err := run(t, exec.Command("true"))
	check(t, err)
	pid := Parent()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || strings.Contains(string(env), "hunter2") {
		t.Errorf("%q, %v", env, err)
	}
	Close()
	if err := unix.Kill(pid, 0); err != unix.ESRCH {
		t.Errorf("the keeper is there after Close: %v", err)
	}
}

func BenchmarkStart(b *testing.B) {
	for name, start := range map[string]func(*exec.Cmd) (*Child, error){"kept": Start, "direct": direct} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, err := start(exec.Command("/bin/true"))
				check(b, err)
				_, _ = c.Reap()
			}
		})
	}
	Close()
}
