package codegen

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// lowerFunction evaluates a function of values that are present, as language.md says it.
func lowerFunction(n *expr.Node, args []any) (any, error) {
	text := func(i int) string { return args[i].(string) }
	switch n.Text {
	case "string":
		return lowerTextOf(args[0]), nil
	case "lowerAscii", "upperAscii":
		out := []rune(text(0))
		for i, r := range out {
			switch {
			case n.Text == "lowerAscii" && r >= 'A' && r <= 'Z':
				out[i] = r + 32
			case n.Text == "upperAscii" && r >= 'a' && r <= 'z':
				out[i] = r - 32
			}
		}
		return string(out), nil
	case "trim":
		return strings.TrimSpace(text(0)), nil
	case "replace":
		return strings.ReplaceAll(text(0), text(1), text(2)), nil
	case "split":
		out := []any{}
		for _, s := range strings.Split(text(0), text(1)) {
			out = append(out, s)
		}
		return out, nil
	case "math.greatest", "math.least":
		return lowerExtreme(n, args)
	case "math.round":
		return math.Round(args[0].(float64)), nil
	case "math.ceil":
		return math.Ceil(args[0].(float64)), nil
	case "math.floor":
		return math.Floor(args[0].(float64)), nil
	case "math.trunc":
		return math.Trunc(args[0].(float64)), nil
	}
	if v, err, ok := lowerTimeFunction(n, args); ok {
		return v, err
	}
	return lowerList(n, args)
}

func lowerList(n *expr.Node, args []any) (any, error) {
	xs := args[0].([]any)
	out := []any{}
	switch n.Text {
	case "flatten":
		for _, x := range xs {
			out = append(out, x.([]any)...)
		}
	case "distinct":
		for i, x := range xs {
			if !slices.Contains(xs[:i], x) {
				out = append(out, x)
			}
		}
	case "sort":
		out = slices.Clone(xs)
		slices.SortStableFunc(out, lowerOrderAny)
	case "reverse":
		for i := len(xs) - 1; i >= 0; i-- {
			out = append(out, xs[i])
		}
	case "slice":
		lo, hi := args[1].(int64), args[2].(int64)
		if lo < 0 || lo > hi || hi > int64(len(xs)) {
			return nil, errLower
		}
		out = append(out, xs[lo:hi]...)
	case "chunk":
		size := args[1].(int64)
		if size < 1 {
			return nil, errLower
		}
		for len(xs) > 0 {
			k := min(size, int64(len(xs)))
			out = append(out, xs[:k])
			xs = xs[k:]
		}
	case "sum":
		return lowerSum(xs, n.Type)
	}
	return out, nil
}

func lowerSum(xs []any, t *schema.Type) (any, error) {
	if t.Kind == schema.Float {
		sum := 0.0
		for _, x := range xs {
			sum += x.(float64)
		}
		return sum, nil
	}
	sum := new(big.Int)
	for _, x := range xs {
		if sum.Add(sum, big.NewInt(x.(int64))); !sum.IsInt64() {
			return nil, errLower
		}
	}
	return sum.Int64(), nil
}

func lowerOrderAny(a, b any) int {
	c, err := lowerCompareAny(a, b)
	if err != nil {
		panic(err) // values of one type can be compared
	}
	return c
}

func lowerExtreme(n *expr.Node, args []any) (any, error) {
	if xs, ok := args[0].([]any); ok {
		args = xs
	}
	if n.Type.Present().Kind == schema.Float {
		args = slices.Clone(args)
		for i, x := range args {
			if k, ok := x.(int64); ok {
				if k > 1<<53 || k < -1<<53 {
					return nil, errLower
				}
				args[i] = float64(k)
			}
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	if n.Text == "math.least" {
		return slices.MinFunc(args, lowerOrderAny), nil
	}
	return slices.MaxFunc(args, lowerOrderAny), nil
}

// sortBy evaluates xs.sortBy(x, key).
func (ev *lowerEval) sortBy(n *expr.Node, items []any) (any, error) {
	type entry struct{ item, key any }
	var entries []entry
	for _, x := range items {
		inner := &lowerEval{env: ev.env, vars: map[string]any{}}
		for k, v := range ev.vars {
			inner.vars[k] = v
		}
		inner.vars[n.Var] = x
		key, err := inner.eval(n.Kids[1])
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{x, key})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return lowerOrderAny(a.key, b.key) })
	out := []any{}
	for _, e := range entries {
		out = append(out, e.item)
	}
	return out, nil
}
