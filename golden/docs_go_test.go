package golden_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestDocsGo compiles the parts of Go programs on pages, `go fragment=FRAME`, in the frames of testdata/docs.txtar, as packages of
// this repository that an overlay adds.
func TestDocsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles drivers of databases")
	}
	archive, err := txtar.ParseFile("testdata/docs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	frames := map[string]string{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "go/"); ok {
			frames[name] = string(f.Data)
		}
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace, build, used := t.TempDir(), map[string]string{}, []string{"build"}, map[string]bool{}
	for _, glob := range []string{docsGlob, guidesGlob, conceptsGlob} {
		pages, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := docBlocks(string(text))
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			for _, b := range blocks {
				name := b.attrs["fragment"]
				if b.lang != "go" || name == "" {
					continue
				}
				if frames[name] == "" {
					t.Fatalf("%s:%d: there is no frame go/%s", page, b.line, name)
				}
				used[name] = true
				lines := slices.DeleteFunc(slices.Collect(strings.Lines(b.text)), func(line string) bool { return line == "...\n" })
				pkg := fmt.Sprintf("%s_%d", strings.TrimSuffix(filepath.Base(page), ".md"), b.line)
				file := filepath.Join(dir, pkg+".go")
				if err := os.WriteFile(file, []byte(complete(t, frames[name], strings.Join(lines, ""))), 0o666); err != nil {
					t.Fatal(err)
				}
				replace[filepath.Join(here, "pages", pkg, "page.go")] = file
				build = append(build, "./pages/"+pkg)
			}
		}
	}
	for name := range frames {
		if !used[name] {
			t.Errorf("no page uses the frame go/%s", name)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", slices.Insert(build, 1, "-o", os.DevNull, "-overlay", overlay)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
