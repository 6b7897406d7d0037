package stargraph

import "github.com/flowgen-dev/flowgen/parser/dialect"

// Differences are the places where the project's page and its engine differ, or where flowgen and the engine do.
var Differences = []dialect.Difference{
	dialect.Differ("`graph:`, and `tool`, `inputs`, `out` on a node", "a form of its own; `{{state.x}}` is the value of a field", "with --compat upstream, a note", "accepted by neither loader"),
	dialect.Differ("a state field that nothing has written", "an input of the run, whose type is that of the argument it is passed to", "", "an error when the node runs"),
	dialect.Differ("capabilities", "`flowgen plan` and `flowgen manifest` list what the tools need; the user who compiles the program grants it", "with --compat upstream, a note", "`stargraph run` has no capabilities, so that every tool with permissions fails"),
	dialect.Differ("tools of installed packages (entry points `stargraph.tools`)", "not looked for, as nothing is imported: tools are the decorated functions of the project, those of `std` and those of flowgen.bindings.yaml", "", "found"),
	dialect.Differ("what a tool returns to a node of the kind tool", "stays as it is", "", "loses control characters and marks of system prompts, and is escaped for HTML; `--compat upstream` does so, too"),
	dialect.Differ("what a tool returns that is not a mapping", "is taken", "", "ends the run"),
	dialect.Differ("a tool that is nowhere", "refused when the graph is compiled", "an error", "an error when the node runs, so that a run which does not come there succeeds"),
	dialect.Differ("web pages and searches of the tools `std`", "public addresses, and what `STARGRAPH_HTTP_ALLOW` lists; DuckDuckGo's page of results", "", "all addresses; the package ddgs"),
	dialect.Differ("`nautilus.broker_request@1` without a broker", "PROVIDER_ERROR", "", "StargraphRuntimeError"),
	dialect.Differ("the server of `lm`", "asked, and not started: the page says nothing", "a note", "started when it does not run"),
	dialect.Differ("`requested_capability` of an interrupt", "not looked at: who can type at the terminal, or gives the file of answers, answers", "a note", "who answers has to have it"),
	dialect.Differ("what nodes of a `parallel` block write", "is kept; of one field what the last of `targets` writes", "a note", "is lost, but for that of the last of `targets`"),
	dialect.Differ("the strategies any and race", "decided for the first of `targets`, so that runs can be replayed", "a note", "decided by who is first"),
	dialect.Differ("`max_iters` of a react node", "the most answers of the model; without an answer in text among them the run ends with POLICY_DENIED", "", "the steps of the loop, after which the model is asked for an answer all the same"),
	dialect.Differ("what models receive", "plain questions with a JSON Schema of the answer, or without when it is one text", "", "what DSPy makes of them"),
	dialect.Differ("what a model gives to a field of the type str that is not text", "Python's text of it, which rules compare", "", "the value itself, of which rules compare Python's text"),
	dialect.Differ("programs of code nodes", "run in the sandbox of processes of this machine", "", "run where the engine says"),
	dialect.Differ("`stub` of a dspy node", "nothing is asked and nothing is written", "a note", "the node's own stand-in answers"),
	dialect.Differ("`max_steps` of a subgraph", "bounds how many nodes run of one whose routes lead back; where several nodes run a graph, the largest holds", "", "bounds how many nodes run of each with rules"),
	dialect.Differ("what nodes write into fields that the state does not declare", "can be read, and is given back at the end", "", "can be read; the final state is without it"),
	dialect.Differ("an authoring graph as the `spec` of a subgraph", "is compiled", "", "is refused: only an IR document is read there"),
	dialect.Differ("a subgraph without rules that has a state or a config", "has a state of its own, and may have a config", "", "works on the state of the graph that runs it, and is refused with a config"),
	dialect.Differ("`echo`, `halt` and `passthrough`", "do nothing", "with --compat upstream, a note", "read the field `message`: without it the run fails"),
	dialect.Differ("a rule over a field of `state_schema`, or of a class without the marker Mirror", "compares the field", "with --compat upstream, a note", "refused when the graph is loaded: only annotated fields of a `state_class` and fields with `route: true` are facts"),
	dialect.Differ("a value in `routes`", "any text", "", "lower-case letters, digits, `_`, `-` and `.`: the graph is refused with another"),
	dialect.Differ("the keys of a dict that a run is given, and of one that a Python function is given where its parameter is annotated as a dict", "in the order of their bytes", "", "in the order in which they are given"),
	dialect.Differ("the answer to an interrupt", "recorded; the run continues with the next node", "", "a fact, which rules of the live router do not see"),
	dialect.Differ("recording", "every call is recorded, by the tool's full key", "", "nothing is"),
}

// differences notes where this file depends on one of them.
func (p *parser) differences() {
	if p.form == page && p.opts.Upstream {
		p.Differs(p.wf.Name.Span, "write an IR document or the authoring format to run it there", "the engine does not read this form")
	}
}
