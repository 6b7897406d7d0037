package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
)

// kept is a console whose runs are kept in dir.
func kept(dir string, args ...string) *console {
	c := newConsole(args...)
	c.env = func(name string) string { return map[string]string{"FLOWGEN_RUNS": dir}[name] }
	return c
}

// journalOf is the file of the only run in dir.
func journalOf(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "journal.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	return names[0]
}

func TestRecordedAndReplayed(t *testing.T) {
	dir := t.TempDir()
	c := kept(dir, "--input", "repo=a b")
	if code := c.run(echo); code != ExitOK {
		t.Fatal(code, c.err.String())
	}
	never := func(context.Context, sampleInput) (sampleInput, error) {
		t.Error("the tool was called")
		return sampleInput{}, nil
	}
	for _, args := range [][]string{{"replay", "latest"}, {"resume", "sample-"}} {
		again := kept(dir, args...)
		want := c.out.String()
		if code := again.run(never); code != ExitOK || again.out.String() != want {
			t.Errorf("%v: exit code %d, %s%s", args, code, again.out.String(), again.err.String())
		}
	}
}

// Whatever is wrong with a run that somebody names, it is said and nothing runs.
func TestWrongRuns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		change func(text string) string
		code   int
		want   string
	}{
		{"no run", []string{"resume"}, nil, ExitUsage, "which run?"},
		{"two runs", []string{"resume", "latest", "latest"}, nil, ExitUsage, "unexpected argument latest"},
		{"unknown", []string{"replay", "w-1"}, nil, ExitUsage, "has no run w-1"},
		{"flag", []string{"replay", "latest", "--mising"}, nil, ExitUsage, "did you mean --missing?"},
		{"no decision", []string{"resume", "latest", "--in-doubt", "echo"}, nil, ExitUsage, "write --in-doubt KEY=again"},
		{"no JSON", []string{"resume", "latest", "--in-doubt", "echo={"}, nil, ExitUsage, "the output is not JSON"},
		{"nothing asked", []string{"respond", "latest", "yes"}, nil, ExitUsage, "the run has no open question"},
		{"no set", []string{"rerun", "latest", "--set", "repo"}, nil, ExitUsage, "write --set PATH=VALUE"},
		{"no field", []string{"rerun", "latest", "--set", "input.rep=1"}, nil, ExitUsage, "unknown field rep"},
		{"no result", []string{"rerun", "latest", "--set", "nothing=1"}, nil, ExitUsage, "no result of a node nothing"},
		{"unknown redo", []string{"resume", "latest", "--redo", "lgo"}, nil, ExitUsage, "--redo lgo: the run has no call lgo\nhelp: did you mean log?"},
		{"unknown doubt", []string{"respond", "latest", "yes", "--in-doubt", "nothing=again"}, nil, ExitUsage, "--in-doubt nothing: the run has no call nothing"},
		{"another kind", []string{"rerun", "latest", "--set", "log.limit=many"}, nil, ExitFault, "diverged: the output given for call log does not fit: limit cannot be a string"},
		{"no value", []string{"rerun", "latest", "--set", "log.limit=null"}, nil, ExitFault, "does not fit: limit cannot be null"},
		{"no choice", []string{"rerun", "latest", "--set", "log.mode=soon"}, nil, ExitFault, `does not fit: mode: "soon" is not one of fast, slow`},
		{"edited, and of another", []string{"resume", "latest"}, func(s string) string {
			return strings.Replace(s, `"workflow":"sample"`, `"workflow":"simple","graph":"0"`, 1)
		}, ExitUsage, "is a run of simple, this is sample"},
		{"of another", []string{"resume", "latest"}, func(s string) string { return strings.Replace(s, `"workflow":"sample"`, `"workflow":"simple"`, 1) }, ExitUsage, "is a run of simple, this is sample"},
		{"a secret", []string{"replay", "latest"}, func(s string) string { return strings.Replace(s, `"repo":"r"`, `"repo":"`+redact.Redacted+`"`, 1) }, ExitFault, "contained a secret"},
		{"format", []string{"resume", "latest"}, func(s string) string { return strings.Replace(s, `"format":1`, `"format":7`, 1) }, ExitFault, "has format 7, this program reads 1"},
		{"kind", []string{"resume", "latest"}, func(s string) string { return strings.Replace(s, `"kind":"end"`, `"kind":"bend"`, 1) }, ExitFault, "another version of flowgen"},
		{"other input", []string{"replay", "latest"}, func(s string) string {
			return strings.Replace(s, `"tool":"sample.echo@1","effects":"reads","call_id":`, `"tool":"sample.echo@2","effects":"reads","call_id":`, 1)
		}, ExitFault, "tool is sample.echo@1, recorded sample.echo@2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if c := kept(dir, "--input", "repo=r", "--quiet"); c.run(echo) != ExitOK {
				t.Fatal(c.err.String())
			}
			if tt.change != nil {
				rewrite(t, journalOf(t, dir), tt.change)
			}
			c := kept(dir, tt.args...)
			code := c.run(func(context.Context, sampleInput) (sampleInput, error) {
				t.Error("the tool was called")
				return sampleInput{}, nil
			})
			if code != tt.code || !strings.Contains(c.err.String(), tt.want) || c.out.Len() > 0 {
				t.Errorf("exit code %d, want %d; %s%s, want %s", code, tt.code, c.out.String(), c.err.String(), tt.want)
			}
		})
	}
}

// rewrite changes the lines of a journal and seals them again: what another program could have written.
func rewrite(t *testing.T, name string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(string(text))
	if changed == string(text) {
		t.Fatalf("nothing to change in %s", text)
	}
	var b strings.Builder
	for line := range strings.Lines(changed) {
		b.WriteString(line[:strings.LastIndex(line, `,"sum":"`)] + "}\n")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, name, wal.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if err := log.Append([]byte(strings.TrimSuffix(line, "\n")), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	if c := kept(dir, "--input", "repo=r", "--quiet"); c.run(echo) != ExitOK {
		t.Fatal(c.err.String())
	}
	name := journalOf(t, dir)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), `"repo":"r"`, `"repo":"x"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := kept(dir, "resume", "latest")
	if code := c.run(echo); code != ExitFault || !strings.Contains(c.err.String(), "line 1 of the journal, at byte 0, is damaged: its checksum does not match") {
		t.Errorf("%d: %s", code, c.err.String())
	}
}

// Who says where runs are kept and it cannot be is told; who says nothing is warned.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newConsole("--input", "repo=r", "--runs", filepath.Join(file, "runs"))
	if code := c.run(echo); code != ExitFault || !strings.Contains(c.err.String(), "error: cannot record the run: ") || c.out.Len() > 0 {
		t.Errorf("%d: %s", code, c.err.String())
	}
	c = newConsole("resume", "latest") // FLOWGEN_RUNS is off
	if code := c.run(echo); code != ExitUsage || !strings.Contains(c.err.String(), "FLOWGEN_RUNS is off") {
		t.Errorf("%d: %s", code, c.err.String())
	}
}

// A question that nobody is there for stops the run. Its timeout counts from the first time it was asked.
func TestWaiting(t *testing.T) {
	timed := *askNode
	body := func(r *flow.Run) (string, error) {
		return flow.AskOr(r, &timed, runtime.Question{Text: "Well?"}, "nobody said anything")
	}
	dir := t.TempDir()
	ask := func(limit time.Duration, args ...string) (*console, int) {
		timed.Timeout = limit
		c := kept(dir, args...)
		return c, c.runAsking(body)
	}
	if c, code := ask(time.Hour, "run"); code != ExitWaits || !strings.Contains(c.err.String(), "\nWell?\nwaiting for an answer to ask: ") || c.out.Len() > 0 {
		t.Fatalf("%d: %s", code, c.err.String())
	}
	other := t.TempDir() // the command that is shown works as it is
	if c, _ := ask(time.Hour, "run", "--runs", other); !strings.Contains(c.err.String(), " respond --runs "+shellWord(other)+" ") {
		t.Errorf("%s", c.err.String())
	}
	if c, code := ask(time.Hour, "resume", "latest"); code != ExitWaits {
		t.Fatalf("%d: %s", code, c.err.String())
	}
	if c, code := ask(time.Hour, "respond", "latest", "well", "--later"); code != ExitOK || c.out.Len() > 0 {
		t.Fatalf("%d: %s", code, c.err.String())
	}
	if c, code := ask(time.Hour, "resume", "latest"); code != ExitOK || c.out.String() != "\"well\"\n" {
		t.Errorf("%d: %s%s", code, c.out.String(), c.err.String())
	}
	dir = t.TempDir()
	if c, code := ask(time.Hour, "run"); code != ExitWaits {
		t.Fatalf("%d: %s", code, c.err.String())
	}
	if c, code := ask(time.Nanosecond, "resume", "latest"); code != ExitOK || c.out.String() != "\"nobody said anything\"\n" {
		t.Errorf("%d: %s%s", code, c.out.String(), c.err.String())
	}
	dir = t.TempDir()
	if c, code := ask(time.Hour, "run"); code != ExitWaits {
		t.Fatalf("%d: %s", code, c.err.String())
	}
	for _, tt := range []struct {
		ahead time.Duration // of the clock of the run, when it is resumed
		want  int
	}{{50 * time.Minute, ExitWaits}, {24 * 365 * time.Hour, ExitOK}} {
		timed.Timeout = time.Hour
		c := kept(dir, "resume", "latest")
		c.now = func() time.Time { return time.Now().Add(-tt.ahead) }
		if code := c.runAsking(body); code != tt.want {
			t.Errorf("a clock that was %v ahead: %d: %s", tt.ahead, code, c.err.String())
		}
	}
	dir = t.TempDir()
	if c, code := ask(time.Hour, "run", "--unattended"); code != ExitOK || c.out.String() != "\"nobody said anything\"\n" {
		t.Errorf("%d: %s%s", code, c.out.String(), c.err.String())
	}
	if list, err := runs.Open(dir, runs.Options{}).List(); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
