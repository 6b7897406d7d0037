package sirenspec

import (
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestConditions holds values of conditions to what Python gives: True, False, false for an exception that the engine
// catches, and the text of one that it does not.
func TestConditions(t *testing.T) {
	data := dynamic.Object(dynamic.Put("d", dynamic.Object(dynamic.Put("k", dynamic.Text("v")))),
		dynamic.Put("l", dynamic.List(dynamic.Whole(1), dynamic.Object(dynamic.Put("k", dynamic.Text("v"))))))
	for name, x := range map[string]struct {
		want  string
		holds func(c *Condition) bool
	}{
		"text times text":        {"false", func(c *Condition) bool { return c.True(c.Arithmetic("*", Str("a"), Str("b"))) }},
		"list times list":        {"false", func(c *Condition) bool { return c.True(c.Arithmetic("*", Values(Int(1)), Values(Int(2)))) }},
		"text times a number":    {"True", func(c *Condition) bool { return c.Equal(c.Arithmetic("*", Int(2), Str("ab")), Str("abab")) }},
		"text times too much":    {"the value is too large", func(c *Condition) bool { return c.True(c.Arithmetic("*", Str("ab"), Int(1<<62))) }},
		"whole numbers overflow": {"True", func(c *Condition) bool { return c.Greater(c.Arithmetic("*", Int(1<<62), Int(4)), Int(1<<62)) }},
		"remainder has the sign": {"True", func(c *Condition) bool { return c.Equal(c.Arithmetic("%", Int(-7), Int(3)), Int(2)) }},
		"division rounds down":   {"True", func(c *Condition) bool { return c.Equal(c.Arithmetic("//", Int(-7), Int(2)), Int(-4)) }},
		"division by zero":       {"integer modulo by zero", func(c *Condition) bool { return c.True(c.Arithmetic("%", Int(1), Bool(false))) }},
		"the first exception": {"false", func(c *Condition) bool {
			return c.True(c.Arithmetic("+", c.At(data, "nope"), c.Item(Values(), Int(0))))
		}},
		"index out of range":     {"list index out of range", func(c *Condition) bool { return c.True(c.Item(c.At(data, "l"), Int(5))) }},
		"index from the end":     {"True", func(c *Condition) bool { return c.In(Str("k"), c.Item(c.At(data, "l"), Int(-1))) }},
		"a map of the context":   {"false", func(c *Condition) bool { return c.In(Str("k"), c.At(data, "d")) }},
		"which is true":          {"True", func(c *Condition) bool { return c.True(c.At(data, "d")) }},
		"and has no length":      {"false", func(c *Condition) bool { return c.True(c.Len(c.At(data, "d"))) }},
		"no number":              {"invalid literal for int() with base 10: 'x'", func(c *Condition) bool { return c.True(c.ToInt(Str("x"))) }},
		"a number with spaces":   {"True", func(c *Condition) bool { return c.Equal(c.ToInt(Str(" 1_0\n")), Int(10)) }},
		"the largest of nothing": {"max() arg is an empty sequence", func(c *Condition) bool { return c.True(c.Max(Values())) }},
		"text and number":        {"false", func(c *Condition) bool { return c.Less(Str("a"), Int(1)) }},
		"True is 1":              {"True", func(c *Condition) bool { return c.Equal(Bool(true), Int(1)) && !c.Is(Bool(true), Int(1)) }},
		"get with a default": {"True", func(c *Condition) bool {
			return c.Equal(c.Method(c.Item(c.At(data, "l"), Int(1)), "get", Str("z"), Int(5)), Int(5))
		}},
		"what is not looked at": {"True", func(c *Condition) bool { return c.True(c.Or(Int(1), func() Operand { return c.Unknown() })) }},
		"a method that is not":  {"false", func(c *Condition) bool { return c.True(c.Method(Int(1), "lower")) }},
		"a part of characters":  {"True", func(c *Condition) bool { return c.Equal(c.Part(Str("héllo"), Int(1), Int(-1), None()), Str("éll")) }},
		"text of a map":         {"True", func(c *Condition) bool { return c.Equal(c.ToStr(c.At(data, "d")), Str("{'k': 'v'}")) }},
		"words behind each other": {"True", func(c *Condition) bool {
			return c.Equal(c.Method(Str(", "), "join", c.Method(Str("a b"), "split")), Str("a, b"))
		}},
	} {
		r, n := start(t)
		ok, err := Holds(r, n, x.holds)
		got := map[bool]string{true: "True", false: "false"}[ok]
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), string(value.ValidationError)+": ")
		}
		if got != x.want {
			t.Errorf("%s: %s, not %s", name, got, x.want)
		}
		if err != nil && When(x.holds) {
			t.Errorf("%s: it holds by the pages", name)
		}
	}
}
