package httptool

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestStatus(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		w.Header()["Content-Type"] = nil
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err != nil {
			panic(err)
		}
		w.WriteHeader(status)
	})
	for status, code := range map[int]value.Code{
		300: value.ProviderError, 301: value.ProviderError, 304: value.ProviderError,
		400: value.ValidationError, 401: value.AuthRequired, 402: value.ProviderError, 403: value.AuthRequired,
		404: value.ProviderError, 408: value.Timeout, 409: value.ProviderError, 413: value.ProviderError,
		418: value.ProviderError, 422: value.ValidationError, 429: value.RateLimit, 499: value.ProviderError,
		500: value.ProviderError, 502: value.ProviderError, 503: value.ProviderError, 504: value.ProviderError,
		529: value.ProviderError, 599: value.ProviderError, 999: value.ProviderError,
	} {
		_, err := call(t, get(s), fmt.Sprintf("/%d?q=private", status))
		te := wantTool(t, err, code, strings.TrimSpace(fmt.Sprintf("%s answered %d %s", host(s), status, http.StatusText(status))))
		want := fmt.Sprintf(`{"status":%d,"method":"GET","url":"%s/%d","headers":{},"body":""}`, status, s.URL, status)
		if got := te.Details.String(); got != want || te.RetryAfterS != nil {
			t.Errorf("%d: details %s, retry %v; want %s", status, got, te.RetryAfterS, want)
		}
	}
	for _, status := range []int{200, 201, 202, 203, 206, 226, 299} {
		if _, err := call(t, get(s), fmt.Sprintf("/%d", status)); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestErrorDetails(t *testing.T) {
	for _, tt := range []struct {
		name, kind, body, message, shown string
	}{
		{"json message", "application/json", `{"message":"no such item"}`, ": no such item", `{"message":"no such item"}`},
		{"json error object", "application/json", `{"error":{"message":"bad key","code":7}}`, ": bad key", `{"error":{"message":"bad key","code":7}}`},
		{"problem", "application/problem+json", `{"title":"T","detail":"D"}`, ": D", `{"title":"T","detail":"D"}`},
		{"json without words", "application/json", `{"code":7}`, "", `{"code":7}`},
		{"text", "text/plain", "not here\nmore", ": not here", "not here\nmore"},
		{"html", "text/html", "<html><body><h1>Oops</h1><p>it broke</p></body></html>", ": Oops", "Oops\nit broke"},
		{"terminal codes", "text/plain", "\x1b[31mred\x1b[0m\r\n\x00\u202eevil", ": red", "red\n" + `\x00\u202eevil`},
		{"latin 1", "text/plain; charset=iso-8859-1", "gr\xf6\xdfe", ": größe", "größe"},
		{"binary", "application/octet-stream", "\xff\xfe\xfd\x00\x01", "", ""},
		{"long", "text/plain", strings.Repeat("ü", 5000), "", strings.Repeat("ü", 2048)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Date"] = nil
				w.Header().Set("X-Request-Id", "r\t1")
				w.Header().Set("Set-Cookie", "session=1")
				respond(404, tt.kind, tt.body)(w, r)
			})
			_, err := call(t, get(s), "/x")
			te := wantTool(t, err, value.ProviderError, host(s)+" answered 404 Not Found"+tt.message)
			body, _ := te.Details.Get("body")
			headers, _ := te.Details.Get("headers")
			if body.String() != tt.shown {
				t.Errorf("body %q, want %q", body.String(), tt.shown)
			}
			if diff := cmp.Diff(fmt.Sprintf(`{"content-type":%q,"x-request-id":"r 1"}`, tt.kind), headers.String()); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	none := -1.0
	for _, tt := range []struct {
		value, date string
		want        float64
	}{
		{"0", "", 0}, {"1", "", 1}, {" 120 ", "", 120}, {"86400", "", 86400}, {"1000000000", "", 86400}, {strings.Repeat("9", 400), "", 86400},
		{"-1", "", none}, {"1.5", "", none}, {"+1", "", none}, {"1e3", "", none}, {"soon", "", none}, {"", "", none}, {"0x10", "", none}, {"NaN", "", none},
		{date(30 * time.Second), "", 30}, {date(-time.Hour), "", 0}, {date(1000 * time.Hour), "", 86400},
		{date(time.Hour), date(59 * time.Minute), 60}, {date(30 * time.Second), "garbage", 30},
		{now.Add(time.Minute).Format(time.RFC850), "", 60}, {now.Add(time.Minute).Format(time.ANSIC), "", 60},
	} {
		h := http.Header{}
		if tt.value != "" {
			h.Set("Retry-After", tt.value)
		}
		if tt.date != "" {
			h.Set("Date", tt.date)
		}
		got := none
		if p := retryAfter(h, now); p != nil {
			got = *p
		}
		if got != tt.want {
			t.Errorf("Retry-After %.40q with date %q: got %v, want %v", tt.value, tt.date, got, tt.want)
		}
	}
}

// A node with retry waits as long as the server asks, and succeeds.
func TestRetriesWithTheRuntime(t *testing.T) {
	var hits int
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		hits++
		switch hits {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
		case 2:
			w.WriteHeader(503)
		default:
			_, _ = io.WriteString(w, "ok")
		}
	})
	n := &flow.Node{ID: "n", Pos: "f.yaml:1:1", Retry: &flow.Retry{Attempts: 3, Base: time.Millisecond}}
	if got, err := callAt(t, t.Context(), n, get(s), "/"); err != nil || got != "ok" || hits != 3 {
		t.Errorf("got %q, %v after %d requests", got, err, hits)
	}
}

// A server that gives back what it was sent does not get secrets into errors.
func TestSecretsStayOutOfErrors(t *testing.T) {
	const basic = "YW5uOnBhIHNzIndvcmQ="
	forms := []string{token, `s3cr3t-t0ken/+=\u0026\"x`, `s3cr3t-t0ken/+=&\"x`, "s3cr3t-t0ken%2F%2B%3D%26%22x", "s3cr3t-t0ken/+=&amp;&#34;x", "s3cr3t", basic, userPass, `pa ss\"word`, "pa+ss%22word"}
	bodies := map[string]string{
		"as it is":        "you sent " + token + " and Basic " + basic + " that is " + userPass,
		"json":            `{"message":"bad token s3cr3t-t0ken/+=\u0026\"x","x":"s3cr3t-t0ken/+=&\"x","p":"pa ss\"word"}`,
		"unicode":         `{"message":"bad token \u0073\u0033cr3t-t0ken/+=&\"x"}`,
		"url":             "https://x/?t=s3cr3t-t0ken%2F%2B%3D%26%22x&p=pa+ss%22word",
		"html":            "<p>s3cr3t-t0ken/+=&amp;&#34;x</p><b>s3cr</b>3t-t0ken/+=&amp;\"x",
		"in colour":       "s3cr\x1b[31m3t-t0ken/+=&\"x",
		"cut":             strings.Repeat("x", bodyBytes-4) + token + strings.Repeat("y", 9000),
		"cut in the read": strings.Repeat("x", 2*bodyBytes-10) + token,
		"pulled forward":  strings.Repeat(token, 600),
	}
	for name, body := range bodies {
		for _, kind := range []string{"text/plain", "application/json", "text/html"} {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Www-Authenticate", "Bearer got="+r.Header.Get("Authorization")+r.Header.Get("X-Key"))
				respond(401, kind, body)(w, r)
			})
			tool := get(s, Basic("LOGIN"), HeaderAuth("X-Key", "TOKEN"))
			_, err := call(t, tool, "/")
			var te *value.ToolError
			if !errors.As(err, &te) || te.Code != value.AuthRequired {
				t.Fatalf("got %v", err)
			}
			for _, text := range []string{te.Error(), te.Details.String()} {
				for _, f := range forms {
					if strings.Contains(text, f) {
						t.Errorf("%s as %s: %q in %s", name, kind, f, text)
					}
				}
			}
		}
	}
	// Errors of transport and decoding, too.
	s := serve(t, respond(200, "application/json", `{"`+token[:12]+`":1}`))
	type out struct{ A int }
	tool := JSON[struct{}, out]("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} }, Allow("loopback"), HeaderAuth("X", "TOKEN"))
	if _, err := call(t, tool, struct{}{}); err == nil {
		t.Error("unknown field accepted")
	}
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		_, _ = io.WriteString(c, "HTTP/1.1 "+r.Header.Get("X")+" x\r\n\r\n")
		_ = c.Close()
	})
	_, err := call(t, get(s, HeaderAuth("X", "TOKEN")), "/")
	var te *value.ToolError
	if !errors.As(err, &te) || te.Code != value.NetworkError || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("garbage: %v", err)
	}
}
