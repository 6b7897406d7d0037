package torture

import (
	"errors"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/sim"
)

// remains is what a crash leaves: the journal, and the world as it was at that moment.
type remains struct {
	journal   *journal.Journal
	world     *world
	cancelled *life // the run that was cancelled; nil: there was a crash
	// resume makes the engine that goes on; nil: one that keeps its journal in memory.
	resume func(decided bool) (engine.Engine, func() *journal.Journal, error)
}

// crash ends a run after n moments of its log.
func (t *trial) crash(l *life, n int) remains {
	h := l.journal.Header()
	j := journal.New(h)
	if l.plan.through != nil { // a run that was resumed already had what it began with
		for _, r := range l.plan.left.Records() {
			j.Put(r)
		}
	}
	w := t.world.fresh()
	for c, n := range l.world.before {
		w.done[c] += n
	}
	for _, e := range l.log[:n] {
		switch e.what {
		case sim.Begun:
			r := e.record
			r.Done = false // of a run through another engine: what is in the head is not there yet
			j.Put(r)
		case sim.Ended:
			j.Put(e.record)
		case sim.Ran:
			w.done[call{e.record.Key, e.record.Attempt}]++
		}
	}
	t.counts.Crashes++
	return remains{journal: j, world: w}
}

// crashes ends a run at one or all of its moments and goes on from what is left.
func (t *trial) crashes(l *life) {
	n := len(l.log)
	first, last := 0, n
	if !t.campaign.opts.EveryCrash {
		first = t.rng.n(n + 1)
		last = first
	}
	for at := first; at <= last && !t.over(); at++ {
		left := t.crash(l, at)
		what := fmt.Sprintf("a run that crashed after %d of %d moments and was resumed", at, n)
		t.resume(l, left, what, false)
		if t.over() {
			return
		}
		again := t.resume(l, left, what, true)
		if m := len(again.log); m > 0 && !t.over() && t.rng.one(2) {
			second := t.rng.n(m)
			t.resume(l, t.crash(again, second), fmt.Sprintf("%s, crashed again %d moments later and was resumed again", what, second), true)
		}
	}
}

// resume goes on from what is left of run whole, under another schedule. decided says that calls in doubt did not happen.
func (t *trial) resume(whole *life, left remains, what string, decided bool) *life {
	w := left.world.fresh()
	w.before = left.world.done
	w.finished, w.doubtful = map[call]bool{}, map[call]bool{}
	doubt, settled := 0, false
	for _, r := range left.journal.Records() {
		c := call{r.Key, r.Attempt}
		if r.Result() {
			w.finished[c] = true
		} else if writes(r) {
			doubt++
			settled = settled || t.settled[c.key]
			w.doubtful[c] = !decided && !t.settled[c.key]
		}
	}
	p := plan{left: left.journal, options: whole.plan.options}
	if left.resume == nil {
		left.resume = func(decided bool) (engine.Engine, func() *journal.Journal, error) {
			return inMemory(left.journal, decided)
		}
	}
	var err error
	if p.through, p.journal, err = left.resume(decided); err != nil {
		t.problem("journal", "", "%s: the run cannot be resumed: %v", what, err)
		return &life{what: what, world: w}
	}
	l := t.run(what, w, p)
	t.counts.Resumes++
	if t.over() {
		return l
	}
	if !t.rightlyInDoubt(l, doubt, decided) {
		return l
	}
	if doubt > 0 && !decided && !settled && whole.smooth() && l.smooth() {
		t.problem("doubt", "", "%s went on although %d calls are in doubt", what, doubt)
	}
	want := whole.result
	if _, undone := left.journal.Lookup(engine.UndoNode, 1); undone && left.cancelled != nil {
		want = left.cancelled.result // and it stays so
	}
	if whole.smooth() && l.smooth() && (decided || !settled) && l.result != want {
		t.problem("resume", "", "%s gave %s, the run that was not interrupted: %s", what, short(l.result), short(want))
	}
	t.replay(l)
	return l
}

func inMemory(j *journal.Journal, decided bool) (engine.Engine, func() *journal.Journal, error) {
	var o []journal.ResumeOption
	if decided {
		o = append(o, journal.RunAgain(func(journal.Record) bool { return true }))
	}
	e := journal.Resume(j, o...)
	return e, e.Journal, nil
}

// writes reports whether a call changes the world.
func writes(r journal.Record) bool {
	return r.Effects == flow.Writes.String() || r.Effects == flow.External.String()
}

// rightlyInDoubt looks at a resumed run that ended because a call is in doubt. It reports whether it did not, so that the run
// can be held to others.
func (t *trial) rightlyInDoubt(l *life, doubt int, decided bool) bool {
	var re *runtime.RunError
	if !errors.As(l.err, &re) || re.Kind != runtime.InDoubt {
		return true
	}
	switch {
	case decided || doubt == 0:
		t.problem("doubt", "", "%s reports a call in doubt where there is none: %v", l.what, l.err)
	case !l.world.begun(keyInDoubt(l.err)):
		t.problem("doubt", "", "%s reports another call in doubt than those that are: %v", l.what, l.err)
	}
	return false
}

// keyInDoubt is the key of the call that a run has ended for; "" when there is none.
func keyInDoubt(err error) string {
	var undo *runtime.UndoError
	if errors.As(err, &undo) {
		for _, f := range undo.Failed {
			var re *runtime.RunError
			if errors.As(f, &re) {
				return keyOf(f)
			}
		}
	}
	return keyOf(err)
}

func keyOf(err error) string {
	var ne *runtime.NodeError
	if errors.As(err, &ne) {
		return ne.Key
	}
	return ""
}

// begun reports whether a call of the key is in doubt.
func (w *world) begun(key string) bool {
	for c := range w.doubtful {
		if c.key == key {
			return true
		}
	}
	return false
}

// cancelled stops a run in the middle, and goes on with it.
func (t *trial) cancelled(whole *life) {
	if whole.elapsed <= 0 {
		return
	}
	at := time.Duration(t.rng.next() % uint64(whole.elapsed))
	what := fmt.Sprintf("a run that was cancelled after %v", at)
	l := t.run(what, t.world.fresh(), plan{stop: at + 1})
	t.counts.Cancelled++
	if t.over() {
		return
	}
	for _, r := range l.journal.Records() {
		if l.err == nil && r.Cancelled == runtime.ByRun {
			t.problem("cancelled", "", "%s gave %s, although its call %s was stopped", what, short(l.result), r.Key)
		}
	}
	t.compare(l)
	t.replay(l)
	if t.over() || l.err == nil {
		return
	}
	left := t.crash(l, len(l.log))
	left.cancelled = l
	t.resume(whole, left, what+" and resumed", t.rng.one(2))
}
