// Package toy_test adds a dialect to flowgen as docs/architecture/dialect.md says: the files below testdata and a line in
// parser/dialects.go, all in an overlay. The flowgen that this makes checks, plans and compiles files of the dialect, and the
// program of one runs.
package toy_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An overlay is files that the go command sees although they are not there.
type overlay struct {
	t       *testing.T
	dir     string
	replace map[string]string // by their absolute names
}

// put adds a file, by its name in the module.
func (o *overlay) put(name string, text []byte) {
	o.t.Helper()
	virtual, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		o.t.Fatal(err)
	}
	o.replace[virtual] = filepath.Join(o.dir, fmt.Sprint(len(o.replace))+path.Ext(name))
	if err := os.WriteFile(o.replace[virtual], text, 0o644); err != nil {
		o.t.Fatal(err)
	}
}

// folder adds the files of a folder, which are below golden, as those of another.
func (o *overlay) folder(name, from string) {
	o.t.Helper()
	names, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(from), "*.go"))
	if err != nil || len(names) == 0 {
		o.t.Fatal("no files in", from, err)
	}
	for _, file := range names {
		o.put(name+"/"+filepath.Base(file), read(o.t, file))
	}
}

// build builds a command of the module.
func (o *overlay) build(pkg string) string {
	o.t.Helper()
	list, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		o.t.Fatal(err)
	}
	name, exe := filepath.Join(o.dir, "overlay.json"), filepath.Join(o.dir, path.Base(pkg)+".exe")
	if err := os.WriteFile(name, list, 0o644); err != nil {
		o.t.Fatal(err)
	}
	cmd := exec.CommandContext(o.t.Context(), "go", "build", "-ldflags=-s", "-overlay", name, "-o", exe, pkg)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%s does not build with the dialect: %v\n%s", pkg, err, out)
	}
	return exe
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// added is flowgen's source with the dialect: its folders, and the two lines of it in parser/dialects.go.
func added(t *testing.T) *overlay {
	t.Helper()
	o := &overlay{t: t, dir: t.TempDir(), replace: map[string]string{}}
	o.folder("parser/toy", "toy/testdata/parser/toy")
	o.folder("runtime/toy", "toy/testdata/runtime/toy")
	text := string(read(t, "../../parser/dialects.go"))
	for before, line := range map[string]string{
		"import (\n": "\t\"github.com/flowgen-dev/flowgen/parser/toy\"\n",
		"}{\n":       "\t{toy.Language, nil},\n",
	} {
		if strings.Count(text, before) != 1 {
			t.Fatalf("parser/dialects.go has %q %d times", before, strings.Count(text, before))
		}
		text = strings.Replace(text, before, before+line, 1)
	}
	o.put("parser/dialects.go", []byte(text))
	return o
}

// TestToy builds flowgen with the dialect and runs the commands of the page, whose files are those of the page as well. Then the
// program of its workflow runs directly, recorded, replayed, and in many orders.
func TestToy(t *testing.T) {
	if testing.Short() {
		t.Skip("links flowgen and a program")
	}
	o, page := added(t), pageOf(t, "dialect")
	exe, dir := o.build("./cmd/flowgen"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/app\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, b := range page.blocks {
		if name := b.attrs["file"]; b.lang == "yaml" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	ran := 0
	for _, b := range page.blocks {
		if b.lang != "console" {
			continue
		}
		for _, c := range b.commands() {
			args := strings.Fields(c.line)
			if args[0] != "flowgen" {
				continue
			}
			cmd := exec.CommandContext(t.Context(), exe, args[1:]...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput() // the status is 1 where a file is wrong
			if got := strings.TrimRight(string(out), "\n"); !fits(got, c.output) {
				t.Errorf("%s prints\n%s\nthe page says\n%s", c.line, got, c.output)
			}
			ran++
		}
	}
	if ran < 4 {
		t.Errorf("%d commands of the page were run", ran)
	}
	for _, name := range []string{"toy_flow.go", "toy_flow.json"} {
		o.put("golden/toy/greeting/"+name, read(t, filepath.Join(dir, "greeting", name)))
	}
	o.folder("golden/toy/program", "testdata/program")
	o.put("golden/toy/program/cases.go", []byte("package main\n\nimport \"github.com/flowgen-dev/flowgen/golden/toy/greeting\"\n\nfunc init() { add(\"greeting\", greeting.Info, greeting.New) }\n"))
	cmd := exec.CommandContext(t.Context(), o.build("./golden/toy/program"))
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(`[{"case": "greeting", "seeds": 20, "inputs": [{"name": "Ada"}]}]`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var reports []struct {
		Runs     []struct{ Result json.RawMessage }
		Problems []string
	}
	if err := json.Unmarshal(out, &reports); err != nil || len(reports) != 1 || len(reports[0].Problems) > 0 || len(reports[0].Runs) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = `{"hello":"Hello, Ada!","loud":"HELLO, ADA!\nHello, Ada!\n","size":"4"}`
	if got := string(reports[0].Runs[0].Result); got != want {
		t.Errorf("the run gives %s, want %s", got, want)
	}
}

// TestPages holds the Go of the pages about adding to the source: a block with a file is part of that file, or for the dialect
// all of it. A line `...` stands for any lines.
func TestPages(t *testing.T) {
	for _, name := range []string{"verb", "tool", "dialect"} {
		page := pageOf(t, name)
		excerpts := 0
		for _, b := range page.blocks {
			file := b.attrs["file"]
			switch {
			case b.lang == "go" && file == "":
				t.Errorf("%s:%d: a block of Go without a file", page.name, b.line)
			case b.lang == "go":
				excerpts++
				from := "../../" + file
				if name == "dialect" && path.Base(path.Dir(file)) == "toy" {
					from = "testdata/" + file
				}
				if text := string(read(t, from)); !holds(text, b.text) {
					t.Errorf("%s:%d: this is not in %s:\n%s", page.name, b.line, file, b.text)
				}
				if made, err := format.Source([]byte(b.text)); !strings.Contains(b.text, "...\n") && strings.HasPrefix(b.text, "package") && (err != nil || string(made) != b.text) {
					t.Errorf("%s:%d: not formatted: %v", page.name, b.line, err)
				}
			case b.lang == "console":
				for _, c := range b.commands() {
					page.command(t, b, c.line)
				}
			}
		}
		if excerpts < 3 {
			t.Errorf("%s has %d blocks of Go", page.name, excerpts)
		}
		page.paths(t)
	}
	for _, file := range []string{"parser/toy/toy.go", "parser/toy/functions.go", "parser/toy/lower.go", "runtime/toy/toy.go"} {
		text, shown := string(read(t, "testdata/"+file)), false
		for _, b := range pageOf(t, "dialect").blocks {
			shown = shown || b.attrs["file"] == file && b.text == text
		}
		if !shown {
			t.Errorf("docs/architecture/dialect.md does not have all of %s", file)
		}
	}
}

// holds reports whether text has an excerpt: whole lines, one run of them between two lines `...`.
func holds(text, excerpt string) bool {
	text = "\n" + text
	for part := range strings.SplitSeq("\n"+excerpt, "\n...\n") {
		i := strings.Index(text, "\n"+strings.Trim(part, "\n")+"\n")
		if i < 0 {
			return false
		}
		text = text[i+len(strings.Trim(part, "\n"))+1:]
	}
	return true
}

// fits reports whether output is what a page shows of it: a line `...` stands for any lines.
func fits(got, shown string) bool {
	lines := strings.Split(shown, "\n")
	for i, line := range lines {
		if lines[i] = regexp.QuoteMeta(line); line == "..." {
			lines[i] = "(?s:.*)"
		}
	}
	return regexp.MustCompile(`\A` + strings.Join(lines, "\n") + `\z`).MatchString(got)
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		excerpt string
		want    bool
	}{{"b\nc\n", true}, {"a\n...\nd\n", true}, {"b\n...\na\n", false}, {"b c\n", false}, {"c\nd\ne\n", false}} {
		if holds("a\nb\nc\nd\n", tt.excerpt) != tt.want {
			t.Errorf("%q: want %v", tt.excerpt, tt.want)
		}
	}
	if fits("something", "") || !fits("", "") || !fits("a\nb", "a\n...") || fits("a\nb", "b") || !fits("a\nb\nc", "a\n...\nc") {
		t.Error("output is taken for what a page shows, or is not")
	}
}
