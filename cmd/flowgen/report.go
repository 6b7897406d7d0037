package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/atomicfile"
	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
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
	case o.Full && o.NoContent:
		return usage("--full and --no-content exclude each other")
	}
	folder, err := runsFolder(dir, runs.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	id := ""
	if strings.HasSuffix(rest[0], ".jsonl") {
		scratch, err := os.MkdirTemp("", "flowgen-report-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		folder, id, err = journalFile(folder, rest[0], scratch)
		if err != nil {
			return unusable{err}
		}
	} else if id, err = folder.Find("", rest[0]); err != nil {
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

// journalFile finds the folder of a file with a journal: that of its runs, or one that is made in scratch with it as the only run.
func journalFile(named *runs.Folder, file, scratch string) (folder *runs.Folder, id string, err error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, "", err
	}
	dir, name := filepath.Split(whole)
	if name == "journal.jsonl" {
		folder, id = runs.Open(filepath.Dir(filepath.Clean(dir)), runs.Options{ReadOnly: true}), filepath.Base(dir)
		if _, err := folder.Size(id); err == nil {
			return folder, id, nil
		}
	}
	_, j, err := named.Named("", file)
	if err != nil {
		return nil, "", err
	}
	id = strings.TrimSuffix(name, ".jsonl")
	if engine.CheckRunID(id) != nil {
		id = "journal"
	}
	folder, err = alone(j, scratch, id)
	return folder, id, err
}

// alone writes a journal into a folder of runs, where it is the only run.
func alone(j *journal.Journal, dir, id string) (*runs.Folder, error) {
	text, err := j.MarshalText()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, id), 0o700); err != nil {
		return nil, err
	}
	log, _, err := wal.Open(wal.OS, filepath.Join(dir, id, "journal.jsonl"), wal.Off)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		if err := log.Append(bytes.TrimSuffix(line, []byte("\n")), false); err != nil {
			return nil, errors.Join(err, log.Close())
		}
	}
	return runs.Open(dir, runs.Options{ReadOnly: true}), log.Close()
}
