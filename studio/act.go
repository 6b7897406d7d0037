package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

// started is a program that the page has started.
type started struct {
	cmd     *exec.Cmd
	said    tail
	scratch string // folder that is removed when it ends; empty: none

	mu   sync.Mutex // guards the following
	over bool
	code int

	done chan struct{} // closed when it is over
}

// tail keeps the end of what a program prints.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 16 << 10 // bytes

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailLength; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text), "?")
}

// decode reads the body of a request.
func decode(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return problemf(http.StatusBadRequest, "the body cannot be read", err.Error())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return problemf(http.StatusBadRequest, "the body has more than one value", "")
	}
	return nil
}

// launch starts a command of flowgen. The program goes on when the page is closed.
func (s *Server) launch(stdin []byte, args ...string) *started {
	st := &started{cmd: s.opts.Command(args...), done: make(chan struct{})}
	st.cmd.Stdin = bytes.NewReader(stdin)
	st.cmd.Stderr = &st.said
	detach(st.cmd)
	return st
}

func (st *started) start() error {
	if err := st.cmd.Start(); err != nil {
		st.clear()
		return err
	}
	go func() {
		err := st.cmd.Wait()
		st.clear()
		defer close(st.done)
		st.mu.Lock()
		defer st.mu.Unlock()
		st.over = true
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			st.code = exit.ExitCode()
		}
	}()
	return nil
}

func (st *started) clear() {
	if st.scratch != "" {
		_ = os.RemoveAll(st.scratch)
	}
}

func (st *started) ended() (bool, int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.over, st.code
}

// projectFile refuses what is none of the project's files: no name from a page is used as a path.
func (s *Server) projectFile(file string) error {
	names, err := s.opts.Project.Files()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == file {
			return nil
		}
	}
	return problemf(http.StatusNotFound, "no such workflow", "the folder has no file "+strconv.Quote(file))
}

// begin starts a new run, and answers with its id as soon as it is recorded.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		File  string          `json:"file"`
		Input json.RawMessage `json:"input"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	if err := s.projectFile(body.File); err != nil {
		return nil, err
	}
	flow, err := s.opts.Project.Workflow(body.File)
	if err != nil {
		return nil, err
	}
	before, err := s.opts.Runs.Latest(flow.Name)
	if err != nil {
		return nil, err
	}
	if len(body.Input) == 0 {
		body.Input = json.RawMessage("{}")
	}
	st := s.launch(body.Input, append(programOf(flow, "run"), "--runs", s.opts.Runs.Dir(), "--input-json", "-")...)
	if err := st.start(); err != nil {
		return nil, err
	}
	return s.recorded(w, r, st, flow.Name, before)
}

// programOf begins the arguments of a command that starts the program of a workflow.
func programOf(w *Workflow, verb string) []string {
	if w.OwnMain {
		return []string{verb, "--main", w.File}
	}
	return []string{verb, w.File}
}

func (s *Server) programOf(verb, file string) []string {
	if w, err := s.opts.Project.Workflow(file); err == nil {
		return programOf(w, verb)
	}
	return []string{verb, file}
}

// commandOf is such a command as one would write it.
func (s *Server) commandOf(verb, file string) string {
	return "flowgen " + strings.Join(s.programOf(verb, file), " ")
}

// recorded waits until a program that was started has recorded a run that is not one of those before, or has ended.
func (s *Server) recorded(w http.ResponseWriter, r *http.Request, st *started, workflow string, before []string) (any, error) {
	known := map[string]bool{}
	for _, id := range before {
		known[id] = true
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		over, code := st.ended()
		ids, err := s.opts.Runs.Latest(workflow)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if size, err := s.opts.Runs.Size(id); !known[id] && err == nil && size > 0 {
				s.keep(id, st)
				w.WriteHeader(http.StatusCreated)
				return nil, json.NewEncoder(w).Encode(map[string]string{"run": id})
			}
		}
		if over {
			return nil, problemf(http.StatusUnprocessableEntity, "the run did not start", "exit code "+strconv.Itoa(code)+": "+st.said.String())
		}
		select {
		case <-r.Context().Done():
			return nil, problemf(http.StatusRequestTimeout, "the page was closed", "")
		case <-s.stopped.Done():
			return nil, problemf(http.StatusServiceUnavailable, "studio ends", "")
		case <-tick.C:
		}
	}
}

// maxStarted bounds how many programs are remembered.
const maxStarted = 1000

func (s *Server) keep(run string, st *started) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, old := range s.started {
		if over, _ := old.ended(); over && len(s.started) >= maxStarted {
			delete(s.started, id)
		}
	}
	s.started[run] = st
}

// resume goes on with a run.
func (s *Server) resume(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Again bool `json:"again"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	if _, err := s.opts.Runs.Size(id); err != nil {
		return nil, err
	}
	done, err := s.turnOf(r.Context(), id)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.goOn(id, body.Again)
}

// A turn is what requests that answer or continue a run take one after the other.
type turn struct {
	taken chan struct{} // has room for one
	users int           // that have it or wait for it
}

// turnOf waits for the turn of a run, and returns what ends it. An answer locks the run for a moment, even one that is too late: without
// turns, the program that an earlier answer starts can find the run in use and not continue it.
func (s *Server) turnOf(ctx context.Context, id string) (done func(), err error) {
	s.mu.Lock()
	t := s.turns[id]
	if t == nil {
		t = &turn{taken: make(chan struct{}, 1)}
		s.turns[id] = t
	}
	t.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(s.turns, id)
		}
	}
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken; leave() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.stopped.Done():
		err = problemf(http.StatusServiceUnavailable, "studio ends", "")
	}
	leave()
	return nil, err
}

// goOn starts the program that goes on with a run.
func (s *Server) goOn(id string, again bool) (any, error) {
	if s.opts.Runs.Busy(id) {
		return nil, runs.ErrBusy
	}
	reader, err := s.opts.Runs.Follow(id)
	if err != nil {
		return nil, err
	}
	if _, _, err := reader.Next(); err != nil {
		return nil, err
	}
	file, _, _ := s.fileOf(reader.Header().Workflow)
	if file == "" {
		return nil, problemf(http.StatusConflict, "no file of this folder is the workflow "+reader.Header().Workflow, "start studio in the folder of the workflow")
	}
	args := append(s.programOf("resume", file), id, "--runs", s.opts.Runs.Dir())
	if again {
		args = append(args, "--again")
	}
	st := s.launch(nil, args...)
	if err := st.start(); err != nil {
		return nil, err
	}
	s.keep(id, st)
	size, _ := s.opts.Runs.Size(id)
	for { // until it has written, or has refused
		over, code := st.ended()
		if now, _ := s.opts.Runs.Size(id); now != size || over && code == 0 {
			return map[string]string{"run": id, "command": s.commandOf("resume", file) + " " + id}, nil
		}
		if over {
			return nil, problemf(http.StatusUnprocessableEntity, "the run does not continue", strings.TrimSpace(st.said.String()))
		}
		select {
		case <-s.stopped.Done():
			return nil, problemf(http.StatusServiceUnavailable, "studio ends", "")
		case <-time.After(lookEvery):
		}
	}
}

// answer writes what a person says to a question, and goes on with the run where that is allowed.
func (s *Server) answer(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		Key    string `json:"key"`
		Answer string `json:"answer"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	done, err := s.turnOf(r.Context(), id)
	if err != nil {
		return nil, err
	}
	defer done()
	switch err := s.respond(r.Context(), id, body.Key, body.Answer); {
	case errors.Is(err, runs.ErrLate):
		return nil, problemf(http.StatusGone, "the question is no longer open", s.answered(id, body.Key, err))
	case errors.Is(err, runs.ErrBusy):
		return nil, problemf(http.StatusConflict, "the run cannot take an answer now", err.Error()+": answer where it runs, or try again later")
	case errors.Is(err, runs.ErrWrongAnswer):
		return nil, problemf(http.StatusUnprocessableEntity, err.Error(), "")
	case err != nil:
		return nil, err
	}
	if s.opts.NoRun {
		return map[string]string{"run": id, "note": "the answer is written; resume the run to continue"}, nil
	}
	if out, err := s.goOn(id, false); err == nil {
		return out, nil
	} else if !s.stillOpen(id) {
		return map[string]string{"run": id}, nil // somebody else goes on with it
	} else {
		return map[string]string{"run": id, "note": "the answer is written, but the run does not continue: " + problemOf(err).Title + ": " + problemOf(err).Detail}, nil
	}
}

// answered says what somebody else has answered to a question, or else why it is open no more.
func (s *Server) answered(id, key string, late error) string {
	if r, err := s.opts.Runs.Follow(id); err == nil && r.All() == nil {
		if answer, ok := r.Answer(key); ok {
			return "it was answered with " + strconv.Quote(value.Clip(answer, 200))
		}
	}
	return late.Error()
}

// respond writes an answer. A program that has just asked may need a moment to end, and others hold the run longer.
func (s *Server) respond(ctx context.Context, id, key, answer string) error {
	for start := time.Now(); ; {
		err := s.opts.Runs.Respond(ctx, id, key, answer)
		if !errors.Is(err, runs.ErrBusy) || time.Since(start) > busyFor {
			return err
		}
		select {
		case <-s.stopped.Done():
			return err
		case <-ctx.Done():
			return err
		case <-time.After(lookEvery):
		}
	}
}

// stillOpen reports whether a run has not ended.
func (s *Server) stillOpen(id string) bool {
	r, err := s.opts.Runs.Follow(id)
	if err != nil || r.All() != nil {
		return false
	}
	return r.Finish().Outcome == journal.Waiting || r.Finish().Outcome == journal.Open && !s.opts.Runs.Busy(id)
}

// cancel stops a program that the page has started, as Ctrl-C does.
func (s *Server) cancel(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct{}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	st := s.started[r.PathValue("id")]
	s.mu.Unlock()
	if st == nil {
		return nil, problemf(http.StatusConflict, "the run was not started here", "press Ctrl-C where it was started")
	}
	if over, _ := st.ended(); over {
		return nil, problemf(http.StatusConflict, "the run has ended", "")
	}
	if err := st.cmd.Process.Signal(os.Interrupt); err != nil {
		return nil, err
	}
	return map[string]string{"run": r.PathValue("id")}, nil
}

// maxEdits bounds how many edits are remembered that nobody has applied.
const maxEdits = 100

// propose answers with the edit that an operation makes. Nothing is written.
func (s *Server) propose(_ http.ResponseWriter, r *http.Request) (any, error) {
	var op Operation
	if err := decode(r, &op); err != nil {
		return nil, err
	}
	if err := s.projectFile(op.File); err != nil {
		return nil, err
	}
	edit, err := s.opts.Project.Propose(op)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"id": s.keepEdit(op, edit.Diff), "diff": edit.Diff, "notes": edit.Notes}
	if edit.Info != nil {
		out["graph"], out["node"] = picture.Of(cli.ShapeOf(edit.Info)), edit.Node
	}
	return out, nil
}

func (s *Server) keepEdit(op Operation, diff string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strconv.Itoa(len(s.order)+1) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	s.edits[id], s.diffs[id] = op, diff
	if s.order = append(s.order, id); len(s.order) > maxEdits {
		delete(s.edits, s.order[0])
		delete(s.diffs, s.order[0])
		s.order = s.order[1:]
	}
	return id
}

// apply writes an edit that was shown, if it still is what was shown.
func (s *Server) apply(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct{}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	op, ok := s.edits[r.PathValue("id")]
	shown := s.diffs[r.PathValue("id")]
	s.mu.Unlock()
	if !ok {
		return nil, problemf(http.StatusNotFound, "no such edit", "")
	}
	edit, err := s.opts.Project.Apply(op, shown)
	if errors.Is(err, ErrStale) {
		return nil, &problem{Status: http.StatusConflict, Title: err.Error(), Edit: edit}
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	delete(s.edits, r.PathValue("id"))
	s.mu.Unlock()
	return edit, nil
}
