package yamlgraph

import (
	"cmp"
	"errors"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
)

// Map runs body for every item of a list and adds the results to the list in the field key, in the order of the items,
// each with its place: a map as it is, anything else as the value of one. An item that fails leaves its error there, and
// in errors. ran is false for an empty list: in the engine nothing comes after it. The error is one of the run, or says
// that there is no list.
func (f *Flow) Map(r *runtime.Run, n *runtime.Node, key string, over dynamic.Field, body func(r *runtime.Run, item dynamic.Field) (runtime.Value, error)) (ran bool, err error) {
	items, ok := over.Items()
	if !ok {
		return false, r.Fail(n, runtime.Errorf(runtime.ValidationError, "the list of map node %q is %s", n.ID, missing(over)))
	}
	results, err := runtime.Map(r, n, runtime.Enumerate(items), func(r *runtime.Run, item runtime.Indexed[runtime.Value]) (result, error) {
		v, err := body(r, dynamic.Of(item.Value))
		if err != nil && runtime.Skipped(err) != nil {
			return result{}, err
		}
		return collected(n, item.Index, v, err), nil
	})
	if err != nil {
		return false, err
	}
	all := make([]runtime.Value, len(results))
	for i, res := range results {
		if all[i] = res.item; !res.failure.IsNull() {
			f.write("errors", runtime.ListValue(res.failure))
		}
	}
	if len(all) > 0 {
		f.write(key, runtime.ListValue(all...))
	}
	return len(items) > 0, nil
}

func missing(over dynamic.Field) string {
	if !over.Present() {
		return "missing"
	}
	return "no list"
}

type result struct{ item, failure runtime.Value }

// place is the key of an item's place in the list.
const place = "_map_index"

// collected is the result of an item.
func collected(n *runtime.Node, index int64, v runtime.Value, err error) result {
	at := runtime.Entry{Key: place, Value: runtime.IntValue(index)}
	var te *runtime.ToolError
	switch {
	case errors.As(err, &te):
		return result{runtime.MapValue(at, runtime.Entry{Key: "_error", Value: runtime.StringValue(te.Message)}, runtime.Entry{Key: "_error_type", Value: runtime.StringValue(string(te.Code))}), entry(n, err)}
	case v.Kind() != runtime.MapKind:
		return result{item: runtime.MapValue(at, runtime.Entry{Key: "value", Value: v})}
	}
	entries := []runtime.Entry{at}
	for i, key := range v.Keys() {
		entries = append(entries, runtime.Entry{Key: key, Value: v.Index(i)})
	}
	return result{item: runtime.MapValue(entries...)}
}

// inOrder brings a list into the order of the places when its first item has one.
func inOrder(list runtime.Value) runtime.Value {
	if list.Len() == 0 {
		return list
	}
	if _, placed := list.Index(0).Get(place); !placed {
		return list
	}
	items, _ := dynamic.Of(list).Items()
	slices.SortStableFunc(items, func(a, b runtime.Value) int { return cmp.Compare(index(a), index(b)) })
	return runtime.ListValue(items...)
}

func index(v runtime.Value) int64 {
	at, _ := v.Get(place)
	if at.Kind() != runtime.IntKind {
		return 0
	}
	return at.Int()
}
