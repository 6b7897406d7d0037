package yamlgraph

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
)

// Map runs body for every item of a list and adds the results to the list in the field key, in the order of the items,
// each with its place: a map as it is, anything else as the value of one. An item that fails leaves its error there, and
// in errors. ran is false for an empty list: in the engine nothing comes after it. The error is one of the run, or says
// that there is no list.
func (f *Flow) Map(r *runtime.Run, n *runtime.Node, key string, over dynamic.Field, body func(r *runtime.Run, item dynamic.Field) (runtime.Value, error)) (ran bool, err error) {
	return f.gather(r, n, Gather{Into: key}, over, func(r *runtime.Run, item dynamic.Field, _ int64) (runtime.Value, error) { return body(r, item) })
}

// Gather says what becomes of the items of a map.
type Gather struct {
	Into string // the field of the results
	As   string // what the item is called in the state that the node sees
	Key  string // the key of the node's update that is its result; an update without it is the result

	MaxItems int     // so many items are looked at; 0: all
	Failures string  // the field that failures go to; empty: they stand among the results
	Least    int     // so many items have to do well
	Share    float64 // such a part of the items has to do well
	Strict   bool    // more items than MaxItems are an error
	Fail     bool    // the first failure ends the run
	Flat     bool    // results that are lists are added item by item
}

// MapNode is Map for a node that writes to the state: its update is the result of an item.
func (f *Flow) MapNode(r *runtime.Run, n *runtime.Node, g Gather, over dynamic.Field, body func(r *runtime.Run, flow *Flow, item dynamic.Field) error) (ran bool, err error) {
	return f.gather(r, n, g, over, func(r *runtime.Run, item dynamic.Field, index int64) (runtime.Value, error) {
		inner := &Flow{slots: f.slots, aside: true, counts: f.counts, name: "_map_" + n.ID + "_sub", sent: []dynamic.Entry{dynamic.Put(g.As, item), dynamic.Put(place, dynamic.Whole(index))}}
		if err := body(r, inner, item); err != nil {
			return runtime.Null(), err
		}
		update := runtime.MapValue(inner.late...)
		for _, key := range []string{"errors", "error"} {
			if v, ok := update.Get(key); ok {
				return runtime.Null(), &itemError{py.Str(dynamic.Of(v)), v}
			}
		}
		if v, ok := update.Get(g.Key); ok {
			return v, nil
		}
		return update, nil
	})
}

// State is what a node of this flow sees of the state: inside of a map with the item and its place.
func (f *Flow) State(state dynamic.Field) dynamic.Field { return state.With(f.sent...) }

// An itemError is what a node has written into errors or error.
type itemError struct {
	text   string
	errors runtime.Value
}

func (e *itemError) Error() string { return e.text }

func (f *Flow) gather(r *runtime.Run, n *runtime.Node, g Gather, over dynamic.Field, body func(r *runtime.Run, item dynamic.Field, index int64) (runtime.Value, error)) (ran bool, err error) {
	items, ok := over.Items()
	if !ok {
		return false, r.Fail(n, runtime.Errorf(runtime.ValidationError, "the list of map node %q is %s", n.ID, missing(over)))
	}
	if g.MaxItems > 0 && len(items) > g.MaxItems && g.Strict {
		return false, r.Fail(n, runtime.Errorf(runtime.PolicyDenied, "map node %q: %d items exceed max_items=%d: raise it, or write `on_overflow: truncate`", n.ID, len(items), g.MaxItems))
	}
	if g.MaxItems > 0 && len(items) > g.MaxItems {
		items = items[:g.MaxItems]
	}
	results, err := runtime.Map(r, n, runtime.Enumerate(items), func(r *runtime.Run, item runtime.Indexed[runtime.Value]) (result, error) {
		v, err := body(r, dynamic.Of(item.Value), item.Index)
		var own *itemError
		switch {
		case err == nil:
		case g.Fail && errors.As(err, &own):
			return result{}, r.Fail(n, runtime.Errorf(runtime.Unknown, "%s", own.text))
		case g.Fail || !errors.As(err, &own) && runtime.Skipped(err) != nil:
			return result{}, err
		}
		return collected(n, item.Index, v, err), nil
	})
	if err != nil {
		return false, err
	}
	if err := f.settle(r, n, g, results); err != nil {
		return false, err
	}
	f.halted = len(items) == 0
	return !f.halted, nil
}

// settle writes the results of all items.
func (f *Flow) settle(r *runtime.Run, n *runtime.Node, g Gather, results []result) error {
	var good, bad []runtime.Value
	done := 0
	for _, res := range results {
		switch {
		case res.failed:
			if !res.failure.IsNull() {
				f.write("errors", runtime.ListValue(res.failure))
			}
			if g.Failures != "" {
				bad = append(bad, res.record(n))
				continue
			}
			good = append(good, res.item)
			continue
		case g.Flat && res.list != nil:
			good = append(good, res.list...)
		default:
			good = append(good, res.item)
		}
		done++
	}
	if len(good) > 0 {
		f.write(g.Into, runtime.ListValue(good...))
	}
	if len(bad) > 0 {
		f.write(g.Failures, runtime.ListValue(bad...))
	}
	least := py.Repr(runtime.FloatValue(g.Share))
	if g.Least > 0 {
		least = strconv.Itoa(g.Least)
	}
	if done < g.Least || float64(done) < g.Share*float64(len(results)) {
		return r.Fail(n, runtime.Errorf(runtime.Unknown, "Map node '%s' incomplete: accepted %d/%d (succeeded=%d, tolerated=0, failed=%d), min_success=%s", n.ID, done, len(results), done, len(results)-done, least))
	}
	return nil
}

func missing(over dynamic.Field) string {
	if !over.Present() {
		return "missing"
	}
	return "no list"
}

type result struct {
	item    runtime.Value
	list    []runtime.Value // the items of a result that is a list; nil: it is none
	failed  bool
	failure runtime.Value // for errors

	index         int64
	kind, message string // of a failure
}

// record is a failure as a field of failures has it.
func (res result) record(n *runtime.Node) runtime.Value {
	return runtime.MapValue(runtime.Entry{Key: "map", Value: runtime.StringValue(n.ID)}, runtime.Entry{Key: "index", Value: runtime.IntValue(res.index)},
		runtime.Entry{Key: "error_type", Value: runtime.StringValue(res.kind)}, runtime.Entry{Key: "message", Value: runtime.StringValue(res.message)},
		runtime.Entry{Key: "node", Value: runtime.StringValue("_map_" + n.ID + "_sub")}, runtime.Entry{Key: "tolerated", Value: runtime.BoolValue(false)})
}

// place is the key of an item's place in the list.
const place = "_map_index"

// collected is the result of an item.
func collected(n *runtime.Node, index int64, v runtime.Value, err error) result {
	at := runtime.Entry{Key: place, Value: runtime.IntValue(index)}
	var te *runtime.ToolError
	var own *itemError
	switch {
	case errors.As(err, &own):
		failure := own.errors
		if failure.Kind() == runtime.ListKind && failure.Len() > 0 {
			failure = failure.Index(failure.Len() - 1)
		}
		kind := "unknown_error"
		if v, ok := failure.Get("type"); ok && v.Kind() == runtime.StringKind {
			kind = v.String()
		}
		return result{item: runtime.MapValue(at, runtime.Entry{Key: "_error", Value: runtime.StringValue(own.text)}), failed: true, failure: failure, index: index, kind: kind, message: own.text}
	case errors.As(err, &te):
		kind, message := string(te.Code), te.Message
		if name := exceptionName.FindString(message); name != "" && te.Code == runtime.Unknown {
			kind, message = strings.TrimSuffix(name, ": "), message[len(name):]
		}
		return result{item: runtime.MapValue(at, runtime.Entry{Key: "_error", Value: runtime.StringValue(message)}, runtime.Entry{Key: "_error_type", Value: runtime.StringValue(kind)}),
			failed: true, failure: entry("_map_"+n.ID+"_sub", err), index: index, kind: kind, message: message}
	}
	if v.Kind() != runtime.ListKind {
		return result{item: placed(at, v)}
	}
	res := result{item: placed(at, v), list: []runtime.Value{}}
	for i := range v.Len() {
		item := v.Index(i)
		if item.Kind() == runtime.MapKind {
			item = placed(at, item)
		}
		res.list = append(res.list, item)
	}
	return res
}

// placed is a result with its place.
func placed(at runtime.Entry, v runtime.Value) runtime.Value {
	if v.Kind() != runtime.MapKind {
		return runtime.MapValue(at, runtime.Entry{Key: "value", Value: v})
	}
	entries := []runtime.Entry{at}
	for i, key := range v.Keys() {
		entries = append(entries, runtime.Entry{Key: key, Value: v.Index(i)})
	}
	return runtime.MapValue(entries...)
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
