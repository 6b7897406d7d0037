package sirenspec

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestAddresses: a host that is not public is reached when the author or the environment names it, and not when data does.
func TestAddresses(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Header.Get("X-Key") + "|" + r.Header.Get("Authorization")))
	}))
	defer s.Close()
	other := httptest.NewServer(http.RedirectHandler(s.URL, http.StatusFound))
	defer other.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SIREN_BASE", s.URL)
	t.Setenv("SIREN_TOKEN", "a secret value")
	call := func(host string, url ...Segment) (value.Value, error) {
		a := &adapter{host: host, clients: map[string]*http.Client{}}
		return a.call(context.Background(), Call{Method: "GET", URL: url, Timeout: 5,
			Headers: []CallHeader{{Name: "X-Key", Value: []Segment{{Env: "SIREN_TOKEN"}}}, {Name: "Authorization", Value: []Segment{{Text: "plain"}}}}})
	}
	const got = "[redacted]|plain"
	if v, err := call(u.Hostname(), Segment{Text: s.URL}); err != nil || v.String() != got {
		t.Errorf("host of the author: %v %v", v, err)
	}
	if v, err := call("", Segment{Env: "SIREN_BASE"}); err != nil || v.String() != got {
		t.Errorf("host of the environment: %v %v", v, err)
	}
	var te *value.ToolError
	if _, err := call("", Segment{Text: s.URL}); !errors.As(err, &te) || te.Code != value.PolicyDenied || !strings.HasPrefix(te.Message, "[tool:http] ") {
		t.Errorf("host of data: %v", err)
	}
	if v, err := call(u.Hostname(), Segment{Text: other.URL}); err != nil || v.String() != "|" {
		t.Errorf("headers of the author go to another origin: %v %v", v, err)
	}
	if _, err := call("", Segment{Env: "SIREN_BASE"}, Segment{Text: "/"}, Segment{Env: "SIREN_NOT_SET"}); !errors.As(err, &te) || te.Code != value.ValidationError {
		t.Errorf("a variable that is not set: %v", err)
	}
}
