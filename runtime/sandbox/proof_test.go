//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowgen-dev/flowgen/runtime/internal/isolate"
)

// A trial that failed counts for a moment, one that succeeded for good.
func TestFailureIsTriedAgain(t *testing.T) {
	check(t, available())
	set := func(err error, ago time.Duration) {
		proof.mu.Lock()
		defer proof.mu.Unlock()
		proof.err, proof.at = err, time.Now().Add(-ago)
	}
	defer set(nil, 0)
	mood := errors.New("the machine's mood")
	set(mood, -time.Hour) // a look at the clock takes time, too
	if err := available(); err != mood {
		t.Errorf("right after it: %v", err)
	}
	set(mood, retrial)
	if err := available(); err != nil {
		t.Errorf("later: %v", err)
	}
	at := proof.at
	set(nil, time.Hour)
	if err := available(); err != nil || !proof.at.Before(at) {
		t.Errorf("success is tried again: %v", err)
	}
	set(mood, retrial)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if err := available(); err == nil || !strings.Contains(err.Error(), "no directory for a trial") {
		t.Errorf("a trial that cannot begin: %v", err)
	}
}

// A trial that finds a hole fails: here its directory is one of the system's, which every tool may read.
func TestTrialFailsWhereFilesAreOpen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(publicDir(t))
	check(t, err)
	t.Setenv("TMPDIR", dir)
	was := system
	defer func() { system = was }()
	system = append(slices.Clone(system), dir)
	if err := prove(landlockABI()); err == nil || !strings.Contains(err.Error(), "reading a file of others") {
		t.Error(err)
	}
}

// Control groups are used where they can be made. Those of programs that were killed are removed, and no others.
func TestControlGroups(t *testing.T) {
	for kind, want := range map[int64]bool{unix.CGROUP_SUPER_MAGIC: true, unix.CGROUP2_SUPER_MAGIC: true, unix.TMPFS_MAGIC: false} {
		if controls(kind) != want {
			t.Errorf("%x: %v", kind, !want)
		}
	}
	dir := ""
	for _, d := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(d, "cgroup.procs")); err == nil {
			dir = d
			break
		}
	}
	name := filepath.Join(dir, fmt.Sprint(folderPrefix, "test-", os.Getpid()))
	can := dir != "" && os.Geteuid() == 0 && os.Mkdir(name, 0o700) == nil
	if got := cgroups(); got != can {
		t.Errorf("control groups: %v, want %v", got, can)
	}
	if !can {
		return
	}
	defer func() { _ = os.Remove(name) }()
	sweepGroups()
	if _, err := os.Stat(name); err != nil {
		t.Errorf("a new group is gone: %v", err)
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Skip(err) // a file system that keeps its own time
	}
	sweepGroups()
	if _, err := os.Stat(name); err == nil {
		t.Error("an old group stays")
	}
}

// Of root's rights a tool keeps reading, whatever it starts, and it may signal what it has started.
func TestRightsOfATool(t *testing.T) {
	got, err := output(t, new(Profile), isolate.Need{}, exec.Command("sh", "-c", `while read -r line; do case $line in CapBnd*) echo "$line";; esac; done </proc/self/status; sleep 60 & kill $! && echo killed`))
	want := "killed\n"
	if os.Geteuid() == 0 {
		reads, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_DAC_READ_SEARCH, 0, 0, 0) // 0 in many containers
		check(t, err)
		want = fmt.Sprintf("CapBnd:\t%016x\nkilled\n", reads<<unix.CAP_DAC_READ_SEARCH)
	}
	if err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if landlockABI() < scopeABI {
		return
	}
	b := &box{abi: scopeABI, limits: DefaultLimits()}
	check(t, b.prepare())
	defer b.remove()
	cmd := exec.Command("sh", "-c", `sleep 60 & kill $!`)
	check(t, b.describe(cmd, nil))
	child, err := b.launch(cmd)
	check(t, err)
	if end, over := reap(child); end != nil || over != nil {
		t.Errorf("with version %d of Landlock: %v, %v", scopeABI, end, over)
	}
}

// The user of root's tools may not execute every program that root may.
func TestProgramsOfRoot(t *testing.T) {
	const why = "must be allowed to execute it"
	dir := t.TempDir()
	for text, denied := range map[string]bool{"#!/bin/sh\n": true, "\x7fELF nonsense": false} {
		name := filepath.Join(dir, fmt.Sprint("program-", denied))
		check(t, os.WriteFile(name, []byte(text), 0o700))
		if !denied {
			check(t, os.Chmod(name, 0o755))
		}
		_, err := output(t, new(Profile), isolate.Need{}, exec.Command(name))
		if said := err != nil && strings.Contains(err.Error(), why); said != (denied && os.Geteuid() == 0) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGVisorFailureIsTriedAgain(t *testing.T) {
	needGVisor(t)
	p := &kernelProof
	set := func(err error, ago time.Duration) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err, p.at = err, time.Now().Add(-ago)
	}
	defer set(nil, 0)
	mood := errors.New("the machine's mood")
	set(mood, -time.Hour)
	if err := kernelAvailable(); err != mood {
		t.Errorf("right after it: %v", err)
	}
	set(mood, retrial)
	if err := kernelAvailable(); err != nil {
		t.Errorf("later: %v", err)
	}
	at := p.at
	set(nil, time.Hour)
	if err := kernelAvailable(); err != nil || !p.at.Before(at) {
		t.Errorf("success is tried again: %v", err)
	}
	runsc, err := findRunsc()
	check(t, err)
	t.Setenv("PATH", "")
	t.Setenv(RunscVariable, runsc)
	if got, err := findRunsc(); got != runsc || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	set(mood, -time.Hour)
	p.runsc = "another"
	if err := kernelAvailable(); err != nil {
		t.Errorf("another runsc: %v", err)
	}
}

// The count of a user's threads is used for a moment, for this user only.
func TestTasksAreCounted(t *testing.T) {
	const nobody = 1 << 30
	self := os.Geteuid()
	forget := func(uid, n int, ago time.Duration) {
		counted.Lock()
		defer counted.Unlock()
		counted.uid, counted.n, counted.at = uid, n, time.Now().Add(-ago)
	}
	defer forget(-1, 0, time.Hour)
	forget(self, -5, -time.Hour)
	if n, err := tasks(self); n != -5 || err != nil {
		t.Errorf("right after it: %d, %v", n, err)
	}
	if n, err := tasks(nobody); n != 0 || err != nil {
		t.Errorf("of nobody: %d, %v", n, err)
	}
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("of this user: %d, %v", n, err)
	}
	forget(self, -5, fresh)
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("later: %d, %v", n, err)
	}
	counted.at = time.Time{}
	counted.n = -5
	if n, err := tasks(self); n < 1 || err != nil {
		t.Errorf("at first: %d, %v", n, err)
	}
	if self == 0 {
		const ordinary = 61183 // nobody else's
		one := exec.Command("sleep", "600")
		one.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		check(t, one.Start())
		defer func() { _ = one.Process.Kill(); _ = one.Wait() }()
		if n, err := tasks(ordinary); n != 1 || err != nil {
			t.Errorf("of a user with one process: %d, %v", n, err)
		}
	}
	if n := threads(fmt.Sprint(resting(t))); n != 1 {
		t.Errorf("%d threads of a shell", n)
	}
	if n := threads("none"); n != 0 {
		t.Errorf("%d threads of no process", n)
	}
}

// The limits and the state of a process that has none are noticed.
func TestStateAndLimitsAreLookedAt(t *testing.T) {
	var have unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &have))
	for _, tt := range []struct {
		value uint64
		ok    bool
	}{{have.Max, true}, {have.Max + 1, true}, {have.Max - 1, false}, {0, false}} {
		d := &description{Limits: []limit{{unix.RLIMIT_NOFILE, tt.value}}}
		if err := d.limitsHold(); (err == nil) != tt.ok {
			t.Errorf("%d of %d: %v", tt.value, have.Max, err)
		}
	}
	if err := (&description{}).stateHolds(); err == nil {
		t.Error("this process is isolated")
	}
}
