package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// mostCalls is how many attempts a run may make before its trial is given up.
const mostCalls = 3000

// longest is how long a run may take in real time before its trial is given up. Loops notice that, tools need not. It is
// far more than any run takes that mostCalls does not end: a trial must not depend on how busy the machine is.
const longest = 20 * time.Second

// begin is when recorded runs begin.
func begin() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// trial is everything that follows from one seed.
type trial struct {
	campaign *campaign
	seed     uint64
	rng      *random
	input    []byte
	world    *world

	settled   map[string]bool   // keys of calls for which the workflow says what becomes of them in doubt
	undoable  map[string]bool   // keys of calls that the workflow can undo
	byOutcome map[string]string // results of runs by the outcomes of their calls
	counts    Counts
	errors    map[string]int64
	findings  []Finding
	cut       atomic.Bool // given up
}

const maxFindings = 3 // of a trial: what follows from one mistake is of no interest

func (t *trial) problem(check, at, format string, args ...any) {
	if len(t.findings) < maxFindings {
		t.findings = append(t.findings, Finding{Seed: t.seed, Check: check, At: at, Detail: fmt.Sprintf(format, args...)})
	}
}

// trial runs the trial of a seed.
func (c *campaign) trial(seed uint64) *trial {
	t := &trial{campaign: c, seed: seed, rng: from(seed, "trial"), settled: map[string]bool{}, undoable: map[string]bool{}, byOutcome: map[string]string{}, errors: map[string]int64{}}
	t.counts.Trials = 1
	faulty, real := t.rng.one(2), c.real
	if t.rng.one(4) {
		real = nil
	}
	t.world = newWorld(seed, real, faulty, t.problem)
	t.world.gives = c.opts.Gives
	if list := c.opts.Inputs; len(list) == 0 || c.opts.Random && t.rng.one(2) {
		for range 10 {
			if t.input = c.workflow.input(t.rng); c.workflow.decodes(t.input) == nil {
				break
			}
		}
	} else {
		t.input = withDefaults(list[t.rng.n(len(list))], c.workflow.Info, func(given bool) bool { return !given })
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.problem("panic", "", "%v\n%s", p, short(string(debug.Stack())))
			}
		}()
		t.all()
	}()
	t.counts.Faults, t.counts.Unfit = int64(t.world.faults), int64(t.world.unfit)
	if t.cut.Load() {
		t.counts.Cut = 1
		t.findings = nil // of a run that was broken off
	}
	return t
}

// all runs the workflow under two schedules, and then everything that can happen to the first of these runs.
func (t *trial) all() {
	first := t.run("a run", t.world.fresh(), plan{})
	if t.over() {
		return
	}
	second := t.run("a run under another schedule", t.world.fresh(), plan{})
	if t.over() {
		return
	}
	t.compare(first)
	t.compare(second)
	t.caps(first, t.campaign.workflow.Info.Policy)
	if !t.over() {
		t.replay(first)
	}
	if !t.over() && t.rng.one(4) {
		t.replay(second)
	}
	if t.over() {
		return
	}
	t.crashes(first)
	if !t.over() && (t.rng.one(3) || t.campaign.opts.EveryCrash) && t.campaign.workflow.decodes(t.input) == nil {
		t.machineCrash(first)
	}
	if !t.over() && t.rng.one(2) {
		t.cancelled(first)
	}
	if !t.over() && t.rng.one(3) {
		t.capped(first)
	}
}

func (t *trial) over() bool { return t.cut.Load() || len(t.findings) > 0 }

// entry is a moment of a run with the record that the journal then has.
type entry struct {
	what   sim.What
	record journal.Record
}

// plan is what happens in a run besides the workflow.
type plan struct {
	through engine.Engine           // carries out the calls, and has a journal
	journal func() *journal.Journal // what it has in the end; nil: there is no use for it
	left    *journal.Journal        // what it began with
	began   func(s *sim.Simulator)  // is given the simulator
	stop    time.Duration           // when it is cancelled; 0: never
	options []runtime.Option
}

// life is a run and what is known of it.
type life struct {
	what    string
	plan    plan
	world   *world
	result  string
	err     error
	journal *journal.Journal
	log     []entry
	elapsed time.Duration
}

// run runs the workflow in the simulator, under a schedule of its own.
func (t *trial) run(what string, w *world, p plan) *life {
	l := &life{what: what, plan: p, world: w}
	schedule := t.rng.next()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	giveUp := func() { t.cut.Store(true); cancel() }
	defer time.AfterFunc(longest, giveUp).Stop()
	stopped := false
	seen := map[call]bool{}
	o := sim.Options{Latency: t.latency(schedule, "latency"), Reply: t.latency(schedule, "reply")}
	o.Watch = func(m sim.Moment) {
		c := callOf(m.Op.Head())
		l.log = append(l.log, entry{m.What, t.record(l, m)})
		switch {
		case m.What != sim.Begun:
		case stopped && !journal.IsUndo(c.key):
			t.problem("cancelled", m.Op.Head().Node.Pos, "call %s began after %s was cancelled", c, what)
		case seen[c]:
			t.problem("keys", m.Op.Head().Node.Pos, "two calls have the key %s", c)
		case len(seen) >= mostCalls:
			giveUp()
		}
		seen[c] = true
		if t.canUndo(m.Op.Head().Node) {
			t.undoable[c.key] = true
		}
		if settles(m.Op.Head()) {
			t.settled[c.key] = true
		}
	}
	if p.through != nil {
		o.Through = p.through
	} else {
		l.journal = journal.New(journal.Header{})
		o.Record = l.journal
	}
	s := sim.New(schedule, o)
	if p.began != nil {
		p.began(s)
	}
	if p.stop > 0 {
		s.After(p.stop, func() {
			stopped = true
			w.close(afterCancel)
			cancel()
		})
	}
	t.drive(s, l, ctx)
	l.elapsed = s.Elapsed()
	if p.journal != nil {
		l.journal = p.journal()
	}
	t.undone(l)
	t.counts.Runs++
	t.counts.Calls += int64(len(seen))
	if l.err != nil {
		t.counts.Failed++
		if what := describe(l.err); what != "" {
			t.errors[what]++
		}
	}
	return l
}

// describe names what ended a run, "" for what a campaign does to it by itself.
func describe(err error) string {
	var ne *runtime.NodeError
	var te *value.ToolError
	var re *runtime.RunError
	switch {
	case errors.As(err, &re): // stopped, or the disk is broken
		return ""
	case errors.As(err, &te) && strings.HasPrefix(te.Message, injected):
		return ""
	case !errors.As(err, &ne):
		return short(err.Error())
	case te != nil:
		return fmt.Sprintf("%s: node %s: %s: %s", ne.Node.Pos, ne.Node.ID, te.Code, short(te.Message))
	}
	return ""
}

func (t *trial) record(l *life, m sim.Moment) journal.Record {
	if l.plan.through == nil {
		c := callOf(m.Op.Head())
		r, _ := l.journal.Lookup(c.key, c.attempt)
		return r
	}
	return journal.RecordOf(m.Op, m.What == sim.Ended)
}

// drive lets a simulation run to its end.
func (t *trial) drive(s *sim.Simulator, l *life, ctx context.Context) {
	if err := s.Drive(func() { l.result, l.err = t.start(ctx, l, s) }); err != nil {
		check := "input"
		if strings.Contains(err.Error(), "deadlock") {
			check = "deadlock"
		}
		t.problem(check, "", "%s: %v", l.what, err)
	}
}

// start runs the workflow under an engine.
func (t *trial) start(ctx context.Context, l *life, e engine.Engine) (string, error) {
	o := append([]runtime.Option{runtime.WithEngine(e), runtime.WithStandIn(l.world.standIn),
		runtime.WithSecrets(func(name string) (string, bool) { return "value of " + name, true })}, l.plan.options...)
	out, err := t.campaign.workflow.run(ctx, t.input, o...)
	switch {
	case err == nil:
		return string(out), nil
	case runtime.IsCancelled(err): // which of several calls was stopped first is of no interest
		return "cancelled", err
	}
	return "error: " + err.Error(), err
}

// latency is how long calls take: at times all the same, so that the seed alone decides what is first, and at times too long.
func (t *trial) latency(schedule uint64, what string) func(string, int) time.Duration {
	switch from(schedule, what).n(4) {
	case 0:
		return func(string, int) time.Duration { return time.Millisecond }
	case 1:
		if t.world.faulty {
			return func(key string, attempt int) time.Duration {
				if r := from(schedule, what, call{key, attempt}.String()); !r.one(10) {
					return time.Duration(r.n(int(20 * time.Millisecond)))
				}
				return 1000 * time.Hour
			}
		}
	}
	return func(key string, attempt int) time.Duration {
		return time.Duration(from(schedule, what, call{key, attempt}.String()).n(int(20 * time.Millisecond)))
	}
}

// compare holds runs whose calls had the same outcomes to the same result.
func (t *trial) compare(l *life) {
	var b strings.Builder
	for _, r := range l.journal.Records() {
		fmt.Fprintf(&b, "%s %d %s\n", r.Key, r.Attempt, ended(r))
	}
	key := b.String()
	if before, ok := t.byOutcome[key]; !ok {
		t.byOutcome[key] = l.result
	} else if before != l.result {
		t.problem("outcome", "", "%s gave %s, but a run whose calls had the same outcomes gave %s", l.what, short(l.result), short(before))
	}
}

func ended(r journal.Record) string {
	switch {
	case r.Error != nil:
		return string(r.Error.Code) + ": " + r.Error.Message
	case r.Cancelled != "":
		return "cancelled by " + r.Cancelled
	case r.Broken != "":
		return r.Broken
	case !r.Done:
		return "not ended"
	}
	return ""
}

// smooth reports whether all calls of a run succeeded, and no loop looked at the clock: its result does then not depend on the schedule.
func (l *life) smooth() bool {
	for _, r := range l.journal.Records() {
		if !r.Done || r.Error != nil || r.Cancelled != "" || r.Broken != "" ||
			r.Tool == engine.WaitTool && bytes.Contains(r.Input, []byte(`"by"`)) {
			return false
		}
	}
	return true
}

// replay answers a run from its journal: in the simulator under another schedule and, at times, on goroutines from its text.
func (t *trial) replay(l *life) {
	w := t.world.fresh()
	w.close("in a replay")
	again := func(what string, run func(r *life)) {
		r := &life{what: what, plan: plan{options: l.plan.options}, world: w}
		run(r)
		t.counts.Replays++
		if r.result != l.result {
			t.problem("replay", "", "%s of %s gave %s, the run: %s", what, l.what, short(r.result), short(l.result))
		}
	}
	again("a replay under another schedule", func(r *life) {
		schedule := t.rng.next()
		t.drive(sim.New(schedule, sim.Options{Replay: l.journal, Latency: t.latency(schedule, "replay")}), r, context.Background())
	})
	if !t.rng.one(6) {
		return
	}
	text, err := l.journal.MarshalText()
	if err != nil {
		t.problem("journal", "", "the journal of %s cannot be written: %v", l.what, err)
		return
	}
	read, err := journal.Parse(text)
	if err != nil {
		t.problem("journal", "", "the journal of %s cannot be read: %v", l.what, err)
		return
	}
	if back, err := read.MarshalText(); err != nil || string(back) != string(text) {
		t.problem("journal", "", "the journal of %s is another one after it was written and read: %v", l.what, err)
	}
	again("a replay of the text", func(r *life) {
		e := journal.Replay(read)
		r.result, r.err = t.start(context.Background(), r, e)
		if left := e.Unused(); len(left) > 0 && l.smooth() && l.err == nil && l.plan.through == nil {
			t.problem("replay", "", "a replay of %s did not ask for %s", l.what, strings.Join(left, ", "))
		}
	})
}
