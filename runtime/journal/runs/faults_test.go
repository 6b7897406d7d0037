package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/internal/faultdisk"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// figure is a number from the environment, as targets of make give it, or that of the ordinary test run.
func figure(t *testing.T, name string, ordinary int) int {
	t.Helper()
	text := os.Getenv(name)
	switch {
	case text == "" && (raceDetector || testing.Short()):
		return max(1, ordinary/10)
	case text == "":
		return ordinary
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// step is a part of a flow: a call, or a map over some.
type step struct {
	node   *flow.Node
	writes bool
	large  bool // its result is kept in a file of its own
	same   bool // the result is that of other large steps
	flaky  bool // its first attempt fails
	items  int  // of a map; 0: it is a call
}

// program is a workflow made up at random: what it does depends on its steps alone.
type program struct {
	info  *flow.Info
	steps []step
}

func randomFlow(seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 8))
	f := &program{info: &flow.Info{Name: "f", Facts: flow.NewFacts(`{"hashes":{"graph":"g"}}`)}}
	for i := range 3 + r.IntN(4) {
		s := step{node: &flow.Node{ID: fmt.Sprintf("n%d", i), Pos: fmt.Sprintf("f.yaml:%d:1", i+1), Index: i},
			writes: r.IntN(2) == 0, large: r.IntN(3) == 0, same: r.IntN(2) == 0, flaky: r.IntN(4) == 0}
		if r.IntN(4) == 0 {
			s.items = 2 + r.IntN(3)
		}
		if s.flaky {
			s.node.Retry = &flow.Retry{Attempts: 2, Codes: []value.Code{value.Timeout}}
		}
		f.steps = append(f.steps, s)
		f.info.Nodes = append(f.info.Nodes, s.node)
	}
	return f
}

// parallel reports whether calls go on beside each other.
func (f *program) parallel() bool {
	return slices.ContainsFunc(f.steps, func(s step) bool { return s.items > 0 })
}

// fileSize is from where on values stand in files of their own in these tests.
const fileSize = 512

var padding = strings.Repeat("x", fileSize)

// outside is what a flow's calls are made to. It outlives the processes.
type outside struct {
	mu     sync.Mutex
	begun  map[string]int // executions by key
	done   map[string]int // effects of writes by key
	failed map[string]bool
	check  func(key string, writes bool) error // before each call
	wrong  []error
}

func newOutside() *outside {
	return &outside{begun: map[string]int{}, done: map[string]int{}, failed: map[string]bool{}}
}

func (o *outside) call(ctx context.Context, s step, in string) (string, error) {
	key := tool.Context(ctx).Key()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.check != nil {
		if err := o.check(key, s.writes); err != nil {
			o.wrong = append(o.wrong, err)
		}
	}
	o.begun[key]++
	if s.flaky && !o.failed[key] {
		o.failed[key] = true
		return "", value.Errorf(value.Timeout, "not yet")
	}
	if s.writes {
		o.done[key]++
	}
	return s.result(in), nil
}

func (s step) result(in string) string {
	switch {
	case s.large && s.same:
		return padding
	case s.large:
		return in[:min(len(in), 10)] + s.node.ID + padding
	}
	return in[:min(len(in), 10)] + s.node.ID
}

// run is the flow's body.
func (f *program) run(ctx context.Context, o *outside, e engine.Engine) (out string, err error) {
	rt, err := flow.New(f.info, runtime.WithEngine(e))
	if err != nil {
		return "", err
	}
	run := flow.Start(ctx, rt, "in")
	defer flow.End(run, &out, &err)
	out = "in"
	for _, s := range f.steps {
		t := flow.Bind("f.read@1", flow.Reads, func(ctx context.Context, in string) (string, error) { return o.call(ctx, s, in) })
		if s.writes {
			t = flow.Bind("f.write@1", flow.Writes, func(ctx context.Context, in string) (string, error) { return o.call(ctx, s, in) })
		}
		if !s.same && len(out) > 20 {
			out = out[:20]
		}
		if s.items == 0 {
			if out, err = flow.Call(run, s.node, t, out); err != nil {
				return "", err
			}
			continue
		}
		parts := make([]string, s.items)
		branches := make([]func(*flow.Run) error, s.items)
		for i := range branches {
			branches[i] = func(r *flow.Run) (err error) {
				parts[i], err = flow.Call(r.At(s.node, i), s.node, t, fmt.Sprint(i, out))
				return err
			}
		}
		if err := flow.Parallel(run, branches...); err != nil {
			return "", err
		}
		out = strings.Join(parts, "")
	}
	return out, nil
}

// life is a flow with the disk it is recorded to and the outside world.
type life struct {
	f    *program
	disk *faultdisk.Disk
	o    *outside
	id   string
	want string
	done map[string]int // results in the journal when the process began, and the executions until then
}

const runsDir = "/runs"

func newLife(f *program, seed uint64) (*life, error) {
	want, err := f.run(context.Background(), newOutside(), nil)
	l := &life{f: f, disk: faultdisk.New(seed), o: newOutside(), want: want}
	l.o.check = l.allowed
	return l, err
}

// allowed holds that a call that changes something has an intent that no crash can take away, and that nothing is called
// once the journal cannot be written.
func (l *life) allowed(key string, writes bool) error {
	if n, ok := l.done[key]; ok {
		return fmt.Errorf("redone: %s has a result, and ran %d times", key, n)
	}
	if !l.f.parallel() && l.disk.Failed() {
		return fmt.Errorf("%s is called after the disk has failed", key)
	}
	if !writes {
		return nil
	}
	for line := range bytes.Lines(l.disk.Durable(filepath.Join(runsDir, l.id, "journal.jsonl"))) {
		var r struct{ Kind, Key string }
		if json.Unmarshal(line, &r) == nil && r.Kind == journal.KindIntent && r.Key == key {
			return nil
		}
	}
	return fmt.Errorf("%s is called without an intent on the disk", key)
}

// begin records a new run or goes on with it.
func (l *life) begin() (out string, err error) {
	folder := runs.Open(runsDir, runs.Options{Disk: l.disk})
	l.done = map[string]int{}
	if l.id != "" {
		e, j, err := folder.Resume(l.f.info, l.id, runs.Continue{Decide: l.decide})
		if err == nil {
			for _, r := range j.Records() {
				if r.Result() && r.Error == nil {
					l.done[r.Key] = l.o.begun[r.Key]
				}
			}
			return l.f.run(context.Background(), l.o, e)
		}
		if !errors.Is(err, runs.ErrNoRun) {
			return "", err
		}
		if len(l.o.done) > 0 {
			return "", fmt.Errorf("the journal is lost, and %v was written", l.o.done)
		}
	}
	e := folder.New(l.f.info)
	l.id = e.ID()
	return l.f.run(context.Background(), l.o, e)
}

// decide settles a call in doubt by looking at the world.
func (l *life) decide(r journal.Record, _ *flow.Doubt) (journal.Decision, bool) {
	l.o.mu.Lock()
	defer l.o.mu.Unlock()
	if l.o.done[r.Key] == 0 {
		return journal.Decision{Again: true}, true
	}
	var in string
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return journal.Decision{}, false
	}
	id, _, _ := strings.Cut(r.Key, "[")
	_, id, _ = strings.Cut("/"+id, "/")
	for _, s := range l.f.steps {
		if s.node.ID == id {
			out, _ := json.Marshal(s.result(in))
			return journal.Decision{Output: out}, true
		}
	}
	return journal.Decision{}, false
}

// finish goes on until the run has succeeded, and looks at all that must hold then.
func (l *life) finish() error {
	l.disk = l.disk.Restart()
	out, err := l.begin()
	if err != nil {
		return err
	}
	if out != l.want {
		return fmt.Errorf("output %.60q, want %.60q", out, l.want)
	}
	for key, n := range l.o.done {
		if n != 1 {
			return fmt.Errorf("%s was written %d times", key, n)
		}
	}
	l.disk = l.disk.Restart()
	j, err := runs.Open(runsDir, runs.Options{Disk: l.disk}).Read(l.id)
	if err != nil {
		return err
	}
	if j.Finish().Outcome != journal.Succeeded {
		return fmt.Errorf("the run has ended as %+v", j.Finish())
	}
	again, err := l.f.run(context.Background(), newOutside(), journal.Replay(j))
	if err != nil || again != l.want {
		return fmt.Errorf("replayed: %.60q, %w", again, err)
	}
	return errors.Join(l.o.wrong...)
}

// stopped reports whether err is what a run ends with whose journal cannot be written.
func stopped(err error) bool {
	var re *runtime.RunError
	return errors.As(err, &re) && re.Kind == runtime.JournalUnavailable
}

// P3: whichever operation of the disk fails, or is the last one before the machine stops, no call is made that the
// journal does not know, and the run is completed afterwards.
func TestEveryDiskOperationFails(t *testing.T) {
	runs.SmallFiles(t, fileSize)
	flows := figure(t, "CRASH_FLOWS", 30)
	points, began := 0, time.Now()
	for seed := range uint64(flows) {
		f := randomFlow(seed)
		for _, cause := range []error{syscall.EIO, syscall.ENOSPC, faultdisk.ErrCrash} {
			for at := 1; ; at++ {
				l, err := newLife(f, seed*1000+uint64(at))
				if err != nil {
					t.Fatal(err)
				}
				if cause == faultdisk.ErrCrash {
					l.disk.CrashAt = at
				} else {
					l.disk.FailAt, l.disk.Fail = at, cause
				}
				_, err = l.begin()
				if err != nil && (!l.disk.Failed() || !stopped(err)) {
					t.Fatalf("flow %d, operation %d, %v: %v", seed, at, cause, err)
				}
				if !l.disk.Failed() {
					break
				}
				points++
				if err := l.finish(); err != nil {
					t.Fatalf("flow %d, operation %d, %v: %v", seed, at, cause, err)
				}
			}
		}
	}
	t.Logf("%d flows, %d points of failure, %v", flows, points, time.Since(began).Round(time.Millisecond))
	if points < flows*30 {
		t.Error("too few")
	}
}

// P4: power fails again and again. Of what was not synced any part may be there.
func TestPowerFails(t *testing.T) {
	runs.SmallFiles(t, fileSize)
	seeds, began := figure(t, "CRASH_SCHEDULES", 4000), time.Now()
	crashes := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 9))
		l, err := newLife(randomFlow(seed), seed)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(3) {
			l.disk.CrashAt = 1 + r.IntN(50)
			_, err := l.begin()
			if err == nil {
				break
			}
			if !l.disk.Failed() {
				t.Fatalf("seed %d: %v", seed, err)
			}
			crashes++
			l.disk = l.disk.Restart()
		}
		if err := l.finish(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d schedules, %d crashes, %v", seeds, crashes, time.Since(began).Round(time.Millisecond))
	if crashes < seeds/2 {
		t.Error("too few crashes")
	}
}

// P6: the disk is full, at each append. When there is room again the run goes on.
func TestFullDisk(t *testing.T) {
	runs.SmallFiles(t, fileSize)
	flows, points := figure(t, "CRASH_FLOWS", 30), 0
	for seed := range uint64(flows) {
		f := randomFlow(seed)
		whole, err := newLife(f, seed)
		if err == nil {
			_, err = whole.begin()
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes := []int{0} // of the disk behind each line and file
		for name, data := range whole.disk.Files() {
			if !strings.HasSuffix(name, ".jsonl") {
				sizes = append(sizes, sizes[len(sizes)-1]+len(data))
			}
		}
		large := sizes[len(sizes)-1]
		at := 0
		for line := range bytes.Lines(whole.disk.Files()[filepath.Join(runsDir, whole.id, "journal.jsonl")]) {
			at += len(line)
			sizes = append(sizes, at, at-len(line)/2)
			if large > 0 {
				sizes = append(sizes, large+at, large+at-1)
			}
		}
		for _, space := range sizes {
			l, err := newLife(f, seed)
			if err != nil {
				t.Fatal(err)
			}
			l.disk.Space = space + 1
			if _, err = l.begin(); err != nil && !stopped(err) {
				t.Fatalf("flow %d, %d bytes: %v", seed, space, err)
			}
			points++
			if err := l.finish(); err != nil {
				t.Fatalf("flow %d, %d bytes: %v", seed, space, err)
			}
		}
	}
	t.Logf("%d flows, %d times full", flows, points)
}

// damaged is a recorded run whose files are changed.
type damaged struct {
	t      *testing.T
	l      *life
	files  map[string][]byte
	name   string         // of the journal
	lines  [][]byte       // of it
	states map[string]int // the text of the journal behind each line

	refused, cut int
}

func newDamaged(t *testing.T, large bool) *damaged {
	t.Helper()
	f := &program{info: &flow.Info{Name: "f", Facts: flow.NewFacts(`{"hashes":{"graph":"g"}}`)}}
	for i := range 4 {
		f.steps = append(f.steps, step{node: &flow.Node{ID: fmt.Sprintf("n%d", i), Index: i}, writes: i%2 == 1, large: large && i == 1, flaky: i == 2})
		f.info.Nodes = append(f.info.Nodes, f.steps[i].node)
	}
	f.steps[2].node.Retry = &flow.Retry{Attempts: 2, Codes: []value.Code{value.Timeout}}
	l, err := newLife(f, 1)
	if err == nil {
		_, err = l.begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &damaged{t: t, l: l, files: l.disk.Files(), name: filepath.Join(runsDir, l.id, "journal.jsonl"), states: map[string]int{}}
	d.lines = bytes.SplitAfter(d.files[d.name], []byte("\n"))
	for n := 1; n < len(d.lines); n++ {
		j, err := d.read(d.name, bytes.Join(d.lines[:n], nil))
		if err != nil {
			t.Fatal(err)
		}
		d.states[d.text(j)] = n
	}
	return d
}

func (d *damaged) text(j *journal.Journal) string {
	d.t.Helper()
	text, err := j.MarshalText()
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// read reads the run where one file is another.
func (d *damaged) read(name string, data []byte) (*journal.Journal, error) {
	disk := faultdisk.New(1)
	for other, text := range d.files {
		if other != name {
			disk.Put(other, text)
		}
	}
	disk.Put(name, data)
	d.l.disk = disk
	return runs.Open(runsDir, runs.Options{Disk: disk}).Read(d.l.id)
}

// try holds that what is read is a beginning of the run, and that what cannot be read does not go on.
func (d *damaged) try(what, file string, data []byte) {
	d.t.Helper()
	j, err := d.read(file, data)
	if err != nil {
		d.refused++
		if _, _, err := runs.Open(runsDir, runs.Options{Disk: d.l.disk}).Resume(d.l.f.info, d.l.id, runs.Continue{}); err == nil {
			d.t.Fatalf("%s: it cannot be read, and goes on", what)
		}
		return
	}
	d.cut++
	if text := d.text(j); d.states[text] == 0 {
		d.t.Fatalf("%s: another journal:\n%s", what, text)
	}
}

// P5: of every prefix, and with every flipped bit, a journal gives nothing that was not recorded.
func TestEveryDamage(t *testing.T) {
	d := newDamaged(t, false)
	data := d.files[d.name]
	for n := range data {
		d.try(fmt.Sprintf("prefix of %d bytes", n), d.name, data[:n])
	}
	prefixes := d.cut
	for i := range len(data) * 8 {
		bad := bytes.Clone(data)
		bad[i/8] ^= 1 << (i % 8)
		d.try(fmt.Sprintf("bit %d", i), d.name, bad)
	}
	t.Logf("%d prefixes, %d of them with a run; %d flips, %d cut off as torn", len(data), prefixes, len(data)*8, d.cut-prefixes)
	if len(data) < 1500 || prefixes < len(data)/2 || d.refused < len(data)*7 {
		t.Error("too few")
	}
}

// P5, for values that stand in files of their own: a file that is damaged, torn or missing is never half-read.
func TestDamagedFiles(t *testing.T) {
	runs.SmallFiles(t, fileSize)
	d := newDamaged(t, true)
	flips := 0
	for file, data := range d.files {
		if file == d.name {
			continue
		}
		for i := 0; i < len(data)*8; i += 3 {
			bad := bytes.Clone(data)
			bad[i/8] ^= 1 << (i % 8)
			d.try(fmt.Sprintf("bit %d of %s", i, file), file, bad)
			flips++
		}
		for n := 0; n < len(data); n++ {
			d.try(fmt.Sprintf("%d bytes of %s", n, file), file, data[:n])
			flips++
		}
		d.try("twice", file, append(bytes.Clone(data), data...))
	}
	t.Logf("%d files, %d times damaged", len(d.files)-1, flips)
	if len(d.files) != 2 || flips < 1000 || d.cut > 0 {
		t.Errorf("%d files, %d times damaged, %d read", len(d.files)-1, flips, d.cut)
	}
}
