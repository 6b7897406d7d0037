package studio

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/diff"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

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
	if s.opts.Runs.Busy(id) || s.away != "" && outcome != journal.Waiting {
		return stateRunning
	}
	if outcome == journal.Waiting {
		return stateWaiting
	}
	return stateStopped
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
	Server   string                    `json:"server,omitempty"`   // address of the server that has the run
	Lacks    string                    `json:"lacks,omitempty"`    // what it does not say
	Temporal string                    `json:"temporal,omitempty"` // program that has read the run
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
	if s.away != "" {
		head.Temporal = s.away
	}
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
			head.Commands[name] = s.commandOf(verb, head.File) + " " + head.ID
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

func (s *Server) graphOfRun(w http.ResponseWriter, r *http.Request) (any, error) {
	if strings.HasPrefix(r.PathValue("id"), onTemporal) {
		return s.temporalGraph(w, r)
	}
	return s.runGraph(w, r)
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
		return nil, problemf(http.StatusNotFound, "no graph", "the program that recorded the run stored no plan, and no file of this folder is the workflow "+reader.Header().Workflow)
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
