package yamlgraph

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Map runs body for every item of a list and adds the results to the list in the field key, in the order of the items,
// each with its place: a map as it is, anything else as the value of one. An item that fails leaves its error there, and
// in errors. ran is false for an empty list: in the engine nothing comes after it. The error is one of the run, or says
// that there is no list.
func (f *Flow) Map(r *flow.Run, n *flow.Node, key string, over dynamic.Field, body func(r *flow.Run, item dynamic.Field) (value.Value, error)) error {
	return f.gather(r, n, Gather{Into: key}, over, func(r *flow.Run, item dynamic.Field, _ int64) (value.Value, error) { return body(r, item) })
}

// Gather says what becomes of the items of a map.
type Gather struct {
	Into string // the field of the results
	As   string // what the item is called in the state that the node sees
	Key  string // the key of the node's update that is its result; an update without it is the result

	MaxItems int     // so many items are looked at; 0: all
	Failures string  // the field that failures go to; empty: they are among the results
	Least    int     // so many items have to do well
	Share    float64 // such a part of the items has to do well
	Strict   bool    // more items than MaxItems are an error
	Fail     bool    // the first failure ends the run
	Flat     bool    // results that are lists are added item by item
}

// MapNode is Map for a node that writes to the state: its update is the result of an item.
func (f *Flow) MapNode(r *flow.Run, n *flow.Node, g Gather, over dynamic.Field, body func(r *flow.Run, w *Flow, item dynamic.Field) error) error {
	return f.gather(r, n, g, over, func(r *flow.Run, item dynamic.Field, index int64) (value.Value, error) {
		inner := &Flow{slots: f.slots, aside: true, notes: f.notes, counts: f.counts, name: "_map_" + n.ID + "_sub", sent: []dynamic.Entry{dynamic.Put(g.As, item), dynamic.Put(place, dynamic.Whole(index))}}
		if err := body(r, inner, item); err != nil {
			return value.Null(), err
		}
		return g.result(value.Map(inner.late...))
	})
}

// result is what an item has come to whose node has made an update.
func (g *Gather) result(update value.Value) (value.Value, error) {
	for _, key := range []string{"errors", "error"} {
		if v, ok := update.Get(key); ok {
			return value.Null(), &itemError{py.Str(dynamic.Of(v)), v}
		}
	}
	if v, ok := update.Get(g.Key); ok {
		return v, nil
	}
	return update, nil
}

// State is what a node of this flow sees of the state: without the fields of Note, and inside of a map with the item and its place.
func (f *Flow) State(state dynamic.Field) dynamic.Field {
	if v := state.Value(); len(f.notes) > 0 {
		var seen []dynamic.Entry
		for i, key := range v.Keys() {
			if !slices.ContainsFunc(f.notes, func(x note) bool { return x.as == key }) {
				seen = append(seen, dynamic.Put(key, dynamic.Of(v.Index(i))))
			}
		}
		state = dynamic.Object(seen...)
	}
	return state.With(f.sent...)
}

// An itemError is what a node has written into errors or error.
type itemError struct {
	text   string
	errors value.Value
}

func (e *itemError) Error() string { return e.text }

func (f *Flow) gather(r *flow.Run, n *flow.Node, g Gather, over dynamic.Field, body func(r *flow.Run, item dynamic.Field, index int64) (value.Value, error)) error {
	items, ok := over.Items()
	if !ok {
		return r.Fail(n, value.Errorf(value.ValidationError, "the list of map node %q is %s", n.ID, missing(over)))
	}
	if g.MaxItems > 0 && len(items) > g.MaxItems && g.Strict {
		return r.Fail(n, value.Errorf(value.PolicyDenied, "map node %q: %d items exceed max_items=%d: raise it, or write `on_overflow: truncate`", n.ID, len(items), g.MaxItems))
	}
	if g.MaxItems > 0 && len(items) > g.MaxItems {
		items = items[:g.MaxItems]
	}
	results, err := flow.Map(r, n, flow.Enumerate(items), func(r *flow.Run, item flow.Indexed[value.Value]) (result, error) {
		v, err := body(r, dynamic.Of(item.Value), item.Index)
		var own *itemError
		switch {
		case err == nil:
		case g.Fail && errors.As(err, &own):
			return result{}, r.Fail(n, value.Errorf(value.Unknown, "%s", own.text))
		case g.Fail || !errors.As(err, &own) && flow.Skipped(err) != nil:
			return result{}, err
		}
		return collected(n, item.Index, v, err), nil
	})
	if err != nil {
		return err
	}
	if err := f.settle(r, n, g, results); err != nil {
		return err
	}
	f.halted = f.stops && len(items) == 0
	return nil
}

// settle writes the results of all items.
func (f *Flow) settle(r *flow.Run, n *flow.Node, g Gather, results []result) error {
	all, err := g.settled(n, results)
	for _, failure := range all.Errors {
		f.write("errors", value.List(failure))
	}
	if len(all.Results) > 0 {
		f.write(g.Into, value.List(all.Results...))
	}
	if len(all.Failures) > 0 {
		f.write(g.Failures, value.List(all.Failures...))
	}
	if err != nil {
		return r.Fail(n, err)
	}
	return nil
}

// settled sorts the results of all items. The error says that too few of them have done well.
func (g *Gather) settled(n *flow.Node, results []result) (all Collected, err *value.ToolError) {
	done := 0
	for _, res := range results {
		switch {
		case res.failed:
			if !res.failure.IsNull() {
				all.Errors = append(all.Errors, res.failure)
			}
			if g.Failures != "" {
				all.Failures = append(all.Failures, res.record(n))
				continue
			}
			all.Results = append(all.Results, res.item)
			continue
		case g.Flat && res.list != nil:
			all.Results = append(all.Results, res.list...)
		default:
			all.Results = append(all.Results, res.item)
		}
		done++
	}
	least := py.Repr(value.Float(g.Share))
	if g.Least > 0 {
		least = strconv.Itoa(g.Least)
	}
	if done < g.Least || float64(done) < g.Share*float64(len(results)) {
		err = value.Errorf(value.Unknown, "Map node '%s' incomplete: accepted %d/%d (succeeded=%d, tolerated=0, failed=%d), min_success=%s", n.ID, done, len(results), done, len(results)-done, least)
	}
	return all, err
}

func missing(over dynamic.Field) string {
	if !over.Present() {
		return "missing"
	}
	return "not a list"
}

type result struct {
	item    value.Value
	list    []value.Value // the items of a result that is a list; nil: it is none
	failed  bool
	failure value.Value // for errors

	index         int64
	kind, message string // of a failure
}

// record is a failure as a field of failures has it.
func (res result) record(n *flow.Node) value.Value {
	return value.Map(value.Entry{Key: "map", Value: value.String(n.ID)}, value.Entry{Key: "index", Value: value.Int(res.index)},
		value.Entry{Key: "error_type", Value: value.String(res.kind)}, value.Entry{Key: "message", Value: value.String(res.message)},
		value.Entry{Key: "node", Value: value.String("_map_" + n.ID + "_sub")}, value.Entry{Key: "tolerated", Value: value.Bool(false)})
}

// place is the key of an item's place in the list.
const place = "_map_index"

// collected is the result of an item.
func collected(n *flow.Node, index int64, v value.Value, err error) result {
	at := value.Entry{Key: place, Value: value.Int(index)}
	var te *value.ToolError
	var own *itemError
	switch {
	case errors.As(err, &own):
		failure := own.errors
		if failure.Kind() == value.ListKind && failure.Len() > 0 {
			failure = failure.Index(failure.Len() - 1)
		}
		kind := "unknown_error"
		if v, ok := failure.Get("type"); ok && v.Kind() == value.StringKind {
			kind = v.String()
		}
		return result{item: value.Map(at, value.Entry{Key: "_error", Value: value.String(own.text)}), failed: true, failure: failure, index: index, kind: kind, message: own.text}
	case errors.As(err, &te):
		kind, message := string(te.Code), te.Message
		if name := exceptionName.FindString(message); name != "" && te.Code == value.Unknown {
			kind, message = strings.TrimSuffix(name, ": "), message[len(name):]
		}
		return result{item: value.Map(at, value.Entry{Key: "_error", Value: value.String(message)}, value.Entry{Key: "_error_type", Value: value.String(kind)}),
			failed: true, failure: entry("_map_"+n.ID+"_sub", err), index: index, kind: kind, message: message}
	}
	if v.Kind() != value.ListKind {
		return result{item: placed(at, v)}
	}
	res := result{item: placed(at, v), list: []value.Value{}}
	for i := range v.Len() {
		item := v.Index(i)
		if item.Kind() == value.MapKind {
			item = placed(at, item)
		}
		res.list = append(res.list, item)
	}
	return res
}

// placed is a result with its place.
func placed(at value.Entry, v value.Value) value.Value {
	if v.Kind() != value.MapKind {
		return value.Map(at, value.Entry{Key: "value", Value: v})
	}
	entries := []value.Entry{at}
	for i, key := range v.Keys() {
		entries = append(entries, value.Entry{Key: key, Value: v.Index(i)})
	}
	return value.Map(entries...)
}

// inOrder brings a list into the order of the places when its first item has one.
func inOrder(list value.Value) value.Value {
	if list.Len() == 0 {
		return list
	}
	if _, placed := list.Index(0).Get(place); !placed {
		return list
	}
	items, _ := dynamic.Of(list).Items()
	slices.SortStableFunc(items, func(a, b value.Value) int { return cmp.Compare(index(a), index(b)) })
	return value.List(items...)
}

func index(v value.Value) int64 {
	at, _ := v.Get(place)
	if at.Kind() != value.IntKind {
		return 0
	}
	return at.Int()
}
