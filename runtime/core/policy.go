package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Policy bounds what a run may do (Agent Tools 5.1). It is static data, written by the generator or by a Go caller, and
// read-only once New has seen it. A run can be under several policies: that of the workflow, those of WithPolicy, and in
// a sub-workflow its own. Each of them must allow a call, so that a policy can only narrow what another one allows.
//
// # What counts
//
//   - Every attempt of a call counts as a call: repetitions by retry reach the world again.
//   - A call that fails counts, and so does one whose input does not fit its schema.
//   - A call that the policy refuses does not count, nor does one whose scope was cancelled before it began.
//   - A result from the cache counts as a call and costs nothing; but there must be room for the cost until it is known
//     that there is one.
//   - A call costs its tool's estimate, reserved before it begins. The estimate comes back when the tool did not run:
//     for results from the cache, for a missing secret, for a wait for the rate limit that was cut short. A tool that
//     ran and failed has cost what it costs.
//   - A call of a model is not a call of a tool: it does not count as one, and Tools and Effects are not about it. NoModels is.
//     Before it begins the most that it can cost and take in tokens is reserved, and afterwards what it did not take comes
//     back (Metered). All of it comes back when the provider has refused the call or never got it; none of it when the
//     answer was lost or cannot be read, because the provider may have billed it.
//   - A call that a journal answers counts, and costs what was recorded. A resumed run is charged with all of its
//     journal before anything runs, with calls in doubt as if they had happened; one that is done again counts again.
//
// Calls and costs are reservations: of calls that come at the same time exactly as many go through as there is room for.
type Policy struct {
	// Grants are the capabilities that are given: "tools:search", or all with a beginning, "tools:search*". A tool that
	// claims a capability which no grant covers is denied; once there is a policy, nothing is granted by itself.
	Grants []string
	// Effects are the effects of tools that are allowed; nil allows all.
	Effects []Effects
	// Approve are the effects of calls that a user is asked for first, each with its arguments. Calls of models are not
	// asked for. A call that is refused fails with POLICY_DENIED.
	Approve []Effects
	// Tools are the tools that may be called, name@version or name for all versions; nil allows all.
	Tools []string
	// MaxToolCalls is the most calls of a run; 0 means no bound.
	MaxToolCalls int64
	// MaxPerTool is the most calls of single tools, by name@version.
	MaxPerTool map[string]int64
	// MaxCostUSD is the most that the calls of a run may cost together, a decimal; empty means no bound.
	MaxCostUSD string
	// MaxTokens is the most tokens that models may take together; 0 means no bound.
	MaxTokens int64
	// MaxTime is how long a run may work, all its parts together when it is resumed: waiting for answers does not count. 0 means no bound.
	MaxTime time.Duration
	// NoModels denies asking models, which is allowed otherwise, whatever Effects says.
	NoModels bool
	// MinSandbox is the least isolation for tools that run code of others; Native is none.
	MinSandbox Tier
}

// WithPolicy adds a policy, by which a caller narrows what a workflow may do.
func WithPolicy(p *Policy) Option {
	return func(rt *Runtime) {
		if p != nil {
			rt.policies = append(rt.policies, p)
		}
	}
}

// check reports a policy that cannot be held to.
func (p *Policy) check() error {
	if p.MaxCostUSD != "" {
		if _, err := usage.ParseUSD(p.MaxCostUSD); err != nil {
			return fmt.Errorf("policy: max_cost_usd: %w", err)
		}
	}
	if p.MaxTokens < 0 {
		return fmt.Errorf("policy: max_total_tokens is negative")
	}
	if p.MaxToolCalls < 0 {
		return fmt.Errorf("policy: max_tool_calls is negative")
	}
	if p.MaxTime < 0 {
		return fmt.Errorf("policy: max_time is negative")
	}
	for tool, n := range p.MaxPerTool {
		if n < 0 {
			return fmt.Errorf("policy: the bound of calls of %s is negative", tool)
		}
	}
	return nil
}

// denies says why a call is refused whatever has happened before, nil when it is not.
func (p *Policy) denies(h *Head, o *toolOptions) *value.ToolError {
	if p.NoModels && o.meter != nil {
		return value.Errorf(value.PolicyDenied, "the policy denies model calls, and %s is a model", h.Tool)
	}
	if p.Effects != nil && o.meter == nil && !slices.Contains(p.Effects, h.Effects) {
		return value.Errorf(value.PolicyDenied, "tool %s has effects %s, which the policy does not allow", h.Tool, h.Effects)
	}
	if name, _ := SplitTool(h.Tool); p.Tools != nil && o.meter == nil && !slices.Contains(p.Tools, h.Tool) && !slices.Contains(p.Tools, name) {
		return value.Errorf(value.PolicyDenied, "tool %s is not among those that the policy allows", h.Tool)
	}
	for _, c := range o.claims {
		if !Granted(p.Grants, c) {
			return value.Errorf(value.PolicyDenied, "tool %s needs the capability %q, which the policy does not grant", h.Tool, c)
		}
	}
	return nil
}

// Granted reports whether one of the grants covers a capability: it is that capability, byte by byte, or ends in * and
// the capability begins with the rest.
func Granted(grants []string, capability string) bool {
	for _, g := range grants {
		if g == capability {
			return true
		}
		if begin, wild := strings.CutSuffix(g, "*"); wild && strings.HasPrefix(capability, begin) {
			return true
		}
	}
	return false
}
