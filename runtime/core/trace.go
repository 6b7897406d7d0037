package core

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TraceOf returns the trace of an error of Python or JavaScript code as text with line breaks, and the place in the user's
// code that raised it, as "lib/price.py:7"; "" where the error has none.
func TraceOf(te *value.ToolError) (at, trace string) {
	if te == nil || te.Details.Kind() != value.MapKind {
		return "", ""
	}
	for name, place := range map[string]func(string) string{"traceback": pythonPlace, "stack": jsPlace} {
		if v, ok := te.Details.Get(name); ok && v.Kind() == value.StringKind {
			trace = v.String()
			return place(trace), trace
		}
	}
	return "", ""
}

var (
	pythonFrame = regexp.MustCompile(`(?m)^ *File "([^"\n]+)", line ([0-9]+)`)
	jsFrame     = regexp.MustCompile(`(?m)^ *at (?:[^\n(]*\()?([^\s()]+):([0-9]+):[0-9]+\)?$`)
	notOwn      = regexp.MustCompile(`^<(?:frozen|string|flowgen)|^node:|/(?:site|dist)-packages/|/lib/python[0-9.]*/|/node_modules/`)
)

// pythonPlace is the last frame that is no library's: Python writes the innermost last.
func pythonPlace(trace string) (at string) {
	for _, m := range pythonFrame.FindAllStringSubmatch(trace, -1) {
		if !notOwn.MatchString(m[1]) {
			at = m[1] + ":" + m[2]
		}
	}
	return strings.TrimPrefix(at, "<embedded>/")
}

// jsPlace is the first one: JavaScript writes the innermost first.
func jsPlace(trace string) string {
	for _, m := range jsFrame.FindAllStringSubmatch(trace, -1) {
		if !notOwn.MatchString(m[1]) {
			return strings.TrimPrefix(m[1]+":"+m[2], "<embedded>/")
		}
	}
	return ""
}
