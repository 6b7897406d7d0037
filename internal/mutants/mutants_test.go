//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const code = `package main

type size int64

const limit = 2 - 1 // a constant is not a mutant

type log struct{ n int }

func (l *log) over(m int) bool { return l.n > m && m != 0 }

func main() {
	a, l, word := []int{3, 4}, &log{2}, "a" + "b"
	for i := 0; i < len(a) && i <= 2; i++ {
		a[len(a)-1-i]--
	}
	var s size = 3
	var mask uint8 = 1 << len(a) - 1
	x := 7
	println(l.over(2), l.over(1), a[0], a[1], s*2 >= 6, s/3, mask, x%4, -x, word+"c" == "abc", limit)
}
`

func instrumented(t *testing.T) *source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("x", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	file := fset.File(f.FileStart)
	s := &source{file: "x.go", text: []byte(code), info: info, base: file.Base(), next: 1, lines: func(p token.Pos) int { return file.Line(p) }}
	s.text = s.instrument(f)
	return s
}

// Every mutant is one the program shows, the program without one is the old one, and its keys name each once.
func TestEveryMutantIsAnotherProgram(t *testing.T) {
	s := instrumented(t)
	var keys []string
	for _, m := range s.mutants {
		keys = append(keys, m.key())
	}
	want := []string{
		"log.over | l.n > m | boundary", "log.over | l.n > m | negation", "log.over | m != 0 | negation",
		"main | i < len(a) | boundary", "main | i < len(a) | negation", "main | i <= 2 | boundary", "main | i <= 2 | negation",
		"main | i++ | step", "main | a[len(a)-1-i]-- | step", "main | len(a)-1-i | arithmetic", "main | len(a)-1 | arithmetic",
		"main | 1 << len(a) - 1 | arithmetic", "main | s*2 >= 6 | boundary", "main | s*2 >= 6 | negation", "main | s*2 | arithmetic",
		"main | s/3 | arithmetic", "main | x%4 | arithmetic", "main | -x | sign", `main | word+"c" == "abc" | negation`,
	}
	for i := range want {
		want[i] = "x.go | " + want[i]
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Fatalf("mutants (-want +found):\n%s", diff)
	}
	if lines := strings.Count(string(s.text), "\n"); lines != strings.Count(code, "\n") {
		t.Errorf("%d lines became %d", strings.Count(code, "\n"), lines)
	}

	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.26\n", "x.go": string(s.text),
		"helpers.go": strings.NewReplacer("PACKAGE", "main", "PATH", "x", "COUNT", fmt.Sprint(s.next)).Replace(helpers),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "x.exe", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.text)
	}
	run := func(env ...string) string {
		cmd := exec.Command(filepath.Join(dir, "x.exe"))
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return fmt.Sprint(string(out), err)
	}
	seen := filepath.Join(dir, "seen")
	if err := os.WriteFile(seen, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	sound := run("MUTANTS_SEEN=" + seen)
	if want := "false true 2 3 true 1 3 3 -7 true 1\n<nil>"; sound != want {
		t.Errorf("without a mutant:\n%s\nwant:\n%s", sound, want)
	}
	log, _ := os.ReadFile(seen)
	if got := len(reached.FindAll(log, -1)); got != len(want) {
		t.Errorf("%d of %d mutants are reached", got, len(want))
	}
	equal := []string{"x.go | main | i <= 2 | boundary"} // i ends at 2
	for _, m := range s.mutants {
		if same := run(fmt.Sprintf("MUTANT=x:%d", m.id)) == sound; same != slices.Contains(equal, m.key()) {
			t.Errorf("%s: the same program: %v", m.key(), same)
		}
	}
	if run("MUTANT=y:1") != sound {
		t.Error("a mutant of another package is active")
	}
}

func TestExplanations(t *testing.T) {
	got := explanations("# why\na.go | f | x < 1 | boundary | never 1\na.go | f | x || y > 2 | negation #2 | and\n")
	want := map[string]string{"a.go | f | x < 1 | boundary": "never 1", "a.go | f | x || y > 2 | negation #2": "and"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for key, why := range explanations(explained) {
		if len(strings.Fields(why)) < 3 {
			t.Errorf("%s: %q explains nothing", key, why)
		}
	}
}

// A slice that is over before it begins tries one mutant, and the next goes on behind it.
func TestSlicesGoOn(t *testing.T) {
	left := []mutant{{id: 1}, {id: 2}, {id: 3}, {id: 4}}
	var tried []int
	try := func(m mutant) (string, error) {
		tried = append(tried, m.id)
		return []string{"", "TestX"}[m.id%2], nil
	}
	var ids [][]int
	for _, until := range []time.Time{{}, {}, time.Now().Add(time.Hour)} {
		rest, err := (&bench{until: until}).slice(left, try)
		if err != nil {
			t.Fatal(err)
		}
		var known []int
		for _, m := range rest {
			known = append(known, m.id)
		}
		ids = append(ids, known)
		left = slices.DeleteFunc(rest, func(m mutant) bool { return slices.Contains(tried, m.id) })
	}
	if diff := cmp.Diff([][]int{{2, 3, 4}, {2, 3, 4}, {4}}, ids); diff != "" {
		t.Errorf("survivors and the rest (-want +found):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4}, tried); diff != "" {
		t.Errorf("tried (-want +found):\n%s", diff)
	}
}
