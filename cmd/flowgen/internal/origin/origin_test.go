package origin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestFindSourceTree(t *testing.T) {
	o, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "cmd", "flowgen", "internal", "origin", "origin_test.go")); err != nil || o.Version != "" {
		t.Errorf("origin is %+v, not this source tree (%v)", o, err)
	}
	if sums, err := o.Sums(); err != nil || !strings.Contains(string(sums), "github.com/spf13/cobra") {
		t.Errorf("go.sum: %v, %d bytes", err, len(sums))
	}
}

func TestFindFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(SourceEnv, dir)
	if _, err := Find(); err == nil {
		t.Error("a folder without go.mod is taken for flowgen")
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/other\n")
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), `the module "example.com/other"`) {
		t.Errorf("another module is taken for flowgen: %v", err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module "+Module+"\n")
	if o, err := Find(); err != nil || o.Dir != dir {
		t.Errorf("got %+v, %v", o, err)
	}
	if sums, err := (Origin{Dir: dir}).Sums(); err != nil || sums != nil {
		t.Errorf("a missing go.sum is an error: %v", err)
	}
}

func TestID(t *testing.T) {
	first, err := ID()
	if err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	if id, ok := buildID([]byte("\x00\xff Go build ID: \"abc/def\"\n \xff\x00")); !ok || id != "abc/def" {
		t.Errorf("got %q", id)
	}
	if id, ok := buildID([]byte("\x00\xff Go build ID: \"\"\n \xff\x00")); ok {
		t.Errorf("an empty build ID is taken: %q", id)
	}
}

func TestRequire(t *testing.T) {
	tests := []struct {
		name, mod string
		origin    Origin
		want      []string
		changed   bool
	}{
		{"source tree", "module m\n", Origin{Dir: "/src"}, []string{"require " + Module + " v0.0.0", "replace " + Module + " => /src"}, true},
		{"release", "module m\n", Origin{Version: "v1.2.3"}, []string{"require " + Module + " v1.2.3"}, true},
		{"there already", "module m\n\nrequire " + Module + " v1.0.0\n", Origin{Dir: "/src"}, []string{"require " + Module + " v1.0.0"}, false},
		{"replaced already", "module m\n\nreplace " + Module + " => ../f\n", Origin{Dir: "/src"}, []string{"replace " + Module + " => ../f", "v0.0.0"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mod, err := modfile.Parse("go.mod", []byte(tt.mod), nil)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := tt.origin.Require(mod)
			if err != nil || changed != tt.changed {
				t.Errorf("changed %t, %v", changed, err)
			}
			text, err := mod.Format()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tt.want {
				if !strings.Contains(string(text), w) {
					t.Errorf("%q is missing in:\n%s", w, text)
				}
			}
			if strings.Count(string(text), "replace") > 1 {
				t.Errorf("two replacements:\n%s", text)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
