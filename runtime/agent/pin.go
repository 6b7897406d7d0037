package agent

import (
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Selector says which call a pin is about (Agent Tools 4.2.1).
type Selector struct {
	tool     string
	strategy string
	id       string
	required bool
	stale    bool
	pin      string // stale: its name
	full     string // stale: name@version
}

// Latest selects the last call of a tool. When that call failed, there is none.
func Latest(tool string) Selector { return Selector{tool: tool, strategy: "latest"} }

// FirstSuccess selects the first call of a tool that succeeded.
func FirstSuccess(tool string) Selector { return Selector{tool: tool, strategy: "first_success"} }

// ByCallID selects the call of that id, if it is one of the tool and succeeded.
func ByCallID(tool, id string) Selector { return Selector{tool: tool, strategy: "by_call_id", id: id} }

// Required makes a pin without a call an error (Agent Tools 4.2.1, on_missing: fail). Else it is nil.
func (s Selector) Required() Selector {
	s.required = true
	return s
}

// Stale makes the pin of that name, when there is no such call, what the last successful call of the tool name@version gave
// in an earlier run (Agent Tools 4.2.1, on_missing: keep).
func (s Selector) Stale(pin, tool string) Selector {
	s.stale, s.pin, s.full = true, pin, tool
	return s
}

// Pin returns the output of the selected call. It is nil when there is none, also when the agent does not have the tool
// any more (Agent Tools 4.2). The error is a *runtime.NodeError of n.
func Pin[T any](r *flow.Run, n *flow.Node, out Outputs, s Selector) (*T, error) {
	e := s.find(&out)
	switch {
	case e != nil:
	case s.stale:
		return engine.Last[T](r, n, s.pin, s.full)
	case !s.required:
		return nil, nil
	default:
		return nil, r.Fail(n, value.Invalid("the agent has no %s of tool %s, which a pin with on_missing: fail needs", s.what(), s.tool))
	}
	if string(e.raw) == "null" { // what the tool gave
		return nil, nil
	}
	v := new(T)
	if err := value.Unmarshal(e.raw, v); err != nil {
		return nil, r.Fail(n, value.Invalid("pin: the output of %s does not fit: %v", s.tool, err))
	}
	return v, nil
}

// PinOr is Pin with a value for a call that is missing, or has given null (Agent Tools 4.2.1, on_missing: {default: v}).
func PinOr[T any](r *flow.Run, n *flow.Node, out Outputs, s Selector, missing T) (T, error) {
	v, err := Pin[T](r, n, out, s)
	if v == nil {
		return missing, err
	}
	return *v, err
}

func (s *Selector) find(out *Outputs) *Envelope {
	var found *Envelope
	for _, id := range out.ToolOrder {
		e := out.ToolsByID[id]
		if e.Tool != s.tool || s.strategy == "by_call_id" && id != s.id || s.strategy == "first_success" && e.Error != nil {
			continue
		}
		found = &e
		if s.strategy != "latest" {
			break
		}
	}
	if found == nil || found.Error != nil {
		return nil
	}
	return found
}

func (s *Selector) what() string {
	switch s.strategy {
	case "latest":
		return "successful last call"
	case "first_success":
		return "successful call"
	}
	return "successful call with the given id"
}
