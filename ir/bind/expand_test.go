package bind

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// doubled are n declarations, each of which holds the one before twice.
func doubled(n int, decl string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, decl+"\n", i, i-1)
	}
	return b.String()
}

// Types that expand are found before the Go compiler sees them, which would be busy for minutes.
func TestExpandingTypes(t *testing.T) {
	const mod = "module example.com/app\n\ngo 1.24\n"
	do := "package t\n\nfunc Do(s string) string { return s }\n\n"
	tooMany := func(name, file string, line, col int) string {
		return fmt.Sprintf("FG0602 <./t> the type %s has more than 131072 fields, those of the structs in it included | use pointers or slices for some of its fields @ flows/%s:%d:%d <%s> declared here",
			name, file, line, col, name[strings.IndexByte(name, '.')+1:])
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"structs":         {map[string]string{"t/t.go": do + "type T0 string\n" + doubled(40, "type T%d struct{ A, B T%d }")}, tooMany("t.T18", "t/t.go", 23, 6)},
		"arrays":          {map[string]string{"t/t.go": do + "type T0 string\n" + doubled(40, "type T%d struct{ A struct{ B, C [1]T%d } }")}, tooMany("t.T18", "t/t.go", 23, 6)},
		"embedded":        {map[string]string{"t/t.go": do + "type T0 string\ntype S struct{}\n" + doubled(40, "type T%d struct{ T%[2]d; X (T%[2]d) }")}, tooMany("t.T18", "t/t.go", 24, 6)},
		"aliases":         {map[string]string{"t/t.go": do + "type T0 = string\n" + doubled(40, "type T%d = struct{ A, B T%d }")}, tooMany("t.T18", "t/t.go", 23, 6)},
		"another package": {map[string]string{"t/t.go": do + "import . \"fmt\"\nimport u \"example.com/app/u\"\nvar _ = Sprint\ntype X struct{ A u.T17; B u.T17 }\n", "u/u.go": "package u\n\ntype T0 int\n" + doubled(17, "type T%d struct{ A, B T%d }")}, tooMany("t.X", "t/t.go", 8, 6)},
		"generic":         {map[string]string{"t/t.go": do + "type G[T any] struct{ A, B T }\ntype X " + strings.Repeat("G[", 40) + "int" + strings.Repeat("]", 40) + "\n"}, tooMany("t.X", "t/t.go", 6, 6)},
		"generic chain":   {map[string]string{"t/t.go": do + "type G0[T any] struct{ A T }\n" + doubled(40, "type G%d[T any] struct{ A, B G%d[T] }")}, tooMany("t.G18", "t/t.go", 23, 6)},
		"two parameters":  {map[string]string{"t/t.go": do + "type G[K comparable, V any] struct{ A, B V }\ntype X " + strings.Repeat("G[int, ", 40) + "int" + strings.Repeat("]", 40) + "\n"}, tooMany("t.X", "t/t.go", 6, 6)},
		"pointers":        {map[string]string{"t/t.go": do + "type T0 struct{}\n" + doubled(40, "type T%d struct{ A, B *T%d; C []T%[2]d; D map[string]T%[2]d; E func(T%[2]d); F chan T%[2]d; G interface{ M(T%[2]d) } }")}, ""},
		"recursive":       {map[string]string{"t/t.go": do + "type T struct{ A, B *T; C []U }\ntype U struct{ T T }\n"}, ""},
		"never built":     {map[string]string{"t/t.go": do, "t/gen.go": "//go:build ignore\n\npackage main\n\ntype T0 int\n" + doubled(40, "type T%d struct{ A, B T%d }"), "t/t_test.go": "package t\n\ntype T0 int\n" + doubled(40, "type T%d struct{ A, B T%d }")}, ""},
	} {
		c.files["go.mod"] = mod
		s := tools("./t.Do")
		if got := strings.Join(show(s.resolveWith(t, Options{Dir: inFolder(t, c.files)})), "\n"); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
}

// What is not known to expand ends at the time limit, and what the go command has started ends with it.
func TestGoTime(t *testing.T) {
	// The replaced module is none of the project's, so that its types are not counted.
	dir := inFolder(t, map[string]string{
		"app/go.mod": "module example.com/app\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
		"app/t/t.go": "package t\n\nimport \"example.com/lib\"\n\nfunc Do(s string) string { return lib.Do(s) }\n",
		"lib/go.mod": "module example.com/lib\n\ngo 1.24\n",
		"lib/lib.go": "package lib\n\nfunc Do(s string) string { return s }\n\ntype T0 string\n" + doubled(45, "type T%d struct{ A, B T%d }"),
	})
	s := tools("./t.Do")
	got := strings.Join(show(s.resolveWith(t, Options{Dir: filepath.Join(dir, "app"), Within: 2 * time.Second})), "\n")
	want := "FG0602 <./t.Do> the go command loads Go packages for more than 2s | run `go build` on the packages to find the one that takes so long"
	if got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	left := running(filepath.Join(dir, "lib"))
	for begin := time.Now(); len(left) > 0 && time.Since(begin) < 2*time.Minute; { // what was killed has to get its turn to end
		left = running(filepath.Join(dir, "lib"))
	}
	if len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// running are the command lines of processes that name dir or work there.
func running(dir string) (list []string) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(name, "cmdline"))
		at, _ := os.Readlink(filepath.Join(name, "cwd"))
		if err == nil && len(text) > 0 && (strings.Contains(string(text), dir) || strings.HasPrefix(at, dir)) {
			list = append(list, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return list
}
