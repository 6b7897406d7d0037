package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// The mappings of the dialect. They are open: the engine takes other keys and ignores them.
var (
	topShape = &dialect.Shape{What: "a graph", Open: true, Keys: []dialect.Key{
		{Name: "version", Doc: "not checked"},
		{Name: "name", Doc: "its name"},
		{Name: "description", Doc: "what it is for"},
		{Name: "defaults", Doc: "what prompts are sent with"},
		{Name: "prompts_relative", Doc: "whether prompts are below the folder of this file"},
		{Name: "prompts_dir", Doc: "the folder of the prompts"},
		{Name: "state", Doc: "fields with their types"},
		{Name: "tools", Doc: "tools by name"},
		{Name: "nodes", Required: true, Doc: "nodes by name"},
		{Name: "edges", Required: true, Doc: "a list of edges, from START to END"},
		{Name: "loop_limits", Doc: "how often nodes run"},
		{Name: "checkpointer", Doc: "where the engine keeps what it did"},
		{Name: "exports", Doc: "files that the engine's command line writes"},
		{Name: "inputs", Doc: "inputs, for readers"},
		{Name: "config", Doc: "limits"}, {Name: "data_files", Doc: "files that are loaded into the state"},
		{Name: "variables", Doc: "values that the state begins with"},
		{Name: "loop_exits", Doc: "where to go when a limit is reached"}, {Name: "verify", Doc: "checks before the end"}, {Name: "observability", Doc: "what is logged"},
	}}
	toolShape = &dialect.Shape{What: "a tool", Open: true, Keys: []dialect.Key{
		{Name: "type", Doc: "shell, python or websearch"},
		{Name: "description", Doc: "what it does"},
		{Name: "module", Doc: "of a python tool"}, {Name: "function", Doc: "of a python tool"}, {Name: "path", Doc: "of a python tool or a graph"},
		{Name: "command", Doc: "of a shell tool"}, {Name: "parse", Doc: "of a shell tool"}, {Name: "timeout", Doc: "of a shell tool"},
		{Name: "working_dir", Doc: "of a shell tool"}, {Name: "env", Doc: "of a shell tool"}, {Name: "success_codes", Doc: "of a shell tool"}, {Name: "variables", Doc: "of a shell tool"},
		{Name: "input_mapping", Doc: "of a graph"}, {Name: "output_key", Doc: "of a graph"},
		{Name: "provider", Doc: "of a websearch tool"}, {Name: "max_results", Doc: "of a websearch tool"},
	}}
	edgeShape = &dialect.Shape{What: "an edge", Open: true, Keys: []dialect.Key{
		{Name: "from", Required: true, Doc: "the node it leaves, or START"},
		{Name: "to", Required: true, Doc: "the node it leads to, or END"},
		{Name: "condition", Doc: "when it is taken"},
		{Name: "type", Doc: "conditional, after a router"},
	}}
)

var loopLimitKey = dialect.Key{Name: "loop_limit", Doc: "how often the node runs"}

// words are the types of nodes.
var words = []string{"llm", "router", "agent", "tool", "python", "map", "tool_call", "interrupt", "passthrough", "subgraph", "copilot", "race", "pipeline", "interactive_tool"}

// kinds are the keys that each type of node has besides; those without a shape are not compiled.
var kinds = map[string]*dialect.Shape{
	"python":      nodeShape("a python node", dialect.Key{Name: "tool", Doc: "the tool"}, dialect.Key{Name: "function", Doc: "the tool"}, dialect.Key{Name: "variables", Doc: "fields that the function sees besides"}, loopLimitKey),
	"llm":         llmShape,
	"router":      routerShape,
	"race":        raceShape,
	"agent":       agentShape,
	"copilot":     copilotShape,
	"map":         mapShape,
	"interrupt":   interruptShape,
	"tool":        toolNodeShape,
	"subgraph":    subgraphShape,
	"tool_call":   nodeShape("a tool_call node", dialect.Key{Name: "tool", Required: true, Doc: "the tool's name"}, dialect.Key{Name: "args", Required: true, Doc: "what it is called with"}, dialect.Key{Name: "parsed_key", Doc: "the field of what a graph tool returns"}),
	"passthrough": nodeShape("a passthrough node", dialect.Key{Name: "output", Doc: "fields with their values"}, dialect.Key{Name: "outputs", Doc: "the same"}, loopLimitKey),
}

func nodeShape(what string, own ...dialect.Key) *dialect.Shape {
	keys := slices.Clone(everyKeys)
	for _, k := range own {
		keys = slices.DeleteFunc(keys, func(other dialect.Key) bool { return other.Name == k.Name })
		keys = append(keys, k)
	}
	return &dialect.Shape{What: what, Open: true, Keys: keys}
}
