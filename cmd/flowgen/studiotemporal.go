package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio"
)

const (
	maxRunList  = 8 << 20 // bytes that a program may list
	programTime = time.Minute
)

// temporalRuns reads runs on Temporal with the program of --temporal, whose copies are in a scratch folder.
type temporalRuns struct {
	program, scratch string

	mu   sync.Mutex // guards the following
	made int
	sums map[*runs.Folder][sha256.Size]byte
}

// onTemporal is what the page reads runs on Temporal with; nil without --temporal. The folder with copies is removed by the returned function.
func (f *studioFlags) onTemporal() (t *studio.Temporal, done func(), err error) {
	if f.temporal == "" {
		return nil, func() {}, nil
	}
	scratch, err := os.MkdirTemp("", "flowgen-studio-")
	if err != nil {
		return nil, nil, err
	}
	r := &temporalRuns{program: f.temporal, scratch: scratch, sums: map[*runs.Folder][sha256.Size]byte{}}
	return &studio.Temporal{Program: filepath.Base(f.temporal), List: r.list, Copy: r.copy}, func() { _ = os.RemoveAll(scratch) }, nil
}

func (t *temporalRuns) list(ctx context.Context) ([]studio.TemporalRun, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	cmd := exec.CommandContext(ctx, t.program, "list")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(out, maxRunList))
	if werr := cmd.Wait(); err != nil || werr != nil {
		return nil, saidBy(said.String(), errors.Join(err, werr))
	}
	var all []studio.TemporalRun
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("it printed no list of runs: %w", err)
	}
	return all, nil
}

// saidBy is the error of a program, in its own words where it has some.
func saidBy(said string, err error) error {
	if said = strings.TrimSpace(said); said != "" {
		return errors.New(said)
	}
	return err
}

// copyName is the name of a copy whose id is not a name of a run.
const copyName = "run"

func (t *temporalRuns) copy(ctx context.Context, id string, last *runs.Folder) (*runs.Folder, string, error) {
	name := id
	if engine.CheckRunID(id) != nil {
		name = copyName
	}
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	var said bytes.Buffer
	j, err := remoteRun(ctx, &said, t.program, id)
	if err != nil {
		return nil, "", saidBy(said.String(), err)
	}
	text, err := j.MarshalText()
	if err != nil {
		return nil, "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256(text)
	if last != nil && t.sums[last] == sum {
		return last, name, nil
	}
	t.made++
	dir := filepath.Join(t.scratch, strconv.Itoa(t.made))
	folder, err := alone(j, dir, name)
	if err != nil {
		return nil, "", err
	}
	if last != nil { // pages that still read it begin again with this one
		delete(t.sums, last)
		_ = os.RemoveAll(last.Dir())
	}
	t.sums[folder] = sum
	return folder, name, nil
}

// programFile is a program as a command in another folder finds it.
func programFile(name string) (string, error) {
	exe, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", unusablef("--temporal names a program of `flowgen build --engine temporal`: %w", err)
	}
	return filepath.Abs(cmp.Or(exe, name))
}
