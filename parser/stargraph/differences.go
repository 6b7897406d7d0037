package stargraph

import "github.com/flowgen-dev/flowgen/parser/dialect"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("`graph:`, and `tool`, `inputs`, `out` on a node", "accepted; `{{state.x}}` is a field's value", "with --compat upstream, a note", "neither loader accepts it"),
	dialect.Differ("a state field that no node has written", "an input of the run; its type is that of the argument that it is passed to", "", "an error when the node runs"),
	dialect.Differ("capabilities", "`flowgen plan` and `flowgen manifest` list them; the user who compiles the program grants them", "with --compat upstream, a note", "`stargraph run` grants none, so every tool with permissions fails"),
	dialect.Differ("tools of installed packages (entry points `stargraph.tools`)", "not found, because flowgen imports nothing: tools are the project's decorated functions, those of `std` and those of flowgen.bindings.yaml", "", "found"),
	dialect.Differ("the result of a tool in a tool node", "unchanged", "", "stripped of control characters and system prompt markers, and HTML-escaped; `--compat upstream` does the same"),
	dialect.Differ("a tool result that is not a mapping", "accepted", "", "fails the run"),
	dialect.Differ("a missing tool", "a compile error", "an error", "an error when the node runs; a run that does not reach it succeeds"),
	dialect.Differ("web pages and searches of the `std` tools", "public addresses and those in `STARGRAPH_HTTP_ALLOW`; DuckDuckGo's result page", "", "all addresses; the package ddgs"),
	dialect.Differ("`nautilus.broker_request@1` without a broker", "PROVIDER_ERROR", "", "StargraphRuntimeError"),
	dialect.Differ("the server of `lm`", "called, but not started (undocumented)", "a note", "started if it is not running"),
	dialect.Differ("`requested_capability` of an interrupt", "ignored: any user at the terminal, or with the answer file, can answer", "a note", "the answering user needs it"),
	dialect.Differ("writes of nodes in a `parallel` block", "kept; for the same field the last of `targets` wins", "a note", "lost, except those of the last of `targets`"),
	dialect.Differ("the strategies `any` and `race`", "the first of `targets` wins, so that runs can be replayed", "a note", "the first to finish wins"),
	dialect.Differ("`max_iters` of a react node", "the maximum number of model calls; without a text answer among them the run fails with POLICY_DENIED", "", "the maximum number of steps; the model is then asked for a final answer"),
	dialect.Differ("model requests", "plain prompts with a JSON Schema for the answer, or without one for a single text", "", "prompts made by DSPy"),
	dialect.Differ("a model's value for a `str` field that is not a string", "converted to Python's `str()`, which rules compare", "", "the value itself; rules compare its `str()`"),
	dialect.Differ("programs of code nodes", "run in the process sandbox of this machine", "", "run where the engine is configured to"),
	dialect.Differ("`stub` of a dspy node", "no call, writes nothing", "a note", "the node's stub answers"),
	dialect.Differ("`max_steps` of a subgraph", "limits the nodes that run in a subgraph with cycles; if several nodes run one graph, the largest limit applies", "", "limits the nodes that run in each subgraph with rules"),
	dialect.Differ("writes to undeclared state fields", "readable, and part of the final state", "", "readable, but not part of the final state"),
	dialect.Differ("an authoring graph as the `spec` of a subgraph", "compiled", "", "refused: only an IR document is accepted there"),
	dialect.Differ("a subgraph without rules that has a state or a config", "has its own state, and can have a config", "", "uses the state of the parent graph, and is refused with a config"),
	dialect.Differ("`echo`, `halt` and `passthrough`", "do nothing", "with --compat upstream, a note", "read the field `message`; the run fails without it"),
	dialect.Differ("a rule on a field of `state_schema`, or of a class without the Mirror marker", "compares the field", "with --compat upstream, a note", "refused at load time: only annotated fields of a `state_class` and fields with `route: true` are facts"),
	dialect.Differ("a value in `routes`", "any text", "", "lower-case letters, digits, `_`, `-` and `.`; others are refused"),
	dialect.Differ("the key order of a dict that is an input, or an argument annotated as a dict", "sorted by bytes", "", "insertion order"),
	dialect.Differ("the answer to an interrupt", "recorded; the run continues with the next node", "", "a fact, which rules of the running router do not see"),
	dialect.Differ("recording", "every call is recorded under the tool's full key", "", "none"),
}

// differences notes where this file depends on one of them.
func (p *parser) differences() {
	if p.form == page && p.opts.Upstream {
		p.Differs(p.wf.Name.Span, "write an IR document or the authoring format to run it there", "the engine does not read this form")
	}
}
