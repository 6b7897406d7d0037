// Package openexpertise runs the nodes of OpenExpertise experiences: the contract of their tools, what becomes of nodes
// that fail, and how nodes write the state. Generated code holds the order of the nodes, their conditions and what they
// are given.
//
// Everything goes through flow.Call, Map and Sleep, so that runs can be recorded, replayed and resumed.
package openexpertise

import (
	"errors"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Flow is one run: the state that its nodes write. It is used by one branch at a time; see Aside.
type Flow struct {
	slots []dynamic.Slot
	tally *tally
	aside bool // writes wait for Join
	loose bool // see Loose
}

// New makes a Flow that writes to the slots.
func New(slots ...dynamic.Slot) *Flow { return &Flow{slots: slots, tally: &tally{}} }

// Loose is the flow whose tools may leave out state_delta, as in the engine. The page says that they do not.
func (f *Flow) Loose() *Flow { return &Flow{f.slots, f.tally, f.aside, true} }

// Aside is the flow for nodes that run in parallel: what they write waits for Join, so that none of them sees what another
// has written, and the state does not depend on which of them ends first.
func (f *Flow) Aside() *Flow { return &Flow{f.slots, f.tally, true, f.loose} }

// Ended is how a node ended. The zero Ended is of a node that did not run: it was skipped.
type Ended struct {
	status status
	Edge   dynamic.Field // its edge_output; absent when it gave none

	node   *flow.Node
	policy Policy
	late   []value.Value // writes that wait for Join
	cause  error         // of a failure that the run goes on after
}

type status uint8

const (
	skipped status = iota
	done
	failed
)

// OK reports whether the node ran and did not fail: nodes after it may run.
func (e Ended) OK() bool { return e.status == done }

// A Policy is what on_error says.
type Policy struct {
	attempts int
	base     time.Duration
	double   bool
	fails    bool
}

// The policies without attempts: the run ends, or goes on without the node and those that need it.
var (
	Fail = Policy{attempts: 1, fails: true}
	Skip = Policy{attempts: 1}
)

// Retry tries the node again, attempts times in total, and then skips it. Before attempt n+1 it waits n times base, or
// with double base times 2 to the power of n-1.
func Retry(attempts int, base time.Duration, double bool) Policy {
	return Policy{attempts: max(attempts, 1), base: base, double: double}
}

// wait is how long to wait after attempt n, which counts from 1.
func (p Policy) wait(n int) time.Duration {
	if p.double {
		return p.base << min(n-1, 30)
	}
	return p.base * time.Duration(n)
}

// result is what a node gave: what it writes and what it hands to the nodes after it.
type result struct {
	delta value.Value
	edge  dynamic.Field
}

// run tries a node until it succeeds or its attempts are spent. Writing is part of an attempt. The error is one that ends
// the run.
func (f *Flow) run(r *flow.Run, n *flow.Node, p Policy, try func() (result, error)) (Ended, error) {
	for attempt := 1; ; attempt++ {
		out, err := try()
		if err == nil {
			var room [8]value.Entry // small maps need no other
			err = f.write(n, entries(room[:0], out.delta))
		}
		if err == nil {
			return f.did(n, p, out), nil
		}
		if e, again, err := f.failed(r, n, p, attempt, err); !again {
			return e, err
		}
	}
}

// did files that a node did well.
func (f *Flow) did(n *flow.Node, p Policy, out result) Ended {
	f.tally.add(n, done)
	e := Ended{status: done, Edge: out.edge, node: n, policy: p}
	if f.aside && out.delta.Len() > 0 {
		e.late = []value.Value{out.delta}
	}
	return e
}

// failed files that an attempt has failed, and waits before the next one, when there is to be one.
func (f *Flow) failed(r *flow.Run, n *flow.Node, p Policy, attempt int, err error) (_ Ended, again bool, _ error) {
	silent := quiet(err)
	err = r.Fail(n, err)
	if flow.Skipped(err) != nil || p.fails {
		f.tally.add(n, failed)
		return Ended{}, false, err
	}
	if silent {
		r.Warn(n, err)
	}
	if attempt >= p.attempts {
		f.tally.add(n, failed)
		return Ended{status: failed, node: n, policy: p, cause: err}, false, nil
	}
	err = r.Sleep(p.wait(attempt))
	return Ended{}, err == nil, err
}

// entries appends those of a map.
func entries(to []value.Entry, m value.Value) []value.Entry {
	for i := range m.Len() {
		to = append(to, value.Entry{Key: m.Key(i), Value: m.Index(i)})
	}
	return to
}

// quiet reports an error that no event has told: one of a call that did well, and whose result is refused.
func quiet(err error) bool {
	if err == nil {
		return false
	}
	var told *runtime.NodeError
	return !errors.As(err, &told)
}

// write merges what a node writes, or only looks whether it may.
func (f *Flow) write(n *flow.Node, delta []value.Entry) error {
	err := dynamic.Write(f.slots, delta, f.aside)
	if err == nil {
		return nil
	}
	var w *dynamic.WriteError
	if !errors.As(err, &w) {
		return err
	}
	field := fmt.Sprintf("state field %q", w.Slot.Name)
	switch w.Reason {
	case dynamic.Undeclared:
		return value.Errorf(value.ValidationError, "Node %q wrote to undeclared %s", n.ID, field)
	case dynamic.Mistyped:
		return value.Errorf(value.ValidationError, "Node %q wrote %s to %s, which is declared as type %s in state.schema", n.ID, kind(w.Value), field, typeNames[w.Slot.Type])
	case dynamic.Again:
		return value.Errorf(value.ValidationError, "Node %q wrote %s a second time, and its merge is set_once", n.ID, field)
	}
	return value.Errorf(value.ValidationError, "Node %q wrote %s to %s, whose merge is array_append: it takes an array", n.ID, kind(w.Value), field)
}

var typeNames = [...]string{dynamic.Any: "any", dynamic.String: "string", dynamic.Num: "number", dynamic.Bool: "boolean", dynamic.Map: "object", dynamic.Array: "array"}

// kind is what JavaScript calls a value.
func kind(v value.Value) string {
	switch v.Kind() {
	case value.NullKind:
		return "null"
	case value.BoolKind:
		return "a boolean"
	case value.IntKind, value.FloatKind:
		return "a number"
	case value.StringKind:
		return "a string"
	case value.ListKind:
		return "an array"
	}
	return "an object"
}

// Join writes what nodes that ran in parallel have written, in the order given. A node whose write is now refused has
// failed.
func (f *Flow) Join(r *flow.Run, nodes ...*Ended) error {
	for _, e := range nodes {
		late := e.late
		e.late = nil
		for _, delta := range late {
			err := r.Fail(e.node, f.write(e.node, entries(nil, delta)))
			if err == nil {
				continue
			}
			f.tally.add(e.node, failed)
			if e.policy.fails {
				return err
			}
			e.status, e.cause = failed, err
			r.Warn(e.node, err)
		}
	}
	return nil
}

// Each runs a node for every item of a list, n.Limit at a time, and returns how all of them ended: one failure is a
// failure. With a limit of one each item sees what those before it have written; else they all see the state as it was,
// and write in the order of the list.
func (f *Flow) Each(r *flow.Run, n *flow.Node, p Policy, source dynamic.Field, body func(r *flow.Run, f *Flow, item dynamic.Field, index int64) (Ended, error)) (Ended, error) {
	items, ok := source.Items()
	if !ok {
		return Ended{}, r.Fail(n, value.Errorf(value.ValidationError, "for_each source of node %q is not an array", n.ID))
	}
	inside := f
	if n.Limit > 1 {
		inside = f.Aside()
	}
	ends, err := flow.Map(r, n, flow.Enumerate(items), func(r *flow.Run, item flow.Indexed[value.Value]) (Ended, error) {
		return body(r, inside, dynamic.Of(item.Value), item.Index)
	})
	if err != nil {
		return Ended{}, err
	}
	f.tally.add(n, done)
	all := Ended{status: done, node: n, policy: p}
	failures := 0
	for i := range ends {
		e := &ends[i]
		if !f.aside {
			if err := f.Join(r, e); err != nil {
				return Ended{}, err
			}
		}
		all.late = append(all.late, e.late...)
		if e.status == failed {
			if failures++; all.cause == nil {
				all.cause = e.cause
			}
			all.status = failed
		}
		if e.Edge.Present() {
			all.Edge = e.Edge
		}
	}
	var first *runtime.NodeError
	if errors.As(all.cause, &first) {
		r.Warn(n, fmt.Errorf("%d of %d items failed, first %s: %w", failures, len(ends), first.Key, first.Err))
	}
	return all, nil
}

// Items are the items of a pipeline's list.
func (f *Flow) Items(r *flow.Run, n *flow.Node, source dynamic.Field) ([]value.Value, error) {
	items, ok := source.Items()
	if !ok {
		return nil, r.Fail(n, value.Errorf(value.ValidationError, "items of pipeline %q is not an array", n.ID))
	}
	return items, nil
}
