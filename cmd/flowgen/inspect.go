package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect [RUN [CALL]] [--format text|json] [--runs DIR]",
		Short: "Show recorded runs: when what was called, what it cost and what came out",
		Long: "Inspect lists the recorded runs, or shows one: a line for each call, in the order of their beginnings, how the run\n" +
			"ended and what it waits for. RUN is the name of a run, the beginning of one, latest, or a file with a journal, whose\n" +
			"name ends in .jsonl. CALL is the key of a call or the beginning of its call_id, and shows what went in and came out;\n" +
			"the path of a node shows all of its calls. Runs are looked for in the folder that --runs names, else in that of\n" +
			"FLOWGEN_RUNS, else in .flowgen/runs. Compiled programs answer `inspect` with the same.",
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			if code := cli.Inspect(a.stdout, a.stderr, args); code != exitClean {
				return exitCode(code)
			}
			return nil
		},
	}
}
