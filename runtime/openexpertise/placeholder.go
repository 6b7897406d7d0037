package openexpertise

import (
	"maps"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Shown is what stands for a placeholder in a prompt: the value below the keys of path, as JavaScript writes it, or the
// placeholder itself where there is none. Native workflows call it: `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.Shown`.
func Shown(in value.Value, path []string, placeholder string) string {
	return Fill(js.At(dynamic.Of(in), path...), placeholder)
}

// Told is what a skill is told: values by their names, as JavaScript writes them in several lines. Native workflows call it:
// `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.Told`.
func Told(in value.Value) string { return js.Indent(dynamic.Of(in)) }

// Seen is what a module sees of values by their names: those that are null have none, and are left out. Native workflows call it where
// a module asks which there are: `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.Seen`.
func Seen(in map[string]value.Value) map[string]value.Value {
	maps.DeleteFunc(in, func(_ string, v value.Value) bool { return v.IsNull() })
	return in
}
