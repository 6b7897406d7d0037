package flow_test

import (
	"errors"

	_ "github.com/flowgen-dev/flowgen/runtime/pattern"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func codeOf(err error) value.Code {
	if te, ok := errors.AsType[*value.ToolError](err); ok {
		return te.Code
	}
	return ""
}
