package openapisource_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"
)

// A service answers the requests of a document and holds them to it.
type service struct {
	t       *testing.T
	replies map[string]string // status and body by method and path of the document
	mu      sync.Mutex
	got     []string
}

func (s *service) start(document string) string {
	doc, err := openapi3.NewLoader().LoadFromFile(document)
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	doc.Servers = openapi3.Servers{{URL: "http://" + server.Listener.Addr().String() + "/v1"}}
	if err := doc.Validate(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		s.t.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.URL.Scheme, r.URL.Host = "http", r.Host
		route, params, err := router.FindRoute(r)
		if err != nil {
			s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
			http.NotFound(w, r)
			return
		}
		input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{
			MultiError: true,
			AuthenticationFunc: func(_ context.Context, in *openapi3filter.AuthenticationInput) error {
				if in.SecurityScheme.Type == "apiKey" && r.Header.Get(in.SecurityScheme.Name) == "s3cret" || r.Header.Get("Authorization") == "Bearer s3cret" {
					return nil
				}
				return fmt.Errorf("the request is not authenticated")
			},
		}}
		if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
			s.t.Errorf("%s %s does not fit the document: %v\n%s", r.Method, r.URL, err, body)
		}
		s.mu.Lock()
		s.got = append(s.got, strings.TrimSpace(strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Content-Type"), string(body)}, " ")))
		s.mu.Unlock()
		status, text := 0, ""
		code, text, _ := strings.Cut(s.replies[r.Method+" "+route.Path], " ")
		if _, err := fmt.Sscan(code, &status); err != nil {
			s.t.Errorf("no reply to %s %s", r.Method, route.Path)
		}
		if text != "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
	server.Start()
	s.t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// TestWire runs a workflow from its YAML against a service that holds each request to the document the tools are made of.
func TestWire(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir, err := filepath.Abs(filepath.Join("testdata", "billing"))
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, replies: map[string]string{
		"GET /invoices":                   `200 [{"id": "i1", "memo": null}, {"id": "i2", "memo": "m", "total": 1, "later": true, "payer": {"kind": "card", "last4": "4242"}}]`,
		"POST /invoices":                  `201 {"id": "a/b?c", "memo": null}`,
		"POST /invoices/{invoice-id}/pay": `204`,
		"DELETE /invoices/{invoice-id}":   `204`,
	}}
	url := s.start(filepath.Join(dir, "billing.yaml"))
	flowgen := filepath.Join(t.TempDir(), "flowgen.exe")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", flowgen, "../../../cmd/flowgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(flowgen, "run", "billing.flowgen.yaml", "--quiet", "--input", "customer=x&status=open#/../é")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BILLING_URL="+url, "BILLING=s3cret", "FLOWGEN_RUNS=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var got, want any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = json.Unmarshal([]byte(`{"last4": ["4242"], "count": 2, "id": "a/b?c", "memo": null, "paid": null}`), &want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	requests := []string{
		"GET /v1/invoices?customer=x%26status%3Dopen%23%2F..%2F%C3%A9&status=open%2Cpaid&tag=a%26b&tag=c%20d&since=2026-01-31T00%3A00%3A00Z",
		`POST /v1/invoices application/json {"customer":"x&status=open#/../é","lines":[{"count":2,"sku":"a\"b"},{"count":1,"sku":"c","note":"later"}],"memo":null,"payer":{"kind":"account","iban":"DE1"}}`,
		"POST /v1/invoices/a%2Fb%3Fc/pay application/x-www-form-urlencoded amount=12.5&tags=x%26y&tags=z",
		"DELETE /v1/invoices/a%2Fb%3Fc",
	}
	if d := cmp.Diff(requests, s.got); d != "" {
		t.Error(d)
	}
}
