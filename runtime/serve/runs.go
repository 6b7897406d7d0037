package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// state is what a run does.
type state string

const (
	running   state = "running" // or it waits for its turn
	waiting   state = "waiting" // for people
	succeeded state = "succeeded"
	failed    state = "failed"
	cancelled state = "cancelled"
	inDoubt   state = "in_doubt" // of a call that writes nobody knows whether it has happened
	stopped   state = "stopped"  // it does not go on by itself
)

func stateOf(o journal.Outcome) state {
	if o == journal.Open {
		return running
	}
	return state(o)
}

func (v state) over() bool { return v == succeeded || v == failed || v == cancelled }

// run is what is told about a run.
type run struct {
	ID        string          `json:"id"`
	Workflow  string          `json:"workflow"`
	State     state           `json:"state"`
	Begin     time.Time       `json:"begin"`
	DurationS float64         `json:"duration_s,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
	Error     *failure        `json:"error,omitempty"`
	Reason    string          `json:"reason,omitempty"` // why it is stopped
	Questions []question      `json:"questions,omitempty"`
	InDoubt   []string        `json:"in_doubt,omitempty"` // keys of calls
	Usage     *took           `json:"usage,omitempty"`
}

// failure is why a run failed.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Key     string `json:"key,omitempty"` // of the call
}

// took is what the calls of a run took.
type took struct {
	Calls   int       `json:"calls"`
	Tokens  int64     `json:"tokens"`
	CostUSD usage.USD `json:"cost_usd"`
}

// question is an open question.
type question struct {
	Run      string     `json:"run,omitempty"`
	Key      string     `json:"key"`
	Question string     `json:"question"`
	Type     string     `json:"type"`
	Choices  []string   `json:"choices,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	URL      string     `json:"url"`
}

// find reads the journal of a run that the principal may see. Others' runs do not exist.
func (s *Server) find(r *http.Request, p *Principal, need Right) (string, *journal.Journal, error) {
	if err := p.may(need); err != nil {
		return "", nil, err
	}
	id := r.PathValue("id")
	j, err := s.o.Runs.Read(id)
	if errors.Is(err, runs.ErrNoRun) {
		return "", nil, s.absent(r, id)
	}
	if err != nil {
		return "", nil, err
	}
	if !s.visible(j, p) {
		return "", nil, noRun()
	}
	return id, j, nil
}

func (s *Server) visible(j *journal.Journal, p *Principal) bool {
	h := j.Header()
	return s.workflows[h.Workflow] != nil && p.sees(h.Workflow) && (s.o.Auth == nil || h.Tenant == p.Tenant)
}

// describe is what a journal says about a run.
func (s *Server) describe(id string, j *journal.Journal) *run {
	h, end := j.Header(), j.Finish()
	v := &run{ID: id, Workflow: h.Workflow, State: stateOf(end.Outcome), Begin: h.Begin, DurationS: end.At.Seconds(), Usage: &took{}}
	s.mu.Lock()
	a, why := s.active[id], s.stopped[id]
	s.mu.Unlock()
	if a != nil && a.fresh && !a.hasBegun() { // it was begun once more with a key: it is none of the journal's
		a = nil
	}
	for _, r := range j.Records() {
		if r.Tool != engine.HumanTool {
			v.Usage.Calls++
		}
		v.Usage.Tokens += r.Tokens
		v.Usage.CostUSD += r.CostUSD
		if end.Outcome == journal.Failed && r.Key == end.Key && r.Error != nil {
			v.Error = &failure{string(r.Error.Code), end.Failure, end.Key}
		}
		if r.InDoubt() && a == nil {
			v.InDoubt = append(v.InDoubt, r.Key)
		}
	}
	switch v.State {
	case succeeded:
		v.Output = end.Output
	case failed:
		if v.Error == nil {
			v.Error = &failure{"UNKNOWN", end.Failure, end.Key}
		}
	case waiting:
		v.Questions = questionsOf(id, j)
	case running:
		switch {
		case a != nil:
			v.InDoubt = nil
		case why != "" && len(v.InDoubt) > 0:
			v.State, v.Reason = inDoubt, why
		case why != "":
			v.State, v.Reason = stopped, why
		}
	}
	if !(v.State == inDoubt || v.State == stopped) {
		v.InDoubt = nil
	}
	if a != nil && (v.State == waiting || v.State == cancelled || v.State == failed) { // it has just been resumed
		v.State, v.Questions, v.Error = running, nil, nil
	}
	return v
}

func questionsOf(id string, j *journal.Journal) []question {
	var all []question
	for _, r := range j.Questions() {
		var q runtime.Question
		if json.Unmarshal(r.Input, &q) != nil {
			continue
		}
		v := question{Key: r.Key, Question: q.Text, Type: q.Type, Choices: q.Choices, URL: (&url.URL{Path: "/v1/runs/" + id + "/questions/" + r.Key}).EscapedPath()}
		if r.Limit > 0 {
			until := j.Header().Begin.Add(r.Start + r.Limit)
			v.Until = &until
		}
		all = append(all, v)
	}
	return all
}

// replyRun answers with a run as its journal has it. A status of 0 is one that says how it is.
func (s *Server) replyRun(w http.ResponseWriter, r *http.Request, id string, status int) error {
	j, err := s.o.Runs.Read(id)
	if err != nil {
		return err
	}
	return s.send(w, r, s.describe(id, j), status)
}

// send answers with a run.
func (s *Server) send(w http.ResponseWriter, r *http.Request, v *run, status int) error {
	w.Header().Set("Location", "/v1/runs/"+v.ID)
	if status == http.StatusAccepted && !v.State.over() {
		w.Header().Set("Retry-After", "1")
	}
	if v.State == failed && r.URL.Query().Get("fail") == "status" {
		return v.failed()
	}
	return reply(w, status, v)
}

// failed is the problem of a run that failed.
func (v *run) failed() *problem {
	status := map[string]int{"VALIDATION_ERROR": http.StatusUnprocessableEntity, "POLICY_DENIED": http.StatusForbidden,
		"AUTH_REQUIRED": http.StatusFailedDependency, "RATE_LIMIT": http.StatusTooManyRequests, "TIMEOUT": http.StatusGatewayTimeout,
		"PROVIDER_ERROR": http.StatusBadGateway, "NETWORK_ERROR": http.StatusBadGateway}[v.Error.Code]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return fault(status, v.Error.Code, v.Error.Message).of(v.ID)
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	wait, _, err := s.patience(r)
	if err != nil {
		return err
	}
	if wait > 0 {
		if err := s.settled(r, id, wait); err != nil {
			return err
		}
		if j, err = s.o.Runs.Read(id); err != nil { // it may have ended behind the first look
			return err
		}
	}
	v := s.describe(id, j)
	tag := `"` + strconv.Itoa(len(j.Records())) + "-" + string(v.State) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return reply(w, http.StatusOK, v)
}

// output answers with the output alone.
func (s *Server) output(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	switch v := s.describe(id, j); v.State {
	case succeeded:
		return reply(w, http.StatusOK, v.Output)
	case failed:
		return v.failed()
	case cancelled:
		return fault(http.StatusGone, "CANCELLED", "the run was cancelled").of(id)
	default:
		return fault(http.StatusConflict, "NOT_OVER", "the run is "+string(v.State)).of(id).later(time.Second)
	}
}

const (
	page     = 50
	maxPage  = 500
	maxLooks = 5000 // runs that are read for one page
)

// list answers with a page of runs, the newest first.
func (s *Server) list(w http.ResponseWriter, r *http.Request, p *Principal) error {
	if err := p.may(MayRead); err != nil {
		return err
	}
	q := r.URL.Query()
	for name := range q {
		if name != "workflow" && name != "state" && name != "before" && name != "limit" {
			return fault(http.StatusBadRequest, "VALIDATION_ERROR", "unknown filter "+strconv.Quote(name)+"; there are workflow, state, before and limit")
		}
	}
	most := page
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return fault(http.StatusBadRequest, "VALIDATION_ERROR", "limit is a number from 1 to "+strconv.Itoa(maxPage))
		}
		most = n
	}
	if name := q.Get("workflow"); name != "" {
		if _, err := s.workflow(name, p); err != nil {
			return err
		}
	}
	want := state(q.Get("state"))
	switch want {
	case "", running, waiting, succeeded, failed, cancelled, inDoubt, stopped:
	default:
		return fault(http.StatusBadRequest, "VALIDATION_ERROR", "state is one of running, waiting, succeeded, failed, cancelled, in_doubt and stopped")
	}
	ids, err := s.o.Runs.Latest(q.Get("workflow"))
	if err != nil {
		return err
	}
	if before := q.Get("before"); before != "" {
		at := indexOf(ids, before)
		if at < 0 {
			return fault(http.StatusBadRequest, "VALIDATION_ERROR", "before is not a run of this list")
		}
		ids = ids[at+1:]
	}
	found, next, looks := []*run{}, "", 0
	for _, id := range ids {
		if len(found) == most || looks == maxLooks {
			break
		}
		looks++
		next = id
		j, err := s.o.Runs.Read(id)
		if err != nil || !s.visible(j, p) || q.Has("workflow") && j.Header().Workflow != q.Get("workflow") { // ids of two may begin alike
			continue
		}
		if v := s.describe(id, j); want == "" || v.State == want {
			v.Output, v.Usage = nil, nil
			found = append(found, v)
		}
	}
	if looks == len(ids) {
		next = ""
	}
	return reply(w, http.StatusOK, map[string]any{"runs": found, "next": next})
}

func indexOf(ids []string, id string) int {
	for i := range ids {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

// calls answers with the envelopes of a run's calls, or of one of them by its key: one for each attempt.
func (s *Server) calls(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	if !s.o.ExposeCalls {
		return fault(http.StatusForbidden, "POLICY_DENIED", "this server does not expose inputs and outputs of calls")
	}
	list, key := []engine.Envelope{}, r.PathValue("key")
	for _, rec := range j.Records() {
		if !rec.Done || key != "" && rec.Key != key {
			continue
		}
		name, version := engine.SplitTool(rec.Tool)
		begin := j.Header().Begin
		list = append(list, engine.Envelope{CallID: rec.CallID, Name: name, Version: version, Input: rec.Input, Output: rec.Output, Error: rec.Error,
			TStart: begin.Add(rec.Start), TEnd: begin.Add(rec.End), Cached: rec.Cached, Truncated: rec.Truncated, Attachments: rec.Attachments})
	}
	if key != "" && len(list) == 0 {
		return fault(http.StatusNotFound, "NOT_FOUND", "the run has no finished call with this key").of(id)
	}
	return reply(w, http.StatusOK, map[string]any{"calls": list})
}

// remove removes a run that is over.
func (s *Server) remove(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayAdmin)
	if err != nil {
		return err
	}
	if v := s.describe(id, j); !v.State.over() {
		return fault(http.StatusConflict, "NOT_OVER", "the run is "+string(v.State)).of(id)
	}
	err = s.o.Runs.Remove(id)
	switch {
	case errors.Is(err, runs.ErrBusy):
		return busy(id)
	case errors.Is(err, runs.ErrNoRun):
		return noRun()
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func busy(id string) *problem {
	return fault(http.StatusConflict, "BUSY", "the run is in progress").of(id).later(time.Second)
}

// sentence makes a message of an error of package runs, without the run's name.
func sentence(err error, id string) string {
	return strings.ReplaceAll(err.Error(), " of run "+id, "")
}
