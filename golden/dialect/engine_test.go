package dialect_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEngineIsNotImported: where Python has the package of a dialect's own engine, no program imports it when it is compiled and
// run, unless a tool does, as in the cases engine_python: that gets it. The engine is one that notes that it is imported.
func TestEngineIsNotImported(t *testing.T) {
	if testing.Short() {
		t.Skip("links programs")
	}
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		var plain, asking []*testcase
		imports := regexp.MustCompile(`(?m)^\s*(from|import) ` + s.Name + `\b`)
		for _, c := range s.cases {
			var python []byte
			for _, f := range c.archive.Files {
				if strings.HasSuffix(f.Name, ".py") {
					python = append(python, f.Data...)
				}
			}
			switch {
			case c.program == nil || c.elsewhere() || python == nil:
			case c.name == "engine_python":
				asking = append(asking, c)
			case !imports.Match(python) && len(plain) < 8:
				plain = append(plain, c)
			}
		}
		if len(asking) == 0 { // no case of it asks for the engine
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if len(plain) < 3 && *only == "*/*" {
				t.Fatal("only", len(plain), "cases with Python import no engine")
			}
			packages, noted := t.TempDir(), filepath.Join(t.TempDir(), "noted")
			files := map[string]string{
				"__init__.py": "MARK = 'the engine'\nwith open(" + pythonText(noted) + ", 'a') as f:\n    f.write(__name__ + '\\n')\n",
				"tools.py":    "def tool(**words):\n    return lambda function: function\n",
			}
			for name, text := range files {
				name = filepath.Join(packages, s.Name, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PYTHONPATH", packages)
			var cases []*testcase
			for _, c := range slices.Concat(plain, asking) {
				again := &testcase{suite: s, name: c.name, dir: c.dir, file: c.file, archive: c.archive}
				if again.compile(); again.program == nil {
					t.Fatalf("%s does not compile where the engine is installed: %v", c.name, again.list)
				}
				cases = append(cases, again)
			}
			exe := link(t, t.TempDir(), cases)
			for _, c := range cases {
				dir := c.unpack(t)
				cmd := exec.CommandContext(t.Context(), exe, c.dir, c.input())
				cmd.Dir, cmd.Env = dir, c.env(dir, filepath.Join(dir, "asked"))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", c.name, err, out)
				}
				text, err := os.ReadFile(noted)
				if asks := c.name == "engine_python"; !asks && err == nil {
					t.Fatalf("%s imports the engine: %s", c.name, text)
				} else if asks && (err != nil || !strings.Contains(string(out), "the engine")) {
					t.Errorf("the tool that imports the engine does not get it: %v\n%s", err, out)
				}
			}
		})
	}
}

// pythonText is a literal of Python for the name of a file.
func pythonText(name string) string { return "r'" + name + "'" }
