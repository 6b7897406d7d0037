package main

import (
	"bytes"
	"context"
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
		if s.remote(name) {
			j, err := remoteRun(context.Background(), stderr, s.program, name)
			return name, j, err
		}
		return folder.Named("", name)
	}, nil
}

// remote reports whether a run is one on Temporal.
func (s *runSource) remote(name string) bool {
	return s.program != "" && !strings.HasSuffix(name, ".jsonl")
}

// lister is the command that lists the calls of a run.
func (s *runSource) lister(name string) string {
	if s.remote(name) {
		return s.program + " inspect --temporal " + name
	}
	return "flowgen inspect " + name
}

// saying knows whether something was written.
type saying struct {
	w         io.Writer
	something bool
}

// Write implements io.Writer.
func (s *saying) Write(p []byte) (int, error) {
	s.something = s.something || len(p) > 0
	return s.w.Write(p)
}

// remoteRun reads a run on Temporal with its program. The compiler itself has no client of Temporal.
func remoteRun(ctx context.Context, stderr io.Writer, program, id string) (*journal.Journal, error) {
	cmd := exec.CommandContext(ctx, program, "inspect", "--temporal", "--format", "jsonl", "--", id)
	said := &saying{w: stderr}
	cmd.Stderr = said
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
		if code := cmd.ProcessState.ExitCode(); err == nil && code > 0 && said.something {
			return nil, exitCode(code) // it has said what is wrong
		}
		return nil, fmt.Errorf("%s cannot read run %s: %w", program, id, errors.Join(err, werr))
	}
	j, err := journal.Parse(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s wrote no journal of run %s: %w", program, id, err)
	}
	return j, nil
}
