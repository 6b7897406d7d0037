package native

import (
	"slices"
	"testing"
)

// TestHints: each hint is about a key that there is.
func TestHints(t *testing.T) {
	known := map[string]bool{}
	for _, s := range append(slices.Clone(Shapes()), shapeNode) {
		for _, k := range s.Keys {
			known[s.Name+"."+k.Name] = true
		}
	}
	for name := range hints {
		if !known[name] {
			t.Errorf("no shape has the key %s", name)
		}
	}
}
