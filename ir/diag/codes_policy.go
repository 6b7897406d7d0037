package diag

// Effects, caps, secrets.
const (
	EffectsUnset  Code = "FG0701"
	EffectsDenied Code = "FG0702"
	RetriedWrite  Code = "FG0703"
	NotGranted    Code = "FG0705"
	ReplayRuns    Code = "FG0706"
	SecretFlow    Code = "FG0707"
	SecretText    Code = "FG0708"
	DoubtUnfit    Code = "FG0709"
	OpenChoice    Code = "FG0710"
	LongBound     Code = "FG0711"
)

var policyCodes = []Entry{
	{
		Code:  EffectsUnset,
		Title: "a tool without declared effects",
		Cause: "`effects` is `none` (computes), `reads`, `writes` (changes something that can be repeated or undone) or `external` (acts on the outside for good). It controls order, retries, replay and policies. Without it the worst case, external, is assumed. Declare it.",
		Wrong: `flowgen: 1
name: dates
tools:
  today: {command: [date], out: string}
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
		Code:  EffectsDenied,
		Title: "a tool whose effects the policy forbids",
		Cause: "`policy.effects` lists the effects that the nodes of this workflow may have, and this tool has another one. Allow it there, or use another tool. A model call has the effect `asks`, which is allowed unless the policy says `asks: deny`.",
		Wrong: `flowgen: 1
name: dates
tools:
  touch: {command: [touch, today], effects: writes}
policy: {effects: [none, reads]}
nodes:
  mark: {tool: touch}
`,
		Right: `flowgen: 1
name: dates
tools:
  touch: {command: [touch, today], effects: writes}
policy: {effects: [none, reads, writes]}
nodes:
  mark: {tool: touch}
`,
	},
	{
		Code:  RetriedWrite,
		Title: "a retry of a call with side effects",
		Cause: "A call can fail after it has done its work, for example when the answer is lost, and a retry would repeat it. Retry only what is safe to repeat, or leave it to a user to resume the run. If the service recognizes repeated calls by an idempotency key, declare `idempotency_key: call_id` on the tool: every attempt sends the same key. The retry under `defaults` is for calls that only compute or read.",
		Wrong: `flowgen: 1
name: mail
tools:
  send: {command: [sendmail, ops], effects: external}
nodes:
  notify: {tool: send, retry: {attempts: 3}}
`,
		Right: `flowgen: 1
name: mail
tools:
  send: {command: [sendmail, ops], effects: external}
nodes:
  notify: {tool: send}
`,
	},
	{
		Code:  NotGranted,
		Title: "a tool whose permissions the policy does not grant",
		Cause: "A tool claims capabilities under `permissions`. As soon as the workflow has a `policy`, nothing is granted by itself: each claim of a tool that a node can call must be in `policy.grants`, byte by byte, or begin with a grant that ends in a star. The same holds for the tools of a sub-workflow, which its own policy can only narrow. Add the grant, or use another tool.",
		Wrong: `flowgen: 1
name: find
input: {word: string}
tools:
  grep: {command: [grep, -r, "{{ word }}"], in: {word: string}, out: lines, effects: reads, permissions: files:read}
policy: {effects: [none, reads]}
nodes:
  found: {tool: grep, with: {word: $input.word}}
output: {found: $found}
`,
		Right: `flowgen: 1
name: find
input: {word: string}
tools:
  grep: {command: [grep, -r, "{{ word }}"], in: {word: string}, out: lines, effects: reads, permissions: files:read}
policy: {effects: [none, reads], grants: ["files:*"]}
nodes:
  found: {tool: grep, with: {word: $input.word}}
output: {found: $found}
`,
	},
	{
		Code:  ReplayRuns,
		Title: "a replay with side effects",
		Cause: "`replay: recorded-result` answers a call of a replay from its record and, where there is none, makes the call. That is meant for tools that compute or read. For one that changes the world leave `replay` out, which stubs it (must-stub), or write `fail-loud`.",
		Wrong: `flowgen: 1
name: mail
tools:
  send: {command: [sendmail, ops], effects: external, replay: recorded-result}
nodes:
  notify: {tool: send}
`,
		Right: `flowgen: 1
name: mail
tools:
  send: {command: [sendmail, ops], effects: external, replay: fail-loud}
nodes:
  notify: {tool: send}
`,
	},
	{
		Code:  SecretFlow,
		Title: "a secret where a value is expected",
		Cause: "A secret is not a value: it cannot be used in expressions or text, so it never reaches a prompt, state, an output, a journal or a log. Refer to it by name: `auth` of a tool, `env` of a command or a server, `key` of a model; a Go function reads it with tool.Auth.",
		Wrong: `flowgen: 1
name: fetch
secrets: [API_TOKEN]
tools:
  get: {http: {url: "https://api.example.com/items", headers: {Authorization: "Bearer {{ secrets.API_TOKEN }}"}}, out: string}
nodes:
  items: {tool: get}
output: {items: $items}
`,
		Right: `flowgen: 1
name: fetch
secrets: [API_TOKEN]
tools:
  get: {http: {url: "https://api.example.com/items"}, auth: {bearer: API_TOKEN}, out: string}
nodes:
  items: {tool: get}
output: {items: $items}
`,
	},
	{
		Code:  SecretText,
		Title: "text that is the name of a secret",
		Cause: "The name of a secret stands for the secret in `auth`, in `key` of a model and in `{secret: NAME}` under `env` of a command or a server. Anywhere else it is plain text and passed unchanged, which is rarely intended.",
		Wrong: `flowgen: 1
name: fetch
secrets: [API_TOKEN]
tools:
  get: {http: {url: "https://api.example.com/items", headers: {X-Api-Key: API_TOKEN}}, out: string}
nodes:
  items: {tool: get}
output: {items: $items}
`,
		Right: `flowgen: 1
name: fetch
secrets: [API_TOKEN]
tools:
  get: {http: {url: "https://api.example.com/items"}, auth: {header: X-Api-Key, secret: API_TOKEN}, out: string}
nodes:
  items: {tool: get}
output: {items: $items}
`,
	},
	{
		Code:  DoubtUnfit,
		Title: "an on_in_doubt that does not match the tool",
		Cause: "If a program dies during a call that changes something, it is unknown whether the call happened. `on_in_doubt` defines what the resumed run does. Calls with effects `none` and `reads` are always repeated, so it has no effect on them. `retry_with_key` repeats the call and needs a tool with an `idempotency_key`, so the service can recognize it. `assume_done` continues as if the call had happened; if the tool returns something, a result to assume is required.",
		Wrong: `flowgen: 1
name: orders
input: {id: int}
tools:
  order: {command: [order, "{{ id }}"], in: {id: int}, out: none, effects: external, on_in_doubt: retry_with_key}
nodes:
  ordered: {tool: order, with: {id: $input.id}}
`,
		Right: `flowgen: 1
name: orders
input: {id: int}
tools:
  order: {command: [order, "{{ id }}"], in: {id: int}, out: none, effects: external, on_in_doubt: ask}
nodes:
  ordered: {tool: order, with: {id: $input.id}}
`,
	},
	{
		Code:  OpenChoice,
		Title: "a tool call that can be every tool of the file",
		Cause: "Without `allow`, data can select any tool that the file declares and the policy allows. A tool added later could be called from here, too, which a review would miss. List the tools.",
		Wrong: `flowgen: 1
name: clock
input: {which: string}
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  time: {tool_call: $input.which}
output: {success: $time.success}
`,
		Right: `flowgen: 1
name: clock
input: {which: string}
tools:
  today: {command: [date], out: string, effects: reads}
nodes:
  time: {tool_call: $input.which, allow: [today]}
output: {success: $time.success}
`,
	},
	{
		Code:  LongBound,
		Title: "a timeout that is longer than an hour, or none",
		Cause: "Every call has a timeout, 5 minutes by default, so a hanging call does not block its run forever. A timeout of more than an hour, or `unbounded`, loses that protection. It does not apply to questions to users. It is a warning. Write the maximum duration of the call.",
		Wrong: `flowgen: 1
name: report
tools:
  build: {command: [make, report], effects: writes, out: none, timeout: unbounded}
nodes:
  built: {tool: build}
`,
		Right: `flowgen: 1
name: report
tools:
  build: {command: [make, report], effects: writes, out: none, timeout: 20m}
nodes:
  built: {tool: build}
`,
	},
}
