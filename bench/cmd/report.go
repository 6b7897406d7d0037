package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/flowgen-dev/flowgen/bench/compile"
	"github.com/flowgen-dev/flowgen/bench/dialect"
	"github.com/flowgen-dev/flowgen/bench/measure"
	"github.com/flowgen-dev/flowgen/bench/workload"
)

// report collects the tables.
type report struct {
	plan  measure.Plan
	peers string // the folder of other libraries; "" without them
	text  strings.Builder
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// machine says where the figures come from.
func (r *report) machine() {
	r.printf("Measured with %s on %s/%s, %d CPUs (%s); load average at the start %s. %d rounds, slices of %v.\n",
		goruntime.Version(), goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), cpuName(), load(), r.plan.Rounds, r.plan.Slice)
}

func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "model name"); ok {
			return strings.Trim(name, " \t:")
		}
	}
	return "unknown"
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func (r *report) workloads(wanted func(string) bool) error {
	all, err := workload.All()
	if err != nil {
		return err
	}
	if r.peers != "" {
		end, err := join(all, r.peers)
		if err != nil {
			return err
		}
		defer end()
	}
	for _, c := range all {
		if !wanted(c.ID) || r.peers != "" && c.Peers == "" {
			continue
		}
		results, err := measure.Run(c, r.plan)
		if err != nil {
			return err
		}
		r.table(c, results)
	}
	for _, c := range all {
		if c.Close != nil {
			c.Close()
		}
	}
	return nil
}

// table writes what was measured of a workload.
func (r *report) table(c workload.Comparison, results []measure.Result) {
	r.printf("\n### %s: %s\n\n", c.ID, c.Title)
	r.printf("| | ns per %s | ratio of the fastest | ratio per round: min, median, max | goal | allocations | bytes |\n|---|---|---|---|---|---|---|\n", c.Unit)
	for i, x := range results {
		goal := ""
		if g, ok := c.Goals[x.Name]; ok {
			goal = "≤ " + number(g)
		}
		allocs, bytes := number(x.Allocs), number(x.Bytes)
		if c.Own > 0 && i >= c.Own {
			allocs, bytes = "", ""
		}
		r.printf("| %s | %s | %.2f | %.2f, %.2f, %.2f | %s | %s | %s |\n", x.Name, number(x.Nanos.Min), x.Fastest,
			x.Ratio.Min, x.Ratio.Median, x.Ratio.Max, goal, allocs, bytes)
	}
}

// dialects is W11: the tests of bench/dialect measure, each its dialect beside the chain by hand, one after the other.
func (r *report) dialects() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plan, err := json.Marshal(r.plan)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "test", "-count=1", "-p=1", "-run=^TestNode$", "./bench/dialect/...")
	cmd.Env = append(os.Environ(), dialect.FolderVariable+"="+dir, dialect.PlanVariable+"="+string(plan))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no dialect was measured")
	}
	var all []measure.Result
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var both []measure.Result
		if err := json.Unmarshal(text, &both); err != nil {
			return err
		}
		if i > 0 {
			both = both[1:] // by hand once; ratios are those to the figures of the same rounds
		}
		all = append(all, both...)
	}
	r.table(workload.Comparison{ID: "W11", Title: "chain of 20 nodes on a state without types", Unit: "node"}, all)
	return nil
}

// number writes a figure with about three digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	case x < 0.005:
		return "0"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// start is W6.
func (r *report) start() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var commands []measure.Command
	var sizes []float64
	for _, p := range []struct {
		name, pkg string
		args, env []string
	}{
		{"by hand, bench/plain", "./bench/plain", nil, nil},
		{"flowgen, examples/hello", "./examples/hello", []string{"--quiet"}, nil},
		{"flowgen, not recorded", "./examples/hello", []string{"--quiet"}, []string{"FLOWGEN_RUNS=off"}},
	} {
		exe := filepath.Join(dir, filepath.Base(p.pkg))
		if err := build(exe, p.pkg); err != nil {
			return err
		}
		st, err := os.Stat(exe)
		if err != nil {
			return err
		}
		sizes = append(sizes, float64(st.Size()))
		commands = append(commands, measure.Command{Name: p.name, Args: append([]string{exe}, p.args...), Env: append(os.Environ(), p.env...), Dir: dir})
	}
	all, err := measure.Processes(20*r.plan.Rounds, commands...)
	if err != nil {
		return err
	}
	held := make([]float64, len(commands))
	for i, c := range commands {
		if held[i], err = measure.Memory(r.plan.Rounds, c); err != nil {
			return err
		}
	}
	r.printf("\n### W6: start of a program, and its size\n\n")
	r.printf("| | first byte, ms: min, median | whole run, ms: min, median | memory, MiB | ratio of memory | size, MB | ratio of size |\n|---|---|---|---|---|---|---|\n")
	for i, p := range all {
		r.printf("| %s | %.2f, %.2f | %.2f, %.2f | %.1f | %.2f | %.2f | %.2f |\n", p.Name, p.First.Min, p.First.Median, p.Wall.Min, p.Wall.Median,
			held[i], held[i]/held[0], sizes[i]/1e6, sizes[i]/sizes[0])
	}
	return nil
}

func build(exe, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// compile is W8: the whole command, so that reading, writing and starting are in it.
func (r *report) compile() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "flowgen")
	if err := build(exe, "./cmd/flowgen"); err != nil {
		return err
	}
	r.printf("\n### W8: the compiler on large files\n\n")
	r.printf("| shape | nodes | lines | check, ms: min, median | generate, ms: min, median | of CPU, ms: min | generate, ms per 1,000 lines | nothing changed, ms: min, median | memory, MiB |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range compile.Shapes {
		for _, nodes := range []int{92, 1000, 9092, 10_000} {
			if nodes == 10_000 && s.Name != "chain" {
				continue
			}
			if err := r.compileOne(exe, dir, s, nodes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *report) compileOne(exe, dir string, s compile.Shape, nodes int) error {
	home := filepath.Join(dir, s.Name, fmt.Sprint(nodes))
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	text := s.Text(nodes)
	lines := float64(strings.Count(text, "\n"))
	if err := os.WriteFile(filepath.Join(home, "big.flowgen.yaml"), []byte(text), 0o644); err != nil {
		return err
	}
	env := append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
	command := func(name, verb string, prep func() error) measure.Command {
		return measure.Command{Name: name, Args: []string{exe, verb, "big.flowgen.yaml"}, Env: env, Dir: home, Prep: prep}
	}
	anew := func() error {
		if err := os.RemoveAll(filepath.Join(home, "cache")); err != nil {
			return err
		}
		return os.RemoveAll(filepath.Join(home, "big_flow.go"))
	}
	runs := max(3, min(r.plan.Rounds, 120_000/int(lines)))
	fresh, err := measure.Processes(runs, command("check", "check", nil), command("generate", "generate", anew))
	if err != nil {
		return err
	}
	held, err := measure.Memory(1, command("generate", "generate", anew))
	if err != nil {
		return err
	}
	// The first run without a change remembers it.
	if _, err := measure.Processes(2, command("generate", "generate", nil)); err != nil {
		return err
	}
	same, err := measure.Processes(r.plan.Rounds, command("unchanged", "generate", nil))
	if err != nil {
		return err
	}
	check, gen := fresh[0], fresh[1]
	r.printf("| %s | %d | %.0f | %.0f, %.0f | %.0f, %.0f | %.0f | %.1f | %.0f, %.0f | %.0f |\n", s.Name, nodes, lines, check.Wall.Min, check.Wall.Median,
		gen.Wall.Min, gen.Wall.Median, gen.CPU.Min, gen.Wall.Min/lines*1000, same[0].Wall.Min, same[0].Wall.Median, held)
	return nil
}

// memory is W10.
func (r *report) memory() error {
	all, err := workload.Parked(5000)
	if err != nil {
		return err
	}
	r.printf("\n### W10: a run that waits in the middle of 100 nodes\n\n| | heap, KiB | stack, KiB | both, KiB | ratio |\n|---|---|---|---|---|\n")
	for _, m := range all {
		r.printf("| %s | %.1f | %.1f | %.1f | %.2f |\n", m.Name, m.Heap/1024, m.Stack/1024, (m.Heap+m.Stack)/1024, (m.Heap+m.Stack)/(all[0].Heap+all[0].Stack))
	}
	return nil
}
