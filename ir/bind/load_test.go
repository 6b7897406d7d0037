package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoOnly: the go command is told of Go files that an editor has changed, and of no others.
func TestGoOnly(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "saved.go")
	if err := os.WriteFile(saved, []byte("package p\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := goOnly(map[string][]byte{
		saved: []byte("package p\n"), filepath.Join(dir, "new.go"): []byte("package p\n"), filepath.Join(dir, "a.flowgen.yaml"): []byte("flowgen: 1\n"),
	})
	if len(got) != 1 || got[filepath.Join(dir, "new.go")] == nil {
		t.Errorf("%v", got)
	}
	if got := goOnly(map[string][]byte{saved: []byte("package p\n\nfunc F() {}\n")}); got[saved] == nil {
		t.Error("a changed file is left out")
	}
}

// TestFailureIsKept: a go command that failed is not asked again with the same Cache. A caller that loads packages in the background whenever
// they are not loaded yet would never end.
func TestFailureIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		mod string
		env []string
	}{
		"no go command":   {mod: "module example.com/app\n\ngo 1.26\n", env: []string{"PATH=/nonexistent"}},
		"a broken go.mod": {mod: "module example.com/app\n\nrequire (\n"},
		"a newer Go":      {mod: "module example.com/app\n\ngo 1.999\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inFolder(t, map[string]string{"go.mod": tt.mod, "t/t.go": tool})
			opts := Options{Dir: dir, Env: tt.env, Cache: &Cache{}}
			if tt.env != nil {
				t.Setenv("PATH", "/nonexistent")
			}
			s := tools("./t.Do")
			first := show(s.resolveWith(t, opts))
			opts.Later = true
			s = tools("./t.Do")
			later := show(s.resolveWith(t, opts))
			if len(first) == 0 || !cmp.Equal(first, later) || strings.Contains(strings.Join(later, "\n"), Loading) {
				t.Errorf("loaded: %q\nlater: %q", first, later)
			}
		})
	}
}
