package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// inspection is what `inspect RUN` tells about a run, as JSON.
type inspection struct {
	ID       string          `json:"id"`
	Workflow string          `json:"workflow"`
	Begin    time.Time       `json:"begin"`
	Took     time.Duration   `json:"took_ns"`           // until its end, or until the last thing known of it
	Outcome  journal.Outcome `json:"outcome"`           // "": it runs, or was stopped without a word
	Failure  string          `json:"failure,omitempty"` // of a run that failed
	Graph    string          `json:"graph,omitempty"`
	Program  string          `json:"program,omitempty"`
	Lock     string          `json:"lock,omitempty"`
	Sync     string          `json:"sync,omitempty"`
	Tenant   string          `json:"tenant,omitempty"`
	From     string          `json:"from,omitempty"` // the run that it was forked from
	Seed     uint64          `json:"seed,string"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`

	Waiting []openQuestion `json:"waiting"`              // questions without an answer
	InDoubt []doubtful     `json:"in_doubt"`             // calls that write, had begun and have no result
	Undone  []string       `json:"undone,omitempty"`     // calls that were undone, after the run or a workflow in it failed
	Kept    []notUndone    `json:"not_undone,omitempty"` // calls whose undo failed
	Totals  totals         `json:"totals"`
	Calls   callList       `json:"calls"` // in the order of their beginnings
}

// openQuestion is a question that waits for a user.
type openQuestion struct {
	Key      string   `json:"key"`
	Question string   `json:"question"`
	Type     string   `json:"type"`
	Choices  []string `json:"choices,omitempty"`
}

// doubtful is a call of which nobody knows whether it has happened.
type doubtful struct {
	Key     string `json:"key"`
	Attempt int    `json:"attempt"`
	Tool    string `json:"tool"`
	CallID  string `json:"call_id"`
}

// notUndone is a call that happened and whose undo failed.
type notUndone struct {
	Key   string           `json:"key"`
	Undo  string           `json:"undo"` // the key of the undo
	Error *value.ToolError `json:"error"`
}

// undos lists what was undone, and what not, in the order of the undos.
func (i *inspection) undos(records map[string]*value.ToolError) {
	if len(records) == 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range i.Calls.all() {
		of, undoes := journal.UndoOf(c.Key)
		err, ended := records[c.Key]
		if !undoes || !ended || seen[c.Key] {
			continue
		}
		if seen[c.Key] = true; err != nil {
			i.Kept = append(i.Kept, notUndone{of, c.Key, err})
		} else {
			i.Undone = append(i.Undone, of)
		}
	}
}

// totals sum up a run. Costs and tokens are of attempts that have ended; of those that have not nobody knows.
type totals struct {
	Calls     int `json:"calls"`
	Attempts  int `json:"attempts"`
	Cached    int `json:"cached"`
	Failed    int `json:"failed"`    // attempts
	Cancelled int `json:"cancelled"` // attempts
	Open      int `json:"open"`      // attempts without a result

	Interrupted int           `json:"interrupted,omitempty"` // attempts, all of them made again
	Tokens      int64         `json:"tokens"`
	CostUSD     usage.USD     `json:"cost_usd"`
	Busy        time.Duration `json:"busy_ns"` // the sum of all attempts
}

// The states of a call.
const (
	callDone      = string(journal.CallDone)
	callFailed    = string(journal.CallFailed)
	callCancelled = string(journal.CallCancelled)
	callOpen      = string(journal.CallOpen)
	callInDoubt   = string(journal.CallInDoubt)
	callWaiting   = string(journal.CallWaiting)

	callInterrupted = string(journal.CallInterrupted)
)

// inspectedCall is one attempt without what went in and came out.
type inspectedCall struct {
	Key         string            `json:"key"`
	Attempt     int               `json:"attempt"`
	State       string            `json:"state"`
	Tool        string            `json:"tool"`
	Effects     string            `json:"effects"`
	CallID      string            `json:"call_id"`
	Start       time.Duration     `json:"start_ns"`
	End         time.Duration     `json:"end_ns"` // of an open one the same as start_ns
	Cached      bool              `json:"cached"`
	Truncated   bool              `json:"truncated,omitempty"`
	Attachments []tool.Attachment `json:"attachments,omitempty"`
	Abandoned   bool              `json:"abandoned,omitempty"`
	Denied      bool              `json:"denied,omitempty"` // by the policy: the tool was not called
	Sandbox     string            `json:"sandbox,omitempty"`
	Tokens      int64             `json:"tokens"`
	CostUSD     usage.USD         `json:"cost_usd"`
	Error       *value.ToolError  `json:"error,omitempty"`
	Stack       string            `json:"stack,omitempty"`     // of a tool that panicked
	Logs        string            `json:"logs,omitempty"`      // what its program printed besides the result
	Cancelled   string            `json:"cancelled,omitempty"` // by whom: scope or run
	Node        string            `json:"node,omitempty"`      // hash of its node, when the workflow has changed since
	Again       bool              `json:"again,omitempty"`     // the resumed run has made it again: it does not count
}

// inspectionHead is what the journal of a run says about it as a whole.
func inspectionHead(id string, h journal.Header, end journal.Finish) *inspection {
	return &inspection{ID: id, Workflow: h.Workflow, Begin: h.Begin, Took: max(end.At, 0), Outcome: end.Outcome, Failure: end.Failure,
		Graph: h.Graph, Program: h.Program, Lock: h.Lock, Sync: h.Sync, Tenant: h.Tenant, From: h.From, Seed: h.Seed,
		Input: h.Input, Output: end.Output,
		Waiting: []openQuestion{}, InDoubt: []doubtful{}}
}

// inspectionOf reads all of a journal.
func inspectionOf(id string, j *journal.Journal) *inspection {
	i := inspectionHead(id, j.Header(), j.Finish())
	calls := []inspectedCall{}
	keys, ends := map[string]bool{}, map[string]*value.ToolError{} // the error of the last attempt
	for _, r := range j.Records() {
		c := i.state(j, &r)
		calls = append(calls, c)
		i.Totals.add(&c)
		keys[r.Key] = true
		if r.Done && r.Cancelled == "" { // records are in the order of their attempts
			ends[r.Key] = r.Error
		}
		i.Took = max(i.Took, c.End)
	}
	for _, r := range j.Earlier() {
		if c, shown := earlierCall(j, &r); shown {
			calls = append(calls, c)
			i.Totals.add(&c)
		}
	}
	i.Totals.Calls = len(keys)
	slices.SortStableFunc(calls, func(a, b inspectedCall) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Key, b.Key), cmp.Compare(a.Attempt, b.Attempt), againFirst(a.Again, b.Again))
	})
	i.Calls = listOf(calls)
	i.undos(ends)
	return i
}

func againFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// state tells what became of an attempt.
func (i *inspection) state(j *journal.Journal, r *journal.Record) inspectedCall {
	c := inspectedCall{Key: r.Key, Attempt: r.Attempt, Tool: r.Tool, Effects: r.Effects, CallID: r.CallID,
		Start: max(r.Start, 0), Cached: r.Cached, Truncated: r.Truncated, Attachments: r.Attachments, Abandoned: r.Abandoned, Denied: r.Denied, Sandbox: r.Sandbox,
		Tokens: r.Tokens, CostUSD: r.CostUSD, Error: r.Error, Stack: r.Stack, Logs: r.Logs, Cancelled: r.Cancelled, Node: r.Node}
	if r.Metered {
		c.Effects = "asks" // journals say external
	}
	c.End = max(r.End, c.Start) // clocks of two programs may differ
	c.State = string(journal.StateOf(r, j.Waits(r)))
	switch c.State {
	case callWaiting:
		i.Waiting = append(i.Waiting, questionOf(r))
	case callInDoubt:
		i.InDoubt = append(i.InDoubt, doubtful{r.Key, r.Attempt, r.Tool, r.CallID})
	}
	if !r.Done || c.State == callWaiting { // what an intent says is the most that it can take
		c.End, c.Tokens, c.CostUSD = c.Start, 0, 0
	}
	return c
}

// earlierCall is an attempt that was made again. It is not shown of a question: that has waited all the time.
func earlierCall(j *journal.Journal, r *journal.Record) (c inspectedCall, shown bool) {
	c = new(inspection).state(j, r)
	c.State = string(journal.State(c.State).Earlier())
	c.Again = true
	return c, r.Tool != engine.HumanTool || r.Result()
}

// questionOf reads the input of a question; one that cannot be read is only named.
func questionOf(r *journal.Record) openQuestion {
	q := openQuestion{Key: r.Key}
	var asked runtime.Question
	if json.Unmarshal(r.Input, &asked) == nil {
		q.Question, q.Type, q.Choices = asked.Text, asked.Type, asked.Choices
	}
	return q
}

func (t *totals) add(c *inspectedCall) {
	t.Attempts++
	t.Tokens += c.Tokens
	t.CostUSD += c.CostUSD
	t.Busy += c.End - c.Start
	if c.Cached {
		t.Cached++
	}
	switch c.State {
	case callFailed:
		t.Failed++
	case callCancelled:
		t.Cancelled++
	case callOpen, callInDoubt, callWaiting:
		t.Open++
	case callInterrupted:
		t.Interrupted++
	}
}
