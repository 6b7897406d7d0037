package core_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The place is that in the user's code, not in a library that it calls.
func TestTraceOf(t *testing.T) {
	const python = "Traceback (most recent call last):\n  File \"<embedded>/pkg/sub.py\", line 7, in g\n    json.loads(text)\n" +
		"  File \"/usr/lib/python3.12/json/__init__.py\", line 346, in loads\n    return x\nValueError: no\n"
	const js = "TypeError: x is undefined\n    at node:internal/process:3:4\n    at read (/srv/node_modules/yaml/index.js:9:1)\n    at inner (tool.mjs:2:17)\n    at outer (tool.mjs:9:3)"
	for _, tt := range []struct{ name, trace, at string }{
		{"traceback", python, "pkg/sub.py:7"}, {"stack", js, "tool.mjs:2"}, {"stack", "Error: x\n    at file.mjs:3:4", "file.mjs:3"},
		{"traceback", "", ""}, {"stack", "no frames", ""}, {"traceback", "  File \"<frozen x>\", line 3", ""},
	} {
		te := &value.ToolError{Details: value.Map(value.Entry{Key: tt.name, Value: value.String(tt.trace)})}
		if at, trace := engine.TraceOf(te); at != tt.at || trace != tt.trace {
			t.Errorf("%q, %q", at, trace)
		}
	}
	for _, te := range []*value.ToolError{nil, {}, {Details: value.Int(3)}, {Details: value.Map(value.Entry{Key: "stack", Value: value.Int(3)})}} {
		if at, trace := engine.TraceOf(te); at+trace != "" {
			t.Errorf("%q, %q", at, trace)
		}
	}
}
