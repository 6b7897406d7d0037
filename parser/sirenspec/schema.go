package sirenspec

import (
	"slices"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Schema is a JSON Schema of workflows, for editors. Its keys are those that the reader knows.
func Schema() []byte { return dialect.JSONSchema("SirenSpec workflow", formed(topShape, topForms())) }

// formed is a shape whose keys say what may be there.
func formed(s *dialect.Shape, forms map[string]dialect.Form) *dialect.Shape {
	own := *s
	own.Keys = slices.Clone(s.Keys)
	for i, k := range own.Keys {
		if f, ok := forms[k.Name]; ok {
			own.Keys[i].Form = f
		}
	}
	return &own
}

// of is the form of a mapping whose keys have forms.
func of(s *dialect.Shape, forms map[string]dialect.Form) dialect.Form {
	return dialect.Of(formed(s, forms))
}

// boolean is true or false.
var boolean = dialect.Form{Kind: dialect.FormBool}

// named is a mapping from names to a form.
func mapOf(f dialect.Form) dialect.Form { return dialect.Form{Kind: dialect.FormMap, Elem: &f} }

func topForms() map[string]dialect.Form {
	guards := guardForms()
	retry := of(retryShape, map[string]dialect.Form{
		"max_attempts": dialect.Count, "backoff": dialect.OneWord("constant", "linear", "exponential"), "base_delay": dialect.Scalar, "max_delay": dialect.Scalar,
		"jitter": boolean, "on": dialect.Names, "retry_on_guardrail": boolean,
	})
	failure := of(failureShape, map[string]dialect.Form{
		"action": dialect.OneWord("abort", "fallback", "skip", "use_default"), "fallback_node": dialect.Scalar, "default_output": dialect.Scalar,
	})
	agent := of(agentShape, map[string]dialect.Form{"model": dialect.Scalar, "system": dialect.Scalar, "guardrails": guards})
	return map[string]dialect.Form{
		"version": dialect.Scalar, "agents": mapOf(agent), "nodes": mapOf(dialect.OneOf(nodeForms(retry, failure)...)),
		"edges": dialect.ListOf(of(edgeShape, map[string]dialect.Form{"from": dialect.Scalar, "to": dialect.Scalar, "when": dialect.Scalar})),
		"input": of(inputShape, map[string]dialect.Form{"message": dialect.Scalar}),
		"state": of(stateShape, map[string]dialect.Form{"working": dialect.Map, "output": dialect.Map}), "guardrails": guards,
		"defaults": of(defaultsShape, map[string]dialect.Form{"retry": retry, "on_failure": failure}),
		"budget": of(budgetShape, map[string]dialect.Form{
			"max_tokens": dialect.Count, "max_cost_usd": dialect.Scalar, "max_duration_s": dialect.Scalar, "on_exceeded": dialect.OneWord("abort", "warn", "skip_remaining"),
		}),
		"env_file": dialect.Scalar, "memory": dialect.Of(memoryShape),
	}
}

// guardForms is the form of a list of guardrails.
func guardForms() dialect.Form {
	guard := of(guardShape, map[string]dialect.Form{"name": dialect.OneWord("injection", "length", "pii", "schema", "cost_cap"), "config": dialect.Map})
	return dialect.ListOf(dialect.OneOf(dialect.OneWord("injection", "length", "pii", "schema", "cost_cap"), guard))
}

// nodeForms are the forms of nodes, by their types.
func nodeForms(retry, failure dialect.Form) []dialect.Form {
	tool := map[string]dialect.Form{
		"type": dialect.OneWord("tool"), "output_key": dialect.Scalar, "retry": dialect.Count, "on_failure": dialect.OneWord("raise", "skip"),
	}
	adapter := func(name string, config dialect.Form) dialect.Form {
		tool["tool"], tool["config"] = dialect.OneWord(name), config
		return of(toolNodeShape, tool)
	}
	return []dialect.Form{
		of(agentNodeShape, map[string]dialect.Form{
			"type": dialect.OneWord("agent"), "agent": dialect.Scalar, "writes": dialect.Scalar, "streaming": boolean, "retry": retry, "on_failure": failure, "max_tokens_per_call": dialect.Count,
		}),
		adapter("http", of(httpShape, map[string]dialect.Form{
			"url": dialect.Scalar, "method": dialect.OneWord("GET", "POST"), "headers": mapOf(dialect.Scalar), "body": dialect.Scalar, "timeout": dialect.Count,
		})),
		adapter("python", of(pythonShape, map[string]dialect.Form{"module": dialect.Scalar, "function": dialect.Scalar, "args": dialect.Map})),
		dialect.Of(swarmNodeShape), dialect.Of(factoryNodeShape), dialect.Of(childNodeShape), dialect.Of(humanNodeShape),
	}
}
