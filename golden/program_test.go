package golden_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/torture"
)

// A golden run is what stands in want/run.json: an input, and what comes of it. Exactly one of result and error is set.
type goldenRun struct {
	Input  json.RawMessage `json:"input"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Calls  []string        `json:"calls"`
}

// A request goes to the program of all cases, which is testdata/program.
type request struct {
	Case   string            `json:"case"`
	Seeds  int               `json:"seeds"`
	Inputs []json.RawMessage `json:"inputs"`

	Torture *torment `json:"torture,omitempty"` // instead of all that
}

// A report is its answer.
type report struct {
	Case     string      `json:"case"`
	Runs     []goldenRun `json:"runs"`
	Problems []string    `json:"problems"`

	Torture *torture.Report `json:"torture,omitempty"`
}

// seeds is how many schedules, each with and without faults, the simulator tries for every run; it is 50 with TORTURE_TRIALS, as
// in .ci/run. Command tools are real processes, so they get fewer.
var seeds = map[bool]int{true: 50, false: few(20)}[os.Getenv("TORTURE_TRIALS") != ""]

// few is n, or less with the race detector, which makes everything many times slower and finds its faults in any schedule.
func few(n int) int {
	if raceDetector {
		return 8
	}
	return n
}

const commandSeeds = 6

// TestRuns links the cases into one program, which runs every input of want/run.json directly, recorded, replayed, and in
// the simulator. Then all cases are tortured.
func TestRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	var list []*testcase
	byName := map[string]*testcase{}
	only := os.Getenv("TORTURE_CASE")
	for _, c := range corpus(t) {
		if c.code != "" && (only == "" || slices.Contains(strings.Split(only, ","), c.name)) {
			list = append(list, c)
			byName[c.name] = c
		}
	}
	exe := link(t, byName)
	runInputs(t, exe, list)
	t.Run("torture", func(t *testing.T) { runTorture(t, exe, list) })
}

// inputs are those of want/run.json; with fitting those that are refused are left out.
func (c *testcase) inputs(t *testing.T, fitting bool) (list []json.RawMessage) {
	if !c.has("want/run.json") {
		return nil
	}
	var runs []goldenRun
	if err := json.Unmarshal([]byte(c.section("want/run.json")), &runs); err != nil {
		t.Fatalf("%s: want/run.json: %v", c.name, err)
	}
	for _, run := range runs {
		if !fitting || !strings.HasPrefix(run.Error, "input:") {
			list = append(list, run.Input)
		}
	}
	return list
}

func runInputs(t *testing.T, exe string, list []*testcase) {
	var requests []request
	byName := map[string]*testcase{}
	for _, c := range list {
		if !c.has("want/run.json") {
			continue
		}
		r := request{Case: c.name, Seeds: seeds, Inputs: c.inputs(t, false)}
		if strings.Contains(c.code, "exectool.") || strings.Contains(c.code, "pytool.") || strings.Contains(c.code, "jstool.") {
			r.Seeds = commandSeeds
		}
		if c.has("tools/tools.go") && strings.Contains(c.section("tools/tools.go"), "<-ctx.Done()") {
			r.Seeds = 1 // its tools wait for a timeout in real time
		}
		requests = append(requests, r)
		byName[c.name] = c
	}
	for _, r := range ask(t, exe, requests) {
		c := byName[r.Case]
		t.Run(r.Case, func(t *testing.T) {
			for _, p := range r.Problems {
				t.Error(p)
			}
			c.compare(t, "want/run.json", formatRuns(r.Runs))
			c.save(t)
		})
	}
}

// link builds the program.
func link(t *testing.T, cases map[string]*testcase) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	add := func(virtual string, text []byte) {
		file := filepath.Join(dir, fmt.Sprint(len(replace))+filepath.Ext(virtual))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[virtual] = file
	}
	at, err := filepath.Abs("program")
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	list.WriteString("package main\n\nimport (\n")
	var adds strings.Builder
	i := 0
	for _, c := range corpus(t) {
		if cases[c.name] == nil {
			continue
		}
		i++
		fmt.Fprintf(&list, "\tc%d %q\n", i, c.path())
		fmt.Fprintf(&adds, "\tadd(%q, c%d.Info, c%d.New)\n", c.name, i, i)
		for name, text := range c.made() {
			add(name, text)
		}
	}
	fmt.Fprintf(&list, ")\n\nfunc init() {\n%s}\n", adds.String())
	add(filepath.Join(at, "cases.go"), []byte(list.String()))
	sources, err := filepath.Glob("testdata/program/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal("no program", err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add(filepath.Join(at, filepath.Base(file)), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	config, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(config, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-ldflags=-s", "-overlay", config, "-o", exe}
	if raceDetector {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "./program")...).CombinedOutput()
	if err != nil {
		t.Fatalf("the cases do not link: %v\n%s", err, out)
	}
	return exe
}

// ask runs the program in an empty folder.
func ask(t *testing.T, exe string, requests []request) []report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Hour) // the test has a shorter one
	defer cancel()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Dir = t.TempDir()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(requests); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = &in
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	t.Logf("%v of processor time", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond))
	var reports []report
	if err := json.Unmarshal(stdout.Bytes(), &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != len(requests) {
		t.Fatalf("%d reports for %d cases", len(reports), len(requests))
	}
	return reports
}

// formatRuns writes runs so that a person can read them and a diff shows one thing a line.
func formatRuns(runs []goldenRun) string {
	var b strings.Builder
	text := func(v any) string {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v)
		return strings.TrimSpace(out.String())
	}
	compact := func(raw json.RawMessage) string {
		var out bytes.Buffer
		_ = json.Compact(&out, raw)
		return out.String()
	}
	b.WriteString("[")
	for i, r := range runs {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  {\n    \"input\": " + compact(r.Input))
		if r.Error != "" {
			b.WriteString(",\n    \"error\": " + text(r.Error))
		} else {
			b.WriteString(",\n    \"result\": " + compact(r.Result))
		}
		b.WriteString(",\n    \"calls\": [")
		for j, call := range r.Calls {
			if j > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n      " + text(call))
		}
		if len(r.Calls) > 0 {
			b.WriteString("\n    ")
		}
		b.WriteString("]\n  }")
	}
	b.WriteString("\n]\n")
	return visible(b.String())
}

// visible escapes what nobody can see, as the source of Go and of workflows does.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r) // it stands in a string, and all such characters are in the first plane
		}
	}
	return b.String()
}
