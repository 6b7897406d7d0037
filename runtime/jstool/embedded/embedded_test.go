package embedded

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newRun(t testing.TB, o ...runtime.Option) *flow.Run {
	t.Helper()
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

var greet = Module{Name: "greet.ts", Code: `
export default async function greet(a) { return { lines: a.raw.split("\n").length - 1, n: await Promise.resolve(a.n + 1) } }`}

func do(ctx context.Context, code, arg string) (string, error) {
	s := &loaded{Module: Module{Name: "tool.mjs", Code: code}}
	b, err := s.call(ctx, []byte(arg), worker.DefaultMaxOutput)
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

func TestBind(t *testing.T) {
	r := newRun(t)
	bound := Bind[diffIn, diffOut]("parse@1", flow.None, greet)
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			got, err := flow.Call(r, node, bound, diffIn{"a\nb\n", int64(i)})
			if err != nil || got != (diffOut{2, int64(i) + 1}) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	wg.Wait()
	_, err := flow.Call(r, node, Bind[diffIn, string]("parse@1", flow.None, greet), diffIn{})
	wantTool(t, err, value.ValidationError, "result of greet.ts: a string expected, an object given")
}

func TestErrorsAndResults(t *testing.T) {
	for _, tt := range []struct{ code, want string }{
		{`export default () => { throw new RangeError("no") }`, "UNKNOWN: RangeError: no"},
		{`class Odd extends Error {}; export default () => Promise.reject(new Odd("later"))`, "UNKNOWN: Odd: later"},
		{`export default () => { throw Object.assign(new Error("slow"), {code: "RATE_LIMIT"}) }`, "RATE_LIMIT: slow"},
		{`export default () => null.x`, "UNKNOWN: TypeError: Cannot read property 'x' of undefined"},
		{`export default 5`, "SANDBOX_ERROR: Module 'tool.mjs' has no default export that is a function"},
		{`export const x = 5`, "SANDBOX_ERROR: Module 'tool.mjs' has no default export that is a function"},
		{`export default (`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': SyntaxError: "},
		{`import fs from "node:fs"; export default () => 1`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': there is nothing to import"},
		{`throw new TypeError("at load"); export default () => 1`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': TypeError: at load"},
		{`await new Promise(() => {}); export default () => 1`, "SANDBOX_ERROR: Cannot import module 'tool.mjs': it waits for something that never comes"},
		{`export default () => new Promise(() => {})`, "UNKNOWN: tool.mjs waits for something that never comes"},
		{`const f = (n) => f(n + 1) + 1; export default () => f(0)`, "UNKNOWN: "},
		{`export default () => require("fs")`, "UNKNOWN: ReferenceError: require is not defined"},
		{`export default () => [typeof process, typeof fetch, typeof setTimeout]`, `["undefined","undefined","undefined"]`},
		{`export default () => undefined`, "null"},
		{`export default (a) => ({...a, b: [1.5, "é"]})`, `{"n":1,"b":[1.5,"é"]}`},
		{`export default () => NaN`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: NaN has no JSON"},
		{`export default () => new Map()`, "VALIDATION_ERROR: the result of tool.mjs has no JSON: a Map has no JSON"},
		{`export default () => "é".repeat(1.5 * 1024 * 1024)`, "POLICY_DENIED: the result of tool.mjs has 3145730 bytes, at most 2097152 are allowed: raise max_output"},
	} {
		got, err := do(t.Context(), tt.code, `{"n":1}`)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s\n got %s\nwant %s", tt.code, got, tt.want)
		}
	}
	_, err := do(t.Context(), "function inner() { console.log('hello', {a: 1}); throw new Error('x') }\nexport default function outer() { inner() }", `{}`)
	te := wantTool(t, err, value.Unknown, "Error: x")
	stack, _ := te.Details.Get("stack")
	if out, _ := te.Details.Get("output"); out.String() != "hello {\"a\":1}\n" || !strings.Contains(stack.String(), "at inner (tool.mjs:1:") || strings.Contains(stack.String(), "flowgen:") {
		t.Errorf("details: %s", te.Details)
	}
	_, err = do(t.Context(), `export default (a) => a.v`, `{"v":9007199254740993}`)
	wantTool(t, err, value.ValidationError, "JavaScript has no exact form of the integer 9007199254740993")
}

func TestSecrets(t *testing.T) {
	const canary = "canary-0123456789"
	r := newRun(t, runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
	leak := Bind[struct{}, value.Value]("leak@1", flow.None, Module{Name: "leak.mjs", Code: `
export default (_, ctx) => { console.log(ctx.auth.TOKEN); throw new Error("Bearer " + ctx.auth.TOKEN) }`}, flow.Secrets("TOKEN"))
	_, err := flow.Call(r, node, leak, struct{}{})
	if te := wantTool(t, err, value.Unknown, "Error: Bearer [redacted]"); strings.Contains(te.Details.String(), canary) {
		t.Errorf("the details hold the secret: %s", te.Details)
	}
}

func TestDeadline(t *testing.T) {
	for _, code := range []string{
		`export default () => { for (;;); }`,
		`export default async () => { for (;;) await null }`,
		`for (;;); export default () => 1`,
	} {
		s := &loaded{Module: Module{Name: "tool.mjs", Code: code}}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begin := time.Now()
		_, err := s.call(ctx, []byte(`{}`), worker.DefaultMaxOutput)
		cancel()
		wantTool(t, err, value.Timeout, "tool.mjs did not finish in time and was stopped")
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s: took %v", code, took)
		}
		if len(s.idle) > 0 {
			t.Error("an interpreter that was interrupted is used again")
		}
	}
	// A built-in function goes on for a while, but the call does not wait for it.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := do(ctx, `export default () => "x".repeat(1 << 23).split("").length`, `{}`)
	wantTool(t, err, value.Timeout, "did not finish in time")
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if _, err := do(ctx, `export default () => 1`, `{}`); err == nil {
		t.Error("a call after the deadline")
	}
	for range 600 { // it does end
		if goleak.Find() == nil {
			return
		}
	}
	t.Error("the function still runs")
}

func BenchmarkCall(b *testing.B) {
	t := Bind[diffIn, diffOut]("parse@1", flow.None, greet)
	r := newRun(b)
	text := strings.Repeat("+ line of diff text\n", 5)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := flow.Call(r, node, t, diffIn{text, 1}); err != nil {
			b.Fatal(err)
		}
	}
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
