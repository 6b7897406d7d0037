package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/diff"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// runsHelp says how runs are named.
const runsHelp = "RUN is the name of a run, a prefix of it, latest, or a journal file whose name ends in .jsonl. Runs are read from the\n" +
	"folder of --runs, else of FLOWGEN_RUNS, else from .flowgen/runs. With --temporal PROGRAM, RUN is the id of a run on\n" +
	"Temporal."

func (a *app) diffCommand() *cobra.Command {
	var format string
	var from runSource
	cmd := &cobra.Command{
		Use:   "diff RUN1 RUN2",
		Short: "Compare two recorded runs: changes, and their consequences",
		Long: "Diff compares two recorded runs, A and B: program, input and result; the nodes that differ, and their changes; then\n" +
			"each call that differs, ordered by start, with the fields that differ. For a call with another input it shows the\n" +
			"origin of the change, as far as values reveal it. Times are ignored.\n\n" +
			runsHelp + "\n\nExit codes: 0 the runs are equal, 1 they differ, 2 they cannot be compared.",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return noFormat(format)
			}
			named, err := from.open(a.stderr)
			if err != nil {
				return a.notCompared(err)
			}
			return a.diff(named, args[0], args[1], format)
		},
	}
	formatFlag(cmd, &format, "text", "json")
	from.flags(cmd)
	return cmd
}

func runsFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "runs", "", "folder of the recorded runs")
}

// runsFolder is the folder in which runs are looked for.
func runsFolder(dir string, o runs.Options) (*runs.Folder, error) {
	env := os.Getenv("FLOWGEN_RUNS")
	if env == "off" { // nothing is recorded; what was is where it is
		env = ""
	}
	dir = cmp.Or(dir, env, filepath.FromSlash(runs.DefaultDir))
	if strings.Contains(dir, "://") {
		return nil, errors.New("flowgen itself has no driver of a database: write `PROGRAM inspect RUN --format jsonl` of the workflow's program to a file, whose name takes the place of RUN")
	}
	return runs.Open(dir, o), nil
}

func (a *app) diff(named func(string) (string, *journal.Journal, error), nameA, nameB, format string) error {
	idA, was, err := named(nameA)
	if err != nil {
		return a.notCompared(err)
	}
	idB, now, err := named(nameB)
	if err != nil {
		return a.notCompared(err)
	}
	r := diff.Runs(idA, was, idB, now)
	out := r.Text()
	if format == "json" {
		data, err := json.Marshal(r)
		if err != nil {
			return a.notCompared(err)
		}
		if out, err = cli.Indented(string(data)); err != nil {
			return a.notCompared(err)
		}
	}
	if _, err := io.WriteString(a.stdout, out); err != nil {
		return a.notCompared(err)
	}
	if !r.Equal() {
		return errReported
	}
	return nil
}

// notCompared keeps the code 1 for runs that differ.
func (a *app) notCompared(err error) error {
	if code := exitCode(0); !errors.As(err, &code) { // of the program that reads runs, which has said why
		fmt.Fprintf(a.stderr, "flowgen: %v\n", err)
	}
	return exitCode(exitUsage)
}
