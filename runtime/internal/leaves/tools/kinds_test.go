package tools_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/exectool"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/jstool"
	"github.com/flowgen-dev/flowgen/runtime/jstool/embedded"
	"github.com/flowgen-dev/flowgen/runtime/pytool"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/startool"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

const canary = "canary-0123456789"

// document is what all the tools give back: larger than allowed, and with a secret near the place where it is cut.
var document = `{"list":["` + strings.Repeat("ü", 470) + canary + strings.Repeat("x", 5000) + `"]}`

type nothing = struct{}

// kind is a way to make tools of text and of any value.
type kind struct {
	text  *flow.Tool[nothing, string]
	value *flow.Tool[nothing, value.Value]
	typed *flow.Tool[nothing, []string]
}

func kinds(t *testing.T) map[string]kind {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"document.json": document,
		"large.py":      "import json\ndef text(): return open(" + `"` + dir + `/document.json"` + ", encoding='utf-8').read()\ndef value(): return json.loads(text())\ndef typed(): return value()['list']\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(document))
	}))
	t.Cleanup(s.Close)
	t.Cleanup(worker.Shutdown)
	const most = 1000
	command := func(nothing) exectool.Command {
		return exectool.Command{Args: []string{"cat", dir + "/document.json"}, MaxOutput: most}
	}
	request := func(nothing) httptool.Request { return httptool.Request{Method: "GET", URL: httptool.URL(s.URL)} }
	local, limit := httptool.Allow("loopback"), httptool.MaxOutput(most)
	secret, bound := flow.Secrets("KEY"), flow.MaxOutput(most)
	star := "d = " + document + "\ndef text(): return json.encode(d)\ndef value(): return d\ndef typed(): return d['list']\n"
	star = strings.Replace(star, "json.encode(d)", "'"+document+"'", 1)
	out := map[string]kind{
		"command": {exectool.Text("t.c@1", flow.Reads, command, secret), exectool.JSON[nothing, value.Value]("t.c@1", flow.Reads, command, secret),
			exectool.Lines("t.c@1", flow.Reads, command, secret)},
		"http": {httptool.Text("t.h@1", flow.Reads, request, local, limit, httptool.Bearer("KEY")),
			httptool.JSON[nothing, value.Value]("t.h@1", flow.Reads, request, local, limit, httptool.Bearer("KEY")),
			httptool.JSON[nothing, []string]("t.h@1", flow.Reads, request, local, limit, httptool.Bearer("KEY"))},
		"starlark": {startool.Bind[nothing, string]("t.s@1", flow.None, "s.star", star, "text", secret, bound),
			startool.Bind[nothing, value.Value]("t.s@1", flow.None, "s.star", star, "value", secret, bound),
			startool.Bind[nothing, []string]("t.s@1", flow.None, "s.star", star, "typed", secret, bound)},
	}
	script := func(result string) (jstool.Module, embedded.Module) {
		code := "const d = " + document + "\nexport default () => " + result
		return jstool.Module{Name: "m.mjs", Code: code, MaxOutput: most}, embedded.Module{Name: "m.mjs", Code: code, MaxOutput: most}
	}
	text, textIn := script("JSON.stringify(d)")
	v, valueIn := script("d")
	list, listIn := script("d.list")
	out["embedded"] = kind{embedded.Bind[nothing, string]("t.e@1", flow.None, textIn, secret),
		embedded.Bind[nothing, value.Value]("t.e@1", flow.None, valueIn, secret), embedded.Bind[nothing, []string]("t.e@1", flow.None, listIn, secret)}
	if present(t, "node") {
		out["node"] = kind{jstool.Bind[nothing, string]("t.n@1", flow.None, text, secret),
			jstool.Bind[nothing, value.Value]("t.n@1", flow.None, v, secret), jstool.Bind[nothing, []string]("t.n@1", flow.None, list, secret)}
	}
	if present(t, "python3") {
		of := func(name string) pytool.Func {
			return pytool.Func{Source: &pytool.Source{Path: []string{dir}}, Module: "large", Name: name, MaxOutput: most}
		}
		out["python"] = kind{pytool.Bind[nothing, string]("t.p@1", flow.Reads, of("text"), secret),
			pytool.Bind[nothing, value.Value]("t.p@1", flow.Reads, of("value"), secret), pytool.Bind[nothing, []string]("t.p@1", flow.Reads, of("typed"), secret)}
	}
	return out
}

func present(t *testing.T, interpreter string) bool {
	_, err := exec.LookPath(interpreter)
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	return err == nil
}

// The truncation contract (Agent Tools 5.4) is the same for tools of every kind.
func TestEveryKindOfTool(t *testing.T) {
	clean := strings.ReplaceAll(document, canary, redact.Redacted)
	for name, k := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			s, err := blob.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			var warned []string
			watch := runtime.ObserverFunc(func(e runtime.Event) {
				if e.Kind == runtime.Warning {
					warned = append(warned, e.Message)
				}
			})
			start := func(o ...runtime.Option) (*flow.Run, *journal.Recorder) {
				rec := journal.NewRecorder()
				rt, err := flow.New(&flow.Info{Name: "w"}, append(o, runtime.WithEngine(rec), runtime.WithObserver(watch),
					runtime.WithSecrets(func(string) (string, bool) { return canary, true }))...)
				if err != nil {
					t.Fatal(err)
				}
				return rt.Start(t.Context()), rec
			}
			check := func(rec *journal.Recorder, err error) tool.Attachment {
				t.Helper()
				e := rec.Envelopes()[0]
				if err != nil || !e.Truncated || len(e.Attachments) != 1 || len(e.Output) > 1000 || strings.Contains(string(e.Output), canary[:8]) {
					t.Fatalf("%v; truncated %v, attached %+v, output %s", err, e.Truncated, e.Attachments, e.Output)
				}
				kept, openErr := s.Read("", e.Attachments[0].URL)
				if openErr != nil {
					t.Fatal(openErr)
				}
				got, readErr := io.ReadAll(kept)
				if err := errors.Join(readErr, kept.Close()); err != nil || string(got) != clean && name != "http" {
					t.Errorf("kept: %.1200s, %v", got, err)
				}
				if n := len(warned); n == 0 || !strings.HasSuffix(warned[n-1], e.Attachments[0].URL) {
					t.Errorf("warnings: %q", warned)
				}
				return e.Attachments[0]
			}
			r, rec := start(runtime.WithBlobs(s))
			text, err := flow.Call(r, node, k.text, nothing{})
			check(rec, err)
			if len(text) < 300 || !strings.HasPrefix(clean, text) {
				t.Errorf("text: %s", text)
			}
			r, rec = start(runtime.WithBlobs(s))
			v, err := flow.Call(r, node, k.value, nothing{})
			a := check(rec, err)
			preview, _ := v.Get("preview")
			at, _ := v.Get("url")
			if len(preview.String()) < 100 || !strings.HasPrefix(clean, preview.String()) || at.String() != a.URL {
				t.Errorf("value: %v", v)
			}
			r, rec = start(runtime.WithBlobs(s))
			_, err = flow.Call(r, node, k.typed, nothing{})
			denied(t, rec, err, 1)
			r, rec = start()
			_, err = flow.Call(r, node, k.typed, nothing{})
			denied(t, rec, err, 0)

			// Without a store the rest is lost.
			r, rec = start()
			short, err := flow.Call(r, node, k.text, nothing{})
			if e := rec.Envelopes()[0]; err != nil || short != text || !e.Truncated || len(e.Attachments) != 0 {
				t.Errorf("without a store: %v, %+v, %s", err, e, short)
			}
			r, rec = start()
			v, err = flow.Call(r, node, k.value, nothing{})
			_, url := v.Get("url")
			if e := rec.Envelopes()[0]; err != nil || url || !e.Truncated || len(e.Attachments) != 0 {
				t.Errorf("without a store: %v, %+v, %v", err, e, v)
			}

			// Without anything that records the call, too.
			rt, err := flow.New(&flow.Info{Name: "w"}, runtime.WithBlobs(s), runtime.WithSecrets(func(string) (string, bool) { return canary, true }))
			if err != nil {
				t.Fatal(err)
			}
			again, err := flow.Call(rt.Start(context.Background()), node, k.text, nothing{})
			if err != nil || again != text {
				t.Errorf("unrecorded: %v, %s", err, again)
			}
		})
	}
}

// denied checks the refusal of a typed output, of which so many attachments are kept.
func denied(t *testing.T, rec *journal.Recorder, err error, kept int) {
	t.Helper()
	e := rec.Envelopes()[0]
	if err == nil || e.Error.Code != value.PolicyDenied || e.Truncated || len(e.Attachments) != kept || !strings.Contains(e.Error.Message, "raise max_output") {
		t.Errorf("%v, %+v", err, e)
	}
}
