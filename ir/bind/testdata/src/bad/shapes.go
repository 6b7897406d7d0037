// Package bad holds what cannot be bound.
package bad

import "context"

type T struct{ X string }

func (T) Method(s string) string { return s }

func Generic[E any](xs []E) []E { return xs }

func Variadic(parts ...string) string { return "" }

func NoNames(string, int) string { return "" }

func Blank(_ string) string { return "" }

func Two() (string, string) { return "", "" }

func Three() (string, string, error) { return "", "", nil }

func Errors() (error, error) { return nil, nil }

func Late(s string, ctx context.Context) error { return nil }
