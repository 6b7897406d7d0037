package core

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	RunStart  EventKind = "run_start"
	RunEnd    EventKind = "run_end"
	NodeStart EventKind = "node_start"
	NodeEnd   EventKind = "node_end"
	Retrying  EventKind = "retry"    // an attempt failed, another follows after Wait
	Progress  EventKind = "progress" // Done of Total items of a map have ended
	Output    EventKind = "output"   // Text is the next piece of what a running call says
	Logged    EventKind = "log"      // Text is what the program of a call has printed besides its result, in whole lines
	Warning   EventKind = "warning"  // Message says what; the run goes on
	Asking    EventKind = "question" // Message is the question; the node continues with the answer
)

// Event is one step of a run's progress. Node and Key are empty for run_start and run_end.
type Event struct {
	Kind        EventKind
	Run         *Run   // the same for all events of a run; its ID and the workflow's name are written
	Key         string // scope path, node id, visit
	Node        *Node
	Tool        string // name@version, for calls
	Time        time.Time
	Duration    time.Duration // of the run, node or attempt that ended
	Attempt     int           // calls: from 1
	Wait        time.Duration // retry: until the next attempt; 0 when that is answered from a journal
	Err         error         // *NodeError, *ToolError or *RunError
	Replayed    bool          // answered from a journal
	Cached      bool          // answered from a cache
	Done, Total int           // progress
	Message     string        // warning, question
	Text        string        // output, log
	Usage       *usage.Usage  // node_end of a call that says what it took; nil otherwise
	Cost        usage.USD     // node_end of a call of a tool that says what it costs

	op Op     // node_end of a call
	id string // node_end of a call that was never made
}

// CallID returns the id of the call that has ended (Agent Tools 6.1), as envelopes and spans have it; "" for all other events.
// It is computed when it is asked for, during Observe.
func (e Event) CallID() string {
	if e.op == nil {
		return e.id
	}
	in, err := e.op.EncodeIn(nil)
	if err != nil {
		return ""
	}
	return CallID(e.Tool, in, e.Key)
}

// Observer receives the events of a run. Observe is called from all branches at the same time and must return quickly,
// because the branch waits for it.
type Observer interface{ Observe(Event) }

// ObserverFunc is a function used as an Observer.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }

type eventJSON struct {
	Kind      EventKind    `json:"kind"`
	Key       string       `json:"key,omitempty"`
	Node      string       `json:"node,omitempty"`
	Pos       string       `json:"pos,omitempty"`
	Tool      string       `json:"tool,omitempty"`
	CallID    string       `json:"call_id,omitempty"`
	Time      time.Time    `json:"time"`
	DurationS *float64     `json:"duration_s,omitempty"`
	Attempt   int          `json:"attempt,omitempty"`
	WaitS     *float64     `json:"wait_s,omitempty"`
	Error     any          `json:"error,omitempty"`
	Replayed  bool         `json:"replayed,omitempty"`
	Cached    bool         `json:"cached,omitempty"`
	Done      *int         `json:"done,omitempty"`
	Total     *int         `json:"total,omitempty"`
	Message   string       `json:"message,omitempty"`
	Text      string       `json:"text,omitempty"`
	Usage     *usage.Usage `json:"usage,omitempty"`
	Run       string       `json:"run,omitempty"`
	Workflow  string       `json:"workflow,omitempty"`
}

type runErrorJSON struct {
	Kind    RunErrorKind `json:"kind"`
	By      string       `json:"by,omitempty"`
	Message string       `json:"message"`
}

// MarshalJSON writes the event as one object with snake_case fields, durations in seconds. A tool error is written as
// in Agent Tools 3.4, a run error as {kind, by, message}.
func (e Event) MarshalJSON() ([]byte, error) {
	j := eventJSON{Kind: e.Kind, Key: e.Key, Tool: e.Tool, CallID: e.CallID(), Time: e.Time.UTC(), Attempt: e.Attempt, Replayed: e.Replayed, Cached: e.Cached,
		Message: e.Message, Text: e.Text, Usage: e.Usage}
	if e.Run != nil {
		j.Run, j.Workflow = e.Run.ID(), e.Run.Info().Name
	}
	node := e.Node
	var ne *NodeError
	if node == nil && errors.As(e.Err, &ne) {
		node = ne.Node
	}
	if node != nil {
		j.Node, j.Pos = node.ID, node.Pos
	}
	switch e.Kind {
	case RunEnd, NodeEnd, Retrying:
		j.DurationS = ptr(e.Duration.Seconds())
	case Progress:
		j.Done, j.Total = &e.Done, &e.Total
	}
	if e.Kind == Retrying {
		j.WaitS = ptr(e.Wait.Seconds())
	}
	j.Error = errorJSON(e.Err)
	return json.Marshal(j)
}

func errorJSON(err error) any {
	if err == nil {
		return nil
	}
	if te := value.ToolErrorOf(err); te != nil {
		return te
	}
	var re *RunError
	if errors.As(err, &re) {
		return runErrorJSON{re.Kind, re.By, re.Message}
	}
	if w := (*Waiting)(nil); errors.As(err, &w) {
		return runErrorJSON{Kind: "waiting", Message: w.Error()}
	}
	return value.Errorf(value.Unknown, "%v", err)
}

func (r *Run) observed() bool { return len(r.state.rt.observers) > 0 }

// Warn reports to observers a failure of n that does not stop the run and that no event of a call reports.
func (r *Run) Warn(n *Node, err error) {
	if err == nil || !r.observed() {
		return
	}
	message := r.redacted(err).Error()
	var ne *NodeError
	if !errors.As(err, &ne) {
		message = "node " + n.ID + ": " + message
	}
	r.emit(Event{Kind: Warning, Key: r.scope.path() + n.ID, Node: n, Time: r.Now(), Message: message})
}

func (r *Run) emit(e Event) {
	e.Run = r.state.root
	for _, o := range r.state.rt.observers {
		o.Observe(e)
	}
}
