package dialect

import (
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// Constant is a value of the file, which has no references in it.
func Constant(v ir.Value) *expr.Node {
	switch v := v.(type) {
	case *ir.Scalar:
		return scalar(v)
	case *Mixed:
		return expr.Const(v.Text.Value)
	case *ir.List:
		out := &expr.Node{Op: expr.ListLit}
		for _, x := range v.Items {
			out.Kids = append(out.Kids, Constant(x))
		}
		return out
	case *ir.Object:
		var out []expr.Entry
		for _, e := range v.Entries {
			out = append(out, expr.Put(e.Key.Name, Constant(e.Value)))
		}
		return expr.Object(out...)
	}
	return expr.Const(nil)
}

// scalar is a constant as the reader wrote it: numbers and booleans in the spelling of Go.
func scalar(v *ir.Scalar) *expr.Node {
	text := v.Text.Value
	switch v.Tag {
	case "!!null":
		return expr.Const(nil)
	case "!!bool":
		return expr.Const(text == "true")
	case "!!int":
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return expr.Const(n)
		}
		return float(text)
	case "!!float":
		return float(text)
	}
	return expr.Const(text)
}

func float(text string) *expr.Node {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return expr.Const(nil) // the reader has written it
	}
	return expr.Const(f)
}
