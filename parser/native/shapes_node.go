package native

import (
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

var nodeKeys = []Key{
	{Name: "when", Value: condition, Doc: "the condition; when it is false the node has no result, and what comes after it goes on"},
	{Name: "set", Value: values, Doc: "state fields that are written when the node succeeded"},
	{Name: "retry", Value: shape(shapeRetry), Doc: "when the call is repeated"},
	{Name: "timeout", Value: duration, Doc: "how long it may take, with all attempts and the waits between them"},
	{Name: "catch", Value: mapOf(id), Doc: "nodes that handle errors, by error code or `any`"},
	{Name: "on_error", Value: onErrorForm, Doc: "what happens when all attempts have failed: fail, skip or {default: value}"},
}

const (
	edgesHelp = "the order belongs under `edges:`"
	withHelp  = "arguments belong under `with:`"
	loopHelp  = "write `loop: {until: ..., max: 5}`"
	declare   = "declare it under `tools:` and call it with `tool:`"
)

var nodeInstead = map[string]string{
	"if": "write `when:`", "unless": "write `when:` with the opposite condition",
	"condition": "write `when:`", "switch": "a switch belongs on an edge: `{from: a, switch: ..., cases: {...}}`",
	"cases": "a switch belongs on an edge: `{from: a, switch: ..., cases: {...}}`",
	"needs": edgesHelp, "depends_on": edgesHelp, "after": edgesHelp, "next": edgesHelp, "then": edgesHelp, "from": edgesHelp, "to": edgesHelp, "goto": edgesHelp,
	"inputs": withHelp, "input": withHelp, "params": withHelp, "arguments": withHelp, "parameters": withHelp,
	"uses": "write `tool:`", "use": "write `tool:`", "call": "write `tool:`", "action": "write `tool:`",
	"foreach": "write `map:`", "for_each": "write `map:`", "for": "write `map:`", "each": "write `map:`", "over": "write `map:`",
	"sleep": "write `wait:`", "delay": "write `wait:`", "pause": "write `wait:`",
	"every": loopHelp, "while": loopHelp, "repeat": loopHelp, "until": loopHelp, "max": loopHelp, "max_iterations": loopHelp,
	"command": declare, "shell": declare, "run": declare, "http": declare, "sql": declare, "python": declare, "js": declare, "mcp": declare, "starlark": declare, "wasm": declare, "cmd": declare,
	"id": "the id is the key of the node", "name": "the id is the key of the node", "description": "write a comment",
	"output": "the result is read by the node's id; `set:` writes state", "save_as": "the result is read by the node's id", "state_key": "the result is read by the node's id; `set:` writes state",
	"args":    withHelp,
	"history": "write `messages:`", "conversation": "write `messages:`",
	"retries": "write `retry: {attempts: 3}`", "workflow": "write `flow:`", "concurrency": "write `parallel:`",
}

// shapeNode is a node whose verb is not known.
var shapeNode = &Shape{Name: "node", What: "a node", Doc: "A step: exactly one verb, and what every node can have.", Keys: nodeKeys, Instead: nodeInstead, Removed: nodeRemoved}

const onModel = "it is of the model: write it under `models:`"

// verbInstead is what keys mean that only people write who think of this verb.
var verbInstead = map[string]map[string]string{
	"llm": {
		"user": "write `prompt:`", "output": "write `out:`", "schema": "write `out:`", "response_format": "write `out:`", "output_schema": "write `out:`",
		"temperature": onModel, "max_tokens": onModel, "top_p": onModel, "seed": onModel, "stop": onModel,
	},
	"agent": {
		"user": "write `prompt:`", "max_iterations": "write it under `policy:`", "max_tool_calls": "write it under `policy:`", "max_cost_usd": "write it under `policy:`",
		"max_turns": "write `policy: {max_iterations: ...}`", "temperature": onModel, "max_tokens": onModel, "top_p": onModel, "seed": onModel, "stop": onModel,
	},
}

var nodeRemoved = map[string]string{"join": "write `when: a != null && b != null` for `all`, and nothing for `any`"}

func nodeShape(verb, doc string, keys ...Key) *Shape {
	what := "a `" + verb + "` node"
	if verb == "llm" || verb == "agent" {
		what = "an `" + verb + "` node"
	}
	s := &Shape{Name: "node." + verb, What: what, Doc: doc, Keys: slices.Concat(keys, nodeKeys), Instead: nodeInstead, Removed: nodeRemoved}
	s.Instead = maps.Clone(nodeInstead)
	maps.Copy(s.Instead, verbInstead[verb])
	if verb == "tool_call" {
		s.Renamed = map[string]string{"args": "with"}
	}
	return s
}

var (
	withKey = Key{Name: "with", Value: values, Doc: "the arguments"}
	doKey   = Key{Name: "do", Value: Form{Kind: FormOneOf, Any: []Form{{Kind: FormShape, Shape: "node"}, shape(shapeBody)}}, Required: true, Doc: "a node, or {nodes, edges, result}"}
	outKey  = Key{Name: "out", Value: typ, Doc: "the type of the result"}

	reaskKey    = Key{Name: "reask", Value: Form{Kind: FormNumber}, Doc: "how often a wrong answer is asked for again"}
	messagesKey = Key{Name: "messages", Value: value, Doc: "what was said before: a list of `Message`"}
)

var (
	undoKey = Key{Name: "undo", Value: shape(shapeUndo), Doc: "the call that undoes this one when the run fails later"}

	shapeUndo = &Shape{
		Name: "undo", What: "`undo`", Doc: "The call that undoes a node.",
		Keys: []Key{
			{Name: "tool", Value: ref, Required: true, Doc: "the tool, `@v` when it has two versions"},
			withKey,
			{Name: "retry", Value: shape(shapeRetry), Doc: "when the call is repeated"},
			{Name: "timeout", Value: duration, Doc: "how long it may take"},
			doubtKey,
		},
	}
)

var agentKeys = []Key{
	{Name: "model", Value: ref, Doc: "the model: a name under `models:`, or provider:name"},
	{Name: "system", Value: promptForm, Doc: "the system prompt"},
	{Name: "prompt", Value: promptForm, Doc: "the user prompt"},
	withKey,
	messagesKey,
	{Name: "out", Value: typ, Doc: "the type of the last answer, which the result has as `answer`"},
	reaskKey,
	{Name: "tools", Value: oneOf(ref, listOf(oneOf(ref, shape(shapeAgentTool)))), Doc: "the tools it may call"},
	{Name: "approve", Value: oneOf(word(effectWords...), listOf(word(effectWords...))), Doc: "the effects of calls that a user is asked for first"},
	{Name: "tool_timeout", Value: duration, Doc: "how long each call of a tool may take; `timeout` bounds the agent as a whole"},
	{Name: "policy", Value: shape(shapeAgentPolicy), Doc: "what it may do at most"},
	{Name: "pins", Value: mapOf(shape(shapePin)), Doc: "results of tool calls that stay readable"},
}

// nodeShapes are the nodes by verb. The verb's own key comes first.
var nodeShapes = map[string]*Shape{
	"tool": nodeShape("tool", "Calls a tool.", Key{Name: "tool", Value: ref, Required: true, Doc: "the tool, `@v` when it has two versions"}, withKey, undoKey, doubtKey),
	"let":  nodeShape("let", "Computes values.", Key{Name: "let", Value: oneOf(text, listOf(value), values), Required: true, Doc: "the result: a value, or a mapping of the fields of a struct"}),
	"map": nodeShape("map", "Runs a body for every item of a list.",
		Key{Name: "map", Value: value, Required: true, Doc: "the list"},
		Key{Name: "as", Value: id, Required: true, Doc: "the name of the item"},
		Key{Name: "index", Value: id, Doc: "the name of its number, from 0"},
		Key{Name: "parallel", Value: count, Doc: "how many items at a time; 8 unless written"},
		Key{Name: "max_items", Value: bound, Doc: "the most items, or `unbounded`; 1000 unless written"},
		Key{Name: "on_item_error", Value: oneOf(word(itemWords...), shape(shapeOnError)), Doc: "fail (default), keep the error in its place, skip the item, or {default: value}"},
		doKey),
	"loop": nodeShape("loop", "Repeats a body.", Key{Name: "loop", Value: shape(shapeLoop), Required: true, Doc: "when it ends: {until, max}, and how often it runs: {every, timeout}"}, doKey),
	"flow": nodeShape("flow", "Runs another workflow.", Key{Name: "flow", Value: file, Required: true, Doc: "its file"}, withKey),
	"go":   nodeShape("go", "Calls a pure Go function.", Key{Name: "go", Value: goName, Required: true, Doc: "the function: `example.com/module/package.Func`"}, withKey),
	"llm": nodeShape("llm", "One call of a model.",
		Key{Name: "llm", Value: ref, Required: true, Doc: "the model: a name under `models:`, or provider:name"},
		Key{Name: "prompt", Value: promptForm, Doc: "text, or {file: path}; required without `messages`"},
		Key{Name: "system", Value: template, Doc: "the system prompt, where no file has it"},
		withKey,
		Key{Name: "media", Value: value, Doc: "images and files: a list of `media`"},
		messagesKey, outKey, reaskKey),
	"agent": nodeShape("agent", "Runs an agent; keys of the node override those of the agent.",
		slices.Concat([]Key{{Name: "agent", Value: ref, Required: true, Doc: "a name under `agents:`, or a model"}}, agentKeys)...),
	"human": nodeShape("human", "Asks a user.",
		Key{Name: "human", Value: template, Required: true, Doc: "the question"}, outKey,
		Key{Name: "on_timeout", Value: onErrorForm, Doc: "what happens when nobody answers: fail, skip or {default: value}"}),
	"fail": nodeShape("fail", "Ends the run with an error.",
		Key{Name: "fail", Value: template, Required: true, Doc: "the message"},
		Key{Name: "code", Value: word(schema.ErrorCodes...), Doc: "the code of the error; PROVIDER_ERROR unless written"},
		Key{Name: "error", Value: value, Doc: "the error that led here"}),
	"wait": nodeShape("wait", "Lets time pass.",
		Key{Name: "wait", Value: value, Required: true, Doc: "for how long: `10m`, or a value of type duration"}),
	"parse": nodeShape("parse", "Reads a typed value out of dynamic data.",
		Key{Name: "parse", Value: value, Required: true, Doc: "the data: a value of type `any`, or JSON as a string or bytes"},
		Key{Name: "out", Value: typ, Required: true, Doc: "the type it must have"}),
	"tool_call": nodeShape("tool_call", "Calls a tool that is chosen at run time.",
		Key{Name: "tool_call", Value: value, Required: true, Doc: "the tool's name"},
		Key{Name: "with", Value: value, Doc: "its arguments, by name"},
		Key{Name: "id", Value: value, Doc: "what the result has as `task_id`"},
		Key{Name: "allow", Value: refs, Doc: "the tools it can be; without it those that the file itself declares"},
		outKey, doubtKey),
}

// nodeKeyOwners tells the verbs a key goes with, for keys that not every node has.
var nodeKeyOwners = func() map[string][]string {
	out := map[string][]string{}
	for _, v := range verbs {
		for _, k := range nodeShapes[v].Keys {
			if k.Name != v && shapeNode.key(k.Name) == nil {
				out[k.Name] = append(out[k.Name], v)
			}
		}
	}
	return out
}()

var shapeBody = &Shape{
	Name: "body", What: "`do`", Doc: "The body of a map or a loop.",
	Keys: []Key{
		{Name: "nodes", Value: mapOf(Form{Kind: FormShape, Shape: "node"}), Required: true, Doc: "the steps, by id"},
		{Name: "edges", Value: listOf(Form{Kind: FormOneOf, Any: []Form{text, shape(shapeEdge), shape(shapeSwitch), shape(shapeBack)}}), Doc: "the order of the steps; without it references give the order"},
		{Name: "result", Value: value, Required: true, Doc: "what the body yields: an expression or a mapping"},
	},
	Instead: map[string]string{"output": "what a body yields is its `result:`", "steps": "the steps belong under `nodes:`"},
}

var shapeLoop = &Shape{
	Name: "loop", What: "`loop`", Doc: "When a loop ends.",
	Keys: []Key{
		{Name: "until", Value: condition, Doc: "the condition that ends it, tested after the body"},
		{Name: "max", Value: bound, Required: true, Doc: "the most iterations, or `unbounded`"},
		{Name: "every", Value: duration, Doc: "the time from the beginning of an iteration to that of the next one"},
		{Name: "timeout", Value: duration, Doc: "no iteration begins later than that after the first one"},
		{Name: "on_max", Value: word(onMaxWords...), Doc: "what the end of `max` or `timeout` does: fail (default), or go_on with the last result"},
	},
	Instead: map[string]string{"while": "write `until:` with the opposite condition", "times": "write `max:`", "interval": "write `every:`", "delay": "write `every:`", "wait": "write `every:`", "do": "`do` belongs next to `loop`"},
}

// shapeLoopOpen is shapeLoop without required keys.
var shapeLoopOpen = &Shape{Name: shapeLoop.Name, What: shapeLoop.What, Keys: loopKeysOpen(), Instead: shapeLoop.Instead}

func loopKeysOpen() []Key {
	keys := slices.Clone(shapeLoop.Keys)
	keys[1].Required = false
	return keys
}

var (
	shapeRetry = &Shape{
		Name: "retry", What: "`retry`", Doc: "When a call is repeated.",
		Keys: []Key{
			{Name: "attempts", Value: count, Doc: "the total number of attempts; without it those of `defaults`, when nothing but `timeout` is written"},
			{Name: "codes", Value: listOf(word(catchWords[:len(catchWords)-1]...)), Doc: "the error codes that are worth another attempt"},
			{Name: "backoff", Value: word(backoffWords...), Doc: "exponential (default) or constant"},
			{Name: "base", Value: duration, Doc: "the first wait"},
			{Name: "cap", Value: duration, Doc: "the longest wait"},
			{Name: "jitter", Value: number, Doc: "the part of a wait that is random, from 0 to 1"},
			{Name: "timeout", Value: duration, Doc: "how long one attempt may take"},
		},
		Instead: map[string]string{"max_attempts": "write `attempts:`, the total number", "max": "write `attempts:`, the total number", "delay": "write `base:`", "wait": "write `base:`", "on": "write `codes:`"},
	}

	shapeOnError = &Shape{
		Name: "on_error", What: "a default", Doc: "The result instead of a failed one.",
		Keys: []Key{{Name: "default", Value: value, Required: true, Doc: "the value"}},
	}

	shapePrompt = &Shape{
		Name: "prompt", What: "a prompt", Doc: "A prompt in a file.",
		Keys: []Key{{Name: "file", Value: file, Required: true, Doc: "the file"}},
	}

	shapeAgent = &Shape{Name: "agent", What: "an agent", Doc: "An agent.", Keys: required(agentKeys, "model")}

	shapeAgentTool = &Shape{
		Name: "agent.tool", What: "a tool of an agent", Doc: "A tool with fixed arguments, or under another name.",
		Keys: []Key{
			{Name: "tool", Value: ref, Required: true, Doc: "the tool"},
			{Name: "as", Value: id, Doc: "the name that the model sees"},
			{Name: "with", Value: values, Doc: "fixed arguments, which the model neither sees nor chooses"},
		},
		Instead: map[string]string{"name": "write `as:`", "args": withHelp, "arguments": withHelp, "fixed": withHelp, "input": withHelp, "params": withHelp},
	}

	shapePin = &Shape{
		Name: "pin", What: "a pin", Doc: "A result of a tool call that stays readable (Agent Tools 4.2).",
		Keys: []Key{
			{Name: "tool", Value: ref, Required: true, Doc: "the tool"},
			{Name: "strategy", Value: word(strategyWords...), Doc: "latest (default), first_success or by_call_id"},
			{Name: "call_id", Value: value, Doc: "the call, for by_call_id"},
			{Name: "on_missing", Value: oneOf(word(missingWords...), shape(shapeOnError)), Doc: "skip (default): no result; fail; keep: the last result; or {default: value}"},
		},
	}
)

var edgeInstead = map[string]string{
	"if": "write `when:`", "condition": "write `when:`", "target": "write `to:`", "source": "write `from:`", "else": "add an edge with the opposite condition, or a `switch` with a `default`",
}

var (
	shapeEdge = &Shape{
		Name: "edge", What: "an edge", Doc: "An edge, with or without a condition.",
		Keys: []Key{
			{Name: "from", Value: id, Required: true, Doc: "the node it leads from"},
			{Name: "to", Value: targets, Required: true, Doc: "the node or nodes it leads to, or `end`"},
			{Name: "when", Value: condition, Doc: "the condition"},
		},
		Instead: edgeInstead,
	}

	shapeSwitch = &Shape{
		Name: "edge.switch", What: "a switch", Doc: "An edge that leads where a value says.",
		Keys: []Key{
			{Name: "from", Value: id, Required: true, Doc: "the node it leads from"},
			{Name: "switch", Value: condition, Required: true, Doc: "the value"},
			{Name: "cases", Value: mapOf(targets), Required: true, Doc: "a node for each value"},
			{Name: "default", Value: targets, Doc: "the node for all other values"},
		},
		Instead: map[string]string{
			"to": "the targets of a switch belong in `cases:` and `default:`", "when": "a switch has no condition: write it as a case",
			"max": "only a plain edge leads back: put a node in between", "exhausted": "only a plain edge leads back: put a node in between", "else": "write `default:`",
		},
	}

	shapeBack = &Shape{
		Name: "edge.back", What: "an edge back", Doc: "An edge that leads back to where a loop begins.",
		Keys: []Key{
			{Name: "from", Value: id, Required: true, Doc: "the node it leads from"},
			{Name: "to", Value: id, Required: true, Doc: "the node where the loop begins"},
			{Name: "when", Value: condition, Doc: "the condition for another iteration"},
			{Name: "max", Value: bound, Required: true, Doc: "the most iterations, or `unbounded`"},
			{Name: "exhausted", Value: id, Doc: "the node, or `end`, when the bound is spent; without it that is an error"},
		},
		Instead: edgeInstead,
	}
)

// Shapes lists every mapping of the language, for schemas and references.
func Shapes() []*Shape {
	out := []*Shape{
		shapeWorkflow, shapeLibrary, shapeType, shapeUnion, shapeField, shapeState, shapeOutput, shapeSecret, shapeModel, shapeServer, shapeAuth,
		shapeEnvSecret, shapePolicy, shapeAgentPolicy, shapeNet, shapeSandbox, shapeDefaults, shapeJournal, shapeTool, shapeDoubt, shapeExample, shapeCache, shapeHTTP, shapeOpenAPI, shapeSQL, shapeAgent, shapeAgentTool, shapePin,
		shapePrompt, shapePrice, shapeRetry, shapeUndo, shapeOnError, shapeLoop, shapeBody, shapeEdge, shapeSwitch, shapeBack,
	}
	for _, v := range verbs {
		out = append(out, nodeShapes[v])
	}
	return out
}
