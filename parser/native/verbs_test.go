package native

import (
	"reflect"
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
)

// TestVerbs: every verb but a Perform, which translators make, has a key with a shape, and every key is that of a verb.
func TestVerbs(t *testing.T) {
	of := reflect.TypeOf(ir.Switch)
	var keys []string
	for i := 1; i < of.NumIn(); i++ {
		v := reflect.New(of.In(i).In(0).Elem()).Interface().(ir.Verb)
		if _, made := v.(*ir.Perform); made {
			continue
		}
		keys = append(keys, ir.Key(v))
		if nodeShapes[ir.Key(v)] == nil {
			t.Errorf("%T has the key %q, which has no shape", v, ir.Key(v))
		}
	}
	slices.Sort(keys)
	if want := slices.Sorted(slices.Values(verbs)); !slices.Equal(keys, want) {
		t.Errorf("the keys of verbs are %v, those of the language %v", keys, want)
	}
}
