package core

import (
	"context"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
)

// toolOptions is what a tool declares about itself (Agent Tools 3.3; ToolSpec).
type toolOptions struct {
	secrets    []string
	shortKeys  bool // secrets may be too short to be taken out of texts
	maxOutput  int
	claims     []string
	state      toolState
	cost       usage.USD
	meter      any                        // nil or *meter[In, Out]
	spends     func(out any) *usage.Usage // nil: the output does not say
	replay     ReplayPolicy
	caching    bool
	cacheKey   func(tool string, input []byte, tenant string, names, values []string) string // a program without a cache links none
	ttl        time.Duration                                                                 // of cached results; 0 with caching: for ever
	rate       *rate
	idempotent bool
	approve    bool
	key        any // nil or func(In) string
	tier       Tier
	obtain     func(context.Context, Tier) (Tier, error)
	isolation  Isolation
	inDoubt    *Doubt        // nil: FailInDoubt
	filled     any           // nil or func(In) (In, error)
	timeout    time.Duration // of one attempt; 0: DefaultTimeout, below: none
	cancels    bool          // a call ends soon after its context
	queue      string        // of the workers that may make calls; empty: that of the workflow
	passage    []gate        // set by Bind
}

// gates reports whether a call has to pass the door even when nothing records it and no policy holds.
func (o *toolOptions) gates() bool {
	return o.secrets != nil || o.state != active || o.caching || o.rate != nil || o.idempotent || o.approve || o.tier > Native || o.obtain != nil ||
		o.timeout > 0 || o.cancels && o.timeout == 0
}

// ToolOption configures Bind.
type ToolOption func(*toolOptions)

// Secrets names the secrets the tool reads with Secret or Auth. A missing one fails the call with AUTH_REQUIRED.
func Secrets(names ...string) ToolOption {
	return func(o *toolOptions) { o.secrets = append(o.secrets, names...) }
}

// ShortSecrets lets the tool's secrets have fewer bytes than can be found in texts and taken out, such as the key of a
// stand-in for a service.
func ShortSecrets() ToolOption { return func(o *toolOptions) { o.shortKeys = true } }

// Filled lets a tool be called with what f makes of the input, which is recorded as it was: values that no journal may hold
// are put in by f. In is the tool's.
func Filled[In any](f func(In) (In, error)) ToolOption {
	return func(o *toolOptions) { o.filled = f }
}

// DefaultMaxOutput bounds the output's JSON of tools without MaxOutput: 2 MiB (Agent Tools 5.4).
const DefaultMaxOutput = 2 << 20

// MaxOutput bounds the output's JSON in bytes; below 0 the tool bounds it itself. Of a larger output text and values of type
// Value are cut, and others fail the call with POLICY_DENIED. The whole is kept where there is a store for it (WithBlobs).
func MaxOutput(bytes int) ToolOption { return func(o *toolOptions) { o.maxOutput = bytes } }

// Permissions names capabilities that calls need, such as "tools:search". A run under a policy that does not grant all
// of them denies the call (ToolSpec: permissions).
func Permissions(claims ...string) ToolOption {
	return func(o *toolOptions) { o.claims = append(o.claims, claims...) }
}

// CostUSD says what one attempt costs at most, as a decimal: what a budget reserves. It panics when text is none.
func CostUSD(text string) ToolOption {
	cost, err := usage.ParseUSD(text)
	if err != nil {
		panic("flow.CostUSD: " + err.Error())
	}
	return func(o *toolOptions) { o.cost = cost }
}

// CacheFor lets results be used again for d, by calls with the same input, tenant and secrets, of this and other runs.
func CacheFor(d time.Duration) ToolOption {
	return func(o *toolOptions) { o.caching, o.ttl, o.cacheKey = d > 0, d, cacheKey }
}

// CacheForever is CacheFor without an end.
func CacheForever() ToolOption {
	return func(o *toolOptions) { o.caching, o.ttl, o.cacheKey = true, 0, cacheKey }
}

// Rate lets at most n calls begin in any period of the given length, of all runs in this process together. A call
// waits for its turn; when its deadline is before that, it fails with RATE_LIMIT.
func Rate(n int, per time.Duration) ToolOption {
	return func(o *toolOptions) {
		if n > 0 && per > 0 {
			o.rate = newRate(n, per)
		}
	}
}

// Idempotent says that the tool tells a repetition of a call by its key, the call_id, which is the same for each attempt:
// HTTP tools send it as Idempotency-Key, others read it with Invocation.IdempotencyKey.
func Idempotent() ToolOption { return func(o *toolOptions) { o.idempotent = true } }

// IdempotencyKey is Idempotent with a key of its own, made of the input. In must be that of the tool.
func IdempotencyKey[In any](key func(In) string) ToolOption {
	return func(o *toolOptions) { o.idempotent, o.key = true, key }
}

// Deprecated marks a tool that should not be used any more (Agent Tools 7.2). It works; the first call of a run is
// followed by a warning event.
func Deprecated() ToolOption { return func(o *toolOptions) { o.state = deprecated } }

// Blocked marks a tool that must not be used any more (Agent Tools 7.2): every call fails with POLICY_DENIED.
func Blocked() ToolOption { return func(o *toolOptions) { o.state = blocked } }

// Require sets the least isolation that calls need. Below it they fail with SANDBOX_ERROR before the tool runs.
func Require(t Tier) ToolOption { return func(o *toolOptions) { o.tier = max(o.tier, t) } }

// Obtain says how a tool gets its isolation: probe tries for at least the tier that is required and returns the one that
// calls then run in. It is asked before every call and must be quick and safe for concurrent use. A tool without it runs
// as Native, and the MinSandbox of policies is not about it: it is part of the program.
func Obtain(probe func(ctx context.Context, required Tier) (Tier, error)) ToolOption {
	return func(o *toolOptions) { o.obtain = probe }
}

// toolState is the state of a version of a tool (Agent Tools 7.2).
type toolState uint8

const (
	active toolState = iota
	deprecated
	blocked
)

// ReplayPolicy says what a replay does with a call that its journal has no result of (ToolSpec: replay_policy).
type ReplayPolicy uint8

// The replay policies. DefaultReplay is RecordedResult for the effects none and reads, and else MustStub.
const (
	DefaultReplay  ReplayPolicy = iota
	RecordedResult              // it may run again
	MustStub                    // a hard error
	FailLoud                    // a hard error; nobody should expect a record
)

var replayNames = [...]string{"", "recorded-result", "must-stub", "fail-loud"}

// String returns the word of the workflow language.
func (p ReplayPolicy) String() string { return replayNames[p%ReplayPolicy(len(replayNames))] }

// Replay sets the replay policy where it is not the default.
func Replay(p ReplayPolicy) ToolOption { return func(o *toolOptions) { o.replay = p } }

// replayPolicy is the policy as declared, or what follows from the effects.
func (o *toolOptions) replayPolicy(e Effects) ReplayPolicy {
	switch {
	case o.replay != DefaultReplay:
		return o.replay
	case e <= Reads:
		return RecordedResult
	}
	return MustStub
}
