package std

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
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
		"max(1, 2.5, 2)", "min(3, 1)", "abs(-4)", "math.sqrt(2)", "math.floor(-1.5)", "math.pi", "1_000 * 3", "--3", "9223372036854775807", "0 ** 0", "2 ** 62", "3 - -4", "math.log10(1000)", "4 % 2.5"}
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
		want, err := runtime.ParseValue([]byte(lines[i]))
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
	if _, err := FileWrite(ctx, "a/b/c.txt", "hello"); err != nil {
		t.Fatal(err)
	}
	v, err := FileRead(ctx, "./a//b/c.txt")
	if got, _ := v.Get("content"); err != nil || got.String() != "hello" {
		t.Error(v, err)
	}
	v, err = FileList(ctx, "a")
	if got, _ := v.Get("files"); err != nil || got.Len() != 1 || got.Index(0).String() != "b/" {
		t.Error(v, err)
	}
	if err := os.Symlink("/etc", "link"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bytes", []byte{0xff, 0xfe}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../x", "/etc/passwd", "a/../../x", "link/passwd", "missing", "a", "bytes"} {
		if v, err := FileRead(ctx, name); err == nil {
			t.Errorf("%q: %s", name, v)
		}
	}
	for _, name := range []string{"../x", "/tmp/x", "link/x", "a"} {
		if v, err := FileWrite(ctx, name, "x"); err == nil {
			t.Errorf("%q: %s", name, v)
		}
	}
}

func TestWeb(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(r.Method + " " + r.Header.Get("X-A")))
	}))
	defer s.Close()
	if _, err := FetchPage(t.Context(), s.URL); err == nil || !strings.Contains(err.Error(), "POLICY_DENIED") {
		t.Error("this machine is asked: ", err)
	}
	for _, url := range []string{"file:///etc/passwd", "x", "http://", "http://a b/"} {
		if _, err := FetchPage(t.Context(), url); err == nil || !strings.Contains(err.Error(), "VALIDATION_ERROR") {
			t.Error(url, err)
		}
	}
	c := client
	defer func() { client = c }()
	t.Setenv("STARGRAPH_HTTP_ALLOW", "private, loopback")
	client = newClient
	v, err := HTTPRequest(t.Context(), s.URL, "post", map[string]string{"x-a": "b"}, "body")
	status, _ := v.Get("status")
	body, _ := v.Get("body")
	if err != nil || status.Int() != http.StatusTeapot || body.String() != "POST b" {
		t.Error(v, err)
	}
}
