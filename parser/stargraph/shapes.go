package stargraph

import "github.com/flowgen-dev/flowgen/parser/dialect"

// The mappings of the three forms. The engine refuses keys that it does not know.
var (
	pageShape = &dialect.Shape{What: "a graph", Keys: []dialect.Key{
		{Name: "graph", Required: true, Doc: "what the graph is called"},
		{Name: "nodes", Required: true, Doc: "the nodes, which run one after the other"},
	}}
	documentShape = &dialect.Shape{What: "an IR document", Keys: []dialect.Key{
		{Name: "ir_version", Required: true, Doc: "the version of the format, as in 1.1.0"},
		{Name: "id", Required: true, Doc: "what the graph is called"},
		{Name: "nodes", Required: true, Doc: "the nodes; the first begins"},
		{Name: "rules", Doc: "where a run goes after a node"},
		{Name: "tools", Doc: "the tools that the graph may call"},
		{Name: "skills", Doc: "the skills that the graph may use"},
		{Name: "stores", Doc: "the stores that nodes read and write"},
		{Name: "state_schema", Doc: "the fields of the state with their types"},
		{Name: "state_class", Doc: "a Python class for the state"},
		{Name: "parallel", Doc: "parallel nodes"},
		{Name: "governance", Doc: "packs of rules"},
		{Name: "migrate", Doc: "how checkpoints of older graphs are read"},
		{Name: "checkpoints", Doc: "when the state is stored, and where"},
		{Name: "lm", Doc: "the language model"},
	}}
	authoringShape = &dialect.Shape{What: "a graph", Keys: []dialect.Key{
		{Name: "id", Doc: "what the graph is called; without it, as the file is"},
		{Name: "state", Doc: "the fields of the state with their types"},
		{Name: "nodes", Required: true, Doc: "the nodes by name; the first begins"},
		{Name: "routes", Doc: "where a run goes after a node"},
		{Name: "lm", Doc: "the language model"},
	}}
	fieldShape = &dialect.Shape{What: "a state field", Keys: []dialect.Key{
		{Name: "type", Required: true, Doc: "str, int, float, bool, list or dict"},
		{Name: "route", Doc: "true: routes can test it"},
		{Name: "default", Doc: "its value at the start"},
	}}
	documentNodeShape = &dialect.Shape{What: "a node", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "kind", Required: true, Doc: "tool, template, echo, ..."},
		{Name: "spec", Doc: "the file of a subgraph"},
		{Name: "config", Doc: "what the kind takes"},
	}}
	pagePlainShape = &dialect.Shape{What: "a node", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "kind", Required: true, Doc: "tool, echo, halt or passthrough"},
	}}
	toolConfig = &dialect.Shape{What: "the config of a tool node", Keys: []dialect.Key{
		{Name: "tool", Required: true, Doc: "the registry key of the tool, as in nautilus.broker_request@1"},
		{Name: "inputs", Doc: "state fields by argument"},
		{Name: "static", Doc: "constants by argument"},
		{Name: "out", Doc: "the state field that gets the result"},
	}}
	templateConfig = &dialect.Shape{What: "the config of a template node", Keys: []dialect.Key{
		{Name: "template", Required: true, Doc: "text with {field}"},
		{Name: "out", Required: true, Doc: "the state field that gets the text"},
	}}
	parallelShape = &dialect.Shape{What: "a block of parallel nodes", Keys: []dialect.Key{
		{Name: "targets", Required: true, Doc: "the nodes"},
		{Name: "join", Doc: "the node that comes after them"},
		{Name: "strategy", Doc: "all, any, race or quorum:N"},
	}}
	ruleShape = &dialect.Shape{What: "a rule", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "when", Doc: "the facts that it asks for"},
		{Name: "then", Doc: "what it does"},
		{Name: "node_id", Doc: "a label"},
	}}
)

// actions are the keys of what a rule does, by kind.
var actions = map[string]*dialect.Shape{
	"goto": {What: "a goto", Keys: []dialect.Key{actionKind, {Name: "target", Required: true, Doc: "the node that comes next"}}},
	"halt": {What: "a halt", Keys: []dialect.Key{actionKind, {Name: "reason", Doc: "text for people"}}},
	"parallel": {What: "the action parallel", Keys: []dialect.Key{actionKind, {Name: "targets", Required: true, Doc: "the nodes that run in parallel"},
		{Name: "join", Doc: "the node that comes after them"}, {Name: "strategy", Doc: "all, any, race or quorum:N"}}},
	"retry":   {What: "the action retry", Keys: []dialect.Key{actionKind, {Name: "target", Required: true, Doc: "the node that runs again"}, {Name: "backoff_ms", Doc: "how long to wait before"}}},
	"assert":  {What: "the action assert", Keys: []dialect.Key{actionKind, {Name: "fact", Required: true, Doc: "the template of the fact"}, {Name: "slots", Doc: "its slots, as JSON text"}}},
	"retract": {What: "the action retract", Keys: []dialect.Key{actionKind, {Name: "pattern", Required: true, Doc: "which facts"}}},
	"interrupt": {What: "the action interrupt", Keys: []dialect.Key{actionKind, {Name: "prompt", Required: true, Doc: "the question"}, {Name: "interrupt_payload", Doc: "what is shown with it"},
		{Name: "requested_capability", Doc: "the capability that an approver needs"}, {Name: "timeout", Doc: "an ISO duration"}, {Name: "on_timeout", Doc: "halt or goto:ID"}}},
}

var (
	actionKind  = dialect.Key{Name: "kind", Required: true, Doc: "goto, halt, ..."}
	actionKinds = []string{"goto", "halt", "parallel", "retry", "assert", "retract", "interrupt"}
)
