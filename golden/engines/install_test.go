package engines_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An engine is one version of a dialect's own, as golden/<dialect>/engine/engines.json lists it.
type engine struct {
	Name    string   // such as "0.6.5"; rows of the table name it
	Require []string // what pip installs
	Python  string   // the oldest minor version of Python that it runs with: "3.11"
	Small   bool     // it is part of the small form, which .ci/run runs
	Alone   string   // a file of exact packages that suffice for the small form: pip installs them without what they need
	Cases   []string // those of the small form; none: all
	Random  int      // random documents of the small form
	Compat  string   // "upstream": random documents have the rules of the older engine beside it

	dialect string
}

// folder is that of a dialect's driver, table and generator.
func folder(dialect string) string { return filepath.Join(home, "..", dialect, "engine") }

// engines are those of a dialect. One without engines.json has none.
func engines(t *testing.T, dialect string) []*engine {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder(dialect), "engines.json"))
	if os.IsNotExist(err) {
		return nil
	}
	var list []*engine
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		e.dialect = dialect
	}
	return list
}

// install makes a virtual environment with the engine, in the user's cache, unless it is there, and returns its Python.
func (e *engine) install(t *testing.T, all bool) string {
	t.Helper()
	name, require := e.Name, e.Require
	if e.Alone != "" && !all {
		name, require = e.Name+"-alone", []string{"--no-deps", "--requirement", filepath.Join(folder(e.dialect), e.Alone)}
	}
	cache := os.Getenv("ENGINES_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "flowgen", "engines")
	}
	dir := filepath.Join(cache, e.dialect+"-"+name)
	python, done := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return python
	}
	base := e.python()
	if base == "" {
		t.Fatalf("%s %s needs Python %s", e.dialect, e.Name, e.Python)
	}
	for _, wait := range []string{"5", "20", "0"} { // registries fail now and then
		out, err := exec.Command(base, "-m", "venv", "--clear", dir).CombinedOutput()
		if err == nil {
			out, err = exec.Command(python, append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, require...)...).CombinedOutput()
		}
		if err == nil {
			if err := os.WriteFile(done, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			return python
		}
		t.Logf("installing %s: %v\n%s", e.Name, err, out)
		_ = exec.Command("sleep", wait).Run()
	}
	t.Fatalf("%s %s cannot be installed", e.dialect, e.Name)
	return ""
}

// python is an interpreter that is new enough: one on the PATH, or of pyenv; empty: there is none.
func (e *engine) python() string {
	candidates := []string{"python3", "python3.12", "python3.13", "python3.11"}
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "3.1*", "bin", "python3"))
		candidates = append(candidates, more...)
	}
	check := fmt.Sprintf("import sys; sys.exit(sys.version_info < (%s))", strings.ReplaceAll(e.Python, ".", ", "))
	for _, c := range candidates {
		if exec.Command(c, "-c", check).Run() == nil {
			return c
		}
	}
	return ""
}

// A job is one run of an engine, as its driver gets it.
type job struct {
	Dir     string            `json:"dir"` // where it runs
	File    string            `json:"file"`
	Compat  string            `json:"compat"` // "upstream", or empty
	Input   json.RawMessage   `json:"input"`
	Answers map[string]string `json:"answers"` // what people say, by question
	Env     map[string]string `json:"env"`
}

// A result is how a run ended, on either side.
type result struct {
	Exit   int    `json:"exit"`
	Output any    `json:"output"`
	Error  string `json:"error"`

	requests []request
	refused  bool
}

// A driver is the process that runs an engine's jobs: one line of JSON each, in and out. It imports the engine once.
type driver struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func (e *engine) start(t *testing.T, all bool) *driver {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(folder(e.dialect), "driver.py"))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := filepath.Abs(filepath.Join(home, "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(e.install(t, all), script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PYTHONPATH="+shared, "PYTHONDONTWRITEBYTECODE=1", "OPENAI_MODEL=gpt-4o-mini", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() && len(text) > 0 {
			t.Logf("what %s wrote last:\n%s", e.Name, text[max(0, len(text)-2000):])
		}
	})
	return &driver{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (d *driver) run(t *testing.T, j *job) *result {
	t.Helper()
	line, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	text, err := d.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the driver ended: %v", err)
	}
	r := &result{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}
