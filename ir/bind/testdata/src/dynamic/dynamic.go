// Package dynamic takes values of the runtime's types.
package dynamic

import (
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Out holds them all.
type Out struct {
	Any   value.Value            `json:"any"`
	Map   map[string]value.Value `json:"map"`
	Err   *value.ToolError       `json:"err"`
	Code  value.Code             `json:"code"`
	Items []flow.Item[string]    `json:"items"`
}

func Do(v value.Value) Out { return Out{} }

func Pointer(v *value.Value) error { return nil }
