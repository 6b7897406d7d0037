package diag

// Models and what they are told.
const (
	BadModel  Code = "FG0690"
	ModelKey  Code = "FG0691"
	BadPrompt Code = "FG0692"

	PinWithoutTool Code = "FG0693"
)

var modelCodes = []Entry{
	{
		Code:  BadModel,
		Title: "a model that cannot be asked as it is declared",
		Cause: "A model is written `provider:name`, with a provider that flowgen knows, such as openai, anthropic, gemini or ollama. Everything else that offers the interface of OpenAI is `openai:` with a `base_url`, which starts with https:// or http:// and holds no user, password, query or fragment. `vllm` has no address of its own, so that it needs one.",
		Wrong: `flowgen: 1
name: dates
models: {fast: {model: "openia:gpt-4o-mini", base_url: "http://localhost:8000/v1"}}
nodes:
  date: {llm: fast, prompt: What day is it?}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
models: {fast: {model: "openai:gpt-4o-mini", base_url: "http://localhost:8000/v1"}}
nodes:
  date: {llm: fast, prompt: What day is it?}
output: {date: $date}
`,
	},
	{
		Code:  ModelKey,
		Title: "a model whose key is not declared",
		Cause: "The provider answers only to those who show a key. It is the secret that `key` names or, at the provider's own address, the provider's usual one: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or GROQ_API_KEY. Declare it under `secrets:`, so that whoever starts the program knows that it is needed.",
		Wrong: `flowgen: 1
name: dates
models: {fast: "openai:gpt-4o-mini"}
nodes:
  date: {llm: fast, prompt: What day is it?}
output: {date: $date}
`,
		Right: `flowgen: 1
name: dates
secrets: [OPENAI_API_KEY]
models: {fast: "openai:gpt-4o-mini"}
nodes:
  date: {llm: fast, prompt: What day is it?}
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
		Cause: "A pin keeps its place and its type when its tool is taken away from the agent, so that nothing that reads it breaks; but there is no call that it could show, and it is always null.",
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
}
