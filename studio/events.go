package studio

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

// How often files are looked at, and a line is sent that keeps a connection open.
const (
	lookEvery  = 150 * time.Millisecond
	busyFor    = 10 * time.Second // an answer waits for the program that has asked to end
	aliveEvery = 15 * time.Second
)

// A stream is what one page is told. It belongs to one request: pages share nothing.
type stream struct {
	s   *Server
	w   http.ResponseWriter
	out *http.ResponseController
	err error
}

func (st *stream) send(event string, v any) {
	if st.err != nil {
		return
	}
	data, err := json.Marshal(v)
	if err == nil {
		_ = st.out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // a page that does not read is left
		_, err = fmt.Fprintf(st.w, "event: %s\ndata: %s\n\n", event, data)
	}
	if err == nil {
		err = st.out.Flush()
	}
	st.err = err
}

// events tells a page what changes: topics are project, runs, and run:ID.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	st := &stream{s: s, w: w, out: http.NewResponseController(w)}
	var watch []func()
	for topic := range strings.SplitSeq(r.URL.Query().Get("topics"), ",") {
		id, isRun := strings.CutPrefix(topic, "run:")
		switch {
		case topic == "project":
			watch = append(watch, st.changed("project.changed", s.projectMark.now))
		case topic == "runs":
			watch = append(watch, st.changed("runs.changed", s.runsMark.now))
			if s.opts.Server != nil {
				watch = append(watch, st.changed("runs.changed", s.serverMark(r.Context())))
			}
			if s.opts.Temporal != nil {
				watch = append(watch, st.changed("runs.changed", s.temporalMark(r.Context())))
			}
		case isRun && s.opts.Temporal != nil && strings.HasPrefix(id, onTemporal):
			watch = append(watch, st.temporal(r.Context(), strings.TrimPrefix(id, onTemporal)))
		case isRun && s.opts.Server != nil && strings.HasPrefix(id, elsewhere):
			watch = append(watch, st.server(r.Context(), strings.TrimPrefix(id, elsewhere)))
		case isRun:
			reader, err := s.opts.Runs.Follow(id)
			if err != nil {
				problemOf(err).write(w)
				return
			}
			live, err := s.opts.Runs.FollowLive(id)
			if err != nil {
				problemOf(err).write(w)
				return
			}
			watch = slices.Insert(watch, 0, st.follow(reader), st.live(live)) // what the page is about comes first
		default:
			problemOf(problemf(http.StatusBadRequest, "topics are project, runs and run:ID", "")).write(w)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	st.send("hello", map[string]string{"version": s.opts.Version})
	look, alive := time.NewTicker(lookEvery), time.NewTicker(aliveEvery)
	defer look.Stop()
	defer alive.Stop()
	for st.err == nil {
		for _, f := range watch {
			f()
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.stopped.Done():
			return
		case <-alive.C:
			_ = st.out.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := fmt.Fprint(w, ": alive\n\n"); err != nil || st.out.Flush() != nil {
				return
			}
		case <-look.C:
		}
	}
}

// live sends the progress of nodes that journals do not have.
func (st *stream) live(r *runs.LiveReader) func() {
	return func() {
		if list := r.Next(); len(list) > 0 {
			st.send("live", list)
		}
	}
}

// changed sends an event whenever a mark is another one, and at the first one: the page has asked before it, and what has changed in
// between nobody would tell it.
func (st *stream) changed(event string, mark func() uint64) func() {
	var last uint64
	return func() {
		now := mark()
		if now != last {
			st.send(event, map[string]string{})
		}
		last = now
	}
}

// A mark is another number when something has changed. All pages look at the same one, so that many of them cost what one does.
type mark struct {
	look func(h *maphash.Hash)

	mu   sync.Mutex // guards the following
	next time.Time  // it is looked at again
	last uint64
}

var markSeed = maphash.MakeSeed()

func (m *mark) now() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	began := time.Now()
	if began.Before(m.next) {
		return m.last
	}
	var h maphash.Hash
	h.SetSeed(markSeed)
	m.look(&h)
	m.last, m.next = h.Sum64(), time.Now().Add(max(lookEvery*9/10, 10*time.Since(began))) // looking takes a tenth of the time at most
	return m.last
}

// lookAtProject sees when a workflow file, or one that it needs, has changed, or one is new.
func (s *Server) lookAtProject(h *maphash.Hash) {
	now, err := s.opts.Project.Mark()
	if err != nil {
		now = err.Error()
	}
	maphash.WriteComparable(h, now)
}

// lookAtRuns sees when a run has begun, has gone on, was stopped or is removed.
func (s *Server) lookAtRuns(h *maphash.Hash) {
	all, err := s.opts.Runs.ListStamped()
	if err != nil {
		maphash.WriteComparable(h, err.Error())
		return
	}
	const most = 50 // of those without an end: a program has them, or has not
	open := 0
	for i := range all {
		maphash.WriteComparable(h, all[i].ID)
		maphash.WriteComparable(h, all[i].Stamp)
		if o := all[i].Outcome; open < most && (o == journal.Open || o == journal.Waiting) {
			open++
			maphash.WriteComparable(h, s.opts.Runs.Busy(all[i].ID))
		}
	}
}

// follow sends the calls of a run as they are and as they change, and what is said above them after each change.
func (st *stream) follow(r *runs.Reader) func() {
	busy, said, damage, gone := false, false, "", false
	return func() {
		grew := false
		for st.err == nil {
			at, more, err := r.Next()
			for len(at) > 0 {
				n := min(len(at), maxColumns)
				st.send("calls", columnsOf(r, at[:n]))
				at, grew = at[n:], true
			}
			if err != nil && err.Error() != damage {
				damage, grew = err.Error(), true
			}
			if grew = grew || more; !more || err != nil {
				if errors.Is(err, runs.ErrNoRun) && r.Header().Workflow == "" {
					if damage = ""; !gone {
						gone = true
						st.send("gone", problemOf(err)) // it may begin yet
					}
					return
				}
				break
			}
		}
		if now := st.s.opts.Runs.Busy(r.ID()); grew || !said || now != busy {
			busy, said = now, true
			var err error
			if damage != "" {
				err = errors.New(damage)
			}
			st.send("run", st.s.headOf(r, err))
		}
	}
}
