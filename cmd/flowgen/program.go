package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/program"
	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) buildCommand() *cobra.Command {
	var out string
	var trace bool
	var engine string
	var stores, verbs []string
	cmd := &cobra.Command{
		Use:   "build FILE",
		Short: "Build a workflow into an executable",
		Long: "Build compiles a workflow into one executable, named after the workflow or by -o. Nothing else is written.\n" +
			"Set GOOS and GOARCH to cross-compile.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			main, err := engineMain(engine, trace)
			if err != nil {
				return err
			}
			a.calls, a.serves = engine != "", slices.Contains(verbs, "serve")
			src, name, err := a.source(args[0])
			if err != nil {
				return err
			}
			src.Main = main
			if src.Stores, err = storeLeaves(stores); err != nil {
				return err
			}
			for _, v := range verbs {
				leaf := cli.VerbLeaves()[v]
				if leaf == "" {
					return usage("unknown verb %q; expected serve or mcp", v)
				}
				src.Stores = append(src.Stores, leaf)
			}
			cache, err := a.cache()
			if err != nil {
				return err
			}
			return a.goFailed(args[0], cache.Build(cmd.Context(), src, executable(out, name)))
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, or the folder to write it to")
	traceFlag(cmd, &trace)
	cmd.Flags().StringVar(&engine, "engine", "", "also make the program a worker of this engine: temporal")
	cmd.Flags().StringSliceVar(&stores, "stores", nil, "stores to link for --cache, --blobs and --runs, in addition to folders: postgres, redis, s3, sqlite")
	cmd.Flags().StringSliceVar(&verbs, "verbs", nil, "verbs to link, in addition to the default ones: mcp, serve")
	return cmd
}

// tracedMain is the leaf whose Main traces runs.
const tracedMain = "otel/traced"

// mainOf is the Source.Main of programs whose runs are traced, or not.
func mainOf(trace bool) string {
	if trace {
		return tracedMain
	}
	return ""
}

// temporalMain is the leaf whose Main makes a program a worker and a client of Temporal, too.
const temporalMain = "temporal"

// engineMain is the Source.Main of programs for an engine.
func engineMain(engine string, trace bool) (string, error) {
	switch {
	case engine == "":
		return mainOf(trace), nil
	case engine != temporalMain:
		return "", usage("unknown engine %q; expected temporal", engine)
	case trace:
		return "", usage("--engine and --trace exclude each other")
	}
	return temporalMain, nil
}

func traceFlag(cmd *cobra.Command, trace *bool) {
	cmd.Flags().BoolVar(trace, "trace", false, "export OpenTelemetry traces and metrics of runs, configured by the variables OTEL_...")
}

// storeLeaves are the leaves of stores that --stores names.
func storeLeaves(names []string) ([]string, error) {
	var known, leaves []string
	for name := range cli.StoreNames() {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, name := range names {
		leaf, ok := cli.StoreNames()[name]
		switch near := diag.Nearest(name, known); {
		case !ok && near != "":
			return nil, usage("unknown store %q; did you mean %s?", name, near)
		case !ok:
			return nil, usage("unknown store %q; expected %s", name, strings.Join(known, " and "))
		}
		leaves = append(leaves, leaf)
	}
	slices.Sort(leaves)
	return slices.Compact(leaves), nil
}

// executable is the file that build writes.
func executable(out, name string) string {
	system := os.Getenv("GOOS")
	if system == "" {
		system = runtime.GOOS
	}
	if system == "windows" {
		name += ".exe"
	}
	if out == "" {
		return name
	}
	if files.IsDir(out) || strings.HasSuffix(filepath.ToSlash(out), "/") {
		return filepath.Join(out, name)
	}
	return out
}

func (a *app) runCommand() *cobra.Command {
	var trace bool
	cmd := &cobra.Command{
		Use:   "run FILE [INPUT...]",
		Short: "Run a workflow; arguments after the file go to its program",
		Long: "Run compiles a workflow and runs it in the current folder. The result is JSON on stdout, progress is on stderr.\n" +
			"The program is cached: it starts at once until one of its sources changes.\n\n" +
			"Arguments after the file go to the program:\n" +
			"    --input NAME=VALUE    an input, repeatable\n" +
			"    --input-json FILE     all inputs as a JSON object; - is stdin\n" +
			"    TEXT                  the input, if there is a single one and it is text\n" +
			"    --blobs DIR|URL       store for large outputs; --cache DIR|URL for cached results\n" +
			"    --json-events         progress as JSON Lines\n" +
			"    --logs                what commands, Python and JavaScript tools print besides their results\n" +
			"    --help                the workflow's inputs and all flags",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.start(cmd.Context(), "run", mainOf(trace), args[0], args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false)
	traceFlag(cmd, &trace)
	a.mainFlag(cmd)
	a.slotFlag(cmd)
	return cmd
}

func (a *app) mainFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.ownMain, "main", false, "run the program in the folder of FILE, whose main package has what was generated from it")
}

// runVerbs are the commands about runs that the program itself answers.
func (a *app) runVerbs() []*cobra.Command {
	var list []*cobra.Command
	for _, v := range []struct{ use, short string }{
		{"resume FILE RUN", "Continue a run that was killed or waits: completed calls are not repeated"},
		{"respond FILE RUN [KEY] ANSWER", "Answer the open question of a run, and continue the run"},
		{"rerun FILE RUN", "Start a new run with the results of another and with changes"},
		{"replay FILE RUN", "Replay a run from its journal without calling any tool"},
		{"serve FILE...", "Serve workflows over HTTP"},
		{"mcp FILE...", "Serve workflows as tools over the Model Context Protocol (MCP)"},
		{"prune FILE", "Delete ended runs of a workflow, except the latest"},
	} {
		verb, _, _ := strings.Cut(v.use, " ")
		var trace bool
		var addr, overlay string
		runs := "RUN is the name of a run, a prefix of it, or latest.\n"
		switch verb {
		case "serve":
			runs = "It listens on 127.0.0.1:8080 unless --addr is set.\n"
		case "mcp":
			runs = "It uses standard input and output, or HTTP with --addr.\n"
		}
		cmd := &cobra.Command{
			Use:   v.use,
			Short: v.short,
			Long:  v.short + ". " + runs + "Arguments after FILE go to the workflow's program; " + verb + " FILE --help describes it.",
			Args:  cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				if files, rest := leadingFiles(args); cli.VerbLeaves()[verb] != "" {
					if addr != "" {
						rest = append([]string{"--addr", addr}, rest...)
					}
					if len(files) > 1 {
						return a.startSeveral(cmd.Context(), verb, trace, files, rest)
					}
					args = append(files, rest...)
				}
				a.standIns = verb == "respond" && slices.Contains(args[1:], "--later")
				var err error
				if verb == "rerun" {
					if args, err = overlayLater(args, &overlay); err != nil {
						return err
					}
				}
				if a.overlay, err = readOverlay(overlay); err != nil {
					return err
				}
				return a.start(cmd.Context(), verb, mainOf(trace), args[0], args[1:])
			},
		}
		cmd.Flags().SetInterspersed(false)
		traceFlag(cmd, &trace)
		if cli.VerbLeaves()[verb] != "" {
			cmd.Flags().StringVar(&addr, "addr", "", "address to listen on: HOST:PORT")
		} else {
			a.mainFlag(cmd)
		}
		a.slotFlag(cmd)
		if verb == "rerun" {
			cmd.Flags().StringVar(&overlay, "overlay", "", "compile other texts in place of files: JSON, as for -overlay of the go command")
		}
		list = append(list, cmd)
	}
	return list
}

// start becomes the program of a workflow, with the Main of a leaf. The verb is always said, so that an input that looks like another one is still
// an input.
func (a *app) start(ctx context.Context, verb, leaf, file string, args []string) error {
	if a.ownMain && leaf != "" {
		return usage("--main and --trace exclude each other")
	}
	if a.ownMain && !hasMain(file) {
		return usage("--main: the folder of %s has no main package of a module with %s and a main that calls cli.Main", file, outputName(file))
	}
	cache, err := a.cache()
	if err != nil {
		return err
	}
	stores := cli.StoreLeaves(args, os.Getenv)
	if leaf := cli.VerbLeaves()[verb]; leaf != "" {
		stores = append(stores, leaf)
	}
	exe, ok := cache.FindMain(file, leaf, stores...)
	if !ok {
		a.serves = verb == "serve"
		src, _, err := a.source(file)
		if err != nil {
			return err
		}
		src.Main, src.Stores, src.OwnMain = leaf, stores, a.ownMain
		if slices.Contains(args, "--json-events") || slices.Contains(args, "--quiet") {
			src.Log = nil
		}
		if exe, err = cache.Executable(ctx, src); err != nil {
			return a.goFailed(file, err)
		}
	}
	// The program tells its user what to call next.
	if err := os.Setenv("FLOWGEN_FILE", file); err != nil {
		return err
	}
	if err := rootAt(file); err != nil {
		return err
	}
	return replaceProcess(exe, append([]string{verb}, args...))
}

// hasMain reports whether the folder of a workflow has a program that was written for it, in a module.
func hasMain(file string) bool {
	dir := filepath.Dir(filepath.FromSlash(file))
	home, err := program.ImportPath(dir)
	return err == nil && home != "" && program.HasMain(dir, outputName(path.Clean(filepath.ToSlash(file))))
}

// rootAt has programs and servers named by a relative path found from the folder of a workflow, unless the user has said
// where they are.
func rootAt(file string) error {
	if os.Getenv("FLOWGEN_ROOT") != "" {
		return nil
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	return os.Setenv("FLOWGEN_ROOT", dir)
}

// source compiles one workflow for building and returns its name.
func (a *app) source(arg string) (*program.Source, string, error) {
	src, c, err := a.compiledSource(arg)
	if err != nil {
		return nil, "", err
	}
	return src, c.workflow.Name.Name, nil
}

// compiledSource is source with all that is known of the workflow.
func (a *app) compiledSource(arg string) (*program.Source, *compiled, error) {
	name := path.Clean(filepath.ToSlash(arg))
	if files.IsDir(arg) {
		return nil, nil, usage("%s is a folder; name a workflow file", arg)
	}
	disk := newDisk()
	maps.Copy(disk.texts, a.overlay)
	c := a.compile(disk, name)
	if c.program != nil {
		if err := a.unknownSlot(); err != nil {
			return nil, nil, err
		}
	}
	if err := a.report(c.alone(a.standIns), false); err != nil {
		return nil, nil, unbuilt{err}
	}
	// The package is that of the folder, whatever else was generated there: build and run write nothing.
	dir := filepath.FromSlash(path.Dir(name))
	own := outputName(name)
	pkg, _, _ := scan(dir, own)
	if pkg == "" {
		pkg = goname.Package(c.workflow.Name.Name)
	}
	var examples *[2]string
	if a.serves {
		examples = a.examples(disk, c)
	}
	return &program.Source{
		File: arg, Output: own, Package: pkg, Inputs: append(disk.names, c.sources...), Log: a.stderr, Examples: examples,
		Generate: func(pkg, importPath string) ([]byte, map[string][]byte, error) {
			opts := codegen.Options{Package: pkg, Path: importPath, Name: stem(own), Calls: a.calls}
			if importPath != "" { // with the other files of the folder
				opts.Declared = declared(dir, pkg)
			}
			text, err := a.emit(c, opts)
			assets := map[string][]byte{}
			for _, asset := range codegen.Assets(c.program, opts) {
				assets[asset.Name] = asset.Data
			}
			return text, assets, err
		},
	}, c, nil
}

// goFailed makes a fault of code that flowgen wrote and the go command refused.
func (a *app) goFailed(file string, err error) error {
	var refused *program.CompileError
	if errors.As(err, &refused) {
		return &fault{what: refused.Error(), file: file}
	}
	if err == nil {
		return nil
	}
	return unbuilt{err}
}
