package core

import (
	"sync/atomic"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Item is the result of one item of MapKeep: exactly one field is non-nil.
type Item[R any] struct {
	Value *R               `json:"value"`
	Error *value.ToolError `json:"error"`
}

// Failure is an item that MapDrop left out.
type Failure struct {
	Index int              `json:"index"`
	Error *value.ToolError `json:"error"`
}

// Map runs f for every item, n.Limit at a time, and returns the results in item order. A failing item cancels the
// others. More than n.Max items fail with POLICY_DENIED before anything runs. No items give an empty, non-nil slice.
func Map[T, R any](r *Run, n *Node, items []T, f func(*Run, T) (R, error)) ([]R, error) {
	out := make([]R, len(items))
	err := r.each(n, len(items), func(r *Run, lo, hi int) (int, error) {
		for i := lo; i < hi; i++ {
			if (i-lo)%looks == 0 && r.halted() {
				return i, r.stopped(n)
			}
			v, err := f(r, items[i])
			if err != nil {
				return i, err
			}
			out[i] = v
		}
		return hi, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// MapKeep is Map with on_item_error: keep. A tool error is the item's result and cancels nothing; a run error fails
// the map.
func MapKeep[T, R any](r *Run, n *Node, items []T, f func(*Run, T) (R, error)) ([]Item[R], error) {
	out := make([]Item[R], len(items))
	err := r.each(n, len(items), func(r *Run, lo, hi int) (int, error) {
		for i := lo; i < hi; i++ {
			if (i-lo)%looks == 0 && r.halted() {
				return i, r.stopped(n)
			}
			v, err := f(r, items[i])
			if err == nil {
				out[i].Value = &v
				continue
			}
			out[i].Error = itemError(err)
			if err := runError(err); err != nil {
				return i, err
			}
		}
		return hi, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// MapOr is Map with on_item_error: {default: instead}, which is the result of each item that fails. A run error fails the map.
func MapOr[T, R any](r *Run, n *Node, items []T, instead R, f func(*Run, T) (R, error)) ([]R, error) {
	kept, err := MapKeep(r, n, items, f)
	if err != nil {
		return nil, err
	}
	out := make([]R, len(kept))
	for i, it := range kept {
		if out[i] = instead; it.Value != nil {
			out[i] = *it.Value
		}
	}
	return out, nil
}

// MapDrop is Map with on_item_error: skip: the results of the items that succeeded, and the failures of the others,
// both in item order and never nil.
func MapDrop[T, R any](r *Run, n *Node, items []T, f func(*Run, T) (R, error)) ([]R, []Failure, error) {
	kept, err := MapKeep(r, n, items, f)
	if err != nil {
		return nil, nil, err
	}
	out, failures := make([]R, 0, len(kept)), []Failure{}
	for i, item := range kept {
		if item.Error != nil {
			failures = append(failures, Failure{i, item.Error})
		} else {
			out = append(out, *item.Value)
		}
	}
	return out, failures, nil
}

// itemError returns the tool error that becomes an item's result.
func itemError(err error) *value.ToolError {
	if te := value.ToolErrorOf(err); te != nil || runError(err) != nil {
		return te
	}
	return value.Errorf(value.Unknown, "%v", err)
}

// runError returns err when it is a run error, which no map may keep as a result.
func runError(err error) error {
	if IsCancelled(err) || isFatal(err) {
		return err
	}
	return nil
}

// Indexed is an item together with its index, for maps that name one.
type Indexed[T any] struct {
	Index int64
	Value T
}

// Enumerate pairs the items with their indexes.
func Enumerate[T any](items []T) []Indexed[T] {
	out := make([]Indexed[T], len(items))
	for i, v := range items {
		out[i] = Indexed[T]{int64(i), v}
	}
	return out
}

// looks is how many items a worker of a map, or iterations a loop, does at most before it looks whether the scope is
// cancelled: a power of two. It is more than one only where the body is pure or has calls, which look by themselves.
const looks = 8

// halted reports whether the scope is cancelled, when no engine is attached that would notice it in Do.
func (r *Run) halted() bool { return r.eng == nil && r.ctx.Err() != nil }

// each runs body for the items 0..count-1 of map n, from lo to below hi at a time. body returns the index of the item it
// failed at.
func (r *Run) each(n *Node, count int, body func(r *Run, lo, hi int) (int, error)) error {
	if n.Max > 0 && count > n.Max {
		return r.Fail(n, value.Errorf(value.PolicyDenied, "%s has %d items, at most %d are allowed", n.ID, count, n.Max))
	}
	if r.eng != nil {
		return r.eachRecorded(n, count, body)
	}
	workers := n.limit(count)
	return r.Fail(n, spread(r, count, workers, n.block(count, workers), body))
}

// block is how many items a worker takes at once: few enough that all workers have something to do until the end.
func (n *Node) block(items, workers int) int {
	return max(1, min(n.Block, items/max(4*workers, 1)))
}

// eachRecorded gives every item its own scope and tells observers how far the map is.
func (r *Run) eachRecorded(n *Node, count int, body func(r *Run, lo, hi int) (int, error)) error {
	h := &Head{Node: n, Scope: r.scope, Visit: r.scope.enter(n)}
	begin := r.nodeStart(h)
	var done atomic.Int64
	var err error
	if count > 0 {
		err = r.eng.Fork(r, count, n.limit(count), func(r *Run, i int) error {
			if err := r.stopping(); err != nil {
				return r.Fail(n, err)
			}
			if _, err := body(r.open(n, i, h.Visit), i, i+1); err != nil {
				return err
			}
			r.progress(h, begin, int(done.Add(1)), count)
			return nil
		})
	}
	err = r.Fail(n, err)
	r.nodeEnd(h, begin, err)
	return err
}

func (r *Run) progress(h *Head, begin time.Time, done, total int) {
	if !r.observed() {
		return
	}
	now := r.Now()
	r.emit(Event{Kind: Progress, Key: h.Key(), Node: h.Node, Time: now, Duration: now.Sub(begin), Done: done, Total: total})
}
