//go:build unix

package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/internal/proc"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type testContext struct{}

func (testContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (testContext) Done() <-chan struct{}       { return nil }
func (testContext) Err() error                  { return nil }
func (testContext) Value(any) any               { return nil }

func wantTool(t *testing.T, err error, code value.Code, part string) *value.ToolError {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != code || !strings.Contains(te.Message, part) {
		t.Fatalf("got %v, want %s: ...%s...", err, code, part)
	}
	return te
}

func (p *Pool) get(t *testing.T, text string) string {
	t.Helper()
	b, err := p.Call(t.Context(), request(text, flow.Writes))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(b)
}

// alive tells a process from none, and from a zombie that whoever adopted it has not reaped yet.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return !strings.Contains(string(stat), ") Z ")
}

// gone waits until a process is no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("process %d is no more", pid), func() bool { return !alive(pid) })
}

// begun waits until a worker has begun a call that lasts.
func (p *Pool) begun(t *testing.T, name string) {
	t.Helper()
	eventually.True(t, "a worker has begun "+name, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(p.procs, func(w *process) bool { return strings.Contains(w.tail.Text(), begunWord+" "+name+"\n") })
	})
}

// expired is a context whose end looks like a deadline that has passed, at a moment the test chooses.
type expired struct{ context.Context }

func (c expired) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func deadlineOnDemand(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return expired{ctx}, cancel
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every way a worker can fail gives a clear code, and the next call works.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		call string
		code value.Code
		part string
	}{
		{"exit 3", value.SandboxError, "f: the test worker exited with status 3: last words"},
		{"exit 0", value.SandboxError, "f: the test worker exited with status 0"},
		{"half", value.SandboxError, "exited with status 1"},
		{"garbage 2", value.SandboxError, "broke the protocol"},
		{"garbage 20000000", value.SandboxError, "broke the protocol"},
		{"beside-twice", value.SandboxError, "broke the protocol"},
		{"beside-large", value.SandboxError, "broke the protocol"},
		{"logs-large", value.SandboxError, "broke the protocol"},
		{"logs-stranger", value.SandboxError, "broke the protocol"},
		{"beside {}", value.ValidationError, "attached something that is not an attachment"},
		{`beside [{"kind":"file","url":"x"}]`, value.ValidationError, "an attachment is a blob, an image or a table"},
		{"stranger", value.SandboxError, "broke the protocol"},
		{"close", value.SandboxError, "closed its connection"},
		{"claim 104857600", value.PolicyDenied, "the result of f is larger than the 2097152 bytes allowed: raise max_output"},
		{"claim 4294967295", value.SandboxError, "broke the protocol"},
		{"claim 3", value.SandboxError, "broke the protocol"},
		{"large 2097153", value.PolicyDenied, "larger than the 2097152 bytes"},
		{"large 104857600", value.PolicyDenied, "larger than the 2097152 bytes"},
		{"fail", value.RateLimit, "slow down"},
		{"odd-error", value.Unknown, "m"},
		{"bad-error", value.SandboxError, "could not say how"},
	} {
		t.Run(tt.call, func(t *testing.T) {
			p := newPool(t, "ok")
			first := number(t, p.get(t, "pid"))
			_, err := p.Call(t.Context(), request(tt.call, flow.Reads))
			wantTool(t, err, tt.code, tt.part)
			if got := p.get(t, "echo next"); got != "next" {
				t.Errorf("the next call: %q", got)
			}
			if tt.code == value.SandboxError && tt.call != "bad-error" {
				gone(t, first)
			}
		})
	}
	p := newPool(t, "ok")
	if got := p.get(t, "large 2097152"); len(got) != 2<<20 {
		t.Errorf("a result of just the cap: %d bytes", len(got))
	}
	if got := p.get(t, "reply-and-exit"); got != "bye" {
		t.Errorf("the last words of a worker: %q", got)
	}
	_, err := p.Call(t.Context(), &Call{What: "f", Body: [][]byte{make([]byte, MaxFrame+1)}})
	wantTool(t, err, value.ValidationError, "at most 67108864 are possible")
	te := wantTool(t, func() error { _, err := p.Call(t.Context(), request("fail", flow.None)); return err }(), value.RateLimit, "slow")
	if te.RetryAfterS == nil || *te.RetryAfterS != 2.5 || te.Details.String() != `{"a":1}` {
		t.Errorf("%+v", te)
	}
}

func TestAnAnswerTwice(t *testing.T) {
	p := newPool(t, "ok")
	if got := p.get(t, "twice"); got != "1" {
		t.Errorf("got %q", got)
	}
	// The second answer is noticed by the next call, which may be lost to it once.
	if _, err := p.Call(t.Context(), request("echo x", flow.Writes)); err != nil {
		wantTool(t, err, value.SandboxError, "broke the protocol")
	}
	if got := p.get(t, "echo x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestStart(t *testing.T) {
	for _, tt := range []struct {
		mode   string
		change func(*Config)
		part   string
	}{
		{"exit", func(*Config) {}, "the test worker could not be started: exited with status 3: ImportError: no such thing"},
		{"noise", func(*Config) {}, "could not be started"},
		{"ok", func(c *Config) { c.Command = func() ([]string, error) { return []string{"/no/such/program"}, nil } }, "no such program"},
		{"ok", func(c *Config) { c.Setup = func() ([]byte, error) { return nil, errors.New("no sources") } }, "no sources"},
		{"ok", func(c *Config) {
			c.Start = func(*exec.Cmd) (*proc.Child, error) { return nil, errors.New("no sandbox here") }
		}, "no sandbox here"},
		{"ok", func(c *Config) { c.Dir = "/no/such/dir" }, "no such program or directory"},
	} {
		p := newPool(t, tt.mode, tt.change)
		var wg sync.WaitGroup
		for range 5 { // all of them are told
			wg.Go(func() {
				_, err := p.Call(t.Context(), request("pid", flow.Writes))
				wantTool(t, err, value.SandboxError, tt.part)
			})
		}
		wg.Wait()
	}
	p := newPool(t, "silent")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := p.Call(ctx, request("pid", flow.Writes))
	wantTool(t, err, value.Timeout, "f did not finish in time")
}

func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		call   string
		killed bool
	}{{"hang", true}, {"stop", false}, {"runs", true}} {
		t.Run(tt.call, func(t *testing.T) {
			p := newPool(t, "ok")
			if !tt.killed {
				patient(p)
			}
			first := number(t, p.get(t, "pid"))
			ctx, expire := deadlineOnDemand(t)
			// The second lane, for a worker that reads while it runs.
			p.mu.Lock()
			p.procs[0].first = &flight{}
			p.mu.Unlock()
			go func() {
				p.begun(t, strings.Fields(tt.call)[0])
				expire()
			}()
			_, err := p.Call(ctx, request(tt.call, flow.Writes)) // without an end of its own
			wantTool(t, err, value.Timeout, "f did not finish in time and was stopped")
			second := number(t, p.get(t, "pid"))
			if (first != second) != tt.killed {
				t.Errorf("workers %d and %d, killed: %v", first, second, tt.killed)
			}
			if tt.killed {
				gone(t, first)
			}
		})
	}
	p := newPool(t, "ok")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := p.Call(ctx, request("hang", flow.Writes)); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := p.Call(ctx, request("echo a", flow.Writes)); err != context.Canceled {
		t.Errorf("cancelled before: %v", err)
	}
}

// A worker that reads nothing must not hold up a caller that writes more than a pipe holds.
func TestWriteToADeafWorker(t *testing.T) {
	p := newPool(t, "ok", func(c *Config) { c.MaxWorkers = 1 })
	hang, cancelHang := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = p.Call(hang, request("hang", flow.Writes)) })
	defer wg.Wait()
	defer cancelHang()
	p.begun(t, "hang")
	p.mu.Lock()
	p.procs[0].first = nil // the lane that hangs
	p.mu.Unlock()
	ctx, expire := deadlineOnDemand(t)
	go func() {
		eventually.True(t, "somebody writes to the worker", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.procs[0].lanes[0].busy) == 1
		})
		expire()
	}()
	_, err := p.Call(ctx, &Call{What: "f", Body: [][]byte{make([]byte, 8<<20)}, Effects: flow.Writes})
	wantTool(t, err, value.Timeout, "did not finish in time")
	if got := p.get(t, "echo next"); got != "next" {
		t.Errorf("got %q", got)
	}
}

// What shares a worker with a call that does not stop ends as it should, or is made again.
func TestInnocent(t *testing.T) {
	one := func(c *Config) { c.MaxWorkers = 1 }
	// Both are under way when the deadline of the bad one passes.
	share := func(t *testing.T, p *Pool, bad string, neighbour *Call, then func()) (string, error) {
		p.get(t, "echo warm")
		ctx, expire := deadlineOnDemand(t)
		var wg sync.WaitGroup
		var got []byte
		var err error
		wg.Go(func() { got, err = p.Call(t.Context(), neighbour) })
		p.begun(t, strings.Fields(string(neighbour.Body[0]))[0]) // in the first lane
		go func() {
			p.begun(t, strings.Fields(bad)[0])
			expire()
		}()
		_, bad1 := p.Call(ctx, request(bad, flow.Writes))
		wantTool(t, bad1, value.Timeout, "did not finish")
		then()
		wg.Wait()
		return string(got), err
	}
	t.Run("drained", func(t *testing.T) {
		p := patient(newPool(t, "ok", one))
		pid := number(t, p.get(t, "pid"))
		name, end := gate(t)
		got, err := share(t, p, "runs", request("wait "+name, flow.Writes), end)
		if got != "waited" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if next := number(t, p.get(t, "pid")); next == pid {
			t.Error("the worker was not replaced")
		}
		gone(t, pid)
	})
	t.Run("too slow", func(t *testing.T) {
		p := patient(newPool(t, "ok", one))
		p.drain = Drain
		_, err := share(t, p, "runs", request("hang", flow.Writes), func() {})
		wantTool(t, err, value.SandboxError, "f: the test worker was stopped, because another call in it did not end")
	})
	t.Run("made again", func(t *testing.T) {
		p := patient(newPool(t, "ok", one))
		p.drain = 100 * time.Millisecond
		name, end := gate(t)
		old := number(t, p.get(t, "pid"))
		got, err := share(t, p, "runs", request("wait "+name, flow.Reads), func() {
			gone(t, old)
			p.begun(t, "wait")
			end()
		})
		if got != "waited" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("it stops after all", func(t *testing.T) {
		p := patient(newPool(t, "ok", one))
		pid := number(t, p.get(t, "pid"))
		name, end := gate(t)
		got, err := share(t, p, "runs "+name, request("outlasts", flow.Writes), end)
		if got != "slept" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if next := number(t, p.get(t, "pid")); next != pid {
			t.Error("the worker was replaced for nothing")
		}
	})
	t.Run("crash", func(t *testing.T) {
		for _, tt := range []struct {
			effects flow.Effects
			again   bool
		}{{flow.None, true}, {flow.Reads, true}, {flow.Writes, false}, {flow.External, false}} {
			p := patient(newPool(t, "ok", one))
			p.get(t, "echo warm")
			neighbour, end := "hang", func() {}
			if tt.again {
				name, open := gate(t)
				neighbour, end = "wait "+name, open
			}
			var wg sync.WaitGroup
			var got []byte
			var err error
			wg.Go(func() { got, err = p.Call(t.Context(), request(neighbour, tt.effects)) })
			p.begun(t, strings.Fields(neighbour)[0])
			_, bad := p.Call(t.Context(), request("exit 1", flow.Writes))
			wantTool(t, bad, value.SandboxError, "exited with status 1")
			end()
			wg.Wait()
			if tt.again && (string(got) != "waited" || err != nil) {
				t.Errorf("%v: %q, %v", tt.effects, got, err)
			}
			if !tt.again {
				wantTool(t, err, value.SandboxError, "exited with status 1")
			}
		}
	})
}

func TestConcurrent(t *testing.T) {
	p := newPool(t, "ok")
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			want := fmt.Sprint("v", i)
			got, err := p.Call(t.Context(), request("echo "+want, flow.Writes))
			if err != nil || string(got) != want {
				t.Errorf("%q, %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
	p.mu.Lock()
	n, flights := len(p.procs), 0
	for _, w := range p.procs {
		flights += len(w.flights)
	}
	p.mu.Unlock()
	if n > 2 || flights != 0 || len(p.waiting) != 0 {
		t.Errorf("%d workers, %d calls and %d waiting are left", n, flights, len(p.waiting))
	}
}

// Calls of which every third kills the worker: the others get their own answers or a clear error.
func TestConcurrentFaults(t *testing.T) {
	p := newPool(t, "ok")
	var wg sync.WaitGroup
	for i := range 90 {
		wg.Go(func() {
			if i%3 == 0 {
				_, err := p.Call(t.Context(), request([]string{"exit 1", "garbage 10", "claim 104857600"}[i%9/3], flow.Writes))
				if err == nil {
					t.Error("no error")
				}
				return
			}
			want := fmt.Sprint("v", i)
			got, err := p.Call(t.Context(), request("echo "+want, flow.Writes))
			var te *value.ToolError
			if err != nil && (!errors.As(err, &te) || te.Code != value.SandboxError) || err == nil && string(got) != want {
				t.Errorf("%q, %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
	if got := p.get(t, "echo next"); got != "next" {
		t.Errorf("got %q", got)
	}
}

func TestWaitForAPlace(t *testing.T) {
	p := newPool(t, "ok", func(c *Config) { c.MaxWorkers, c.PerWorker = 1, 1 })
	p.get(t, "echo warm")
	patient(p)
	var wg sync.WaitGroup
	defer wg.Wait()
	holds, release := deadlineOnDemand(t)
	defer release()
	wg.Go(func() { _, _ = p.Call(holds, request("stop", flow.Writes)) })
	p.begun(t, "stop")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.Call(ctx, request("echo a", flow.Writes))
	wantTool(t, err, value.Timeout, "did not finish in time")
	release()
	if got := p.get(t, "echo b"); got != "b" {
		t.Errorf("got %q", got)
	}
}

func TestTenants(t *testing.T) {
	p := newPool(t, "ok")
	pid := func(holder string) string {
		c := request("pid", flow.Writes)
		c.Holder = holder
		b, err := p.Call(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	a, b := pid("a"), pid("b")
	if a == b || pid("a") != a || pid("b") != b {
		t.Error("tenants share a worker, or do not keep theirs")
	}
	c := pid("c") // there is room for two only
	if c == a || c == b {
		t.Error("a holder got the worker of another")
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY_TOKEN", "canary-of-the-parent")
	p := newPool(t, "ok", func(c *Config) { c.Env = append(c.Env, "NAMED=yes") })
	env := p.get(t, "env")
	for line := range strings.Lines(env) {
		key, _, _ := strings.Cut(line, "=")
		switch key {
		case "PATH", "HOME", "LANG", "TZ", "TMPDIR", "NAMED", fakeVariable:
		default:
			t.Errorf("the worker sees %s", line)
		}
	}
	if !strings.Contains(env, "NAMED=yes") {
		t.Error("what was named is missing")
	}
}

func TestPrintsDoNotHarm(t *testing.T) {
	p := newPool(t, "ok")
	if got := p.get(t, "print 100000"); got != "printed" { // 3 MB
		t.Errorf("got %q", got)
	}
	_, err := p.Call(t.Context(), request("exit 1", flow.Writes))
	te := wantTool(t, err, value.SandboxError, "last words")
	out, _ := te.Details.Get("output")
	if n := len(out.String()); n < 1000 || n > proc.TailBytes || !strings.HasSuffix(out.String(), "last words\n") {
		t.Errorf("the tail has %d bytes: ...%s", n, out.String()[max(0, n-100):])
	}
}

func TestShutdown(t *testing.T) {
	p := newPool(t, "ok")
	child := number(t, p.get(t, "child"))
	pid := number(t, p.get(t, "pid"))
	Shutdown()
	gone(t, pid)
	gone(t, child)
	if got := p.get(t, "echo again"); got != "again" {
		t.Errorf("got %q", got)
	}
	stays := newPool(t, "stays")
	pid = number(t, stays.get(t, "pid"))
	stays.Shutdown()
	gone(t, pid)
}

// A worker ends with the program, also when that is killed.
func TestKilledParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fakeVariable+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	var pids [2]int
	for i := range pids {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pids[i] = number(t, strings.TrimSpace(line))
	}
	if !alive(pids[0]) {
		t.Fatal("the worker is not there")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, pids[0])
	_ = syscall.Kill(pids[1], syscall.SIGKILL) // a tool's own child may stay; see the package's documentation
}

func TestNoLeak(t *testing.T) {
	p := newPool(t, "ok")
	for range 2000 {
		p.get(t, "echo a")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.procs) != 1 {
		t.Errorf("%d workers for calls one after the other", len(p.procs))
	}
}

// A call that comes right after a shutdown does not get the fate of a worker that the shutdown ended while it started.
func TestCallAfterShutdown(t *testing.T) {
	p := newPool(t, "ok")
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = p.Call(ctx, request("echo 1", flow.Writes)) // starts a worker, and may fail
		}()
		eventually.True(t, "the worker has started", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.newborn)+len(p.procs) > 0
		})
		p.Shutdown()
		if _, err := p.Call(t.Context(), request("echo 2", flow.Writes)); err != nil {
			t.Error(err)
		}
		cancel()
		<-done
		p.Shutdown() // the next round starts a worker, too
	}
}
