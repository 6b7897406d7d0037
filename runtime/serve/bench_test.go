package serve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// BenchmarkRun is the same run in process without a journal and with one, by a request to the handler, and by one over loopback: `go test ./serve -run - -bench
// Run -benchmem`, with TMPDIR on a file system in memory, as nothing is forced to a disk here.
func BenchmarkRun(b *testing.B) {
	const body = `{"to": "ada", "euros": 3, "note": "none"}`
	process := func(b *testing.B, o ...runtime.Option) {
		w, err := (&bank{}).new(o...)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Run(context.Background(), payInput{To: "ada", Euros: 3, Note: "none"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("process", func(b *testing.B) { process(b) })
	b.Run("recorded", func(b *testing.B) {
		process(b, runtime.WithEngines(runs.Open(b.TempDir(), runs.Options{Sync: runs.Off}).Record))
	})
	served := func(b *testing.B) *serve.Server {
		s, err := serve.Handler(serve.Options{Runs: runs.Open(b.TempDir(), runs.Options{Sync: runs.Off})}, serve.Of(payInfo, (&bank{}).new))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Shutdown(context.Background()) }) // nothing runs
		return s
	}
	request := func(url string) *http.Request {
		r := httptest.NewRequest("POST", url+start10, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Prefer", "wait=30")
		return r
	}
	b.Run("request", func(b *testing.B) { // what the next one has beside the handler
		b.ReportAllocs()
		for b.Loop() {
			_ = request("").Body.Close()
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.WriteString(body)
		}
	})
	b.Run("handler", func(b *testing.B) {
		s := served(b)
		b.ReportAllocs()
		for b.Loop() {
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, request("")); w.Code != http.StatusCreated {
				b.Fatal(w.Code, w.Body)
			}
		}
	})
	b.Run("loopback", func(b *testing.B) {
		h := httptest.NewServer(served(b))
		defer h.Close()
		b.ReportAllocs()
		for b.Loop() {
			r := request(h.URL)
			r.RequestURI = ""
			a, err := h.Client().Do(r)
			if err != nil || a.StatusCode != http.StatusCreated {
				b.Fatal(err)
			}
			_ = a.Body.Close()
		}
	})
}
