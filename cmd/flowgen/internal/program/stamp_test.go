package program

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	t.Setenv("GOWORK", "off")
	files := map[string]string{
		"go.mod":                 "module example.com/app\n\ngo 1.26\n",
		"a.flowgen.yaml":         "flowgen: 1\n",
		"lib/shared.yaml":        "flowgen: 1\n",
		"a_flow.go":              "package a\n\nimport _ \"example.com/app/tools\"\n",
		"beside.go":              "package a\n",
		"tools/tools.go":         "package tools\n\nimport _ \"example.com/app/tools/deep\"\n",
		"tools/deep/deep.go":     "package deep\n",
		"elsewhere/unrelated.go": "package elsewhere\n",
	}
	past := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(name, text)
	}
	for _, dir := range []string{".", "lib", "tools", "tools/deep"} { // folders have times, too
		if err := os.Chtimes(dir, past, past); err != nil {
			t.Fatal(err)
		}
	}
	cache := OpenCache(filepath.Join(t.TempDir(), "cache"))
	stamp := func(args ...string) *Stamp {
		t.Helper()
		s, err := cache.Stamp(args...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	made := Generated{Files: []string{"a.flowgen.yaml", "lib/shared.yaml"}, Outputs: []string{"a_flow.go"}, Go: true}
	if stamp("a").Current() {
		t.Fatal("current before anything was kept")
	}
	if err := stamp("a").Keep(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if !stamp("a").Current() {
		t.Fatal("not current although nothing has changed")
	}
	if stamp("a", "b").Current() {
		t.Error("current for other arguments")
	}
	for name, text := range files {
		write(name, text+"\n// changed\n")
		if got := stamp("a").Current(); got != (name == "elsewhere/unrelated.go") {
			t.Errorf("%s changed: current is %t", name, got)
		}
		write(name, text)
		if !stamp("a").Current() {
			t.Fatalf("%s is as it was", name)
		}
	}
	for _, name := range []string{"new.go", "tools/new.go", "tools/deep/new.go", "go.work", "go.sum"} {
		write(name, "package new\n")
		if stamp("a").Current() {
			t.Errorf("current although there is a new %s", name)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove("a_flow.go"); err != nil {
		t.Fatal(err)
	}
	if stamp("a").Current() {
		t.Error("current without the output")
	}
	t.Chdir("lib")
	write("../a_flow.go", files["a_flow.go"])
	if stamp("a").Current() {
		t.Error("current in another folder")
	}
}

// What is written while the compiler runs may not be what it has read.
func TestStampIsNotKeptWhenUnsure(t *testing.T) {
	t.Chdir(t.TempDir())
	cache := OpenCache(filepath.Join(t.TempDir(), "cache"))
	s, err := cache.Stamp("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.flowgen.yaml", "a_flow.go"} {
		if err := os.WriteFile(name, []byte("package a\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keep(t.Context(), Generated{Files: []string{"a.flowgen.yaml"}, Outputs: []string{"a_flow.go"}}); err != nil {
		t.Fatal(err)
	}
	if s.Current() {
		t.Error("kept although the files were written after it began")
	}
}
