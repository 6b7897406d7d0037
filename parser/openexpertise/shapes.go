package openexpertise

import "github.com/flowgen-dev/flowgen/parser/dialect"

// The mappings of an experience. All but nodes and the fields of the state are closed in the engine's schema.
var (
	topShape = &dialect.Shape{What: "an experience", Keys: []dialect.Key{
		{Name: "name", Required: true, Doc: "what the experience is called", Form: dialect.Scalar},
		{Name: "version", Required: true, Doc: "its version, as in 0.1.0", Form: dialect.Scalar},
		{Name: "description", Doc: "what it is for", Form: dialect.Scalar},
		{Name: "state", Doc: "the fields that nodes read and write", Form: dialect.Of(stateShape)},
		{Name: "phases", Doc: "labels for groups of nodes", Form: dialect.ListOf(dialect.Of(phaseShape))},
		{Name: "graph", Required: true, Doc: "the nodes and the edges between them", Form: dialect.Of(graphShape)},
		{Name: "runtime", Doc: "how many nodes run at a time", Form: dialect.Of(runtimeShape)},
	}}
	stateShape = &dialect.Shape{What: "`state`", Keys: []dialect.Key{
		{Name: "schema", Doc: "the fields by name", Form: dialect.Form{Kind: dialect.FormMap, Elem: &stateField}},
		{Name: "store", Doc: "ignored", Form: dialect.Scalar},
	}}
	fieldShape = &dialect.Shape{What: "a state field", Any: true, Keys: []dialect.Key{
		{Name: "type", Doc: "string, number, boolean, object, array or null", Form: dialect.OneWord("string", "number", "boolean", "object", "array", "null")},
		{Name: "description", Doc: "what it holds", Form: dialect.Scalar},
		{Name: "merge", Doc: "last_wins, set_once or array_append", Form: dialect.OneWord("last_wins", "set_once", "array_append")},
		{Name: "items", Doc: "the type of the items, not checked"},
		{Name: "properties", Doc: "the types of the properties, not checked"},
	}}
	phaseShape = &dialect.Shape{What: "a phase", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar},
		{Name: "title", Doc: "what users see", Form: dialect.Scalar},
	}}
	runtimeShape = &dialect.Shape{What: "`runtime`", Keys: []dialect.Key{
		{Name: "concurrency", Doc: "how many nodes run at a time", Form: dialect.Count},
	}}
	graphShape = &dialect.Shape{What: "`graph`", Keys: []dialect.Key{
		{Name: "nodes", Required: true, Doc: "the nodes", Form: dialect.ListOf(anyNode())},
		{Name: "edges", Required: true, Doc: "which node comes after which", Form: dialect.ListOf(dialect.Of(edgeShape))},
		{Name: "pipelines", Doc: "nodes that run for every item of a list, after the graph", Form: dialect.ListOf(dialect.Of(pipelineShape))},
		{Name: "loops", Doc: "nodes that run again and again, after the pipelines", Form: dialect.ListOf(dialect.Of(loopShape))},
	}}
	edgeShape = &dialect.Shape{What: "an edge", Keys: []dialect.Key{
		{Name: "from", Required: true, Doc: "the node it leaves", Form: dialect.Scalar},
		{Name: "to", Required: true, Doc: "the node it leads to", Form: dialect.Scalar},
		{Name: "when", Doc: "a condition", Form: dialect.Scalar},
	}}
	pipelineShape = &dialect.Shape{What: "a pipeline", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar},
		{Name: "items", Required: true, Doc: "the list, as in $.rows", Form: dialect.Scalar},
		{Name: "stages", Required: true, Doc: "ids of nodes, in order", Form: dialect.Names},
		{Name: "phase", Doc: "a label", Form: dialect.Scalar},
	}}
	loopShape = &dialect.Shape{What: "a loop", Keys: []dialect.Key{
		{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar},
		{Name: "body", Required: true, Doc: "ids of nodes, in order, or one", Form: dialect.OneOf(dialect.Scalar, dialect.Names)},
		{Name: "until", Doc: "a condition that is looked at before each round", Form: dialect.Scalar},
		{Name: "max_iters", Doc: "the most rounds", Form: dialect.Count},
		{Name: "budget", Doc: "not enforced by the engine"},
		{Name: "phase", Doc: "a label", Form: dialect.Scalar},
	}}
	eachShape = &dialect.Shape{What: "`for_each`", Keys: []dialect.Key{
		{Name: "source", Required: true, Doc: "the list, as in $.rows", Form: dialect.Scalar},
		{Name: "concurrency", Doc: "how many items at a time", Form: dialect.Count},
	}}
	policyShape = &dialect.Shape{What: "`on_error`", Keys: []dialect.Key{
		{Name: "policy", Required: true, Doc: "skip, fail_run or retry", Form: dialect.OneWord("skip", "fail_run", "retry")},
		{Name: "attempts", Doc: "how often in total", Form: dialect.Count},
		{Name: "backoff", Doc: "linear or exponential", Form: dialect.OneWord("linear", "exponential")},
		{Name: "base_ms", Doc: "the first wait in milliseconds", Form: dialect.Count},
	}}
)

// common are the keys of every node.
var common = []dialect.Key{
	{Name: "id", Required: true, Doc: "its name", Form: dialect.Scalar},
	{Name: "kind", Required: true, Doc: "tool, agent, skill, dataset, experience or cli-agent"},
	{Name: "phase", Doc: "a label", Form: dialect.Scalar},
	{Name: "reads", Doc: "state fields", Form: dialect.Names},
	{Name: "writes", Doc: "state fields", Form: dialect.Names},
	{Name: "on_error", Doc: "what becomes of a failure", Form: dialect.OneOf(dialect.OneWord("skip", "fail_run", "retry"), dialect.Of(policyShape))},
	{Name: "for_each", Doc: "the list whose items the node runs for", Form: dialect.Of(eachShape)},
	{Name: "description", Doc: "for people", Form: dialect.Scalar}, // what people write on everything: no mistake
	{Name: "title", Doc: "for people", Form: dialect.Scalar},
}

// kinds are the keys that each kind of node has besides. Nodes are open: the engine ignores keys that it does not know.
var kinds = map[string]*dialect.Shape{
	"tool":    nodeShape("a tool node", dialect.Key{Name: "impl", Required: true, Doc: "the module, relative to this file", Form: dialect.Scalar}, dialect.Key{Name: "args", Doc: "what the module is called with", Form: dialect.Map}),
	"dataset": nodeShape("a dataset node", dialect.Key{Name: "source", Required: true, Doc: "where the records are", Form: anySource()}, dialect.Key{Name: "args", Doc: "not read by the engine", Form: dialect.Map}),
	"agent": nodeShape("an agent node", dialect.Key{Name: "prompt", Required: true, Doc: "the file of the prompt", Form: dialect.Scalar}, dialect.Key{Name: "model", Doc: "the model", Form: dialect.Scalar},
		dialect.Key{Name: "schema", Doc: "the JSON Schema of the answer"}, dialect.Key{Name: "args", Doc: "values for the prompt", Form: dialect.Map}),
	"skill": nodeShape("a skill node", dialect.Key{Name: "impl", Required: true, Doc: "the SKILL.md", Form: dialect.Scalar}, dialect.Key{Name: "model", Doc: "the model", Form: dialect.Scalar},
		dialect.Key{Name: "inputs", Doc: "not used by the engine"}, dialect.Key{Name: "schema", Doc: "not used by the engine"}, dialect.Key{Name: "args", Doc: "values for the skill", Form: dialect.Map}),
	"cli-agent": nodeShape("a cli-agent node", dialect.Key{Name: "provider", Required: true, Doc: "claude-code, codex or gemini", Form: dialect.OneWord("claude-code", "codex", "gemini")}, dialect.Key{Name: "prompt", Required: true, Doc: "the prompt itself", Form: dialect.Scalar},
		dialect.Key{Name: "model", Doc: "the model", Form: dialect.Scalar}, dialect.Key{Name: "workdir", Doc: "where the command runs", Form: dialect.Scalar}, dialect.Key{Name: "output_format", Doc: "text or json", Form: dialect.OneWord("text", "json")},
		dialect.Key{Name: "schema", Doc: "of the output"}, dialect.Key{Name: "timeout_ms", Doc: "of one run, in milliseconds", Form: dialect.Count}, dialect.Key{Name: "extra_args", Doc: "more words of the command", Form: dialect.Names},
		dialect.Key{Name: "args", Doc: "values for the prompt", Form: dialect.Map}),
	"experience": nodeShape("an experience node", dialect.Key{Name: "impl", Required: true, Doc: "the file of the experience", Form: dialect.Scalar}, dialect.Key{Name: "args", Doc: "not read by anything", Form: dialect.Map},
		dialect.Key{Name: "state_scope", Doc: "isolated", Form: dialect.OneWord("isolated", "shared")}),
}

// stateField is the form of a field of the state.
var stateField = dialect.Of(fieldShape)

// Schema is a JSON Schema of experiences, for editors.
func Schema() []byte { return dialect.JSONSchema("OpenExpertise experience", topShape) }

// anyNode is the form of a node: its keys follow from its kind.
func anyNode() dialect.Form {
	var all []dialect.Form
	for _, kind := range []string{"tool", "agent", "skill", "dataset", "experience", "cli-agent"} {
		s := *kinds[kind]
		s.Keys = append([]dialect.Key{}, s.Keys...)
		for i := range s.Keys {
			if s.Keys[i].Name == "kind" {
				s.Keys[i].Form = dialect.OneWord(kind)
			}
		}
		all = append(all, dialect.Of(&s))
	}
	return dialect.OneOf(all...)
}

func nodeShape(what string, own ...dialect.Key) *dialect.Shape {
	return &dialect.Shape{What: what, Open: true, Keys: append(append([]dialect.Key{}, common...), own...)}
}
