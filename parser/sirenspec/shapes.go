package sirenspec

import "github.com/flowgen-dev/flowgen/parser/dialect"

// The mappings of a workflow. The engine drops keys that it does not know without a word.
var (
	topShape = &dialect.Shape{What: "a workflow", Open: true, Keys: []dialect.Key{
		{Name: "version", Doc: "the version of the language, \"0.1\""},
		{Name: "agents", Doc: "models with what they receive, by name"},
		{Name: "nodes", Required: true, Doc: "the nodes, by name"},
		{Name: "edges", Doc: "which node comes after which"},
		{Name: "input", Doc: "what the workflow is asked when nothing is given"},
		{Name: "state", Doc: "what the context holds at the beginning"},
		{Name: "guardrails", Doc: "checks of what agents read and write"},
		{Name: "defaults", Doc: "retry and on_failure of agents"},
		{Name: "budget", Doc: "bounds of a run"},
		{Name: "env_file", Doc: "a file with variables"},
		{Name: "memory", Doc: "values that stay after a run"},
	}}
	inputShape = &dialect.Shape{What: "`input`", Open: true, Keys: []dialect.Key{{Name: "message", Doc: "what the workflow is asked"}}}
	stateShape = &dialect.Shape{What: "`state`", Open: true, Keys: []dialect.Key{
		{Name: "working", Doc: "values for templates"},
		{Name: "output", Doc: "values of the result"},
	}}
	agentShape = &dialect.Shape{What: "an agent", Open: true, Keys: []dialect.Key{
		{Name: "model", Required: true, Doc: "the model, as in openai:gpt-4o-mini"},
		{Name: "system", Required: true, Doc: "what it receives"},
		{Name: "guardrails", Doc: "checks of what it reads and writes"},
	}}
	edgeShape = &dialect.Shape{What: "an edge", Open: true, Keys: []dialect.Key{
		{Name: "from", Required: true, Doc: "the node it leaves"},
		{Name: "to", Required: true, Doc: "the node it leads to"},
		{Name: "when", Doc: "a condition"},
	}}
	agentNodeShape = &dialect.Shape{What: "an agent node", Open: true, Keys: []dialect.Key{
		{Name: "type", Doc: "agent, tool, swrm, factory, workflow or human"},
		{Name: "agent", Required: true, Doc: "the agent that is asked"},
		{Name: "writes", Required: true, Doc: "where its text goes, as in output.summary"},
		{Name: "streaming", Doc: "whether its text comes in pieces"},
		{Name: "retry", Doc: "when it is asked again"},
		{Name: "on_failure", Doc: "what becomes of a failure"},
		{Name: "max_tokens_per_call", Doc: "the most tokens of an answer"},
	}}
	toolNodeShape = &dialect.Shape{What: "a tool node", Open: true, Keys: []dialect.Key{
		{Name: "type", Required: true, Doc: "tool"},
		{Name: "tool", Required: true, Doc: "http or python"},
		{Name: "config", Required: true, Doc: "what the adapter does"},
		{Name: "output_key", Doc: "the name of the result below the node's, `output` if it is not written"},
		{Name: "retry", Doc: "how many times a failed call is repeated"},
		{Name: "on_failure", Doc: "raise or skip"},
	}}
	httpShape = &dialect.Shape{What: "the config of an http tool", Open: true, Keys: []dialect.Key{
		{Name: "url", Required: true, Doc: "the address"},
		{Name: "method", Doc: "GET or POST"},
		{Name: "headers", Doc: "headers by name"},
		{Name: "body", Doc: "the text that is sent"},
		{Name: "timeout", Doc: "seconds, 10 if it is not written"},
	}}
	pythonShape = &dialect.Shape{What: "the config of a python tool", Open: true, Keys: []dialect.Key{
		{Name: "module", Required: true, Doc: "the module, as in mypackage.tools"},
		{Name: "function", Required: true, Doc: "the function in it"},
		{Name: "args", Doc: "keyword arguments"},
	}}
)
