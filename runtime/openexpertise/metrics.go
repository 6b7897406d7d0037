package openexpertise

import (
	"math"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Metrics is what a call took as its tool says in `metrics`: tokens_in, tokens_out and cost_usd (seed page, "The implementation
// contract"). It is nil where there is none of them; anything but a number of 0 or more is ignored.
func Metrics(out *value.Value) *usage.Usage {
	if out.Kind() != value.MapKind {
		return nil
	}
	m, ok := out.Get("metrics")
	if !ok || m.Kind() != value.MapKind {
		return nil
	}
	in, hasIn := amount(m, "tokens_in")
	gave, hasOut := amount(m, "tokens_out")
	cost, hasCost := amount(m, "cost_usd")
	if !hasIn && !hasOut && !hasCost {
		return nil
	}
	u := &usage.Usage{InputTokens: int64(min(in, most)), OutputTokens: int64(min(gave, most))}
	if hasCost {
		usd := usage.USD(math.Round(min(cost, most/1e3) * 1e9))
		u.CostUSD = &usd
	}
	return u
}

// most bounds what one call can say that it took: sums of it fit.
const most = 1e12

func amount(m value.Value, key string) (float64, bool) {
	v, ok := m.Get(key)
	if !ok {
		return 0, false
	}
	var n float64
	switch v.Kind() {
	case value.IntKind:
		n = float64(v.Int())
	case value.FloatKind:
		n = v.Float()
	default:
		return 0, false
	}
	if n >= 0 {
		return n, true
	}
	return 0, false
}
