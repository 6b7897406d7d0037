// Package agent lets a language model work with tools: it asks the model, makes the calls that the answer asks for, all
// at the same time, tells the model what became of them, and so on until it answers with text (Agent Tools 2.1). What is
// allowed is decided here and at the runtime's door, never by the model: the tools are those of the Spec, bound at compile
// time; their arguments are read strictly before anything is called; and calls, turns, cost and tokens have caps.
//
// It is on the runtime's Call, Parallel and Now alone, so that an agent can be recorded, replayed, resumed and
// simulated like anything else. What a replay needs, the prompt, the messages, the tools' schemas and all receipts, is
// what the journal holds (Agent Tools 6.4).
package agent

import (
	"slices"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The caps of an agent that does not say otherwise (Agent Tools 5.1).
const (
	DefaultMaxIterations = 10
	DefaultMaxToolCalls  = 25
	// Unbounded is a cap that is none.
	Unbounded = -1
	// DefaultMaxResult is the maximum number of bytes of a result that a model receives.
	DefaultMaxResult = 64 << 10
	// MaxCallsPerTurn is the most calls that one answer can ask for. A model that asks for more fails the node.
	MaxCallsPerTurn = 256
)

// maxArgs is the largest text of arguments that is looked at.
const maxArgs = 1 << 20

// Spec is an agent as a workflow declares it. It is read-only once it is used, and safe for concurrent use.
type Spec struct {
	Model *llm.Model
	Tools []Tool // all that the model can call (Agent Tools 5.1, enabled_tools)

	MaxIterations int // the most answers of the model: 0 = DefaultMaxIterations, or Unbounded
	MaxToolCalls  int // the most calls of tools: 0 = DefaultMaxToolCalls, or Unbounded
	MaxResult     int // bytes of a result that the model receives; 0 = DefaultMaxResult

	// ToolTimeout bounds each call of a tool; 0: as the tool says. The agent as a whole is bounded by its node.
	ToolTimeout time.Duration

	// Policy is what else holds for what the agent does: effects, cost, tokens. nil: only the run's policies hold.
	Policy *runtime.Policy

	// Tell formats a result for the model; at most MaxResult bytes are used. nil: a text as it is, else JSON.
	Tell func(*Envelope) string

	once  sync.Once
	told  []llm.Tool
	index map[string]int // in Tools
}

// Tool is a tool that a model can call. Use makes one.
type Tool struct {
	name string // as the model knows it
	tool string // name@version
	told llm.Tool
	call func(r *flow.Run, n *flow.Node, args *value.Args, fixed any) error
}

// Use makes t callable under a name. description tells the model what it does and schema, a JSON Schema, what it takes; in
// reads the input from what the model wrote (Agent Tools 3.3).
func Use[In, Out any](name, description string, t *flow.Tool[In, Out], in func(*value.Args) In, schema string) Tool {
	return Tool{
		name: name,
		tool: t.Name() + "@" + t.Version(),
		told: llm.Tool{Name: name, Description: description, Schema: []byte(schema)},
		call: func(r *flow.Run, n *flow.Node, args *value.Args, _ any) error {
			return engine.Invoke(r, n, t, args, in)
		},
	}
}

// UseFixed is Use for a tool of which each node fixes some arguments with Fix. schema leaves them out, and in adds what the
// model wrote to what is fixed: a model that writes a fixed argument is told that there is no such field.
func UseFixed[In, Out any](name, description string, t *flow.Tool[In, Out], in func(*value.Args, In) In, schema string) Tool {
	u := Use(name, description, t, nil, schema)
	u.call = func(r *flow.Run, n *flow.Node, args *value.Args, fixed any) error {
		base, ok := fixed.(In)
		if !ok {
			return r.Fail(n, value.Errorf(value.PolicyDenied, "the arguments of %s that its agent fixes are not there", name))
		}
		return engine.Invoke(r, n, t, args, func(a *value.Args) In { return in(a, base) })
	}
	return u
}

// Fixed are the arguments of one tool that a node fixes. Fix makes one.
type Fixed struct {
	name string
	in   any // the tool's input with these arguments
}

// Fix fixes arguments of the tool that UseFixed made callable under a name: those of in that the model does not write.
func Fix[In any](name string, in In) Fixed { return Fixed{name, in} }

func (s *Spec) prepare() {
	s.once.Do(func() {
		s.index = make(map[string]int, len(s.Tools))
		for i, t := range s.Tools {
			s.told = append(s.told, t.told)
			s.index[t.name] = i
		}
	})
}

// capped is a cap with its default; -1 is none.
func capped(n, def int) int {
	if n == 0 {
		return def
	}
	return max(n, Unbounded)
}

// Outputs are the results of an agent node, always the same fields (Agent Tools 3.1). In JSON all five fields are always
// present.
type Outputs struct {
	// Response is the model's last answer.
	Response string `json:"response"`
	// ToolsByID holds the receipts of all calls that the model asked for, refused ones too, by their call ids.
	ToolsByID map[string]Envelope `json:"tools_by_id"`
	// ToolOrder are the call ids in the order in which the model asked for them.
	ToolOrder []string `json:"tool_order"`
	// LastTool is the receipt of the last call in that order that succeeded.
	LastTool *Envelope `json:"last_tool"`
	// TracesURL is where the trace of the run is shown.
	TracesURL *string `json:"traces_url"`
}

// Envelope is the receipt of a call that a model asked for (Agent Tools 3.2). In JSON all fields are always present.
type Envelope struct {
	CallID      string            `json:"call_id"`
	Tool        string            `json:"tool"` // the name that the model knows
	Name        string            `json:"name"` // the qualified name
	Version     string            `json:"version"`
	Input       value.Value       `json:"input"`
	Output      value.Value       `json:"output"` // null when the call failed
	Error       *value.ToolError  `json:"error"`  // null when it succeeded
	TStart      time.Time         `json:"t_start"`
	TEnd        time.Time         `json:"t_end"`
	Cached      bool              `json:"cached"`
	Truncated   bool              `json:"truncated"`
	Attachments []tool.Attachment `json:"attachments"`

	raw []byte `json:"-"` // the output's JSON
}

// Equal reports whether two receipts say the same, for go-cmp.
func (e Envelope) Equal(o Envelope) bool {
	errs := e.Error == nil && o.Error == nil || e.Error != nil && o.Error != nil && e.Error.Equal(o.Error)
	return errs && e.CallID == o.CallID && e.Tool == o.Tool && e.Name == o.Name && e.Version == o.Version && e.Input.Equal(o.Input) &&
		e.Output.Equal(o.Output) && e.TStart.Equal(o.TStart) && e.TEnd.Equal(o.TEnd) && e.Cached == o.Cached &&
		e.Truncated == o.Truncated && slices.Equal(e.Attachments, o.Attachments)
}
