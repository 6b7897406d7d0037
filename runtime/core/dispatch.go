package core

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A tool that is chosen by name at run time, by data or by a model, is found by a function that the generator writes: a
// switch over the names that the workflow allows, in which every case is one Dispatch of a tool bound at compile time.
// There is no registry: a name that is not a case reaches nothing.

// ToolResult is the result of a tool_call node: always there, whatever became of the call. In JSON all five fields
// are always present. R is Value, or a pointer to the type that the node declares; it is null unless Success.
type ToolResult[ID, R any] struct {
	TaskID  ID      `json:"task_id"`
	Tool    string  `json:"tool"`
	Success bool    `json:"success"`
	Result  R       `json:"result"`
	Error   *string `json:"error"` // what went wrong, nil when Success
}

// Choose calls the tool of that name for node n and returns what became of it as data: an unknown name, arguments that do
// not fit, and every error of the tool, panics included. The error it returns is a run error. call is the function with
// the switch.
func Choose[ID, R any](r *Run, n *Node, id ID, tool string, args value.Args, call func(*Run, string, *value.Args) (R, error)) (ToolResult[ID, R], error) {
	out := ToolResult[ID, R]{TaskID: id, Tool: tool}
	result, err := call(r, tool, &args)
	if err == nil {
		out.Success, out.Result = true, result
		return out, nil
	}
	if refused, ok := err.(*value.ToolError); ok { // before there was a call
		r.refuse(n, value.Clip(tool, 200), "", refused)
		out.Error = ptr(reason(refused))
		return out, nil
	}
	te := value.ToolErrorOf(err)
	if te == nil {
		return out, err
	}
	out.Error = ptr(reason(te))
	return out, nil
}

// reason is an error as one text: "FileNotFoundError: ...", "Unknown tool: x", "TIMEOUT: no result after 1s".
func reason(te *value.ToolError) string {
	switch te.Code {
	case value.Unknown, value.ValidationError: // the message says all
		return te.Message
	}
	return te.Error()
}

// refuse makes a choice that was never called a visit of its node like any other, and tells the observers.
//
//go:noinline
func (r *Run) refuse(n *Node, tool, id string, te *value.ToolError) {
	if r.scope == nil {
		return
	}
	h := &Head{Node: n, Tool: tool, Scope: r.scope, Visit: r.scope.enter(n)}
	if !r.observed() {
		return
	}
	e := r.ended(h, r.nodeStart(h), te)
	e.id = id
	r.emit(e)
}

// Dispatch calls tool t for node n with arguments that are data. in reads them; what does not fit is a VALIDATION_ERROR
// before anything is called. The call itself passes the same gates as any other, is recorded under n's key with the
// tool's name, and is answered from there in a replay. out turns the tool's output into the type of the result: ToValue,
// ToPtr, or ToType.
func Dispatch[In, Out, R any](r *Run, n *Node, t *Tool[In, Out], args *value.Args, in func(*value.Args) In, out func(Out) (R, error)) (R, error) {
	input, te := value.ReadArgs(args, in)
	if te != nil {
		var none R
		return none, te
	}
	result, err := contained(r, n, t, input)
	if err != nil {
		var none R
		return none, err
	}
	converted, err := out(result)
	if err != nil {
		return converted, &NodeError{Node: n, Key: r.scope.path() + n.ID, Err: value.Invalid("output: %v", err)}
	}
	return converted, nil
}

// Invoke is Dispatch for a call whose output only its receipt is about: see Visit. What does not fit is returned as a
// *ToolError, and there is no receipt; see Refuse.
func Invoke[In, Out any](r *Run, n *Node, t *Tool[In, Out], args *value.Args, in func(*value.Args) In) error {
	input, te := value.ReadArgs(args, in)
	if te != nil {
		return te // the caller decides what happens next
	}
	_, err := contained(r, n, t, input)
	return err
}

// contained is Call with a panic of the tool as an error, which the door makes it, but a direct call does not.
func contained[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (out Out, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked(n, p)
		}
	}()
	return Call(r, n, t, in)
}

// panicked is the error of a call that ended in a panic.
//
//go:noinline
func (r *Run) panicked(n *Node, p any) error {
	return r.Fail(n, value.Errorf(value.Unknown, "panic: %s", value.Clip(fmt.Sprint(p), 1000)).From(r.panicOf(p)))
}

// UnknownTool is the error of a name that no tool has.
func UnknownTool(name string) error {
	return value.Errorf(value.Unknown, "Unknown tool: %s", value.Clip(name, 200))
}

// DeniedTool is the error of the name of a tool that exists and may not be called here.
func DeniedTool(name string) error {
	return value.Errorf(value.PolicyDenied, "tool %s is not allowed here", value.Clip(name, 200))
}
