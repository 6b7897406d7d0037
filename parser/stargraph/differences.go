package stargraph

import "github.com/flowgen-dev/flowgen/parser/dialect"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("`graph:`, and `tool`, `inputs`, `out` on a node", "a form of its own; `{{state.x}}` is the value of a field", "accepted by neither loader", "with --compat upstream, a note"),
	dialect.Differ("a state field that nothing has written", "an input of the run, whose type is that of the argument it is passed to", "an error when the node runs", ""),
	dialect.Differ("capabilities", "`flowgen plan` and `flowgen manifest` list what the tools need; whoever compiles the program grants it", "`stargraph run` has no capabilities, so that every tool with permissions fails", ""),
	dialect.Differ("what a tool returns", "stays as it is", "control characters are removed and text is escaped for HTML", ""),
	dialect.Differ("`nautilus.broker_request@1` without a broker", "PROVIDER_ERROR", "StargraphRuntimeError", ""),
	dialect.Differ("the server of `lm`", "asked, and not started: the page says nothing", "started when it does not run", "a note"),
	dialect.Differ("`requested_capability` of an interrupt", "not looked at: who can type at the terminal, or gives the file of answers, answers", "who answers has to have it", "a note"),
	dialect.Differ("what nodes of a `parallel` block write", "is kept; of one field what the last of `targets` writes", "is lost, but for that of the last of `targets`", "a note"),
	dialect.Differ("the strategies any and race", "decided for the first of `targets`, so that runs can be done again", "decided by who is first", "a note"),
	dialect.Differ("`max_iters` of a react node", "the most answers of the model; without an answer in text among them the run ends with POLICY_DENIED", "the steps of the loop, after which the model is asked for an answer all the same", ""),
	dialect.Differ("what models are told", "plain questions with a JSON Schema of the answer", "what DSPy makes of them", ""),
	dialect.Differ("programs of code nodes", "run in the sandbox of processes of this machine", "run where the engine says", ""),
	dialect.Differ("`stub` of a dspy node", "nothing is asked and nothing is written", "the node's own stand-in answers", "a note"),
	dialect.Differ("`max_steps` of a subgraph", "read and checked; loops of a subgraph are not bounded by it", "bounds how many nodes of a subgraph with rules run", ""),
	dialect.Differ("the answer to an interrupt", "recorded; the run goes on with the next node", "a fact, which rules of the live router do not see", ""),
	dialect.Differ("recording", "every call is recorded, by the tool's full key", "nothing is", ""),
}

// differences notes where this file depends on one of them.
func (p *parser) differences() {
	if p.form == page && p.opts.Upstream {
		p.Differs(p.wf.Name.Span, "write an IR document or the authoring format to run it there", "the engine does not read this form")
	}
}
