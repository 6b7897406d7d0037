package diag

// Models and what they receive.
const (
	BadModel  Code = "FG0690"
	ModelKey  Code = "FG0691"
	BadPrompt Code = "FG0692"

	PinWithoutTool Code = "FG0693"
	CostUnknown    Code = "FG0694"
)

var modelCodes = []Entry{
	{
		Code:  BadModel,
		Title: "an invalid declaration of a model",
		Cause: "A model is written `provider:name`, with a provider that flowgen knows, such as openai, anthropic, gemini or ollama. Everything else that offers the interface of OpenAI is `openai:` with a `base_url`, which starts with https:// or http:// and holds no user, password, query or fragment. `vllm` has no address of its own, so that it needs one. `scripted:` is followed by the name of a file of answers; such a model is declared under `models:` and takes neither `base_url` nor `key`. A parameter or a kind of file that the provider refuses with every call is such a mistake too: a `seed` or a `temperature` above 1 for Anthropic's models, a `seed` or `stop` for `openai-responses`, or more texts to `stop` at than a provider takes.",
		Wrong: `flowgen: 1
name: dates
models: {fast: {model: "openia:gpt-4o-mini", base_url: "http://localhost:8000/v1"}}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
models: {fast: {model: "openai:gpt-4o-mini", base_url: "http://localhost:8000/v1"}}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
	},
	{
		Code:  ModelKey,
		Title: "a model with an undeclared key",
		Cause: "The provider requires an API key. It is the secret that `key` names or, at the provider's own address, the provider's usual one: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or GROQ_API_KEY. Declare it under `secrets:`, so users of the program know they need it.",
		Wrong: `flowgen: 1
name: dates
models: {fast: "openai:gpt-4o-mini"}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
secrets: [OPENAI_API_KEY]
models: {fast: "openai:gpt-4o-mini"}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
	},
	{
		Code:  BadPrompt,
		Title: "a prompt file that cannot be used",
		Cause: "A prompt file is text in UTF-8 of at most 1 MiB: if it starts with a line `---`, front matter in YAML up to the next such line, with the keys `system` and `with`, and after that the prompt, which must not be empty. No single workflow file can show this mistake: the mistake is in the prompt file.",
	},
	{
		Code:  PinWithoutTool,
		Title: "a pin of a tool that the agent cannot call",
		Cause: "A pin keeps its type when its tool is removed from the agent, so its readers still compile; but it selects no call and is always null. With `on_missing: fail` every run would fail, which is an error.",
		Wrong: `flowgen: 1
name: find
input: {topic: string}
models: {local: "ollama:qwen3"}
tools:
  search: {http: "GET https://api.example.com/search?q={q}", in: {q: string}, out: {url: string}}
nodes:
  review: {agent: local, prompt: "What is {{ input.topic }}?", pins: {hit: {tool: search}}}
output: {text: $review.response, hit: $review.hit}
`,
		Right: `flowgen: 1
name: find
input: {topic: string}
models: {local: "ollama:qwen3"}
tools:
  search: {http: "GET https://api.example.com/search?q={q}", in: {q: string}, out: {url: string}}
nodes:
  review: {agent: local, prompt: "What is {{ input.topic }}?", tools: [search], pins: {hit: {tool: search}}}
output: {text: $review.response, hit: $review.hit}
`,
	},
	{
		Code:  CostUnknown,
		Title: "a model with unbounded cost",
		Cause: "A model with an API key costs money, and flowgen has no list price for this one. So `max_cost_usd` cannot count its calls; or, without that cap, neither `max_tokens` of the model nor `max_total_tokens` of a policy bounds its usage. Set `price` on the model, in dollars per million tokens; or set a bound, or `max_tokens: unbounded` to allow answers of any length. It is a warning. Models without a key, such as local ones, are assumed to be free.",
		Wrong: `flowgen: 1
name: dates
secrets: [GROQ_API_KEY]
models: {fast: "groq:llama-3.3-70b-versatile"}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
secrets: [GROQ_API_KEY]
models: {fast: {model: "groq:llama-3.3-70b-versatile", max_tokens: 100}}
nodes:
  date: {llm: fast, prompt: "What day is it?"}
output: {date: $date}
`,
	},
}
