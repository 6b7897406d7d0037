package serve_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/internal/eventually"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// Who makes too many requests is told when to come again; others are not.
func TestRate(t *testing.T) {
	auth := func(r *http.Request) (serve.Principal, error) {
		return serve.Principal{Name: r.Header.Get("Who")}, nil
	}
	s := start(t, t.TempDir(), &bank{}, serve.Options{Auth: auth, MaxRate: 1})
	refused := 0
	for range 200 { // more than go through in the time that this takes
		a := s.do(t, "GET", "/v1/workflows", "", "Who", "cleo")
		if a.status == 429 {
			refused++
			if a.Code != "TOO_MANY_REQUESTS" || a.header.Get("Retry-After") == "" {
				t.Fatalf("%s", a.text)
			}
			break
		}
	}
	if refused == 0 {
		t.Error("200 requests at once were answered")
	}
	s.want(t, 200, "GET", "/v1/workflows", "", "Who", "dora")
}

// Browsers let requests of the pages through that are named, and of no others.
func TestOrigins(t *testing.T) {
	auth := func(r *http.Request) (serve.Principal, error) {
		if r.Header.Get("Authorization") == "" {
			return serve.Principal{}, errors.New("nobody")
		}
		return serve.Principal{Name: "cleo"}, nil
	}
	const page = "https://app.example.com"
	s := start(t, t.TempDir(), &bank{}, serve.Options{Auth: auth, Origins: []string{page}})
	asked := s.want(t, 204, "OPTIONS", start10, "", "Origin", page, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	if asked.header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(asked.header.Get("Access-Control-Allow-Headers"), "Authorization") ||
		asked.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", asked.header)
	}
	real := s.want(t, 201, "POST", start10, `{"to": "ada", "euros": 3}`, "Origin", page, "Authorization", "x", "Prefer", "wait=30")
	if real.header.Get("Access-Control-Allow-Origin") != page || real.header.Get("Vary") != "Origin" {
		t.Errorf("%v", real.header)
	}
	for _, other := range []string{"https://evil.example.com", "null", page + ".evil.com"} {
		if a := s.do(t, "OPTIONS", start10, "", "Origin", other, "Access-Control-Request-Method", "POST"); a.status < 400 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", other, a.status, a.header)
		}
	}
	off := start(t, t.TempDir(), &bank{}, serve.Options{})
	if a := off.do(t, "GET", "/v1/workflows", "", "Origin", page); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", a.header)
	}
}

// A server whose folder cannot be written is not ready, and says so; it lives.
func TestProbes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	s := start(t, dir, &bank{}, serve.Options{})
	s.want(t, 201, "POST", start10, `{"to": "ada", "euros": 3}`, "Prefer", "wait=30")
	admin := httptest.NewServer(s.Admin())
	t.Cleanup(admin.Close)
	probes := &service{s.Server, admin.URL}
	var ready *answer
	eventually.True(t, "it is ready", func() bool { // the runs of the last process are looked for beside requests
		ready = probes.do(t, "GET", "/readyz?verbose", "")
		return ready.status == 200
	})
	if ready.text != "[+] draining\n[+] queue\n[+] journal\n[+] runs\n" {
		t.Errorf("%s", ready.text)
	}
	if err := errors.Join(os.Rename(dir, dir+"2"), os.WriteFile(dir, nil, 0o600)); err != nil { // also for root
		t.Fatal(err)
	}
	if a := probes.do(t, "GET", "/readyz", ""); a.status != 503 || a.text != "runs cannot be recorded\n" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := probes.do(t, "GET", "/readyz?verbose", ""); a.status != 503 || !strings.Contains(a.text, "[-] journal: runs cannot be recorded\n[+] runs\n") {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := probes.do(t, "GET", "/livez", ""); a.status != 200 || a.text != "ok\n" {
		t.Errorf("%d %s", a.status, a.text)
	}
	s.want(t, 503, "POST", start10, `{"to": "ada", "euros": 3}`)
}
