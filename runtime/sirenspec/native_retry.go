package sirenspec

import (
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
