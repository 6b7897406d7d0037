// Package react is what react nodes of Stargraph keep of an agent's calls.
package react

import (
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
)

// Trace lists calls in their order, each as {tool, args, observation}. The observation of a call that failed is its error:
// {error: {code, message}}.
func Trace(calls map[string]agent.Envelope, order []string) runtime.Value {
	list := make([]runtime.Value, 0, len(order))
	for _, id := range order {
		c := calls[id]
		seen := c.Output
		if c.Error != nil {
			seen = runtime.MapValue(runtime.Entry{Key: "error", Value: runtime.MapValue(
				runtime.Entry{Key: "code", Value: runtime.StringValue(string(c.Error.Code))},
				runtime.Entry{Key: "message", Value: runtime.StringValue(c.Error.Message)},
			)})
		}
		list = append(list, runtime.MapValue(
			runtime.Entry{Key: "tool", Value: runtime.StringValue(c.Name + "@" + c.Version)},
			runtime.Entry{Key: "args", Value: c.Input},
			runtime.Entry{Key: "observation", Value: seen},
		))
	}
	return runtime.ListValue(list...)
}
