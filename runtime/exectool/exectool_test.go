//go:build unix

package exectool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func sh(script string, args ...string) Command { return Command{Shell: script, Args: args} }

// tool errors are compared without the details' text, which each case checks itself.
func wantTool(t *testing.T, err error, code value.Code, message string) *value.ToolError {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) {
		t.Fatalf("got error %v, want a tool error %s: %s", err, code, message)
	}
	if te.Code != code || te.Message != message {
		t.Fatalf("got %s: %s\nwant %s: %s", te.Code, te.Message, code, message)
	}
	return te
}

func detail(t *testing.T, e *value.ToolError) string {
	t.Helper()
	b, err := e.Details.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func newRun(t *testing.T) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

func TestToolsThroughTheRuntime(t *testing.T) {
	type in struct{ Who string }
	type out struct {
		Name string `json:"name"`
		N    int64  `json:"n"`
	}
	node := &flow.Node{ID: "n", Pos: "f.yaml:1:1"}
	r := newRun(t)
	hello := func(in in) Command { return sh(`printf 'hello %s\nbye\n' "$1"`, in.Who) }

	text, err := flow.Call(r, node, Text("text@1", flow.None, hello), in{"a b; $(id)"})
	if err != nil || text != "hello a b; $(id)\nbye" {
		t.Errorf("Text = %q, %v", text, err)
	}
	list, err := flow.Call(r, node, Lines("lines@1", flow.None, hello), in{"x"})
	if diff := cmp.Diff([]string{"hello x", "bye"}, list); diff != "" || err != nil {
		t.Errorf("Lines (-want +got):\n%s%v", diff, err)
	}
	obj, err := flow.Call(r, node, JSON[in, out]("json@1", flow.None, func(in in) Command {
		return Command{Args: []string{"printf", `{"name": "%s", "n": 3}`, in.Who}}
	}), in{"x"})
	if diff := cmp.Diff(out{"x", 3}, obj); diff != "" || err != nil {
		t.Errorf("JSON (-want +got):\n%s%v", diff, err)
	}
	none := None("none@1", flow.None, func(struct{}) Command { return sh("head -c 5000000 /dev/zero") })
	if _, err := flow.Call(r, node, none, struct{}{}); err != nil {
		t.Errorf("None: %v", err)
	}
	_, err = flow.Call(r, node, JSON[in, out]("json@1", flow.None, hello), in{"x"})
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.ValidationError || !strings.HasPrefix(te.Message, "output of sh: ") {
		t.Errorf("JSON of text: %v", err)
	}
	_, err = flow.Call(r, node, JSON[in, out]("json@1", flow.None, func(in) Command {
		return sh(`echo '{"name": "a", "n": 1, "N": 2}'`)
	}), in{"x"})
	if !errors.As(err, &te) || te.Code != value.ValidationError {
		t.Errorf("JSON with a field in other case: %v", err)
	}
	slow := &flow.Node{ID: "slow", Pos: "f.yaml:2:1", Timeout: 50 * time.Millisecond}
	_, err = flow.Call(r, slow, Text("slow@1", flow.Writes, func(in) Command { return sh("sleep 60") }), in{})
	if !errors.As(err, &te) || te.Code != value.Timeout {
		t.Errorf("slow: %v", err)
	}
}

func TestTextAndLines(t *testing.T) {
	c := &Command{Args: []string{"x"}}
	for _, tt := range []struct {
		out   string
		text  string
		lines []string
	}{
		{"", "", []string{}},
		{"\n", "", []string{""}},
		{"a", "a", []string{"a"}},
		{"a\n", "a", []string{"a"}},
		{"a\r\n", "a", []string{"a"}},
		{"a\r", "a\r", []string{"a\r"}},
		{"a\n\n", "a\n", []string{"a", ""}},
		{"a\r\nb\n\nc", "a\r\nb\n\nc", []string{"a", "b", "", "c"}},
		{" é \x00\n", " é \x00", []string{" é \x00"}},
	} {
		if got, err := text(c, []byte(tt.out)); err != nil || got != tt.text {
			t.Errorf("text(%q) = %q, %v; want %q", tt.out, got, err, tt.text)
		}
		got, err := lines(c, []byte(tt.out))
		if diff := cmp.Diff(tt.lines, got); diff != "" || err != nil {
			t.Errorf("lines(%q): %v (-want +got):\n%s", tt.out, err, diff)
		}
	}
	_, err := text(c, []byte("né\xff"))
	wantTool(t, err, value.ValidationError, "x wrote output that is not UTF-8 (byte 3)")
	_, err = lines(c, []byte("\xc3"))
	wantTool(t, err, value.ValidationError, "x wrote output that is not UTF-8 (byte 0)")
}

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		c       Command
		message string
		details string
	}{
		{"code", sh("echo out; echo 'fatal: no repository' >&2; echo more >&2; exit 128"),
			"sh exited with status 128: fatal: no repository", `{"exit_code":128,"stderr":"fatal: no repository\nmore\n"}`},
		{"silent", Command{Args: []string{"false"}}, "false exited with status 1", `{"exit_code":1,"stderr":""}`},
		{"hostile stderr", sh(`printf '\n\033[31mbad\033[0m\007 \377\342\200\256x\n' >&2; exit 2`),
			`sh exited with status 2: bad\x07 ` + "\uFFFD" + `\u202ex`, `{"exit_code":2,"stderr":"\n\u001b[31mbad\u001b[0m\u0007 ` + "\uFFFD\u202e" + `x\n"}`},
		{"signal", sh("kill -SEGV $$"), "sh was killed by SIGSEGV", `{"signal":"SIGSEGV","stderr":""}`},
		{"kill", sh("echo dying >&2; kill -KILL $$"), "sh was killed by SIGKILL: dying", `{"signal":"SIGKILL","stderr":"dying\n"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t.Context(), &tt.c, int(tt.c.maxOutput()))
			te := wantTool(t, err, value.ProviderError, tt.message)
			var got, want value.Value
			if err := want.UnmarshalJSON([]byte(tt.details)); err != nil {
				t.Fatal(err)
			}
			if err := got.UnmarshalJSON([]byte(detail(t, te))); err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("details %s, want %s", detail(t, te), tt.details)
			}
		})
	}
}

func TestStderrIsBounded(t *testing.T) {
	c := sh(`i=0; while [ $i -lt 20000 ]; do echo "line é $i"; i=$((i+1)); done >&2; exit 1`)
	_, err := run(t.Context(), &c, int(c.maxOutput()))
	te := wantTool(t, err, value.ProviderError, "sh exited with status 1: line é 0")
	d := detail(t, te)
	if len(d) > 2*proc.TailBytes || !strings.Contains(d, "line é 19999") || strings.Contains(d, "line é 100\\n") {
		t.Errorf("details have %d bytes and end with %q", len(d), d[max(0, len(d)-40):])
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		c       Command
		code    value.Code
		message string
	}{
		{"nothing", Command{}, value.ValidationError, "the command has no program"},
		{"empty", Command{Args: []string{""}}, value.ValidationError, "the command has no program"},
		{"missing in PATH", Command{Args: []string{"no-such-program"}}, value.SandboxError, "no-such-program could not be started: no such program in PATH"},
		{"missing path", Command{Args: []string{"/no/such"}}, value.SandboxError, "such could not be started: no such program"},
		{"not executable", Command{Args: []string{plain}}, value.SandboxError, "plain could not be started: not executable"},
		{"no dir", Command{Args: []string{"true"}, Dir: "/no\x1b[1m/dir"}, value.ValidationError, "true cannot run in directory /no/dir: no such file or directory"},
		{"dir is a file", Command{Args: []string{"true"}, Dir: plain}, value.ValidationError, "true cannot run in directory " + plain + ": not a directory"},
		{"nul in program", Command{Args: []string{"a\x00b"}}, value.ValidationError, `a\x00b: the program contains a NUL byte`},
		{"nul in argument", Command{Args: []string{"echo", "a", "b\x00"}}, value.ValidationError, "echo: argument 2 contains a NUL byte"},
		{"nul in shell argument", sh("true", "a\x00"), value.ValidationError, "sh: argument 1 contains a NUL byte"},
		{"nul in script", sh("true\x00"), value.ValidationError, "sh: the script contains a NUL byte"},
		{"nul in dir", Command{Args: []string{"true"}, Dir: "a\x00"}, value.ValidationError, "true: the directory contains a NUL byte"},
		{"nul in env", Command{Args: []string{"true"}, Env: []string{"K=a\x00"}}, value.ValidationError, "true: environment entry K cannot be set"},
		{"env without value", Command{Args: []string{"true"}, Env: []string{"K"}}, value.ValidationError, "true: environment entry K cannot be set"},
		{"env without key", Command{Args: []string{"true"}, Env: []string{"=x"}}, value.ValidationError, "true: environment entry  cannot be set"},
		{"too long", Command{Args: []string{"true", strings.Repeat("x", 4<<20)}}, value.ValidationError, "true: arguments and environment are too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t.Context(), &tt.c, int(tt.c.maxOutput()))
			wantTool(t, err, tt.code, tt.message)
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("FLOWGEN_TEST_SECRET", "hunter2")
	t.Setenv("TZ", "UTC")
	t.Setenv("LANG", "C")
	c := Command{Args: []string{"env"}, Env: []string{"A=1", "LANG=xx", "A=2", "EMPTY="}, Dir: t.TempDir()}
	out, err := run(t.Context(), &c, int(c.maxOutput()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[k] = v
	}
	want := map[string]string{"A": "2", "LANG": "xx", "TZ": "UTC", "EMPTY": ""}
	for _, k := range []string{"PATH", "HOME", "TMPDIR"} {
		if v, ok := os.LookupEnv(k); ok {
			want[k] = v
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "here")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd -P\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(dir))
	want, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Args: []string{"./here"}, Dir: filepath.Base(dir)}
	out, err := run(t.Context(), &c, int(c.maxOutput()))
	if err != nil || string(out) != want+"\n" {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

func TestOwnSession(t *testing.T) {
	c := sh(`read -r pid name state ppid pgrp session rest </proc/$$/stat && echo "$pid $pgrp $session"; (: </dev/tty) 2>/dev/null && echo tty`)
	out, err := run(t.Context(), &c, int(c.maxOutput()))
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		t.Skip("no /proc here")
	}
	if len(fields) != 3 || fields[0] != fields[1] || fields[0] != fields[2] {
		t.Errorf("process, group, session = %q (%v), want them equal and no terminal", out, err)
	}
}

func TestStdin(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", 1<<16) // 1 MiB, far more than a pipe holds
	t.Run("both ways", func(t *testing.T) {
		c := Command{Args: []string{"cat"}, Stdin: big}
		out, err := run(t.Context(), &c, int(c.maxOutput()))
		if err != nil || string(out) != big {
			t.Errorf("got %d bytes, %v; want %d", len(out), err, len(big))
		}
	})
	t.Run("not read", func(t *testing.T) {
		c := Command{Args: []string{"true"}, Stdin: big}
		if _, err := run(t.Context(), &c, int(c.maxOutput())); err != nil {
			t.Error(err)
		}
	})
	t.Run("none is empty", func(t *testing.T) {
		c := Command{Args: []string{"cat"}}
		if out, err := run(t.Context(), &c, int(c.maxOutput())); err != nil || len(out) != 0 {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("not read and stopped", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		c := Command{Args: []string{"sleep", "60"}, Stdin: big}
		_, err := run(ctx, &c, int(c.maxOutput()))
		wantTool(t, err, value.Timeout, "sleep did not finish in time and was stopped")
	})
}

func TestOutputCap(t *testing.T) {
	exact := Command{Args: []string{"head", "-c", "1000", "/dev/zero"}, MaxOutput: 1000}
	if out, err := run(t.Context(), &exact, int(exact.maxOutput())); err != nil || len(out) != 1000 {
		t.Errorf("at the cap: %d bytes, %v", len(out), err)
	}
	for name, c := range map[string]Command{
		"just beyond": {Args: []string{"head", "-c", "1001", "/dev/zero"}, MaxOutput: 1000},
		"endless":     {Args: []string{"cat", "/dev/zero"}},
		"ignores TERM": {Shell: `trap '' TERM; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`,
			MaxOutput: 10_000},
		"beyond, in the background": {Shell: "head -c 1001 /dev/zero & exit 0", MaxOutput: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			_, err := run(t.Context(), &c, int(c.maxOutput()))
			te := wantTool(t, err, value.PolicyDenied, c.name()+" wrote more than the "+strconv.FormatInt(c.maxOutput(), 10)+" bytes allowed: raise max_output")
			if d, want := detail(t, te), `{"max_output":`+strconv.FormatInt(c.maxOutput(), 10)+`}`; d != want {
				t.Errorf("details %s, want %s", d, want)
			}
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// alive reads process numbers from file and returns those still there.
func alive(t *testing.T, file string) (pids []int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b))
	if len(fields) == 0 {
		t.Fatal("the command wrote no process numbers")
	}
	for _, f := range fields {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		if running(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// running tells a process from the zombie that whoever adopted it has not reaped yet.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return os.IsPermission(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func eventuallyDead(t *testing.T, file string) {
	t.Helper()
	eventually.True(t, "all processes have ended", func() bool { return len(alive(t, file)) == 0 })
}

func waitFile(t *testing.T, file string, words int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("%s has %d numbers", file, words), func() bool {
		b, _ := os.ReadFile(file)
		return len(strings.Fields(string(b))) >= words
	})
}

func TestStop(t *testing.T) {
	const tree = `echo $$ >>"$1"; (echo $(exec sh -c 'echo $PPID') >>"$1"; while :; do sleep 0.05; done) & while :; do sleep 0.05; done`
	for _, tt := range []struct {
		name, script string
		pids         int
	}{
		{"obedient", `echo $$ >>"$1"; exec sleep 60`, 1},
		{"tree", tree, 2},
		{"tree that ignores TERM", `trap '' TERM; ` + tree, 2},
		{"child that ignores TERM holds the pipes", `(trap '' TERM; echo $(exec sh -c 'echo $PPID') >>"$1"; while :; do sleep 0.05; done) & echo $$ >>"$1"; wait`, 2},
		{"exits 0 on TERM", `trap 'echo partial; exit 0' TERM; echo $$ >>"$1"; while :; do sleep 0.01; done`, 1},
	} {
		for _, how := range []string{"deadline", "cancel"} {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "pids")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if how == "deadline" {
					var stop context.CancelFunc
					ctx, stop = deadlineOnDemand(ctx)
					defer stop()
				}
				c := sh(tt.script, file)
				done := make(chan error, 1)
				go func() { _, err := run(ctx, &c, int(c.maxOutput())); done <- err }()
				waitFile(t, file, tt.pids)
				begin := time.Now()
				cancel(errors.New("stop"))
				err := <-done
				if took := time.Since(begin); took > 30*time.Second {
					t.Errorf("took %v to stop", took)
				}
				if how == "deadline" {
					wantTool(t, err, value.Timeout, "sh did not finish in time and was stopped")
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want the context's error", err)
				}
				eventuallyDead(t, file)
			})
		}
	}
}

// expired is a context whose end looks like a passed deadline, at a moment the test chooses.
type expired struct{ context.Context }

func (c expired) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func deadlineOnDemand(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return expired{ctx}, cancel
}

func TestBackgroundChildren(t *testing.T) {
	t.Run("may finish writing", func(t *testing.T) {
		grace = time.Minute
		defer func() { grace = Grace }()
		c := sh("(sleep 0.05; echo late) & echo early")
		out, err := run(t.Context(), &c, int(c.maxOutput()))
		if err != nil || string(out) != "early\nlate\n" {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("are not left behind", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pids")
		c := sh(`sleep 60 & echo $! >"$1"; echo early`, file)
		begin := time.Now()
		out, err := run(t.Context(), &c, int(c.maxOutput()))
		if err != nil || string(out) != "early\n" {
			t.Errorf("got %q, %v", out, err)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
		eventuallyDead(t, file)
	})
	t.Run("without the pipes are not left behind", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pids")
		c := sh(`sleep 60 >/dev/null 2>&1 & echo $! >"$1"`, file)
		if _, err := run(t.Context(), &c, int(c.maxOutput())); err != nil {
			t.Error(err)
		}
		eventuallyDead(t, file)
	})
	t.Run("that left the group do not hold up the call", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pids")
		c := sh(`setsid sh -c 'echo $$ >"$0"; exec sleep 60' "$1" & while [ ! -s "$1" ]; do sleep 0.01; done; echo early`, file)
		begin := time.Now()
		out, err := run(t.Context(), &c, int(c.maxOutput()))
		if err != nil || string(out) != "early\n" {
			t.Errorf("got %q, %v", out, err)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
		for _, pid := range alive(t, file) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "ran")
	c := sh(`echo x >"$1"`, file)
	if _, err := run(ctx, &c, int(c.maxOutput())); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran")
	}
}

// Every exit path must give back its descriptors and reap its process.
func TestNothingIsLeft(t *testing.T) {
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here")
		}
		return len(fds)
	}
	cases := []Command{
		{Args: []string{"true"}, Stdin: "x"},
		{Args: []string{"no-such-program"}, Stdin: "x"},
		{Args: []string{"/no/such"}, Stdin: "x"},
		sh("exit 3"),
		{Args: []string{"cat", "/dev/zero"}, MaxOutput: 10},
	}
	round := func() {
		for i := range cases {
			_, _ = run(t.Context(), &cases[i], int(cases[i].maxOutput()))
		}
	}
	round()
	before := count()
	for range 5 {
		round()
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	proc.Close()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("Wait4 = %d, %v: a child was not reaped", pid, err)
	}
}

func TestSecretEnv(t *testing.T) {
	show := Text("t.show@1", flow.Reads, func(struct{}) Command {
		return Command{Shell: `printf %s "$TOKEN" | tr a-z A-Z`, SecretEnv: []string{"TOKEN=DEPLOY_KEY"}}
	}, flow.Secrets("DEPLOY_KEY"))
	node := flow.Node{ID: "show", Pos: "t.yaml:1:1"}
	rt, err := flow.New(&flow.Info{Name: "t", Nodes: []*flow.Node{&node}})
	if err != nil {
		t.Fatal(err)
	}
	call := func() (string, error) { return flow.Call(rt.Start(context.Background()), &node, show, struct{}{}) }
	var te *value.ToolError
	if _, err := call(); !errors.As(err, &te) || te.Code != value.AuthRequired {
		t.Errorf("without the secret: %v, want AUTH_REQUIRED", err)
	}
	t.Setenv("DEPLOY_KEY", "s3cret")
	if out, err := call(); err != nil || out != "S3CRET" { // as it is it would be taken out
		t.Errorf("with the secret: %q, %v", out, err)
	}
}
