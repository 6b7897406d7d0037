package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// A Temporal reads runs on Temporal with a program of `build --engine temporal`, which is a client of it: studio is none.
type Temporal struct {
	Program string // as the page shows it
	// List returns the newest runs first.
	List func(ctx context.Context) ([]TemporalRun, error)
	// Copy writes the journal of a run as it is now into a folder, where it is the only run, and returns the folder with the run's name
	// there. It is the folder of before, given as last, when nothing has changed.
	Copy func(ctx context.Context, id string, last *runs.Folder) (folder *runs.Folder, name string, err error)
}

// A TemporalRun is a run as Temporal lists it.
type TemporalRun struct {
	ID       string    `json:"id"`
	Workflow string    `json:"workflow"`
	Status   string    `json:"status"` // running, completed, failed, canceled, terminated, timed_out
	Started  time.Time `json:"started"`
	Closed   time.Time `json:"closed,omitzero"`
}

// onTemporal begins the ids of runs on Temporal.
const onTemporal = "temporal:"

const (
	copyAgain = 3 * time.Second  // an open run, at most
	listAgain = 10 * time.Second // each time starts the program
	maxCopies = 20               // runs whose copies are kept
)

func (one *TemporalRun) state() runState {
	switch one.Status {
	case "running", "continued_as_new":
		return stateRunning
	case "completed":
		return stateSucceeded
	case "canceled":
		return stateCancelled
	}
	return stateFailed
}

// temporalList answers with runs on Temporal.
func (s *Server) temporalList(r *http.Request) (any, error) {
	t := s.opts.Temporal
	if t == nil {
		return nil, problemf(http.StatusNotFound, "no program for runs on Temporal is configured", "start studio with --temporal PROGRAM")
	}
	all, err := t.List(r.Context())
	if err != nil {
		return nil, problemf(http.StatusBadGateway, t.Program+" cannot list runs on Temporal", err.Error())
	}
	out := &runList{Runs: []aRun{}, Counts: map[runState]int{}, Names: []string{}, Folder: "Temporal, read by " + t.Program, Server: true}
	for i := range all {
		one := &all[i]
		if !slices.Contains(out.Names, one.Workflow) {
			out.Names = append(out.Names, one.Workflow)
		}
		state := one.state()
		if want := r.URL.Query().Get("state"); want != "" && want != string(state) {
			continue
		}
		if w := r.URL.Query().Get("workflow"); w != "" && w != one.Workflow {
			continue
		}
		a := aRun{ID: onTemporal + one.ID, Workflow: one.Workflow, Begin: one.Started, State: state}
		if !one.Closed.IsZero() {
			a.Took = one.Closed.Sub(one.Started)
		}
		out.Runs = append(out.Runs, a)
	}
	out.Total = len(out.Runs)
	return out, nil
}

// A copied run is one of Temporal as it was a moment ago.
type copied struct {
	mu     sync.Mutex // guards the following: one copy is made at a time
	view   *Server    // over the folder with the copy
	folder *runs.Folder
	at     time.Time
	over   bool
}

// copies are those that were asked for last.
type copies struct {
	mu   sync.Mutex
	runs map[string]*copied
}

func (c *copies) of(id string) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[string]*copied{}
	}
	if c.runs[id] == nil {
		if len(c.runs) >= maxCopies {
			clear(c.runs) // they are made again when somebody looks
		}
		c.runs[id] = &copied{}
	}
	return c.runs[id]
}

// viewed is a server over the copy of a run, which says of it what is said of runs of a folder. It is the same one as long as the run is.
func (s *Server) viewed(ctx context.Context, id string) (*Server, error) {
	t := s.opts.Temporal
	if t == nil {
		return nil, problemf(http.StatusNotFound, "the run is one on Temporal", "start studio with --temporal PROGRAM")
	}
	one := s.copies.of(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.view != nil && (one.over || time.Since(one.at) < copyAgain) {
		return one.view, nil
	}
	folder, name, err := t.Copy(ctx, id, one.folder)
	if err != nil {
		return nil, problemf(http.StatusBadGateway, t.Program+" cannot read run "+id, err.Error())
	}
	if one.at = time.Now(); folder == one.folder {
		return one.view, nil
	}
	reader, err := folder.Follow(name)
	if err == nil {
		err = reader.All()
	}
	if err != nil {
		return nil, err
	}
	one.over = reader.Finish().Outcome != journal.Open && reader.Finish().Outcome != journal.Waiting
	one.folder = folder
	one.view = &Server{opts: Options{Runs: folder, ReadOnly: true, Version: s.opts.Version}, summary: map[string]known{}, away: t.Program, copied: name}
	return one.view, nil
}

// copyOf has a handler answer for a run on Temporal, too.
func (s *Server) copyOf(h func(*Server) handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		id, ok := strings.CutPrefix(r.PathValue("id"), onTemporal)
		if !ok {
			return h(s)(w, r)
		}
		view, err := s.viewed(r.Context(), id)
		if err != nil {
			return nil, err
		}
		r.SetPathValue("id", view.copied)
		return h(view)(w, r)
	}
}

// temporalGraph is the graph of the file of this folder that the program of a run was built from.
func (s *Server) temporalGraph(_ http.ResponseWriter, r *http.Request) (any, error) {
	view, err := s.viewed(r.Context(), strings.TrimPrefix(r.PathValue("id"), onTemporal))
	if err != nil {
		return nil, err
	}
	reader, err := view.opts.Runs.Follow(view.copied)
	if err == nil {
		_, _, err = reader.Next()
	}
	if err != nil {
		return nil, err
	}
	h := reader.Header()
	if p := s.graphLike(h.Workflow, h.Graph, folded(r.URL.Query())); p != nil {
		return p, nil
	}
	return nil, problemf(http.StatusNotFound, "no graph", "no file of this folder is the version of "+h.Workflow+" that the run was begun with")
}

// temporal sends the calls of a run on Temporal: all of them again whenever it has gone on.
func (st *stream) temporal(ctx context.Context, id string) func() {
	var latest atomic.Pointer[Server]
	var failure atomic.Pointer[problem]
	go func() {
		for ctx.Err() == nil {
			view, err := st.s.viewed(ctx, id)
			if err != nil {
				failure.Store(problemOf(err))
			} else {
				failure.Store(nil)
				latest.Store(view)
			}
			select {
			case <-ctx.Done():
			case <-time.After(copyAgain):
			}
		}
	}()
	var shown *Server
	var reader *runs.Reader
	var follow func()
	gone, away := false, ""
	return func() {
		now, p := latest.Load(), failure.Load()
		if now == nil {
			if p != nil && !gone {
				gone = true
				st.send("gone", p)
			}
			return
		}
		if now != shown {
			var err error
			if reader, err = now.opts.Runs.Follow(now.copied); err != nil {
				return
			}
			if shown != nil {
				st.send("again", nil)
			}
			shown, away = now, ""
			other := *st
			other.s = now
			follow = func() { other.err = st.err; other.follow(reader)(); st.err = other.err }
			follow()
		}
		if trouble := troubleOf(p); trouble != away {
			away = trouble
			head := now.headOf(reader, nil)
			head.Damage = trouble
			st.send("run", head)
		}
	}
}

// troubleOf is what is said above a run that was read before and cannot be read now; empty without a problem.
func troubleOf(p *problem) string {
	if p == nil {
		return ""
	}
	return p.Title + ": " + strings.TrimSuffix(p.Detail, ".") + "."
}

// temporalMark returns another number when runs on Temporal have begun or ended. It asks until the context ends.
func (s *Server) temporalMark(ctx context.Context) func() uint64 {
	var mark atomic.Uint64
	go func() {
		for ctx.Err() == nil {
			all, err := s.opts.Temporal.List(ctx)
			text, _ := json.Marshal(all)
			mark.Store(maphash.String(markSeed, fmt.Sprint(string(text), err)))
			select {
			case <-ctx.Done():
			case <-time.After(listAgain):
			}
		}
	}()
	return mark.Load
}
