package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// begin begins a run, and waits for its end as long as the request asks.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, p *Principal) error {
	if err := p.may(MayStart); err != nil {
		return err
	}
	workflow, err := s.workflow(r.PathValue("name"), p)
	if err != nil {
		return err
	}
	wait, applied, err := s.patience(r)
	if err != nil {
		return err
	}
	id, named, err := s.runID(workflow.Name(), p, r)
	if err != nil {
		return err
	}
	body, err := read(w, r, s.o.MaxBody)
	if err != nil {
		return err
	}
	input, err := workflow.Canon(body)
	if err != nil {
		return misfit(err)
	}
	n := &wanted{workflow, p, input, named, traceOf(r)}
	a, known, err := s.beginOrFind(n, id)
	for errors.Is(err, errTaken) {
		id = s.newID(workflow.Name())
		a, known, err = s.beginOrFind(n, id)
	}
	if err != nil {
		return err
	}
	if a == nil { // it is over
		return s.replyRun(w, r, id, http.StatusOK)
	}
	if !known {
		traced(s.o.Log, n.trace).InfoContext(r.Context(), "run begun", "run", id, "workflow", workflow.Name(), "principal", p.Name)
	}
	await(r, a, wait)
	if applied {
		w.Header().Set("Preference-Applied", strings.SplitN(r.Header.Get("Prefer"), ",", 2)[0])
	}
	return s.replyActive(w, r, a, known, wait > 0)
}

// errTaken is the error of a new run whose id was made twice: another began in the same millisecond and drew the same number.
var errTaken = errors.New("another run has the id")

// wanted is the run that a request is to begin.
type wanted struct {
	workflow  *Workflow
	principal *Principal
	input     []byte
	named     bool   // by an Idempotency-Key
	trace     string // that the request is part of
}

// beginOrFind returns the run with an id: a new one, one that goes on, or nil when it does not. known says that it is not new.
func (s *Server) beginOrFind(n *wanted, id string) (a *active, known bool, err error) {
	if n.named {
		if j, err := s.o.Runs.Read(id); err == nil {
			if err := sameInput(id, j.Header().Input, n.input); err != nil {
				return nil, false, err
			}
			s.mu.Lock()
			a := s.active[id]
			s.mu.Unlock()
			if a != nil && !a.begins() { // it was begun a second time, or cannot go on
				a = nil
			}
			return a, true, nil
		} else if !errors.Is(err, runs.ErrNoRun) {
			return nil, false, err
		} else if gone, err := s.o.Runs.Removed(id); err != nil {
			return nil, false, err
		} else if gone {
			return nil, false, fault(http.StatusGone, "REMOVED", "the run of this Idempotency-Key was removed").of(id)
		}
	}
	a, known, err = s.admit(n.workflow, id, n.principal.Tenant, true)
	if err != nil {
		return nil, false, err
	}
	if known && !n.named {
		return nil, false, errTaken
	}
	if !known {
		a.trace = n.trace
		s.launch(a, n.input, func(info *flow.Info) (*runs.Engine, error) {
			e := s.o.Runs.New(info)
			e.Promise()
			return e, nil
		})
	}
	if found, again, err := s.hasBegun(a, n.named, n.input); found == nil || err != nil {
		return found, again, err
	}
	if known { // it was not recorded yet when it was looked for
		err = sameInput(id, a.input, n.input)
	}
	return a, known, err
}

// hasBegun waits until the beginning of a run is recorded.
func (s *Server) hasBegun(a *active, named bool, input []byte) (*active, bool, error) {
	if !a.begins() {
		return s.notBegun(a, a.id, named, input)
	}
	return a, false, nil
}

// notBegun is what comes of a run that has not begun: another process may have begun it with the same key.
func (s *Server) notBegun(a *active, id string, named bool, input []byte) (*active, bool, error) {
	if !named && errors.Is(a.err, runs.ErrExists) {
		return nil, false, errTaken
	}
	if !errors.Is(a.err, runs.ErrExists) {
		s.o.Log.Error("run not recorded", "run", id, "error", a.err)
		return nil, false, fault(http.StatusServiceUnavailable, "NOT_RECORDED", "the run cannot be recorded, so it was not started").later(5 * time.Second)
	}
	j, err := s.o.Runs.Read(id)
	if err != nil {
		return nil, false, err
	}
	return nil, true, sameInput(id, j.Header().Input, input)
}

// sameInput holds an input to the one that the run with its key was begun with.
func sameInput(id string, recorded, input []byte) error {
	if bytes.Equal(recorded, input) || strings.Contains(string(recorded), redact.Redacted) {
		return nil
	}
	return fault(http.StatusUnprocessableEntity, "KEY_REUSED", "the Idempotency-Key was used with another input").of(id)
}

// runID is the id of the run that a request is to begin. An Idempotency-Key decides it: so every process and every replica
// finds the run again that the key has begun.
func (s *Server) runID(workflow string, p *Principal, r *http.Request) (id string, named bool, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return s.newID(workflow), false, nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return "", false, fault(http.StatusBadRequest, "VALIDATION_ERROR", "an Idempotency-Key has 1 to 255 printable characters of ASCII")
	}
	h := sha256.New()
	for _, part := range []string{p.Tenant, p.Name, workflow, key} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	sum := hex.EncodeToString(h.Sum(nil)[:16])
	if err := s.moved(r, s.keeper(sum)); err != nil {
		return "", false, err
	}
	return s.prefix() + strings.TrimLeft(engine.RunIDPrefix(workflow), "_") + "k" + sum, true, nil
}

// patience is how long a request waits for the end of its run (RFC 7240).
func (s *Server) patience(r *http.Request) (wait time.Duration, applied bool, err error) {
	for _, header := range r.Header.Values("Prefer") {
		for part := range strings.SplitSeq(header, ",") {
			name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
			if !strings.EqualFold(name, "wait") {
				applied = applied || strings.EqualFold(name, "respond-async") // which is how it is without wait
				continue
			}
			n, err := strconv.ParseUint(strings.Trim(v, `"`), 10, 31)
			if err != nil {
				return 0, false, fault(http.StatusBadRequest, "VALIDATION_ERROR", "Prefer: wait is a number of seconds, as in wait=10")
			}
			return min(time.Duration(n)*time.Second, s.o.MaxWait), true, nil
		}
	}
	return 0, applied, nil
}

// await waits for the end of a run, or of the request, or of a time.
func await(r *http.Request, a *active, wait time.Duration) {
	if wait <= 0 {
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-a.done:
	case <-t.C:
	case <-r.Context().Done():
	}
}

// read reads a body of JSON.
func read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fault(http.StatusUnsupportedMediaType, "VALIDATION_ERROR", "the body must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fault(http.StatusRequestEntityTooLarge, "VALIDATION_ERROR", "the body has more than "+strconv.FormatInt(most, 10)+" bytes")
	case err != nil:
		return nil, fault(http.StatusBadRequest, "VALIDATION_ERROR", "the body cannot be read")
	}
	if err := value.Check(body); err != nil {
		detail := err.Error()
		if te := value.ToolErrorOf(err); te != nil {
			detail = te.Message
		}
		return nil, fault(http.StatusBadRequest, "VALIDATION_ERROR", "the body is not JSON: "+detail)
	}
	return body, nil
}

// codeOf is the code of a failure, one of the nine.
func codeOf(err error) string {
	if te := value.ToolErrorOf(err); te != nil {
		return string(te.Code)
	}
	if err == nil {
		return ""
	}
	return string(value.Unknown)
}

// replyActive answers with a run that this process is at, or was. A new one that nobody has waited for is not over yet for who
// has asked, so that the answer does not depend on how fast it is.
func (s *Server) replyActive(w http.ResponseWriter, r *http.Request, a *active, known, waited bool) error {
	over := known || waited
	select {
	case <-a.done:
	default:
		over = false
	}
	if !over {
		v := &run{ID: a.id, Workflow: a.workflow.Name(), State: running, Begin: a.since.UTC()}
		return s.send(w, r, v, http.StatusAccepted)
	}
	v := &run{ID: a.id, Workflow: a.workflow.Name(), State: stateOf(a.end.Outcome), Begin: a.since.UTC()}
	switch a.end.Outcome {
	case journal.Open, journal.Waiting, journal.Cancelled: // there is more to say
		return s.replyRun(w, r, a.id, http.StatusAccepted)
	case journal.Succeeded:
		v.Output = json.RawMessage(a.end.Output)
	case journal.Failed:
		v.Error = &failure{Code: a.code, Message: a.end.Failure, Key: a.end.Key}
	}
	status := http.StatusCreated
	if known {
		status = http.StatusOK
	}
	return s.send(w, r, v, status)
}
