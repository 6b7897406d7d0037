package cel

import (
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// At returns item i of xs, nil when there is none.
func At[T any](xs []T, i int64) *T {
	if i < 0 || i >= int64(len(xs)) {
		return nil
	}
	return &xs[i]
}

// AtOpt returns item i of a list of optional values, nil when there is none and when it is absent.
func AtOpt[T any](xs []*T, i int64) *T {
	if i < 0 || i >= int64(len(xs)) {
		return nil
	}
	return xs[i]
}

// Key returns what m has under key, nil when that is nothing.
func Key[T any](m map[string]T, key string) *T {
	if v, ok := m[key]; ok {
		return &v
	}
	return nil
}

// Substring returns the characters of s from start up to, and without, end, which is the end of s when it is left out:
// VALIDATION_ERROR unless 0 <= start <= end <= size.
func Substring(s string, start int64, end ...int64) (string, error) {
	size := int64(utf8.RuneCountInString(s))
	to := size
	if len(end) > 0 {
		to = end[0]
	}
	if start < 0 || start > to || to > size {
		return "", value.Invalid("substring(%d, %d) of a text of %d characters: 0 <= start <= end <= size must be true", start, to, size)
	}
	if size == int64(len(s)) {
		return s[start:to], nil
	}
	from, i := 0, int64(0)
	for at := range s {
		if i == start {
			from = at
		}
		if i == to {
			return s[from:at], nil
		}
		i++
	}
	if start == size {
		return "", nil
	}
	return s[from:], nil
}
