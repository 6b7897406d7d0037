package native

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
)

// Forms that several shapes use.
var (
	text      = Form{Kind: FormText}
	template  = Form{Kind: FormTemplate}
	value     = Form{Kind: FormValue}
	condition = Form{Kind: FormExpr}
	id        = Form{Kind: FormID}
	ref       = Form{Kind: FormRef}
	file      = Form{Kind: FormPath}
	goName    = Form{Kind: FormGo}
	typ       = Form{Kind: FormType}
	count     = Form{Kind: FormCount}
	number    = Form{Kind: FormNumber}
	duration  = Form{Kind: FormDuration}
	money     = Form{Kind: FormMoney}
	bound     = oneOf(count, word("unbounded"))
	refs      = oneOf(ref, listOf(ref))
	texts     = oneOf(text, listOf(text))
	values    = mapOf(value)
	fields    = mapOf(Form{Kind: FormField})
	targets   = oneOf(id, listOf(id))
)

func word(words ...string) Form { return Form{Kind: FormWord, Words: words} }
func listOf(f Form) Form        { return Form{Kind: FormList, Elem: &f} }
func mapOf(f Form) Form         { return Form{Kind: FormMap, Elem: &f} }
func oneOf(fs ...Form) Form     { return Form{Kind: FormOneOf, Any: fs} }
func shape(s *Shape) Form       { return Form{Kind: FormShape, Shape: s.Name} }

var onErrorForm = oneOf(word(onErrorWords...), shape(shapeOnError))

var promptForm = oneOf(template, shape(shapePrompt))

// Sections of a workflow that an included file can have too.
var libraryKeys = []Key{
	{Name: "flowgen", Value: word(languageVersion), Required: true, Doc: "the version of the language: 1"},
	{Name: "name", Value: id, Doc: "the name: tools, files and Go packages are called after it"},
	{Name: "description", Value: text, Doc: "what it is for"},
	{Name: "include", Value: oneOf(file, listOf(file)), Doc: "files whose types, tools, models, providers, servers and agents are used too"},
	{Name: "types", Value: mapOf(oneOf(typ, shape(shapeType), shape(shapeUnion))), Doc: "named types"},
	{Name: "tools", Value: mapOf(shape(shapeTool)), Doc: "tools that nodes and agents call"},
	{Name: "models", Value: mapOf(oneOf(text, shape(shapeModel))), Doc: "named model configurations"},
	{Name: "providers", Value: oneOf(id, listOf(id)), Doc: "providers of models that a Go program brings, with `llm.WithProvider`"},
	{Name: "servers", Value: mapOf(shape(shapeServer)), Doc: "MCP servers"},
	{Name: "agents", Value: mapOf(shape(shapeAgent)), Doc: "agents that nodes run"},
}

var shapeWorkflow = &Shape{
	Name: "workflow", What: "a workflow", Doc: "A workflow file.",
	Keys: slices.Concat(required(libraryKeys, "name"), []Key{
		{Name: "input", Value: fields, Doc: "the fields that a run is started with"},
		{Name: "state", Value: mapOf(oneOf(typ, shape(shapeState))), Doc: "fields that nodes write with `set`"},
		{Name: "output", Value: mapOf(oneOf(value, shape(shapeOutput))), Doc: "the fields of the result"},
		{Name: "secrets", Value: oneOf(listOf(text), mapOf(shape(shapeSecret))), Doc: "secrets that tools, servers and models use"},
		{Name: "policy", Value: shape(shapePolicy), Doc: "what a run may do at most"},
		{Name: "defaults", Value: shape(shapeDefaults), Doc: "defaults of all nodes"},
		{Name: "nodes", Value: mapOf(Form{Kind: FormShape, Shape: "node"}), Required: true, Doc: "the steps, by id"},
		{Name: "edges", Value: listOf(oneOf(text, shape(shapeEdge), shape(shapeSwitch), shape(shapeBack))), Doc: "the order of the steps; without it references give the order"},
	}),
	Instead: map[string]string{
		"steps": "the steps of a workflow belong under `nodes:`", "jobs": "the steps of a workflow belong under `nodes:`",
		"tasks": "the steps of a workflow belong under `nodes:`", "inputs": "write `input:`", "outputs": "write `output:`",
		"version": "the version of the language is `flowgen: 1`", "env": "variables are set on tools and servers, with `env:`", "constants": "write a `let` node, or an input with a default",
		"workflow": "the keys of a workflow belong at the top of the file", "graph": "write `nodes:` and `edges:`",
		"imports": "write `include:`", "import": "write `include:`", "variables": "nodes write `state:`, a run receives `input:`",
		"timeout": "write it under `defaults:`", "retry": "write it under `defaults:`", "on_error": "write it under `defaults:`",
	},
}

var shapeLibrary = &Shape{Name: "library", What: "an included file", Doc: "A file that others include.", Keys: libraryKeys}

// required returns keys with the named ones required.
func required(keys []Key, names ...string) []Key {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Required = out[i].Required || slices.Contains(names, out[i].Name)
	}
	return out
}

var fieldKeys = []Key{
	{Name: "type", Value: typ, Required: true, Doc: "the type"},
	{Name: "description", Value: text, Doc: "what it means, for users and models"},
}

const typeHint = "a struct that has a field `type` is written `type: {type: ..., ...}`"

var fieldsInstead = map[string]string{
	"init": "a field that may be left out has a `default`", "optional": "write the type as `opt<T>`, or give a `default`",
	"required": "a field without `default` is required", "enum": "write the type as `enum<a|b>`",
	"items": "write the type as `list<T>`", "properties": "write the fields as a mapping: `{a: string, b: int}`",
	"minLength": "`min` bounds the length of text", "maxLength": "`max` bounds the length of text",
	"minimum": "write `min`", "maximum": "write `max`",
}

var (
	shapeType = &Shape{Name: "type", What: "a type", Doc: "A named type, the long form.", Keys: fieldKeys, Instead: typeInstead, Hint: typeHint}

	shapeUnion = &Shape{
		Name: "union", What: "a union", Doc: "A type whose values are one of several structs.",
		Keys: []Key{
			{Name: "oneof", Value: mapOf(text), Required: true, Doc: "the structs, by the value that the field `by` has in each"},
			{Name: "by", Value: text, Required: true, Doc: "the field that says which of them a value is"},
			{Name: "description", Value: text, Doc: "what it means, for users and models"},
		},
		Instead: map[string]string{"discriminator": "write `by:`", "tag": "write `by:`", "one_of": "write `oneof:`", "anyof": "write `oneof:`"},
	}

	shapeField = &Shape{
		Name: "field", What: "a field", Doc: "A field of a struct, the long form.",
		Keys: slices.Concat(fieldKeys, []Key{
			{Name: "default", Value: Form{Kind: FormConst}, Doc: "the value when none is given"},
			{Name: "min", Value: number, Doc: "the least value of a number, the least length of the rest"},
			{Name: "max", Value: number, Doc: "the greatest value of a number, the greatest length of the rest"},
			{Name: "pattern", Value: text, Doc: "a regular expression (RE2) that text matches"},
		}),
		Instead: fieldsInstead, Hint: typeHint,
	}

	shapeState = &Shape{
		Name: "state", What: "a state field", Doc: "A state field, the long form.",
		Keys: []Key{
			{Name: "type", Value: typ, Required: true, Doc: "the type"},
			{Name: "init", Value: Form{Kind: FormConst}, Doc: "the value at the start"},
			{Name: "merge", Value: oneOf(word(mergeWords...), goName), Doc: "what `set` does: last, append, set_once or `go:path.Func`"},
		},
		Instead: map[string]string{
			"default": "a state field starts with `init`", "value": "a state field starts with `init`", "initial": "a state field starts with `init`",
			"reducer": "write `merge: \"go:path.Func\"`", "description": "write a comment",
		},
	}

	shapeOutput = &Shape{
		Name: "output", What: "an output", Doc: "A field of the result, the long form.",
		Keys: []Key{
			{Name: "type", Value: typ, Doc: "the type; without it that of the value"},
			{Name: "description", Value: text, Doc: "what it means"},
			{Name: "value", Value: value, Required: true, Doc: "what is returned"},
		},
	}

	shapeSecret = &Shape{
		Name: "secret", What: "a secret", Doc: "Where a secret comes from.",
		Keys: []Key{{Name: "from", Value: listOf(word(scopeWords...)), Doc: "the scopes it is looked up in, in order"}},
	}

	shapeModel = &Shape{
		Name: "model", What: "a model", Doc: "A model configuration.",
		Keys: []Key{
			{Name: "model", Value: text, Required: true, Doc: "provider and name: `openai:gpt-4o-mini`"},
			{Name: "base_url", Value: text, Doc: "the address of the provider"},
			{Name: "base_env", Value: ref, Doc: "the environment variable that may name another address"},
			{Name: "key", Value: ref, Doc: "the name of the secret"},
			{Name: "temperature", Value: number, Doc: "how freely the model answers"},
			{Name: "top_p", Value: number, Doc: "the share of likely words it chooses from, up to 1"},
			{Name: "max_tokens", Value: bound, Doc: "the most tokens of an answer, or `unbounded`: what the provider allows, on purpose"},
			{Name: "seed", Value: number, Doc: "an integer that makes answers more alike"},
			{Name: "stop", Value: texts, Doc: "texts at which an answer ends"},
			{Name: "price", Value: shape(shapePrice), Doc: "what a million tokens cost, instead of the table"},
		},
		Instead: map[string]string{
			"provider": "the provider belongs before the name: `model: \"openai:gpt-4o-mini\"`", "name": "write `model: \"provider:name\"`",
			"url": "write `base_url:`", "api_key": "write `key:` with the name of a secret", "secret": "write `key:` with the name of a secret",
			"max_output_tokens": "write `max_tokens:`", "stop_sequences": "write `stop:`", "system": "a system prompt belongs at the node",
		},
	}

	shapePrice = &Shape{
		Name: "price", What: "`price`", Doc: "What a million tokens cost.",
		Keys: []Key{
			{Name: "input", Value: money, Required: true, Doc: "dollars for what a model receives"},
			{Name: "cached", Value: money, Doc: "the same for what the provider had cached"},
			{Name: "output", Value: money, Required: true, Doc: "dollars for what a model says"},
		},
	}

	shapeServer = &Shape{
		Name: "server", What: "a server", Doc: "An MCP server: a command or an address.",
		Keys: []Key{
			{Name: "command", Value: listOf(text), Doc: "the program and its arguments"},
			{Name: "env", Value: mapOf(shape(shapeEnvSecret)), Doc: "variables of the program, each {secret: NAME}"},
			{Name: "url", Value: text, Doc: "the address"},
			{Name: "auth", Value: shape(shapeAuth), Doc: "how to authenticate"},
		},
	}

	shapeEnvSecret = &Shape{
		Name: "env.secret", What: "a variable", Doc: "A variable that holds a secret.",
		Keys: []Key{{Name: "secret", Value: ref, Required: true, Doc: "the name of the secret"}},
	}

	shapeAuth = &Shape{
		Name: "auth", What: "`auth`", Doc: "One way to authenticate, with a secret.",
		Keys: []Key{
			{Name: "bearer", Value: ref, Doc: "the secret is sent as a bearer token"},
			{Name: "basic", Value: ref, Doc: "the secret is user:password"},
			{Name: "header", Value: text, Doc: "the header that holds the secret"},
			{Name: "secret", Value: ref, Doc: "the secret of `header`"},
		},
	}

	shapePolicy = &Shape{
		Name: "policy", What: "a policy", Doc: "What a run may do at most.",
		Keys: []Key{
			{Name: "max_iterations", Value: count, Doc: "turns of an agent"},
			{Name: "max_tool_calls", Value: count, Doc: "tool calls of a run"},
			{Name: "max_cost_usd", Value: money, Doc: "dollars of a run"},
			{Name: "max_total_tokens", Value: count, Doc: "tokens of a run"},
			{Name: "max_time", Value: duration, Doc: "how long a run may work; waiting for answers does not count"},
			{Name: "effects", Value: listOf(word(allowedWords...)), Doc: "the effects allowed; asking models is, unless `asks` denies it"},
			{Name: "asks", Value: word(asksWords...), Doc: "whether models may be asked: allow (default) or deny"},
			{Name: "grants", Value: listOf(text), Doc: "the permissions granted"},
			{Name: "net", Value: shape(shapeNet), Doc: "the hosts that can be reached"},
			{Name: "sandbox", Value: shape(shapeSandbox), Doc: "the least isolation of tools"},
		},
		Renamed: policyRenamed,
	}

	shapeAgentPolicy = &Shape{
		Name: "policy.agent", What: "the policy of an agent", Doc: "What an agent may do at most.",
		Keys: []Key{
			{Name: "max_iterations", Value: bound, Doc: "the most answers of its model, or `unbounded`; 10 unless written"},
			{Name: "max_tool_calls", Value: bound, Doc: "the most calls of its tools, or `unbounded`; 25 unless written"},
			{Name: "max_cost_usd", Value: money, Doc: "dollars of one visit"},
			{Name: "max_total_tokens", Value: count, Doc: "tokens of one visit"},
			{Name: "effects", Value: listOf(word(allowedWords...)), Doc: "the effects that its tools may have"},
			{Name: "grants", Value: listOf(text), Doc: "the permissions granted"},
		},
		Renamed: policyRenamed,
		Instead: map[string]string{"asks": "`asks` belongs in the `policy` of the workflow: an agent asks its model", "max_time": "write `timeout:` next to `policy:`", "net": "`net` belongs in the `policy` of the workflow", "sandbox": "`sandbox` belongs in the `policy` of the workflow"},
	}

	shapeNet = &Shape{
		Name: "net", What: "`net`", Doc: "Network access.",
		Keys: []Key{
			{Name: "allow", Value: listOf(text), Doc: "hosts, or `loopback`"},
			{Name: "proxy", Value: word(proxyWords...), Doc: "environment: requests go through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name"},
		},
	}

	shapeSandbox = &Shape{
		Name: "sandbox", What: "`sandbox`", Doc: "Isolation of tools.",
		Keys: []Key{{Name: "min", Value: word(tierWords...), Required: true, Doc: "the least tier"}},
	}

	shapeDefaults = &Shape{
		Name: "defaults", What: "`defaults`", Doc: "Defaults of all nodes.",
		Keys: []Key{
			{Name: "timeout", Value: duration, Doc: "default time limit of a node, for all attempts"},
			{Name: "on_error", Value: onErrorForm, Doc: "what happens when all attempts have failed"},
			{Name: "retry", Value: shape(shapeRetry), Doc: "when calls are repeated"},
			{Name: "journal", Value: shape(shapeJournal), Doc: "how runs are recorded"},
		},
	}

	shapeJournal = &Shape{
		Name: "journal", What: "`journal`", Doc: "How runs are recorded.",
		Keys: []Key{
			{Name: "dir", Value: text, Doc: "the folder of the runs, below the working directory; `.flowgen/runs` unless written"},
			{Name: "sync", Value: word(syncWords...), Doc: "when records are forced to disk: off, buffered or effect"},
		},
	}
)

var policyRenamed = map[string]string{"max_tokens": "max_total_tokens"}

var typeInstead = map[string]string{
	"default": "defaults, bounds and patterns belong at the fields that use the type", "min": "defaults, bounds and patterns belong at the fields that use the type",
	"max": "defaults, bounds and patterns belong at the fields that use the type", "pattern": "defaults, bounds and patterns belong at the fields that use the type",
}

var shapeTool = &Shape{
	Name: "tool", What: "a tool", Doc: "A tool: one of go, command, shell, http, openapi, sql, python, js, mcp, starlark, wasm says what it runs as.",
	Keys: []Key{
		{Name: "go", Value: goName, Doc: "a Go function: `example.com/module/package.Func`"},
		{Name: "command", Value: listOf(template), Doc: "a program and its arguments"},
		{Name: "shell", Value: oneOf(text, listOf(template)), Doc: "a script for the shell, and its arguments"},
		{Name: "http", Value: oneOf(text, shape(shapeHTTP)), Doc: "a request: `GET https://...` or {method, url, headers, query, body}"},
		{Name: "openapi", Value: shape(shapeOpenAPI), Doc: "an operation of an OpenAPI document: {spec, operation}"},
		{Name: "sql", Value: shape(shapeSQL), Doc: "a statement of SQL: {db, schema, query}"},
		{Name: "python", Value: text, Doc: "a Python function: `module:function`"},
		{Name: "js", Value: file, Doc: "a JavaScript or TypeScript module"},
		{Name: "mcp", Value: text, Doc: "a tool of an MCP server: `server/tool`"},
		{Name: "starlark", Value: file, Doc: "a Starlark file"},
		{Name: "wasm", Value: text, Doc: "a WebAssembly module compiled for WASI: `tool.wasm`, or `tool.wasm#export` for a function of it"},
		{Name: "description", Value: text, Doc: "what it does, for users and models"},
		{Name: "effects", Value: word(effectWords...), Doc: "what a call does to the world: none, reads, writes or external"},
		{Name: "in", Value: oneOf(fields, word("any")), Doc: "the fields of its input; `any` for a Python function with `**kwargs`"},
		{Name: "out", Value: oneOf(typ, word("lines", "none")), Doc: "the type of its result; of a command also `lines` or `none`"},
		{Name: "stdin", Value: template, Doc: "what a command reads"},
		{Name: "env", Value: mapOf(oneOf(template, shape(shapeEnvSecret))), Doc: "variables of a command: text, or {secret: NAME}"},
		{Name: "dir", Value: template, Doc: "the folder a command runs in"},
		{Name: "max_output", Value: Form{Kind: FormSize}, Doc: "the largest result: `2MiB`"},
		{Name: "approve", Value: word("true", "false"), Doc: "whether a user is asked before each call"},
		{Name: "timeout", Value: oneOf(duration, word("unbounded")), Doc: "how long one attempt of a call may take; 5m unless it or its node says something else"},
		{Name: "auth", Value: shape(shapeAuth), Doc: "how to authenticate"},
		{Name: "engine", Value: word(engineWords...), Doc: "what runs JavaScript"},
		{Name: "venv", Value: file, Doc: "the folder of a Python function's virtual environment"},
		{Name: "sandbox", Value: word(sandboxWords...), Doc: "how it is isolated"},
		{Name: "replay", Value: word(replayWords...), Doc: "what a replay does without a record"},
		{Name: "permissions", Value: texts, Doc: "the permissions a call needs"},
		{Name: "cache", Value: oneOf(word(cacheWords...), shape(shapeCache)), Doc: "how long results are reused"},
		{Name: "rate", Value: text, Doc: "the most calls per time: `5/s`"},
		{Name: "queue", Value: text, Doc: "the task queue of the workers that make its calls, on an engine with workers: `gpu`"},
		{Name: "cost_usd", Value: money, Doc: "dollars of one call"},
		{Name: "idempotency_key", Value: oneOf(word(idempotencyWords...), template), Doc: "how the other side recognizes a repeated call: `call_id`, or a text over the input"},
		doubtKey,
		{Name: "examples", Value: listOf(shape(shapeExample)), Doc: "calls and their results, for users and models"},
		{Name: "category", Value: word(ir.Categories...), Doc: "the group of the tool"},
		{Name: "tags", Value: texts, Doc: "words to find it by"},
		{Name: "status", Value: word(toolStates...), Doc: "active, deprecated or blocked"},
	},
	Renamed: map[string]string{"state": "status"},
	Instead: map[string]string{
		"args": "arguments belong in the list: `command: [git, log]`", "cmd": "write `command: [git, log]`", "run": "write `command: [git, log]`, or `shell:` for a script",
		"url": "write `http: {url: ...}`", "method": "write `http: {method: ...}`", "headers": "write `http: {headers: ...}`", "body": "write `http: {body: ...}`",
		"query": "write `http: {query: ...}`", "input": "write `in:`", "output": "write `out:`", "cwd": "write `dir:`",
		"retry":   "retries belong on the node, or under `defaults:`",
		"version": "the version is a part of the key: `search@2`", "namespace": "the namespace is a part of the key: `acme.search@2`",
		"side_effects": "write `effects:`", "replay_policy": "write `replay:`", "requires_capability": "write `permissions:`", "capabilities": "write `permissions:`",
		"cost_estimate": "write `cost_usd:`", "cost": "write `cost_usd:`", "idempotency": "write `idempotency_key: call_id`", "deprecated": "write `status: deprecated`",
		"input_schema": "write the fields under `in:`", "output_schema": "write the type under `out:`", "cache_ttl_s": "write `cache: {ttl: 10m}`", "example": "write `examples:`, a list",
	},
}

var (
	shapeExample = &Shape{
		Name: "example", What: "an example", Doc: "A call and its result.",
		Keys: []Key{
			{Name: "in", Value: mapOf(Form{Kind: FormConst}), Doc: "the input"},
			{Name: "out", Value: Form{Kind: FormConst}, Doc: "the result"},
			{Name: "description", Value: text, Doc: "what it shows"},
		},
		Instead: map[string]string{"input": "write `in:`", "output": "write `out:`", "with": "write `in:`", "args": "write `in:`", "result": "write `out:`"},
	}

	shapeCache = &Shape{
		Name: "cache", What: "`cache`", Doc: "How long results are reused.",
		Keys: []Key{{Name: "ttl", Value: duration, Required: true, Doc: "for how long"}},
	}

	shapeOpenAPI = &Shape{
		Name: "openapi", What: "an operation", Doc: "An operation of an OpenAPI document.",
		Keys: []Key{
			{Name: "spec", Value: file, Required: true, Doc: "the document, OpenAPI 3.0 or 3.1"},
			{Name: "operation", Value: ref, Required: true, Doc: "its operationId, or method and path: `GET /items/{id}`"},
			{Name: "base", Value: ref, Doc: "the environment variable with the base URL, in place of the document's server"},
		},
		Instead: map[string]string{"auth": "`auth` belongs next to `openapi`", "file": "write `spec:`", "operationId": "write `operation:`", "url": "write `spec:`, a file of the project"},
	}

	shapeSQL = &Shape{
		Name: "sql", What: "a statement", Doc: "A statement of SQL, whose parameters are bound.",
		Keys: []Key{
			{Name: "db", Value: ref, Required: true, Doc: "the secret that holds the address of the database: `sqlite:///var/lib/orders.db`"},
			{Name: "engine", Value: word(sqlWords...), Doc: "sqlite unless written. postgres: `in` and `out` are declared, and held to when it runs"},
			{Name: "schema", Value: file, Doc: "for SQLite: the file with the statements that make the tables, or the folder of migrations"},
			{Name: "query", Value: text, Required: true, Doc: "the statement, with `{x}` for the field x"},
			{Name: "rows", Value: word(rowWords...), Doc: "many (default): a list. one: a row, or null when there is none"},
			{Name: "max_rows", Value: Form{Kind: FormCount}, Doc: "the most rows, 1000 unless written: more are an error"},
		},
		Instead: map[string]string{"params": "write `{x}` in the query for the field x", "database": "write `db:`", "dsn": "write `db:`, the name of a secret", "file": "write `db:`, the name of a secret",
			"auth": "write `db:`, the name of the secret that holds the address", "statement": "write `query:`", "limit": "write `max_rows:`", "timeout": "`timeout` belongs next to `sql`",
			"transaction": "each statement is a transaction; nodes cannot share one, because a run can stop between them"},
	}

	shapeHTTP = &Shape{
		Name: "http", What: "a request", Doc: "An HTTP request.",
		Keys: []Key{
			{Name: "method", Value: word(methodWords...), Doc: "GET unless written"},
			{Name: "base", Value: ref, Doc: "the environment variable with the base URL"},
			{Name: "url", Value: template, Required: true, Doc: "the address, with `{x}` for fields"},
			{Name: "headers", Value: values, Doc: "header fields: text or `$x`, left out when it is absent"},
			{Name: "query", Value: values, Doc: "parameters of the URL: text or `$x`, left out when it is absent; a list repeats the name"},
			{Name: "body", Value: value, Doc: "what is sent: text as it is, everything else as JSON"},
			{Name: "html", Value: word(htmlWords...), Doc: "`text`: pages without their markup"},
			{Name: "extra", Value: word(extraWords...), Doc: "`ignore`: fields that `out` does not have are left out"},
		},
		Instead: map[string]string{"auth": "`auth` belongs next to `http`", "params": "write `query:`", "json": "write `body:`"},
	}
)
