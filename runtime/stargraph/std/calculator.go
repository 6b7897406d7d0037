// Package std is the tools that come with Stargraph and need nothing but this machine and the network: a calculator, files
// of the working directory, and pages of the web. Each gives a map, as tools of the engine do.
package std

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The bounds of an expression: characters, and how deep it nests.
const (
	maxExpression = 10_000
	maxNesting    = 100
)

// Calculator computes an expression of Python's arithmetic: + - * / // % **, parentheses, numbers, pi, e and tau, and the
// functions abs, round, min, max, sqrt, floor, ceil, log, log2, log10, exp, sin, cos, tan, asin, acos and atan. The result is {result}. What cannot be
// computed is a VALIDATION_ERROR. std.calculator@1.
func Calculator(_ context.Context, expression string) (value.Value, error) {
	if len(expression) > maxExpression {
		return value.Value{}, value.Errorf(value.ValidationError, "the expression has more than %d characters", maxExpression)
	}
	c := &calculation{text: expression}
	v, err := c.sum(0)
	if err == nil && c.peek() != 0 {
		err = c.wrong("unexpected %q", c.text[c.at:])
	}
	if err != nil {
		return value.Value{}, err
	}
	result := value.Float(v.f)
	if v.whole {
		result = value.Int(v.n)
	} else if math.IsNaN(v.f) || math.IsInf(v.f, 0) {
		return value.Value{}, value.Errorf(value.ValidationError, "the result is not a number")
	}
	return value.Map(value.Entry{Key: "result", Value: result}), nil
}

// A number is whole, and then n, or f.
type number struct {
	whole bool
	n     int64
	f     float64
}

func integer(n int64) number { return number{whole: true, n: n, f: float64(n)} }
func real(f float64) number  { return number{f: f} }

type calculation struct {
	text string
	at   int
}

func (c *calculation) wrong(format string, args ...any) error {
	return value.Errorf(value.ValidationError, "the expression is wrong at %d: "+format, append([]any{c.at}, args...)...)
}

// peek is the next character that is not a space; 0 at the end.
func (c *calculation) peek() byte {
	for c.at < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.at]) >= 0 {
		c.at++
	}
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

// operator takes the first of some operators that comes next.
func (c *calculation) operator(list ...string) string {
	c.peek()
	for _, op := range list {
		if strings.HasPrefix(c.text[c.at:], op) {
			c.at += len(op)
			return op
		}
	}
	return ""
}

func (c *calculation) sum(depth int) (number, error) {
	if depth > maxNesting {
		return number{}, c.wrong("it is nested more than %d deep", maxNesting)
	}
	v, err := c.product(depth)
	for err == nil {
		op := c.operator("+", "-")
		if op == "" {
			return v, nil
		}
		var w number
		if w, err = c.product(depth); err == nil {
			v, err = c.apply(op, v, w)
		}
	}
	return v, err
}

func (c *calculation) product(depth int) (number, error) {
	v, err := c.unary(depth)
	for err == nil {
		c.peek()
		if strings.HasPrefix(c.text[c.at:], "**") {
			return v, nil
		}
		op := c.operator("//", "*", "/", "%")
		if op == "" {
			return v, nil
		}
		var w number
		if w, err = c.unary(depth); err == nil {
			v, err = c.apply(op, v, w)
		}
	}
	return v, err
}

func (c *calculation) unary(depth int) (number, error) {
	if depth > maxNesting {
		return number{}, c.wrong("it is nested more than %d deep", maxNesting)
	}
	switch c.operator("-", "+") {
	case "-":
		v, err := c.unary(depth + 1)
		if err != nil {
			return v, err
		}
		return c.apply("-", integer(0), v)
	case "+":
		return c.unary(depth + 1)
	}
	v, err := c.primary(depth)
	if err == nil && c.operator("**") != "" {
		var w number
		if w, err = c.unary(depth + 1); err == nil {
			v, err = c.apply("**", v, w)
		}
	}
	return v, err
}

func (c *calculation) primary(depth int) (number, error) {
	ch := c.peek()
	switch {
	case ch == '(':
		c.at++
		v, err := c.sum(depth + 1)
		if err == nil && c.operator(")") == "" {
			err = c.wrong("a parenthesis is open")
		}
		return v, err
	case ch >= '0' && ch <= '9' || ch == '.':
		return c.literal()
	case ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z':
		return c.name(depth)
	case ch == 0:
		return number{}, c.wrong("it ends too early")
	}
	return number{}, c.wrong("unexpected %q", ch)
}

func (c *calculation) literal() (number, error) {
	from := c.at
	for c.at < len(c.text) {
		ch := c.text[c.at]
		exponent := (ch == '+' || ch == '-') && c.at > from && (c.text[c.at-1] == 'e' || c.text[c.at-1] == 'E')
		if (ch < '0' || ch > '9') && ch != '.' && ch != '_' && ch != 'e' && ch != 'E' && !exponent {
			break
		}
		c.at++
	}
	text := strings.ReplaceAll(c.text[from:c.at], "_", "")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return integer(n), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return number{}, c.wrong("%q is not a number", text)
	}
	return real(f), nil
}

var functions = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "log": math.Log, "log10": math.Log10, "exp": math.Exp, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
	"asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "log2": math.Log2,
}

func (c *calculation) name(depth int) (number, error) {
	from := c.at
	for c.at < len(c.text) && (c.text[c.at] >= 'a' && c.text[c.at] <= 'z' || c.text[c.at] >= 'A' && c.text[c.at] <= 'Z' || c.text[c.at] >= '0' && c.text[c.at] <= '9' || c.text[c.at] == '.' || c.text[c.at] == '_') {
		c.at++
	}
	name := strings.TrimPrefix(c.text[from:c.at], "math.")
	switch name {
	case "pi":
		return real(math.Pi), nil
	case "e":
		return real(math.E), nil
	case "tau":
		return real(2 * math.Pi), nil
	}
	if c.operator("(") == "" {
		return number{}, c.wrong("%q is not known", name)
	}
	var args []number
	for c.peek() != ')' {
		v, err := c.sum(depth + 1)
		if err != nil {
			return v, err
		}
		args = append(args, v)
		if c.operator(",") == "" {
			break
		}
	}
	if c.operator(")") == "" {
		return number{}, c.wrong("a parenthesis is open")
	}
	return c.call(name, args)
}

func (c *calculation) call(name string, args []number) (number, error) {
	if f := functions[name]; f != nil && len(args) == 1 {
		return real(f(args[0].f)), nil
	}
	switch {
	case name == "abs" && len(args) == 1:
		if args[0].whole && args[0].n < 0 {
			return c.apply("-", integer(0), args[0])
		}
		if args[0].whole {
			return args[0], nil
		}
		return real(math.Abs(args[0].f)), nil
	case (name == "floor" || name == "ceil" || name == "round") && len(args) == 1:
		f := map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "round": math.RoundToEven}[name](args[0].f)
		if args[0].whole {
			return args[0], nil
		}
		if math.Abs(f) < 1<<53 {
			return integer(int64(f)), nil
		}
		return real(f), nil
	case name == "round" && len(args) == 2 && args[1].whole && args[1].n >= 0 && args[1].n < 16:
		text := strconv.FormatFloat(args[0].f, 'f', int(args[1].n), 64)
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || args[0].whole {
			return args[0], nil
		}
		return real(f), nil
	case (name == "min" || name == "max") && len(args) > 0:
		best := args[0]
		for _, v := range args[1:] {
			if name == "min" && v.f < best.f || name == "max" && v.f > best.f {
				best = v
			}
		}
		return best, nil
	}
	return number{}, c.wrong("%s of %d values is not known", name, len(args))
}

// apply computes one operation as Python does; integers that do not fit 64 bits become floats.
func (c *calculation) apply(op string, v, w number) (number, error) {
	if (op == "/" || op == "//" || op == "%") && w.f == 0 {
		return number{}, c.wrong("division by zero")
	}
	if v.whole && w.whole && op != "/" {
		if n, ok := whole(op, v.n, w.n); ok {
			return integer(n), nil
		}
	}
	switch op {
	case "+":
		return real(v.f + w.f), nil
	case "-":
		return real(v.f - w.f), nil
	case "*":
		return real(v.f * w.f), nil
	case "/":
		return real(v.f / w.f), nil
	case "//":
		return real(math.Floor(v.f / w.f)), nil
	case "%":
		m := math.Mod(v.f, w.f)
		if m != 0 && (m < 0) != (w.f < 0) {
			m += w.f
		}
		return real(m), nil
	}
	return real(math.Pow(v.f, w.f)), nil
}

// whole computes with integers; ok is false when the result is none that fits.
func whole(op string, v, w int64) (n int64, ok bool) {
	switch op {
	case "+":
		n = v + w
		return n, (n > v) == (w > 0)
	case "-":
		n = v - w
		return n, (n < v) == (w > 0)
	case "*":
		n = v * w
		return n, v == 0 || n/v == w && !(v == -1 && w == math.MinInt64)
	case "//", "%":
		if v == math.MinInt64 && w == -1 {
			return 0, false
		}
		q, m := v/w, v%w
		if m != 0 && (m < 0) != (w < 0) {
			q, m = q-1, m+w
		}
		if op == "//" {
			return q, true
		}
		return m, true
	case "**":
		if w < 0 {
			return 0, false
		}
		n = 1
		for range min(w, 64) {
			if n, ok = whole("*", n, v); !ok {
				return 0, false
			}
		}
		return n, w <= 64 || v == 0 || v == 1
	}
	return 0, false
}
