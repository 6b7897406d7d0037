package main

import (
	"iter"
	"maps"
	"strings"
)

// A facade is a package that promises a part of core to one audience. Each exported name of core is in one of them.
type facade struct {
	dir  string // from core
	pkg  string
	most int // exported names, those that are not of core included
	text string
}

type name struct{ core, here string }

// names are the names of a facade, in the order of the file: NAME, or NAME=ANOTHER, which it has here.
func (f facade) names() []name {
	var out []name
	for _, word := range strings.Fields(f.text) {
		core, here, renamed := strings.Cut(word, "=")
		if !renamed {
			here = core
		}
		out = append(out, name{core, here})
	}
	return out
}

func mapKeys(m map[string]bool) iter.Seq[string] { return maps.Keys(m) }

var facades = []facade{
	{dir: "..", pkg: "runtime", most: 90, text: `
		Option WithBlobs WithCache WithEngine WithEngines WithHuman WithObserver WithPast WithPolicy WithSecretLookup
		WithSecrets WithSlots WithStandIn WithState WithTenant WithUsage TenantContext WithRunID WithLogger
		Observer ObserverFunc Event EventKind RunStart RunEnd NodeStart NodeEnd Retrying Progress Output Logged Asking Warning
		Tracer Propagator Attempt TraceLinker UsageSink UsageFunc Policy Granted Asker Question Answer Nobody Waiting SecretLookup
		SecretQuery Owner Owners User Workspace Org
		Cache MemoryCache NewMemoryCache DefaultCacheBytes Blobs Blob MaxBlob StandIn Past LastCall
		NodeError RunError UndoError PanicError RunErrorKind Cancelled InDoubt Diverged JournalUnavailable ByScope ByRun IsCancelled
		AtExit Exit WithFakes
		Tier Native Wasm Process Container GVisor
	`},
	{dir: "../flow", pkg: "flow", most: 121, text: `
		Compat2 Run Runtime Info Node Tool Field Edge Need Retry Step Journaling Facts NewFacts New Start End EndState
		Call CallOr CallOrSkip Try Map MapDrop MapKeep MapOr Enumerate Indexed Item Failure Parallel ParallelLimit Graph Ask AskOr
		AskOrSkip OnFailure Choose Dispatch ToolResult UnknownTool DeniedTool Wait Pace Parse ParseText
		Bind ToolOption Blocked CacheFor CacheForever CostUSD Deprecated IdempotencyKey Idempotent MaxOutput Permissions Queue Rate
		Replay Secrets Effects None Reads Writes External
		Doubt DoubtPolicy FailInDoubt AskInDoubt AssumeDone RetryWithKey OnInDoubt ReplayPolicy DefaultReplay FailLoud MustStub
		RecordedResult
		Filled Catch CatchOptional Raise FailedNode Skip Skipped Some SetOnce NoCase Slots
	`},
	{dir: "../tool", pkg: "tool", most: 90, text: `
		Invocation ToolContext=Context Secret Auth Attach Attachment Spill CanSpill Cut Room Beginning Obtain Require
		Isolate Unisolated Isolation Isolated RedactorOf Metered ShortSecrets Spends Unspent Timeout Cancellable DefaultTimeout DefaultMaxOutput
	`},
	{dir: "../engine", pkg: "engine", most: 90, text: `
		Engine Op Head Metadata Scope Goroutines FirstFailure Starter Finisher Seeder Executor Answerer Beginner OwnTime Session Limit
		Invoke Last Receipt Envelope CallID SplitTool AgentTool HumanTool LastTool WaitTool UndoTool UndoNode UndoSuffix Suspender Caught
		Identifier Waiter EngineContext=NewContext NewRunID RunIDPrefix CheckRunID StackOf TraceOf WithValue EnvironmentProxy
		Carried Landed Portable Callable Provide Provided
	`},
}
