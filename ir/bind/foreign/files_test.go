package foreign_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/bind/foreign"
)

// TestFiles reads what is in a folder and nothing that is not.
func TestFiles(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.py", "no")
	write("flows/tools/a.py", "a")
	write("flows/latin.py", "\xe9")
	write("flows/large.py", strings.Repeat("x", 5<<20))
	home := filepath.Join(top, "flows")
	links := map[string]string{"out.py": "../secret.py", "in.py": "tools/a.py", "up": ".."}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(home, name)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	var seen []string
	files := &foreign.Files{
		Overlay: map[string][]byte{filepath.Join(home, "tools", "new.py"): []byte("new")},
		Seen: func(name string) {
			rel, err := filepath.Rel(home, name)
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, filepath.ToSlash(rel))
		},
	}
	dir := foreign.Folder{Disk: home, Typed: "typed"}
	for name, want := range map[string]string{"tools/a.py": "a", "./tools/../tools/a.py": "a", "tools/new.py": "new", "in.py": "a"} {
		f, err := files.Read(dir, name)
		if err != nil || f.Source.Text != want || f.Source.Name != "typed/"+strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name)), "./") {
			t.Errorf("%s: %+v %v", name, f, err)
		}
	}
	for name, want := range map[string]error{
		"../secret.py": foreign.ErrOutside, "tools/../../secret.py": foreign.ErrOutside, filepath.Join(top, "secret.py"): foreign.ErrOutside,
		"out.py": foreign.ErrOutside, "up/secret.py": foreign.ErrOutside, "none.py": fs.ErrNotExist,
	} {
		if f, err := files.Read(dir, name); !errors.Is(err, want) {
			t.Errorf("%s: %+v %v", name, f, err)
		}
	}
	for _, name := range []string{"latin.py", "large.py", "tools"} {
		if _, err := files.Read(dir, name); err == nil || strings.Contains(foreign.Reason(err), top) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff([]string{"a.py", "new.py"}, files.Names(dir.Join("tools"))); diff != "" {
		t.Error(diff)
	}
	want := []foreign.Entry{{Name: "in.py", Link: true}, {Name: "large.py"}, {Name: "latin.py"}, {Name: "out.py", Link: true}, {Name: "tools", Folder: true}, {Name: "up", Link: true}}
	if diff := cmp.Diff(want, files.Entries(dir)); diff != "" {
		t.Error(diff)
	}
	if !files.IsDir(dir, "tools") || files.IsDir(dir, "none") || !files.IsFile(dir, "tools/new.py") || files.IsFile(dir, "tools") {
		t.Error("what is there is not what is told")
	}
	for _, name := range []string{"tools/a.py", "none.py"} {
		if !strings.Contains(strings.Join(seen, "\n"), name) {
			t.Errorf("%s was looked at and nobody told: %v", name, seen)
		}
	}
}
