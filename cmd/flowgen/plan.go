package main

import (
	"io"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) planCommand() *cobra.Command {
	var format string
	var why bool
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show how a workflow runs: order, conditions, bounds, effects, worst case",
		Long: "Plan shows what a workflow will do, without running it: its steps in execution order, with conditions and\n" +
			"parallelism; timeouts, attempts and bounds of maps and loops; the effects of each tool and whether it is isolated.\n" +
			"The worst case follows: the maximum number of calls of each tool, attempts included, the maximum time of all calls\n" +
			"and waits, and the maximum cost, or the step that has no bound. Each step lists its predecessors and the reasons;\n" +
			"compiled programs print the same text without them with `plan`, like --why=false.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.describe(args[0], format, cli.PlanText, func(p *check.Program) string {
				if why {
					return plan.Why(p).JSON()
				}
				return plan.Of(p).JSON()
			})
		},
	}
	cmd.Flags().BoolVar(&why, "why", true, "also list the predecessors of each step, with the reason: reference, when, edge, catch, writes or wait")
	formatFlag(cmd, &format, "text", "json")
	return cmd
}

// describe prints what a compiled program would say of itself, so that both say the same.
func (a *app) describe(file, format string, text func(string) (string, error), data func(*check.Program) string) error {
	render := map[string]func(string) (string, error){"text": text, "json": cli.Indented}[format]
	if render == nil {
		return noFormat(format)
	}
	c := a.compile(newDisk(), path.Clean(filepath.ToSlash(file)))
	if err := a.report(c.list, false); err != nil {
		return err
	}
	out, err := render(data(c.program))
	if err != nil {
		return &fault{what: err.Error(), file: c.name}
	}
	_, err = io.WriteString(a.stdout, out)
	return err
}
