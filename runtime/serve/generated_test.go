package serve_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/serve"
)

// A generator makes requests of an OpenAPI document: right ones, and those that differ from it somewhere.
type generator struct {
	*rand.Rand
	root       map[string]any
	operations []operation
	ids        []string // of runs that there are
}

type operation struct {
	method, path string
	is           map[string]any
}

func (g *generator) resolve(s map[string]any) map[string]any {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		at := any(g.root)
		for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[part]
		}
		s = at.(map[string]any)
	}
}

var odd = []any{nil, true, false, 0, -1, 1, 1.5, 1e300, math.MaxInt64, "", "x", "ünï", "\u0000", "../..", "$ref", strings.Repeat("long ", 500), []any{}, []any{1, "a"}, map[string]any{}, map[string]any{"a": nil}}

// value is one that a schema takes, mostly.
func (g *generator) value(s map[string]any) any {
	s = g.resolve(s)
	if g.IntN(12) == 0 {
		return odd[g.IntN(len(odd))]
	}
	for _, of := range []string{"anyOf", "oneOf"} {
		if list, ok := s[of].([]any); ok {
			return g.value(list[g.IntN(len(list))].(map[string]any))
		}
	}
	if list, ok := s["enum"].([]any); ok {
		return list[g.IntN(len(list))]
	}
	switch s["type"] {
	case "string":
		return []any{"a", "ada", "x y", "é/", "nobody", strings.Repeat("z", 300)}[g.IntN(6)]
	case "integer", "number":
		return []any{1, 2, 50, 1000, 0, -3, int64(math.MaxInt64)}[g.IntN(7)]
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		return []any{"a"}
	case "object":
		m := map[string]any{}
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			if g.IntN(8) > 0 {
				m[name] = g.value(p.(map[string]any))
			}
		}
		if g.IntN(15) == 0 {
			m["more"] = 1
		}
		return m
	}
	return odd[g.IntN(len(odd))]
}

// fits tells whether a schema of the document takes a value, as it comes from JSON.
func (g *generator) fits(s map[string]any, v any) bool {
	s = g.resolve(s)
	for _, of := range []string{"anyOf", "oneOf"} {
		if list, ok := s[of].([]any); ok {
			return slices.ContainsFunc(list, func(x any) bool { return g.fits(x.(map[string]any), v) })
		}
	}
	if list, ok := s["enum"].([]any); ok {
		return slices.Contains(list, v)
	}
	switch s["type"] {
	case "string":
		text, ok := v.(string)
		least, _ := s["minLength"].(float64)
		return ok && float64(utf8.RuneCountInString(text)) >= least
	case "integer":
		n, ok := v.(float64)
		least, bounded := s["minimum"].(float64)
		return ok && n == math.Trunc(n) && n <= math.MaxInt64 && (!bounded || n >= least)
	case "object":
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		props, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, there := m[name.(string)]; !there {
				return false
			}
		}
		for name, x := range m {
			p, ok := props[name].(map[string]any)
			if !ok && s["additionalProperties"] == false || ok && !g.fits(p, x) {
				return false
			}
		}
	}
	return true
}

var places = regexp.MustCompile(`\{[^{}]*\}`)

// request makes one. body is what it sends when that is JSON of the right media type.
func (g *generator) request(op operation) (r *http.Request, body any, sent bool) {
	path := places.ReplaceAllStringFunc(op.path, func(place string) string {
		switch {
		case g.IntN(6) == 0:
			return url.PathEscape([]string{"x", "..", "../../etc", "a b", "%00", "é", strings.Repeat("a", 400), "pay-"}[g.IntN(8)])
		case place == "{name}":
			return "pay"
		case place == "{key}":
			return []string{"ask", "pay"}[g.IntN(2)]
		case len(g.ids) > 0:
			return g.ids[g.IntN(len(g.ids))]
		}
		return "none"
	})
	if g.IntN(4) == 0 {
		path += "?" + []string{"state=waiting", "limit=3", "limit=x", "before=x", "from=1", "from=-1", "fail=status", "%zz", "a=b", "workflow=pay"}[g.IntN(10)]
	}
	text := ""
	if b, ok := op.is["requestBody"].(map[string]any); ok {
		media := g.resolve(b)["content"].(map[string]any)["application/json"].(map[string]any)
		data, err := json.Marshal(g.value(media["schema"].(map[string]any)))
		if err != nil {
			panic(err)
		}
		text, sent = string(data), true
		if g.IntN(12) == 0 {
			at := g.IntN(len(text) + 1)
			text = text[:at] + []string{"", "}", "\xff", "\"", "{"}[g.IntN(5)]
		}
		if json.Unmarshal([]byte(text), &body) != nil {
			sent = false
		}
	}
	r = httptest.NewRequest(op.method, "http://service.example/", strings.NewReader(text))
	r.URL = &url.URL{Scheme: "http", Host: "service.example"}
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	if p, err := url.PathUnescape(r.URL.Path); err == nil {
		r.URL.RawPath, r.URL.Path = r.URL.Path, p
	}
	if text != "" || sent {
		r.Header.Set("Content-Type", "application/json")
		if g.IntN(20) == 0 {
			r.Header.Set("Content-Type", []string{"text/plain", "", ";", "application/x-www-form-urlencoded"}[g.IntN(4)])
			sent = false
		}
	}
	if g.IntN(10) == 0 {
		r.Header.Set("Prefer", []string{"wait=0", "respond-async", "wait=x", "wait=-1", ",,", "wait=99999999999999999999"}[g.IntN(6)])
	}
	if g.IntN(10) == 0 {
		r.Header.Set("Idempotency-Key", []string{"k1", "", "\x7f", strings.Repeat("k", 300), "é"}[g.IntN(5)])
	}
	return r, body, sent
}

// TestGenerated sends requests made of the document. None is a fault of the server, each answer is one that the document has, and no
// run begins whose input does not fit. LONG=1 sends 100,000.
func TestGenerated(t *testing.T) {
	n := 2500
	if long {
		n = 100_000
	}
	b := &bank{}
	s, err := serve.Handler(serve.Options{Runs: runs.Open(t.TempDir(), runs.Options{Sync: runs.Off}), ExposeCalls: true}, serve.Of(payInfo, b.new))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown(t.Context()) }()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	g := &generator{Rand: rand.New(rand.NewPCG(19, 36))}
	if err := json.Unmarshal(w.Body.Bytes(), &g.root); err != nil {
		t.Fatal(err)
	}
	for path, item := range g.root["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			if is, ok := op.(map[string]any); ok && method != "parameters" && !strings.HasSuffix(path, "/events") {
				g.operations = append(g.operations, operation{strings.ToUpper(method), path, is})
			}
		}
	}
	slices.SortFunc(g.operations, func(a, b operation) int { return strings.Compare(a.method+a.path, b.method+b.path) })
	seen := map[int]int{}
	for range n {
		op := g.operations[g.IntN(len(g.operations))]
		r, body, sent := g.request(op)
		what := fmt.Sprint(op.method, " ", r.URL, " ", r.Header, " ", body)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		seen[w.Code]++
		responses := op.is["responses"].(map[string]any)
		_, exact := responses[fmt.Sprint(w.Code)]
		_, class := responses[fmt.Sprintf("%dXX", w.Code/100)]
		_, rest := responses["default"]
		begins := op.method == "POST" && strings.HasSuffix(op.path, "/runs")
		switch {
		case w.Code >= 500 && w.Code != http.StatusServiceUnavailable:
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		case !exact && !class && !rest:
			t.Errorf("%s: %d is not in the document", what, w.Code)
		case w.Code >= 400 && !strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem+json"):
			t.Errorf("%s: %d is no problem: %s", what, w.Code, w.Body)
		case begins && w.Code < 300:
			media := g.resolve(op.is["requestBody"].(map[string]any))["content"].(map[string]any)["application/json"].(map[string]any)
			if !sent || !g.fits(media["schema"].(map[string]any), body) {
				t.Errorf("%s began a run: %d %s", what, w.Code, w.Body)
			}
			if at := w.Header().Get("Location"); at != "" {
				if g.ids = append(g.ids, at[strings.LastIndex(at, "/")+1:]); len(g.ids) > 50 {
					g.ids = g.ids[1:]
				}
			}
		}
	}
	t.Logf("%d operations: %v", len(g.operations), seen)
	if seen[http.StatusAccepted] < n/100 || seen[http.StatusUnprocessableEntity] < n/100 || seen[http.StatusOK] < n/100 {
		t.Errorf("the requests are of one kind: %v", seen)
	}
}
