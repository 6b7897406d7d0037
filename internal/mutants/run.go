//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"syscall"
	"time"
)

// A unit is what is run to see whether a mutant is noticed: a test of a package, or a golden case.
type unit struct {
	pkg  string
	test string
	kase string // GOLDEN_CASE

	cpu, wall time.Duration // without a mutant
	reached   map[string]bool
}

func (u unit) String() string { return strings.TrimSuffix(u.pkg+"."+u.test+"/"+u.kase, "/") }

// binary builds the tests of a package of the tree.
func (t *tree) binary(pkg string) (string, error) {
	exe, err := filepath.Abs(filepath.Join(t.dir, "..", "bin", strings.ReplaceAll(pkg, "/", "_")+".test"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "test", "-c", "-o", exe, "./"+pkg)
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the tests of %s do not build: %w\n%s", pkg, err, out)
	}
	return exe, nil
}

// units are the tests of a package; for golden they are its cases.
func (t *tree) units(pkg string) ([]*unit, error) {
	if pkg == golden {
		files, err := filepath.Glob(filepath.Join(t.dir, golden, "native", "*.txtar"))
		var list []*unit
		for _, f := range files {
			list = append(list, &unit{pkg: pkg, test: "TestGolden", kase: strings.TrimSuffix(filepath.Base(f), ".txtar")})
		}
		return list, err
	}
	exe, err := t.binary(pkg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "-test.list", "^(Test|Fuzz)")
	cmd.Dir = filepath.Join(t.dir, pkg)
	out, err := cmd.Output()
	var list []*unit
	for _, name := range strings.Fields(string(out)) {
		list = append(list, &unit{pkg: pkg, test: name})
	}
	return list, err
}

// An outcome of a run of units with a mutant.
type outcome int

const (
	passed outcome = iota
	failed
	late // stopped: it is noticed if it is late again
)

// run runs units of one package in one process with a mutant. What takes too much is stopped by its processor time, which
// the load of the machine does not change; the limit on time is for what waits for ever.
func (t *tree) run(units []*unit, mutant string, env ...string) (result outcome, cpu, wall time.Duration) {
	var tests, kases []string
	limitCPU, limitWall := 3*time.Second, 60*time.Second
	for _, u := range units {
		if tests = append(tests, u.test); u.kase != "" {
			tests, kases = tests[:1], append(kases, u.kase)
		}
		limitCPU += 5 * u.cpu
		limitWall += 20 * u.wall
	}
	exe, err := filepath.Abs(filepath.Join(t.dir, "..", "bin", strings.ReplaceAll(units[0].pkg, "/", "_")+".test"))
	if err != nil {
		return failed, 0, 0
	}
	ctx, stop := context.WithTimeout(context.Background(), limitWall)
	defer stop()
	script := fmt.Sprintf(`ulimit -t %d; exec "$0" "$@"`, int(limitCPU.Seconds()))
	args := []string{"-c", script, exe, "-test.failfast", "-test.timeout", (2 * limitWall).String(), "-test.run", "^(" + strings.Join(tests, "|") + ")$"}
	if len(kases) > 0 {
		args[len(args)-1] = "^(TestGolden|TestMarks)$"
	}
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Dir = filepath.Join(t.dir, units[0].pkg)
	cmd.Env = append(append(os.Environ(), "GOLDEN_CASE="+strings.Join(kases, ","), "MUTANT="+mutant), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	wall = time.Since(start)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left running
	cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err == nil {
		return passed, cpu, wall
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || cpu >= limitCPU-time.Second {
		return late, cpu, wall
	}
	if os.Getenv("MUTANTS_VERBOSE") != "" {
		fmt.Printf("%s\n", out.Bytes())
	}
	return failed, cpu, wall
}

var reached = regexp.MustCompile(`(?m)^(\S+):(\d+)$`)

// measure runs a unit without a mutant and sees which mutants it reaches. It reports whether the unit passes.
func (t *tree) measure(u *unit, log string) bool {
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		return false
	}
	abs, err := filepath.Abs(log)
	if err != nil {
		return false
	}
	result, cpu, wall := t.run([]*unit{{pkg: u.pkg, test: u.test, kase: u.kase, cpu: 30 * time.Second, wall: 30 * time.Second}}, "", "MUTANTS_SEEN="+abs)
	text, err := os.ReadFile(log)
	u.cpu, u.wall, u.reached = cpu, wall, map[string]bool{}
	for _, m := range reached.FindAllString(string(text), -1) {
		u.reached[m] = true
	}
	return result == passed && err == nil
}

// kill runs the units that reach a mutant, the cheap ones together, until one of them fails. It returns which.
func (t *tree) kill(units []*unit, mutant string) (by string) {
	var list []*unit
	for _, u := range units {
		if u.reached[mutant] {
			list = append(list, u)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].cpu < list[j].cpu })
	for len(list) > 0 {
		n, cpu := 1, list[0].cpu
		for n < len(list) && list[n].pkg == list[0].pkg && cpu+list[n].cpu < 2*time.Second {
			cpu += list[n].cpu
			n++
		}
		result, _, _ := t.run(list[:n], mutant)
		if result == late {
			if result, _, _ = t.run(list[:n], mutant); result == late {
				return list[0].String() + " (late twice)"
			}
		}
		if result == failed {
			return list[0].String()
		}
		list = list[n:]
	}
	return ""
}
