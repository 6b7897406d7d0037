package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// event is one event of a stream that is in the journal. It has no inputs and outputs: /output and /calls have them.
type event struct {
	Kind      string           `json:"kind"`
	Line      int              `json:"line"` // of the journal: where a reader goes on
	Run       string           `json:"run"`
	Workflow  string           `json:"workflow,omitempty"`
	Key       string           `json:"key,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Attempt   int              `json:"attempt,omitempty"`
	Time      *time.Time       `json:"time,omitempty"`
	DurationS *float64         `json:"duration_s,omitempty"`
	Error     *value.ToolError `json:"error,omitempty"`
	Cached    bool             `json:"cached,omitempty"`
	Message   string           `json:"message,omitempty"`
	Choices   []string         `json:"choices,omitempty"`
	State     state            `json:"state,omitempty"`
	By        string           `json:"by,omitempty"` // who has answered
}

// reading makes events of the lines of one journal.
type reading struct {
	run   string
	begin time.Time
}

func (x *reading) at(since time.Duration) *time.Time {
	t := x.begin.Add(since).UTC()
	return &t
}

// event is the event of a line, nil for one that has none.
func (x *reading) event(n int, text []byte) *event {
	var l struct {
		Kind string        `json:"kind"`
		At   time.Duration `json:"at_ns"`
		journal.Record
		Begin    time.Time       `json:"begin"`
		Workflow string          `json:"workflow"`
		Outcome  journal.Outcome `json:"outcome"`
		Failure  string          `json:"failure"`
		Time     time.Time       `json:"at"`
		By       string          `json:"by"`
	}
	if json.Unmarshal(text, &l) != nil {
		return nil
	}
	e := &event{Line: n, Run: x.run, Key: l.Key, Tool: l.Tool, CallID: l.CallID, Attempt: l.Attempt}
	switch l.Kind {
	case journal.KindRun:
		x.begin = l.Begin
		e.Kind, e.Workflow, e.Time = string(runtime.RunStart), l.Workflow, x.at(0)
	case journal.KindResume:
		e.Kind, e.Time = "resume", x.at(l.At)
	case journal.KindIntent:
		e.Kind, e.Time = string(runtime.NodeStart), x.at(l.Start)
		if l.Tool == engine.HumanTool {
			var q runtime.Question
			_ = json.Unmarshal(l.Input, &q) // large ones are elsewhere
			e.Kind, e.Message, e.Choices = string(runtime.Asking), q.Text, q.Choices
		}
	case journal.KindEnd:
		if l.Cancelled == runtime.ByRun { // it has no result: a resumed run makes the call again
			return nil
		}
		took := max(l.End-l.Start, 0).Seconds()
		e.Kind, e.Time, e.DurationS, e.Error, e.Cached = string(runtime.NodeEnd), x.at(l.End), &took, l.Error, l.Cached
	case journal.KindAnswer:
		e.Kind, e.By = "answer", l.By
	case journal.KindFinish:
		e.Kind, e.Time, e.State, e.Message = string(runtime.RunEnd), x.at(l.At), stateOf(l.Outcome), l.Failure
	default:
		return nil
	}
	return e
}

// stream is an answer with events.
type stream struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	sse     bool
	reading
	last int   // line that was sent
	over state // of the run, as it was sent
}

// events streams the events of a run: server-sent events, or lines of JSON.
func (s *Server) events(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, _, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	f, leave := s.streams.follow(id, p.Tenant+"/"+p.Name)
	if f == nil {
		return fault(http.StatusTooManyRequests, "TOO_MANY_STREAMS", "too many event streams are open").later(5 * time.Second)
	}
	defer leave()
	_, next, _, _ := f.since(0)
	lines, err := s.o.Runs.Lines(id) // behind follow: what is not in it is news
	if err != nil {
		return err
	}
	x := &stream{s: s, w: w, control: http.NewResponseController(w), sse: !strings.Contains(r.Header.Get("Accept"), "application/x-ndjson"), reading: reading{run: id}}
	from, sync := from(r, len(lines))
	if sync && from > 0 && from == len(lines) && x.ended(lines) {
		w.WriteHeader(http.StatusNoContent) // readers that join again stop
		return nil
	}
	w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/x-ndjson"}[x.sse])
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	ok := !x.sse || x.put("retry: 2000\n\n")
	if !sync {
		ok = ok && x.send("resync", 0, []byte(`{"kind":"resync"}`))
	}
	if !ok || !x.lines(lines, from) {
		return nil
	}
	x.follow(r, f, next)
	return nil
}

// from is the line behind which a reader goes on, and whether there is such a line.
func from(r *http.Request, lines int) (n int, ok bool) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("from")
	}
	if text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > lines {
		return 0, false
	}
	return n, true
}

// ended reports whether a journal ends with the end of its run.
func (x *stream) ended(lines [][]byte) bool {
	e := x.event(len(lines), lines[len(lines)-1])
	return e != nil && e.State.over()
}

// follow sends news until the run has ended, the reader has gone or takes nothing, or the server stops.
func (x *stream) follow(r *http.Request, f *feed, next int) {
	beat := time.NewTicker(x.s.o.Beat)
	defer beat.Stop()
	for !x.over.over() {
		list, end, lost, changed := f.since(next)
		next = end
		if lost && !x.journal() {
			return
		}
		for _, n := range list {
			if !x.news(n) {
				return
			}
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-beat.C:
			if x.sse && !x.put(": \n\n") || !x.journal() { // another process may be at the run
				return
			}
		case <-r.Context().Done():
			return
		case <-x.s.streams.ended:
			x.send("bye", 0, []byte(`{"kind":"bye"}`))
			return
		}
	}
}

func (x *stream) news(n news) bool {
	switch {
	case n.n == 0:
		return x.send(n.kind, 0, n.data)
	case n.n <= x.last:
		return true
	}
	return x.line(n.n, n.data)
}

// journal sends the lines of the journal that were not sent.
func (x *stream) journal() bool {
	lines, err := x.s.o.Runs.Lines(x.run)
	return err == nil && x.lines(lines, x.last)
}

func (x *stream) lines(lines [][]byte, from int) bool {
	if len(lines) > 0 && x.begin.IsZero() {
		x.event(1, lines[0])
	}
	for i := from; i < len(lines); i++ {
		if !x.line(i+1, lines[i]) {
			return false
		}
	}
	x.last = max(x.last, from)
	return true
}

func (x *stream) line(n int, text []byte) bool {
	x.last = n
	e := x.event(n, text)
	if e == nil {
		return true
	}
	x.over = e.State
	data, err := json.Marshal(e)
	return err == nil && x.send(e.Kind, n, data)
}

// send sends one event; without a number it is none that a reader can go on behind.
func (x *stream) send(kind string, n int, data []byte) bool {
	if !x.sse {
		return x.put(string(data) + "\n")
	}
	var b bytes.Buffer
	b.WriteString("event: " + kind + "\n")
	if n > 0 {
		b.WriteString("id: " + strconv.Itoa(n) + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return x.put(b.String())
}

// put writes at once. A reader that takes nothing for too long is left.
func (x *stream) put(text string) bool {
	_ = x.control.SetWriteDeadline(time.Now().Add(x.s.o.Patience)) // a writer of another make may know none
	if _, err := x.w.Write([]byte(text)); err != nil {
		return false
	}
	return x.control.Flush() == nil
}
