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
		Cause: "A node calls a tool, or a version of it, that stands neither under `tools:` nor in an included file. Correct the spelling, or declare it.",
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
		Cause: "Two versions of the tool are declared, and they may differ in what they take, return and do. Write the one that is meant: `clock.today@2`.",
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
		Cause: "Tools are isolated by `process`, as far as Linux can do that for a process, or run with the rights of the program, which is `native`.",
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
		Cause: "The tool's declaration says `state: deprecated`: it works, and will go. Use the tool or the version that takes its place.",
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
		Cause: "The tool's declaration says `state: blocked`: its author does not allow calls. Use another tool.",
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
		Cause: "`max_total_tokens` bounds what models take, and `max_iterations` how often agents ask theirs; no node of this workflow does. It is a warning, so that nobody counts on what is not there. Leave the key out.",
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
		Title: "a tool_call that could choose no tool, or one that it must not call",
		Cause: "A `tool_call` node calls one tool of a closed set, those that `allow` names, or without it those that the file declares, and which one is decided at run time. Where the name is an enum, each of its values must be one of these tools; where it is always the same, an ordinary `tool` node says so and has its arguments checked.",
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
		Cause: "The tool asks for `sandbox: process`, or the policy requires it, and the tool is no process, or not one of its own: Go functions, requests, Starlark and `engine: embedded` run in the program, and the servers of MCP tools serve others too. Tools bound with `command`, `python` and `js` can be isolated; the `dir` of an isolated command must be a fixed text, because it is what the command may read. The message says what to do.",
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
		Cause: "An agent can call a `command`, `shell`, `python` or `js` tool that has no sandbox and does not say so. What the model reads can make it call the tool with any arguments, and the tool has all rights of the user who runs the workflow. Write `sandbox: process`, or `sandbox: none` when the tool needs these rights; a policy with `sandbox: {min: process}` isolates all tools. The warning is about tools of the native language: other formats cannot say it for one tool.",
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
		Cause: "`check --sandbox` tries the tiers that tools run in. `process` needs Linux with Landlock, `gvisor` the program `runsc` on PATH or in FLOWGEN_RUNSC; the message says what is missing and how to get it. A program without it refuses to run before the first call. No workflow file can show this mistake: it is the machine's.",
	},
}
