//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	kills     int // of this run
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

// A result of a run of units with a mutant.
type result int

const (
	passed result = iota
	failed
	late // stopped after too much processor time
	slow // stopped after too long: it is noticed if it is so again
)

// An outcome is a result, its cost and the unit that failed.
type outcome struct {
	result
	cpu, wall time.Duration
	by        *unit
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// run runs units of one package in one process with a mutant. What takes too much is stopped by its processor time, which
// the load of the machine does not change; the limit on time is for what waits for ever.
func (t *tree) run(units []*unit, mutant string, env ...string) (o outcome) {
	o.by = units[0]
	var tests, kases []string
	limitCPU, limitWall := 2*time.Second, 30*time.Second
	for _, u := range units {
		if tests = append(tests, u.test); u.kase != "" {
			tests, kases = tests[:1], append(kases, u.kase)
		}
		limitCPU += 5 * u.cpu
		limitWall += 10 * u.wall
	}
	exe, err := filepath.Abs(filepath.Join(t.dir, "..", "bin", strings.ReplaceAll(units[0].pkg, "/", "_")+".test"))
	if err != nil {
		o.result = failed
		return o
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
	o.wall = time.Since(start)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left running
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case err == nil:
		return o
	case o.cpu >= limitCPU-time.Second:
		o.result = late
		return o
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		o.result = slow
		return o
	}
	if os.Getenv("MUTANTS_VERBOSE") != "" {
		fmt.Printf("%s\n", out.Bytes())
	}
	o.result = failed
	if test := failure.FindSubmatch(out.Bytes()); test != nil {
		if i := slices.IndexFunc(units, func(u *unit) bool { return u.test == string(test[1]) && u.kase == "" }); i >= 0 {
			o.by = units[i]
		}
	}
	return o
}

var reached = regexp.MustCompile(`(?m)^(\S+):(\d+)$`)

// A record is what was measured of a unit.
type record struct {
	Fails     bool          `json:"fails,omitempty"` // without a mutant
	CPU, Wall time.Duration // in nanoseconds
	Reached   []string
}

// measured returns the units of a package that pass without a mutant, with their times and the mutants they reach. What is
// known of the same test binary is read from a file, which grows by each unit: a slice that ends here loses nothing.
func (t *tree) measured(pkg string) ([]*unit, error) {
	exe, err := t.binary(pkg)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		return nil, err
	}
	units, err := t.units(pkg)
	if err != nil {
		return nil, err
	}
	type file struct {
		Binary string
		Units  map[string]record
	}
	of, name := fmt.Sprintf("%x", sha256.Sum256(text)), strings.TrimSuffix(exe, ".test")+".json"
	var known file
	if text, err := os.ReadFile(name); err != nil || json.Unmarshal(text, &known) != nil || known.Binary != of || known.Units == nil {
		known = file{of, map[string]record{}}
	}
	var list []*unit
	for _, u := range units {
		if t.skip != nil && t.skip.MatchString(u.test) {
			continue
		}
		r, ok := known.Units[u.String()]
		if !ok {
			if r, err = t.measure(u); err != nil {
				return nil, err
			}
			known.Units[u.String()] = r
			text, err := json.Marshal(known)
			if err == nil {
				err = os.WriteFile(name, text, 0o644)
			}
			if err != nil {
				return nil, err
			}
		}
		if r.Fails {
			fmt.Printf("%s fails without a mutant and is left out\n", u)
			continue
		}
		if t.most > 0 && r.CPU > t.most {
			continue
		}
		u.cpu, u.wall, u.reached = r.CPU, r.Wall, map[string]bool{}
		for _, m := range r.Reached {
			u.reached[m] = true
		}
		list = append(list, u)
	}
	return list, nil
}

// measure runs a unit without a mutant and sees which mutants it reaches.
func (t *tree) measure(u *unit) (record, error) {
	log, err := filepath.Abs(filepath.Join(t.dir, "..", "seen"))
	if err == nil {
		err = os.WriteFile(log, nil, 0o644)
	}
	if err != nil {
		return record{}, err
	}
	o := t.run([]*unit{{pkg: u.pkg, test: u.test, kase: u.kase, cpu: 30 * time.Second, wall: 60 * time.Second}}, "", "MUTANTS_SEEN="+log)
	text, err := os.ReadFile(log)
	return record{Fails: o.result != passed, CPU: o.cpu, Wall: o.wall, Reached: reached.FindAllString(string(text), -1)}, err
}

// kill runs the units that reach a mutant, the cheap ones together, until one of them fails. It returns which. What killed
// others before is tried first: mutants that are close to each other often fall to the same test. A mutant that no unit is
// seen to reach may be in a process that can write no log: then those are run that reach its file.
func (t *tree) kill(units []*unit, pkg string, m mutant) (by string) {
	reach := func(is func(mutant) bool) (list []*unit) {
		for _, u := range units {
			if slices.ContainsFunc(t.mutants[pkg], func(o mutant) bool { return is(o) && u.reached[o.name(pkg)] }) {
				list = append(list, u)
			}
		}
		return list
	}
	list := reach(func(o mutant) bool { return o.id == m.id })
	if len(list) == 0 {
		list = reach(func(o mutant) bool { return o.file == m.file })
	}
	price := func(u *unit) time.Duration { return u.cpu / time.Duration(1+u.kills) }
	sort.SliceStable(list, func(i, j int) bool { return price(list[i]) < price(list[j]) })
	for budget := 250 * time.Millisecond; len(list) > 0; budget = min(2*budget, 2*time.Second) {
		n, cpu := 1, list[0].cpu
		for n < len(list) && list[n].pkg == list[0].pkg && cpu+list[n].cpu < budget {
			cpu += list[n].cpu
			n++
		}
		o := t.run(list[:n], m.name(pkg))
		if o.result == slow {
			if o = t.run(list[:n], m.name(pkg)); o.result == slow {
				return o.by.String() + " (slow twice)"
			}
		}
		switch o.result {
		case failed:
			o.by.kills++
			return o.by.String()
		case late:
			return o.by.String() + " (late)"
		}
		list = list[n:]
	}
	return ""
}
