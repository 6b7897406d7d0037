package openexpertise

import "github.com/flowgen-dev/flowgen/parser/dialect"

// The mappings of an experience. All but nodes and the fields of the state are closed in the engine's schema.
var (
	topShape = &dialect.Shape{What: "an experience", Keys: []dialect.Key{
		{Name: "name", Required: true, Doc: "what the experience is called"},
		{Name: "version", Required: true, Doc: "its version, as in 0.1.0"},
		{Name: "description", Doc: "what it is for"},
		{Name: "state", Doc: "the fields that nodes read and write"},
		{Name: "phases", Doc: "labels for groups of nodes"},
		{Name: "graph", Required: true, Doc: "the nodes and the edges between them"},
		{Name: "runtime", Doc: "how many nodes run at a time"},
	}}
	stateShape = &dialect.Shape{What: "`state`", Keys: []dialect.Key{
		{Name: "schema", Doc: "the fields by name"},
		{Name: "store", Doc: "ignored"},
	}}
	fieldShape = &dialect.Shape{What: "a state field", Any: true, Keys: []dialect.Key{
		{Name: "type", Doc: "string, number, boolean, object, array or null"},
		{Name: "description", Doc: "what it holds"},
		{Name: "merge", Doc: "last_wins, set_once or array_append"},
		{Name: "items", Doc: "the type of the items, not checked"},
		{Name: "properties", Doc: "the types of the properties, not checked"},
	}}
	phaseShape = &dialect.Shape{What: "a phase", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "title", Doc: "what people see"},
	}}
	runtimeShape = &dialect.Shape{What: "`runtime`", Keys: []dialect.Key{
		{Name: "concurrency", Doc: "how many nodes run at a time"},
	}}
	graphShape = &dialect.Shape{What: "`graph`", Keys: []dialect.Key{
		{Name: "nodes", Required: true, Doc: "the nodes"},
		{Name: "edges", Required: true, Doc: "which node comes after which"},
		{Name: "pipelines", Doc: "nodes that run for every item of a list, after the graph"},
		{Name: "loops", Doc: "nodes that run again and again, after the pipelines"},
	}}
	edgeShape = &dialect.Shape{What: "an edge", Keys: []dialect.Key{
		{Name: "from", Required: true, Doc: "the node it leaves"},
		{Name: "to", Required: true, Doc: "the node it leads to"},
		{Name: "when", Doc: "a condition"},
	}}
	pipelineShape = &dialect.Shape{What: "a pipeline", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "items", Required: true, Doc: "the list, as in $.rows"},
		{Name: "stages", Required: true, Doc: "ids of nodes, in order"},
		{Name: "phase", Doc: "a label"},
	}}
	loopShape = &dialect.Shape{What: "a loop", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name"},
		{Name: "body", Required: true, Doc: "ids of nodes, in order"},
		{Name: "until", Doc: "a condition that is looked at before each round"},
		{Name: "max_iters", Doc: "the most rounds"},
		{Name: "budget", Doc: "not enforced by the engine"},
		{Name: "phase", Doc: "a label"},
	}}
	eachShape = &dialect.Shape{What: "`for_each`", Keys: []dialect.Key{
		{Name: "source", Required: true, Doc: "the list, as in $.rows"},
		{Name: "concurrency", Doc: "how many items at a time"},
	}}
	policyShape = &dialect.Shape{What: "`on_error`", Keys: []dialect.Key{
		{Name: "policy", Required: true, Doc: "skip, fail_run or retry"},
		{Name: "attempts", Doc: "how often in total"},
		{Name: "backoff", Doc: "linear or exponential"},
		{Name: "base_ms", Doc: "the first wait in milliseconds"},
	}}
	sourceShape = &dialect.Shape{What: "the source of a dataset", Keys: []dialect.Key{
		{Name: "kind", Required: true, Doc: "file, sqlite, http or mcp-resource"},
		{Name: "uri", Required: true, Doc: "the file or the address"},
		{Name: "format", Doc: "json, jsonl or csv"},
		{Name: "query", Doc: "of sqlite"}, {Name: "method", Doc: "of http"}, {Name: "body", Doc: "of http"}, {Name: "server", Doc: "of mcp-resource"},
	}}
)

// common are the keys of every node.
var common = []dialect.Key{
	{Name: "id", Required: true, Doc: "its name"},
	{Name: "kind", Required: true, Doc: "tool, agent, skill, dataset, experience or cli-agent"},
	{Name: "phase", Doc: "a label"},
	{Name: "reads", Doc: "state fields"},
	{Name: "writes", Doc: "state fields"},
	{Name: "on_error", Doc: "what becomes of a failure"},
	{Name: "for_each", Doc: "the list whose items the node runs for"},
	{Name: "description", Doc: "for people"}, // what people write on everything: no mistake
	{Name: "title", Doc: "for people"},
}

// kinds are the keys that each kind of node has besides. Nodes are open: the engine ignores keys that it does not know.
var kinds = map[string]*dialect.Shape{
	"tool":    nodeShape("a tool node", dialect.Key{Name: "impl", Required: true, Doc: "the module, relative to this file"}, dialect.Key{Name: "args", Doc: "what the module is called with"}),
	"dataset": nodeShape("a dataset node", dialect.Key{Name: "source", Required: true, Doc: "where the records are"}, dialect.Key{Name: "args", Doc: "not read by the engine"}),
	"agent": nodeShape("an agent node", dialect.Key{Name: "prompt", Required: true, Doc: "the file of the prompt"}, dialect.Key{Name: "model", Doc: "the model"},
		dialect.Key{Name: "schema", Doc: "the JSON Schema of the answer"}, dialect.Key{Name: "args", Doc: "values for the prompt"}),
	"skill": nodeShape("a skill node", dialect.Key{Name: "impl", Required: true, Doc: "the SKILL.md"}, dialect.Key{Name: "model", Doc: "the model"},
		dialect.Key{Name: "inputs", Doc: "not used by the engine"}, dialect.Key{Name: "schema", Doc: "not used by the engine"}, dialect.Key{Name: "args", Doc: "values for the skill"}),
	"cli-agent": nodeShape("a cli-agent node", dialect.Key{Name: "provider", Required: true, Doc: "claude-code, codex or gemini"}, dialect.Key{Name: "prompt", Required: true, Doc: "the prompt itself"},
		dialect.Key{Name: "model", Doc: "the model"}, dialect.Key{Name: "workdir", Doc: "where the command runs"}, dialect.Key{Name: "output_format", Doc: "text or json"},
		dialect.Key{Name: "schema", Doc: "of the output"}, dialect.Key{Name: "timeout_ms", Doc: "of one run, in milliseconds"}, dialect.Key{Name: "extra_args", Doc: "more words of the command"},
		dialect.Key{Name: "args", Doc: "values for the prompt"}),
	"experience": nodeShape("an experience node", dialect.Key{Name: "impl", Required: true, Doc: "the file of the experience"}, dialect.Key{Name: "args", Doc: "not read by anything"},
		dialect.Key{Name: "state_scope", Doc: "isolated"}),
}

func nodeShape(what string, own ...dialect.Key) *dialect.Shape {
	return &dialect.Shape{What: what, Open: true, Keys: append(append([]dialect.Key{}, common...), own...)}
}
