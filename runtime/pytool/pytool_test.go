package pytool

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var tools = &Source{Path: []string{"testdata/tools"}}

func needPython(t testing.TB) {
	t.Helper()
	if _, err := tools.interpreter(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(worker.Shutdown)
}

func newRun(t testing.TB, o ...runtime.Option) *flow.Run {
	t.Helper()
	needPython(t)
	rt, err := flow.New(&flow.Info{Name: "test"}, o...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

type diffIn struct {
	Raw string `json:"raw"`
	N   int64  `json:"n"`
}
type diffOut struct {
	Lines int64 `json:"lines"`
	N     int64 `json:"n"`
}

// do calls a function of basic.py with arguments in JSON.
func do(ctx context.Context, e flow.Effects, function, args string) (string, error) {
	f := Func{Source: tools, Module: "basic", Name: function}
	b, err := f.call(ctx, e, []byte(args), worker.DefaultMaxOutput)
	return string(b), err
}

func wantTool(t *testing.T, err error, code value.Code, part string) *value.ToolError {
	t.Helper()
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != code || !strings.Contains(te.Message, part) {
		t.Fatalf("got %v, want %s: ...%s...", err, code, part)
	}
	return te
}

func detail(e *value.ToolError, key string) string {
	v, _ := e.Details.Get(key)
	return v.String()
}

func TestBind(t *testing.T) {
	r := newRun(t)
	f := Func{Source: tools, Module: "basic", Name: "parse_diff"}
	got, err := flow.Call(r, node, Bind[diffIn, diffOut]("parse@1", flow.None, f), diffIn{"a\nb\n", 1})
	if err != nil || got != (diffOut{2, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := flow.Call(r, node, Bind[diffIn, struct{}]("parse@1", flow.None, f), diffIn{}); err != nil {
		t.Error(err)
	}
	_, err = flow.Call(r, node, Bind[diffIn, string]("parse@1", flow.None, f), diffIn{})
	wantTool(t, err, value.ValidationError, "result of basic:parse_diff: a string expected, an object given")
	_, err = flow.Call(r, node, Bind[value.Value, value.Value]("parse@1", flow.None, f), value.List())
	wantTool(t, err, value.ValidationError, "the arguments are not an object")
	slow := &flow.Node{ID: "slow", Pos: "f.yaml:2:1", Timeout: 300 * time.Millisecond}
	hang := Bind[struct{}, struct{}]("hang@1", flow.External, Func{Source: tools, Module: "basic", Name: "hang"})
	_, err = flow.Call(r, slow, hang, struct{}{})
	wantTool(t, err, value.Timeout, "")
	if _, err := do(t.Context(), flow.Writes, "pid", "{}"); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	needPython(t)
	for _, tt := range []struct {
		module, name, args string
		code               value.Code
		message            string
	}{
		{"basic", "boom", `{}`, value.Unknown, "ValueError: no"},
		{"basic", "boom", `{"text": ""}`, value.Unknown, "ValueError"},
		{"basic", "async_boom", `{}`, value.Unknown, "Odd: later"},
		{"basic", "coded", `{}`, value.RateLimit, "slow down"},
		{"basic", "quit", `{"code": 3}`, value.Unknown, "SystemExit: 3"},
		{"basic", "parse_diff", `{"raw": "a"}`, value.ValidationError, "parse_diff() missing 1 required positional argument: 'n'"},
		{"basic", "parse_diff", `{"raw": "a", "n": 1, "m": 2}`, value.ValidationError, "parse_diff() got an unexpected keyword argument 'm'"},
		{"basic", "parse_diff", `{"raw": "a", "n": "x"}`, value.Unknown, `TypeError: can only concatenate str (not "int") to str`},
		{"basic", "nothing", `{}`, value.SandboxError, "Module 'basic' has no attribute 'nothing'"},
		{"basic", "constant", `{}`, value.SandboxError, "'constant' of module 'basic' is not callable"},
		{"no.such", "f", `{}`, value.SandboxError, "Cannot import module 'no.such': No module named 'no'"},
		{"needs", "f", `{}`, value.SandboxError, "Cannot import module 'needs': No module named 'missing_module_xyz'"},
		{"broken", "f", `{}`, value.SandboxError, "Cannot import module 'broken': RuntimeError: no luck"},
		{"syntax", "f", `{}`, value.SandboxError, "Cannot import module 'syntax': SyntaxError: invalid syntax (syntax.py, line 1)"},
	} {
		f := Func{Source: tools, Module: tt.module, Name: tt.name}
		_, err := f.call(t.Context(), flow.Writes, []byte(tt.args), worker.DefaultMaxOutput)
		var te *value.ToolError
		if !errors.As(err, &te) || te.Code != tt.code || te.Message != tt.message {
			t.Errorf("%s:%s: got %v, want %s: %s", tt.module, tt.name, err, tt.code, tt.message)
		}
	}
	_, err := do(t.Context(), flow.Writes, "boom", `{}`)
	te := wantTool(t, err, value.Unknown, "ValueError: no")
	trace := detail(te, "traceback")
	if detail(te, "exception") != "ValueError" || detail(te, "output") != "about to fail\n" || strings.Contains(trace, "<flowgen>") ||
		!strings.Contains(trace, `basic.py", line`) || !strings.Contains(trace, "raise ValueError(text)") {
		t.Errorf("details: %s", te.Details)
	}
	_, err = do(t.Context(), flow.Writes, "coded", `{}`)
	if te = wantTool(t, err, value.RateLimit, ""); te.RetryAfterS == nil || *te.RetryAfterS != 3 || detail(te, "details") != `{"left":0}` {
		t.Errorf("%+v", te)
	}
	_, err = do(t.Context(), flow.Writes, "boom", `{"text": "`+strings.Repeat("long ", 100000)+`"}`)
	if te = wantTool(t, err, value.Unknown, "ValueError: long"); len(te.Message) > 1100 || len(te.Details.String()) > 40000 {
		t.Errorf("an error of %d and %d bytes", len(te.Message), len(te.Details.String()))
	}
}

func TestResults(t *testing.T) {
	needPython(t)
	for _, tt := range []struct{ kind, want string }{
		{"dataclass", `{"name":"s","points":[{"x":1,"y":0}],"level":"high","parent":null}`},
		{"enum", `["low"]`},
		{"time", `["2026-01-02T03:04:05+00:00","2026-01-02"]`},
		{"delta", `"1500000us"`},
		{"bytes", `"AP8="`},
		{"tuple", `[1,[2]]`},
		{"set", `[1,2,3]`},
		{"decimal", `["1.10","00000000-0000-0000-0000-000000000001"]`},
		{"none", `null`},
		{"big", `1180591620717411303424`},
		{"float", `[1.0,1,-0.0]`},
		{"text", "\"é\u2028\\\"\\\\\""},
		{"mixed set", "VALIDATION_ERROR: the result of basic:results has no JSON: "},
		{"nan", "VALIDATION_ERROR: the result of basic:results has no JSON: Out of range float values are not JSON compliant"},
		{"object", "VALIDATION_ERROR: the result of basic:results has no JSON: Object of type object is not JSON serializable"},
		{"surrogate", "VALIDATION_ERROR: the result of basic:results has no JSON: "},
		{"loop", "VALIDATION_ERROR: the result of basic:results has no JSON: Circular reference detected"},
		{"deep", "VALIDATION_ERROR: the result of basic:results has no JSON: it is nested too deep"},
		{"large", "POLICY_DENIED: the result of basic:results has 3145730 bytes, at most 2097152 are allowed: raise max_output"},
		{"huge", "POLICY_DENIED: the result of basic:results has 104857602 bytes, at most 2097152 are allowed: raise max_output"},
	} {
		got, err := do(t.Context(), flow.Writes, "results", `{"kind": "`+tt.kind+`"}`)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && !(strings.Contains(tt.want, "_ERROR: ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: got %.300s\nwant %s", tt.kind, got, tt.want)
		}
	}
	f := Func{Source: tools, Module: "basic", Name: "results", MaxOutput: 4 << 20}
	if got, err := f.call(t.Context(), flow.Writes, []byte(`{"kind": "large"}`), f.MaxOutput); err != nil || len(got) != 3<<20+2 {
		t.Errorf("with a larger cap: %d bytes, %v", len(got), err)
	}
}

func TestArguments(t *testing.T) {
	needPython(t)
	const shape = `{"name": "s", "points": [{"x": 1}], "level": "high", "parent": {"name": "p", "points": [{"x": 1, "y": 2}]}}`
	args := `{"shape": ` + shape + `, "when": "2026-01-02", "box": [1, {"x": 2}], "index": {"a": {"x": 3}}, "w": {"shape": ` + shape + `}, "tags": ["b", "a"]}`
	got, err := do(t.Context(), flow.Writes, "area", args)
	if err != nil || !strings.Contains(got, `"when":"2026-01-02","box":[1,{"x":2,"y":0}],"tags":["a","b"]`) {
		t.Errorf("%s, %v", got, err)
	}
	_, err = do(t.Context(), flow.Writes, "area", strings.Replace(args, `"level": "high"`, `"level": "medium"`, 1))
	wantTool(t, err, value.ValidationError, "argument shape: ValueError: 'medium' is not a valid Level")
	_, err = do(t.Context(), flow.Writes, "area", strings.Replace(args, `"x": 1`, `"z": 1`, 1))
	wantTool(t, err, value.ValidationError, "argument shape: ValueError: Point has no field 'z'")
	for _, v := range []string{`1`, `1.0`, `-0.5`, `"é\u0000"`, `9223372036854775807`, `{"a":[null,true]}`} {
		got, err := do(t.Context(), flow.Writes, "echo", `{"value": `+v+`}`)
		if want := strings.ReplaceAll(v, `\u0000`, `\u0000`); got != want || err != nil {
			t.Errorf("%s became %s, %v", v, got, err)
		}
	}
	if got, err := do(t.Context(), flow.Writes, "Tools.double", `{"n": 4}`); got != "8" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestContextOfACall(t *testing.T) {
	const canary = "canary-0123456789"
	r := newRun(t, runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	type in struct {
		N int64 `json:"n"`
	}
	who := Bind[in, value.Value]("who@1", flow.None, Func{Source: tools, Module: "basic", Name: "who"}, flow.Secrets("TOKEN"))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			got, err := flow.Call(r, node, who, in{int64(i)})
			if n, _ := got.Get("n"); err != nil || n.Int() != int64(i) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
	leak := Bind[in, value.Value]("leak@1", flow.None, Func{Source: tools, Module: "basic", Name: "leak"}, flow.Secrets("TOKEN"))
	_, err := flow.Call(r, node, leak, in{})
	te := wantTool(t, err, value.Unknown, "RuntimeError: header was Bearer [redacted]")
	if strings.Contains(te.Details.String(), canary) {
		t.Errorf("the details hold the secret: %s", te.Details)
	}
}

func TestCanary(t *testing.T) {
	needPython(t)
	t.Setenv("CANARY_TOKEN", "canary-of-the-parent")
	t.Setenv("PYTHONSTARTUP", "/nowhere")
	worker.Shutdown()
	got, err := do(t.Context(), flow.Writes, "environment", `{}`)
	if err != nil || strings.Contains(got, "canary") || strings.Contains(got, "CANARY") || strings.Contains(got, "PYTHONSTARTUP") {
		t.Errorf("%s, %v", got, err)
	}
}

// Every way a function can harm its worker gives a clear code, and the next call works.
func TestFaults(t *testing.T) {
	needPython(t)
	for _, tt := range []struct {
		function, args string
		code           value.Code
		part           string
	}{
		{"hang", `{}`, value.Timeout, "basic:hang did not finish in time and was stopped"},
		{"stuck", `{}`, value.Timeout, "did not finish in time"},
		{"nap", `{"seconds": 3600}`, value.Timeout, "did not finish in time"},
		{"async_nap", `{"seconds": 3600}`, value.Timeout, "did not finish in time"},
		{"stubborn", `{}`, value.Timeout, "did not finish in time"},
		{"crash", `{}`, value.SandboxError, "basic:crash: the Python worker was killed by SIGSEGV"},
		{"leave", `{"code": 7}`, value.SandboxError, "basic:leave: the Python worker exited with status 7"},
		{"leave", `{"code": 0}`, value.SandboxError, "basic:leave: the Python worker exited with status 0"},
	} {
		if _, err := do(t.Context(), flow.Writes, "pid", `{}`); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if tt.code != value.Timeout {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		}
		_, err := do(ctx, flow.Writes, tt.function, tt.args)
		cancel()
		wantTool(t, err, tt.code, tt.part)
		if got, err := do(t.Context(), flow.Writes, "echo", `{"value": 5}`); got != "5" || err != nil {
			t.Errorf("after %s: %s, %v", tt.function, got, err)
		}
	}
}

// TestNamesOfTheLibrary: modules of the working directory are not taken for those that the worker needs.
func TestNamesOfTheLibrary(t *testing.T) {
	needPython(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"json", "base64", "contextvars", "io", "queue", "struct", "threading", "types", "importlib", "re", "codecs", "traceback", "asyncio"} {
		if err := os.WriteFile(name+".py", []byte("raise RuntimeError('taken')\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("tools", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("tools/mine.py", []byte("def f(n): return n + 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := Func{Source: &Source{Path: []string{"tools"}}, Module: "mine", Name: "f"}
	got, err := f.call(t.Context(), flow.Reads, []byte(`{"n": 1}`), worker.DefaultMaxOutput)
	if err != nil || string(got) != "2" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestOutputDoesNotHarm(t *testing.T) {
	needPython(t)
	if got, err := do(t.Context(), flow.Writes, "noise", `{"n": 1000000}`); got != `""` || err != nil {
		t.Errorf("%.200s, %v", got, err)
	}
	if got, err := do(t.Context(), flow.Writes, "protocol", `{}`); got != `""` || err != nil {
		t.Errorf("a child sees the descriptors %s, %v", got, err)
	}
	worker.Shutdown()
	for range 2 { // what a module prints when it is imported is not told of the call that it is imported for
		_, err := do(t.Context(), flow.Writes, "said", `{"n": 0}`)
		if te := wantTool(t, err, value.Unknown, "ValueError: 0"); detail(te, "output") != "I am 0\n" {
			t.Errorf("output: %q", detail(te, "output"))
		}
	}
	worker.Shutdown()
	var wg sync.WaitGroup
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		wg.Go(func() { // what one call prints is not told of another
			_, err := do(t.Context(), flow.Writes, "said", `{"n": `+n+`}`)
			if te := wantTool(t, err, value.Unknown, "ValueError: "+n); detail(te, "output") != "I am "+n+"\n" {
				t.Errorf("output of %s: %q", n, detail(te, "output"))
			}
		})
	}
	wg.Wait()
}

func TestConcurrent(t *testing.T) {
	needPython(t)
	var wg sync.WaitGroup
	begin := time.Now()
	for i := range 1000 {
		wg.Go(func() {
			name, args := "parse_diff", `{"raw": "a\nb", "n": 1}`
			switch i % 10 {
			case 0:
				name, args = "async_nap", `{"seconds": 0.2}`
			case 1:
				name, args = "nap", `{"seconds": 0.02}`
			}
			if _, err := do(t.Context(), flow.Writes, name, args); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("it took %v", time.Since(begin)) // one after the other the naps alone are 22 s
}

func TestEmbedded(t *testing.T) {
	needPython(t)
	s := &Source{Files: fstest.MapFS{
		"pkg/__init__.py":   {Data: []byte("from . import sub\nfrom .sub import f\n")},
		"pkg/sub.py":        {Data: []byte("# -*- coding: latin-1 -*-\nimport pkgutil\nNAME = '\xe9'\ndef f():\n    return [NAME, __name__, pkgutil.get_data('pkg', 'data.txt').decode()]\ndef g():\n    raise KeyError('k')\n")},
		"pkg/data.txt":      {Data: []byte("data")},
		"space/deep/mod.py": {Data: []byte("def f(): return 'deep'\n")},
		"json.py":           {Data: []byte("raise Exception('shadows')\n")},
	}}
	call := func(module, name string) (string, error) {
		f := Func{Source: s, Module: module, Name: name}
		b, err := f.call(t.Context(), flow.Writes, []byte("{}"), worker.DefaultMaxOutput)
		return string(b), err
	}
	if got, err := call("pkg", "f"); got != `["é","pkg.sub","data"]` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := call("space.deep.mod", "f"); got != `"deep"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	_, err := call("pkg.sub", "g")
	te := wantTool(t, err, value.Unknown, "KeyError: 'k'")
	if trace := detail(te, "traceback"); !strings.Contains(trace, `"<embedded>/pkg/sub.py", line 7, in g`) || !strings.Contains(trace, "raise KeyError('k')") {
		t.Errorf("traceback:\n%s", trace)
	}
	_, err = call("pkg.nothing", "f")
	wantTool(t, err, value.SandboxError, "Cannot import module 'pkg.nothing': No module named 'pkg.nothing'")
}

func TestInterpreter(t *testing.T) {
	needPython(t)
	s := &Source{Path: tools.Path, Interpreter: "/no/such/python"}
	f := Func{Source: s, Module: "basic", Name: "pid"}
	_, err := f.call(t.Context(), flow.Writes, []byte("{}"), worker.DefaultMaxOutput)
	wantTool(t, err, value.SandboxError, "Python was not found (/no/such/python); install it or set FLOWGEN_PYTHON")
	t.Setenv("FLOWGEN_PYTHON", "/bin/true")
	f.Source = &Source{Path: tools.Path}
	_, err = f.call(t.Context(), flow.Writes, []byte("{}"), worker.DefaultMaxOutput)
	wantTool(t, err, value.SandboxError, "the Python worker could not be started")
}

// What a tool attaches stands beside its result, without secrets; what it must not attach is its error.
func TestAttach(t *testing.T) {
	const canary = "canary-0123456789"
	rec := journal.NewRecorder()
	r := newRun(t, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	type in struct {
		N int64 `json:"n"`
	}
	bound := func(name string) *flow.Tool[in, int64] {
		return Bind[in, int64]("t@1", flow.None, Func{Source: tools, Module: "basic", Name: name}, flow.Secrets("TOKEN"))
	}
	if _, err := flow.Call(r, node, bound("async_attach"), in{N: 1}); err != nil || len(rec.Envelopes()[0].Attachments) != 1 {
		t.Errorf("async: %v", err)
	}
	rec = journal.NewRecorder()
	r = newRun(t, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	got, err := flow.Call(r, node, bound("attach"), in{N: 2})
	want := []tool.Attachment{
		{Kind: "image", URL: "https://x/0?k=[redacted]", ContentType: "image/png", Bytes: 7},
		{Kind: "table", URL: "https://x/1"},
	}
	if diff := cmp.Diff(want, rec.Envelopes()[0].Attachments); diff != "" || err != nil || got != 2 {
		t.Errorf("%v, %v (-want +got):\n%s", got, err, diff)
	}
	for n, message := range map[int64]string{-1: "an attachment is a blob, an image or a table", -2: "1 to 4096 bytes", 101: "at most 100 attachments", 0: ""} {
		rec := journal.NewRecorder()
		_, err := flow.Call(newRun(t, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return canary, true })), node, bound("attach"), in{N: n})
		if (message == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), message) || len(rec.Envelopes()[0].Attachments) > 0 {
			t.Errorf("%d: %v, %+v", n, err, rec.Envelopes()[0].Attachments)
		}
	}
}
