package openexpertise

import (
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// When is whether a condition holds for a state, as the engine looks at it: strict equality, the order of JavaScript, and paths into
// values of any shape. A field that is null has no value. Native workflows call it where values have no types:
// `go: github.com/flowgen-dev/flowgen/runtime/openexpertise.When`. The error is that the condition cannot be read.
func When(condition string, state value.Value) (bool, error) {
	c := &test{text: condition, state: state}
	c.next()
	v := c.or(0)
	if c.wrong {
		return false, value.Errorf(value.ValidationError, "the condition %q cannot be read", condition)
	}
	return js.True(v), nil
}

// maxNested bounds the parentheses of a condition.
const maxNested = 100

// A test is a condition that is read from left to right, and evaluated on the way: both sides of an operator always are, as none can fail.
type test struct {
	text  string // what is left behind token
	token string
	state value.Value
	wrong bool
}

var operators = []string{"==", "!=", ">=", "<=", "&&", "||", ">", "<", "(", ")"}

func wordPart(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// next reads a token; empty: the text has ended.
func (c *test) next() {
	s := strings.TrimLeft(c.text, " \t\r\n")
	n := 0
	switch {
	case s == "":
	case s[0] == '\'' || s[0] == '"':
		end := strings.IndexByte(s[1:], s[0])
		c.wrong = c.wrong || end < 0
		n = max(end+2, 1)
	case strings.HasPrefix(s, "$.") || s[0] == '-' || wordPart(s[0]):
		for n++; n < len(s) && (wordPart(s[n]) || s[n] == '.'); n++ {
		}
	default:
		for _, op := range operators {
			if n == 0 && strings.HasPrefix(s, op) {
				n = len(op)
			}
		}
		c.wrong = c.wrong || n == 0
	}
	c.token, c.text = s[:n], s[n:]
}

func (c *test) take(tokens ...string) string {
	for _, t := range tokens {
		if c.token == t {
			c.next()
			return t
		}
	}
	return ""
}

func (c *test) or(depth int) dynamic.Field {
	left := c.and(depth)
	for !c.wrong && c.take("||") != "" {
		right := c.and(depth)
		left = dynamic.Flag(js.True(left) || js.True(right))
	}
	return left
}

func (c *test) and(depth int) dynamic.Field {
	left := c.comparison(depth)
	for !c.wrong && c.take("&&") != "" {
		right := c.comparison(depth)
		left = dynamic.Flag(js.True(left) && js.True(right))
	}
	return left
}

var comparisons = map[string]func(a, b dynamic.Field) bool{
	"==": js.Equal, "!=": js.NotEqual, "<": js.Less, "<=": js.LessOrEqual, ">": js.Greater, ">=": js.GreaterOrEqual,
}

func (c *test) comparison(depth int) dynamic.Field {
	left := c.operand(depth)
	if op := c.take("==", "!=", "<", "<=", ">", ">="); op != "" {
		return dynamic.Flag(comparisons[op](left, c.operand(depth)))
	}
	return left
}

// operand is a path, a constant, length(x), or an expression in parentheses.
func (c *test) operand(depth int) dynamic.Field {
	t := c.token
	if c.wrong = c.wrong || t == "" || depth > maxNested; c.wrong {
		return dynamic.Field{}
	}
	c.next()
	switch {
	case t == "(" || t == "length":
		c.wrong = c.wrong || t == "length" && c.take("(") == ""
		v := c.or(depth + 1)
		c.wrong = c.wrong || c.take(")") == ""
		if t == "length" {
			return js.Length(v)
		}
		return v
	case strings.HasPrefix(t, "$."):
		name, path, more := strings.Cut(t[2:], ".")
		field, ok := c.state.Get(name)
		switch {
		case !ok || field.IsNull():
			return dynamic.Field{}
		case more:
			return js.At(dynamic.Of(field), strings.Split(path, ".")...)
		}
		return dynamic.Of(field)
	case t == "true" || t == "false":
		return dynamic.Flag(t == "true")
	case t[0] == '\'' || t[0] == '"':
		return dynamic.Text(t[1 : len(t)-1])
	}
	n, err := strconv.ParseFloat(t, 64)
	c.wrong = c.wrong || err != nil
	return dynamic.Of(value.Float(n))
}
