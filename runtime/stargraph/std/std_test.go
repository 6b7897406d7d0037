package std

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestCalculator compares results with Python's.
func TestCalculator(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	list := []string{"1 + 2 * 3", "-2 ** 2", "2 ** 3 ** 2", "2 ** -1", "7 // -2", "-7 % 3", "7.5 // 2", "-7.5 % 2", "10 / 4", "(1 + 2) * -3", "1e3 + 1", "round(2.5)", "round(2.675, 2)",
		"max(1, 2.5, 2)", "min(3, 1)", "abs(-4)", "math.sqrt(2)", "math.floor(-1.5)", "math.pi", "1_000 * 3", "--3", "9223372036854775807", "0 ** 0", "2 ** 62", "3 - -4", "math.log10(1000)", "4 % 2.5", "math.tau", "math.log2(8)", "math.atan(1)", "math.asin(0.5)", "math.acos(1)"}
	out, err := exec.Command("python3", append([]string{"-c", "import math, sys, json\nfor x in sys.argv[1:]: print(json.dumps(eval(x)))"}, list...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, x := range list {
		v, err := Calculator(t.Context(), x)
		if err != nil {
			t.Errorf("%s: %v", x, err)
			continue
		}
		want, err := value.Parse([]byte(lines[i]))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := v.Get("result"); !got.Equal(want) {
			t.Errorf("%s is %s, not %s", x, got, want)
		}
	}
	for _, x := range []string{"", "1 +", "1 / 0", "5 % 0", "(1", "1)", "x", "__import__('os')", "sqrt(1, 2)", "1.2.3", strings.Repeat("(", 5000) + "1", strings.Repeat("-", 9000) + "1", "log(0)", strings.Repeat("1", 20000)} {
		if v, err := Calculator(t.Context(), x); err == nil {
			t.Errorf("%.30s is %s", x, v)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := t.Context()
	if _, err := FileWrite(ctx, "a/b/c.txt", "hel", false); err != nil {
		t.Fatal(err)
	}
	if v, err := FileWrite(ctx, "a/b/c.txt", "lo", true); err != nil {
		t.Fatal(v, err)
	}
	v, err := FileRead(ctx, "./a//b/c.txt", 100)
	if got, _ := v.Get("content"); err != nil || got.String() != "hello" {
		t.Error(v, err)
	}
	full, _ := v.Get("path")
	if v, err = FileRead(ctx, full.String(), 3); err != nil || !strings.Contains(ordered(v), `"content":"hel","truncated":true`) {
		t.Error(v, err)
	}
	v, err = FileList(ctx, "a", "*")
	if got, _ := v.Get("entries"); err != nil || ordered(got) != `[{"name":"b","is_dir":true,"size":0}]` {
		t.Error(v, err)
	}
	v, err = FileList(ctx, "a/b", "*.txt")
	if got, _ := v.Get("entries"); err != nil || ordered(got) != `[{"name":"c.txt","is_dir":false,"size":5}]` {
		t.Error(v, err)
	}
	for _, pattern := range []string{"../*", "[", "a/b"} {
		if v, err := FileList(ctx, "a", pattern); err == nil {
			t.Errorf("%q: %s", pattern, v)
		}
	}
	if err := os.Symlink("/etc", "link"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bytes", []byte{0xff, 0xfe}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../x", "/etc/passwd", "a/../../x", "link/passwd", "missing", "a"} {
		if v, err := FileRead(ctx, name, 100); err == nil {
			t.Errorf("%q: %s", name, v)
		}
		if at, err := Place(name); err == nil && name != "" && name != "a" {
			t.Errorf("%q: %s", name, at)
		}
	}
	if v, err := FileRead(ctx, "bytes", 100); err != nil || !strings.Contains(v.String(), "\uFFFD") {
		t.Error(v, err)
	}
	for _, name := range []string{"../x", "/tmp/x", "link/x", "a"} {
		if v, err := FileWrite(ctx, name, "x", false); err == nil {
			t.Errorf("%q: %s", name, v)
		}
	}
	t.Setenv("STARGRAPH_TOOLS_FS_ROOT", "a/b")
	if at, err := Place("c.txt"); err != nil || at != full.String() {
		t.Error(at, err)
	}
	if v, err := FileRead(ctx, "../../bytes", 100); err == nil {
		t.Error(v)
	}
}

func TestWeb(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html><head><title> A &amp; B </title><style>p{}</style></head><body><nav>menu</nav><main><h1>Head</h1><p>one <b>two</b><script>x()</script></p><p>three</p></main></body></html>"))
			return
		case "/search":
			_, _ = w.Write([]byte(`<div><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&amp;rut=1">First <b>hit</b></a><a class="result__snippet" href="x">about &lt;it&gt;</a></div>` +
				`<div><a class="result__a" href="https://b.example/">Second</a></div>`))
			return
		case "/w/rest.php/v1/search/page":
			_, _ = w.Write([]byte(`{"pages": [{"key": "A_B", "title": "A B", "description": null, "excerpt": "an <span>x</span>"}]}`))
			return
		case "/arxiv":
			_, _ = w.Write([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id><title>On
  x</title><summary> s </summary><published>2026-01-01T00:00:00Z</published><author><name>A. B</name></author><author><name>C</name></author><link title="pdf" href="http://arxiv.org/pdf/1"/></entry></feed>`))
			return
		}
		w.WriteHeader(http.StatusTeapot)
		data, _ := io.ReadAll(r.Body)
		_, _ = w.Write([]byte(r.Method + " " + r.URL.RawQuery + " " + r.Header.Get("X-A") + " " + r.Header.Get("Content-Type") + " " + string(data)))
	}))
	defer s.Close()
	if _, err := FetchPage(t.Context(), s.URL, 10, 5); err == nil || !strings.Contains(err.Error(), "POLICY_DENIED") {
		t.Error("this machine is asked: ", err)
	}
	for _, url := range []string{"file:///etc/passwd", "x", "http://", "http://a b/"} {
		if _, err := FetchPage(t.Context(), url, 10, 5); err == nil || !strings.Contains(err.Error(), "VALIDATION_ERROR") {
			t.Error(url, err)
		}
	}
	c := client
	defer func() { client = c }()
	t.Setenv("STARGRAPH_HTTP_ALLOW", "private, loopback")
	client = newClient
	null := value.Value{}
	said := func(v value.Value, err error) string {
		if err != nil {
			return err.Error()
		}
		return strings.ReplaceAll(ordered(v), s.URL, "URL")
	}
	without := func(v value.Value, err error) string { // its headers, which have the time
		if err != nil {
			return err.Error()
		}
		var list []value.Entry
		for _, k := range []string{"status_code", "text", "url", "truncated"} {
			x, _ := v.Get(k)
			list = append(list, entry(k, x))
		}
		return said(value.Map(list...), nil)
	}
	for _, c := range []struct{ name, got, want string }{
		{"a text", without(HTTPRequest(t.Context(), s.URL+"/?b=1", "post", map[string]string{"x-a": "b"}, map[string]string{"q": "a b"}, value.String("body"), null, 5)),
			`{"status_code":418,"text":"POST b=1&q=a+b b  body","url":"URL/?b=1&q=a+b","truncated":false}`},
		{"JSON", without(HTTPRequest(t.Context(), s.URL, "PUT", nil, nil, null, value.List(value.Int(1)), 5)), `{"status_code":418,"text":"PUT   application/json [1]","url":"URL","truncated":false}`},
		{"both", said(HTTPRequest(t.Context(), s.URL, "PUT", nil, nil, value.String(""), value.Int(1), 5)), "VALIDATION_ERROR: body and json_body exclude each other"},
		{"a method", said(HTTPRequest(t.Context(), s.URL, "BREW", nil, nil, null, null, 5)), `VALIDATION_ERROR: "BREW" is not an HTTP method`},
		{"a page", said(FetchPage(t.Context(), s.URL+"/page", 100, 5)), `{"url":"URL/page","status_code":200,"title":"A & B","text":"Head\none two\nthree","truncated":false}`},
		{"its beginning", said(FetchPage(t.Context(), s.URL+"/page", 7, 5)), `{"url":"URL/page","status_code":200,"title":"A & B","text":"Head\non","truncated":true}`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, not %s", c.name, c.got, c.want)
		}
	}
	t.Setenv("STARGRAPH_WEB_SEARCH_URL", s.URL+"/search")
	t.Setenv("STARGRAPH_WIKIPEDIA_URL", s.URL)
	t.Setenv("STARGRAPH_ARXIV_URL", s.URL+"/arxiv")
	for _, c := range []struct{ name, got, want string }{
		{"the web", said(WebSearch(t.Context(), "x", 5)), `{"query":"x","results":[{"title":"First hit","url":"https://a.example/x?y=1","snippet":"about <it>"},{"title":"Second","url":"https://b.example/","snippet":""}]}`},
		{"one result", said(WebSearch(t.Context(), "x", 1)), `{"query":"x","results":[{"title":"First hit","url":"https://a.example/x?y=1","snippet":"about <it>"}]}`},
		{"Wikipedia", said(Wikipedia(t.Context(), "x", "en", 3, 5)), `{"query":"x","results":[{"title":"A B","description":"","excerpt":"an x","url":"URL/wiki/A_B"}]}`},
		{"a language", said(Wikipedia(t.Context(), "x", "e/n", 3, 5)), `VALIDATION_ERROR: "e/n" is not a Wikipedia language`},
		{"papers", said(ArxivSearch(t.Context(), "x", 5, 5)), `{"query":"x","results":[{"title":"On x","summary":"s","authors":["A. B","C"],"published":"2026-01-01T00:00:00Z","url":"http://arxiv.org/abs/1","pdf_url":"http://arxiv.org/pdf/1"}]}`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, not %s", c.name, c.got, c.want)
		}
	}
}

// ordered is a value as JSON, its keys in their order.
func ordered(v value.Value) string {
	data, err := v.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(data)
}
