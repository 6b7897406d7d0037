package jstool

import (
	"context"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/internal/jsvalue"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// request is the body of a call: {"k": key of the module, "m": max output, "j": whether its JSON is loose, "p": whether what it prints is
// wanted, "a": argument, "c": context}.
func (m *bound) request(ctx context.Context, args []byte, limit int) ([][]byte, error) {
	if len(args) == 0 || args[0] != '{' {
		return nil, value.Invalid("input of %s: the argument is not an object", m.Name)
	}
	if n := jsvalue.Inexact(args); n != "" && !m.Inherit {
		return nil, value.Invalid("input of %s: JavaScript has no exact form of the integer %s", m.Name, n)
	}
	b := make([]byte, 0, len(m.asset.Key)+64)
	b = append(append(b, `{"k":"`...), m.asset.Key...)
	b = strconv.AppendInt(append(b, `","m":`...), int64(limit), 10)
	if m.Inherit {
		b = append(b, `,"j":true`...)
	}
	if tool.Context(ctx).Logs() {
		b = append(b, `,"p":true`...)
	}
	b = append(b, `,"a":`...)
	end := []byte{'}'}
	if c := worker.Given(ctx); c != nil {
		end = append(append([]byte(`,"c":`), c...), '}')
	}
	return [][]byte{b, args, end}, nil
}
