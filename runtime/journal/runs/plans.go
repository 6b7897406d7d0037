package runs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// plansName is the folder of the plans of workflows whose runs were recorded. It is the name of no run.
const plansName = ".plans"

// maxPlan bounds a plan that is kept.
const maxPlan = 8 << 20 // bytes

// A Plan is what is kept of a workflow next to its runs, once for each version of it: how it runs, so that an old run can be
// drawn when the workflow has changed.
type Plan struct {
	Workflow string          `json:"workflow"`
	Nodes    []PlanNode      `json:"nodes"`
	Edges    []flow.Edge     `json:"edges,omitempty"`
	Plan     json.RawMessage `json:"plan"`
	Manifest json.RawMessage `json:"manifest,omitempty"`
}

// PlanNode is a node of the workflow and its place, file:line:col.
type PlanNode struct {
	ID  string `json:"id"`
	Pos string `json:"pos,omitempty"`
}

// keepPlan writes the plan of a workflow unless it is there already. A run does not depend on it, so that failures change
// nothing.
func (f *Folder) keepPlan(graph string, info *flow.Info) {
	plan := info.Facts.Plan()
	if graph == "" || plan == "" {
		return
	}
	name, ok := f.plan(graph)
	if !ok {
		return
	}
	if data, _, err := wal.ReadRange(f.opts.Disk, name, 0, maxPlan); err == nil && json.Valid(data) {
		return
	}
	p := Plan{Workflow: info.Name, Nodes: []PlanNode{}, Edges: info.Edges, Plan: json.RawMessage(plan)}
	if m := info.Facts.Manifest(); m != "" {
		p.Manifest = json.RawMessage(m)
	}
	for _, n := range info.Nodes {
		p.Nodes = append(p.Nodes, PlanNode{n.ID, n.Pos})
	}
	data, err := json.Marshal(&p)
	if err != nil || len(data) > maxPlan || f.mkdir(filepath.Dir(name), false) != nil {
		return
	}
	if plainFolder(filepath.Dir(name)) != nil {
		return
	}
	_ = f.write(name, data)
}

// plan is the file of a plan. A hash is hexadecimal, so that it leads nowhere else.
func (f *Folder) plan(graph string) (name string, ok bool) {
	for _, c := range []byte(graph) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return "", false
		}
	}
	return filepath.Join(f.dir, plansName, graph+".json"), graph != "" && len(graph) <= 128
}

// Plan returns the plan of the workflow with a hash, as Header.Graph says it; fs.ErrNotExist where none was kept, as by programs
// of older versions.
func (f *Folder) Plan(graph string) (*Plan, error) {
	name, ok := f.plan(graph)
	if !ok {
		return nil, fs.ErrNotExist
	}
	data, size, err := wal.ReadRange(f.opts.Disk, name, 0, maxPlan)
	if err != nil {
		return nil, err
	}
	if size > maxPlan {
		return nil, errors.New("the plan that is kept with the runs is too large")
	}
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, errors.New("the plan that is kept with the runs cannot be read: " + err.Error())
	}
	return p, nil
}
