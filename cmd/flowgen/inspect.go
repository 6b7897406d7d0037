package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/runtime/cli"
)

func (a *app) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect [RUN [CALL]] [--format text|json] [--runs DIR] [--html FILE]",
		Short: "Show recorded runs: timeline, cost and results",
		Long: "Inspect lists the recorded runs, or shows one: a line for each call, ordered by start, the outcome and the open\n" +
			"questions. RUN is the name of a run, a prefix of it, latest, or a journal file whose name ends in .jsonl. CALL is\n" +
			"the key of a call or a prefix of its call_id, and shows input and output; the path of a node shows all its calls.\n" +
			"--html FILE writes the run as one page that opens without a server: its calls with the first 16 KiB of each input and\n" +
			"output, or all with --full, or only their shapes with --no-content. It contains what the journal contains.\n\n" +
			"Runs are read from the folder of --runs, else of FLOWGEN_RUNS, else from .flowgen/runs. Compiled programs have the\n" +
			"same verb `inspect`.",
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			if wantsReport(args) {
				return a.writeReport(args)
			}
			if code := cli.Inspect(a.stdout, a.stderr, args); code != exitClean {
				return exitCode(code)
			}
			return nil
		},
	}
}
