// Package toy is the engine of the toy dialect: what its workflows call.
package toy

import (
	"context"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Shout is a text in capitals.
func Shout(text string) string { return strings.ToUpper(text) }

// Words makes a tool that counts the words of a text.
func Words(name string) *flow.Tool[string, string] {
	return flow.Bind(name, flow.None, func(_ context.Context, text string) (string, error) {
		return strconv.Itoa(len(strings.Fields(text))), nil
	})
}
