package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/serving"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Workflow is a compiled workflow for Handler.
type Workflow struct {
	*serving.Workflow
	run func(ctx context.Context, input []byte) error
}

// Of names a compiled workflow by the Info and the New of its package. The options are for this workflow alone.
func Of[W interface {
	Run(context.Context, In) (Out, error)
}, In, Out any](info *flow.Info, start func(...runtime.Option) (W, error), o ...runtime.Option) *Workflow {
	return &Workflow{Workflow: serving.Of(info, start, o...)}
}

// Name is the name of the workflow, by which requests find it.
func (w *Workflow) Name() string { return w.Info.Name }

// start makes the workflow once, for all runs.
func (w *Workflow) start(o ...runtime.Option) (*Workflow, error) {
	started := *w
	run, err := w.New(o...)
	if err != nil {
		return nil, err
	}
	started.run = func(ctx context.Context, input []byte) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &panicked{v, debug.Stack()}
			}
		}()
		return run(ctx, input)
	}
	return &started, nil
}

// panicked is the error of a run that has panicked outside its tools.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// described is what is told about a workflow.
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Hash        string          `json:"hash,omitempty"` // of the workflow
	Input       json.RawMessage `json:"input"`          // JSON Schema
	Output      json.RawMessage `json:"output"`
	Effects     []string        `json:"effects"`
	People      []string        `json:"people"` // nodes that ask
	Manifest    json.RawMessage `json:"manifest,omitempty"`
	Plan        json.RawMessage `json:"plan,omitempty"`
}

func (w *Workflow) describe() *described {
	d := &described{Name: w.Name(), Description: w.Info.Description, Effects: []string{}, People: []string{}}
	d.Input, d.Output = w.InputSchema(), w.OutputSchema()
	var hashes struct{ Graph string }
	if json.Unmarshal([]byte(w.Info.Facts.Hashes()), &hashes) == nil {
		d.Hash = hashes.Graph
	}
	if text := w.Info.Facts.Manifest(); text != "" {
		d.Manifest = json.RawMessage(text)
		var m struct{ Effects, People []string }
		if json.Unmarshal(d.Manifest, &m) == nil {
			d.Effects, d.People = append(d.Effects, m.Effects...), append(d.People, m.People...)
		}
	}
	if text := w.Info.Facts.Plan(); text != "" {
		d.Plan = json.RawMessage(text)
	}
	return d
}

func (s *Server) listWorkflows(w http.ResponseWriter, _ *http.Request, p *Principal) error {
	list := []map[string]string{}
	for _, name := range s.names {
		if p.sees(name) {
			list = append(list, map[string]string{"name": name, "description": s.workflows[name].Info.Description, "url": "/v1/workflows/" + url.PathEscape(name)})
		}
	}
	return reply(w, http.StatusOK, map[string]any{"workflows": list})
}

func (s *Server) oneWorkflow(w http.ResponseWriter, r *http.Request, p *Principal) error {
	flow, err := s.workflow(r.PathValue("name"), p)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, flow.describe())
}

func (s *Server) workflow(name string, p *Principal) (*Workflow, error) {
	w := s.workflows[name]
	if w == nil || !p.sees(name) {
		f := fault(http.StatusNotFound, "NOT_FOUND", fmt.Sprintf("unknown workflow %q", value.Clip(name, 100)))
		return nil, f
	}
	return w, nil
}

func (s *Server) unknown(_ http.ResponseWriter, r *http.Request, _ *Principal) error {
	return fault(http.StatusNotFound, "NOT_FOUND", "no resource at "+value.Clip(r.URL.Path, 100)+"; /v1/openapi.json lists the paths")
}
