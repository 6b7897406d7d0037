package core_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// TestTraceFrames: frames are found as these regular expressions, which programs do not carry, find them.
func TestTraceFrames(t *testing.T) {
	python := regexp.MustCompile(`(?m)^ *File "([^"\n]+)", line ([0-9]+)`)
	js := regexp.MustCompile(`(?m)^ *at (?:[^\n(]*\()?([^\s()]+):([0-9]+):[0-9]+\)?$`)
	foreign := regexp.MustCompile(`^<(?:frozen|string|flowgen)|^node:|/(?:site|dist)-packages/|/lib/python[0-9.]*/|/node_modules/`)
	place := func(frames [][]string, last bool) (at string) {
		for _, m := range frames {
			if !foreign.MatchString(m[1]) && (last || at == "") {
				at = strings.TrimPrefix(m[1]+":"+m[2], "<embedded>/")
			}
		}
		return at
	}
	part := rapid.SampledFrom([]string{"  ", "File \"", "\"", ", line ", "7", "12", "at ", "f", "(", ")", ":", "\n", "\r", "\t", "x.py", "<embedded>/", "<frozen", "<string>",
		"node:", "/lib/python3.12/", "/lib/python", "/site-packages/", "/node_modules/", "ä", "at f (x.mjs:2:17)\n", "File \"x.py\", line 3"})
	rapid.Check(t, func(t *rapid.T) {
		trace := strings.Join(rapid.SliceOfN(part, 0, 14).Draw(t, "parts"), "")
		for _, want := range []struct{ name, at string }{{"traceback", place(python.FindAllStringSubmatch(trace, -1), true)}, {"stack", place(js.FindAllStringSubmatch(trace, -1), false)}} {
			te := &value.ToolError{Details: value.Map(value.Entry{Key: want.name, Value: value.String(trace)})}
			if at, _ := engine.TraceOf(te); at != want.at {
				t.Errorf("%s %q: %q, want %q", want.name, trace, at, want.at)
			}
		}
	})
}
