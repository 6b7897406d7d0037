package journal

import (
	"encoding/json"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Decision is what is decided about a call in doubt: that it runs again, or that it happened, with this output.
type Decision struct {
	Again  bool
	Output json.RawMessage
}

// Past answers the calls of a run that goes on, from what is known of it. It is for engines, and safe for concurrent use.
type Past struct {
	journal *Journal
	nodes   map[string]string // hashes of the program's nodes; nil: it is the program that was recorded
	redo    func(Record) bool // a write may run once more, because its node or its input has changed
	decide  func(Record, *flow.Doubt) (Decision, bool)
	undone  map[string]string // why bodies failed that are being undone, by what the keys inside begin with
}

// NewPast returns a Past of what is in j. nodes has the hashes of the program's nodes when it is not the program that was
// recorded: then a result holds only where node and input are the same. redo says which calls that write and have a
// result may run once more all the same; decide settles calls in doubt before the workflow's on_in_doubt does. Both may
// be nil.
func NewPast(j *Journal, nodes map[string]string, redo func(Record) bool, decide func(Record, *flow.Doubt) (Decision, bool)) *Past {
	return &Past{j, nodes, redo, decide, j.undone()}
}

// Answers is engine.Answerer's.
func (p *Past) Answers(h *engine.Head) bool {
	e, ok := p.journal.find(h.Key(), int(h.Attempt))
	return ok && e.result() && p.changed(e.brief()) == ""
}

// Spent is engine.Answerer's.
func (p *Past) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	p.journal.spent(prefix, yield)
}

// Worked is how long calls whose keys begin with prefix have gone on, questions to users not counted: what a policy's MaxTime counts.
func (p *Past) Worked(prefix string) time.Duration { return p.journal.worked(prefix) }

// Answer answers op if there is a result that holds. When it returns false and no error the call has to run. An answer
// with op's Replayed unset is what somebody has decided, and belongs into the journal.
func (p *Past) Answer(op engine.Op) (answered bool, err error) {
	h := op.Head()
	rec, ok := p.journal.Lookup(h.Key(), int(h.Attempt))
	if err := p.ended(h.Key()); err != nil && !(ok && rec.Result()) {
		return true, err
	}
	if !ok {
		return false, nil
	}
	if rec.Lost != nil {
		return true, rec.matches(op)
	}
	changed := p.changed(rec)
	if rec.Result() {
		switch {
		case changed == "":
			err := rec.matches(op)
			switch {
			case err == nil:
				return true, rec.give(op)
			case p.nodes == nil:
				return true, err
			}
			changed = err.Error() // it follows from what has changed before it
		}
		if h.Effects < flow.Writes || rec.Metered || rec.Denied || p.redo != nil && p.redo(rec) {
			return false, nil
		}
		return true, diverged("call %s has already run with effects %s: %s. It is not repeated automatically", rec.Key, h.Effects, changed)
	}
	if h.Effects < flow.Writes {
		if h.Tool == engine.WaitTool || h.Tool == engine.HumanTool {
			since := p.journal.Header().Begin.Add(rec.Start)
			h.Since = &since
		}
		if changed == "" && p.nodes == nil {
			return false, rec.matches(op)
		}
		return false, nil
	}
	if changed == "" {
		if err := rec.matches(op); err != nil {
			return true, err
		}
	}
	return p.doubtful(op, rec)
}

// doubtful is about a write that had begun and has no result.
func (p *Past) doubtful(op engine.Op, rec Record) (answered bool, err error) {
	h := op.Head()
	var d Decision
	ok := false
	if p.decide != nil {
		d, ok = p.decide(rec, h.InDoubt)
	}
	said := ok
	if !ok && h.InDoubt != nil {
		switch h.InDoubt.Policy {
		case flow.RetryWithKey:
			d, ok = Decision{Again: true}, true
		case flow.AssumeDone:
			d, ok = Decision{Output: []byte(h.InDoubt.Output)}, true
		}
	}
	switch {
	case !ok:
		return true, &runtime.RunError{Kind: runtime.InDoubt, Message: "call " + rec.Key + " had started and has no result; it may have happened (call_id " + rec.CallID + ")"}
	case d.Again:
		return false, nil
	}
	read := op.DecodeOut
	if said {
		read = func(b []byte) error { return take(op, b) }
	}
	if err := read(d.Output); err != nil {
		return true, &runtime.RunError{Kind: runtime.InDoubt, Message: "call " + rec.Key + " is assumed done, but the output given for it does not fit: " + err.Error()}
	}
	h.Start, h.End = rec.Start, rec.Start
	return true, nil
}

// changed says why a record may be stale, "" when it is not.
func (p *Past) changed(r Record) string {
	if p.nodes == nil {
		return ""
	}
	return p.journal.Changed(r, p.nodes)
}

// Changed says in what way the node of a call is not the one that was recorded, "" when it is. now has the hash of each
// node of the program by its path.
func (j *Journal) Changed(r Record, now map[string]string) string {
	recorded := j.Header().Nodes
	before, after := pathOf(recorded, r.Key), pathOf(now, r.Key)
	switch {
	case after == "" || before == "" && r.Node == "":
		return "the node of " + r.Key + " is new"
	case r.Node != "" && r.Node != now[after], r.Node == "" && (before != after || recorded[before] != now[after]):
		return "node " + after + " has changed"
	}
	return ""
}

// Mixed reports whether some records are of another version of their node than the program that went on with the run.
func (j *Journal) Mixed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for e := range j.records.all {
		if e.kind.node != "" {
			return true
		}
	}
	return false
}
