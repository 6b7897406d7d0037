package codegen

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// lowerEval is a reference evaluator of checked expressions, written from the language's description. Values are nil,
// bool, int64, float64, string, []byte, time.Time, time.Duration, []any and map[string]any (structs and maps).
type lowerEval struct {
	env  map[string]any // "input", and the nodes
	vars map[string]any
}

var errLower = errors.New("VALIDATION_ERROR")

func (ev *lowerEval) eval(n *expr.Node) (any, error) {
	v, err := ev.raw(n)
	if err != nil {
		return nil, err
	}
	// An int literal may stand for a float.
	if i, ok := v.(int64); ok && n.Type.Kind == schema.Float {
		return float64(i), nil
	}
	return v, nil
}

func (ev *lowerEval) raw(n *expr.Node) (any, error) {
	switch n.Op {
	case expr.Lit:
		return n.Value, nil
	case expr.Name:
		if v, ok := ev.vars[n.Text]; ok {
			return v, nil
		}
		return ev.env[n.Text], nil
	case expr.Field, expr.OptField:
		recv, err := ev.eval(n.Kids[0])
		if err != nil || recv == nil {
			return nil, err
		}
		return recv.(map[string]any)[n.Text], nil
	case expr.Index:
		return ev.index(n)
	case expr.MapLit:
		return ev.mapping(n)
	case expr.Unary:
		return ev.unary(n)
	case expr.Binary:
		return ev.binary(n)
	case expr.Cond:
		c, err := ev.eval(n.Kids[0])
		if err != nil {
			return nil, err
		}
		if c.(bool) {
			return ev.widened(n.Kids[1], n.Type)
		}
		return ev.widened(n.Kids[2], n.Type)
	case expr.ListLit:
		out := []any{}
		for _, k := range n.Kids {
			v, err := ev.eval(k)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case expr.Macro:
		return ev.macro(n)
	}
	return ev.call(n)
}

func (ev *lowerEval) widened(n *expr.Node, _ *schema.Type) (any, error) { return ev.eval(n) }

func (ev *lowerEval) unary(n *expr.Node) (any, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		return !v, nil
	case float64:
		return -v, nil
	}
	if v == int64(math.MinInt64) {
		return nil, errLower
	}
	return -v.(int64), nil
}

func (ev *lowerEval) binary(n *expr.Node) (any, error) {
	a, err := ev.eval(n.Kids[0])
	if err != nil {
		return nil, err
	}
	if x, ok := a.(bool); ok && (n.Text == "&&" && !x || n.Text == "||" && x) {
		return x, nil
	}
	b, err := ev.eval(n.Kids[1])
	if err != nil {
		return nil, err
	}
	switch n.Text {
	case "&&", "||":
		return b, nil
	case "in":
		if m, ok := b.(map[string]any); ok {
			_, found := m[a.(string)]
			return found, nil
		}
		for _, x := range b.([]any) {
			if c, err := lowerCompareAny(a, x); err != nil || c == 0 {
				return true, err
			}
		}
		return false, nil
	case "+", "-", "*", "/", "%":
		return lowerArithmetic(n.Text, a, b)
	}
	if a == nil || b == nil {
		return (a == nil && b == nil) == (n.Text == "=="), nil
	}
	if f, ok := a.(float64); ok && math.IsNaN(f) {
		return n.Text == "!=", nil
	}
	if f, ok := b.(float64); ok && math.IsNaN(f) {
		return n.Text == "!=", nil
	}
	c, err := lowerCompareAny(a, b)
	if err != nil {
		return nil, err
	}
	switch n.Text {
	case "==":
		return c == 0, nil
	case "!=":
		return c != 0, nil
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func lowerMixed(a, b any) (x, y float64, mixed bool, err error) {
	float := func(n int64) float64 {
		if n > 1<<53 || n < -1<<53 {
			err = errLower
		}
		return float64(n)
	}
	switch a := a.(type) {
	case int64:
		if f, ok := b.(float64); ok {
			x = float(a)
			return x, f, true, err
		}
	case float64:
		if n, ok := b.(int64); ok {
			y = float(n)
			return a, y, true, err
		}
		return a, b.(float64), true, nil
	}
	return 0, 0, false, nil
}

func lowerCompareAny(a, b any) (int, error) {
	x, y, mixed, err := lowerMixed(a, b)
	switch {
	case err != nil:
		return 0, err
	case mixed && x < y:
		return -1, nil
	case mixed && x == y:
		return 0, nil
	case mixed:
		return 1, nil
	}
	switch a := a.(type) {
	case bool:
		if a == b.(bool) {
			return 0, nil
		}
		return 1, nil
	case int64:
		return big.NewInt(a).Cmp(big.NewInt(b.(int64))), nil
	case string:
		return strings.Compare(a, b.(string)), nil
	case []byte:
		return strings.Compare(string(a), string(b.([]byte))), nil
	case time.Time:
		return a.Compare(b.(time.Time)), nil
	}
	d := a.(time.Duration) - b.(time.Duration)
	return big.NewInt(int64(d)).Sign(), nil
}

func lowerArithmetic(op string, a, b any) (any, error) {
	if v, err, ok := lowerMoments(op, a, b); ok {
		return v, err
	}
	if s, ok := a.(string); ok {
		return s + b.(string), nil
	}
	if xs, ok := a.([]any); ok {
		return slices.Concat([]any{}, xs, b.([]any)), nil
	}
	if x, y, mixed, err := lowerMixed(a, b); mixed || err != nil {
		if err != nil {
			return nil, err
		}
		switch op {
		case "+":
			return x + y, nil
		case "-":
			return x - y, nil
		case "/":
			if y == 0 {
				return nil, errLower
			}
			return x / y, nil
		}
		return x * y, nil
	}
	x, y, z := big.NewInt(a.(int64)), big.NewInt(b.(int64)), new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "/", "%":
		if y.Sign() == 0 {
			return nil, errLower
		}
		rest := new(big.Int)
		if z.QuoRem(x, y, rest); op == "%" && z.IsInt64() {
			z = rest
		}
	default:
		z.Mul(x, y)
	}
	if !z.IsInt64() {
		return nil, errLower
	}
	return z.Int64(), nil
}

func (ev *lowerEval) call(n *expr.Node) (any, error) {
	if n.Text == "default" || n.Text == "first" {
		for i, k := range n.Kids {
			v, err := ev.eval(k)
			if err != nil || v != nil || i == len(n.Kids)-1 {
				return v, err
			}
		}
	}
	var args []any
	for _, k := range n.Kids {
		v, err := ev.eval(k)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	switch n.Text {
	case "size":
		switch x := args[0].(type) {
		case string:
			return int64(utf8.RuneCountInString(x)), nil
		case []any:
			return int64(len(x)), nil
		case []byte:
			return int64(len(x)), nil
		}
		return int64(len(args[0].(map[string]any))), nil
	case "contains":
		return strings.Contains(args[0].(string), args[1].(string)), nil
	case "startsWith":
		return strings.HasPrefix(args[0].(string), args[1].(string)), nil
	case "endsWith":
		return strings.HasSuffix(args[0].(string), args[1].(string)), nil
	case "matches":
	default:
		return lowerFunction(n, args)
	}
	return regexp.MatchString(args[1].(string), args[0].(string))
}

func (ev *lowerEval) macro(n *expr.Node) (any, error) {
	recv, err := ev.eval(n.Kids[0])
	if err != nil {
		return nil, err
	}
	items, ok := recv.([]any)
	if !ok {
		var keys []string
		for k := range recv.(map[string]any) {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			items = append(items, k)
		}
	}
	if n.Text == "sortBy" {
		return ev.sortBy(n, items)
	}
	vars := map[string]any{}
	for k, v := range ev.vars {
		vars[k] = v
	}
	inner := &lowerEval{env: ev.env, vars: vars}
	out := []any{}
	for _, x := range items {
		vars[n.Var] = x
		v, err := inner.eval(n.Kids[1])
		if err != nil {
			return nil, err
		}
		switch {
		case n.Text == "exists" && v.(bool):
			return true, nil
		case n.Text == "all" && !v.(bool):
			return false, nil
		case n.Text == "map":
			out = append(out, v)
		case n.Text == "filter" && v.(bool):
			out = append(out, x)
		}
	}
	switch n.Text {
	case "exists":
		return false, nil
	case "all":
		return true, nil
	}
	return out, nil
}

func (ev *lowerEval) template(t *expr.Template) (string, error) {
	var b strings.Builder
	for _, s := range t.Segments {
		if s.Expr == nil {
			b.WriteString(s.Lit)
			continue
		}
		v, err := ev.eval(s.Expr)
		if err != nil {
			return "", err
		}
		switch s.Filter {
		case "json":
			b.WriteString(lowerJSON(v, s.Expr.Type))
		case "lines", "join":
			sep := "\n"
			if s.Filter == "join" {
				sep = s.FilterArg
			}
			var texts []string
			for _, x := range v.([]any) {
				texts = append(texts, lowerTextOf(x))
			}
			b.WriteString(strings.Join(texts, sep))
		default:
			b.WriteString(lowerTextOf(v))
		}
	}
	return b.String(), nil
}

func lowerTextOf(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return value.FormatFloat(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case time.Duration:
		return v.String()
	}
	return v.(string)
}

// lowerJSON writes a value as its Go form would be written: keys in order.
func lowerJSON(v any, t *schema.Type) string {
	if v == nil {
		return "null"
	}
	t = t.Present()
	switch t.Kind {
	case schema.Struct:
		var parts []string
		for _, f := range t.Fields {
			parts = append(parts, strconv.Quote(f.Name)+":"+lowerJSON(v.(map[string]any)[f.Name], f.Type))
		}
		slices.Sort(parts) // canonical JSON
		return "{" + strings.Join(parts, ",") + "}"
	case schema.List:
		var parts []string
		for _, x := range v.([]any) {
			parts = append(parts, lowerJSON(x, t.Elem))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// lowerConvert is what exprAs does to a value.
func lowerConvert(v any, from, to *schema.Type) (any, error) {
	switch {
	case v == nil:
		return nil, nil
	case to.Kind == schema.Any:
		return v, nil
	case to.Kind == schema.Opt, from.Kind == schema.Opt:
		return lowerConvert(v, from.Present(), to.Present())
	}
	switch to.Kind {
	case schema.Int:
		if lo, hi := lowerIntRange(to); to.Go != nil && to.Go.Name != "int" && (v.(int64) < lo || v.(int64) > hi) {
			return nil, errLower
		}
	case schema.List:
		var out []any
		for _, x := range v.([]any) {
			y, err := lowerConvert(x, from.Elem, to.Elem)
			if err != nil {
				return nil, err
			}
			out = append(out, y)
		}
		return out, nil
	case schema.Struct:
		out := map[string]any{}
		for _, f := range to.Fields {
			if g := from.Field(f.Name); g != nil {
				x, err := lowerConvert(v.(map[string]any)[f.Name], g.Type, f.Type)
				if err != nil {
					return nil, err
				}
				out[f.Name] = x
			}
		}
		return out, nil
	}
	return v, nil
}

// lowerShow prints a value as the program does.
func lowerShow(v any, t *schema.Type) string {
	if t.Kind == schema.Any {
		return "any " + lowerShowAny(v)
	}
	if v == nil {
		return "null"
	}
	t = t.Present()
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return "float " + strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return strconv.Quote(v)
	case []byte:
		return "bytes " + base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return "time " + strconv.FormatInt(v.UnixNano(), 10)
	case time.Duration:
		return "duration " + strconv.FormatInt(int64(v), 10)
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, lowerShow(x, t.Elem))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	m := v.(map[string]any)
	var items []string
	if t.Kind == schema.Map {
		for k, x := range m {
			items = append(items, strconv.Quote(k)+": "+lowerShow(x, t.Elem))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	}
	for _, f := range t.Fields {
		items = append(items, lowerShow(m[f.Name], f.Type))
	}
	return "(" + strings.Join(items, ", ") + ")"
}

// lowerShowAny is the JSON of a dynamic value. Only scalars are converted to any by the test.
func lowerShowAny(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float64:
		text, err := json.Marshal(value.Float(v))
		if err != nil {
			return "error"
		}
		return string(text)
	case string:
		text, _ := json.Marshal(value.String(v))
		return string(text)
	}
	return lowerTextOf(v)
}
