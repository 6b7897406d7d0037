package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// tortureMain is the leaf whose Main runs campaigns.
const tortureMain = "torture"

type tortureFlags struct {
	seed    uint64
	minutes float64
	trials  int
	crashes bool
	inputs  []string
}

func (a *app) tortureCommand() *cobra.Command {
	var f tortureFlags
	cmd := &cobra.Command{
		Use:   "torture FILE",
		Short: "Simulate a workflow under other schedules, faults, crashes and caps, and report bugs",
		Long: "Torture compiles a workflow and simulates many runs: under other schedules, with faults, slow calls and timeouts,\n" +
			"cancelled, under caps, crashed at any moment, resumed and replayed. Nothing outside is touched: only Go and Starlark\n" +
			"tools with effects none run; stubs return random values for all other tools, models and users.\n\n" +
			"A seed determines everything. Each finding shows the seed that reproduces it. The exit code is 1 with findings.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64N(1e9)
			}
			if f.trials < 0 || f.minutes < 0 || f.minutes > 60*24*365 {
				return usage("--trials and --minutes must be above zero")
			}
			return a.torture(cmd.Context(), args[0], &f)
		},
	}
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the first trial, from which the others follow; random by default")
	cmd.Flags().Float64Var(&f.minutes, "minutes", 1, "time limit in minutes")
	cmd.Flags().IntVar(&f.trials, "trials", 0, "number of trials, instead of the time limit")
	cmd.Flags().BoolVar(&f.crashes, "every-crash", false, "crash every run at every moment and at every disk operation, not at a random one")
	cmd.Flags().StringArrayVar(&f.inputs, "input-json", nil, "a file with an input, a JSON object; repeatable; random by default")
	return cmd
}

func (a *app) torture(ctx context.Context, file string, f *tortureFlags) error {
	src, c, err := a.compiledSource(file)
	if err != nil {
		return err
	}
	cache, err := a.cache()
	if err != nil {
		return err
	}
	exe, ok := cache.FindMain(file, tortureMain)
	if !ok {
		src.Main = tortureMain
		if exe, err = cache.Executable(ctx, src); err != nil {
			return a.goFailed(file, err)
		}
	}
	args := []string{"-seed", strconv.FormatUint(f.seed, 10), "-real", strings.Join(pureTools(c.workflow), ","), "-again", "flowgen torture " + file}
	if shapes := standIns(c.workflow); len(shapes) > 0 {
		text, err := json.Marshal(shapes)
		if err != nil {
			return err
		}
		args = append(args, "-gives", string(text))
	}
	if f.trials > 0 {
		args = append(args, "-trials", strconv.Itoa(f.trials))
	} else {
		args = append(args, "-time", time.Duration(f.minutes*float64(time.Minute)).String())
	}
	if f.crashes {
		args = append(args, "-every-crash")
	}
	for _, name := range f.inputs {
		args = append(args, "-input", name)
	}
	if exe, err = filepath.Abs(exe); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Stdout, cmd.Stderr = a.stdout, a.stderr
	var ended *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return exitCode(ended.ExitCode())
	case err != nil:
		return fmt.Errorf("the campaign did not end: %w", err)
	}
	return nil
}

// pureTools are the tools of a workflow and its sub-workflows that run in the program and have no effects.
func pureTools(w *ir.Workflow) []string {
	var names []string
	for _, t := range w.Tools {
		switch t.Binding.(type) {
		case *ir.GoTool, *ir.StarlarkTool:
			if check.Effects(t) == ir.EffectsNone {
				names = append(names, t.FullName())
			}
		}
	}
	for _, f := range w.Flows {
		names = append(names, pureTools(f)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
