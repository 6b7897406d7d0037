// Package react is what react nodes of Stargraph keep of an agent's calls.
package react

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/stargraph"
)

// Trace lists calls in their order, each as {tool, args, observation}: the name that the engine has for the tool, which is
// namespace_name, and the text that Python makes of the result or, of a call that failed, what ReAct says of it.
func Trace(calls map[string]agent.Envelope, order []string) runtime.Value {
	list := make([]runtime.Value, 0, len(order))
	for _, id := range order {
		c := calls[id]
		seen, _ := stargraph.FormatValue(c.Output, "") // there is nothing to format
		if c.Error != nil {
			seen = "Execution error in " + name(c.Name) + ": " + string(c.Error.Code) + ": " + c.Error.Message
		}
		list = append(list, runtime.MapValue(
			runtime.Entry{Key: "tool", Value: runtime.StringValue(name(c.Name))},
			runtime.Entry{Key: "args", Value: c.Input},
			runtime.Entry{Key: "observation", Value: runtime.StringValue(seen)},
		))
	}
	return runtime.ListValue(list...)
}

var notName = regexp.MustCompile("[^0-9A-Za-z_]")

// name is what the engine calls a tool for models.
func name(tool string) string { return notName.ReplaceAllString(tool, "_") }
