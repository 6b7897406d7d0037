package core

import "github.com/flowgen-dev/flowgen/runtime/value"

// Parse reads data as a T, as value.DecodeValue does: fields that T does not have are left out, everything else must fit. enum lists the
// values when T is an enum, or lists or maps of one. Nothing is recorded: a replay reads the same data again. The error is a
// *NodeError with VALIDATION_ERROR that names the path in the data.
func Parse[T any](r *Run, n *Node, data value.Value, enum ...string) (T, error) {
	var out T
	return parsed(r, n, &out, value.DecodeValue(data, &out), enum)
}

// ParseText is Parse of JSON text.
func ParseText[T any, S ~string | ~[]byte](r *Run, n *Node, text S, enum ...string) (T, error) {
	var out T
	return parsed(r, n, &out, value.DecodeKnown([]byte(text), &out), enum)
}

func parsed[T any](r *Run, n *Node, out *T, err error, enum []string) (T, error) {
	if err == nil && len(enum) > 0 {
		err = value.ValidateEnum(out, enum)
	}
	if err != nil {
		var none T
		return none, r.Fail(n, err)
	}
	return *out, nil
}
