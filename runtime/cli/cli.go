// Package cli is the main of compiled workflows: it reads the inputs, shows the
// progress, records the run, prints the result and answers `resume`, `respond`,
// `rerun`, `replay`, `serve`, `mcp`, `graph`, `plan`, `manifest`, `completion` and `version`.
//
// A program's main.go is one call:
//
//	func main() { cli.Main(notes.Info, notes.New) }
//
// Exit codes are the constants Exit...; docs/exit-codes.md lists them.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/serving"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Main runs the program of the workflow that info describes and ends the process. start is the workflow's New.
func Main[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error)) {
	os.Exit(run(hostSystem(), &workflow{info: info, run: bind(start), served: []*serving.Workflow{serving.Of(info, start)}}))
}

// workflow is a compiled workflow without its types.
type workflow struct {
	info *flow.Info
	// run decodes the input, runs the workflow and encodes its output. stage
	// says how far it came. After an error of the run the output is what it
	// has reached, of workflows that say so.
	run func(ctx context.Context, input []byte, o ...runtime.Option) (output []byte, at stage, err error)

	more   []Verb              // before those of this package
	served []*serving.Workflow // for the verb serve
}

// stage is where a run was when it ended.
type stage int

const (
	reading  stage = iota // the input did not fit
	starting              // New failed
	running
	writing // the output could not be encoded
)

func bind[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](start func(...runtime.Option) (W, error)) func(context.Context, []byte, ...runtime.Option) ([]byte, stage, error) {
	return func(ctx context.Context, input []byte, o ...runtime.Option) ([]byte, stage, error) {
		var in In
		if err := value.Decode(input, &in); err != nil {
			return nil, reading, err
		}
		w, err := start(o...)
		if err != nil {
			return nil, starting, err
		}
		out, err := w.Run(ctx, in)
		b, wrong := encode(out)
		if err != nil {
			return b, running, err
		}
		return b, writing, wrong
	}
}

// system is the process's surroundings, so that tests can replace them.
type system struct {
	args           []string // without the program's name
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// size returns the size of the terminal that stderr is, and whether it is one.
	size func() (width, height int, ok bool)
	// signals delivers the first request to stop. Once release is called a
	// further one has its default effect, which is to end the process.
	signals func() (requests <-chan os.Signal, release func())
	now     func() time.Time
	// ticks delivers moments to redraw at, until stop is called.
	ticks func() (c <-chan time.Time, stop func())
	// beats delivers moments to say what is running at, in a log, until stop is called.
	beats func() (c <-chan time.Time, stop func())
	// redact takes secrets out of text; nil while nothing has run.
	redact func(string) string
	// typed says whether answers can be typed; nil: when standard input and error are terminals.
	typed func() bool

	closers []func() error // of the databases of runs
	runs    string         // the flag that names them, for commands that are shown
}

// close releases what a verb has opened.
func (s *system) close() {
	for _, c := range s.closers {
		_ = c() // everything was written before
	}
	s.closers = nil
}

func hostSystem() *system {
	fd := int(os.Stderr.Fd())
	return &system{
		args:   os.Args[1:],
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		env:    os.Getenv,
		size: func() (int, int, bool) {
			if !term.IsTerminal(fd) {
				return 0, 0, false
			}
			w, h, err := term.GetSize(fd)
			return w, h, err == nil
		},
		signals: func() (<-chan os.Signal, func()) {
			c := make(chan os.Signal, 1)
			signal.Notify(c, os.Interrupt, syscall.SIGTERM)
			return c, func() { signal.Stop(c) }
		},
		now:   time.Now,
		ticks: ticker(redrawEvery),
		beats: ticker(beatEvery),
	}
}

func ticker(every time.Duration) func() (<-chan time.Time, func()) {
	return func() (<-chan time.Time, func()) {
		t := time.NewTicker(every)
		return t.C, t.Stop
	}
}

var verbs = []string{"run", "resume", "respond", "rerun", "replay", "serve", "mcp", "inspect", "prune", "graph", "plan", "manifest", "version", "completion", "help"}

// run is the program: it returns its exit code.
func run(s *system, w *workflow) int {
	defer s.close()
	verb, args := "run", s.args
	if len(args) > 0 && args[0] == completeVerb {
		return s.complete(w.info, args[1:])
	}
	if len(args) > 0 {
		if v := w.added(args[0]); v != nil {
			return v.Run(&Call{s: s, w: w, args: args[1:]})
		}
	}
	if len(args) > 0 && slices.Contains(verbs, args[0]) {
		verb, args = args[0], args[1:]
	}
	if len(args) > 0 && verb == "run" && args[0] == "--version" {
		verb, args = "version", args[1:]
	}
	switch verb {
	case "resume":
		return resumeCommand(s, w, args)
	case "respond":
		return respondCommand(s, w, args)
	case "rerun":
		return rerunCommand(s, w, args, nil)
	case "replay":
		return replayCommand(s, w, args)
	case "serve", "mcp":
		return serveCommand(s, w, verb, args)
	case "prune":
		return pruneCommand(s, w, args)
	case "graph":
		return graphCommand(s, w.info, args)
	case "plan":
		return describe(s, w.info, verb, w.info.Facts.Plan(), PlanText, args)
	case "manifest":
		return describe(s, w.info, verb, w.info.Facts.Manifest(), ManifestText, args)
	case "inspect":
		return inspectCommand(s, w.info, args, nil)
	case "version":
		return versionCommand(s, w.info, args)
	case "completion":
		return completionCommand(s, w.info, args)
	case "help":
		return s.print(help(w.info) + moreHelp(w.more))
	}
	return runCommand(s, w, args)
}

// print writes the answer of a command to stdout.
func (s *system) print(text string) int {
	if _, err := io.WriteString(s.stdout, text); err != nil {
		s.complain(mistake{"cannot write the result: " + err.Error(), ""})
		return ExitFault
	}
	return ExitOK
}

// mistake is something wrong with how the program was called, or in its surroundings.
type mistake struct {
	message string
	help    string // what to do about it; may be empty
}

func (s *system) complain(ms ...mistake) {
	var b strings.Builder
	for _, m := range ms {
		if s.redact != nil {
			m.message = s.redact(m.message)
		}
		b.WriteString("error: " + safe(m.message) + "\n")
		if m.help != "" {
			b.WriteString("help: " + safe(m.help) + "\n")
		}
	}
	_, _ = io.WriteString(s.stderr, b.String()) // nobody is left to tell
}
