package flow

import (
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The functions of this file return new lists, never nil, and change none they are given. A list that they return may
// share its items' memory with the argument, and has no room to be appended to.

// Concat returns the items of all lists, in order.
func Concat[T any](lists ...[]T) []T { return Flatten(lists) }

// Flatten returns the items of the lists in xs, in order.
func Flatten[T any](xs [][]T) []T {
	n := 0
	for _, x := range xs {
		n += len(x)
	}
	out := make([]T, 0, n)
	for _, x := range xs {
		out = append(out, x...)
	}
	return out
}

// Distinct returns the first of each run of equal items, wherever the others are.
func Distinct[T comparable](xs []T) []T {
	out, seen := make([]T, 0, len(xs)), make(map[T]bool, len(xs))
	for _, x := range xs {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}

// Sort returns the items in ascending order. Equal items keep theirs.
func Sort[T any](xs []T, compare func(a, b T) int) []T {
	out := append(make([]T, 0, len(xs)), xs...)
	slices.SortStableFunc(out, compare)
	return out
}

// SortBy returns the items in the ascending order of their keys. Items with equal keys keep theirs.
func SortBy[T, K any](xs []T, key func(T) K, compare func(a, b K) int) []T {
	keys := make([]K, len(xs))
	for i, x := range xs {
		keys[i] = key(x)
	}
	return SortByKeys(xs, keys, compare)
}

// SortByKeys is SortBy with the keys of the items.
func SortByKeys[T, K any](xs []T, keys []K, compare func(a, b K) int) []T {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(keys[a], keys[b]) })
	out := make([]T, len(xs))
	for i, at := range order {
		out[i] = xs[at]
	}
	return out
}

// Reverse returns the items from the last to the first.
func Reverse[T any](xs []T) []T {
	out := append(make([]T, 0, len(xs)), xs...)
	slices.Reverse(out)
	return out
}

// Slice returns the items from start up to, and without, end: VALIDATION_ERROR unless 0 <= start <= end <= len(xs).
func Slice[T any](xs []T, start, end int64) ([]T, error) {
	if start < 0 || start > end || end > int64(len(xs)) {
		return nil, value.Invalid("slice(%d, %d) of a list of %d items: 0 <= start <= end <= size must be true", start, end, len(xs))
	}
	return append(make([]T, 0, end-start), xs[start:end]...), nil
}

// Chunk returns lists of n items, the last one with what is left: VALIDATION_ERROR when n < 1.
func Chunk[T any](xs []T, n int64) ([][]T, error) {
	if n < 1 {
		return nil, value.Invalid("chunk(%d): a chunk has at least one item", n)
	}
	size := int(max(1, min(n, int64(len(xs)))))
	out := make([][]T, 0, (len(xs)+size-1)/size)
	for c := range slices.Chunk(xs, size) {
		out = append(out, c)
	}
	return out, nil
}

// Sum returns the sum of ints, VALIDATION_ERROR when it, or a sum on the way, is out of range.
func Sum(xs []int64) (int64, error) {
	var sum int64
	for _, x := range xs {
		var err error
		if sum, err = Add(sum, x); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// SumFloat returns the sum of floats, from the first to the last.
func SumFloat(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum
}

// Greatest returns the greatest item, the first of several, or nil when there is none. Least likewise.
func Greatest[T any](xs []T, compare func(a, b T) int) *T { return extreme(xs, compare, 1) }

// Least returns the least item, the first of several, or nil when there is none.
func Least[T any](xs []T, compare func(a, b T) int) *T { return extreme(xs, compare, -1) }

func extreme[T any](xs []T, compare func(a, b T) int, sign int) *T {
	if len(xs) == 0 {
		return nil
	}
	best := xs[0]
	for _, x := range xs[1:] {
		if c := compare(x, best); c*sign > 0 {
			best = x
		}
	}
	return &best
}
