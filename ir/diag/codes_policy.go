package diag

// Effects, caps, secrets.
const (
	EffectsUnset  Code = "FG0701"
	EffectsDenied Code = "FG0702"
	RetriedWrite  Code = "FG0703"
	NearSecret    Code = "FG0704"
)

var policyCodes = []Entry{
	{
		Code:  EffectsUnset,
		Title: "a tool that does not say what it does to the world",
		Cause: "`effects` is `none` (computes), `reads`, `writes` (changes something that can be repeated or undone) or `external` (acts on the outside for good). It decides about order, retries, replay and policies. Where it is missing the worst, external, is assumed. Write it.",
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
		Title: "a tool whose effects the policy does not allow",
		Cause: "`policy.effects` lists what the nodes of this workflow may do, and this tool does something else. Allow it there, or use another tool.",
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
		Title: "a retry of something that changes the world",
		Cause: "A call can fail after it has done its work, for example when the answer is lost, and a retry would do it again. Retry only what is safe to repeat, or leave it to a person to resume the run. The retry under `defaults` is for calls that only compute or read.",
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
		Code:  NearSecret,
		Title: "text that is nearly the name of a secret",
		Cause: "An environment variable of a command holds the value of a secret when its text is exactly the secret's name; any other text is passed as it is. This text differs from a declared secret by a letter or two, which is more likely a slip than a value.",
		Wrong: `flowgen: 1
name: push
secrets: [DEPLOY_TOKEN]
tools:
  push: {command: [deploy], env: {TOKEN: DEPLOY_TOKN}, effects: external}
nodes:
  go_live: {tool: push}
`,
		Right: `flowgen: 1
name: push
secrets: [DEPLOY_TOKEN]
tools:
  push: {command: [deploy], env: {TOKEN: DEPLOY_TOKEN}, effects: external}
nodes:
  go_live: {tool: push}
`,
	},
}
