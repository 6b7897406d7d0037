package yamlgraph_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/yamlgraph"
)

// BenchmarkSet is a node that sets two fields of a state of ten.
func BenchmarkSet(b *testing.B) {
	var fields [10]dynamic.Field
	var slots []dynamic.Slot
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "current_step"} {
		slots = append(slots, dynamic.Slot{Name: name, Field: &fields[i]})
	}
	w := yamlgraph.New(slots...)
	n := &flow.Node{ID: "set"}
	b.ReportAllocs()
	for b.Loop() {
		w.Set(n, dynamic.Put("a", dynamic.Whole(1)), dynamic.Put("i", fields[0]))
	}
	if got := fields[8].Value().Int(); got != 1 {
		b.Fatal(got)
	}
}
