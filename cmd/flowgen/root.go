package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

// Exit codes, as compiled programs have them.
const (
	exitClean       = cli.ExitOK
	exitDiagnostics = cli.ExitFailed
	exitUsage       = cli.ExitUsage
	exitFault       = cli.ExitFault
)

// errReported ends a command whose mistakes are already printed.
var errReported = errors.New("reported")

// unbuilt is the error of a workflow whose program cannot be built. It wraps errReported where that is printed already.
type unbuilt struct{ err error }

func (e unbuilt) Error() string { return e.err.Error() }
func (e unbuilt) Unwrap() error { return e.err }

// A usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func unusablef(format string, args ...any) error { return unusable{fmt.Errorf(format, args...)} }

func noFormat(format string) error { return usage("--format is text or json, not %q", format) }

func noDialect(name string) error {
	return usage("--dialect is one of %s, not %q", strings.Join(parser.Dialects(), ", "), name)
}

// unusable is the error of a call that is right but for what it names: its message needs no usage.
type unusable struct{ error }

func noneIn(suffix, folder string) error {
	return unusablef("there is no *%s file in %s", suffix, folder)
}

// A fault is a mistake of flowgen's own.
type fault struct {
	what  string
	file  string // what was being compiled
	stack []byte
}

func (f *fault) Error() string { return f.what }

// exitCode ends flowgen with the code of a program it ran.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// app is one invocation.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	file           string // what is being compiled, for fault reports

	reading  parser.Options    // how workflow files are read
	slots    map[string]string // shell commands in place of slots, by their names
	filled   []string          // names of the slots of compiled workflows
	standIns bool              // slots need no commands: a cassette answers, or nothing is called
	overlay  map[string][]byte // texts in place of files
	serves   bool              // programs have the verb serve, with examples from test cases
	prices   *priceList        // that was brought; nil: the release's
	ownMain  bool              // the program is the one in the workflow's folder
	calls    bool              // programs list their calls, for engines that make them in other processes
}

// run is flowgen as a function of its arguments.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	cmd, err := a.guard(func() (*cobra.Command, error) { return root.ExecuteC() })
	return a.exit(cmd, err)
}

// guard turns a panic into a fault.
func (a *app) guard(f func() (*cobra.Command, error)) (cmd *cobra.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &fault{what: fmt.Sprint(p), file: a.file, stack: debug.Stack()}
		}
	}()
	return f()
}

// exit reports how a command ended and returns the exit code.
func (a *app) exit(cmd *cobra.Command, err error) int {
	var bad usageError
	var broken *fault
	var none unusable
	var code exitCode
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &bad):
		fmt.Fprintf(a.stderr, "flowgen: %v\n", err)
		if cmd != nil {
			fmt.Fprintf(a.stderr, "\n%s", cmd.UsageString())
		}
		return exitUsage
	case errors.As(err, &none):
		fmt.Fprintf(a.stderr, "flowgen: %v\n", err)
		return exitUsage
	case errors.As(err, &broken):
		a.reportFault(broken)
		return exitFault
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintf(a.stderr, "flowgen: %s\n", files.Message(err))
	}
	if errors.As(err, new(unbuilt)) {
		return cli.ExitUnbuilt
	}
	return exitDiagnostics
}

func (a *app) reportFault(f *fault) {
	fmt.Fprintf(a.stderr, "flowgen: internal fault: %s\n", f.what)
	if f.file != "" {
		fmt.Fprintf(a.stderr, "  while compiling %s\n", f.file)
	}
	fmt.Fprintf(a.stderr, "  %s, %s %s/%s\n", origin.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprint(a.stderr, "This is a mistake in flowgen, not in your workflow. Please report it, with the file and this text, at\n"+
		"https://github.com/flowgen-dev/flowgen/issues\n")
	if len(f.stack) > 0 {
		fmt.Fprintf(a.stderr, "\n%s", f.stack)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "flowgen",
		Short: "Compile YAML workflows of tools into Go",
		Long: "Flowgen compiles YAML workflows of tools, LLM calls and agents into typed, readable Go.\n\n" +
			"Exit codes: 0 success, 1 mistakes were found or the run failed, 2 wrong usage, 3 internal error, 4 the run waits for\n" +
			"an answer, 5 the workflow does not compile and nothing was run or built, 6 --no-overlap found another run.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{ .Version }}")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if hint := behindFile(cmd.Name(), err); hint != nil {
			return hint
		}
		if name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown && (name == "port" || name == "host") && cmd.Flags().Lookup("addr") != nil {
			return usage("unknown flag --%s: write --addr HOST:PORT, as in --addr 127.0.0.1:8080", name)
		}
		return usageError{flagError(err)}
	})
	root.AddCommand(a.runVerbs()...)
	root.AddCommand(a.checkCommand(), a.generateCommand(), a.buildCommand(), a.runCommand(), a.testCommand(), a.graphCommand(), a.planCommand(), a.manifestCommand(), a.toolsCommand(), a.lockCommand(),
		a.fmtCommand(), a.convertCommand(), a.explainCommand(), a.schemaCommand(), a.initCommand(), a.versionCommand(), a.toolchainCommand(), a.pricesCommand())
	root.AddCommand(a.inspectCommand(), a.diffCommand(), a.materializeCommand(), a.pinCommand()) // what was recorded
	root.AddCommand(a.tortureCommand(), a.lspCommand(), a.studioCommand())
	for _, c := range root.Commands() {
		if slices.Contains(readers, c.Name()) {
			a.dialectFlags(c)
		}
		wrongUsage(c)
		complete(c)
	}
	return root
}

// flagError says what is wrong with the value of a flag without the words of the package that has read it.
func flagError(err error) error {
	var number *strconv.NumError
	text, _, isNumber := strings.Cut(err.Error(), ": strconv.")
	switch {
	case !isNumber || !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s: the number is too large", text)
	case number.Func == "ParseUint":
		return fmt.Errorf("%s: expected an integer from 0", text)
	case number.Func == "ParseFloat":
		return fmt.Errorf("%s: expected a number", text)
	}
	return fmt.Errorf("%s: expected an integer", text)
}

// behindFile is about a flag of the workflow's program that is in front of the file.
func behindFile(verb string, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	short := strings.HasPrefix(err.Error(), "unknown shorthand flag: 'i' in -i")
	if verb != "run" && !slices.Contains(runSecond, verb) || !(unknown && slices.Contains(cli.ProgramFlags(), name) || short && verb == "run") {
		return nil
	}
	flag := "--" + name
	if short {
		flag = "-i"
	}
	line := "flowgen " + verb + " FILE "
	if verb != "run" {
		line += "RUN "
	}
	return unusablef("%s is a flag of the workflow's program: write it after the file: %s%s", flag, line, flag)
}

// readers are the commands that read workflow files of any dialect.
var readers = []string{"check", "generate", "build", "run", "resume", "rerun", "replay", "respond", "graph", "plan", "manifest", "convert", "test", "torture"}

// wrongUsage makes wrong arguments of a command, and of those below it, mistakes of usage.
func wrongUsage(c *cobra.Command) {
	check := c.Args
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
	for _, below := range c.Commands() {
		wrongUsage(below)
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if near := diag.Nearest(name, names); near != "" {
		return usage("unknown command %q, did you mean %q?", name, near)
	}
	if strings.Contains(name, ".yaml") || strings.Contains(name, ".yml") {
		return usage("unknown command %q; to run a workflow: flowgen run %s", name, name)
	}
	return usage("unknown command %q", name)
}

// textOptions fits diagnostics to where they go.
func textOptions(w io.Writer) diag.TextOptions {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return diag.TextOptions{}
	}
	opts := diag.TextOptions{Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		opts.Width = width
	}
	return opts
}
