package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/plan"
)

func TestCost(t *testing.T) {
	const models = `secrets: [OPENAI_API_KEY, GEMINI_API_KEY, GROQ_API_KEY, MINE]
models:
  mini: "openai:gpt-4o-mini"
  short: {model: "openai:gpt-4o-mini", max_tokens: 500}
  far: {model: "openai:gpt-4o-mini", max_tokens: 99999}
  long: {model: "gemini:gemini-2.5-pro", max_tokens: 1000}
  local: "ollama:qwen3"
  groq: "groq:llama"
  mine: {model: "openai:mine", base_url: "http://localhost:1/v1", key: MINE, price: {input: "1", output: "2"}}
  brief: {model: "openai:mine", base_url: "http://localhost:1/v1", key: MINE, max_tokens: 10, price: {input: "1", output: "2"}}
  gift: {model: "openai:mine", base_url: "http://localhost:1/v1", key: MINE, price: {input: "0", output: "0"}}
`
	const sub = "flowgen: 1\nname: s\npolicy: {max_cost_usd: \"0.01\"}\nmodels: {mini: {model: \"openai:gpt-4o-mini\", key: K}}\nsecrets: [K]\nnodes: {q: {llm: mini, prompt: x}}\noutput: {q: $q}\n"
	usd := func(s string) *plan.Cost { return &plan.Cost{USD: &s} }
	open := func(why ...string) *plan.Cost { return &plan.Cost{Unbounded: why} }
	unknown := &plan.Cost{Unknown: []string{"the price of groq:llama is not known"}}
	free := usd("0")
	free.Free = []string{"ollama:qwen3"}
	const paid = "tools: {pay: {command: [x], effects: reads, cost_usd: \"0.25\"}, more: {command: [x], effects: reads, cost_usd: \"0.5\"}, none: {command: [x], effects: reads}}\n"
	for _, tt := range []struct {
		name, text string
		want       *plan.Cost
	}{
		{"nothing", "nodes: {a: {let: {x: 1}}}\n", nil},
		// 128,000 tokens of a prompt and 16,384 of an answer
		{"a question", "nodes: {a: {llm: mini, prompt: x}}\n", usd("0.0290304")},
		{"a short answer", "nodes: {a: {llm: short, prompt: x}}\n", usd("0.0195")},
		{"a cap beyond the model's own", "nodes: {a: {llm: far, prompt: x}}\n", usd("0.0290304")},
		{"attempts and repetitions", "nodes: {a: {llm: short, prompt: x, out: int, reask: 2, retry: {attempts: 4}}}\n", usd("0.234")},
		{"a long prompt", "nodes: {a: {llm: long, prompt: x}}\n", usd("2.63644")}, // 1,048,576 at 2.50, 1,000 at 15
		{"under a cap answers have a bound", "policy: {max_total_tokens: 1000000}\nnodes: {a: {llm: mini, prompt: x}}\n", usd("0.0216576")},
		{"a cap of tokens", "policy: {max_total_tokens: 1000}\nnodes: {a: {llm: mini, prompt: x}}\n", usd("0.0006")},
		{"a cap of dollars", "policy: {max_cost_usd: \"0.01\"}\nnodes: {a: {llm: mini, prompt: x}}\n", usd("0.01")},
		{"a cap that is not reached", "policy: {max_cost_usd: \"0.03\"}\nnodes: {a: {llm: short, prompt: x}}\n", usd("0.0195")},
		{"an agent", "nodes: {a: {agent: short, prompt: x}}\n", usd("0.195")},
		{"an agent with a cap", "nodes: {a: {agent: short, prompt: x, policy: {max_cost_usd: \"0.05\"}}}\n", usd("0.05")},
		{"an agent without bound", "nodes: {a: {agent: short, prompt: x, policy: {max_iterations: unbounded}}}\n", open("a may ask its model without bound")},
		{"an agent with a cap only", "nodes: {a: {agent: short, prompt: x, policy: {max_iterations: unbounded, max_cost_usd: \"7\"}}}\n", usd("7")},
		{"an agent with a cap of tokens only", "nodes: {a: {agent: mini, prompt: x, policy: {max_iterations: unbounded, max_total_tokens: 10000}}}\n", usd("0.006")},
		{"a free model", "nodes: {a: {agent: local, prompt: x, policy: {max_iterations: unbounded}}}\n", free},
		{"a price of nothing", "nodes: {a: {agent: gift, prompt: x, policy: {max_iterations: unbounded}}}\n", usd("0")},
		{"no price", "nodes: {a: {llm: groq, prompt: x}, b: {llm: short, prompt: x}}\n", unknown},
		{"no price and a cap", "policy: {max_cost_usd: \"1\"}\nnodes: {a: {llm: groq, prompt: x}, b: {llm: short, prompt: x}}\n", unknown},
		{"a price and nothing else", "nodes: {a: {llm: mine, prompt: x}}\n", open("nothing bounds an answer of openai:mine", "how long a prompt of openai:mine can be is not known")},
		{"a price and answers", "nodes: {a: {llm: brief, prompt: x}}\n", open("how long a prompt of openai:mine can be is not known")},
		{"a price and tokens", "policy: {max_total_tokens: 1000}\nnodes: {a: {llm: brief, prompt: x}}\n", usd("0.002")},
		{"a map", "input: {xs: list<string>}\nnodes: {a: {map: $input.xs, as: x, max_items: 10, do: {llm: short, prompt: \"{{ x }}\"}}}\n", usd("0.195")},
		{"a map without bound", "input: {xs: list<string>}\nnodes: {a: {map: $input.xs, as: x, max_items: unbounded, do: {llm: short, prompt: \"{{ x }}\"}}}\n", open("a has no bound on its items")},
		{"one or the other", "input: {b: bool}\nnodes: {s: {let: {x: 1}}, a: {llm: mini, prompt: x}, b: {llm: short, prompt: x}}\nedges: [{from: s, switch: input.b, cases: {true: a, false: b}}]\n", usd("0.0290304")},
		{"a workflow with a cap of its own", "input: {xs: list<string>}\nnodes: {a: {map: $input.xs, as: x, max_items: 3, do: {flow: s.flowgen.yaml}}}\n", usd("0.03")},
		{"too large", "nodes: {a: {loop: {max: 2000000000}, do: {nodes: {m: {loop: {max: 2000000000}, do: {llm: short, prompt: x}}}, result: {x: $m}}}}\n", open("the bounds multiply to more than can be said")},
		{"tools", paid + "nodes: {a: {tool: pay, retry: {attempts: 2}}, b: {tool: none}}\n", usd("0.5")},
		{"tools of an agent", paid + "nodes: {a: {agent: short, prompt: x, tools: [pay, more], policy: {max_tool_calls: 3, max_iterations: 1}}}\n", usd("1.5195")},
		{"tools and a cap of tokens", paid + "nodes: {a: {agent: short, prompt: x, tools: [pay], policy: {max_tool_calls: 2, max_total_tokens: 1000}}}\n", usd("0.5006")},
		{"tools under a cap", paid + "policy: {max_cost_usd: \"1\"}\nnodes: {a: {agent: short, prompt: x, tools: [pay, more]}}\n", usd("1")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := of(t, files{"w.flowgen.yaml": "flowgen: 1\nname: w\n" + models + tt.text, "s.flowgen.yaml": sub})
			if diff := cmp.Diff(tt.want, p.AtMost.Cost); diff != "" {
				t.Error(diff)
			}
		})
	}
}
