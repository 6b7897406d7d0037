package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio"
)

// warnReport is the size from which a report is said to be large.
const warnReport = 10 << 20 // bytes

// wantsReport reports whether inspect is to write a file.
func wantsReport(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name := strings.TrimLeft(arg, "-")
		return name != arg && (name == "html" || strings.HasPrefix(name, "html="))
	})
}

// writeReport is `inspect RUN --html FILE`.
func (a *app) writeReport(args []string) error {
	set := flag.NewFlagSet("inspect", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	var name, dir string
	o := studio.ReportOptions{Version: origin.Version()}
	set.StringVar(&name, "html", "", "")
	set.StringVar(&dir, "runs", "", "")
	set.BoolVar(&o.Full, "full", false, "")
	set.BoolVar(&o.NoContent, "no-content", false, "")
	var rest []string
	for len(args) > 0 { // flags can be after RUN
		if err := set.Parse(args); err != nil {
			return usage("%w; with --html there are --runs, --full and --no-content", err)
		}
		if args = set.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	switch {
	case len(rest) != 1 || name == "":
		return usage("write inspect RUN --html FILE")
	case strings.HasSuffix(rest[0], ".jsonl"):
		return unusablef("%s is a journal file; --html takes a run of a folder: name the folder with --runs", rest[0])
	case o.Full && o.NoContent:
		return usage("--full and --no-content exclude each other")
	}
	folder, err := runsFolder(dir, runs.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	id, err := folder.Find("", rest[0])
	if err != nil {
		return err
	}
	page, err := studio.Report(folder, id, o)
	switch {
	case errors.Is(err, studio.ErrReportSize):
		return unusablef("run %s: %w; write it with --no-content, or entirely with --full", id, err)
	case err != nil:
		return err
	}
	if err := atomicfile.Write(name, page); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "flowgen: wrote %s\n", oneLine(name))
	if len(page) > warnReport {
		fmt.Fprintf(a.stderr, "flowgen: the file has %d MB; --no-content makes it smaller\n", len(page)>>20)
	}
	return nil
}
