package core

import (
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

// The forms of frames are read by hand: regular expressions would be a fifth of a compiled program, which all of them would compile
// when they start.

// pythonPlace is the last frame that is no library's: Python writes the innermost last.
func pythonPlace(trace string) (at string) {
	for line := range strings.SplitSeq(trace, "\n") {
		file, found := strings.CutPrefix(strings.TrimLeft(line, " "), `File "`)
		file, rest, ok := strings.Cut(file, `"`)
		number, named := strings.CutPrefix(rest, ", line ")
		if number = leadingDigits(number); found && ok && named && file != "" && number != "" && !foreign(file) {
			at = file + ":" + number
		}
	}
	return strings.TrimPrefix(at, "<embedded>/")
}

// jsPlace is the first one: JavaScript writes the innermost first.
func jsPlace(trace string) string {
	for line := range strings.SplitSeq(trace, "\n") {
		frame, found := strings.CutPrefix(strings.TrimLeft(line, " "), "at ")
		if _, inside, ok := strings.Cut(frame, "("); ok {
			frame = inside
		}
		frame, _, column := cutNumber(strings.TrimSuffix(frame, ")"))
		file, number, ok := cutNumber(frame)
		if found && column && ok && file != "" && !strings.ContainsAny(file, " \t\f\r()") && !foreign(file) {
			return strings.TrimPrefix(file+":"+number, "<embedded>/")
		}
	}
	return ""
}

// cutNumber cuts off a colon and the number at the end.
func cutNumber(s string) (before, number string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 || leadingDigits(s[i+1:]) != s[i+1:] {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// foreign reports a file of a library or of the interpreter.
func foreign(file string) bool {
	for _, prefix := range []string{"<frozen", "<string", "<flowgen", "node:"} {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	for _, folder := range []string{"/site-packages/", "/dist-packages/", "/node_modules/"} {
		if strings.Contains(file, folder) {
			return true
		}
	}
	for rest := file; ; { // /lib/python3.12/
		_, after, found := strings.Cut(rest, "/lib/python")
		if !found {
			return false
		}
		if strings.HasPrefix(strings.TrimLeft(after, "0123456789."), "/") {
			return true
		}
		rest = after
	}
}
