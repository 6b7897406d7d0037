package flow

import (
	"maps"
	"slices"
)

// Ptr returns a pointer to v.
func Ptr[T any](v T) *T { return &v }

// Or returns *p, or def when p is nil.
func Or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// First returns the first pointer that is not nil, or nil.
func First[T any](ps ...*T) *T {
	for _, p := range ps {
		if p != nil {
			return p
		}
	}
	return nil
}

// ConvertList converts the elements of a list. A nil list stays nil.
func ConvertList[A, B any](xs []A, f func(A) B) []B {
	if xs == nil {
		return nil
	}
	out := make([]B, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}

// ConvertMap converts the values of a map. A nil map stays nil.
func ConvertMap[A, B any](m map[string]A, f func(A) B) map[string]B {
	if m == nil {
		return nil
	}
	out := make(map[string]B, len(m))
	for k, v := range m {
		out[k] = f(v)
	}
	return out
}

// ConvertOpt converts an optional value. nil stays nil.
func ConvertOpt[A, B any](p *A, f func(A) B) *B {
	if p == nil {
		return nil
	}
	v := f(*p)
	return &v
}

// SortedKeys returns the keys of m in byte order, the order in which workflows iterate over maps.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
