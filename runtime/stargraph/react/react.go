// Package react is what react nodes of Stargraph keep of an agent's calls.
package react

import (
	"regexp"

	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/stargraph"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Trace lists calls in their order, each as {tool, args, observation}: the name that the engine has for the tool, which is
// namespace_name, and the text that Python makes of the result or, of a call that failed, what ReAct says of it.
func Trace(calls map[string]agent.Envelope, order []string) value.Value {
	list := make([]value.Value, 0, len(order))
	for _, id := range order {
		c := calls[id]
		seen, _ := stargraph.FormatValue(c.Output, "") // there is nothing to format
		if c.Error != nil {
			seen = "Execution error in " + name(c.Name) + ": " + string(c.Error.Code) + ": " + c.Error.Message
		}
		list = append(list, value.Map(
			value.Entry{Key: "tool", Value: value.String(name(c.Name))},
			value.Entry{Key: "args", Value: c.Input},
			value.Entry{Key: "observation", Value: value.String(seen)},
		))
	}
	return value.List(list...)
}

var notName = regexp.MustCompile("[^0-9A-Za-z_]")

// name is what the engine calls a tool for models.
func name(tool string) string { return notName.ReplaceAllString(tool, "_") }
