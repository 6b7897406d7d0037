package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
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
	case name == "inspect":
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && (len(args) == 1 || args[len(args)-1] == "--node") {
				return nodeNames(args[0]), cobra.ShellCompDirectiveNoFileComp
			}
			return runNames(), cobra.ShellCompDirectiveDefault
		}
	case slices.Contains(runFirst, name):
		cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return runNames(), cobra.ShellCompDirectiveDefault
		}
	case slices.Contains(readers, name):
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 && slices.Contains(runSecond, name) {
				return runNames(), cobra.ShellCompDirectiveNoFileComp
			}
			if len(args) > 2 && args[len(args)-1] == "--from" {
				return nodeNames(args[1]), cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		}
	}
}

// nodeNames are the nodes whose calls a run has recorded.
func nodeNames(run string) []string {
	folder, err := runsFolder("", runs.Options{})
	if err != nil {
		return nil
	}
	_, j, err := folder.NamedLazy("", run)
	if err != nil {
		return nil
	}
	var out []string
	for _, key := range j.Keys() {
		out = append(out, journal.NodePath(key))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// runNames are the recorded runs, the latest first.
func runNames() []string {
	folder, err := runsFolder("", runs.Options{})
	if err != nil {
		return nil
	}
	list, err := folder.Latest("")
	if err != nil {
		return nil
	}
	return append([]string{"latest"}, list...)
}
