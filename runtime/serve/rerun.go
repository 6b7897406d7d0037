package serve

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal/fork"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// rerun begins a new run with what another has done, as the command of this name does.
func (s *Server) rerun(w http.ResponseWriter, r *http.Request, p *Principal) error {
	id, j, err := s.find(r, p, MayRead)
	if err != nil {
		return err
	}
	if err := p.may(MayStart); err != nil {
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
		From string                 `json:"from" default:"\"\""`
		Set  map[string]value.Value `json:"set,omitempty"`
	}
	if err := value.Decode(body, &how); err != nil {
		return misfit(err)
	}
	h := j.Header()
	workflow := s.workflows[h.Workflow]
	switch {
	case how.From == "" && len(how.Set) == 0:
		return misfit(value.Invalid("from (a node) or set (a path) is required: what is different?"))
	case s.describe(id, j).State == running:
		return fault(http.StatusConflict, "NOT_OVER", "the run is still running").of(id).later(time.Second)
	case strings.Contains(string(h.Input), redact.Redacted):
		return fault(http.StatusConflict, "STOPPED", "the run's input contained a secret, which its journal omits").of(id)
	}
	again, err := fork.Following(workflow.Info, runs.HashesOf(workflow.Info), how.From)
	if err != nil {
		return wrong("/from", err)
	}
	base := fork.Base(j, again)
	input := []byte(h.Input)
	for _, path := range slices.Sorted(maps.Keys(how.Set)) {
		text := value.JSON(how.Set[path])
		if how.Set[path].Kind() == value.StringKind {
			text = how.Set[path].String()
		}
		if input, err = fork.Set(workflow.Info, base, input, path, text); err != nil {
			return wrong("/set/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(path), err)
		}
	}
	if input, err = workflow.Canon(input); err != nil {
		return misfit(err)
	}
	begin := func() (*active, error) {
		a, there, err := s.admit(workflow, s.newID(workflow.Name()), h.Tenant, true)
		if err != nil || there {
			return a, cmp.Or(err, errTaken)
		}
		a.trace = traceOf(r)
		s.launch(a, input, func(info *flow.Info) (*runs.Engine, error) {
			e := s.o.Runs.Fork(info, id, base, again...)
			e.Promise()
			return e, nil
		})
		a, _, err = s.hasBegun(a, false, input)
		return a, err
	}
	a, err := begin()
	for errors.Is(err, errTaken) {
		a, err = begin()
	}
	if err != nil {
		return err
	}
	traced(s.o.Log, a.trace).InfoContext(r.Context(), "run begun", "run", a.id, "workflow", workflow.Name(), "principal", p.Name, "from", id)
	await(r, a, wait)
	return s.replyActive(w, r, a, false, wait > 0)
}

// wrong is the problem of one field of a request.
func wrong(pointer string, err error) *problem {
	p := fault(http.StatusUnprocessableEntity, string(value.ValidationError), "the request does not fit the run")
	p.Errors = []mistake{{pointer, p.Code, err.Error()}}
	return p
}
