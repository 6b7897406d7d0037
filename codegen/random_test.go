package codegen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
	"github.com/flowgen-dev/flowgen/codegen/testdata/random"
	"github.com/flowgen-dev/flowgen/internal/offline"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
)

// randomModule is the module of the generated packages.
const randomModule = "random.test"

// unit is one random workflow on its way through the compiler.
type unit struct {
	seed    uint64
	flow    *flow
	files   map[string]*writer // by file name
	wf      *ir.Workflow
	sink    *diag.Sink
	program *check.Program
	code    []byte
	assets  []codegen.Asset
}

// ReadFile implements parser.Files.
func (u *unit) ReadFile(name string) ([]byte, error) {
	if w := u.files[name]; w != nil {
		return []byte(w.String()), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (u *unit) write(strict bool) {
	u.files = map[string]*writer{}
	var add func(f *flow)
	add = func(f *flow) {
		u.files[f.name+".flowgen.yaml"] = f.write(strict)
		for _, s := range f.subs {
			add(s)
		}
	}
	add(u.flow)
}

// text is all files of the workflow, for a person.
func (u *unit) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "RANDOM_SEED=%d RANDOM_SIZE=%d\n", u.seed, sizeOf(u.seed))
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		fmt.Fprintf(&b, "--- %s\n%s", name, u.files[name])
	}
	return b.String()
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// sizeOf is about how many nodes the workflow of a seed has.
func sizeOf(seed uint64) int { return setting("RANDOM_SIZE", 3+int(seed*7%12)) }

// TestRandomWorkflows compiles random workflows, builds them into one program, runs each with several inputs under every
// engine and compares with the reference. RANDOM_RUNS is how many, RANDOM_SEED the first, RANDOM_SIZE their size;
// RANDOM_RACE builds with the race detector.
func TestRandomWorkflows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program of many packages")
	}
	first, count := setting("RANDOM_SEED", 1), setting("RANDOM_RUNS", 30)
	if os.Getenv("RANDOM_SEED") != "" && os.Getenv("RANDOM_RUNS") == "" {
		count = 1
	}
	var units []*unit
	for i := range count {
		seed := uint64(first + i)
		units = append(units, &unit{seed: seed, flow: newFlow(seed, sizeOf(seed))})
	}
	units = compileAll(t, units)
	for _, u := range units {
		var err error
		opts := codegen.Options{Package: u.flow.name, Path: randomModule + "/" + u.flow.name}
		u.code, err = codegen.Generate(u.program, opts)
		u.assets = codegen.Assets(u.program, opts)
		if err != nil {
			t.Fatalf("%v\n%s", err, u.text())
		}
		if formatted, err := format.Source(u.code); err != nil || !bytes.Equal(formatted, u.code) {
			t.Errorf("not as gofmt writes it (%v)\n%s\n%s", err, u.text(), u.code)
		}
	}
	if os.Getenv("RANDOM_PRINT") != "" {
		for _, u := range units {
			t.Logf("%s\n%s", u.text(), u.code)
		}
	}
	if len(units) >= 60 {
		coverage(t, units)
	}
	dir := layOut(t, units)
	exe := build(t, dir)
	// A condition that asks the same twice is as it was written.
	vet := start(dir, "go", "vet", "-mod=mod", "-trimpath", "-bools=false", "./...")
	runAll(t, exe, units)
	if out, err := vet(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

// coverage holds the corpus to what the test is for: every form of generated code, many times.
func coverage(t *testing.T, units []*unit) {
	t.Helper()
	for _, form := range []string{
		"flow.Parallel(", "flow.Graph(", "flow.Map(", "flow.MapKeep(", "flow.MapDrop(", "run.Iterate(", "run.In(",
		"flow.Call(", "flow.CallOrSkip(", "flow.CallOr(", "flow.Try(", "flow.Some(", "flow.Skip(", "flow.Skipped(",
		"flow.Catch(", "flow.CatchOptional(", "flow.SetOnce(", "flow.NoCase(", "flow.Enumerate(", "Retry: &flow.Retry{",
		"random.Fold(state.Fold", "append(state.Seen", "slices.Clip(", "Ran := ", "Err != nil", "\t\tswitch ", " else {", "default:\n",
		" = false\n", "Done := err == nil", "for _, xs := range", "for _, x := range",
	} {
		n := 0
		for _, u := range units {
			if bytes.Contains(u.code, []byte(form)) {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%d of %d workflows have %q", n, len(units), form)
		} else {
			t.Logf("%3d %q", n, form)
		}
	}
}

// compileAll brings the workflows through the checker. What the checker says about a result that is read it is believed:
// the model is written in the way it asks for until it is content. That it was right the runs show.
func compileAll(t *testing.T, units []*unit) []*unit {
	t.Helper()
	left := units
	strict := true // first, so that absence shows where it comes from; then as people write
	for round := 0; len(left) > 0; round++ {
		// One workflow that calls all others, so that Go is asked once.
		all := &ir.Workflow{File: source.NewFile("all.flowgen.yaml", "")}
		for _, u := range left {
			u.write(strict)
			u.sink = &diag.Sink{}
			u.wf = parser.Parse(u, u.flow.name+".flowgen.yaml", u.sink)
			all.Flows = append(all.Flows, u.wf)
		}
		binding := &diag.Sink{}
		bind.Resolve(all, bind.Options{}, binding)
		if binding.HasErrors() {
			t.Fatal(binding.List())
		}
		var again []*unit
		for _, u := range left {
			u.program = check.Check(u.wf, u.sink)
			if u.program != nil {
				continue
			}
			switch fixed, why := u.repair(); {
			case !strict:
				t.Fatalf("mistakes where there were none:\n%s\n%s", u.diagnostics(), u.text())
			case !fixed:
				t.Fatalf("cannot be made right: %s\n%s", why, u.text())
			case round > 40:
				t.Fatalf("never gets right:\n%s\n%s", u.diagnostics(), u.text())
			default:
				again = append(again, u)
			}
		}
		left = again
		if len(left) == 0 && strict {
			left, strict = units, false
		}
	}
	return units
}

func (u *unit) diagnostics() string {
	var b bytes.Buffer
	_ = diag.Text(&b, u.sink.List(), diag.TextOptions{})
	return b.String()
}

// repair changes the model as the diagnostics ask. It fails when none of them can be followed; one that cannot may be
// the consequence of another.
func (u *unit) repair() (bool, string) {
	mended := false
	var left []diag.Diagnostic
	list := slices.DeleteFunc(u.sink.List(), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	unreachable := func(d diag.Diagnostic) bool { return d.Code == diag.Unreachable }
	if slices.ContainsFunc(list, unreachable) { // what is said about reading such nodes means nothing
		list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return !unreachable(d) })
	}
	for _, d := range list {
		if w := u.files[d.Span.File.Name]; w != nil && w.mend(d) {
			mended = true
		} else {
			left = append(left, d)
		}
	}
	var b bytes.Buffer
	_ = diag.Text(&b, left, diag.TextOptions{})
	return mended, b.String()
}

// mend changes the part of the model that a diagnostic is about.
func (w *writer) mend(d diag.Diagnostic) bool {
	switch d.Code {
	case diag.NeverAbsent:
		return w.mendForm(d, plain)
	case diag.OptionalUse:
		return w.mendForm(d, defaulted) || w.mendInside(d)
	case diag.NeverRan:
		return w.mendRead(d)
	case diag.NotCaught:
		p, ok := w.at(d.Span.Lo).(*caught)
		if ok {
			p.dead = true
		}
		return ok
	case diag.Unreachable:
		return w.mendUnreachable(d)
	case diag.StateRace:
		for _, place := range append([]source.Span{d.Span}, related(d)...) { // the write, or a late reader and the write
			switch p := w.at(place.Lo).(type) {
			case *set:
				p.node.sets = nil
				return true
			case *node:
				if p.sets != nil {
					p.sets = nil
					return true
				}
			}
		}
	}
	return false
}

// mendForm writes what is read in another form.
func (w *writer) mendForm(d diag.Diagnostic, f form) bool {
	if first := w.around(d.Span.Lo); first != nil {
		first.form = f
		return true
	}
	switch p := w.at(d.Span.Lo).(type) {
	case *ref:
		if f == plain && p.hook == 1 && p.form == defaulted && p.path != "" && p.path != "size" {
			p.hook = 0
			return true
		}
		p.form = f
	case *items:
		p.form = f
	default:
		return false
	}
	return true
}

// mendInside finds the part because of which a whole expression may be absent.
func (w *writer) mendInside(d diag.Diagnostic) bool {
	mended := false
	for _, m := range w.marks {
		if p, ok := m.part.(*ref); ok && d.Span.Lo <= m.lo && m.hi <= d.Span.Hi && p.form == plain &&
			strings.Contains(d.Message, p.node.id+" may ") {
			p.form, mended = defaulted, true
		}
	}
	return mended
}

// mendRead does without a result that is never there.
func (w *writer) mendRead(d diag.Diagnostic) bool {
	switch p := w.at(d.Span.Lo).(type) {
	case *ref:
		if first := w.around(d.Span.Lo); first != nil {
			first.refs, first.form = slices.DeleteFunc(first.refs, func(r *ref) bool { return r == p }), defaulted
		}
		p.form = dead
		return true
	case *items:
		*p = items{input: true, elem: isInt}
		for _, m := range w.marks {
			if n, ok := m.part.(*node); ok && n.over == p {
				n.do.values(func(v any) {
					if v, ok := v.(*item); ok && v.name == n.as {
						v.path = ""
					}
				})
				return true
			}
		}
	}
	return false
}

// mendUnreachable lets a node run.
func (w *writer) mendUnreachable(d diag.Diagnostic) bool {
	p, ok := w.at(d.Span.Lo).(*node)
	if !ok {
		return false
	}
	mended := false
	for _, l := range p.in.backs { // behind an edge that asks what the edge back asks
		if !mended && l.exhausted == "" {
			l.exhausted, mended = "end", true
		}
	}
	return mended
}

func related(d diag.Diagnostic) []source.Span {
	var out []source.Span
	for _, r := range d.Related {
		out = append(out, r.Span)
	}
	slices.Reverse(out)
	return out
}

// layOut writes a module with the generated packages and a program that links them, and returns its folder.
func layOut(t *testing.T, units []*unit) string {
	t.Helper()
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, filepath.Join(repository, "runtime"))
	dir := t.TempDir()
	add := func(name string, text []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	mod, sum := offline.Module(t, randomModule)
	add("go.mod", mod)
	add("go.sum", sum)
	var imports, lines strings.Builder
	for _, u := range units {
		name := u.flow.name
		add(name+"/flow.go", u.code)
		for _, a := range u.assets {
			add(name+"/"+a.Name, a.Data)
		}
		fmt.Fprintf(&imports, "\t%q\n", randomModule+"/"+name)
		fmt.Fprintf(&lines, "\trandom.Add[%s.Input, %s.Output](%q, %s.New)\n", name, name, name, name)
	}
	add("run/main.go", []byte("package main\n\nimport (\n\t\""+randomPackage+"\"\n"+imports.String()+")\n\nfunc main() {\n"+lines.String()+"\trandom.Main()\n}\n"))
	return dir
}

// readAll opens the source of what the program links, so that the go command does not take an earlier result of this
// test for one of today: the test itself links less of it.
func readAll(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T, dir string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "run.exe")
	args := []string{"build", "-ldflags=-s", "-mod=mod", "-trimpath", "-o", exe} // else the name of the folder is part of the keys of Go's build cache
	if os.Getenv("RANDOM_RACE") != "" {
		args = append(args, "-race")
	}
	if out, err := start(dir, "go", append(args, "./run")...)(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

// start runs a command in a folder in the background; the function waits for it.
func start(dir, name string, args ...string) func() ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	return func() ([]byte, error) {
		if err == nil {
			err = cmd.Wait()
		}
		return out.Bytes(), err
	}
}

// someInputs are what every workflow is run with.
var someInputs = []map[string]any{
	{"x": int64(0), "y": int64(3), "xs": []any{int64(4), int64(5)}},
	{"x": int64(1), "y": int64(0), "xs": []any{}},
	{"x": int64(2), "y": int64(7), "xs": []any{int64(1), int64(2), int64(3)}},
	{"x": int64(5), "y": int64(1), "xs": []any{int64(9)}},
	{"x": int64(8), "y": int64(2), "xs": []any{int64(2), int64(6), int64(7), int64(8)}},
}

// runAll runs every workflow with every input and compares.
func runAll(t *testing.T, exe string, units []*unit) {
	t.Helper()
	cmd := exec.Command(exe)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer in.Close()
		enc := json.NewEncoder(in)
		for _, u := range units {
			for _, x := range someInputs {
				text, _ := json.Marshal(x)
				if enc.Encode(random.Job{Flow: u.flow.name, Input: text, Seeds: uint64(setting("RANDOM_SCHEDULES", 20))}) != nil {
					return
				}
			}
		}
	}()
	dec := json.NewDecoder(out)
	tally := map[string]int{}
	bad, wrong := 0, map[*unit]bool{}
	for _, u := range units {
		for _, x := range someInputs {
			var got []random.Result
			if err := dec.Decode(&got); err != nil {
				_, _ = io.Copy(io.Discard, out)
				t.Fatalf("%s: %v %v\n%s\n%s\n%s", u.flow.name, err, cmd.Wait(), stderr.String(), u.text(), u.code)
			}
			if why := compare(u, x, got, tally); why != "" && !wrong[u] {
				wrong[u] = true
				if bad++; bad <= setting("RANDOM_SHOW", 3) {
					t.Errorf("%s\n%s\n%s", why, u.text(), u.code)
				} else {
					t.Errorf("%.300s", why)
				}
			}
		}
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	t.Logf("%d workflows, %v", len(units), tally)
}

// compare says how the results of one input differ from what the reference allows, "" when they do not.
func compare(u *unit, in map[string]any, got []random.Result, tally map[string]int) string {
	all, problems, ok := outcomes(u.flow, in)
	if len(problems) > 0 {
		return fmt.Sprintf("%s %v: %s", u.flow.name, in, problems[0])
	}
	if !ok {
		tally["too many ways to end"]++
	}
	tally["inputs"]++
	if len(all) > 1 {
		tally["several outcomes"]++
	}
	for _, g := range got {
		if g.Other != "" {
			return fmt.Sprintf("%s %v, %s: %s", u.flow.name, in, g.Mode, g.Other)
		}
		if g.Code != "" {
			tally["errors"]++
		}
		if !ok {
			continue
		}
		if !slices.ContainsFunc(all, func(o outcome) bool { return o.allows(g) }) {
			return fmt.Sprintf("%s %v, %s:\ngot  %s\nwant %s", u.flow.name, in, g.Mode, describeResult(g), describeOutcomes(all))
		}
	}
	return ""
}

func (o outcome) allows(g random.Result) bool {
	if g.Code != "" || o.code != "" {
		return g.Code == o.code && g.Node == o.node
	}
	return canonical(g.Output) == canonical(o.output) && (o.partial || slices.Equal(o.calls, g.Calls))
}

func describeResult(g random.Result) string {
	if g.Code != "" {
		return g.Node + " " + g.Code
	}
	return canonical(g.Output) + "\n     " + strings.Join(g.Calls, "; ")
}

func describeOutcomes(all []outcome) string {
	var list []string
	for _, o := range all {
		s := o.node + " " + o.code
		if o.code == "" {
			s = canonical(o.output) + "\n     " + strings.Join(o.calls, "; ")
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, "\n  or ")
}
