package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowgen-dev/flowgen/internal/offline"
	"github.com/flowgen-dev/flowgen/runtime/llm/fake"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flowgen": main})
}

// TestScripts runs the commands as a user does. The go command works offline: whatever flowgen writes must be complete
// with what its own build needed.
func TestScripts(t *testing.T) {
	goEnv := offline.Env(t)
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	model, server := modelServer(t), mcpServer(t)
	proxy := proxyServer(t, model)
	requests := func(ts *testscript.TestScript, neg bool, args []string) { // requests file: what models were asked so far
		if neg || len(args) != 1 {
			ts.Fatalf("usage: requests file")
		}
		var all []byte
		for _, r := range model.Requests() {
			all = append(append(all, string(r.Dialect)+" "...), append(bytes.Join(bytes.Fields(r.Body), []byte(" ")), '\n')...)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o666))
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			for name, value := range goEnv {
				e.Setenv(name, value)
			}
			e.Setenv("EXAMPLES", examples)
			e.Setenv("SOURCE", filepath.Dir(examples))
			e.Setenv("MODEL", model.Base(fake.OpenAI))
			e.Setenv("PROXY", proxy)
			e.Setenv("ANTHROPIC", model.Base(fake.Anthropic))
			e.Setenv("GEMINI", model.Base(fake.Gemini))
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
			e.Setenv("LocalAppData", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("PATH", server+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "postgres":
				return hasPostgres(), nil
			case "long": // .ci/run has the scripts that build a dozen programs
				return os.Getenv("LONG") != "", nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "sed": sed, "age": age, "count": count, "ids": ids, "requests": requests, "publish": publish, "postgres": postgres},
	})
}

// mcpServer builds the MCP server that the runtime's tests use and returns the folder of the program mcpserver.
func mcpServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-ldflags=-s", "-o", filepath.Join(dir, "mcpserver.exe"), "../../runtime/mcptool/testdata/server").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Symlink("mcpserver.exe", filepath.Join(dir, "mcpserver")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// publish puts a folder into a proxy of Go modules, from which the go command takes modules from then on: publish dir path@version
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: publish dir path@version")
	}
	env, err := offline.Publish(filepath.Join(ts.Getenv("WORK"), ".proxy"), ts.MkAbs(args[0]), args[1], ts.Getenv("GOMODCACHE"))
	ts.Check(err)
	for name, value := range env {
		ts.Setenv(name, value)
	}
}

// code runs a command that must end with an exit code: code 2 flowgen chekc
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// sed replaces text in a file: sed file old new
func sed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sed file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o666))
}

// age makes the files of the test look as if they were not written this very moment.
func age(ts *testscript.TestScript, neg bool, args []string) {
	past := time.Now().Add(-time.Hour)
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		if d.IsDir() && d.Name() == ".cache" {
			return filepath.SkipDir
		}
		return os.Chtimes(name, past, past)
	}))
}

// count checks how many files match: count 1 dir/*.go
func count(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: count N pattern")
	}
	names, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if fmt.Sprint(len(names)) != args[0] {
		ts.Fatalf("%d files match %s: %v", len(names), args[1], names)
	}
}
