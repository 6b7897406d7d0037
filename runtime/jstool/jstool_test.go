package jstool

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
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

func needNode(t testing.TB) {
	t.Helper()
	if _, err := interpreter(""); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(worker.Shutdown)
}

func newRun(t testing.TB, o ...runtime.Option) *flow.Run {
	t.Helper()
	needNode(t)
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

// do calls code's default export with an argument in JSON.
func do(ctx context.Context, e flow.Effects, code, arg string) (string, error) {
	b, err := newBound(Module{Name: "tool.mjs", Code: code}).call(ctx, e, []byte(arg), worker.DefaultMaxOutput)
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
	for range 3 {
		got, err := flow.Call(r, node, Bind[diffIn, diffOut]("parse@1", flow.None, greet), diffIn{"a\nb\n", 1})
		if err != nil || got != (diffOut{2, 2}) {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if _, err := flow.Call(r, node, Bind[diffIn, struct{}]("parse@1", flow.None, greet), diffIn{}); err != nil {
		t.Error(err)
	}
	_, err := flow.Call(r, node, Bind[diffIn, string]("parse@1", flow.None, greet), diffIn{})
	wantTool(t, err, value.ValidationError, "result of greet.mjs: a string expected, an object given")
	slow := &flow.Node{ID: "slow", Pos: "f.yaml:2:1", Timeout: 300 * time.Millisecond}
	hang := Bind[struct{}, struct{}]("hang@1", flow.External, Module{Name: "hang.js", Code: `export default () => { for (;;); }`})
	_, err = flow.Call(r, slow, hang, struct{}{})
	wantTool(t, err, value.Timeout, "")
}

func TestErrors(t *testing.T) {
	needNode(t)
	for _, tt := range []struct {
		code, want string
	}{
		{`export default () => { throw new RangeError("no") }`, "UNKNOWN: RangeError: no"},
		{`export default async () => { throw new RangeError("no") }`, "UNKNOWN: RangeError: no"},
		{`class Odd extends Error {}; export default () => Promise.reject(new Odd("later"))`, "UNKNOWN: Odd: later"},
		{`export default () => { throw "text" }`, "UNKNOWN: Error: text"},
		{`export default () => { throw null }`, "UNKNOWN: Error: null"},
		{`export default () => { throw Object.assign(new Error("slow"), {code: "RATE_LIMIT", retry_after_s: 3}) }`, "RATE_LIMIT: slow"},
		{`export default () => { throw Object.assign(new Error("gone"), {code: "ENOENT"}) }`, "UNKNOWN: Error: gone"},
		{`export default () => { setTimeout(() => { throw new Error("in a timer") }, 5); return new Promise(() => {}) }`, "UNKNOWN: Error: in a timer"},
		{`export default 5`, "SANDBOX_ERROR: Module 'tool.mjs' has no default export that is a function"},
		{`export const x = 5`, "SANDBOX_ERROR: Module 'tool.mjs' has no default export that is a function"},
		{`export default (`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': SyntaxError: "},
		{`throw new TypeError("at load"); export default () => 1`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': TypeError: at load"},
		{`import "./other.mjs"; export default () => 1`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': "},
	} {
		_, err := do(t.Context(), flow.Writes, tt.code, `{}`)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.code, err, tt.want)
		}
	}
	_, err := do(t.Context(), flow.Writes, "// padding\nfunction inner() { console.log('hello', {a: 1}); throw new Error('x') }\nexport default function outer() { inner() }", `{}`)
	te := wantTool(t, err, value.Unknown, "Error: x")
	stack := detail(te, "stack")
	if detail(te, "output") != "hello { a: 1 }\n" || !strings.Contains(stack, "at inner (tool.mjs:2:") || strings.Contains(stack, "base64") || strings.Contains(stack, "flowgen:") {
		t.Errorf("details: %s", te.Details)
	}
	_, err = do(t.Context(), flow.Writes, `export default () => { throw new Error("x".repeat(1e6)) }`, `{}`)
	if te = wantTool(t, err, value.Unknown, "Error: xxx"); len(te.Message) > 1100 || len(te.Details.String()) > 40000 {
		t.Errorf("an error of %d and %d bytes", len(te.Message), len(te.Details.String()))
	}
}

func TestResults(t *testing.T) {
	needNode(t)
	for _, tt := range []struct{ expr, want string }{
		{`undefined`, `null`},
		{`null`, `null`},
		{`({a: undefined, b: [undefined, 1.5, "é\u2028"]})`, "{\"b\":[null,1.5,\"é\u2028\"]}"},
		{`new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		{`"\ud800"`, `"\ud800"`},
		{`NaN`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: NaN has no JSON"},
		{`[1 / 0]`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: Infinity has no JSON"},
		{`new Map()`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: a Map has no JSON"},
		{`10n`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: a bigint has no JSON"},
		{`() => 1`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: a function has no JSON"},
		{`Buffer.from("a")`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: bytes have no JSON; give text, such as base64"},
		{`(() => { const a = []; a.push(a); return a })()`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: it is nested more than 1000 deep, or holds itself"},
		{`"x".repeat(3 << 20)`, "POLICY_DENIED: the result of tool.mjs has 3145730 bytes, at most 2097152 are allowed: raise max_output"},
		{`"é".repeat(1.5 * 1024 * 1024)`, "POLICY_DENIED: the result of tool.mjs has 3145730 bytes, at most 2097152 are allowed: raise max_output"},
		{`"x".repeat(100 << 20)`, "POLICY_DENIED: the result of tool.mjs has 104857602 bytes, at most 2097152 are allowed: raise max_output"},
	} {
		got, err := do(t.Context(), flow.Writes, "export default () => "+tt.expr, `{}`)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %.300s\nwant %s", tt.expr, got, tt.want)
		}
	}
	const echo = `export default (a) => a.v`
	for _, v := range []string{`9007199254740991`, `-9007199254740991`, `"9007199254740993"`, `{"9007199254740993 \" 9007199254740993":[1.5,true]}`, `"é\u0000"`} {
		if got, err := do(t.Context(), flow.Writes, echo, `{"v":`+v+`}`); got != v || err != nil {
			t.Errorf("%s became %s, %v", v, got, err)
		}
	}
	_, err := do(t.Context(), flow.Writes, echo, `{"a":"\\","v":[9007199254740993]}`)
	wantTool(t, err, value.ValidationError, "JavaScript has no exact form of the integer 9007199254740993")
	large := strings.Repeat("é1 ", 1<<20)
	got, err := newBound(Module{Name: "m", Code: echo, MaxOutput: 8 << 20}).call(t.Context(), flow.Writes, []byte(`{"v":"`+large+`"}`), 8<<20)
	if err != nil || string(got) != `"`+large+`"` {
		t.Errorf("%d bytes became %d, %v", len(large), len(got), err)
	}
}

func TestContextOfACall(t *testing.T) {
	const canary = "canary-0123456789"
	t.Setenv("CANARY_TOKEN", "canary-of-the-parent")
	r := newRun(t, runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	env := Bind[struct{}, value.Value]("env@1", flow.None, Module{Name: "env.mjs", Code: `
import { spawnSync } from "node:child_process";
export default (_, ctx) => [Object.keys(process.env), ctx.auth.TOKEN.length, String(ctx), JSON.stringify(ctx),
  spawnSync("sh", ["-c", "ls /proc/self/fd"]).stdout.toString(), typeof require("fs").readFileSync]`}, flow.Secrets("TOKEN"))
	got, err := flow.Call(r, node, env, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if text := got.String(); strings.Contains(text, "CANARY") || strings.Contains(text, canary) || got.Index(1).Int() != int64(len(canary)) || got.Index(5).String() != "function" {
		t.Errorf("got %s", text)
	}
	// 3 is the one that lists.
	if fds := strings.Fields(got.Index(4).String()); slices.Contains(fds, "4") || slices.Contains(fds, "5") {
		t.Errorf("a child sees the descriptors %v", fds)
	}
	leak := Bind[struct{}, value.Value]("leak@1", flow.None, Module{Name: "leak.mjs", Code: `
export default (_, ctx) => { console.log(ctx.auth.TOKEN); throw new Error("Bearer " + ctx.auth.TOKEN) }`}, flow.Secrets("TOKEN"))
	_, err = flow.Call(r, node, leak, struct{}{})
	if te := wantTool(t, err, value.Unknown, "Error: Bearer [redacted]"); strings.Contains(te.Details.String(), canary) {
		t.Errorf("the details hold the secret: %s", te.Details)
	}
}

// Every way a module can harm its worker gives a clear code, and the next call works.
func TestFaults(t *testing.T) {
	needNode(t)
	for _, tt := range []struct {
		code string
		want value.Code
		part string
	}{
		{`export default () => { for (;;); }`, value.Timeout, "tool.mjs did not finish in time and was stopped"},
		{`export default () => new Promise(() => {})`, value.Timeout, "did not finish"},
		{`export default (_, c) => new Promise((_, no) => { c.signal.onabort = () => no(new Error("stopped")) })`, value.Timeout, "did not finish"},
		{`export default () => process.exit(7)`, value.SandboxError, "tool.mjs: the Node worker exited with status 7"},
		{`export default () => process.kill(process.pid, "SIGSEGV")`, value.SandboxError, "tool.mjs: the Node worker was killed by SIGSEGV"},
		{`import fs from "node:fs"; export default () => { fs.writeSync(4, "garbage garbage"); return new Promise(() => {}) }`, value.SandboxError, "tool.mjs: the Node worker broke the protocol"},
		{`import fs from "node:fs"; export default () => { fs.closeSync(4); return 1 }`, value.SandboxError, "tool.mjs: the Node worker"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		if tt.want != value.Timeout {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		} else if _, err := do(t.Context(), flow.Writes, `export default () => 1`, `{}`); err != nil {
			t.Fatal(err)
		}
		_, err := do(ctx, flow.Writes, tt.code, `{}`)
		cancel()
		wantTool(t, err, tt.want, tt.part)
		if got, err := do(t.Context(), flow.Writes, `export default () => 5`, `{}`); got != "5" || err != nil {
			t.Errorf("after %s: %s, %v", tt.code, got, err)
		}
	}
}

func TestOutputDoesNotHarm(t *testing.T) {
	needNode(t)
	got, err := do(t.Context(), flow.Writes, `
import fs from "node:fs";
export default async () => {
  console.log("x".repeat(1e6)); console.error("y".repeat(1e6)); process.stdout.write("z".repeat(1e6));
  fs.writeSync(1, "w".repeat(1e6));
  return fs.readFileSync(0, "utf8");
}`, `{}`)
	if got != `""` || err != nil {
		t.Errorf("%.200s, %v", got, err)
	}
	worker.Shutdown()
	for range 2 { // what a module prints when it comes is not told of the call that it comes with
		_, err := do(t.Context(), flow.Writes, `console.log("here"); export default () => { console.log("I am"); throw new Error("x") }`, `{}`)
		if te := wantTool(t, err, value.Unknown, "Error: x"); detail(te, "output") != "I am\n" {
			t.Errorf("output: %q", detail(te, "output"))
		}
	}
	var wg sync.WaitGroup
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		wg.Go(func() { // what one call prints is not told of another
			_, err := do(t.Context(), flow.Writes, `export default async (a) => {
  console.log("I am", a.n); await new Promise((r) => setTimeout(r, 50)); throw new Error(a.n) }`, `{"n": `+n+`}`)
			if te := wantTool(t, err, value.Unknown, "Error: "+n); detail(te, "output") != "I am "+n+"\n" {
				t.Errorf("output of %s: %q", n, detail(te, "output"))
			}
		})
	}
	wg.Wait()
}

func TestConcurrent(t *testing.T) {
	r := newRun(t)
	nap := Bind[diffIn, diffOut]("nap@1", flow.None, Module{Name: "nap.mjs", Code: `
export default async (a) => { await new Promise((r) => setTimeout(r, 200)); return { lines: 0, n: a.n } }`})
	fast := Bind[diffIn, diffOut]("parse@1", flow.None, greet)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			bound, want := fast, int64(i+1)
			if i%10 == 0 {
				bound, want = nap, int64(i)
			}
			if got, err := flow.Call(r, node, bound, diffIn{"a", int64(i)}); err != nil || got.N != want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// What a tool attaches stands beside its result, without secrets; what it must not attach is its error.
func TestAttach(t *testing.T) {
	const canary = "canary-0123456789"
	rec := journal.NewRecorder()
	r := newRun(t, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	type in struct {
		N int64 `json:"n"`
	}
	const code = `export default (a, ctx) => {
  if (a.n === -1) ctx.attach({kind: "file", url: "https://x"});
  if (a.n === -2) ctx.attach({kind: "blob", url: "x".repeat(5000)});
  for (let i = 0; i < a.n; i++) {
    ctx.attach(i === 0 ? {kind: "image", url: "https://x/0?k=" + ctx.auth.TOKEN, content_type: "image/png", bytes: 7} : {kind: "table", url: "https://x/" + i});
  }
  return a.n;
}`
	bound := func(name string) *flow.Tool[in, int64] {
		return Bind[in, int64]("t@1", flow.None, Module{Name: name, Code: code}, flow.Secrets("TOKEN"))
	}
	got, err := flow.Call(r, node, bound("a.mjs"), in{N: 2})
	want := []tool.Attachment{
		{Kind: "image", URL: "https://x/0?k=[redacted]", ContentType: "image/png", Bytes: 7},
		{Kind: "table", URL: "https://x/1"},
	}
	if diff := cmp.Diff(want, rec.Envelopes()[0].Attachments); diff != "" || err != nil || got != 2 {
		t.Errorf("%v, %v (-want +got):\n%s", got, err, diff)
	}
	for n, message := range map[int64]string{-1: "an attachment is a blob, an image or a table", -2: "1 to 4096 bytes", 101: "at most 100 attachments", 0: ""} {
		rec := journal.NewRecorder()
		_, err := flow.Call(newRun(t, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return canary, true })), node, bound("a.mjs"), in{N: n})
		if (message == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), message) || len(rec.Envelopes()[0].Attachments) > 0 {
			t.Errorf("%d: %v, %+v", n, err, rec.Envelopes()[0].Attachments)
		}
	}
}
