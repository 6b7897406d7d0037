package stargraph

import (
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

var fence = regexp.MustCompile("(?s)^```[a-zA-Z0-9]*\n(.*?)\n?```\\s*$")

// Program takes a program of a model's answer out of the fence that may be around it. That there is none is a VALIDATION_ERROR.
func Program(text string) (string, error) {
	text = strings.TrimSpace(text)
	if m := fence.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if text == "" {
		return "", value.Errorf(value.ValidationError, "the model has written no program")
	}
	return text, nil
}

// Verdict is pass when a program ended with 0, and in time, else fail.
func Verdict(exitCode int64, timedOut bool) string {
	if exitCode == 0 && !timedOut {
		return "pass"
	}
	return "fail"
}
