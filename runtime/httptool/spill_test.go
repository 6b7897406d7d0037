package httptool

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A body that is larger than the cap is kept whole where there is a store, without the secret that the server echoes.
func TestLargeTextIsKept(t *testing.T) {
	body := strings.Repeat("grüße ", 2000) + token + strings.Repeat("x", 300_000)
	clean := strings.ReplaceAll(body, token, redact.Redacted)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		var out io.Writer = w
		switch r.URL.Path {
		case "/gzip", "/bomb", "/broken":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		switch r.URL.Path {
		case "/bomb", "/huge":
			chunk := make([]byte, 1<<20)
			for range runtime.MaxBlob>>20 + 1 {
				if _, err := out.Write(chunk); err != nil {
					return
				}
			}
		case "/cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
			fallthrough
		default:
			_, _ = io.WriteString(out, body)
		}
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
	})
	store, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	run := func(path string, o ...runtime.Option) (string, engine.Envelope, error) {
		rec := journal.NewRecorder()
		rt, err := flow.New(&flow.Info{Name: "w"}, append(o, runtime.WithEngine(rec), runtime.WithSecrets(func(string) (string, bool) { return token, true }))...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := flow.Call(rt.Start(t.Context()), node, get(s, MaxOutput(1001), Bearer("TOKEN")), path)
		return out, rec.Envelopes()[0], err
	}
	for _, path := range []string{"/plain", "/gzip"} {
		out, e, err := run(path, runtime.WithBlobs(store))
		if err != nil || !strings.HasPrefix(body, out) || len(out) < 990 || len(out) > 1001 {
			t.Fatalf("%s: %d bytes, %v", path, len(out), err)
		}
		if !e.Truncated || len(e.Attachments) != 1 || e.Attachments[0].ContentType != "text/markdown" || e.Attachments[0].Bytes != int64(len(clean)) {
			t.Fatalf("%s: envelope %+v", path, e)
		}
		r, err := store.Read("", e.Attachments[0].URL)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(kept) != clean {
			t.Errorf("%s: %d bytes are kept, want %d", path, len(kept), len(clean))
		}
		if short, e, err := run(path); err != nil || short != out || !e.Truncated || len(e.Attachments) != 0 {
			t.Errorf("%s without a store: %d bytes, %v, %+v", path, len(short), err, e)
		}
	}
	for path, code := range map[string]value.Code{"/huge": value.PolicyDenied, "/bomb": value.PolicyDenied, "/cut": value.NetworkError, "/broken": value.NetworkError} {
		_, e, err := run(path, runtime.WithBlobs(store))
		if err == nil || e.Error.Code != code || e.Truncated || len(e.Attachments) != 0 {
			t.Errorf("%s: %v, %+v", path, err, e.Attachments)
		}
	}
}
