package toolchain

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"
)

const target = "plan9-mips"

// packed writes a zip file of a toolchain and returns its name and hash.
func packed(t *testing.T, names ...string) (file, sum string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "v0.0.1-"+Version+"."+target+".zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, name := range names {
		if !strings.HasPrefix(name, "../") {
			name = "golang.org/toolchain@v0.0.1-" + Version + "." + target + "/" + name
		}
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte("#!/bin/sh\necho fake\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if sum, err = dirhash.HashZip(file, dirhash.Hash1); err != nil {
		t.Fatal(err)
	}
	return file, sum
}

// proxies serves file as a module proxy at /right/, and other answers beside it.
func proxies(t *testing.T, file string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/right/golang.org/toolchain/@v/" + filepath.Base(file):
			http.ServeFile(w, r, file)
		case "/broken/golang.org/toolchain/@v/" + filepath.Base(file):
			http.Error(w, "broken", http.StatusInternalServerError)
		case "/short/golang.org/toolchain/@v/" + filepath.Base(file):
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte("PK"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestFetch(t *testing.T) {
	right, sum := packed(t, "VERSION", "bin/go", "pkg/tool/x/compile", "src/_go.mod", "src/main.go")
	outside, outsideSum := packed(t, "bin/go", "../../evil")
	for _, tt := range []struct {
		name, file, sum, proxies string // URL stands for the server
		want                     string // part of the error
	}{
		{name: "right", file: right, sum: sum, proxies: "URL/right"},
		{name: "second of two", file: right, sum: sum, proxies: "URL/none,URL/right/"},
		{name: "second after any error", file: right, sum: sum, proxies: "URL/broken|URL/right"},
		{name: "a file that is not there, and then one", file: right, sum: sum, proxies: "file:///nowhere,URL/right,off"},
		{name: "no second after an error", file: right, sum: sum, proxies: "URL/broken,URL/right", want: "500 Internal"},
		{name: "not there", file: right, sum: sum, proxies: "URL/none,off", want: "forbids downloads"},
		{name: "cut short", file: right, sum: sum, proxies: "URL/short", want: "unexpected EOF"},
		{name: "another hash", file: outside, sum: sum, proxies: "URL/right", want: "its hash is " + outsideSum},
		{name: "a name outside", file: outside, sum: outsideSum, proxies: "URL/right", want: "evil"},
		{name: "no zip file", file: "toolchain.go", sum: sum, proxies: "URL/right", want: "not a zip file"},
		{name: "unknown system", file: right, proxies: "URL/right", want: "https://go.dev/dl"},
		{name: "no address of http", file: right, sum: sum, proxies: "ftp://someone:secret@host", want: "neither"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file
			if file == "toolchain.go" {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				file = filepath.Join(t.TempDir(), filepath.Base(right))
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := Source{Dir: filepath.Join(t.TempDir(), "a b"), Target: target, Sum: tt.sum, Proxies: strings.ReplaceAll(tt.proxies, "URL", proxies(t, file))}
			err := s.Fetch(t.Context())
			switch {
			case (err == nil) != (tt.want == ""), err != nil && !strings.Contains(err.Error(), tt.want):
				t.Fatalf("%v, want %q", err, tt.want)
			case err != nil:
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("a password: %v", err)
				}
				if left, _ := filepath.Glob(filepath.Join(s.Dir, "*")); len(left) != 0 {
					t.Errorf("left behind: %q", left)
				}
				return
			}
			s.Proxies = "off"
			if err := s.Fetch(t.Context()); err != nil {
				t.Errorf("again: %v", err)
			}
			for name, mode := range map[string]os.FileMode{"bin/go": 0o111, "pkg/tool/x/compile": 0o111, "src/go.mod": 0, "src/main.go": 0} {
				info, err := os.Stat(filepath.Join(s.root(), filepath.FromSlash(name)))
				if err != nil {
					t.Error(err)
				} else if got := info.Mode() & 0o111; got != mode && runtime.GOOS != "windows" {
					t.Errorf("%s: %v", name, info.Mode())
				}
			}
		})
	}
}

// TestUse finds the downloaded Go where PATH has none, and behind another.
func TestUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("cache folders have other names")
	}
	cache, empty, own := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	s, err := User()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(s.Go()), own} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", empty)
	Use()
	if found, err := exec.LookPath("go"); err == nil {
		t.Errorf("found %s before it was downloaded", found)
	}
	for _, name := range []string{s.Go(), filepath.Join(own, "go")} {
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	Use()
	if found, err := exec.LookPath("go"); err != nil || found != s.Go() {
		t.Errorf("found %s, %v", found, err)
	}
	t.Setenv("PATH", own)
	Use()
	if found, err := exec.LookPath("go"); err != nil || filepath.Dir(found) != own || strings.Contains(os.Getenv("PATH"), cache) {
		t.Errorf("found %s, %v", found, err)
	}
}

// TestVersion holds what is downloaded to what the module needs.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\ngo ")
	needs, _, _ := strings.Cut(rest, "\n")
	parts := strings.Split(needs, ".")
	if len(parts) < 2 || !strings.HasPrefix(Version, "go"+parts[0]+"."+parts[1]+".") {
		t.Errorf("the module needs Go %s, and %s is what is downloaded", needs, Version)
	}
}
