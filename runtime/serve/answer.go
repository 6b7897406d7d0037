package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// settling is how long an answer waits for a run that is about to stop for it.
const settling = 2 * time.Second

// allQuestions answers with the open questions of all runs that the principal may see.
func (s *Server) allQuestions(w http.ResponseWriter, _ *http.Request, p *Principal) error {
	if err := p.may(MayRead); err != nil {
		return err
	}
	s.mu.Lock()
	ids := make([]string, 0, len(s.waiting))
	for id := range s.waiting {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	slices.Sort(ids)
	list, more := []question{}, false
	for _, id := range ids {
		j, err := s.o.Runs.Read(id)
		if err != nil || !s.visible(j, p) || j.Finish().Outcome != journal.Waiting {
			continue
		}
		if len(list) >= maxPage {
			more = true
			break
		}
		for _, q := range questionsOf(id, j) {
			q.Run = id
			list = append(list, q)
		}
	}
	return reply(w, http.StatusOK, map[string]any{"questions": list, "more": more})
}

// question answers with one question.
func (s *Server) question(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	open := questionsOf(id, j)
	if r.PathValue("key") == "" {
		if open == nil {
			open = []question{}
		}
		return reply(w, http.StatusOK, map[string]any{"questions": open})
	}
	for _, q := range open {
		if q.Key == r.PathValue("key") {
			return reply(w, http.StatusOK, q)
		}
	}
	return fault(http.StatusNotFound, "NOT_FOUND", "the run has no open question with this key").of(id)
}

// answer takes the answer to a question, writes it down and goes on with the run.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayAnswer)
	if err != nil {
		return err
	}
	if s.describe(id, j).State.over() {
		return ended(id)
	}
	wait, _, err := s.patience(r)
	if err != nil {
		return err
	}
	body, err := read(w, r, s.o.MaxAnswer)
	if err != nil {
		return err
	}
	var given struct {
		Answer  value.Value `json:"answer"`
		Comment string      `json:"comment" default:"\"\""`
	}
	if err := value.Decode(body, &given); err != nil {
		return misfit(err)
	}
	text := given.Answer.String()
	switch given.Answer.Kind() {
	case value.StringKind, value.BoolKind, value.IntKind, value.FloatKind:
	default:
		return misfit(value.Invalid("answer: a string, number or bool expected"))
	}
	said := journal.Answer{Key: r.PathValue("key"), Answer: text, By: p.Name, Comment: given.Comment}
	if err := s.respond(r, id, said); err != nil {
		return err
	}
	trace := traceOf(r)
	traced(s.o.Log, trace).InfoContext(r.Context(), "question answered", "run", id, "key", said.Key, "principal", p.Name)
	a, err := s.goOn(id, &goingOn{trace: trace, answer: said.Key})
	if err != nil { // it is written down, and the next process goes on
		traced(s.o.Log, trace).Warn("run does not continue", "run", id, "error", err)
		return s.replyRun(w, r, id, http.StatusOK)
	}
	await(r, a, wait)
	return s.replyRun(w, r, id, http.StatusOK)
}

// respond writes an answer down.
func (s *Server) respond(r *http.Request, id string, said journal.Answer) error {
	s.mu.Lock()
	a := s.active[id]
	s.mu.Unlock()
	if a != nil { // it may have asked just now
		if j, err := s.o.Runs.Read(id); err == nil {
			if first, ok := j.Answered(said.Key); ok {
				return answered(id, &first)
			}
		}
		await(r, a, settling)
	}
	err := unlocked(r.Context(), func() error { return s.o.Runs.RespondAs(r.Context(), id, said) })
	var te *value.ToolError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runs.ErrNoQuestion):
		return fault(http.StatusNotFound, "NOT_FOUND", sentence(err, id)).of(id)
	case errors.Is(err, runs.ErrWrongAnswer) && errors.As(err, &te):
		p := fault(http.StatusUnprocessableEntity, string(te.Code), "the answer does not fit the question").of(id)
		p.Errors = []mistake{{"/answer", string(te.Code), te.Message}}
		return p
	case errors.Is(err, runs.ErrLate):
		j, rerr := s.o.Runs.Read(id)
		if rerr == nil && stateOf(j.Finish().Outcome).over() {
			return ended(id)
		}
		if rerr == nil {
			if first, ok := j.Answered(said.Key); ok {
				return answered(id, &first)
			}
		}
		return fault(http.StatusConflict, "ANSWERED", sentence(err, id)).of(id)
	case errors.Is(err, runs.ErrBusy):
		return busy(id)
	case errors.Is(err, runs.ErrNoRun):
		return noRun()
	}
	return err
}

// answered is the problem of an answer that comes second.
func answered(id string, first *journal.Answer) *problem {
	return fault(http.StatusConflict, "ANSWERED", cmp.Or(first.By, "somebody")+" has answered at "+first.At.Format(time.RFC3339)).of(id)
}

func ended(id string) *problem {
	return fault(http.StatusGone, "ENDED", "the run has ended").of(id)
}

// cancel stops a run for good.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayCancel)
	if err != nil {
		return err
	}
	wait, _, err := s.patience(r)
	if err != nil {
		return err
	}
	v := s.describe(id, j)
	if v.State.over() {
		return fault(http.StatusConflict, "ENDED", "the run has ended: it "+map[state]string{succeeded: "succeeded", failed: "failed", cancelled: "was cancelled"}[v.State]).of(id)
	}
	trace := traceOf(r)
	a, err := s.goOn(id, &goingOn{trace: trace, cancelled: true})
	if err != nil {
		return err
	}
	traced(s.o.Log, trace).InfoContext(r.Context(), "run cancelled", "run", id, "principal", p.Name)
	await(r, a, wait)
	return s.replyRun(w, r, id, http.StatusAccepted)
}

// resume goes on with a run that was stopped.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayAdmin)
	if err != nil {
		return err
	}
	wait, _, err := s.patience(r)
	if err != nil {
		return err
	}
	body, err := read(w, r, s.o.MaxBody)
	if err != nil {
		return err
	}
	var how struct {
		Again   bool                   `json:"again" default:"false"`
		InDoubt map[string]value.Value `json:"in_doubt,omitempty"`
	}
	if err := value.Decode(body, &how); err != nil {
		return misfit(err)
	}
	if v := s.describe(id, j); v.State == succeeded || v.State == failed && !how.Again {
		return fault(http.StatusConflict, "ENDED", "the run is finished; set again to retry a failed call").of(id)
	}
	c := runs.Continue{Again: how.Again, Decide: func(r journal.Record, _ *flow.Doubt) (journal.Decision, bool) {
		given, ok := how.InDoubt[r.Key]
		if !ok {
			return journal.Decision{}, false
		}
		if given.Kind() == value.StringKind && given.String() == "again" {
			return journal.Decision{Again: true}, true
		}
		text, err := json.Marshal(given)
		return journal.Decision{Output: text}, err == nil
	}}
	a, err := s.goOn(id, &goingOn{Continue: c, trace: traceOf(r)})
	if err != nil {
		return err
	}
	if !a.begins() && errors.Is(a.err, runs.ErrBusy) {
		return busy(id)
	}
	await(r, a, wait)
	return s.replyRun(w, r, id, http.StatusAccepted)
}
