package core_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// encodings are how a secret is searched for: not made by the code under test.
var encodings = map[string]func(string) string{
	"raw":           func(s string) string { return s },
	"query":         url.QueryEscape,
	"path":          url.PathEscape,
	"base64":        func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 raw":    func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64url":     func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64url raw": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"hex":           func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":           func(s string) string { return fmt.Sprintf("%X", s) },
	"json":          func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
	"json plain": func(s string) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(s)
		return strings.TrimSuffix(b.String(), "\n")[1 : b.Len()-2]
	},
	"json in json": func(s string) string {
		b, _ := json.Marshal(s)
		b, _ = json.Marshal(string(b[1 : len(b)-1]))
		return string(b[1 : len(b)-1])
	},
	"go":   func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
	"html": html.EscapeString,
}

// inBase64 is the part of base64 that a secret alone determines in the middle of a larger text.
func middle(prefix int, s string) string {
	all := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("p", prefix) + s + "suffix"))
	from, to := (prefix*8+5)/6, (prefix+len(s))*8/6
	return all[from:to]
}

func canaries(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := []string{"sk-live-%s", "%s+/=", "ü%s\"<&>\\", "user:%s", "%s\nline", "https://u:%s@host/db?x=1&y=2", "{\"k\":\"%s\"}", "%s %s"}
	out := make([]string, n)
	for i := range out {
		part := strconv.FormatUint(r.Uint64(), 36)
		shape := shapes[i%len(shapes)]
		out[i] = strings.ReplaceAll(shape, "%s", part)
	}
	return out
}

func TestRedactorFindsEveryForm(t *testing.T) {
	secrets := canaries(40)
	r := redact.New(secrets...)
	n := 0
	for _, s := range secrets {
		for name, enc := range encodings {
			form := enc(s)
			for _, text := range []string{form, "before " + form + " after", strings.Repeat("x", 1000) + form, form + form} {
				if got := r.Text(text); strings.Contains(got, form) || !strings.Contains(got, redact.Redacted) {
					t.Fatalf("%s of %q stays in %q", name, s, got)
				}
				n++
			}
		}
		for offset := range 3 {
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("p", offset) + s + "suffix"))
			if got := r.Text(text); strings.Contains(got, middle(offset, s)) {
				t.Fatalf("the base64 of %q stays at offset %d", s, offset)
			}
			n++
		}
	}
	t.Logf("%d secrets in %d texts", len(secrets), n)
}

func TestRedactorLeavesTheRest(t *testing.T) {
	r := redact.New("hunter2hunter2", "hunter2hunter", "abcdef", "defghi", "", "abc")
	for in, want := range map[string]string{
		"":                                "",
		"nothing":                         "nothing",
		"abc and hunter2":                 "abc and hunter2", // too short, and not the whole
		"xhunter2hunter2y":                "x[redacted]y",
		"hunter2hunterhunter2hunter2":     "[redacted][redacted]",
		"abcdefghi":                       "[redacted]", // overlapping
		"abcdefdefghi.":                   "[redacted][redacted].",
		"abcdeabcdef":                     "abcde[redacted]",
		"ünïcode abcdef ünïcode \xff":     "ünïcode [redacted] ünïcode \xff",
		strings.Repeat("abcdef", 3):       strings.Repeat("[redacted]", 3),
		"abcdef" + strings.Repeat(".", 9): "[redacted].........",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	var none *redact.Redactor
	if none.Text("abc") != "abc" || none.Found("abc") || none.Error(errors.New("x")).Error() != "x" {
		t.Error("a nil redactor changes something")
	}
}

func TestRedactorCut(t *testing.T) {
	r := redact.New("s3cr3t-t0ken-value")
	for in, want := range map[string]string{
		"stderr: token s3cr3t-t0k":    "stderr: token [redacted]",
		"stderr: token s3cr3t-t0k…":   "stderr: token [redacted]…",
		"0ken-value was refused":      "[redacted] was refused",
		"0ken-value, then s3cr3t-t0k": "[redacted], then [redacted]",
		"s3cr3t-t0k":                  "[redacted]",
		"s3cr and value":              "s3cr and value",
		"s3cr3t-t0ken-value":          "[redacted]",
		`wrong string: xs3cr3t-t0...`: `wrong string: x[redacted]...`, // of libraries that quote the beginning of what they read
		"xs3cr3t-t0... at byte 3":     "x[redacted]... at byte 3",
		"s3cr3t-t0…: s3cr3t-t0":       "[redacted]…: [redacted]",
		"at ...0ken-value":            "at ...[redacted]",
		"a...b…s3cr3t-t...c…d":        "a...b…[redacted]...c…d",
		"s3cr...":                     "s3cr...",
		"......":                      "......",
	} {
		if got := r.Cut(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// A writer gives the same as Text, however the text is cut into pieces.
func TestRedactingWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := []string{"aaaab", "abaab", "secret-one", "secret-two"}
		r := redact.New(secrets...)
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "aaaab", "abaab", "secret-", "one", "two", "secret-one", " ", "xyz"})).Draw(t, "text"), "")
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), r.Text(text); got != want {
			t.Fatalf("%q in pieces is %q, want %q", text, got, want)
		}
		for _, s := range secrets {
			if strings.Contains(b.String(), s) {
				t.Fatalf("%q holds %q", b.String(), s)
			}
		}
	})
}

func TestRedactingWriterIsBounded(t *testing.T) {
	const most = 1 << 20
	w := redact.New("aaaaaaaa").Writer(new(bytes.Buffer))
	if _, err := w.Write(bytes.Repeat([]byte("a"), most)); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write(bytes.Repeat([]byte("a"), most/8))
	wantCode(t, err, value.PolicyDenied)
}

type leaky struct {
	Text  string               `json:"text"`
	Bytes []byte               `json:"bytes"`
	List  []string             `json:"list"`
	Map   map[string]leakyItem `json:"map"`
	Opt   *string              `json:"opt"`
	Any   value.Value          `json:"any"`
	Time  time.Time            `json:"time"`
}

type leakyItem struct {
	S string `json:"s"`
}

// P30: a tool gives its secret away in every way there is: output, error, details, panic, attachment, retry, input of
// another tool. Nothing of it is in anything that is written about the run.
func TestSecretsNeverLeave(t *testing.T) {
	secrets := canaries(40)
	named := map[string]string{}
	var names []string
	for i, s := range secrets {
		name := "KEY" + strconv.Itoa(i)
		names = append(names, name)
		named[name] = s
	}
	lookup := runtime.WithSecrets(func(name string) (string, bool) { v, ok := named[name]; return v, ok })
	var written bytes.Buffer
	var events atomic.Int64
	observe := runtime.WithObserver(runtime.ObserverFunc(func(e runtime.Event) {
		b, err := e.MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		events.Add(1)
		written.Write(b)
		fmt.Fprintf(&written, "%v %+v %#v\n", e.Err, e.Err, e.Err)
	}))
	slots := 0
	for i, name := range names {
		s := secrets[i]
		for enc, f := range encodings {
			form := f(s)
			sec := flow.Secrets(name)
			result := func(ctx context.Context) leaky {
				tool.Attach(ctx, tool.Attachment{Kind: "blob", URL: "https://x/" + form, ContentType: "text/" + clipped(form, 100)})
				return leaky{Text: "x" + form + "y", Bytes: []byte(form), List: []string{"a", form}, Map: map[string]leakyItem{form: {form}}, Opt: &form,
					Any: value.List(value.String(form), value.Map(value.Entry{Key: form, Value: value.String(form)}))}
			}
			outputs := []*flow.Tool[pair, leaky]{
				flow.Bind("t.out@1", flow.Reads, func(ctx context.Context, _ pair) (leaky, error) { return result(ctx), nil }, sec, flow.CacheForever()),
				flow.Bind("t.err@1", flow.Reads, func(ctx context.Context, _ pair) (leaky, error) { return result(ctx), errors.New("no " + form) }, sec),
				flow.Bind("t.details@1", flow.Reads, func(ctx context.Context, _ pair) (leaky, error) {
					te := value.Errorf(value.Timeout, "cut %s", clipped(form, len(form)-1))
					te.Details = value.Map(value.Entry{Key: form, Value: value.List(value.String(form))})
					return leaky{}, te
				}, sec),
				flow.Bind("t.panic@1", flow.Reads, func(context.Context, pair) (leaky, error) { panic(form) }, sec),
				flow.Bind("t.panicerr@1", flow.Reads, func(context.Context, pair) (leaky, error) { panic(fmt.Errorf("%s", form)) }, sec),
				flow.Bind("t.late@1", flow.Reads, func(context.Context, pair) (leaky, error) { panic(strings.Repeat("x", 1000-len(form)/2) + form) }, sec),
				flow.Bind("t.run@1", flow.Reads, func(context.Context, pair) (leaky, error) {
					return leaky{}, &runtime.RunError{Kind: runtime.Cancelled, By: runtime.ByScope, Message: form, Err: errors.New(form)}
				}, sec),
				// A tool without secrets that another one has told them.
				flow.Bind("t.other@1", flow.Reads, func(ctx context.Context, _ pair) (leaky, error) { return result(ctx), nil }),
			}
			rec := journal.NewRecorder()
			info := &flow.Info{Name: "w", Secrets: []string{name}}
			rt, err := flow.New(info, lookup, observe, runtime.WithEngine(rec))
			if err != nil {
				t.Fatal(err)
			}
			run := func() (err error) {
				r := rt.Start(t.Context())
				defer r.End(&err)
				for _, bound := range outputs {
					n := node("n")
					n.Retry = &flow.Retry{Attempts: 2, Codes: []value.Code{value.Timeout}, Base: time.Nanosecond}
					out, e := flow.Call(r, n, bound, pair{Text: "input " + form})
					b, jerr := json.Marshal(out)
					if jerr != nil {
						t.Error(jerr)
					}
					if e == nil {
						written.Write(b) // what becomes of the data, result and stdout included
						fmt.Fprintf(&written, "%s", out.Bytes)
					} else {
						fmt.Fprintf(&written, "%v %+v", e, e)
						err = e
					}
					slots++
				}
				return r.Fail(node("go"), errors.Join(err, fmt.Errorf("wrapped: %w", errors.New(form))))
			}
			fmt.Fprintf(&written, "%v", run())
			text, err := rec.Journal().MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			env, err := json.Marshal(rec.Envelopes())
			if err != nil {
				t.Fatal(err)
			}
			written.Write(text)
			written.Write(env)
			all := written.Bytes()
			for other, g := range encodings {
				if at := bytes.Index(all, []byte(g(s))); at >= 0 {
					t.Fatalf("%s of %q is written when %s is leaked: ...%s...", other, s, enc, all[max(0, at-200):min(len(all), at+100)])
				}
			}
			if !bytes.Contains(all, []byte(redact.Redacted)) {
				t.Fatal("nothing was redacted")
			}
			written.Reset()
		}
	}
	t.Logf("%d secrets in %d encodings, %d calls, %d events: nothing found", len(secrets), len(encodings), slots, events.Load())
}

func clipped(s string, n int) string { return s[:max(0, min(n, len(s)))] }

// What a tool keeps for itself is not changed.
func TestCleansingDoesNotTouchTheTool(t *testing.T) {
	kept := leaky{Text: "my secret value", List: []string{"my secret value"}, Map: map[string]leakyItem{"k": {"my secret value"}}}
	bound := flow.Bind("t.keep@1", flow.Reads, func(context.Context, pair) (leaky, error) { return kept, nil }, flow.Secrets("KEY"))
	r := start(t, t.Context(), runtime.WithSecrets(func(string) (string, bool) { return "secret", true }))
	out, err := flow.Call(r, node("a"), bound, pair{})
	if err != nil || out.Text != "my [redacted] value" || out.List[0] != out.Text || out.Map["k"].S != out.Text {
		t.Errorf("%+v, %v", out, err)
	}
	if kept.List[0] != "my secret value" || kept.Map["k"].S != "my secret value" {
		t.Errorf("the tool's own value is %+v", kept)
	}
}

func TestSecretThatCannotBeTakenOut(t *testing.T) {
	numeric := runtime.WithSecrets(func(string) (string, bool) { return "123456", true })
	sec := flow.Secrets("PIN")
	_, err := flow.Call(start(t, t.Context(), numeric), node("a"),
		flow.Bind("t.pin@1", flow.Reads, func(context.Context, pair) (pair, error) { return pair{Count: 123456}, nil }, sec), pair{})
	wantCode(t, err, value.PolicyDenied)
	if strings.Contains(err.Error(), "123456") {
		t.Error(err)
	}
	// A secret that fills an enum leaves nothing that fits the schema.
	type level struct {
		L string `json:"l" flow:"enum=high|low"`
	}
	_, err = flow.Call(start(t, t.Context(), runtime.WithSecrets(func(string) (string, bool) { return "high", true })), node("a"),
		flow.Bind("t.level@1", flow.Reads, func(context.Context, pair) (level, error) { return level{"high"}, nil }, sec), pair{})
	wantCode(t, err, value.ValidationError)
	if strings.Contains(strings.TrimSuffix(err.Error(), "high, low"), "\"high\"") {
		t.Error(err)
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	short := runtime.WithSecrets(func(string) (string, bool) { return "abc", true })
	if _, err := flow.New(&flow.Info{Name: "w", Secrets: []string{"KEY"}}, short); err == nil || !strings.Contains(err.Error(), "KEY") || strings.Contains(err.Error(), "abc") {
		t.Errorf("error %v", err)
	}
	_, err := flow.Call(start(t, t.Context(), short), node("a"), flow.Bind("t.a@1", flow.Reads, step, flow.Secrets("KEY")), pair{})
	wantCode(t, err, value.AuthRequired)
}

// A secret in the input of a run is not in its journal, and the run can be replayed all the same, with and without it.
func TestReplayOfWhatWasRedacted(t *testing.T) {
	with := runtime.WithSecrets(func(string) (string, bool) { return "hunter2hunter2", true })
	without := runtime.WithSecrets(func(string) (string, bool) { return "", false })
	info := &flow.Info{Name: "w", Secrets: []string{"KEY"}}
	call := func(in string, o ...runtime.Option) error {
		rt, err := flow.New(info, o...)
		if err != nil {
			return err
		}
		_, err = flow.Call(rt.Start(t.Context()), node("a"), stepTool, pair{Text: in})
		return err
	}
	rec := journal.NewRecorder()
	if err := call("login hunter2hunter2 now", with, runtime.WithEngine(rec)); err != nil {
		t.Fatal(err)
	}
	text, _ := rec.Journal().MarshalText()
	if bytes.Contains(text, []byte("hunter2")) {
		t.Fatalf("journal %s", text)
	}
	for _, o := range []runtime.Option{with, without} {
		if err := call("login hunter2hunter2 now", o, runtime.WithEngine(journal.Replay(rec.Journal()))); err != nil {
			t.Error(err)
		}
		if err := call("logout hunter2hunter2 now", o, runtime.WithEngine(journal.Replay(rec.Journal()))); err == nil {
			t.Error("another input is answered")
		}
	}
}

// Secrets that change are learnt as they come.
func TestRotatingSecrets(t *testing.T) {
	var n atomic.Int64
	r := start(t, t.Context(), runtime.WithSecrets(func(string) (string, bool) { return "token-" + strconv.FormatInt(n.Add(1), 10) + "-end", true }))
	bound := flow.Bind("t.a@1", flow.Reads, func(ctx context.Context, _ pair) (string, error) {
		v, _ := tool.Secret(ctx, "KEY")
		return "the first was token-1-end, now it is " + v, nil
	}, flow.Secrets("KEY"))
	for range 50 {
		out, err := flow.Call(r, node("a"), bound, pair{})
		if err != nil || out != "the first was [redacted], now it is [redacted]" {
			t.Fatal(out, err)
		}
	}
}

func BenchmarkRedactor(b *testing.B) {
	r := redact.New(canaries(200)...)
	var text strings.Builder
	rnd := rand.New(rand.NewPCG(3, 4))
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, `{"id":%d,"name":"item %x","url":"https://example.com/%d?q=sk-live-","note":"lorem ipsum dolor sit amet"},`, rnd.Int(), rnd.Uint64(), rnd.Int())
	}
	s := text.String()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if r.Found(s) {
			b.Fatal("found")
		}
	}
}

// Errors that no tool returned pass Fail or End, and each of them is enough.
func TestFailAndEndTakeSecretsOut(t *testing.T) {
	rt, err := flow.New(&flow.Info{Name: "w", Secrets: []string{"KEY"}}, runtime.WithSecrets(func(string) (string, bool) { return "hunter2hunter2", true }))
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Start(t.Context())
	if err := r.Fail(node("a"), errors.New("no hunter2hunter2")); strings.Contains(err.Error(), "hunter2") {
		t.Error("Fail:", err)
	}
	err = &runtime.NodeError{Node: node("a"), Err: value.Invalid("no hunter2hunter2")}
	if r.End(&err); strings.Contains(err.Error(), "hunter2") {
		t.Error("End:", err)
	}
}
