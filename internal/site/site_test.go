package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	fetched = regexp.MustCompile(`(?:src|srcset|action|poster|data)="([^"]*)"|<link [^>]*href="([^"]*)"|url\([^#]|@import`)
	headOne = regexp.MustCompile(`<h1[ >]`)
)

// TestSite: every link of every page leads somewhere, and pages load nothing from other hosts.
// Go caches the result of this test until the package changes, since the pages are outside of its module: -count=1 runs it again.
func TestSite(t *testing.T) {
	s, err := read(root)
	if err != nil {
		t.Fatalf("broken links:\n%v", err)
	}
	out := t.TempDir()
	if err := s.write(out); err != nil {
		t.Fatal(err)
	}
	if len(s.pages) < 40 {
		t.Errorf("only %d pages", len(s.pages))
	}
	err = filepath.WalkDir(out, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "search.js") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, ".txt") {
			return err
		}
		for _, m := range fetched.FindAllSubmatch(text, -1) {
			if to := string(m[1]) + string(m[2]); strings.Contains(to, "//") || to == "" && !strings.HasSuffix(name, ".html") {
				t.Errorf("%s loads %s", name, m[0])
			} else if to != "" {
				if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(to))); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if strings.HasSuffix(name, ".html") && len(headOne.FindAll(text, -1)) != 1 {
			t.Errorf("%s has not one heading of the first level", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	llms := string(s.llms(s.groups()))
	index, err := s.index()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.pages {
		if strings.HasPrefix(p.file, "docs/") && strings.Count(llms, "/main/"+p.file+")") != 1 {
			t.Errorf("llms.txt does not list %s once", p.file)
		}
		if !bytes.Contains(index, []byte(`"u":"`+p.url()+"#")) {
			t.Errorf("search does not find %s", p.file)
		}
	}
}

// TestBroken: a link to a page, a heading or a file that does not exist is an error.
func TestBroken(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[a](b.md)", "file b.md does not exist"},
		{"[a](#c)", "has no heading #c"},
		{"[a](docs/x.md#d)", "docs/x.md has no heading #d"},
		{"[a](../x)", "file ../x does not exist"},
		{"[a](http://example.com)", "is not https"},
		{"[a](docs/x.md#two-words)", ""},
		{"[a](docs)", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"README.md": "# A\n\n" + tt.text + "\n", "docs/x.md": "# X\n\n## Two `words`\n"} {
			if err := save(dir, name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := read(dir); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestTour: the picture shows the commands that README.md has today.
func TestTour(t *testing.T) {
	want, err := tour(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + "/docs/tour.svg")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/tour.svg is stale: run `go run ./internal/site -tour docs/tour.svg` (%v)", err)
	}
}
