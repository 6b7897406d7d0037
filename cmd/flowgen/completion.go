package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// withRuns are the commands whose second argument is a run, and those whose first is.
var (
	runSecond = []string{"resume", "respond", "rerun", "replay"}
	runFirst  = []string{"inspect", "diff", "materialize"}
)

// complete offers workflow files and recorded runs to the shell.
func complete(cmd *cobra.Command) {
	if cmd.ValidArgsFunction != nil {
		return
	}
	switch name := cmd.Name(); {
	case slices.Contains(runFirst, name):
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return runNames(), cobra.ShellCompDirectiveDefault
		}
	case slices.Contains(readers, name):
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 && slices.Contains(runSecond, name) {
				return runNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		}
	}
}

// runNames are the recorded runs, the latest first.
func runNames() []string {
	list, err := runsFolder("").List()
	if err != nil {
		return nil
	}
	out := []string{"latest"}
	for _, r := range list {
		out = append(out, r.ID)
	}
	return out
}
