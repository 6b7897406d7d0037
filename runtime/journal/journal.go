// Package journal records runs of flowgen workflows and answers from the records.
//
// A Recorder is an engine that keeps every call in memory. Its Journal can be written as JSON Lines, read back, replayed
// without running any tool (Replay), and resumed after a crash (Resume). The rules of replay:
//
// R1: a recorded result answers before cancellation is looked at. R2: a call without a record waits, in a replay, until
// every other branch is quiet; if its scope is cancelled by then it is cancelled, else the program has diverged from the
// journal. A cancelled call's record says by whom: "scope" is a result like any other, "run" is none, and a resumed run
// calls again.
package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Outcome says how a recorded run ended.
type Outcome string

// The outcomes. A journal without one was cut short: the program crashed or is still running.
const (
	Open      Outcome = ""
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	Waiting   Outcome = "waiting" // stopped because a question has no answer yet
)

// Journal is what is known about one run. It is safe for concurrent use. The zero value waits for its first line.
type Journal struct {
	mu      sync.Mutex
	began   bool // the header is known
	edited  bool // the run went on with another program
	header  Header
	records *table  // nil: there are none
	added   uint32  // how many were added, also in the place of others
	earlier []*kept // attempts in whose place another one was made, in the order of that
	answers []Answer
	finish  Finish

	read  func(at int64, n int) ([]byte, error) // nil: records are kept whole
	kinds map[kind]*kind
}

// Header is what a journal says about the run as a whole.
type Header struct {
	Workflow string    `json:"workflow"`
	Seed     uint64    `json:"seed,string"` // of the run's random numbers
	Begin    time.Time `json:"begin"`

	Graph   string            `json:"graph,omitempty"`   // hash of the workflow
	Nodes   map[string]string `json:"nodes,omitempty"`   // hash of each node, by its path: ids joined by "/"
	Program string            `json:"program,omitempty"` // version of the program
	Lock    string            `json:"lock,omitempty"`    // hash of flowgen.lock
	Sync    string            `json:"sync,omitempty"`    // off, buffered or effect; "" in text that is no log
	Tenant  string            `json:"tenant,omitempty"`
	From    string            `json:"from,omitempty"`  // the run that this one was forked from
	Again   []string          `json:"again,omitempty"` // the nodes whose calls From does not answer
	Given   []string          `json:"given,omitempty"` // the calls whose results somebody has given; their records follow the header

	Input json.RawMessage `json:"input,omitempty"` // canonical, without secrets
}

// Record is one attempt of one call.
type Record struct {
	Key       string           `json:"key"`
	Attempt   int              `json:"attempt"`        // from 1
	Tool      string           `json:"tool,omitempty"` // name@version
	Effects   string           `json:"effects,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Input     json.RawMessage  `json:"input,omitempty"` // canonical
	Output    json.RawMessage  `json:"output,omitempty"`
	Error     *value.ToolError `json:"error,omitempty"`
	Cancelled string           `json:"cancelled,omitempty"` // runtime.ByScope or ByRun
	Done      bool             `json:"-"`                   // false: an intent without a result
	Node      string           `json:"node,omitempty"`      // hash of its node, when it is not the header's: the program has changed since
	Broken    string           `json:"broken,omitempty"`    // why input or output could not be encoded
	Given     bool             `json:"-"`                   // somebody has put Output in the place of what was recorded; in memory only
	Lost      error            `json:"-"`                   // of a journal that is read lazily: why the rest of the record cannot be read

	// What is next to the envelope's first fields.
	Stack       string            `json:"stack,omitempty"` // of a tool that panicked
	Cached      bool              `json:"cached,omitempty"`
	Truncated   bool              `json:"truncated,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Sandbox     string            `json:"sandbox,omitempty"`   // the tier obtained, when one was asked for
	CostUSD     usage.USD         `json:"cost_usd,omitzero"`   // of this attempt
	Tokens      int64             `json:"tokens,omitzero"`     // of this attempt, of models
	Metered     bool              `json:"metered,omitempty"`   // a call of a model
	Denied      bool              `json:"denied,omitempty"`    // by the policy, so that it does not count
	Abandoned   bool              `json:"abandoned,omitempty"` // its function went on after its timeout
	Logs        string            `json:"logs,omitempty"`      // what its program printed besides the result

	Start time.Duration `json:"start_ns,omitzero"` // since Begin
	End   time.Duration `json:"end_ns,omitzero"`
	Limit time.Duration `json:"limit_ns,omitzero"` // how long the answer to a question is awaited, from Start
}

// New returns an empty journal.
func New(h Header) *Journal { return &Journal{began: true, header: h, records: newTable()} }

// Header returns what the journal says about the run as a whole.
func (j *Journal) Header() Header {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.header
}

// SetHeader replaces the header.
func (j *Journal) SetHeader(h Header) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.header = h
}

// Finish returns how the run ended; its Outcome is Open when nobody knows.
func (j *Journal) Finish() Finish {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.finish
}

// SetFinish says how the run ended.
func (j *Journal) SetFinish(f Finish) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.finish = f
}

// Answer returns what a user has said to the question of a call.
func (j *Journal) Answer(key string) (answer string, ok bool) {
	a, ok := j.Answered(key)
	return a.Answer, ok
}

// Answered returns what a user has said to the question of a call, with who and when.
func (j *Journal) Answered(key string) (a Answer, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range slices.Backward(j.answers) {
		if a.Key == key {
			return a, true
		}
	}
	return a, false
}

// Questions returns the records of the questions that were asked and have no answer, in the order of their keys.
func (j *Journal) Questions() []Record {
	var open []Record
	for _, r := range j.recordsOf(func(e *kept) bool { return e.kind.tool == engine.HumanTool && !e.result() }) {
		if _, answered := j.Answer(r.Key); !answered {
			open = append(open, r)
		}
	}
	return open
}

// Asked reports whether the run has asked the question of a key, whatever became of it.
func (j *Journal) Asked(key string) bool {
	return len(j.chosen(func(e *kept) bool { return e.kind.tool == engine.HumanTool && e.key == key })) > 0
}

// Keys are those of all calls, sorted.
func (j *Journal) Keys() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	keys := make([]string, 0, j.records.len())
	for e := range j.records.all {
		keys = append(keys, e.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Waits reports whether a record is a question that still waits for an answer, whatever has stopped the run.
func (j *Journal) Waits(r *Record) bool {
	if r.Tool != engine.HumanTool || r.Result() || j.Finish().Outcome == Failed {
		return false
	}
	_, answered := j.Answer(r.Key)
	return !answered
}

// AddAnswer takes in what a user has said.
func (j *Journal) AddAnswer(a Answer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers = append(j.answers, a)
}

// Without returns a copy that lacks the records for which drop holds, and how the run ended. A question whose result is
// dropped is asked again.
func (j *Journal) Without(drop func(Record) bool) *Journal {
	fresh := New(j.Header())
	asked := map[string]bool{}
	for _, r := range j.Records() {
		if !drop(r) {
			fresh.Put(r)
		} else if r.Result() {
			asked[r.Key] = true
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh.answers = slices.DeleteFunc(slices.Clone(j.answers), func(a Answer) bool { return asked[a.Key] })
	return fresh
}

// Put adds a record, or replaces that of the same key and attempt.
func (j *Journal) Put(r Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(&r, span{}, span{})
}

// Lookup returns the record of an attempt.
func (j *Journal) Lookup(key string, attempt int) (Record, bool) {
	e, ok := j.find(key, attempt)
	if !ok {
		return Record{}, false
	}
	return j.record(e), true
}

// Records returns all records in the order of key and attempt, which does not depend on the schedule of the run.
func (j *Journal) Records() []Record { return j.recordsOf(func(*kept) bool { return true }) }

// Earlier returns the attempts that a resumed run has made again: interrupted ones, failed ones, and those of an earlier
// version of the workflow. Records has what was made instead, or what answers for them.
func (j *Journal) Earlier() []Record {
	j.mu.Lock()
	list := slices.Clone(j.earlier)
	j.mu.Unlock()
	out := make([]Record, 0, len(list))
	for _, e := range list {
		out = append(out, j.record(*e))
	}
	return out
}

// Result reports whether the record answers its call: it is done and was not stopped together with the run.
func (r Record) Result() bool { return r.Done && r.Cancelled != runtime.ByRun }

func (e *kept) result() bool { return e.kind.done && e.kind.cancelled != runtime.ByRun }

// InDoubt reports whether the record is of a call that may have changed something, and of which nobody knows whether it has.
func (r Record) InDoubt() bool {
	return !r.Result() && (r.Effects == flow.Writes.String() || r.Effects == flow.External.String())
}

// InDoubt reports whether some call is in doubt.
func (j *Journal) InDoubt() bool {
	return len(j.chosen(func(e *kept) bool { r := e.brief(); return r.InDoubt() })) > 0
}

// RecordOf describes an attempt. done says that the engine has filled the head's End and Err.
func RecordOf(op engine.Op, done bool) Record {
	r := Intent(op)
	if done {
		r.end(op)
	}
	return r
}

// Intent describes an attempt that is about to be made.
func Intent(op engine.Op) Record {
	h := op.Head()
	r := Record{Key: h.Key(), Attempt: int(h.Attempt), Tool: h.Tool, Effects: h.Effects.String(), Start: h.Start}
	in, err := op.EncodeIn(nil)
	if err != nil {
		r.Broken = "input: " + err.Error()
		in = nil
	}
	r.Input, r.CallID = in, engine.CallID(h.Tool, in, r.Key)
	most := op.Cost() // it may have cost that much
	r.CostUSD, r.Tokens = most.Cost, most.Tokens
	return r
}

// End is what the end of an attempt adds to its intent. The engine has filled the head's End and Err.
func End(op engine.Op) Record {
	h := op.Head()
	r := Record{Key: h.Key(), Attempt: int(h.Attempt)}
	r.end(op)
	return r
}

func (r *Record) end(op engine.Op) {
	h := op.Head()
	r.Done, r.End, r.Cached, r.CostUSD, r.Tokens = true, h.End, h.Cached, 0, 0
	if b := h.Metadata; b != nil {
		r.Truncated, r.Attachments, r.CostUSD, r.Denied = b.Truncated, b.Attachments, b.Cost, b.Denied
		r.Tokens, r.Metered, r.Abandoned = b.Tokens, b.Metered, b.Abandoned
		r.Logs = b.Logs
		if b.Sandbox > runtime.Native {
			r.Sandbox = b.Sandbox.String()
		}
	}
	var te *value.ToolError
	var re *runtime.RunError
	switch {
	case h.Err == nil:
		var err error
		if r.Output, err = op.EncodeOut(nil); err != nil {
			r.Output, r.Broken = nil, "output: "+err.Error()
		}
	case errors.As(h.Err, &te):
		r.Error, r.Stack = te, engine.StackOf(h.Err)
	case errors.As(h.Err, &re) && re.Kind == runtime.Cancelled:
		r.Cancelled = re.By
	default:
		r.Done = false // other run errors are not results
	}
}

// Answer gives op the recorded result. Another tool or input than recorded is a divergence.
func (r Record) Answer(op engine.Op) error {
	if err := r.matches(op); err != nil {
		return err
	}
	return r.give(op)
}

// give is Answer to a call that is known to be the recorded one.
func (r Record) give(op engine.Op) error {
	h := op.Head()
	h.Replayed, h.Start, h.End, h.Cached, h.Metadata = true, r.Start, r.End, r.Cached, r.metadata()
	switch {
	case r.Cancelled != "":
		h.Err = cancelled(r.Cancelled)
	case r.Error != nil:
		te := *r.Error
		h.Err = &te
	case r.Given:
		if err := take(op, r.Output); err != nil {
			return diverged("the output given for call %s does not fit: %v", r.Key, err)
		}
	default:
		if err := op.DecodeOut(r.Output); err != nil {
			return diverged("the recorded output of call %s does not fit: %v", r.Key, err)
		}
	}
	return h.Err
}

// beside is what RecordOf has read.
func (r Record) metadata() *engine.Metadata {
	if !r.Truncated && r.Attachments == nil && r.Sandbox == "" && r.CostUSD == 0 && r.Tokens == 0 && !r.Denied && !r.Metered && !r.Abandoned && r.Logs == "" {
		return nil
	}
	b := &engine.Metadata{Truncated: r.Truncated, Attachments: r.Attachments, Cost: r.CostUSD, Denied: r.Denied,
		Tokens: r.Tokens, Metered: r.Metered, Abandoned: r.Abandoned, Logs: r.Logs}
	_ = b.Sandbox.UnmarshalText([]byte(r.Sandbox)) // of a tier nobody knows nothing can be said
	return b
}

// spent is engine.Answerer's Spent.
func (j *Journal) spent(prefix string, yield func(tool string, calls int64, took usage.Spend)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for e := range j.records.all {
		switch r := e.brief(); {
		case r.Denied || r.Tool == engine.WaitTool || IsUndo(r.Key) || !strings.HasPrefix(r.Key, prefix):
		case r.Result() && !r.Metered:
			yield(r.Tool, 1, usage.Spend{Cost: r.CostUSD, Tokens: r.Tokens})
		default: // a model; or a call that counts when it is done again, and may have cost what it costs
			yield(r.Tool, 0, usage.Spend{Cost: r.CostUSD, Tokens: r.Tokens})
		}
	}
}

// worked is how long the run has worked: how long at least one call went on that was no question to a user.
func (j *Journal) worked(prefix string) (all time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	type stretch struct{ start, end time.Duration }
	var calls []stretch
	for e := range j.records.all {
		if k := e.kind; k.done && k.tool != engine.HumanTool && !IsUndo(e.key) && strings.HasPrefix(e.key, prefix) {
			calls = append(calls, stretch{e.start, e.end})
		}
	}
	slices.SortFunc(calls, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	var until time.Duration
	for _, r := range calls {
		if r.end > until {
			all += r.end - max(r.start, until)
			until = r.end
		}
	}
	return all
}

func (r Record) matches(op engine.Op) error {
	if r.Lost != nil {
		return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: r.Lost.Error(), Err: r.Lost}
	}
	if r.Broken != "" {
		return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "call " + r.Key + " could not be recorded: " + r.Broken}
	}
	if h := op.Head(); h.Tool != r.Tool {
		return diverged("call %s: tool is %s, recorded %s", r.Key, h.Tool, r.Tool)
	}
	in, err := op.EncodeIn(nil)
	if err != nil {
		return diverged("call %s: input: %v", r.Key, err)
	}
	if bytes.Equal(in, r.Input) {
		return nil
	}
	recorded, err := value.Canonicalize(nil, r.Input)
	if err != nil {
		return &runtime.RunError{Kind: runtime.JournalUnavailable, Message: "recorded input of call " + r.Key + ": " + err.Error()}
	}
	if !fits(string(in), string(recorded)) {
		return diverged("call %s: %s when recorded", r.Key, Difference(in, recorded))
	}
	return nil
}

// fits reports whether in is what was recorded, where secrets were taken out.
func fits(in, recorded string) bool {
	parts := strings.Split(recorded, redact.Redacted)
	last := len(parts) - 1
	if last == 0 || in == recorded {
		return in == recorded
	}
	in, ok := strings.CutPrefix(in, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1:last] {
		i := strings.Index(in, p)
		if i < 0 {
			return false
		}
		in = in[i+len(p):]
	}
	return strings.HasSuffix(in, parts[last])
}

func cancelled(by string) *runtime.RunError {
	msg := "a sibling failed"
	if by == runtime.ByRun {
		msg = "the run was stopped"
	}
	return &runtime.RunError{Kind: runtime.Cancelled, By: by, Message: msg + " (recorded)"}
}
