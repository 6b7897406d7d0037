package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A MapResult is what a native map that keeps errors has of an item.
type MapResult struct {
	Value value.Value      `json:"value"`
	Error *value.ToolError `json:"error"`
}

// A Collecting is the results of a native map that was one of a graph.
type Collecting struct {
	Results  []MapResult `json:"results"`
	Map      string      `json:"map"`                // the name of its node
	Field    string      `json:"field,omitempty"`    // of the update that a result which is no mapping becomes
	Key      string      `json:"key,omitempty"`      // the key of the update that is the result; an update without it is the result
	Sets     bool        `json:"sets,omitempty"`     // results are mappings of fields: those that are null are left out
	Asks     bool        `json:"asks,omitempty"`     // the node asks a model, and keeps its errors
	Flat     bool        `json:"flat,omitempty"`     // results that are lists are added item by item
	Failures bool        `json:"failures,omitempty"` // they are kept apart
	Least    int         `json:"least,omitempty"`    // so many items have to do well
	Share    float64     `json:"share,omitempty"`    // such a part of the items has to do well
}

// A Collected is what a map of a graph leaves in the state.
type Collected struct {
	Results  []value.Value `json:"results"`
	Failures []value.Value `json:"failures"`
	Errors   []value.Value `json:"errors"`
}

// Collect makes of the results of a native map what the engine leaves in the state: each with its place in the list, failures
// with their text among them or apart.
func Collect(c Collecting) (Collected, error) {
	n := &flow.Node{ID: c.Map}
	g := &Gather{Key: c.Key, Flat: c.Flat, Least: c.Least, Share: c.Share}
	if c.Failures {
		g.Failures = "failures"
	}
	var results []result
	for i, r := range c.Results {
		var v value.Value
		var err error
		switch {
		case r.Error != nil && c.Asks && strict(r.Error):
			return Collected{}, r.Error
		case r.Error != nil && c.Asks:
			v, err = g.result(value.Map(value.Entry{Key: "errors", Value: value.List(entry(c.node(), r.Error))}))
		case r.Error != nil:
			err = r.Error
		default:
			v, err = g.result(c.update(part(r.Value, nil)))
		}
		results = append(results, collected(n, int64(i), v, err))
	}
	all, err := g.settled(n, results)
	if err != nil {
		return all, err
	}
	return all, nil
}

// update is what the node inside of the map has written.
func (c *Collecting) update(v dynamic.Field) value.Value {
	var entries []value.Entry
	if v.Value().Kind() != value.MapKind {
		entries = append(entries, value.Entry{Key: c.Field, Value: v.Value()})
	} else {
		for i, key := range v.Value().Keys() {
			if x := v.Value().Index(i); !c.Sets || !x.IsNull() {
				entries = append(entries, value.Entry{Key: key, Value: x})
			}
		}
	}
	entries = append(entries, value.Entry{Key: "current_step", Value: value.String(c.node())})
	if c.Asks {
		entries = append(entries, value.Entry{Key: "_loop_counts", Value: value.Map(value.Entry{Key: c.node(), Value: value.Int(1)})})
	}
	return value.Map(entries...)
}

// node is what the engine calls the node inside of the map.
func (c *Collecting) node() string { return "_map_" + c.Map + "_sub" }

// strict reports whether an error is one that the engine might not have: an answer does not fit the type of a native node.
func strict(err *value.ToolError) bool {
	rest, answer := strings.CutPrefix(err.Message, "the answer does not fit: ")
	return err.Code == value.ValidationError && answer && !strings.HasPrefix(rest, "invalid JSON")
}

// Items are those of a list that a map goes through. The error says that there is none.
func Items(of value.Value, node string) ([]value.Value, error) {
	list := part(of, nil)
	items, ok := list.Items()
	if !ok {
		return nil, value.Invalid("the list of map node %q is %s", node, missing(list))
	}
	return items, nil
}

// InOrder adds the results of a map to those of others: all are in the order of their places.
func InOrder(old, more []value.Value) []value.Value {
	items, _ := dynamic.Of(inOrder(joined(value.List(old...), value.List(more...)))).Items()
	return items
}
