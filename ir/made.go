package ir

import (
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Made is a tool that a function of a runtime package makes, once, when the program starts.
type Made struct {
	New   *Expr     // its type is a tool of the declaration's In and Out
	Reach *Reach    // nil is refused: nothing reaches out unseen
	Flow  *Workflow // that a Lambda of New runs, in runs of its own; nil: none
}

// Gated reports whether the function takes the options of a tool: sandboxes and other gates are then around its calls.
func (b *Made) Gated() bool {
	if b.New == nil || b.New.Node == nil || b.New.Node.Op != expr.Intrinsic || !b.New.Node.Func.Variadic {
		return false
	}
	f := b.New.Node.Func
	last := f.Params[len(f.Params)-1].Go
	return last != nil && last.Path == schema.FlowPath && last.Name == "ToolOption"
}

// Runs reports whether the tool starts programs.
func (b *Made) Runs() bool { return b.Reach != nil && len(b.Reach.Commands) > 0 }

// Reach is what a tool or a model that a function makes can touch: manifests, policies and sandboxes know of it what is
// said here. An empty one says: nothing.
type Reach struct {
	Hosts    []string  // of addresses, with a port if one is written; * for what data says
	Commands []string  // programs that it starts
	Env      []string  // environment variables that it reads; * for all
	Files    []string  // that it reads
	Code     []string  // what else it runs, as a manifest lists it: "data:rows.csv"
	Servers  []*Server // of MCP that it starts or asks
}

func (*Made) binding() {}

// An Answer is what the answer of a model has to fit.
type Answer struct {
	Name string // as the model reads it
	JSON string // a JSON Schema
	Tool string // the tool whose arguments the answer is; empty: the provider's own way
}
