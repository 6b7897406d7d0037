package gomodules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"
)

const canary = "canary-of-another-folder"

// project writes an app whose go.mod requires a module of the folder lib, and a folder that belongs to neither.
func project(t *testing.T) (top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"app/go.mod":              "module example.com/app\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n\nreplace example.com/lib => ../lib\n",
		"app/own.flowgen.yaml":    canary,
		"lib/go.mod":              "module example.com/lib\n\ngo 1.21\n",
		"lib/ok.flowgen.yaml":     "inside",
		"lib/sub/ok.flowgen.yaml": "inside",
		"lib/in/go.mod":           "module example.com/lib/in\n",
		"lib/in/x.flowgen.yaml":   canary,
		"out/x.flowgen.yaml":      canary,
	} {
		name = filepath.Join(top, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func read(m *Modules, file string) (string, error) {
	found, rel, err := m.Find(file)
	if err != nil {
		return "", err
	}
	text, err := found.ReadFile(rel, 1<<20)
	return string(text), err
}

// TestNothingOutside: no name and no link leads out of a module.
func TestNothingOutside(t *testing.T) {
	top := project(t)
	if err := errors.Join(
		os.Symlink("../out/x.flowgen.yaml", filepath.Join(top, "lib", "link.flowgen.yaml")),
		os.Symlink(filepath.Join(top, "out", "x.flowgen.yaml"), filepath.Join(top, "lib", "absolute.flowgen.yaml")),
		os.Symlink("../out", filepath.Join(top, "lib", "folder")),
		os.Symlink("circle.flowgen.yaml", filepath.Join(top, "lib", "circle.flowgen.yaml")),
		os.Symlink("ok.flowgen.yaml", filepath.Join(top, "lib", "same.flowgen.yaml")),
		os.Mkdir(filepath.Join(top, "lib", "dir.flowgen.yaml"), 0o777),
	); err != nil {
		t.Skip(err)
	}
	m, err := In(filepath.Join(top, "app"))
	if err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{"example.com/lib/ok.flowgen.yaml", "example.com/lib/sub/ok.flowgen.yaml", "example.com/lib/same.flowgen.yaml"} {
		if text, err := read(m, good); text != "inside" || err != nil {
			t.Errorf("%s: %q, %v", good, text, err)
		}
	}
	tried := 0
	for _, name := range []string{"link", "absolute", "folder/x", "circle", "dir", "in/x", "none", "OK", "sub"} {
		tried++
		if text, err := read(m, "example.com/lib/"+name+".flowgen.yaml"); err == nil || text != "" || strings.Contains(text, canary) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{
		"", ".", "/", "x.flowgen.yaml", "example.com/lib", "example.com/lib/../out/x.flowgen.yaml", "example.com/lib/./ok.flowgen.yaml", "example.com/lib//ok.flowgen.yaml",
		"/example.com/lib/ok.flowgen.yaml", "../out/x.flowgen.yaml", "./x/x.flowgen.yaml", "..", filepath.ToSlash(top) + "/out/x.flowgen.yaml", "example.com/lib@v1.0.0/ok.flowgen.yaml",
		"example.com/lib/@v/x.flowgen.yaml", "example.com/out/x.flowgen.yaml", "example.com/app/own.flowgen.yaml", "example.com/lib\\ok.flowgen.yaml", "example.com/lib/a\x00.flowgen.yaml",
		"example.com/lib/a\n.flowgen.yaml", "example.com/lib/ok.flowgen.yaml ", "-mod=mod/x.flowgen.yaml", "example.com/-x/ok.flowgen.yaml", "all/x.flowgen.yaml", "std/x.flowgen.yaml",
		"example.com/.../x.flowgen.yaml", "example.com/lib/con/x.flowgen.yaml", "example.com/lib:x/x.flowgen.yaml", "C:/x/x.flowgen.yaml", "file:///x.flowgen.yaml", "example.com/lib/ok.flowgen.yaml/",
		"example.com/lib/" + strings.Repeat("x/", 50) + "x.flowgen.yaml", "example.com/lib/%2e%2e/out/x.flowgen.yaml", "example.com/lib/~/x.flowgen.yaml", "cmd/go/x.flowgen.yaml",
	} {
		tried++
		text, err := read(m, name)
		if err == nil || text != "" {
			t.Errorf("%q: %q, %v", name, text, err)
		}
		var known *Error
		if err != nil && !errors.As(err, &known) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: the error %v has no advice", name, err)
		}
		if err != nil && strings.Contains(err.Error(), top) && !strings.Contains(name, top) {
			t.Errorf("%q: the error %q names the machine", name, err)
		}
	}
	if tried != 44 {
		t.Errorf("%d names were tried: correct docs/security.md", tried)
	}
	for _, rel := range []string{"../out/x.flowgen.yaml", "/etc/hostname", "sub/../../out/x.flowgen.yaml", "..", ""} {
		if text, err := m.modules["example.com/lib"].ReadFile(rel, 1<<20); err == nil {
			t.Errorf("%q: %q", rel, text)
		}
	}
}

// TestHash: every file of a module is compared with go.sum, when it is found and when it is read.
func TestHash(t *testing.T) {
	top := project(t)
	dir := filepath.Join(top, "lib")
	if err := os.RemoveAll(filepath.Join(dir, "in")); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashDir(dir, "example.com/lib@v1.0.0", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	open := func(sum string) (*Module, error) {
		m, err := In(filepath.Join(top, "app"))
		if err != nil {
			t.Fatal(err)
		}
		return m.open(listed{Path: "example.com/lib", Version: "v1.0.0", Dir: dir, Sum: sum})
	}
	m, err := open(sum)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := m.ReadFile("ok.flowgen.yaml", 100); string(text) != "inside" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for name, change := range map[string]func() error{
		"another hash": func() error { sum = "h1:" + strings.Repeat("A", 43) + "="; return nil },
		"no hash":      func() error { sum = ""; return nil },
		"a changed file": func() error {
			return os.WriteFile(filepath.Join(dir, "sub", "ok.flowgen.yaml"), []byte("other"), 0o666)
		},
		"a new file":     func() error { return os.WriteFile(filepath.Join(dir, "new.flowgen.yaml"), []byte("new"), 0o666) },
		"a link":         func() error { return os.Symlink("ok.flowgen.yaml", filepath.Join(dir, "link")) },
		"a missing file": func() error { return os.Remove(filepath.Join(dir, "go.mod")) },
	} {
		right := sum
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := open(sum); err == nil {
			t.Errorf("%s is not noticed", name)
		}
		sum = right
		for _, extra := range []string{"new.flowgen.yaml", "link"} {
			_ = os.Remove(filepath.Join(dir, extra))
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/lib\n\ngo 1.21\n"), 0o666), os.WriteFile(filepath.Join(dir, "sub", "ok.flowgen.yaml"), []byte("inside"), 0o666)); err != nil {
			t.Fatal(err)
		}
		if _, err := open(sum); err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
	}
	// Changed between the comparison and the reading.
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "ok.flowgen.yaml"), []byte("later"), 0o666), os.WriteFile(filepath.Join(dir, "late.flowgen.yaml"), []byte("late"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"ok.flowgen.yaml", "late.flowgen.yaml"} {
		if text, err := m.ReadFile(rel, 100); err == nil {
			t.Errorf("%s was changed later: %q", rel, text)
		}
	}
}

func TestGuess(t *testing.T) {
	for file, want := range map[string]string{
		"github.com/acme/flows/shop/x.flowgen.yaml": "github.com/acme/flows",
		"github.com/acme/flows/v2/x.flowgen.yaml":   "github.com/acme/flows/v2",
		"github.com/acme/flows/x.flowgen.yaml":      "github.com/acme/flows",
		"github.com/acme/x.flowgen.yaml":            "github.com/acme",
		"example.com/flows/shop/x.flowgen.yaml":     "example.com/flows/shop",
	} {
		if got := guess(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
