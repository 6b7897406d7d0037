package temporal

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Failure is the detail of the error that a workflow fails with. The error's type is the code of a tool's error, or the kind
// of a run error such as in_doubt.
type Failure struct {
	Node  string           `json:"node,omitempty"`
	Key   string           `json:"key,omitempty"`
	Pos   string           `json:"pos,omitempty"`
	Error *value.ToolError `json:"error,omitempty"`
}

// failed makes the error of a run that of its workflow.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if runtime.IsCancelled(err) {
		return temporal.NewCanceledError(err.Error())
	}
	var f Failure
	kind := "error"
	if ne := (*runtime.NodeError)(nil); errors.As(err, &ne) {
		f.Node, f.Key, f.Pos = ne.Node.ID, ne.Key, ne.Node.Pos
	}
	if te, re := value.ToolErrorOf(err), (*runtime.RunError)(nil); te != nil {
		kind, f.Error = string(te.Code), te
	} else if errors.As(err, &re) {
		kind = string(re.Kind)
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), kind, temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{f}})
}
