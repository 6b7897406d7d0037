package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// maxRemote bounds what a program may say of a run.
const maxRemote = 1 << 30

// runSource is where a command finds the runs that it is given.
type runSource struct{ dir, program string }

func (s *runSource) flags(cmd *cobra.Command) {
	runsFlag(cmd, &s.dir)
	cmd.Flags().StringVar(&s.program, "temporal", "", "`PROGRAM` of `build --engine temporal`, which is run to read them: a run is the id of one on Temporal")
}

// open returns a function that reads a run by its name.
func (s *runSource) open(stderr io.Writer) (func(name string) (id string, j *journal.Journal, err error), error) {
	folder, err := runsFolder(s.dir, runs.Options{})
	if err != nil {
		return nil, err
	}
	return func(name string) (string, *journal.Journal, error) {
		if s.program == "" || strings.HasSuffix(name, ".jsonl") {
			return folder.Named("", name)
		}
		j, err := remoteRun(stderr, s.program, name)
		return name, j, err
	}, nil
}

// remoteRun reads a run on Temporal with its program. The compiler itself has no client of Temporal.
func remoteRun(stderr io.Writer, program, id string) (*journal.Journal, error) {
	cmd := exec.Command(program, "inspect", "--temporal", "--format", "jsonl", "--", id)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("--temporal names a program of `flowgen build --engine temporal`: %w", err)
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.LimitReader(out, maxRemote))
	if werr := cmd.Wait(); err != nil || werr != nil {
		return nil, fmt.Errorf("%s cannot read run %s: %w", program, id, errors.Join(err, werr))
	}
	j, err := journal.Parse(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s wrote no journal of run %s: %w", program, id, err)
	}
	return j, nil
}
