package sirenspec

import (
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Again is how long to wait before an agent is asked again by its policy, after an attempt that failed with code, message and
// details, and tried attempts before it. Where no attempt follows, it is the error of this one.
func Again(code, message string, details value.Value, tried, attempts int, on []string, guards bool, backoff string, base, most float64) (time.Duration, error) {
	err := value.Errorf(value.Code(code), "%s", message)
	err.Details = details
	p := Retry{Base: inSeconds(base), Most: inSeconds(most), On: on}
	switch backoff {
	case "linear":
		p.Backoff = Linear
	case "exponential":
		p.Backoff = Exponential
	}
	again := p.again(err)
	if err.Code == value.PolicyDenied {
		again = guards
	}
	if tried+1 >= attempts || !again {
		return 0, err
	}
	return p.steps(tried + 1), nil
}

func inSeconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

var codes = []value.Code{value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired, value.ProviderError, value.NetworkError, value.SandboxError}

// Chosen is the result of a function that a `tool_call` has called: answer is what that gives. A call that failed is an error,
// or null with skip.
func Chosen(answer value.Value, skip bool) (value.Value, error) {
	out, _ := answer.Get("result")
	if ok, _ := answer.Get("success"); ok.Bool() || skip {
		return out, nil
	}
	text, _ := answer.Get("error")
	code, rest, coded := strings.Cut(text.String(), ": ")
	if coded && slices.Contains(codes, value.Code(code)) {
		return value.Value{}, value.Errorf(value.Code(code), "%s", rest)
	}
	return value.Value{}, value.Errorf(value.Unknown, "%s", text.String())
}
