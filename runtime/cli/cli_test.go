package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// The sample workflow, written as the generator writes one.

type finding struct {
	Path string `json:"path"`
	Sev  string `json:"sev" flow:"enum=low|high"`
}

type sampleInput struct {
	Repo  string        `json:"repo"`
	Limit int64         `json:"limit" flow:"min=1"`
	Ratio float64       `json:"ratio"`
	Deep  bool          `json:"deep"`
	Mode  string        `json:"mode" flow:"enum=fast|slow"`
	Tags  []string      `json:"tags"`
	Pr    *int64        `json:"pr"`
	Found []finding     `json:"found"`
	Extra value.Value   `json:"extra"`
	Wait  time.Duration `json:"wait"`
}

var sampleNode = &flow.Node{ID: "log", Pos: "sample.flowgen.yaml:20:3"}

var sampleInfo = &flow.Info{
	Name:        "sample",
	Source:      "sample.flowgen.yaml",
	Description: "says what it was given",
	Nodes:       []*flow.Node{sampleNode},
	Input: []flow.Field{
		{Name: "repo", Type: "string", Description: "path of the repository"},
		{Name: "limit", Type: "int", Default: "10"},
		{Name: "ratio", Type: "float", Default: "0.5"},
		{Name: "deep", Type: "bool", Default: "false"},
		{Name: "mode", Type: "enum<fast|slow>", Default: `"fast"`},
		{Name: "tags", Type: "list<string>", Default: "[]"},
		{Name: "pr", Type: "opt<int>"},
		{Name: "found", Type: "list<Finding>", Default: "[]"},
		{Name: "extra", Type: "any", Default: "null"},
		{Name: "wait", Type: "duration", Default: `"1s"`},
	},
}

type sample struct {
	rt   *flow.Runtime
	tool *flow.Tool[sampleInput, sampleInput]
}

func newSample(f func(context.Context, sampleInput) (sampleInput, error)) func(...runtime.Option) (*sample, error) {
	return func(o ...runtime.Option) (*sample, error) {
		rt, err := flow.New(sampleInfo, o...)
		if err != nil {
			return nil, err
		}
		return &sample{rt, flow.Bind("sample.echo@1", flow.Reads, f)}, nil
	}
}

func (w *sample) Run(ctx context.Context, in sampleInput) (out sampleInput, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	return flow.Call(run, sampleNode, w.tool, in)
}

func echo(_ context.Context, in sampleInput) (sampleInput, error) { return in, nil }

// Never called: it compiles only if Go infers all type arguments.
var _ = func() { Main(sampleInfo, newSample(echo)) }

// console is a system whose effects can be looked at.
type console struct {
	system
	out, err bytes.Buffer
	requests chan os.Signal
	released bool
}

func newConsole(args ...string) *console {
	c := &console{requests: make(chan os.Signal, 1)}
	c.system = system{
		args:    args,
		stdin:   strings.NewReader(""),
		stdout:  &c.out,
		stderr:  &c.err,
		env:     func(name string) string { return map[string]string{"FLOWGEN_RUNS": "off"}[name] },
		size:    func() (int, int, bool) { return 0, 0, false },
		signals: func() (<-chan os.Signal, func()) { return c.requests, func() { c.released = true } },
		now:     time.Now,
		ticks:   func() (<-chan time.Time, func()) { return nil, func() {} },
		beats:   func() (<-chan time.Time, func()) { return nil, func() {} },
	}
	return c
}

func (c *console) run(f func(context.Context, sampleInput) (sampleInput, error)) int {
	return run(&c.system, &workflow{info: sampleInfo, run: bind(newSample(f))})
}

const sampleResult = `{
  "repo": "a b",
  "limit": 10,
  "ratio": 0.5,
  "deep": false,
  "mode": "fast",
  "tags": [],
  "pr": null,
  "found": [],
  "extra": null,
  "wait": 1000000000
}
`

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, []byte("\xef\xbb\xbf"+`{"repo": "file", "limit": 3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(sampleResult) }
	for _, tt := range []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"verb", []string{"run", "--input", "repo=a b"}, "", sampleResult},
		{"no verb", []string{"--input", "repo=a b"}, "", sampleResult},
		{"bare text", []string{"a b"}, "", sampleResult},
		{"bare text after the verb and before a flag", []string{"run", "a b", "-quiet"}, "", sampleResult},
		{"bare text that looks like a flag", []string{"--", "--x"}, "", with("a b", "--x")},
		{"value with equals sign", []string{"--input=repo=a=b"}, "", with("a b", "a=b")},
		{"empty value", []string{"--input", "repo="}, "", with("a b", "")},
		{"typed", []string{"a b", "--input", "limit=7", "--input", "ratio=2", "--input", "deep=true", "--input", "mode=slow", "--input", "pr=-5"}, "",
			with(": 10,", ": 7,", "0.5", "2", "false", "true", "fast", "slow", `"pr": null`, `"pr": -5`)},
		{"as stargraph names them", []string{"a b", "-i", "limit=7", "--inputs", "ratio=2", "--inputs", "deep=Yes", "-i", "mode=slow", "-i", "pr=-5"}, "",
			with(": 10,", ": 7,", "0.5", "2", "false", "true", "fast", "slow", `"pr": null`, `"pr": -5`)},
		{"a string stays text", []string{`--input`, `repo={"a": 1}`}, "", with("a b", `{\"a\": 1}`)},
		{"json values", []string{"a b", "--input", `tags=["x"]`, "--input", `found=[{"path":"p","sev":"low"}]`, "--input", `extra={"b":1.0,"a":null}`}, "",
			with(`"tags": []`, "\"tags\": [\n    \"x\"\n  ]", `"found": []`, "\"found\": [\n    {\n      \"path\": \"p\",\n      \"sev\": \"low\"\n    }\n  ]",
				`"extra": null`, "\"extra\": {\n    \"b\": 1.0,\n    \"a\": null\n  }")},
		{"duration", []string{"a b", "--input", "wait=1m"}, "", with("1000000000", "60000000000")},
		{"file", []string{"--input-json", file}, "", with("a b", "file", ": 10,", ": 3,")},
		{"flag over file", []string{"--input-json", file, "--input", "limit=4"}, "", with("a b", "file", ": 10,", ": 4,")},
		{"stdin", []string{"--input-json", "-"}, `{"repo": "a b", "wait": "1s"}`, sampleResult},
		{"html and hostile text", []string{"<a>&\u009b\u202e\U000e0041\x7f\x1b\u2028é"}, "", with("a b", `<a>&\u009b\u202e\udb40\udc41\u007f\u001b\u2028é`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newConsole(tt.args...)
			c.stdin = strings.NewReader(tt.stdin)
			if code := c.run(echo); code != ExitOK {
				t.Fatalf("exit code %d\n%s", code, c.err.String())
			}
			if diff := cmp.Diff(tt.want, c.out.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsageMistakes(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "list.json")
	if err := os.WriteFile(list, []byte(`[1]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"missing", nil, "", "error: missing input repo (string)\nhelp: add --input repo=...\n"},
		{"unknown", []string{"--input", "limt=3", "x"}, "", "error: unknown input limt\nhelp: did you mean limit?\n"},
		{"unknown, nothing near", []string{"--input", "zzzzzzzz=3", "x"}, "",
			"error: unknown input zzzzzzzz\nhelp: the inputs are repo, limit, ratio, deep, mode, tags, pr, found, extra, wait\n"},
		{"unknown in json", []string{"--input-json", "-"}, `{"repo":"x","Limit":3}`, "error: standard input:1:21: unknown input Limit\nhelp: did you mean limit?\n"},
		{"twice in json", []string{"--input-json", "-"}, `{"repo":"x","repo":"y"}`, ""},
		{"twice", []string{"--input", "repo=x", "--input", "repo=y"}, "", "error: input repo is given twice\n"},
		{"twice with text", []string{"--input", "repo=x", "y"}, "", "error: input repo is given twice\n"},
		{"several mistakes", []string{"x", "--input", "limit=a", "--input", "deep=maybe", "--input", "mode=fsat", "--input", "ratio=nan", "--input", "tags=x"}, "",
			"error: input limit is an int, not \"a\"\nerror: input deep is true or false, not \"maybe\"\n" +
				"error: input mode is one of fast, slow, not \"fsat\"\nhelp: did you mean fast?\nerror: input ratio is a float, not \"nan\"\n"},
		{"too large", []string{"x", "--input", "limit=9223372036854775808"}, "", "error: input limit is an int of 64 bits, not \"9223372036854775808\"\n"},
		{"hexadecimal float", []string{"x", "--input", "ratio=0x1p4"}, "", "error: input ratio is a float, not \"0x1p4\"\n"},
		{"infinite float", []string{"x", "--input", "ratio=1e999"}, "", "error: input ratio is a float, not \"1e999\"\n"},
		{"no value", []string{"--input", "repo"}, "", "error: --input repo has no value\nhelp: write --input repo=VALUE\n"},
		{"not UTF-8", []string{"--input", "repo=a\xff"}, "", "error: input repo is not valid UTF-8\n"},
		{"hostile name", []string{"x", "--input", "a\x1b[2Jb\x07=1"}, "", "error: unknown input ab\\x07\nhelp: "},
		{"several texts", []string{"a", "b"}, "", "error: there is one text input, repo, but 2 texts\nhelp: put the text in quotes\n"},
		{"unknown flag", []string{"--inptu", "x"}, "", "error: unknown flag --inptu\nhelp: did you mean --input?\n"},
		{"flag without value", []string{"--input"}, "", "error: flag needs an argument: -input\nhelp: see --help\n"},
		{"exclusive", []string{"--quiet", "--json-events", "x"}, "", "error: --quiet and --json-events exclude each other\nhelp: leave one of them out\n"},
		{"no file", []string{"--input-json", "/no/such.json"}, "", "error: cannot read /no/such.json: "},
		{"not an object", []string{"--input-json", list}, "", "error: " + list + " holds no JSON object\n"},
		{"not JSON", []string{"--input-json", "-"}, `{"repo":`, "error: standard input:1:"},
		{"trailing data", []string{"--input-json", "-"}, `{"repo":"x"} {}`, "error: standard input:1:"},
		{"two files", []string{"--input-json", "-", "--input-json", "-"}, "", "error: invalid value \"-\" for flag -input-json: the flag is given twice\n"},
		{"any is JSON", []string{"x", "--input", "extra=text"}, "", "error: input extra is an any, written as JSON: "},
		{"bound", []string{"x", "--input", "limit=0"}, "", "error: input: limit"},
		{"inside", []string{"x", "--input", `found=[{"path":"p","sev":"lwo"}]`}, "", "error: input: found[0].sev"},
		{"missing inside", []string{"x", "--input", `found=[{"sev":"low"}]`}, "", "error: input: found[0]"},
		{"wrong type in json", []string{"--input-json", "-"}, `{"repo": 3}`, "error: standard input:1:10: repo: a string expected, a number given\n"},
		{"wrong types in json", []string{"--input-json", "-", "--input", "ratio=1.5"},
			"{\n \"repo\": \"é\", \"tags\": [\"a\",\n  {\"x\": [1]}], \"ratio\": \"r\",\n  \"limit\" : true\n}",
			"error: standard input:4:13: limit: an integer expected, a bool given\nerror: standard input:3:3: tags[1]: a string expected, an object given\n"},
		{"wrong type by flag", []string{"--input-json", "-", "--input", `tags=["a", 3]`}, `{"repo": "x"}`, "error: input: tags[1]: a string expected, a number given\n"},
		{"graph format", []string{"graph", "--format", "svg"}, "", "error: unknown format svg\n"},
		{"graph argument", []string{"graph", "x"}, "", "error: unexpected argument x\n"},
		{"graph flag", []string{"graph", "--fromat", "dot"}, "", "error: unknown flag --fromat\nhelp: did you mean --format?\n"},
		{"version argument", []string{"version", "x"}, "", "error: unexpected argument x\n"},
		{"flag of others", []string{"serve", "--port", "8080"}, "", "error: unknown flag --port\nhelp: write --addr HOST:PORT, as in --addr 127.0.0.1:8080\n"},
		{"version flag", []string{"version", "--x"}, "", "error: unknown flag --x\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newConsole(tt.args...)
			c.stdin = strings.NewReader(tt.stdin)
			code := c.run(func(context.Context, sampleInput) (sampleInput, error) {
				t.Error("the workflow ran")
				return sampleInput{}, nil
			})
			if code != ExitUsage {
				t.Errorf("exit code %d, want %d", code, ExitUsage)
			}
			if !strings.HasPrefix(c.err.String(), tt.want) || c.err.Len() == 0 {
				t.Errorf("stderr:\n%s\nwant it to begin with:\n%s", c.err.String(), tt.want)
			}
			if c.out.Len() > 0 {
				t.Errorf("stdout: %s", c.out.String())
			}
		})
	}
}

func TestMissingInputsAreListedTogether(t *testing.T) {
	info := &flow.Info{Name: "x", Input: []flow.Field{{Name: "a", Type: "string"}, {Name: "b", Type: "int"}, {Name: "c", Type: "int", Default: "1"}, {Name: "d", Type: "opt<string>"}}}
	c := newConsole()
	code := run(&c.system, &workflow{info: info})
	want := "error: missing inputs a (string), b (int)\nhelp: add --input a=... --input b=...\n"
	if code != ExitUsage || c.err.String() != want {
		t.Errorf("exit code %d, stderr:\n%s\nwant:\n%s", code, c.err.String(), want)
	}
}

func TestUnknownVerb(t *testing.T) {
	c := newConsole("grpah")
	code := run(&c.system, &workflow{info: &flow.Info{Name: "x"}})
	if want := "error: unexpected argument grpah\nhelp: did you mean graph?\n"; code != ExitUsage || c.err.String() != want {
		t.Errorf("exit code %d, stderr:\n%s\nwant:\n%s", code, c.err.String(), want)
	}
}

func TestTextInput(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields []flow.Field
		want   string
	}{
		{"none", nil, ""},
		{"only, required", []flow.Field{{Name: "a", Type: "string"}}, "a"},
		{"only, with default", []flow.Field{{Name: "a", Type: "string", Default: `"x"`}}, "a"},
		{"only, optional", []flow.Field{{Name: "a", Type: "opt<string>"}}, "a"},
		{"only, int", []flow.Field{{Name: "a", Type: "int"}}, ""},
		{"one required", []flow.Field{{Name: "a", Type: "int", Default: "1"}, {Name: "b", Type: "string"}}, "b"},
		{"two required", []flow.Field{{Name: "a", Type: "string"}, {Name: "b", Type: "string"}}, ""},
		{"two with defaults", []flow.Field{{Name: "a", Type: "string", Default: `""`}, {Name: "b", Type: "string", Default: `""`}}, ""},
		{"one required, no string", []flow.Field{{Name: "a", Type: "string", Default: `""`}, {Name: "b", Type: "int"}}, ""},
	} {
		got := ""
		if f := textInput(&flow.Info{Input: tt.fields}); f != nil {
			got = f.Name
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNamedTypeTakesText(t *testing.T) {
	for _, tt := range []struct{ kind, text, want string }{
		{"Severity", "high", `"high"`},
		{"go:example.com/t.Level", "high", `"high"`},
		{"Finding", `{"path": "x"}`, `{"path": "x"}`},
		{"opt<Severity>", "high", `"high"`},
		{"time", "2026-01-02T03:04:05Z", `"2026-01-02T03:04:05Z"`},
	} {
		got, m := typed(&flow.Field{Name: "a", Type: tt.kind}, tt.text)
		if m != nil || got != tt.want {
			t.Errorf("%s %s = %s, %v; want %s", tt.kind, tt.text, got, m, tt.want)
		}
	}
	if _, m := typed(&flow.Field{Name: "a", Type: "map<Severity>"}, "high"); m == nil {
		t.Error("map<Severity> took text")
	}
}

func TestFailures(t *testing.T) {
	fails := func(err error) func(context.Context, sampleInput) (sampleInput, error) {
		return func(context.Context, sampleInput) (sampleInput, error) { return sampleInput{}, err }
	}
	for _, tt := range []struct {
		name string
		f    func(context.Context, sampleInput) (sampleInput, error)
		code int
		want string
	}{
		{"tool error", fails(&value.ToolError{Code: value.ProviderError, Message: "git exited with status 1: \x1b[31mno\x1b[0m\u202e"}), ExitFailed,
			"sample.flowgen.yaml:20:3: node log: PROVIDER_ERROR: git exited with status 1: no\\u202e\n"},
		{"other error", fails(errors.New("boom\nbang")), ExitFailed, "sample.flowgen.yaml:20:3: node log: UNKNOWN: boom bang\n"},
		{"journal", fails(&runtime.RunError{Kind: runtime.JournalUnavailable, Message: "disk full"}), ExitFault,
			"sample.flowgen.yaml:20:3: node log: journal_unavailable: disk full\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newConsole("x", "--quiet")
			code := c.run(tt.f)
			if code != tt.code || c.err.String() != tt.want || c.out.Len() > 0 {
				t.Errorf("exit code %d, stdout %q, stderr:\n%s\nwant %d and:\n%s", code, c.out.String(), c.err.String(), tt.code, tt.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Run("not started", func(t *testing.T) {
		c := newConsole("x")
		code := run(&c.system, &workflow{info: sampleInfo, run: bind(func(...runtime.Option) (*sample, error) { return nil, errors.New("secret A is not set") })})
		if want := "error: secret A is not set\n"; code != ExitFault || c.err.String() != want {
			t.Errorf("exit code %d, stderr %q, want %q", code, c.err.String(), want)
		}
	})
	t.Run("panic", func(t *testing.T) {
		c := newConsole("x", "--quiet")
		code := c.run(func(context.Context, sampleInput) (sampleInput, error) { panic("oh\x1b[2J no") })
		if code != ExitFault && code != ExitFailed || !strings.Contains(c.err.String(), "panic: oh no") {
			t.Errorf("exit code %d, stderr:\n%s", code, c.err.String())
		}
	})
	t.Run("panic of the body", func(t *testing.T) {
		c := newConsole("x")
		code := run(&c.system, &workflow{info: sampleInfo, run: func(context.Context, []byte, ...runtime.Option) ([]byte, stage, error) { panic("oh no") }})
		if code != ExitFault || !strings.HasPrefix(c.err.String(), "error: panic: oh no\nhelp: ") || !strings.Contains(c.err.String(), "goroutine") {
			t.Errorf("exit code %d, stderr:\n%s", code, c.err.String())
		}
	})
	t.Run("result cannot be encoded", func(t *testing.T) {
		c := newConsole("x", "--quiet")
		code := c.run(func(_ context.Context, in sampleInput) (sampleInput, error) { in.Ratio = math.NaN(); return in, nil })
		if code == ExitOK || c.out.Len() > 0 || c.err.Len() == 0 {
			t.Errorf("exit code %d, stdout %q", code, c.out.String())
		}
	})
	t.Run("result cannot be written", func(t *testing.T) {
		c := newConsole("x", "--quiet")
		c.stdout = brokenPipe{}
		if code := c.run(echo); code != ExitFault || !strings.HasPrefix(c.err.String(), "error: cannot write the result: ") {
			t.Errorf("exit code %d, stderr %q", code, c.err.String())
		}
	})
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestSignals(t *testing.T) {
	for sig, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		c := newConsole("x", "--quiet")
		code := c.run(func(ctx context.Context, _ sampleInput) (sampleInput, error) {
			c.requests <- sig
			<-ctx.Done()
			if !c.released {
				t.Error("a second signal would be caught")
			}
			return sampleInput{}, ctx.Err()
		})
		if code != want || !strings.HasPrefix(c.err.String(), "sample.flowgen.yaml:20:3: node log: cancelled: ") || c.out.Len() > 0 {
			t.Errorf("%v: exit code %d, want %d, stderr:\n%s", sig, code, want, c.err.String())
		}
	}
	c := newConsole("x", "--quiet")
	code := c.run(func(ctx context.Context, in sampleInput) (sampleInput, error) {
		c.requests <- os.Interrupt
		<-ctx.Done()
		return in, nil // had just finished
	})
	if code != ExitOK || c.out.Len() == 0 {
		t.Errorf("a run that succeeded all the same: exit code %d", code)
	}
}

func TestHelp(t *testing.T) {
	want := `sample: says what it was given

Usage:
  [run] [flags] [REPO]           run the workflow
  resume RUN                     continue a run that was killed or waits: completed calls are not repeated
  respond RUN [KEY] ANSWER       answer the open question of a run, and continue the run
  rerun RUN                      start a new run with the results of another and with changes
  replay RUN                     replay a run from its journal without calling any tool
  serve [--addr HOST:PORT]       answer HTTP requests with the workflow; serve --help
  mcp [--addr HOST:PORT]         offer the workflow as a tool of other agents; mcp --help
  prune [--keep N]               delete ended runs, except the latest 20
  graph [--format mermaid|dot]   print the workflow's graph; with --run RUN in the colours of a run
  plan [--format text|json]      print the order of the steps, their bounds and the worst case
  manifest [--format text|json]  print what the workflow can touch
  inspect [RUN [CALL]]           list the recorded runs, or show one
  completion bash|zsh|fish       print the completion script of a shell
  version                        print versions

Inputs:
  repo   string, required: path of the repository
  limit  int, default 10
  ratio  float, default 0.5
  deep   bool, default false
  mode   enum<fast|slow>, default "fast"
  tags   list<string>, default []
  pr     opt<int>
  found  list<Finding>, default []
  extra  any, default null
  wait   duration, default "1s"

` + flagHelp
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}, {"run", "--help"}, {"graph", "-h"}, {"plan", "-h"}, {"manifest", "--help"}, {"version", "--help"}} {
		c := newConsole(args...)
		if code := c.run(echo); code != ExitOK || c.err.Len() > 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, code, c.err.String())
		}
		if diff := cmp.Diff(want, c.out.String()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", args, diff)
		}
	}
}

func TestVersion(t *testing.T) {
	build := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Path: "example.com/notes", Version: "v1.2.0"},
		Deps:     []*debug.Module{{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "../flowgen"}}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "GOOS", Value: "linux"}}}
	want := "sample v1.2.0\n  source    sample.flowgen.yaml\n  flowgen   v0.1.0 (replaced)\n  revision  abc\n  go        go1.26\n"
	if diff := cmp.Diff(want, versionText(sampleInfo, build)); diff != "" {
		t.Errorf("version (-want +got):\n%s", diff)
	}
	if got := versionText(sampleInfo, nil); got != "sample\n" {
		t.Errorf("without build information: %q", got)
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		c := newConsole(args...)
		if code := c.run(echo); code != ExitOK || !strings.HasPrefix(c.out.String(), "sample") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, c.out.String(), c.err.String())
		}
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"limt", "limit"}, {"lmiit", "limit"}, {"LIMIT", "limit"}, {"max-items", "max_items"}, {"x", ""}, {"", ""}, {"zzzzzz", ""},
		{strings.Repeat("limit", 50), ""},
	} {
		if got := nearest(tt.name, []string{"repo", "limit", "max_items"}); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What is too large goes into the directory that the flag or the variable names.
func TestBlobs(t *testing.T) {
	large := func(_ context.Context, in sampleInput) (string, error) { return strings.Repeat("large ", 1000), nil }
	start := func(o ...runtime.Option) (*largeSample, error) {
		rt, err := flow.New(sampleInfo, o...)
		return &largeSample{rt, flow.Bind("sample.large@1", flow.Reads, large, flow.MaxOutput(100))}, err
	}
	dir := filepath.Join(t.TempDir(), "blobs")
	for name, at := range map[string]struct {
		args []string
		env  string
		code int
		says string
	}{
		"flag":     {[]string{"--blobs", dir}, "", ExitOK, "the output of sample.large@1 is cut; all of it is file://"},
		"variable": {nil, dir, ExitOK, "the output of sample.large@1 is cut; all of it is file://"},
		"run":      {[]string{"--runs", t.TempDir()}, "", ExitOK, "the output of sample.large@1 is cut; all of it is file://"},
		"no place": {[]string{"--blobs", "/dev/null/x"}, dir, ExitFault, "cannot keep large outputs: "},
		"no run":   {[]string{"--no-journal"}, "", ExitOK, "the output of sample.large@1 is cut; the rest is not stored"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(append(at.args, "--input", "repo=r")...)
			c.env = func(name string) string { return map[string]string{"FLOWGEN_BLOBS": at.env}[name] }
			if code := run(&c.system, &workflow{info: sampleInfo, run: bind(start)}); code != at.code || !strings.Contains(c.err.String(), at.says) {
				t.Fatalf("exit %d\n%s", code, c.err.String())
			}
			if at.code != ExitOK {
				return
			}
			if got := c.out.String(); !strings.HasPrefix(got, `"large large `) || len(got) > 110 {
				t.Errorf("result %s", got)
			}
			_, says, kept := strings.Cut(c.err.String(), "all of it is ")
			if !kept {
				return
			}
			at, _, _ := strings.Cut(says, "\n")
			place, err := url.Parse(strings.TrimSpace(at))
			if err != nil {
				t.Fatal(err)
			}
			file := place.Path
			if drive := strings.TrimPrefix(file, "/"); filepath.VolumeName(drive) != "" {
				file = drive
			}
			if b, err := os.ReadFile(file); err != nil || len(b) != 6000 {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
}

type largeSample struct {
	rt   *flow.Runtime
	tool *flow.Tool[sampleInput, string]
}

func (w *largeSample) Run(ctx context.Context, in sampleInput) (out string, err error) {
	run := flow.Start(ctx, w.rt, in)
	defer flow.End(run, &out, &err)
	return flow.Call(run, sampleNode, w.tool, in)
}
