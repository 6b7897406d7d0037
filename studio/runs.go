package studio

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/diff"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

// pageLength is how many runs a list has.
const pageLength = 100

// runState is what became of a run, in the words of the page.
type runState string

const (
	stateRunning   runState = "running"
	stateStopped   runState = "stopped" // without a word
	stateWaiting   runState = "waiting"
	stateSucceeded runState = "succeeded"
	stateFailed    runState = "failed"
	stateCancelled runState = "cancelled"
	stateDamaged   runState = "damaged"
)

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
	lines   int64         // bytes of the journal that this is of
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
	s.Calls = len(keys)
	s.Shape = shaped(r, s.Took)
	_, s.lines = r.Lines()
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

// summaryOf reads the journal of a run unless that was done and it has not grown since.
func (s *Server) summaryOf(id string) (summary, error) {
	size, err := s.opts.Runs.Size(id)
	if err != nil {
		return summary{}, err
	}
	s.mu.Lock()
	known, ok := s.summary[id]
	s.mu.Unlock()
	if ok && known.lines == size {
		return known, nil
	}
	r, err := s.opts.Runs.Follow(id)
	if err != nil {
		return summary{}, err
	}
	err = r.All()
	sum := summed(r)
	if err == nil {
		s.mu.Lock()
		s.summary[id] = sum
		s.mu.Unlock()
	}
	return sum, err
}

// stateOf is the state of a run. One without an end goes on while somebody has its journal open.
func (s *Server) stateOf(id string, outcome journal.Outcome) runState {
	switch outcome {
	case journal.Succeeded:
		return stateSucceeded
	case journal.Failed:
		return stateFailed
	case journal.Cancelled:
		return stateCancelled
	}
	if s.opts.Runs.Busy(id) {
		return stateRunning
	}
	if outcome == journal.Waiting {
		return stateWaiting
	}
	return stateStopped
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
	q := r.URL.Query()
	all, err := s.opts.Runs.List()
	if err != nil {
		return nil, err
	}
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
	for i := range all {
		one := &all[i]
		if one.Workflow != "" && !slices.Contains(out.Names, one.Workflow) {
			out.Names = append(out.Names, one.Workflow)
		}
		if w := q.Get("workflow"); w != "" && one.Workflow != w || one.Begin.Before(since) && !since.IsZero() {
			continue
		}
		a := aRun{ID: one.ID, Workflow: one.Workflow, Begin: one.Begin, From: one.From, Failure: one.Failure, State: s.stateOf(one.ID, one.Outcome)}
		if one.Workflow == "" {
			a.State, a.Begin = stateDamaged, beginOf(one.ID)
		}
		filters := text != "" || code != "" || least > 0
		if filters {
			if !s.matches(&a, text, code, least) {
				continue
			}
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
			s.fill(&a)
		}
		out.Runs = append(out.Runs, a)
	}
	slices.Sort(out.Names)
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

// fill completes a line of the list.
func (s *Server) fill(a *aRun) {
	if a.State == stateDamaged {
		return
	}
	sum, err := s.summaryOf(a.ID)
	if a.summary = sum; err != nil {
		a.State, a.Failure = stateDamaged, err.Error()
	}
}

// matches completes a line of the list and tells whether it has a text, an error and cost.
func (s *Server) matches(a *aRun, text, code string, least usage.USD) bool {
	s.fill(a)
	if a.CostUSD < least || code != "" && a.Code != code {
		return false
	}
	for _, field := range []string{a.ID, a.Workflow, a.Failure, a.At, a.Code} {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

// runHead is what a page says of a run above its calls.
type runHead struct {
	aRun
	Lines    int                       `json:"lines"` // of the journal
	Bytes    int64                     `json:"bytes"`
	Program  string                    `json:"program,omitempty"`
	Graph    string                    `json:"graph,omitempty"`
	Tenant   string                    `json:"tenant,omitempty"`
	Sync     string                    `json:"sync,omitempty"`
	Input    json.RawMessage           `json:"input,omitempty"`
	Output   json.RawMessage           `json:"output,omitempty"`
	Damage   string                    `json:"damage,omitempty"` // of the journal: what is before it is shown
	Waits    []question                `json:"waits"`            // for people
	File     string                    `json:"file,omitempty"`   // of the workflow, in this project
	Edited   bool                      `json:"edited,omitempty"` // the file is not what the run was made with
	AtMost   json.RawMessage           `json:"at_most,omitempty"`
	Commands map[string]string         `json:"commands"` // what acts start, as one would write them
	Places   map[string]runs.PlanNode  `json:"-"`
	Nodes    map[string]map[string]int `json:"nodes,omitempty"` // by path: how many calls are in each state
	Agents   []agentBounds             `json:"agents,omitempty"`
	Server   string                    `json:"server,omitempty"` // address of the server that has the run
	Lacks    string                    `json:"lacks,omitempty"`  // what it does not say
}

// question is one that waits for a user.
type question struct {
	Run      string    `json:"run,omitempty"`
	Workflow string    `json:"workflow,omitempty"`
	Key      string    `json:"key"`
	Text     string    `json:"text"`
	Type     string    `json:"type"`
	Choices  []string  `json:"choices,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Until    time.Time `json:"until,omitzero"`
}

func (s *Server) run(_ http.ResponseWriter, r *http.Request) (any, error) {
	reader, err := s.opts.Runs.Follow(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	damage := reader.All()
	if errors.Is(damage, runs.ErrNoRun) {
		return nil, damage
	}
	return s.headOf(reader, damage), nil
}

func (s *Server) headOf(r *runs.Reader, damage error) *runHead {
	h, end := r.Header(), r.Finish()
	head := &runHead{aRun: aRun{ID: r.ID(), Workflow: h.Workflow, Begin: h.Begin, From: h.From, Failure: end.Failure, State: s.stateOf(r.ID(), end.Outcome), summary: summed(r)},
		Program: h.Program, Graph: h.Graph, Tenant: h.Tenant, Sync: h.Sync, Input: h.Input, Output: end.Output, Waits: []question{}, Nodes: map[string]map[string]int{}}
	head.Lines, head.Bytes = r.Lines()
	if damage != nil {
		head.Damage, head.State = damage.Error(), stateDamaged
	}
	for i := range r.Calls() {
		c := &r.Calls()[i]
		state := r.State(c)
		if c.Again {
			continue
		}
		path := journal.NodePath(c.Key)
		if head.Nodes[path] == nil {
			head.Nodes[path] = map[string]int{}
		}
		head.Nodes[path][seen(state, head.State == stateRunning)]++
		if state == journal.CallWaiting && end.Outcome != journal.Succeeded {
			head.Waits = append(head.Waits, questionOf(r, i))
		}
	}
	head.File, head.AtMost, head.Commands = s.fileOf(h.Workflow)
	if p, err := s.opts.Runs.Plan(h.Graph); err == nil {
		var plan struct {
			AtMost json.RawMessage `json:"at_most"`
			Parts  []planPart      `json:"parts"`
		}
		if json.Unmarshal(p.Plan, &plan) == nil {
			head.AtMost = plan.AtMost
			head.Agents = agentsIn(plan.Parts, "")
		}
	}
	for name, verb := range map[string]string{"resume": "resume", "respond": "respond"} {
		if head.File != "" {
			head.Commands[name] = "flowgen " + verb + " " + head.File + " " + head.ID
		}
	}
	return head
}

// seen is the state of an attempt on the page: without a result it runs while a program has the run, and was stopped otherwise.
func seen(state journal.State, running bool) string {
	switch {
	case running && state == journal.CallInDoubt:
		return string(journal.CallOpen)
	case !running && state == journal.CallOpen:
		return string(stateStopped)
	}
	return string(state)
}

func questionOf(r *runs.Reader, i int) question {
	c := &r.Calls()[i]
	q := question{Key: c.Key, Since: r.Header().Begin.Add(c.Start)}
	if c.Limit > 0 {
		q.Until = q.Since.Add(c.Limit)
	}
	rec, err := r.Record(i)
	if err != nil {
		q.Text = err.Error()
		return q
	}
	var asked struct {
		Text    string   `json:"question"`
		Type    string   `json:"type"`
		Choices []string `json:"choices"`
	}
	if json.Unmarshal(rec.Input, &asked) == nil {
		q.Text, q.Type, q.Choices = asked.Text, asked.Type, asked.Choices
	}
	return q
}

// fileOf finds the file of a workflow by its name; empty when there is none, or there are several.
func (s *Server) fileOf(name string) (file string, atMost json.RawMessage, commands map[string]string) {
	if s.opts.Project == nil { // there are runs only
		return "", nil, map[string]string{}
	}
	names, err := s.opts.Project.Files()
	if err != nil {
		return "", nil, map[string]string{}
	}
	for _, f := range names {
		w, err := s.opts.Project.Workflow(f)
		if err != nil || w.Name != name {
			continue
		}
		if file != "" {
			return "", nil, map[string]string{}
		}
		file, atMost = f, w.AtMost
	}
	return file, atMost, map[string]string{}
}

// runGraph is the graph of the workflow as it was when the run began; as it is now where that is not kept.
func (s *Server) runGraph(_ http.ResponseWriter, r *http.Request) (any, error) {
	reader, err := s.opts.Runs.Follow(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if _, _, err := reader.Next(); err != nil && reader.Header().Workflow == "" {
		return nil, err
	}
	return s.graphOf(reader, folded(r.URL.Query()))
}

func (s *Server) graphOf(reader *runs.Reader, folded []string) (*picture.Picture, error) {
	if p, err := s.opts.Runs.Plan(reader.Header().Graph); err == nil {
		info := &flow.Info{Name: p.Workflow, Edges: p.Edges, Facts: flow.NewFacts(`{"plan":` + string(p.Plan) + `}`)}
		for _, n := range p.Nodes {
			info.Nodes = append(info.Nodes, &flow.Node{ID: n.ID})
		}
		return picture.Folded(cli.ShapeOf(info), folded), nil
	}
	file, _, _ := s.fileOf(reader.Header().Workflow)
	if file == "" {
		return nil, problemf(http.StatusNotFound, "no graph", "the run was recorded by a program that kept no plan, and no file of this folder is the workflow "+reader.Header().Workflow)
	}
	w, err := s.opts.Project.Workflow(file)
	if err != nil {
		return nil, err
	}
	if w.Info == nil {
		return nil, problemf(http.StatusNotFound, "no graph", file+" has errors")
	}
	return picture.Folded(cli.ShapeOf(w.Info), folded), nil
}

func (s *Server) diff(_ http.ResponseWriter, r *http.Request) (any, error) {
	idA, was, err := s.opts.Runs.Named("", r.PathValue("a"))
	if err != nil {
		return nil, err
	}
	idB, now, err := s.opts.Runs.Named("", r.PathValue("b"))
	if err != nil {
		return nil, err
	}
	d := diff.Runs(idA, was, idB, now)
	return map[string]any{"report": d, "text": d.Text(), "equal": d.Equal()}, nil
}

func (s *Server) inbox(_ http.ResponseWriter, r *http.Request) (any, error) {
	all, err := s.opts.Runs.List()
	if err != nil {
		return nil, err
	}
	list := []question{}
	for i := range all {
		if all[i].Outcome != journal.Waiting && all[i].Outcome != journal.Open || all[i].Workflow == "" {
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

// number reads a parameter that is an integer from zero; def where it is not given.
func number(text string, def int64) (int64, error) {
	if text == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, problemf(http.StatusBadRequest, "an integer from zero is expected", "")
	}
	return n, nil
}
