//go:build unix

package mcptool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

type echoIn struct {
	Text  string `json:"text"`
	Times *int64 `json:"times,omitempty"`
}

type echoOut struct {
	Said string `json:"said"`
	N    int64  `json:"n"`
}

type empty = struct{}

// both runs a test against a local and a remote server.
func both(t *testing.T, f func(t *testing.T, s *Server)) {
	t.Run("local", func(t *testing.T) { f(t, localServer(t)) })
	t.Run("remote", func(t *testing.T) { f(t, remoteServer(t, "", nil)) })
}

func textTool[In any](t testing.TB, s *Server, name string, o ...flow.ToolOption) *flow.Tool[In, string] {
	return Text[In]("w."+name+"@1", flow.External, s, pin(t, s, name), o...)
}

func TestCall(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		p := pin(t, s, "echo")
		p.Open = true
		echo := JSON[echoIn, echoOut]("w.echo@1", flow.Reads, s, p)
		got, err := invoke(t, echo, echoIn{Text: "ab<c>", Times: new(int64(2))})
		if err != nil || got != (echoOut{"ab<c>ab<c>", 2}) {
			t.Fatal(got, err)
		}
		if got, err := invoke(t, echo, echoIn{Text: "x"}); err != nil || got != (echoOut{"x", 1}) {
			t.Fatal(got, err)
		}
		p.Open = false
		_, err = invoke(t, JSON[echoIn, echoOut]("w.echo@1", flow.Reads, s, p), echoIn{Text: "x"})
		wantError(t, err, value.ValidationError, `unknown field "more"`)
	})
}

func TestResults(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		type raw struct {
			JSON string `json:"json"`
		}
		anyRaw := Any[raw]("w.raw@1", flow.Reads, s, pin(t, s, "raw"))
		for _, doc := range []string{`{"z":9007199254740993,"a":[1,2.0,null],"é":"\u2028"}`, `[1]`, `"text"`, `true`} {
			v, err := invoke(t, anyRaw, raw{doc})
			want, _ := value.Parse([]byte(doc))
			if err != nil || !v.Equal(want) || v.String() != want.String() {
				t.Errorf("%s: got %s, %v", doc, v, err)
			}
		}
		type text struct {
			Text string `json:"text"`
		}
		typed := JSON[text, []echoOut]("w.text@1", flow.Reads, s, pin(t, s, "text"))
		got, err := invoke(t, typed, text{`[{"said": "a", "n": 9007199254740993}]`})
		if diff := cmp.Diff([]echoOut{{"a", 9007199254740993}}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
		for _, bad := range []string{`[{"said": "a"}]`, `nothing`, `[{"said":"a","n":1,"said":"b"}]`, ``} {
			_, err := invoke(t, typed, text{bad})
			wantError(t, err, value.ValidationError, "tool text of server test")
		}
		_, err = invoke(t, textTool[empty](t, s, "image"), empty{})
		wantError(t, err, value.ValidationError, "answered with image")
		if got, err := invoke(t, textTool[empty](t, s, "blocks"), empty{}); err != nil || got != "a\nb" {
			t.Error(got, err)
		}
		v, err := invoke(t, Any[empty]("w.image@1", flow.Reads, s, pin(t, s, "image")), empty{})
		if first, _ := v.Index(0).Get("data"); err != nil || first.String() != "cG5n" {
			t.Error(v, err)
		}
		if v, err := invoke(t, Any[text]("w.text@1", flow.Reads, s, pin(t, s, "text")), text{"hello"}); err != nil || v.String() != "hello" || v.Kind() != value.StringKind {
			t.Error(v, err)
		}
	})
}

func TestFailures(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		type what struct {
			What string `json:"what"`
		}
		_, err := invoke(t, textTool[what](t, s, "fail"), what{"that"})
		wantError(t, err, value.ProviderError, "tool fail of server test failed: no luck with that")
		var te *value.ToolError
		if errors.As(err, &te); !strings.Contains(te.Details.String(), `"text":"no luck with that, token "`) {
			t.Error(te.Details)
		}
		_, err = invoke(t, textTool[empty](t, s, "rpc"), empty{})
		wantError(t, err, value.ProviderError, "internal trouble")
		p := pin(t, s, "big")
		type big struct {
			Bytes int `json:"bytes"`
		}
		p.MaxOutput = 1000
		bigTool := Text[big]("w.big@1", flow.Reads, s, p)
		if got, err := invoke(t, bigTool, big{1000}); err != nil || len(got) != 1000 {
			t.Error(err)
		}
		if got, err := invoke(t, bigTool, big{1001}); err != nil || len(got) != 1000-2 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if got, a := kept(t, bigTool, big{5000}); len(got) != 1000-2 || a.Bytes != 5000 || a.ContentType != "text/plain; charset=utf-8" {
			t.Errorf("%d bytes, %+v", len(got), a)
		}
		if got, a := kept(t, Any[big]("w.big@1", flow.Reads, s, p), big{5000}); got.Kind() != value.StringKind || a.Bytes != 5000 {
			t.Errorf("%v, %+v", got, a)
		}
		_, err = invoke(t, bigTool, big{40 << 20})
		wantError(t, err, value.PolicyDenied, "larger than the limit")
		if got, err := invoke(t, bigTool, big{10}); err != nil || len(got) != 10 {
			t.Errorf("after a message that was too large: %v", err)
		}
		if got, err := invoke(t, textTool[empty](t, s, "ask"), empty{}); err != nil || got != "nothing was told" {
			t.Error(got, err)
		}
	})
}

func TestTimeout(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		type slow struct {
			MS int `json:"ms"`
		}
		tool := textTool[slow](t, s, "slow")
		count := func(name string) string {
			got, err := invoke(t, textTool[empty](t, s, name), empty{})
			if err != nil {
				t.Error(err)
			}
			return got
		}
		counts := func(name, want string) { // waits until the server has counted that many
			if !eventually.Is(func() bool { return count(name) == want || t.Failed() }) {
				t.Errorf("not %s calls are %s", want, name)
			}
		}
		for d := 300 * time.Millisecond; count("begun") == "0" && !t.Failed(); d *= 2 { // on a busy machine it may not come that far
			_, err := invoke(t, tool, slow{600_000}, within(d))
			wantError(t, err, value.Timeout, "")
		}
		counts("cancelled", "1")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			counts("begun", "2")
			cancel()
		}()
		if _, err := invokeIn(ctx, t, tool, slow{600_000}); !runtime.IsCancelled(err) {
			t.Error(err)
		}
		counts("cancelled", "2")
		if got, err := invoke(t, tool, slow{1}); err != nil || got != "done" {
			t.Error(got, err)
		}
	})
}

// TestBroken: servers that die, hang, flood and write garbage. Each gives a clear code, and the next call works.
func TestBroken(t *testing.T) {
	s := localServer(t)
	type args struct {
		Of  string `json:"of,omitempty"`
		MiB int    `json:"mib,omitempty"`
	}
	pid := textTool[empty](t, s, "pid")
	for _, tt := range []struct {
		tool string
		in   args
		code value.Code
		part string
	}{
		{"crash", args{Of: "memory"}, value.SandboxError, "ended with status 3: panic: out of memory"},
		{"garbage", args{}, value.SandboxError, "output that is not a message: Server is ready!"},
		{"brace", args{}, value.SandboxError, "violates the protocol"},
		{"flood", args{MiB: 100}, value.PolicyDenied, "larger than the limit"},
		{"chatter", args{MiB: 200}, value.PolicyDenied, "larger than the limit"},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			before, err := invoke(t, pid, empty{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = invoke(t, textTool[args](t, s, tt.tool), tt.in, within(10*time.Minute))
			wantError(t, err, tt.code, tt.part)
			after, err := invoke(t, pid, empty{})
			if err != nil || before == after {
				t.Errorf("the next call: process %s, before it was %s: %v", after, before, err)
			}
			gone(t, before)
		})
	}
}

// gone waits until a process is no more.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "process "+pid+" has ended", func() bool {
		if syscall.Kill(n, 0) == syscall.ESRCH {
			return true
		}
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		return strings.Contains(string(state), ") Z ") && os.Getppid() != n // a grandchild that nobody here can collect
	})
}

// TestDeaf: a server that stops reading is replaced.
func TestDeaf(t *testing.T) {
	t.Parallel() // it waits
	s := localServer(t)
	type in struct {
		Text string `json:"text"`
	}
	pid, say := textTool[empty](t, s, "pid"), textTool[in](t, s, "text")
	before, err := invoke(t, pid, empty{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := invoke(t, textTool[empty](t, s, "deaf"), empty{}); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds, so that writing blocks.
	_, err = invoke(t, say, in{strings.Repeat("x", 1<<20)}, within(300*time.Millisecond))
	wantError(t, err, value.Timeout, "")
	after, err := invoke(t, pid, empty{}, within(time.Minute))
	if err != nil || after == before {
		t.Fatal(after, err)
	}
	gone(t, before)

	if _, err := invoke(t, textTool[empty](t, s, "deaf"), empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err = invoke(t, say, in{"read before it noticed"}); err != nil {
		t.Fatal(err)
	}
	_, err = invoke(t, say, in{"fits into the pipe"}, within(300*time.Millisecond))
	wantError(t, err, value.Timeout, "")
	if again, err := invoke(t, pid, empty{}, within(time.Minute)); err != nil || again == after {
		t.Fatal(again, err)
	}
	gone(t, after)
}

// TestGroup: what a server has started ends with it.
func TestGroup(t *testing.T) {
	s := localServer(t)
	child, err := invoke(t, textTool[empty](t, s, "child"), empty{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	gone(t, child)
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OTHER", "not for servers")
	s := Local("test", []string{program}, "TOKEN=SECRET")
	t.Cleanup(s.Close)
	tool := func(name string) *flow.Tool[empty, string] {
		x, err := s.start(t.Context(), []string{secrets["SECRET"]})
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		tools, err := x.listed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return Text[empty]("w.x@1", flow.External, s, Pin{Tool: name, Hash: tools[name].hash})
	}
	env, err := invoke(t, tool("env"), empty{})
	if err != nil || !strings.Contains(env, "TOKEN=S3CR/ET+CANARY") || strings.Contains(env, "OTHER") {
		t.Error(env, err)
	}
	for _, name := range []string{"fail", "crash"} {
		_, err := invoke(t, tool(name), empty{})
		if err == nil || !strings.Contains(err.Error(), "[redacted]") || strings.Contains(fmt.Sprintf("%+v %s", err, details(err)), "canary") {
			t.Errorf("%s: %v %s", name, err, details(err))
		}
	}
	saved := secrets["SECRET"]
	t.Cleanup(func() { secrets["SECRET"] = saved })
	secrets["SECRET"] = "another"
	if env, err = invoke(t, tool("env"), empty{}); err != nil || !strings.Contains(env, "TOKEN=ANOTHER") {
		t.Errorf("a session with another secret: %s %v", env, err)
	}
	delete(secrets, "SECRET")
	_, err = invoke(t, tool("env"), empty{})
	wantError(t, err, value.AuthRequired, "secret SECRET is not set")
}

func details(err error) string {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Details.String()
	}
	return ""
}

func TestNotStarted(t *testing.T) {
	for _, tt := range []struct {
		command []string
		part    string
	}{
		{[]string{"no-such-program-anywhere"}, "no such program in PATH"},
		{[]string{"/no/such/program"}, "no such program"},
		{[]string{"false"}, "ended with status 1"},
		{[]string{"sh", "-c", "echo sorry >&2; exit 9"}, "ended with status 9: sorry"},
		{[]string{"echo", "hello"}, "output that is not a message: hello"},
	} {
		s := Local("test", tt.command)
		_, err := invoke(t, Text[empty]("w.x@1", flow.External, s, Pin{Tool: "x"}), empty{})
		wantError(t, err, value.SandboxError, tt.part)
		s.Close()
	}
}

func TestStatus(t *testing.T) {
	for status, want := range map[int]value.Code{
		400: value.ValidationError, 401: value.AuthRequired, 403: value.AuthRequired, 404: value.ProviderError,
		429: value.RateLimit, 500: value.ProviderError, 503: value.ProviderError,
	} {
		s := remoteServer(t, "", []string{"-status", strconv.Itoa(status)}, httptool.Bearer("TOKEN"))
		_, err := invoke(t, Text[empty]("w.x@1", flow.External, s, Pin{Tool: "x"}), empty{})
		wantError(t, err, want, "answered "+strconv.Itoa(status)+" "+http.StatusText(status))
		if !strings.Contains(details(err), `"status":`+strconv.Itoa(status)) || strings.Contains(err.Error()+details(err), "canary") {
			t.Error(details(err))
		}
	}
}

func TestRemote(t *testing.T) {
	s := remoteServer(t, "", []string{"-token", "tok-canary"}, httptool.Bearer("TOKEN"))
	anonymous := Remote("test", s.url, httptool.Allow("loopback"))
	t.Cleanup(anonymous.Close)
	p := Pin{Tool: "pid"}
	_, err := invoke(t, Text[empty]("w.pid@1", flow.Reads, anonymous, p), empty{})
	wantError(t, err, value.AuthRequired, "401")
	_, err = invoke(t, Text[empty]("w.pid@1", flow.Reads, s, p), empty{})
	wantError(t, err, value.PolicyDenied, "is not what was locked: it has changed") // it was let in

	guarded := Remote("test", s.url)
	_, err = invoke(t, Text[empty]("w.pid@1", flow.Reads, guarded, p), empty{})
	wantError(t, err, value.PolicyDenied, "127.0.0.1 was not contacted")
	nowhere := Remote("test", "http://127.0.0.1:1/mcp", httptool.Allow("loopback"))
	_, err = invoke(t, Text[empty]("w.pid@1", flow.Reads, nowhere, p), empty{})
	wantError(t, err, value.NetworkError, "connection refused")

	slash := remoteServer(t, "/slash", nil)
	if _, err = invoke(t, textTool[empty](t, slash, "pid"), empty{}); err != nil {
		t.Error(err)
	}
	away := remoteServer(t, "/away", nil)
	_, err = invoke(t, Text[empty]("w.pid@1", flow.Reads, away, p), empty{})
	wantError(t, err, value.PolicyDenied, "redirects to another origin, example.com")
}

// TestMany calls one server from many branches at once: one process serves them all.
func TestMany(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		type in struct {
			Text string `json:"text"`
		}
		say, pid := textTool[in](t, s, "text"), textTool[empty](t, s, "pid")
		s.Close()
		var mu sync.Mutex
		pids := map[string]bool{}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				want := strings.Repeat(strconv.Itoa(i), 1000)
				got, err := invoke(t, say, in{want})
				if err != nil || got != want {
					t.Error(err)
				}
				id, err := invoke(t, pid, empty{})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				pids[id] = true
			})
		}
		wg.Wait()
		if len(pids) != 1 {
			t.Errorf("%d processes", len(pids))
		}
	})
}
