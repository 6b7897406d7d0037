package pytool

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/worker"
)

// request is the body of a call: {"f": "module:function", "m": max output, "a": arguments, "c": context}.
func (f *Func) request(ctx context.Context, args []byte, limit int) ([][]byte, error) {
	if len(args) == 0 || args[0] != '{' {
		return nil, runtime.Invalid("input of %s: the arguments are no object", f.what())
	}
	what, err := json.Marshal(f.Module + ":" + f.Name)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(what)+64)
	b = append(append(b, `{"f":`...), what...)
	b = strconv.AppendInt(append(b, `,"m":`...), int64(limit), 10)
	b = append(b, `,"a":`...)
	end := []byte{'}'}
	c, err := worker.Given(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		end = append(append([]byte(`,"c":`), c...), '}')
	}
	return [][]byte{b, args, end}, nil
}
