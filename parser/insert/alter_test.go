package insert

import (
	"strings"
	"testing"
)

const altered = `# first
nodes:
  ask: # whom
    agent: m
    # what it can spend
    policy: {max_iterations: 3, max_tool_calls: 4} # enough
    pins:
      # the first one
      one: {tool: a} # of a
      two: {tool: b, strategy: first_success}
  tell: {agent: m, pins: {only: {tool: a}}, prompt: hi}
`

// TestAlter changes, adds and removes values where they are, and nothing else.
func TestAlter(t *testing.T) {
	ask := []string{"nodes", "ask"}
	for _, c := range []struct {
		name      string
		edit      func() (string, error)
		old, with string
	}{
		{"in place", func() (string, error) { return Put(altered, append(ask, "policy"), "max_tool_calls", "8") }, "max_tool_calls: 4", "max_tool_calls: 8"},
		{"new", func() (string, error) { return Put(altered, append(ask, "policy"), "max_cost_usd", `"0.50"`) }, "calls: 4}", `calls: 4, max_cost_usd: "0.50"}`},
		{"new mapping", func() (string, error) { return Put(altered, []string{"nodes", "tell", "policy"}, "effects", "[none]") }, "prompt: hi}", "prompt: hi, policy: {effects: [none]}}"},
		{"in a block", func() (string, error) { return Put(altered, append(ask, "pins", "one"), "on_missing", "keep") }, "{tool: a} # of", "{tool: a, on_missing: keep} # of"},
		{"removed, first", func() (string, error) { return Remove(altered, append(ask, "policy"), "max_iterations") }, "max_iterations: 3, ", ""},
		{"removed, last", func() (string, error) { return Remove(altered, append(ask, "policy"), "max_tool_calls") }, ", max_tool_calls: 4", ""},
		{"removed from a block", func() (string, error) { return Remove(altered, append(ask, "pins"), "one") }, "      one: {tool: a} # of a\n", ""},
		{"removed at the end of a block", func() (string, error) { return Remove(altered, append(ask, "pins"), "two") }, "      two: {tool: b, strategy: first_success}\n", ""},
		{"removed with its mapping", func() (string, error) { return Remove(altered, []string{"nodes", "tell", "pins"}, "only") }, "pins: {only: {tool: a}}, ", ""},
	} {
		got, err := c.edit()
		if want := strings.Replace(altered, c.old, c.with, 1); err != nil || got != want {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	for _, c := range []struct {
		name string
		edit func() (string, error)
		want string
	}{
		{"lines", func() (string, error) { return Put(altered, ask, "agent", "a\nb: c") }, "not a one-line YAML value"},
		{"broken", func() (string, error) { return Put(altered, ask, "agent", "[") }, "not a one-line YAML value"},
		{"a block", func() (string, error) { return Put(altered, ask, "pins", "{}") }, "over several lines"},
		{"missing", func() (string, error) { return Remove(altered, ask, "nothing") }, "not written here"},
		{"an anchor", func() (string, error) { return Put("a: &x 1\nb: *x\n", nil, "b", "2") }, "anchor"},
		{"a comment inside", func() (string, error) {
			return Remove("a:\n  b:\n    # why\n    c: 1\n  d: 2\n", []string{"a", "b"}, "c")
		}, "comment"},
		{"a comment", func() (string, error) { return Remove("a: {b: 1, # why\n  c: 2}\n", []string{"a"}, "c") }, "comment"},
	} {
		if got, err := c.edit(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}
