package studio

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// pageLength is how many runs a list has.
const pageLength = 100

// aRun is a line of the list.
type aRun struct {
	ID       string    `json:"id"`
	Workflow string    `json:"workflow"`
	Begin    time.Time `json:"begin"`
	State    runState  `json:"state"`
	From     string    `json:"from,omitempty"`
	Failure  string    `json:"failure,omitempty"`
	summary
}

// summary is what the calls of a run add up to.
type summary struct {
	Took    time.Duration `json:"took_ns"`
	Calls   int           `json:"calls"`
	Failed  int           `json:"failed"` // attempts
	Cached  int           `json:"cached"`
	Models  int           `json:"models"` // attempts
	Retries int           `json:"retries"`
	Open    int           `json:"open"` // attempts without a result
	Doubt   int           `json:"in_doubt"`
	Waiting int           `json:"waiting"`
	Tokens  int64         `json:"tokens"`
	CostUSD usage.USD     `json:"cost_usd"`
	At      string        `json:"at,omitempty"`    // key of the call that the run waits for, failed at, or makes
	Code    string        `json:"code,omitempty"`  // of the error there
	Shape   [][3]int      `json:"shape,omitempty"` // of the run in 100 parts: from, to, and 0 tool, 1 model, 2 failed, 3 person
}

// known is what is kept of a run that was read.
type known struct {
	summary
	words string     // in which texts are looked for, in small letters
	of    runs.Stamp // of the journal
}

// summed adds up what a Reader knows.
func summed(r *runs.Reader) summary {
	var s summary
	keys := map[string]bool{}
	s.Took = max(r.Finish().At, 0)
	for i := range r.Calls() {
		c := &r.Calls()[i]
		state := r.State(c)
		s.Took = max(s.Took, c.End)
		keys[c.Key] = true
		s.Tokens += c.Tokens
		s.CostUSD += c.CostUSD
		if c.Metered {
			s.Models++
		}
		if c.Cached {
			s.Cached++
		}
		if c.Attempt > 1 || c.Again {
			s.Retries++
		}
		switch state {
		case journal.CallFailed:
			s.Failed++
			if !c.Again && r.Finish().Outcome == journal.Failed {
				s.At, s.Code = c.Key, c.Code
			}
		case journal.CallWaiting:
			s.Waiting++
			s.At = c.Key
		case journal.CallInDoubt:
			s.Doubt++
			s.Open++
			s.At = cmp.Or(s.At, c.Key)
		case journal.CallOpen:
			s.Open++
			s.At = cmp.Or(s.At, c.Key)
		}
	}
	if key := r.Finish().Key; key != "" {
		s.At = key
	}
	s.At, s.Code = strings.Clone(s.At), strings.Clone(s.Code) // which would keep what the Reader has of other calls
	s.Calls = len(keys)
	s.Shape = shaped(r, s.Took)
	return s
}

// shaped draws a run in at most 100 parts.
func shaped(r *runs.Reader, took time.Duration) [][3]int {
	const parts = 100
	if took <= 0 {
		return nil
	}
	var kinds [parts]int // 1 more than in Shape; the largest wins
	for i := range r.Calls() {
		c := &r.Calls()[i]
		kind := 1
		if c.Metered {
			kind = 2
		}
		end := c.End
		switch r.State(c) {
		case journal.CallFailed:
			kind = 3
		case journal.CallWaiting:
			kind, end = 4, took
		}
		if c.Tool == engine.HumanTool {
			kind = 4
		}
		from := int(int64(c.Start) * parts / int64(took))
		to := int(int64(end) * parts / int64(took))
		for at := max(from, 0); at <= min(to, parts-1); at++ {
			kinds[at] = max(kinds[at], kind)
		}
	}
	var shape [][3]int
	for at := 0; at < parts; {
		to := at
		for to < parts && kinds[to] == kinds[at] {
			to++
		}
		if kinds[at] > 0 {
			shape = append(shape, [3]int{at, to, kinds[at] - 1})
		}
		at = to
	}
	return shape
}

// aRun is the line of a run without what needs all of its journal.
func (s *Server) aRun(one *runs.Stamped) aRun {
	a := aRun{ID: one.ID, Workflow: one.Workflow, Begin: one.Begin, From: one.From, Failure: one.Failure}
	if one.Workflow == "" {
		a.State, a.Begin = stateDamaged, beginOf(one.ID)
	} else {
		a.State = s.stateOf(one.ID, one.Outcome)
	}
	return a
}

// fill completes a line of the list: it reads the journal of the run unless that was done and it has not changed since. words are those in
// which texts are looked for.
func (s *Server) fill(a *aRun, one *runs.Stamped) (words string) {
	if a.State == stateDamaged {
		return a.words()
	}
	s.mu.Lock()
	before := s.summary[a.ID]
	s.mu.Unlock()
	if one.Sure && before.of == one.Stamp {
		a.summary = before.summary
		return before.words
	}
	r, err := s.opts.Runs.Follow(a.ID)
	if err == nil {
		err = r.All()
		a.summary = summed(r)
	}
	if err != nil {
		a.State, a.Failure = stateDamaged, err.Error()
		return a.words()
	}
	words = a.words()
	if one.Sure {
		s.mu.Lock()
		s.summary[a.ID] = known{a.summary, words, one.Stamp}
		s.mu.Unlock()
	}
	return words
}

// words are what texts are looked for in, in small letters.
func (a *aRun) words() string {
	return strings.ToLower(strings.Join([]string{a.ID, a.Workflow, a.Failure, a.At, a.Code}, "\n"))
}

// matches completes a line of the list and tells whether it has a text, an error and cost.
func (s *Server) matches(a *aRun, one *runs.Stamped, text, code string, least usage.USD) bool {
	words := s.fill(a, one)
	return a.CostUSD >= least && (code == "" || a.Code == code) && strings.Contains(words, text)
}

// together calls f with the numbers below n, several at a time, until a context ends.
func together(ctx context.Context, n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

// maxAhead bounds what is read before a page asks for it.
const maxAhead = 64 << 20 // bytes of journals

// readAhead reads the newest runs: while a browser starts, and while somebody looks at a list with many new ones, so that a filter that
// comes next finds what it needs.
func (s *Server) readAhead() {
	all, err := s.opts.Runs.ListStamped()
	if err != nil {
		return
	}
	n := 0
	for left := int64(maxAhead); n < len(all); n++ {
		if left -= all[n].Stamp.Size(); left < 0 {
			break
		}
	}
	together(s.stopped, n, func(i int) {
		a := s.aRun(&all[i])
		s.fill(&a, &all[i])
	})
}

// forget drops what is kept of runs that are not there any more.
func (s *Server) forget(all []runs.Stamped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if max(len(s.summary), len(s.used)) <= len(all) {
		return
	}
	there := make(map[string]bool, len(all))
	for i := range all {
		there[all[i].ID] = true
	}
	maps.DeleteFunc(s.summary, func(id string, _ known) bool { return !there[id] })
	maps.DeleteFunc(s.used, func(id string, _ used) bool { return !there[id] })
}

type runList struct {
	Runs   []aRun           `json:"runs"`
	Counts map[runState]int `json:"counts"` // of the runs that the other filters leave
	Total  int              `json:"total"`
	Next   string           `json:"next,omitempty"`
	Names  []string         `json:"workflows"`        // that have runs
	Folder string           `json:"folder"`           // or the address of the server
	Server bool             `json:"server,omitempty"` // it is a server, which counts nothing
}

func (s *Server) list(_ http.ResponseWriter, r *http.Request) (any, error) {
	if r.URL.Query().Get("in") == "server" {
		return s.serverList(r)
	}
	if r.URL.Query().Get("in") == "temporal" {
		return s.temporalList(r)
	}
	q := r.URL.Query()
	all, err := s.opts.Runs.ListStamped()
	if err != nil {
		return nil, err
	}
	s.forget(all)
	out := runList{Runs: []aRun{}, Counts: map[runState]int{}, Names: []string{}, Folder: s.opts.Runs.String()}
	text, code := strings.ToLower(q.Get("q")), q.Get("code")
	least, err := usage.ParseUSD(cmp.Or(q.Get("cost"), "0"))
	if err != nil {
		return nil, problemf(http.StatusBadRequest, "cost is an amount of dollars", err.Error())
	}
	since, err := timeOf(q.Get("since"))
	if err != nil {
		return nil, problemf(http.StatusBadRequest, "since is a time", err.Error())
	}
	passed := q.Get("before") == ""
	some := all[:0]
	for i := range all {
		one := &all[i]
		if one.Workflow != "" && !slices.Contains(out.Names, one.Workflow) {
			out.Names = append(out.Names, one.Workflow)
		}
		if w := q.Get("workflow"); w != "" && one.Workflow != w || one.Begin.Before(since) && !since.IsZero() {
			continue
		}
		some = append(some, *one)
	}
	filters := text != "" || code != "" || least > 0
	lines := make([]aRun, len(some))
	together(r.Context(), len(some), func(i int) {
		a := s.aRun(&some[i])
		if !filters || s.matches(&a, &some[i], text, code, least) {
			lines[i] = a
		}
	})
	for i := range some {
		a, one := lines[i], &some[i]
		if a.ID == "" { // a filter leaves it out
			continue
		}
		out.Counts[a.State]++
		out.Total++
		if state := q.Get("state"); state != "" && string(a.State) != state {
			continue
		}
		if !passed {
			passed = a.ID == q.Get("before")
			continue
		}
		if len(out.Runs) == pageLength {
			out.Next = out.Runs[pageLength-1].ID
			continue
		}
		if !filters {
			s.fill(&a, one)
		}
		out.Runs = append(out.Runs, a)
	}
	slices.Sort(out.Names)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(all) > s.readOf+2*pageLength && s.stopped.Err() == nil {
		s.readOf = len(all)
		s.ahead.Go(s.readAhead)
	}
	return out, nil
}

// beginOf is when a run began whose journal does not say it: its name does, where flowgen has made it.
func beginOf(id string) time.Time {
	const form = "20060102T150405000"
	at := strings.TrimSuffix(id, id[strings.LastIndexByte(id, '-')+1:])
	if at = strings.TrimSuffix(at, "-"); len(at) < len(form) {
		return time.Time{}
	}
	at = at[len(at)-len(form):]
	t, _ := time.Parse("20060102T150405.000", at[:15]+"."+at[15:])
	return t
}

func timeOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text)
}

func (s *Server) inbox(_ http.ResponseWriter, r *http.Request) (any, error) {
	all, err := s.opts.Runs.ListStamped()
	if err != nil {
		return nil, err
	}
	list := []question{}
	for i := range all {
		if all[i].Outcome != journal.Waiting && all[i].Outcome != journal.Open || all[i].Workflow == "" {
			continue
		}
		a := s.aRun(&all[i])
		if s.fill(&a, &all[i]); a.Waiting == 0 {
			continue
		}
		reader, err := s.opts.Runs.Follow(all[i].ID)
		if err != nil || reader.All() != nil {
			continue
		}
		for _, q := range s.headOf(reader, nil).Waits {
			q.Run, q.Workflow = all[i].ID, all[i].Workflow
			list = append(list, q)
		}
	}
	problem := ""
	if s.opts.Server != nil {
		theirs, err := s.serverQuestions(r.Context())
		if list = append(list, theirs...); err != nil {
			problem = problemOf(err).Title + ": " + problemOf(err).Detail
		}
	}
	slices.SortStableFunc(list, func(a, b question) int { // the first deadline first
		switch {
		case a.Until.IsZero() != b.Until.IsZero():
			if a.Until.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Until.Compare(b.Until), a.Since.Compare(b.Since))
	})
	return map[string]any{"questions": list, "problem": problem}, nil
}
