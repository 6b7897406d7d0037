package stargraph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestArtifacts: the same content under the same name is kept once, whole, and no name leads out of the folder.
func TestArtifacts(t *testing.T) {
	t.Chdir(t.TempDir())
	meta := value.Map(value.Entry{Key: "by", Value: value.String("me")})
	for range 2 {
		ref, err := WriteText(t.Context(), "hello", "../../a b.md", "text/markdown", meta)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := ref.Get("path")
		if got, err := os.ReadFile(at.String()); err != nil || string(got) != "hello" || filepath.Dir(at.String()) != filepath.FromSlash(ArtifactsDir) {
			t.Errorf("%s: %s %v", ref, got, err)
		}
		known, err := os.ReadFile(at.String() + ".meta.json")
		if err != nil || !strings.Contains(string(known), `"metadata":{"by":"me"}`) {
			t.Errorf("%s %v", known, err)
		}
	}
	if _, err := WriteBytes(t.Context(), []byte{0xff}, "", "application/octet-stream", value.Null()); err != nil {
		t.Error(err)
	}
	if _, err := WriteValue(t.Context(), value.List(value.Int(1)), strings.Repeat("x", 500), "application/json", value.Null()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(ArtifactsDir)
	if err != nil || len(entries) != 6 {
		t.Errorf("%v %v", entries, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || len(e.Name()) > 150 {
			t.Errorf("the file %s", e.Name())
		}
	}
	t.Setenv("STARGRAPH_ARTIFACTS", "elsewhere")
	if _, err := WriteText(t.Context(), "", "a", "text/plain", meta); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir("elsewhere"); err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STARGRAPH_ARTIFACTS", "file")
	if _, err := WriteText(t.Context(), "", "a", "text/plain", meta); err == nil || !strings.Contains(err.Error(), "PROVIDER_ERROR") {
		t.Error(err)
	}
}

// TestFormats are conversions with formats, and what Python raises for.
func TestFormats(t *testing.T) {
	v := value.List(value.String("é"), value.Null(), value.Float(1))
	for want, f := range map[string]func() (string, error){
		"['é', None, 1.0]":    func() (string, error) { return FormatValue(v, "") },
		`['\xe9', None, 1.0]`: func() (string, error) { return FormatValue(v, "!a") },
		"['é':":               func() (string, error) { s, err := FormatValue(v, "!r:.4"); return s + ":", err },
		"None ":               func() (string, error) { return FormatValue(value.Null(), "!s:5") },
		"    1":               func() (string, error) { return FormatBool(true, ":>5") },
		"False":               func() (string, error) { return FormatBool(false, "!r") },
		"1,234.50":            func() (string, error) { return FormatFloat(1234.5, ":,.2f") },
		`b'\x00a'`:            func() (string, error) { return FormatBytes([]byte("\x00a"), "") },
		"+7":                  func() (string, error) { return FormatInt(7, ":+d") },
		"'it' ":               func() (string, error) { return FormatString("it", "!r:5") },
	} {
		if got, err := f(); err != nil || got != want {
			t.Errorf("%q %v, not %q", got, err, want)
		}
	}
	for _, f := range []func() (string, error){
		func() (string, error) { return FormatValue(v, ":>5") },
		func() (string, error) { return FormatValue(value.Null(), ":5") },
		func() (string, error) { return FormatString("a", ":d") },
		func() (string, error) { return FormatFloat(1, ":d") },
		func() (string, error) { return FormatBytes(nil, ":5") },
	} {
		if got, err := f(); err == nil || !strings.HasPrefix(err.Error(), "VALIDATION_ERROR: ") {
			t.Errorf("%q %v", got, err)
		}
	}
}

// TestSanitize has what Python's html.escape and the engine's expressions make of texts.
func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"a<b> & \"c\" 'd'\x00\x1b\u0085\t\n": "a&lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;\t\n",
		"__SYSTEM__x__sys__system__tem__":    "x__system__",
		"<|im_start|>":                       "&lt;|im_start|&gt;",
		"&#34;":                              "&amp;#34;",
	} {
		if got := Sanitize(value.String(in)).String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	v := value.Map(value.Entry{Key: "a<b", Value: value.List(value.String("<"), value.Int(1), value.Null())})
	if got := Sanitize(v).String(); got != `{"a<b":["&lt;",1,null]}` {
		t.Error(got)
	}
}
