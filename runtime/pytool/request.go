package pytool

import (
	"context"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// request is the body of a call: {"f": "module:function", "m": max output, "p": whether what it prints is wanted, "a":
// arguments, "c": context}.
func (f *Func) request(ctx context.Context, args []byte, limit int) ([][]byte, error) {
	if len(args) == 0 || args[0] != '{' {
		return nil, value.Invalid("input of %s: the arguments are not an object", f.what())
	}
	b := make([]byte, 0, len(f.Module)+len(f.Name)+64)
	b = value.AppendQuoted(append(b, `{"f":`...), f.Module+":"+f.Name)
	b = strconv.AppendInt(append(b, `,"m":`...), int64(limit), 10)
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
