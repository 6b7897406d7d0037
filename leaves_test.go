package flowgen_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/parser"
)

// leafTests are what is tested after a dialect is deleted.
var leafTests = []string{"./ir/...", "./codegen/...", "./parser/...", "./golden/..."}

// TestLeaves deletes each dialect in a copy of the repository: its folders, and its lines in parser/dialects.go and go.work. All
// the rest must build and pass its tests, with the page of diagnostics made again. LEAVES=1 asks for it, as `make leaves` does: it takes
// a quarter of an hour. LEAVES=one deletes one of them only, which the commit chooses.
// Tests that link programs are left out; the cases in these are of the dialects that are still there.
func TestLeaves(t *testing.T) {
	mode := os.Getenv("LEAVES")
	if mode == "" {
		t.Skip("LEAVES is not set: this builds the module once for each dialect")
	}
	turn := commitTurn(t, len(parser.Languages()))
	for i, d := range parser.Languages() {
		if mode == "one" && i != turn {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			dir := t.TempDir()
			without(t, dir, d.Name)
			broken := unloadable(t, dir)
			for pkg := range broken {
				t.Errorf("%s imports what is gone", pkg)
			}
			for _, pkg := range vetted(t, dir, broken) {
				t.Errorf("%s does not build", pkg)
				broken[pkg] = true
			}
			documented(t, dir, broken)
			for _, name := range tested(t, dir, broken) {
				t.Errorf("%s fails", name)
			}
		})
	}
}

// commitTurn chooses one of n by the commit that is checked out.
func commitTurn(t *testing.T, n int) int {
	t.Helper()
	commit, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil || len(commit) < 8 {
		t.Fatalf("git rev-parse: %v", err)
	}
	number, err := strconv.ParseUint(string(commit[:8]), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int(number % uint64(n))
}

// documented makes the page of diagnostics again, whose examples are in part those of dialects.
func documented(t *testing.T, dir string, broken map[string]bool) {
	t.Helper()
	if broken["golden"] {
		return
	}
	const page = "docs/diagnostics.md"
	inCopy(t, dir, "test", "-vet=off", "-short", "-run", "^TestDiagnosticsPage$", "./golden", "-update") // which fails where it writes
	if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(page))); err != nil || len(text) < 10_000 {
		t.Fatalf("%s: %d bytes, %v", page, len(text), err)
	}
}

// without copies the files of the module to dir, but for those of a dialect.
func without(t *testing.T, dir, dialect string) {
	t.Helper()
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	mine := []string{"*/" + dialect, "golden/convert/" + dialect, "bench/dialect/" + dialect}
	word := regexp.MustCompile(`\b` + dialect + `\b`)
	deleted := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if name == "docs/dialects/"+dialect+".md" || slices.ContainsFunc(mine, func(pattern string) bool { return below(pattern, name) }) {
			deleted++
			continue
		}
		from, err := os.Open(filepath.FromSlash(name))
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		info, err := from.Stat()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		_ = from.Close()
		if err != nil {
			t.Fatal(err)
		}
		if name == "parser/dialects.go" || name == "go.work" {
			text = regexp.MustCompile(`(?m)^.*`+word.String()+`.*\n`).ReplaceAll(text, nil)
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if deleted < 20 {
		t.Fatalf("%d files of %s are deleted", deleted, dialect)
	}
}

// below reports whether a file is in a folder that the pattern matches.
func below(pattern, name string) bool {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if ok, _ := path.Match(pattern, folder); ok {
			return true
		}
	}
	return false
}

// inCopy runs the go command in a copy. -trimpath makes copies share what is built; one alone shares more with the checkout without it.
func inCopy(t *testing.T, dir string, args ...string) (stdout, stderr []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LEAVES=")
	if os.Getenv("LEAVES") != "one" {
		cmd.Env = append(cmd.Env, "GOFLAGS=-trimpath")
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // what fails is in the output
	return out.Bytes(), errs.Bytes()
}

func relative(pkg string) string {
	pkg, _, _ = strings.Cut(pkg, " [") // of a test
	return strings.TrimPrefix(strings.TrimSuffix(pkg, ".test"), module+"/")
}

// unloadable are the packages that import, by others or by their tests, one that is gone.
func unloadable(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, errs := inCopy(t, dir, "list", "-e", "-test", "-f", "{{.ImportPath}}{{if or .Error .DepsErrors}} broken{{end}}", "work")
	broken := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if pkg, is := strings.CutSuffix(strings.TrimSpace(line), " broken"); is {
			broken[strings.TrimSuffix(relative(pkg), "_test")] = true
		}
	}
	if len(out) == 0 {
		t.Fatalf("go list: %s", errs)
	}
	return broken
}

// rest are the packages of patterns that load.
func rest(t *testing.T, dir string, broken map[string]bool, patterns ...string) []string {
	t.Helper()
	out, errs := inCopy(t, dir, append([]string{"list", "-e"}, patterns...)...)
	var pkgs []string
	for line := range strings.Lines(string(out)) {
		if pkg := strings.TrimSpace(line); !broken[relative(pkg)] {
			pkgs = append(pkgs, pkg)
		}
	}
	if len(pkgs) < 10 {
		t.Fatalf("go list %v: %s", patterns, errs)
	}
	return pkgs
}

var vetHead = regexp.MustCompile(`(?m)^# (\S+)`)

// vetted are the packages that do not compile, with their tests.
func vetted(t *testing.T, dir string, broken map[string]bool) []string {
	t.Helper()
	_, errs := inCopy(t, dir, append([]string{"vet"}, rest(t, dir, broken, "work")...)...)
	var failed []string
	for _, m := range vetHead.FindAllSubmatch(errs, -1) {
		failed = append(failed, strings.TrimSuffix(relative(string(m[1])), "_test"))
	}
	if len(errs) > 0 {
		t.Logf("go vet: %s", errs)
	}
	return failed
}

// tested are the tests that fail, as PACKAGE NAME.
func tested(t *testing.T, dir string, broken map[string]bool) []string {
	t.Helper()
	out, errs := inCopy(t, dir, append([]string{"test", "-json", "-short", "-vet=off", "-timeout", "20m"}, rest(t, dir, broken, leafTests...)...)...)
	var failed []string
	said := map[string]*strings.Builder{}
	passed := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Package, Test, Output string }
		if err := dec.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("go test: %v\n%s", err, errs)
		}
		top, sub, _ := strings.Cut(e.Test, "/")
		name := strings.TrimSpace(relative(e.Package) + " " + top)
		switch {
		case e.Action == "output" && said[name] == nil:
			said[name] = &strings.Builder{}
			fallthrough
		case e.Action == "output":
			if passing := strings.TrimSpace(e.Output); said[name].Len() < 4000 && !strings.HasPrefix(passing, "=== ") && !strings.HasPrefix(passing, "--- PASS") {
				said[name].WriteString(e.Output)
			}
		case e.Action == "fail" && sub == "" && top != "":
			failed = append(failed, name)
			t.Logf("%s: %s", name, said[name])
		case e.Action == "fail" && top == "" && !slices.ContainsFunc(failed, func(f string) bool { return strings.HasPrefix(f, name+" ") }):
			failed = append(failed, name) // it does not link, or ends otherwise
			t.Logf("%s: %s", name, said[name])
		case e.Action == "pass":
			passed++
		}
	}
	if passed < 500 {
		t.Fatalf("%d tests have passed\n%s", passed, errs)
	}
	return failed
}
