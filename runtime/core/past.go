package core

import (
	"context"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// LastTool is the tool that questions about earlier runs are recorded and reported as.
const LastTool = "journal.last@1"

// LastCall asks an earlier run what a tool gave to an agent.
type LastCall struct {
	Workflow string `json:"workflow"`
	Tenant   string `json:"tenant,omitempty"` // nobody is told what came of another tenant's run
	Node     string `json:"node"`             // the key of the agent's node, without its visit
	Pin      string `json:"pin"`
	Tool     string `json:"tool"` // name@version
}

// Past knows what came of earlier runs. It is used by all runs at the same time.
type Past interface {
	// Last returns the output, as JSON, of the last successful call of q.Tool that the agent made in the latest run that
	// has ended and has such a call, and nil when there is none. An error fails the call that asks.
	Last(ctx context.Context, q LastCall) ([]byte, error)
}

// WithPast says who knows what came of earlier runs. Without it there were none.
func WithPast(p Past) Option { return func(rt *Runtime) { rt.past = p } }

var lastTool = Provide(Bind(LastTool, Reads, func(ctx context.Context, q LastCall) (out value.Value, err error) {
	r, _ := callOf(ctx).place()
	p := r.state.rt.past
	if p == nil {
		return out, nil
	}
	b, err := p.Last(ctx, q)
	if err != nil || b == nil || value.Decode(b, &out) == nil {
		return out, err
	}
	return value.Null(), nil // what a past says is outside data
}, Cancellable()))

// Last asks for what an earlier run had for a pin of the agent of n. It is a call as any other, with effects reads, so that
// a replay has the same answer. It returns nil when there is nothing, or nothing of type T. The error is a *NodeError.
func Last[T any](r *Run, n *Node, pin, tool string) (*T, error) {
	s := r.Scoped()
	q := LastCall{Workflow: r.state.rt.info.Name, Tenant: r.state.tenant, Node: s.scope.path() + n.ID, Pin: pin, Tool: tool}
	got, err := Call(s.open(n, -1, s.scope.current(n)), &Node{ID: pin, Pos: n.Pos, Index: -1}, lastTool, q)
	if err != nil || got.IsNull() {
		return nil, err
	}
	b, err := got.MarshalJSON()
	v := new(T)
	if err != nil || value.Decode(b, v) != nil { // the tool gave something else then
		return nil, nil
	}
	return v, nil
}
