package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlfmt"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// comments are those of a file, sorted.
func comments(t *testing.T, name, text string) []string {
	t.Helper()
	root, problems := yamlnode.Parse(source.NewFile(name, text))
	if root == nil {
		t.Fatal(problems)
	}
	var out []string
	for _, c := range yamlfmt.Comments(text, root) {
		out = append(out, c.Text)
	}
	slices.Sort(out)
	return out
}

// stricter are cases whose data do not fit what their own file declares: the native workflow ends there with an error
// that says so, where the dialect goes on.
var stricter = map[string]string{
	"openexpertise/contract":    "tools return what no result of a tool is, and fields that their node does not write",
	"yamlgraph/llm":             "answers do not fit their schema, and runs have no keywords",
	"yamlgraph/llm_documented":  "a run lacks a field that a prompt shows",
	"yamlgraph/names_prompts":   "an answer has fields that its schema does not name",
	"yamlgraph/router":          "answers do not fit their schema",
	"yamlgraph/key_upstream":    "a task has arguments that are no mapping",
	"yamlgraph/map_tool_call":   "tasks have no arguments, or none that are a mapping",
	"openexpertise/retries":     "a tool writes a field that the state does not have",
	"openexpertise/schema_file": "an answer has a field that its schema does not name",
	"openexpertise/values_odd":  "a tool returns NaN, which is null in JSON, for a number",
}

// unrun are nodes whose commands lack a value: to the engine they are calls that fail, and a native workflow calls nothing.
var unrun = map[string][]string{"yamlgraph/shell": {"missing", "end"}}

// TestSame runs what every case becomes with the case's inputs, and compares it with what the case gives (want/run, which
// golden/dialect holds to its program).
//
// The same means: the native output is the result of the dialect without what surrounds it (the status, the name of the
// last step, and messages that the file does not name); null and what is absent are one; so are absent lists and empty ones, where the state of a dialect knows a
// difference. Models are told the same (want/asked). Where the dialect fails, the native workflow fails at the same node with the same code.
func TestSame(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	for _, program := range []string{"python3", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	all := slices.DeleteFunc(slices.Clone(cases(t)), func(c *testcase) bool { return c.text == "" || c.find("want/run") == "" })
	if len(all) == 0 {
		t.Fatal("no case becomes a native file")
	}
	exe := link(t, t.TempDir(), all)
	for _, c := range all {
		t.Run(c.dir, func(t *testing.T) {
			t.Parallel()
			out, asked := c.run(t, exe)
			made, want := outcomes(c.dialect, out), outcomes(c.dialect, c.find("want/run"))
			if len(made) != len(want) {
				t.Fatalf("%d runs, not %d", len(made), len(want))
			}
			for i := range want {
				if why, ok := stricter[c.dir]; ok && strings.HasPrefix(made[i].text, "error: ") && strings.Contains(made[i].text, "VALIDATION_ERROR") && !strings.HasPrefix(want[i].text, "error: ") {
					t.Log("stricter:", why)
					asked = c.find("want/asked") // as far as it came
					continue
				}
				if !same(c, want[i].text, made[i].text) {
					t.Errorf("run %d\ndialect: %s\nnative:  %s", i+1, want[i].text, made[i].text)
				}
				for _, id := range unrun[c.dir] {
					if slices.Contains(want[i].keys, id) {
						want[i].calls--
					}
				}
				if want[i].calls != made[i].calls {
					t.Errorf("run %d makes %d calls, not %d", i+1, made[i].calls, want[i].calls)
				}
			}
			if told := c.find("want/asked"); told != asked {
				t.Errorf("what models are told (-dialect +native):\n%s", cmp.Diff(strings.Split(told, "\n"), strings.Split(asked, "\n")))
			}
		})
	}
}

// An outcome is what a run gives, and of how many calls its journal has the results. Attempts of one call are one.
type outcome struct {
	text  string
	keys  []string
	calls int
}

var (
	visit   = regexp.MustCompile(`#\d+$`)
	attempt = regexp.MustCompile(`\[\d+\]/ask_`)      // of an agent that has a policy of its own
	further = regexp.MustCompile(`\]/([a-z_]+)_\d+$`) // of a node that is in a loop twice
	between = regexp.MustCompile(`\]/\w+_wait$`)      // the wait after one
	written = regexp.MustCompile(`^remember_\w+$`)    // to the memory, which in a dialect are visits of one node
)

// outcomes are the runs of want/run. A key that ends in #2 is a second attempt.
func outcomes(dialect, text string) []outcome {
	var out []outcome
	seen := map[string]bool{}
	for _, l := range strings.Split(text, "\n") {
		partial := strings.HasPrefix(l, `{"status":"failed","`) // what a run of a dialect has reached that then fails
		switch key, isKey := strings.CutPrefix(l, "  "); {
		case l == "" || partial || between.MatchString(l):
		case !isKey:
			out, seen = append(out, outcome{text: l}), map[string]bool{}
		default:
			if dialect != "yamlgraph" { // where it is another round of a cycle
				key = attempt.ReplaceAllString(visit.ReplaceAllString(key, ""), "/ask_")
				key = further.ReplaceAllString(key, "]/$1")
				key = written.ReplaceAllString(key, "memory")
			}
			if !seen[key] {
				seen[key] = true
				last := &out[len(out)-1]
				last.calls, last.keys = last.calls+1, append(last.keys, key)
			}
		}
	}
	return out
}

var messages = regexp.MustCompile(`\bmessages\b`)

var failure = regexp.MustCompile(`node ([^:]+): ([A-Z_]+): `)

// same compares two outcomes.
func same(c *testcase, want, made string) bool {
	if strings.HasPrefix(want, "error: ") || strings.HasPrefix(made, "error: ") {
		a, b := failure.FindStringSubmatch(want), failure.FindStringSubmatch(made)
		return a != nil && b != nil && strings.HasPrefix(made, "error: ") && strings.HasPrefix(want, "error: ") && a[2] == b[2]
	}
	return reflect.DeepEqual(result(c, want), plain(parse(made)))
}

func parse(text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// result is what a dialect gives without what surrounds it.
func result(c *testcase, text string) any {
	v, _ := parse(text).(map[string]any)
	switch c.dialect {
	case "openexpertise":
		return plain(v["finalState"])
	case "sirenspec":
		return plain(v["output"])
	}
	delete(v, "current_step")
	if !messages.MatchString(c.find(roots[c.dialect])) { // then they are the engine's own
		delete(v, "messages")
	}
	return plain(v)
}

// plain is a value without fields that are null or empty lists.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if list, ok := x.([]any); x == nil || ok && len(list) == 0 {
				continue
			}
			out[k] = plain(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return f
	}
	return v
}

// run runs a case as plain Go, recorded and replayed. asked is what models are told.
func (c *testcase) run(t *testing.T, exe string) (text, asked string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range c.archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(f.Name, "bin/") {
			mode = 0o755
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	input := "{}"
	if c.dialect == "sirenspec" {
		input = `{"message":"hello"}`
		if d := c.program.Input.Fields[0].Default; d != nil {
			input = `{"message":` + d.JSON + "}"
		}
	}
	cmd := exec.CommandContext(t.Context(), exe, c.dir, input)
	cmd.Dir = dir
	told := filepath.Join(t.TempDir(), "asked")
	cmd.Env = append(os.Environ(), "ASKED="+told, "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "FLOWGEN_FILE=", "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	lines, _ := os.ReadFile(told) // there is none where no model is asked
	return string(out), string(lines)
}

// link builds one program of all native files.
func link(t *testing.T, dir string, all []*testcase) string {
	t.Helper()
	replace := map[string]string{}
	add := func(virtual string, text []byte) {
		at, err := filepath.Abs(virtual)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, strconv.Itoa(len(replace))+filepath.Ext(virtual))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[at] = file
	}
	var imports, adds strings.Builder
	for n, c := range all {
		text, err := codegen.Generate(c.program, c.opts)
		if err != nil {
			t.Fatalf("%s: %v", c.dir, err)
		}
		if c.code != nil { // it was found in the folder of the dialect, as that of the case is not on the disk
			folder := path.Dir(strings.TrimPrefix(c.code.Name, c.dir))
			text = bytes.ReplaceAll(text, []byte("/golden/"+c.dialect+folder+`"`), []byte("/golden/"+c.dir+folder+`"`))
			add(c.code.Name, []byte(c.code.Text))
		}
		add(c.dir+"/"+c.opts.Name+".go", text)
		for _, a := range codegen.Assets(c.program, c.opts) {
			add(c.dir+"/"+a.Name, a.Data)
		}
		fmt.Fprintf(&imports, "\tc%d %q\n", n, c.opts.Path)
		fmt.Fprintf(&adds, "\tadd(%q, c%d.New)\n", c.dir, n)
	}
	add("program/cases.go", []byte("package main\n\nimport (\n"+imports.String()+")\n\nfunc init() {\n"+adds.String()+"}\n"))
	sources, err := filepath.Glob("*/testdata/program/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal("no program", err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add("program/"+filepath.Base(file), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-overlay", config, "-o", exe, "./program").CombinedOutput(); err != nil {
		t.Fatalf("the native workflows do not link: %v\n%s", err, out)
	}
	return exe
}
