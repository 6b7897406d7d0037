package sirenspec

import (
	"errors"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Status is how a run ends.
func Status(err error) string {
	if err != nil {
		return "failed"
	}
	return "success"
}

// Failure is what the output of a failed run says about its error: the node, the message in the engine's words and what
// the engine's ToolError has besides. It is absent for a run without an error.
func Failure(err error) dynamic.Field {
	var ne *runtime.NodeError
	if !errors.As(err, &ne) {
		return dynamic.Field{}
	}
	entries := []dynamic.Entry{dynamic.Put("node", dynamic.Text(ne.Node.ID))}
	var te *value.ToolError
	if !errors.As(err, &te) {
		return dynamic.Object(append(entries, dynamic.Put("message", dynamic.Text(ne.Err.Error())))...)
	}
	entries = append(entries, dynamic.Put("message", dynamic.Text(te.Message)))
	for _, key := range []string{"tool_name", "status_code", "cause"} {
		if v, ok := te.Details.Get(key); ok {
			entries = append(entries, dynamic.Put(key, dynamic.Of(v)))
		}
	}
	return dynamic.Object(entries...)
}
