package studio_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/studio"
)

// TestCode: a code is exchanged for the token once, by the page alone, and a wrong one ends it.
func TestCode(t *testing.T) {
	s := server(t, studio.Options{})
	exchange := func(code string, change func(*http.Request)) (int, string) {
		w := ask(s, http.MethodPost, "/api/v1/token", `{"code":"`+code+`"}`, func(r *http.Request) {
			r.Header.Del("Authorization")
			if change != nil {
				change(r)
			}
		})
		return w.Code, w.Body.String()
	}
	if code, body := exchange("", nil); code != http.StatusUnauthorized {
		t.Errorf("without a code: %d %s", code, body)
	}
	one := s.Code()
	for name, change := range map[string]func(*http.Request){
		"another name":   func(r *http.Request) { r.Host = "evil.example:4242" },
		"another page":   func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a form":         func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"another method": func(r *http.Request) { r.Method = http.MethodGet },
	} {
		if code, body := exchange(one, change); code < 400 || strings.Contains(body, s.Token()) {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	code, body := exchange(one, nil)
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK || got.Token != s.Token() {
		t.Errorf("%d %s", code, body)
	}
	if code, body := exchange(one, nil); code != http.StatusUnauthorized {
		t.Errorf("a second time: %d %s", code, body)
	}
	one = s.Code()
	if code, _ := exchange("0"+one[1:]+"0", nil); code != http.StatusUnauthorized {
		t.Errorf("a wrong one: %d", code)
	}
	if code, _ := exchange(one, nil); code != http.StatusUnauthorized {
		t.Errorf("after a wrong one: %d", code)
	}
}

// TestHosts: behind a proxy the names that were given are this server's, with https, and no others.
func TestHosts(t *testing.T) {
	s := server(t, studio.Options{Hosts: []string{"studio.example"}, Secure: true})
	for host, want := range map[string]int{"studio.example": http.StatusOK, "127.0.0.1:4242": http.StatusOK, "other.example": http.StatusMisdirectedRequest, "studio.example:80": http.StatusMisdirectedRequest} {
		if w := ask(s, http.MethodGet, "/api/v1/project", "", func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
	for origin, want := range map[string]int{"https://studio.example": http.StatusOK, "http://studio.example": http.StatusForbidden} {
		if w := ask(s, http.MethodGet, "/api/v1/project", "", func(r *http.Request) { r.Host = "studio.example"; r.Header.Set("Origin", origin) }); w.Code != want {
			t.Errorf("%s: %d", origin, w.Code)
		}
	}
}
