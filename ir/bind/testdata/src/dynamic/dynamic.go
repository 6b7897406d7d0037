// Package dynamic takes values of the runtime's types.
package dynamic

import "github.com/flowgen-dev/flowgen/runtime"

// Out holds them all.
type Out struct {
	Any   runtime.Value            `json:"any"`
	Map   map[string]runtime.Value `json:"map"`
	Err   *runtime.ToolError       `json:"err"`
	Code  runtime.Code             `json:"code"`
	Items []runtime.Item[string]   `json:"items"`
}

func Do(v runtime.Value) Out { return Out{} }

func Pointer(v *runtime.Value) error { return nil }
