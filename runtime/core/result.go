package core

import "github.com/flowgen-dev/flowgen/runtime/value"

// Some turns the result of a call into an optional one: nil when it failed. Generated code uses it where later nodes ask
// whether this one ran.
func Some[T any](v T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// Skip is on_error: skip for nodes that are not a single call: a tool error leaves nil, any other error stays one.
func Skip[T any](v T, err error) (*T, error) {
	if err != nil {
		return nil, Skipped(err)
	}
	return &v, nil
}

// Catch is catch for nodes that are not a single call: exactly one of its results is set.
func Catch[T any](n *Node, v T, err error) (*T, *value.ToolError, error) {
	if err == nil {
		return &v, nil, nil
	}
	caught, err := Caught(n, err)
	return nil, caught, err
}

// CatchOptional is Catch for a node whose result is optional anyway: the result stays the pointer it is. When there is
// no error, a nil result is a success.
func CatchOptional[T any](n *Node, v *T, err error) (*T, *value.ToolError, error) {
	if err == nil {
		return v, nil, nil
	}
	caught, err := Caught(n, err)
	return nil, caught, err
}

// SetOnce guards a state field with merge: set_once: the second write is a VALIDATION_ERROR. done remembers the first.
func SetOnce(r *Run, n *Node, field string, done *bool) error {
	if *done {
		return r.Fail(n, value.Invalid("state.%s was already set and is declared set_once", field))
	}
	*done = true
	return nil
}
