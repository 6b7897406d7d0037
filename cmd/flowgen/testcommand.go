package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/flowtest"
)

// casesSuffix of files with test cases.
const casesSuffix = parser.CasesSuffix

// testMain is the leaf whose Main runs test cases.
const testMain = "flowtest"

type testFlags struct {
	record, update bool
	run            []string
	junit          string
}

func (a *app) testCommand() *cobra.Command {
	var f testFlags
	var made caseFlags
	cmd := &cobra.Command{
		Use:   "test [FILE|FOLDER...]",
		Short: "Run test cases of workflows from cassettes; without arguments, all in the current folder",
		Long: "Test runs the cases of *" + casesSuffix + " files. A cassette, a file of recorded calls, answers the calls of a workflow: no tool\n" +
			"runs and no server is needed. FOLDER selects the files in it, FOLDER/... those in it and below; a workflow file\n" +
			"selects the cases next to it.\n\n" +
			"A case fails on a call that is missing from the cassette, an unused record, or a failed expectation; the exit code\n" +
			"is then 1.\n\n" +
			"With --from RUN it writes the case --run NAME instead: the input, answers and result of a recorded run, and its calls\n" +
			"as the cassette. FILE is then the workflow, if the current folder has several with that name.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if made.run != "" {
				return a.testFrom(&made, &f, args)
			}
			names, err := caseFiles(args)
			if err != nil {
				return err
			}
			a.standIns = true
			return a.test(cmd.Context(), names, &f)
		},
	}
	cmd.Flags().BoolVar(&f.record, "record", false, "run the workflows themselves and write the cassettes")
	cmd.Flags().BoolVar(&f.update, "update", false, "rewrite failed expectations and remove unused records from cassettes, then fail")
	cmd.Flags().StringArrayVar(&f.run, "run", nil, "run the case with this name, or FILE:NAME; repeatable")
	a.slotFlag(cmd)
	cmd.Flags().StringVar(&made.run, "from", "", "write the case --run NAME from this recorded `RUN`")
	cmd.Flags().BoolVar(&made.dry, "dry-run", false, "with --from: show what would be written, and write nothing")
	made.from.flags(cmd)
	cmd.Flags().StringVar(&f.junit, "junit", "", "also write the results to this file, as JUnit XML")
	return cmd
}

// suites are the cases of one file, checked.
type suite struct {
	name    string // of the file
	cases   *ir.CaseFile
	checked *check.Cases
	from    *compiled
}

func (a *app) test(ctx context.Context, names []string, f *testFlags) error {
	files := newDisk()
	suites, list := a.suites(files, names)
	if err := a.report(list, false); err != nil {
		return unbuilt{err}
	}
	if err := known(suites, f.run); err != nil {
		return err
	}
	report := &testReport{}
	for _, s := range suites {
		selected := s.selected(f.run)
		if len(selected) == 0 {
			continue
		}
		results, err := a.runSuite(ctx, s, selected, f)
		if err != nil {
			return err
		}
		report.add(s, results)
		a.printResults(s, results)
		if f.update {
			if err := a.update(s, results, report); err != nil {
				return err
			}
		}
	}
	if f.junit != "" {
		if err := report.writeJUnit(f.junit); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, report.summary())
	if report.failed > 0 || report.rewritten > 0 {
		return errReported
	}
	return nil
}

// suites compiles files of cases, with the workflows they test.
func (a *app) suites(files *disk, names []string) ([]*suite, []diag.Diagnostic) {
	workflows := map[string]*compiled{}
	var out []*suite
	sink := &diag.Sink{}
	for _, name := range names {
		own := &diag.Sink{}
		s := &suite{name: name, cases: parser.ParseCases(files.project(name), name, own)}
		if s.cases != nil {
			wf := s.cases.Workflow.Name
			if s.from = workflows[wf]; s.from == nil {
				s.from = a.compile(files, wf)
				workflows[wf] = s.from
				for _, d := range s.from.list {
					sink.Report(d)
				}
			}
			if s.from.program != nil {
				s.checked = check.CheckCases(s.from.program, s.cases, own)
			}
		}
		for _, d := range own.List() {
			sink.Report(d)
		}
		out = append(out, s)
	}
	return out, sink.List()
}

// selected are the names of the cases that are to run.
func (s *suite) selected(run []string) []string {
	var out []string
	for _, c := range s.cases.Cases {
		if len(run) == 0 || slices.ContainsFunc(run, func(r string) bool {
			return r == c.Name.Name || r == path.Base(s.name)+":"+c.Name.Name || r == s.name+":"+c.Name.Name
		}) {
			out = append(out, c.Name.Name)
		}
	}
	return out
}

// known refuses names of cases that there are not.
func known(suites []*suite, run []string) error {
	var names []string
	for _, s := range suites {
		for _, c := range s.cases.Cases {
			names = append(names, c.Name.Name)
		}
	}
	for _, r := range run {
		if slices.ContainsFunc(suites, func(s *suite) bool { return len(s.selected([]string{r})) > 0 }) {
			continue
		}
		if near := diag.Nearest(r, names); near != "" {
			return unusablef("unknown case %q, did you mean %q?", r, near)
		}
		return unusablef("unknown case %q", r)
	}
	return nil
}

// runSuite builds the program of a suite's workflow, unless there is one, and runs cases in the folder of their file.
func (a *app) runSuite(ctx context.Context, s *suite, names []string, f *testFlags) ([]flowtest.Result, error) {
	exe, err := a.testProgram(ctx, s)
	if err != nil {
		return nil, err
	}
	text, err := codegen.Suite(s.checked, "")
	if err != nil {
		return nil, &fault{what: err.Error(), file: s.name}
	}
	in, err := json.Marshal(flowtest.Request{Suite: text, Cases: names, Record: f.record, Prune: f.update})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Dir = filepath.Dir(filepath.FromSlash(s.name))
	if os.Getenv("FLOWGEN_ROOT") == "" {
		home, err := filepath.Abs(filepath.Dir(filepath.FromSlash(s.from.name)))
		if err != nil {
			return nil, err
		}
		cmd.Env = append(os.Environ(), "FLOWGEN_ROOT="+home)
	}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), a.stderr
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return nil, err
	}
	var results []flowtest.Result
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var r flowtest.Result
		if derr := dec.Decode(&r); errors.Is(derr, io.EOF) {
			break
		} else if derr != nil {
			return nil, fmt.Errorf("%s: what the program said about the cases: %w", s.name, derr)
		}
		results = append(results, r)
	}
	if err != nil || len(results) != len(names) {
		return nil, fmt.Errorf("%s: the program ended after %d of %d cases: %w", s.name, len(results), len(names), err)
	}
	return results, nil
}

func (a *app) testProgram(ctx context.Context, s *suite) (string, error) {
	file := filepath.FromSlash(s.from.name)
	cache, err := a.cache()
	if err != nil {
		return "", err
	}
	if exe, ok := cache.FindMain(file, testMain); ok {
		return exe, nil
	}
	said := a.stderr
	a.stderr = io.Discard // what is to be said of the workflow was said with its cases
	src, _, err := a.source(file)
	a.stderr = said
	if err != nil {
		return "", err
	}
	src.Main = testMain
	exe, err := cache.Executable(ctx, src)
	if err != nil {
		return "", a.goFailed(file, err)
	}
	return filepath.Abs(exe)
}

func isFile(name string) bool { return files.IsFile(filepath.FromSlash(name)) }

// caseFiles turns arguments into names of files with cases.
func caseFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, arg := range args {
		name := path.Clean(filepath.ToSlash(arg))
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			add(stem + casesSuffix)
			continue
		}
		if cases := stemOf(name) + casesSuffix; !strings.HasSuffix(name, casesSuffix) && isFile(cases) && isFile(name) {
			add(cases) // of a workflow of a public dialect
			continue
		}
		dir, deep := strings.CutSuffix(name, "...")
		deep = deep && path.Base(name) == "..."
		if !deep {
			dir = name
			if !files.IsDir(filepath.FromSlash(name)) {
				add(name) // what is wrong with a file is the parser's to say
				continue
			}
		}
		found, err := casesIn(path.Clean("./"+dir), deep)
		if path.IsAbs(dir) {
			found, err = casesIn(path.Clean(dir), deep)
		}
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, noneIn(casesSuffix, arg)
		}
		for _, n := range found {
			add(n)
		}
	}
	return out, nil
}

// casesIn lists the files with cases in a folder, and with deep in those below it.
func casesIn(dir string, deep bool) ([]string, error) {
	var names []string
	err := files.Walk(filepath.FromSlash(dir), func(name string, e fs.DirEntry, err error) error {
		slash := path.Clean(filepath.ToSlash(name))
		switch {
		case err != nil:
			return err
		case e.IsDir() && slash != path.Clean(dir) && (!deep || leftOut(e.Name())):
			return filepath.SkipDir
		case !e.IsDir() && strings.HasSuffix(e.Name(), casesSuffix):
			names = append(names, slash)
		}
		return nil
	})
	return names, err
}
