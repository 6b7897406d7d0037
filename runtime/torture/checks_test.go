package torture

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/sim"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// trialOf is a trial without faults, and its first run.
func trialOf(t *testing.T, seed uint64) (*trial, *life) {
	t.Helper()
	c := &campaign{workflow: workflowOf(good()), real: map[string]bool{"w.mark@1": true, "w.sort@1": true}}
	x := &trial{campaign: c, seed: seed, rng: from(seed, "trial"), settled: map[string]bool{}, undoable: map[string]bool{}, byOutcome: map[string]string{}, errors: map[string]int64{}}
	x.input = []byte(`{"name":"x","level":"low","many":1}`)
	x.world = newWorld(seed, c.real, false, x.problem)
	l := x.run("a run", x.world.fresh(), plan{})
	if x.over() || l.err != nil || !l.smooth() {
		t.Fatal(x.findings, l.err)
	}
	return x, l
}

// found checks that the trial has found this, and forgets it.
func (t *trial) found(tt *testing.T, check, says string) {
	tt.Helper()
	if len(t.findings) == 0 || t.findings[0].Check != check || !strings.Contains(t.findings[0].Detail, says) {
		tt.Errorf("found %v, want [%s] ... %s", t.findings, check, says)
	}
	t.findings = nil
}

// without copies a journal without the records that drop says.
func without(j *journal.Journal, drop func(journal.Record) bool) *journal.Journal {
	c := journal.New(j.Header())
	for _, r := range j.Records() {
		if !drop(r) {
			c.Put(r)
		}
	}
	return c
}

// at is the place in a log behind the moment of a call.
func (l *life) at(key string, what sim.What) int {
	for i, e := range l.log {
		if e.record.Key == key && e.what == what {
			return i + 1
		}
	}
	return 0
}

// These checks are about the engines, which are right: each is shown one that is not.
func TestChecksOfEngines(t *testing.T) {
	x, l := trialOf(t, 1)
	resumed := func(left remains, decided bool, j *journal.Journal, decides bool) {
		left.resume = func(bool) (engine.Engine, func() *journal.Journal, error) { return inMemory(j, decides) }
		x.resume(l, left, "a resumed run", decided)
	}

	t.Run("repeated", func(t *testing.T) { // an engine that has lost a result
		left := x.crash(l, len(l.log))
		resumed(left, true, without(left.journal, func(r journal.Record) bool { return r.Key == "send" }), true)
		x.found(t, "repeated", "call send, attempt 1 of tool w.send@1 was executed again")
	})
	t.Run("doubt", func(t *testing.T) { // one that decides by itself
		left := x.crash(l, l.at("send", sim.Begun))
		resumed(left, false, left.journal, true)
		x.found(t, "doubt", "nobody has decided about it")
	})
	t.Run("doubt reported", func(t *testing.T) { // one that does not heed a decision
		left := x.crash(l, l.at("send", sim.Begun))
		resumed(left, true, left.journal, false)
		x.found(t, "doubt", "reports a call in doubt where there is none")
	})
	t.Run("resume", func(t *testing.T) { // one that answers with something else
		left := x.crash(l, len(l.log))
		j := without(left.journal, func(journal.Record) bool { return false })
		r, _ := j.Lookup("send", 1)
		r.Output = []byte("123456")
		j.Put(r)
		resumed(left, true, j, true)
		x.found(t, "resume", `"sent":123456`)
	})
	t.Run("journal", func(t *testing.T) {
		left := x.crash(l, 3)
		left.resume = func(bool) (engine.Engine, func() *journal.Journal, error) { return nil, nil, errors.New("no disk") }
		x.resume(l, left, "a resumed run", true)
		x.found(t, "journal", "no disk")
	})
	t.Run("replay", func(t *testing.T) {
		wrong := *l
		wrong.journal = without(l.journal, func(r journal.Record) bool { return r.Key == "sort" })
		x.replay(&wrong)
		x.found(t, "replay", "the journal")
	})
	t.Run("offline", func(t *testing.T) {
		w := x.world.fresh()
		w.close("in a replay")
		x.run("a replay", w, plan{})
		x.found(t, "offline", "was executed in a replay")
	})
	t.Run("caps", func(t *testing.T) {
		x.caps(l, &runtime.Policy{MaxToolCalls: 2})
		x.found(t, "caps", "calls were let through, the policy allows 2")
		x.caps(l, &runtime.Policy{MaxPerTool: map[string]int64{"w.send@1": 1}})
		x.found(t, "caps", "2 calls of w.send@1 were let through, the policy allows 1")
		early := *l
		early.journal = without(l.journal, func(journal.Record) bool { return false })
		early.journal.Put(journal.Record{Key: "x", Attempt: 1, Tool: "w.send@1", Done: true, Denied: true,
			Error: value.Errorf(value.PolicyDenied, "the run has made 50 tool calls, the maximum of the policy")})
		x.caps(&early, &runtime.Policy{MaxToolCalls: 50})
		x.found(t, "caps", "a call was refused after")
		r, _ := early.journal.Lookup("send", 1)
		r.CostUSD = 2
		early.journal.Put(r)
		x.caps(&early, &runtime.Policy{MaxCostUSD: "0.000000001"})
		x.found(t, "caps", "the policy allows 0.000000001")
	})
}

// A disk that says it has synced, and has not, loses what a run has built upon.
func TestCheckOfTheDisk(t *testing.T) {
	x, _ := trialOf(t, 1)
	intents, results := 0, 0
	for seed := range uint64(200) {
		d := newDisk(from(seed, "disk"))
		d.lies = true
		d.crashAt = 5 + int(seed)%40
		folder := runs.Open("runs", runs.Options{Disk: d, Now: begin})
		e := folder.New(x.campaign.workflow.Info)
		l := x.run("a run", x.world.fresh(), plan{through: e, began: func(s *sim.Simulator) { d.crashed = s.Halt }})
		if !d.down {
			continue
		}
		x.recovered(l, runs.Open("runs", runs.Options{Disk: d.restart()}), e.ID())
		for _, f := range x.findings {
			switch {
			case f.Check == "durable" && strings.Contains(f.Detail, "its intent is not on the disk"):
				intents++
			case f.Check == "durable" && strings.Contains(f.Detail, "which is not on the disk"):
				results++
			case f.Check != "journal": // a hole in what was said to be synced is damage
				t.Error(f)
			}
		}
		x.findings = nil
	}
	if intents == 0 || results == 0 {
		t.Errorf("%d intents and %d results were missed", intents, results)
	}
}

func TestCheckOfUndos(t *testing.T) {
	x, l := trialOf(t, 1)
	x.undoable["send"] = true
	x.undone(l)
	if len(x.findings) > 0 {
		t.Error(x.findings)
	}
	failed := *l
	failed.err = value.Errorf(value.Unknown, "it failed")
	x.undone(&failed)
	x.found(t, "undo", "has neither undone send nor said so")
	failed.err = &runtime.UndoError{Err: failed.err, Failed: []error{&runtime.NodeError{Node: &flow.Node{}, Key: "send.undo", Err: failed.err}}}
	x.undone(&failed)
	undone := without(l.journal, func(journal.Record) bool { return false })
	undone.Put(journal.Record{Key: "send.undo", Attempt: 1, Done: true})
	failed.err, failed.journal = l.err, undone
	x.undone(&failed)
	if len(x.findings) > 0 {
		t.Error(x.findings)
	}
	failed.journal = without(undone, func(r journal.Record) bool { return r.Key == "send" })
	x.undone(&failed)
	x.found(t, "undo", "has undone send, which did not happen")
}
