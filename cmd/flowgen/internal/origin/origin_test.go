package origin

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestFindSourceTree(t *testing.T) {
	o, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "cmd", "flowgen", "internal", "origin", "origin_test.go")); err != nil || o.Version != "" {
		t.Errorf("origin is %+v, not this source tree (%v)", o, err)
	}
	if sums, err := o.Sums(Command); err != nil || !strings.Contains(string(sums), "github.com/spf13/cobra") {
		t.Errorf("go.sum: %v, %d bytes", err, len(sums))
	}
}

func TestFindFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(SourceEnv, dir)
	if _, err := Find(); err == nil {
		t.Error("a folder without go.mod is taken for flowgen")
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/other\n")
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), `the module "example.com/other"`) {
		t.Errorf("another module is taken for flowgen: %v", err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module "+Module+"\n")
	if o, err := Find(); err != nil || o.Dir != dir {
		t.Errorf("got %+v, %v", o, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "runtime"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "runtime", "go.mod"), "module "+Runtime+"\n")
	if sums, err := (Origin{Dir: dir}).Sums(); err != nil || sums != nil {
		t.Errorf("a missing go.sum is an error: %v", err)
	}
}

func TestID(t *testing.T) {
	first, err := ID()
	if err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	if id, ok := buildID([]byte("\x00\xff Go build ID: \"abc/def\"\n \xff\x00")); !ok || id != "abc/def" {
		t.Errorf("got %q", id)
	}
	if id, ok := buildID([]byte("\x00\xff Go build ID: \"\"\n \xff\x00")); ok {
		t.Errorf("an empty build ID is taken: %q", id)
	}
}

// TestLeaves holds the list of modules to the workspace of the source tree, which has tests' modules besides.
func TestLeaves(t *testing.T) {
	o, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, u := range work.Use {
		if u.Path == "." || strings.HasPrefix(u.Path, "./runtime") && !strings.Contains(u.Path, "/internal/") {
			dirs = append(dirs, strings.TrimPrefix(u.Path, "./"))
		}
	}
	want := []string{".", "runtime"}
	for _, leaf := range leaves() {
		want = append(want, "runtime/"+leaf)
	}
	if slices.Sort(dirs); !slices.Equal(dirs, want) {
		t.Errorf("go.work uses %v, want %v", dirs, want)
	}
	for _, name := range o.ModFiles() {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(o.Dir, filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := modfile.ModulePath(text), path.Join(Module, filepath.ToSlash(rel)); got != want {
			t.Errorf("%s is of %s, want %s", name, got, want)
		}
	}
}

func TestRequire(t *testing.T) {
	tree, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	release := Origin{Version: "v1.2.3"}
	at := func(rel string) string { return modfile.AutoQuote(filepath.Join(tree.Dir, filepath.FromSlash(rel))) }
	redis, cli := Runtime+"/cache/redis", Runtime+"/cli"
	for _, tt := range []struct {
		name, mod string
		origin    Origin
		packages  []string
		want      string // without the line of the module
		changed   bool
	}{
		{"hello from a source tree", "", tree, []string{cli, "fmt", "example.com/runtime"},
			"require " + Runtime + " v0.0.0\n\nreplace " + Runtime + " => " + at("runtime") + "\n", true},
		{"hello from a release", "", release, []string{cli}, "require " + Runtime + " v1.2.3\n", true},
		{"redis from a source tree", "", tree, []string{cli, redis}, "require (\n\t" + Runtime + " v0.0.0\n\t" + redis + " v0.0.0\n)\n\nreplace " + Runtime + " => " + at("runtime") +
			"\n\nreplace " + redis + " => " + at("runtime/cache/redis") + "\n", true},
		{"redis from a release", "", release, []string{redis, cli}, "require (\n\t" + Runtime + " v1.2.3\n\t" + redis + " v1.2.3\n)\n", true},
		{"packages in a module", "", release, []string{Runtime + "/otel/traced", Runtime + "/mcptool", Runtime + "/mcptools"},
			"require (\n\t" + Runtime + " v1.2.3\n\t" + Runtime + "/otel v1.2.3\n\t" + Runtime + "/mcptool v1.2.3\n)\n", true},
		{"there already", "require " + Runtime + " v1.0.0\n", tree, []string{cli}, "require " + Runtime + " v1.0.0\n", false},
		{"more than is there", "require " + Runtime + " v1.0.0\n", tree, []string{redis},
			"require (\n\t" + Runtime + " v1.0.0\n\t" + redis + " v0.0.0\n)\n\nreplace " + redis + " => " + at("runtime/cache/redis") + "\n", true},
		{"replaced already", "replace " + Runtime + " => ../f\n", tree, nil, "replace " + Runtime + " => ../f\n\nrequire " + Runtime + " v0.0.0\n", true},
		{"what a module requires", "", tree, []string{Command}, "require (\n\t" + Runtime + " v0.0.0\n\t" + Module + " v0.0.0\n)\n\nreplace " + Runtime + " => " + at("runtime") + "\n\nreplace " + Module + " => " + at("") +
			"\n\nreplace " + Runtime + "/mcptool => " + at("runtime/mcptool") + "\n\nreplace " + Runtime + "/sqltool/sqlite => " + at("runtime/sqltool/sqlite") + "\n\nreplace " + Runtime + "/startool => " + at("runtime/startool") + "\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mod, err := modfile.Parse("go.mod", []byte("module m\n\n"+tt.mod), nil)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := tt.origin.Require(mod, tt.packages...)
			if err != nil || changed != tt.changed {
				t.Errorf("changed %t, %v", changed, err)
			}
			text, err := mod.Format()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(string(text), "module m\n\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
