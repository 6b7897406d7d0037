package cli

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// runFlags are the flags of `run`.
type runFlags struct {
	inputs     []string // k=v
	inputJSON  string   // file or "-"
	jsonEvents bool
	quiet      bool
	logs       bool     // what programs print is shown
	answers    string   // file with answers to questions, or "-"
	raw        string   // output field to print instead of the whole result
	blobs      string   // where outputs go that are too large
	cache      string   // where results of tools are cached
	usage      string   // file for a line about each attempt of a call
	tenant     string   // whom the run is for
	texts      []string // arguments that are not flags
	keep       keepFlags
	unattended bool          // nobody will answer a question
	proxy      bool          // requests are made through the proxy of the environment
	timeout    time.Duration // of the work of the run; 0: as its policy says
}

func parseRunFlags(args []string) (*runFlags, error) {
	f := &runFlags{}
	set := newFlagSet()
	f.shared(set)
	f.keep.flags(set)
	set.StringVar(&f.tenant, "tenant", "", "")
	f.keep.recording(set)
	set.StringVar(&f.keep.sync, "sync", "", "")
	set.BoolVar(&f.keep.none, "no-journal", false, "")
	f.inputFlags(set)
	texts, err := parseFlags(set, args)
	f.texts = texts
	return f, err
}

// inputFlags are those of the workflow's inputs.
func (f *runFlags) inputFlags(set *flag.FlagSet) {
	for _, name := range []string{"input", "inputs", "i"} { // the others are what users of other engines type
		set.Func(name, "", func(s string) error { f.inputs = append(f.inputs, s); return nil })
	}
	set.Func("input-json", "", func(s string) error {
		if f.inputJSON != "" {
			return errors.New("the flag is given twice")
		}
		if s == "" {
			return errors.New("the file name is empty")
		}
		f.inputJSON = s
		return nil
	})
}

// shared are the flags of all verbs that run the workflow.
func (f *runFlags) shared(set *flag.FlagSet) {
	set.BoolVar(&f.jsonEvents, "json-events", false, "")
	set.BoolVar(&f.quiet, "quiet", false, "")
	set.BoolVar(&f.logs, "logs", false, "")
	set.StringVar(&f.raw, "raw", "", "")
	f.stored(set)
	set.StringVar(&f.answers, "answers", "", "")
	set.BoolVar(&f.unattended, "unattended", false, "")
	set.Func("timeout", "", func(s string) (err error) {
		if f.timeout, err = time.ParseDuration(s); err != nil || f.timeout <= 0 {
			return errors.New("expected a duration such as 90s or 10m")
		}
		return nil
	})
}

// stored are the flags that say what a workflow finds around it.
func (f *runFlags) stored(set *flag.FlagSet) {
	set.StringVar(&f.blobs, "blobs", "", "")
	set.StringVar(&f.cache, "cache", "", "")
	set.StringVar(&f.usage, "usage", "", "")
	set.Func("root", "", setRoot)
	set.Func("proxy", "", f.setProxy)
}

func (f *runFlags) setProxy(s string) error {
	if f.proxy = s == "environment"; !f.proxy {
		return errors.New("write --proxy environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY name the proxy")
	}
	return nil
}

// setRoot says where programs named by a relative path are found.
func setRoot(dir string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if st, err := os.Stat(full); err != nil || !st.IsDir() {
		return errors.New("it is not a folder")
	}
	return os.Setenv("FLOWGEN_ROOT", full)
}

// flags are those of all verbs that look into the folder of runs.
func (k *keepFlags) flags(set *flag.FlagSet) { set.StringVar(&k.dir, "runs", "", "") }

func newFlagSet() *flag.FlagSet {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard) // this package words the messages
	set.Usage = func() {}
	return set
}

// parseFlags parses flags that may be before, between and after other
// arguments, which it returns. After "--" nothing is a flag.
func parseFlags(set *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		left := set.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if used := len(args) - len(left); used > 0 && args[used-1] == "--" {
			return append(rest, left...), nil
		}
		rest = append(rest, left[0])
		args = left[1:]
	}
}

// elsewhere has flags that users of other engines type, what does here what they ask for, and the flag that says for which verbs.
var elsewhere = map[string]struct{ with, help string }{
	"var":    {"input", "write --input NAME=VALUE"},
	"thread": {"input", "each run has an id: answer it with `respond`, and continue it with `resume`"},
	"export": {"input", "the state is printed: write it to a file with `> FILE`"},
	"port":   {"addr", "write --addr HOST:PORT, as in --addr 127.0.0.1:8080"},
	"host":   {"addr", "write --addr HOST:PORT, as in --addr 127.0.0.1:8080"},
}

// flagMistake words an error of the flag package, naming the nearest flag.
func flagMistake(set []string, err error) mistake {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: "); ok {
		name = strings.TrimLeft(name, "-")
		m := mistake{message: "unknown flag --" + name, help: "see --help"}
		if other := elsewhere[name]; slices.Contains(set, other.with) {
			m.help = other.help
		} else if near := nearest(name, set); near != "" {
			m.help = "did you mean --" + near + "?"
		}
		return m
	}
	return mistake{err.Error(), "see --help"}
}

var (
	sharedFlagNames = []string{"answers", "blobs", "cache", "json-events", "logs", "proxy", "quiet", "raw", "root", "runs", "timeout", "unattended", "usage", "help"}
	keepFlagNames   = []string{"keep", "no-overlap"}
	runFlagNames    = slices.Concat([]string{"input", "input-json", "no-journal", "sync", "tenant", "version"}, keepFlagNames, sharedFlagNames)
)

// ProgramFlags are the flags of programs' verbs that run a workflow.
func ProgramFlags() []string {
	return slices.Concat(runFlagNames, []string{"inputs"}, goOnNames, []string{"later", "from", "set", "missing"})
}

const flagHelp = `Flags of run:
  --input NAME=VALUE    set one input; repeatable. --inputs and -i are the same
  --input-json FILE     read the inputs from a JSON object; - is standard input
  --raw NAME            print one text field of the result, as it is
  --blobs DIR|URL       store outputs of tools that are too large in this directory or at s3://BUCKET/PREFIX;
                        the run continues with their beginning; FLOWGEN_BLOBS is the default
  --cache DIR|URL       store results of tools with a cache in this directory or at redis://HOST:PORT/DB; FLOWGEN_CACHE is the
                        default
  --usage FILE          append a line of JSON for each attempt of a call: tool, tenant, tokens, cost, duration;
                        FLOWGEN_USAGE is the default
  --tenant NAME         the tenant of the run: its secrets, cached results and large outputs; FLOWGEN_TENANT is the default
  --answers FILE        answer questions with the lines of a file, as in "ask: yes"; - is standard input
  --unattended          questions time out immediately instead of stopping the run until there is an answer
  --root DIR            resolve relative paths of programs and MCP servers against it; FLOWGEN_ROOT is the default,
                        then the working directory
  --proxy environment   send requests through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY configure
  --timeout TIME        time limit of the run, as in 10m: all its parts together, without waiting for users
  --json-events         write progress to standard error as JSON Lines
  --logs                show what commands, Python and JavaScript tools print besides their results, line by line with the
                        call; replay shows the recorded lines
  --quiet               show no progress
  --runs DIR            record the run in this folder, or in the database at a URL of postgres or sqlite; FLOWGEN_RUNS is
                        the default, then .flowgen/runs
  --sync MODE           off, buffered or effect: when records are synced to the disk (effect: before every write)
  --no-journal          do not record the run: it cannot be resumed or replayed
  --keep N              afterwards delete ended runs of the workflow, except the latest N. Runs that wait, were
                        interrupted, or have calls in doubt are kept. FLOWGEN_KEEP is the default, else all are kept
  --no-overlap          refuse to run while another run with this flag is active, with exit code 6

RUN is the name of a run, a prefix of it, or latest. Its verbs have the flags of run, without inputs, and:
  resume, respond
    --again             retry the call that failed the run
    --edited            continue although the workflow has changed: unchanged calls are answered from the journal
    --redo KEY          with --edited, a completed write may run once more; repeatable
    --in-doubt KEY=again, --in-doubt KEY=JSON
                        a call was interrupted when the program died: repeat it, or use this output as its result
    --later             respond: record the answer without continuing the run
  rerun
    --from NODE         execute this node, and all nodes that depend on it, again
    --set PATH=VALUE    change an input (input.pr=8) or the result of a node (plan.route=fix)
  replay
    --missing           calls without a record may run if the replay policy of their tool allows it
`

func help(info *flow.Info) string {
	var b strings.Builder
	b.WriteString(safe(info.Name))
	if info.Description != "" {
		b.WriteString(": " + safe(info.Description))
	}
	start := "[run] [flags]"
	if f := textInput(info); f != nil {
		start += " [" + strings.ToUpper(safe(f.Name)) + "]"
	}
	b.WriteString("\n\nUsage:\n")
	table(&b, [][2]string{
		{start, "run the workflow"},
		{"resume RUN", "continue a run that was killed or waits: completed calls are not repeated"},
		{"respond RUN [KEY] ANSWER", "answer the open question of a run, and continue the run"},
		{"rerun RUN", "start a new run with the results of another and with changes"},
		{"replay RUN", "replay a run from its journal without calling any tool"},
		{"serve [--addr HOST:PORT]", "answer HTTP requests with the workflow; serve --help"},
		{"mcp [--addr HOST:PORT]", "offer the workflow as a tool of other agents; mcp --help"},
		{"prune [--keep N]", "delete ended runs, except the latest 20"},
		{"graph [--format mermaid|dot]", "print the workflow's graph; with --run RUN in the colours of a run"},
		{"plan [--format text|json]", "print the order of the steps, their bounds and the worst case"},
		{"manifest [--format text|json]", "print what the workflow can touch"},
		{"inspect [RUN [CALL]]", "list the recorded runs, or show one"},
		{"completion bash|zsh|fish", "print the completion script of a shell"},
		{"version", "print versions"},
	})
	if len(info.Input) > 0 {
		b.WriteString("\nInputs:\n")
		rows := make([][2]string, len(info.Input))
		for i, f := range info.Input {
			note := f.Type
			switch {
			case f.Default != "":
				note += ", default " + f.Default
			case required(&f):
				note += ", required"
			}
			if f.Description != "" {
				note += ": " + f.Description
			}
			rows[i] = [2]string{safe(f.Name), safe(note)}
		}
		table(&b, rows)
	}
	b.WriteString("\n" + flagHelp)
	return b.String()
}

// moreHelp describes the verbs of other packages.
func moreHelp(more []Verb) string {
	if len(more) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nOther verbs:\n")
	rows := make([][2]string, len(more))
	for i, v := range more {
		rows[i] = [2]string{strings.TrimSpace(v.Name + " " + v.Arguments), v.Short}
	}
	table(&b, rows)
	return b.String()
}

func table(b *strings.Builder, rows [][2]string) {
	wide := 0
	for _, r := range rows {
		wide = max(wide, width(r[0]))
	}
	for _, r := range rows {
		b.WriteString("  " + r[0] + strings.Repeat(" ", wide-width(r[0])+2) + r[1] + "\n")
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
