// Package sirenspec runs the nodes of SirenSpec workflows: tools, questions to agents, their guardrails, and the texts
// that are made of the context. Generated code holds the order of the nodes, their conditions and the context itself.
//
// Values are shown and compared as Python does, which the dialect's engine runs on. Everything goes through flow.Call
// and llm.Ask, so that runs can be recorded, replayed and resumed.
package sirenspec

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Flow is one run: it knows what the next agent receives. It is used by one branch at a time.
type Flow struct {
	message dynamic.Field  // what the workflow is asked
	last    *dynamic.Field // where the last node wrote; nil: none has
	path    []string
	spent   spent

	entries []value.Entry // of the call that is made, as given, which reads them: no call needs new ones
	given   value.Args
}

// New makes a Flow for a workflow that is asked message.
func New(message string) *Flow { return &Flow{message: dynamic.Text(message)} }

// Message is what the workflow is asked.
func (f *Flow) Message() string { return f.message.Value().String() }

// Wrote puts the text of a node at a place of the context, which is what the next agent receives.
func (f *Flow) Wrote(field *dynamic.Field, text string, path ...string) {
	Set(field, dynamic.Text(text), path...)
	f.last, f.path = field, path
}

// told is what the next agent receives: what stands now where the last node wrote.
func (f *Flow) told() string {
	if f.last == nil {
		return f.Message()
	}
	if v := f.last.At(f.path...); v.Present() {
		return Text(v.Value())
	}
	return f.Message() // a later node wrote over it
}

// Set puts a value below keys of a field. What is on the way and no map becomes one.
func Set(field *dynamic.Field, v dynamic.Field, path ...string) {
	*field = set(*field, v, path)
}

func set(old, v dynamic.Field, path []string) dynamic.Field {
	if len(path) == 0 {
		return v
	}
	inner := set(old.At(path[0]), v, path[1:])
	if !old.Present() && inner.Present() {
		return dynamic.Of(value.Map(value.Entry{Key: path[0], Value: inner.Value()}))
	}
	m, more := old.Value(), 0
	if m.Kind() == value.MapKind {
		more = m.Len()
	}
	return dynamic.Of(value.MapOf(more+1, func(i int) (string, value.Value, bool) {
		if i < more {
			return m.Key(i), m.Index(i), true
		}
		return path[0], inner.Value(), inner.Present()
	}))
}

// A Policy is what becomes of a tool node that fails.
type Policy struct {
	Retries int  // how many times a failed call is repeated, at once
	Skip    bool // the node gives null then, and the run goes on; else the run ends
}

// run calls a tool until it succeeds or its attempts are spent. name is the adapter, explain gives the error of a call the
// engine's words.
func run[In any](r *flow.Run, n *flow.Node, t *flow.Tool[In, value.Value], p Policy, in In, explain func(*value.ToolError)) (dynamic.Field, error) {
	for attempt := 0; ; attempt++ {
		out, err := flow.Call(r, n, t, in)
		if err == nil {
			return dynamic.Of(out), nil
		}
		if flow.Skipped(err) != nil || isInterpolation(err) { // no tool error
			return dynamic.Field{}, err
		}
		if attempt >= p.Retries {
			if p.Skip {
				return dynamic.Null(), nil
			}
			return dynamic.Field{}, explained(err, explain)
		}
	}
}

// explained is an error of a node with a message in the engine's words. What was recorded stays as it is.
func explained(err error, explain func(*value.ToolError)) error {
	var ne *runtime.NodeError
	var te *value.ToolError
	if explain == nil || !errors.As(err, &ne) || !errors.As(err, &te) {
		return err
	}
	own := *te
	explain(&own)
	return &runtime.NodeError{Node: ne.Node, Key: ne.Key, Err: &own}
}
