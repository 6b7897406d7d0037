package openexpertise

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Shown is what stands for a placeholder in a prompt: the value below the keys of path, as JavaScript writes it, or the
// placeholder itself where there is none. Native workflows call it: `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.Shown`.
func Shown(in value.Value, path []string, placeholder string) string {
	return Fill(js.At(dynamic.Of(in), path...), placeholder)
}
