package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// Engine records one run in a folder while it goes on, as goroutines. The intent of every call is in the journal
// before the call is made, and its end before its result is used. An engine that cannot write stops the run: no call is
// made any more.
type Engine struct {
	engine.Goroutines
	folder *Folder
	id     string
	base   time.Time
	seed   uint64
	header journal.Header // of a new run
	info   *flow.Info

	past  *journal.Past    // nil: a new run
	from  *origin          // of a forked run that goes on; nil: of another
	old   *journal.Journal // what is known of it
	again []string         // keys of failed calls that are made once more
	fork  bool             // what is answered belongs into the journal too
	named bool             // the id was chosen: it is no other when it is taken
	sure  bool             // its beginning is on the disk before its first call

	mu   sync.Mutex // guards the following
	log  *wal.Log
	used bool

	wrote atomic.Bool // something had to be on the disk
	blobs blobs       // large values of lines
	store store       // large outputs
	idle  idle
}

// Record returns an engine for one new run; it is what runtime.WithEngines takes.
func (f *Folder) Record(info *flow.Info) (engine.Engine, error) { return f.New(info), nil }

// New returns an engine that records a new run.
func (f *Folder) New(info *flow.Info) *Engine {
	now := f.opts.Now()
	e := &Engine{folder: f, idle: newIdle(), id: engine.NewRunID(info.Name, now), base: now, seed: f.opts.Seed()}
	e.describe(info)
	return e
}

func (e *Engine) describe(info *flow.Info) {
	h := e.folder.hashesOf(info)
	e.info = info
	e.header = journal.Header{Workflow: info.Name, Seed: e.seed, Begin: e.base.UTC().Round(0), Graph: h.Graph, Nodes: h.Nodes,
		Program: e.folder.opts.Program, Lock: h.Lock, Sync: string(e.folder.opts.Sync)}
}

// Continue says how a run goes on.
type Continue struct {
	// Edited lets a program go on whose workflow is not the one that was recorded: calls whose node and input are the same
	// are answered, others run. Without it such a program is refused.
	Edited bool
	// Again makes the call that the run failed with once more. Its failure is otherwise a result like any other.
	Again bool
	// Redo lets a call that writes and has a result run once more, because its node or its input has changed.
	Redo func(journal.Record) bool
	// Decide settles a call in doubt; false leaves it to the workflow's on_in_doubt.
	Decide func(journal.Record, *flow.Doubt) (journal.Decision, bool)
}

// Resume returns an engine that goes on with a run, and the journal it has found. The caller runs the workflow with the
// journal's input and tenant. wal.ErrLocked: somebody else is at it.
func (f *Folder) Resume(info *flow.Info, id string, c Continue) (*Engine, *journal.Journal, error) {
	if !isID(id) {
		return nil, nil, ErrNoRun
	}
	log, j, err := f.openLazy(id)
	if err != nil {
		return nil, nil, err
	}
	h := j.Header()
	e := &Engine{folder: f, idle: newIdle(), id: id, base: h.Begin, seed: h.Seed, log: log, old: j}
	e.describe(info)
	if e.from, err = f.originOf(id, j, e.header.Nodes); err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	var nodes map[string]string
	if h.Graph != e.header.Graph || j.Mixed() {
		if !c.Edited {
			return nil, j, errors.Join(&EditedError{Recorded: h, Now: e.header}, log.Close())
		}
		nodes = e.header.Nodes
	}
	if c.Again && len(j.Undone()) > 0 {
		return nil, nil, errors.Join(errors.New("the run has been undone, and the failed call cannot be retried: begin a new run, or use rerun"), log.Close())
	}
	if key := j.Finish().Key; c.Again && key != "" {
		e.again = []string{key}
		j.Drop(e.again)
	}
	e.past = journal.NewPast(j, nodes, c.Redo, c.Decide)
	return e, j, nil
}

// origin is what a forked run that was stopped has not yet taken over from the run that it began with.
type origin struct {
	*journal.Past
	rest *journal.Journal
}

// originOf returns nil for a run that is not a fork.
func (f *Folder) originOf(id string, j *journal.Journal, nodes map[string]string) (*origin, error) {
	h := j.Header()
	if h.From == "" {
		return nil, nil
	}
	for _, key := range h.Given {
		given := slices.DeleteFunc(j.Records(), func(r journal.Record) bool { return r.Key != key })
		if len(given) == 0 {
			return nil, noRecord(id) // it died before it had begun
		}
		for _, r := range given { // it is held to its type once more
			r.Given = true
			j.Put(r)
		}
	}
	from, err := f.Read(h.From)
	if err != nil {
		return nil, fmt.Errorf("the run began with the results of %s, which cannot be read any more: %w", h.From, err)
	}
	undone := from.Undone()
	rest := from.Without(func(r journal.Record) bool {
		_, own := j.Lookup(r.Key, r.Attempt)
		return own || undone[r.Key] || !Kept(r, h.Again)
	})
	return &origin{journal.NewPast(rest, nodes, func(journal.Record) bool { return true }, nil), rest}, nil
}

// Kept reports whether a run that does some nodes again, those inside of them too, begins with a record of another one.
func Kept(r journal.Record, again []string) bool {
	return r.Result() && r.Cancelled == "" && !slices.ContainsFunc(again, func(node string) bool { return journal.Below(r.Key, node) })
}

// EditedError is the error of a run that is to go on with another workflow than the recorded one.
type EditedError struct{ Recorded, Now journal.Header }

// Error says that the workflow has changed.
func (e *EditedError) Error() string { return "the workflow has changed since the run was recorded" }

// Fork returns an engine for a new run that begins with what is in j: calls whose node and input are the same as there
// are answered, others run, those that write too. j is the journal of run from, without the calls of the nodes again, and
// with results that somebody has given. A forked run that is resumed goes on in the same way.
func (f *Folder) Fork(info *flow.Info, from string, j *journal.Journal, again ...string) *Engine {
	e := f.New(info)
	h := j.Header()
	e.seed, e.old = h.Seed, j
	e.describe(info)
	e.header.From, e.header.Tenant, e.header.Again = from, h.Tenant, again
	for _, r := range j.Records() {
		if r.Given {
			e.header.Given = append(e.header.Given, r.Key)
		}
	}
	e.fork = true
	e.past = journal.NewPast(j, e.header.Nodes, func(journal.Record) bool { return true }, nil)
	return e
}

// Identify implements engine.Identifier.
func (e *Engine) Identify(id string) error {
	if e.old != nil && !e.fork && id != e.id {
		return fmt.Errorf("run %s cannot go on as %s", e.id, id)
	}
	e.id, e.named = id, true
	return nil
}

// ID returns the run's name. It is final when the run has begun.
func (e *Engine) ID() string { return e.id }

// Promise has the beginning of a new run on the disk before its first call, and its end before it is over: for a service that
// has told somebody the run's id by then. It is called before the run begins.
func (e *Engine) Promise() { e.sure = true }

// Begin implements engine.Beginner.
func (e *Engine) Begin() time.Time { return e.base }

// Seed implements engine.Seeder.
func (e *Engine) Seed() uint64 { return e.seed }

// Answers implements engine.Answerer.
func (e *Engine) Answers(h *engine.Head) bool {
	return e.past != nil && e.past.Answers(h) || e.from != nil && e.from.Answers(h)
}

// Spent implements engine.Answerer.
func (e *Engine) Spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	if e.past != nil {
		e.past.Spent(prefix, yield)
	}
	if e.from != nil {
		e.from.Spent(prefix, yield)
	}
}

// Worked is how long the recorded calls have gone on, see journal.Past.
func (e *Engine) Worked(prefix string) (all time.Duration) {
	if e.past != nil {
		all = e.past.Worked(prefix)
	}
	if e.from != nil {
		all += e.from.Worked(prefix)
	}
	return all
}

// Start implements engine.Starter: it writes the header, or that the run goes on.
func (e *Engine) Start(r *flow.Run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used {
		return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "an engine with a journal serves one run"}
	}
	e.used = true
	if e.log != nil {
		h := e.header
		if h.Graph == e.old.Header().Graph {
			h.Graph, h.Nodes = "", nil // as before
		}
		return e.append(journal.EncodeResume(time.Since(e.base), h, e.again), false)
	}
	var err error
	if e.log, err = e.create(); err != nil {
		return unavailable(err)
	}
	if e.header.Input, err = r.EncodeInput(); err != nil {
		return unavailable(err)
	}
	e.header.Tenant = r.Tenant()
	e.folder.keepPlan(e.header.Graph, e.info)
	if err := e.append(journal.EncodeHeader(e.header), e.sure); err != nil || !e.fork {
		return err
	}
	for _, r := range e.old.Records() { // what was given is in no other journal
		if r.Given {
			if err := e.record(r, true, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass reads a line for nothing.
func pass(int64, int, []byte) error { return nil }

// create makes the log of a new run. A name that another run has, which began in the same millisecond and drew the same
// number, is not taken.
func (e *Engine) create() (*wal.Log, error) {
	const tries = 10
	for n := 1; ; n++ {
		name := e.folder.log(e.id)
		if e.named {
			return e.createNamed(name)
		}
		if err := e.folder.mkdir(filepath.Dir(name), false); err != nil { // the log makes its name durable when it has to be
			return nil, err
		}
		log, found, err := e.folder.open(e.id, pass)
		switch {
		case err == nil && found.Count == 0:
			return log, nil
		case err == nil:
			if err = log.Close(); err != nil {
				return nil, err
			}
			err = wal.ErrLocked
		}
		if n == tries || !errors.Is(err, wal.ErrLocked) {
			return nil, err
		}
		e.id = engine.NewRunID(e.header.Workflow, e.folder.opts.Now())
	}
}

// createNamed makes the log of a new run whose id was chosen.
func (e *Engine) createNamed(name string) (*wal.Log, error) {
	if err := e.folder.mkdir(filepath.Dir(name), false); err != nil {
		return nil, err
	}
	log, found, err := e.folder.open(e.id, pass)
	if err == nil && found.Count > 0 {
		err = errors.Join(wal.ErrLocked, log.Close())
	}
	if errors.Is(err, wal.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrExists, e.id)
	}
	return log, err
}

// Finish implements engine.Finisher: it writes how the run ended and closes the journal.
func (e *Engine) Finish(r *flow.Run, err error) error {
	e.mu.Lock()
	log := e.log
	e.mu.Unlock()
	if log == nil {
		return nil
	}
	f := journal.FinishOf(r, err)
	f.At = time.Since(e.base)
	if f.Outcome == journal.Cancelled && e.idle.stopped() {
		f.Outcome, f.Failure, f.Key = journal.Waiting, "", ""
	}
	var werr error
	if f.Outcome != journal.Open {
		werr = e.append(journal.EncodeFinish(f), e.wrote.Load())
	}
	return errors.Join(werr, wrap(log.Close()), e.store.close())
}

// Answer writes what a user has said to a question of a run that goes on. An answer that Respond refuses changes nothing.
func (e *Engine) Answer(question, answer string) error {
	a, err := e.folder.answer(e.id, e.old, question, answer)
	if err != nil {
		return err
	}
	if err := e.append(journal.EncodeAnswer(a), true); err != nil {
		return err
	}
	e.old.AddAnswer(a)
	return nil
}

// Answered implements engine.Waiter.
func (e *Engine) Answered(key string) (answer string, ok bool) {
	if e.old == nil {
		return "", false
	}
	return e.old.Answer(key)
}

// Close releases the journal of an engine whose run never began.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.used || e.log == nil {
		return nil
	}
	e.used = true
	return e.log.Close()
}

// Do answers from the journal, even in a cancelled scope (R1), or writes the intent, runs the call and writes its end.
func (e *Engine) Do(r *flow.Run, op engine.Op) error {
	h := op.Head()
	if e.past != nil {
		answered, err := e.past.Answer(op)
		switch {
		case answered && h.Replayed && e.fork:
			if rec, ok := e.old.Lookup(h.Key(), int(h.Attempt)); ok && !rec.Given {
				if werr := e.record(rec, true, false); werr != nil {
					return werr
				}
			}
		case answered && err == nil && !h.Replayed: // taken as done
			return e.end(op)
		}
		if answered || err != nil {
			return err
		}
	}
	if e.from != nil {
		answered, err := e.from.Answer(op)
		if rec, ok := e.from.rest.Lookup(h.Key(), int(h.Attempt)); answered && h.Replayed && ok {
			if werr := e.record(rec, true, false); werr != nil {
				return werr
			}
		}
		if answered || err != nil {
			return err
		}
	}
	if err := r.Cancelled(); err != nil {
		return err
	}
	if h.Tool != engine.HumanTool {
		e.idle.begin()
		defer e.idle.end()
	}
	h.Start = h.StartAt(e.base)
	intent := journal.Intent(op)
	if h.Tool == engine.HumanTool {
		intent.Limit = r.Limit(h).Of
	}
	if err := e.record(intent, false, h.Effects >= flow.Writes); err != nil {
		return err
	}
	err := op.Exec(r.CallContext(h.Effects))
	h.End, h.Err = time.Since(e.base), err
	if werr := e.end(op); werr != nil {
		h.Err = werr
		return werr
	}
	return err
}

// end writes how an attempt ended. One that ended in a run error has no result: it stays an intent.
func (e *Engine) end(op engine.Op) error {
	rec := journal.End(op)
	if !rec.Done {
		return nil
	}
	return e.record(rec, true, op.Head().Effects >= flow.Writes)
}

// Now implements engine.Engine.
func (e *Engine) Now(*flow.Run) time.Time { return e.folder.opts.Now() }

// Sleep implements engine.Engine.
func (e *Engine) Sleep(r *flow.Run, d time.Duration) error {
	e.idle.begin()
	defer e.idle.end()
	return e.Goroutines.Sleep(r, d)
}

// record writes a record: an intent, or an end when done.
func (e *Engine) record(r journal.Record, done, durable bool) (err error) {
	durable = durable && e.folder.opts.Sync == Effect
	if r.Input, err = e.outOfLine(r.Input); err == nil {
		r.Output, err = e.outOfLine(r.Output)
	}
	if err != nil {
		return unavailable(err)
	}
	return e.append(journal.EncodeRecord(r, done), durable)
}

// outOfLine puts a large value into a file, and one that looks like a reference to such a file.
func (e *Engine) outOfLine(value json.RawMessage) (json.RawMessage, error) {
	if len(value) < large && !bytes.HasPrefix(value, blobMark) {
		return value, nil
	}
	return e.keep(value)
}

func (e *Engine) append(line []byte, durable bool) error {
	if durable {
		e.wrote.Store(true)
	}
	if err := e.log.Append(line, durable); err != nil {
		return unavailable(err)
	}
	return nil
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return unavailable(err)
}

func unavailable(err error) *runtime.RunError {
	text := err.Error()
	if remedy := wal.Remedy(err); remedy != "" {
		text += " (" + remedy + ", then resume the run)"
	}
	return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: text, Err: err}
}
