package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Child runs a node that is another graph: child runs that and returns what the node writes.
func (f *Flow) Child(n *flow.Node, child func() (dynamic.Field, error)) error {
	out, err := child()
	if err != nil {
		return err
	}
	v := out.Value()
	for i, key := range v.Keys() {
		f.write(key, v.Index(i))
	}
	f.step(n)
	return nil
}

// Grown is what a list has that grew out of another: the items after those.
func Grown(old, now dynamic.Field) dynamic.Field {
	before, after := old.Value(), now.Value()
	if before.Kind() != value.ListKind || after.Kind() != value.ListKind || after.Len() < before.Len() {
		return now
	}
	items, _ := now.Items()
	for i := range before.Len() {
		if !before.Index(i).Equal(items[i]) {
			return now
		}
	}
	return dynamic.Of(value.List(items[before.Len():]...))
}
