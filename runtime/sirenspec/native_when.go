package sirenspec

import (
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The parts of conditions as functions of a workflow of the native language. They return nil where a value is missing and where
// Python raises an exception: the whole condition does not hold then.

// Truth reports whether Python takes what is at a path of a value for true.
func Truth(v value.Value, path []string) *bool {
	var c Condition
	return c.says(truth(c.At(dynamic.Of(v), path...)))
}

// Size is the number of characters, items or keys of what is at a path of a value.
func Size(v value.Value, path []string) *int64 {
	var c Condition
	n := c.Len(c.At(dynamic.Of(v), path...)).v
	if c.failed {
		return nil
	}
	size := n.Int()
	return &size
}

// Compare compares what is at a path of a value with another value: is is one of ==, !=, <, <=, >, >=, in and contains.
func Compare(v value.Value, path []string, is string, to value.Value) *bool {
	return CompareParts(v, path, is, to, nil)
}

// CompareParts is Compare with what is at the path below of the other value.
func CompareParts(v value.Value, path []string, is string, to value.Value, below []string) *bool {
	var c Condition
	x := c.At(dynamic.Of(v), path...)
	y := c.At(dynamic.Of(to), below...)
	switch is {
	case "==":
		return c.says(c.Equal(x, y))
	case "!=":
		return c.says(c.NotEqual(x, y))
	case "<":
		return c.says(c.Less(x, y))
	case "<=":
		return c.says(c.LessOrEqual(x, y))
	case ">":
		return c.says(c.Greater(x, y))
	case ">=":
		return c.says(c.GreaterOrEqual(x, y))
	case "in":
		return c.says(c.In(x, y))
	case "contains":
		return c.says(c.In(y, x))
	}
	return nil
}

// says is what a part of a condition says when nothing was raised.
func (c *Condition) says(holds bool) *bool {
	if c.failed {
		return nil
	}
	return &holds
}
