package diag

// The use of tools, whatever they are bound to.
const (
	UnknownTool   Code = "FG0640"
	AmbiguousTool Code = "FG0641"
	Unavailable   Code = "FG0642"
	Deprecated    Code = "FG0643"
	Blocked       Code = "FG0644"
	NotApplied    Code = "FG0645"
	NotAllowed    Code = "FG0646"
	NotIsolated   Code = "FG0647"
	Unguarded     Code = "FG0648"
	TierMissing   Code = "FG0649"
)

var useCodes = []Entry{
	{
		Code:  UnknownTool,
		Title: "an undeclared tool",
		Cause: "A node calls a tool, or a version of it, that is declared neither under `tools:` nor in an included file. Correct the spelling, or declare it.",
		Wrong: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: tday}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today}
output: {date: $date}
`,
	},
	{
		Code:  AmbiguousTool,
		Title: "a tool with an ambiguous version",
		Cause: "Two versions of the tool are declared, and they may differ in input, output and effects. Write the version: `clock.today@2`.",
		Wrong: `flowgen: 1
name: dates
tools:
  clock.today@1: {command: [date], out: string, effects: reads}
  clock.today@2: {command: [date, -u], out: string, effects: reads}
nodes:
  date: {tool: clock.today}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  clock.today@1: {command: [date], out: string, effects: reads}
  clock.today@2: {command: [date, -u], out: string, effects: reads}
nodes:
  before: {tool: clock.today@1}
  date: {tool: clock.today@2}
output: {before: $before, date: $date}
`,
	},
	{
		Code:  Unavailable,
		Title: "an unsupported sandbox tier",
		Cause: "Tools are isolated by `process`, as far as Linux can isolate a process, by `gvisor` or `wasm`, or run with the rights of the program (`native`).",
		Wrong: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads, sandbox: container}
nodes:
  date: {tool: today}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today}
output: {date: $date}
`,
	},
	{
		Code:  Deprecated,
		Title: "a deprecated tool",
		Cause: "The tool's declaration says `status: deprecated`: it still works, but will be removed. Use its replacement.",
		Wrong: `flowgen: 1
name: dates
tools:
  clock.today@1: {command: [date], out: string, effects: reads, status: deprecated}
nodes:
  date: {tool: clock.today}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  clock.today@2: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: clock.today}
output: {date: $date}
`,
	},
	{
		Code:  Blocked,
		Title: "a blocked tool",
		Cause: "The tool's declaration says `status: blocked`: its author forbids calls. Use another tool.",
		Wrong: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads, status: blocked}
nodes:
  date: {tool: today}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads, status: active}
nodes:
  date: {tool: today}
output: {date: $date}
`,
	},
	{
		Code:  NotApplied,
		Title: "a bound without effect",
		Cause: "`max_total_tokens` bounds the tokens of models, and `max_iterations` the model calls of agents; no node of this workflow uses either. It is a warning, because the bound protects nothing. Remove the key.",
		Wrong: `flowgen: 1
name: dates
policy: {max_total_tokens: 1000}
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool: today}
output: {date: $date}
`,
	},
	{
		Code:  NotAllowed,
		Title: "a tool_call whose tool does not exist or is not allowed",
		Cause: "A `tool_call` node calls one tool of a closed set, chosen at run time: the tools in `allow`, or else those that the file declares. If the name is an enum, each of its values must be one of these tools. If it is constant, use a `tool` node, whose arguments are checked.",
		Wrong: `flowgen: 1
name: dates
input: {which: enum<today|tomorrow>}
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  date: {tool_call: $input.which, allow: [today]}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
input: {which: enum<today|tomorrow>}
tools:
  today: {command: [date], out: string, effects: reads}
  tomorrow: {command: [date, -d, tomorrow], out: string, effects: reads}
nodes:
  date: {tool_call: $input.which, allow: [today, tomorrow]}
output: {date: $date}
`,
	},
	{
		Code:  NotIsolated,
		Title: "a tool that cannot run in a sandbox",
		Cause: "The tool or the policy requires a sandbox, but the tool has no process of its own: Go functions, requests, Starlark and `engine: embedded` run in the program, and MCP servers are shared. Tools bound with `command`, `python` and `js` can be isolated; the `dir` of an isolated command must be a fixed text, because it is what the command may read.",
		Wrong: `flowgen: 1
name: pages
policy: {net: {allow: [example.com]}}
tools:
  front: {http: GET https://example.com/, out: string, sandbox: process}
nodes:
  page: {tool: front}
output: {page: $page}
`,
		Right: `flowgen: 1
name: pages
policy: {net: {allow: [example.com]}}
tools:
  front: {http: GET https://example.com/, out: string}
nodes:
  page: {tool: front}
output: {page: $page}
`,
	},
	{
		Code:  Unguarded,
		Title: "an agent's tool with all rights of the user",
		Cause: "An agent can call a `command`, `shell`, `python` or `js` tool without an explicit sandbox. Prompt injection can make the model call the tool with any arguments, with all rights of the user who runs the workflow. Write `sandbox: process`, or `sandbox: none` when the tool needs these rights; a policy with `sandbox: {min: process}` isolates all tools. The warning applies to the native language: other formats have no key for it.",
		Wrong: `flowgen: 1
name: words
input: {question: string}
models:
  fast: "ollama:qwen3"
tools:
  count: {description: counts words, command: [wc, -w], in: {text: string}, stdin: "{{ text }}", effects: none}
nodes:
  answer: {agent: fast, tools: [count], prompt: "{{ input.question }}"}
output: {answer: $answer.response}
`,
		Right: `flowgen: 1
name: words
input: {question: string}
models:
  fast: "ollama:qwen3"
tools:
  count: {description: counts words, command: [wc, -w], in: {text: string}, stdin: "{{ text }}", effects: none, sandbox: process}
nodes:
  answer: {agent: fast, tools: [count], prompt: "{{ input.question }}"}
output: {answer: $answer.response}
`,
	},
	{
		Code:  TierMissing,
		Title: "a sandbox tier that this machine lacks",
		Cause: "`check --sandbox` tries the sandbox tiers of the tools. `process` needs Linux with Landlock, `gvisor` the program `runsc` on PATH or in FLOWGEN_RUNSC; the message says what is missing and how to get it. Without it, a program stops before the first call. No workflow file can show this mistake: it is the machine's.",
	},
}
