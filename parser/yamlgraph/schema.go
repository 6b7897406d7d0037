package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// Schema is a JSON Schema of graphs, for editors. Its keys are those that the reader knows.
func Schema() []byte {
	return dialect.FormJSONSchema("YAMLGraph graph", dialect.Of(formed(topShape, map[string]dialect.Form{
		"version": dialect.Scalar, "name": dialect.Scalar, "description": dialect.Scalar, "prompts_relative": dialect.Flag, "prompts_dir": dialect.Scalar,
		"defaults": dialect.Of(formed(defaultsShape, map[string]dialect.Form{
			"provider": dialect.Scalar, "model": dialect.Scalar, "temperature": dialect.Scalar, "prompts_relative": dialect.Flag, "prompts_dir": dialect.Scalar,
		})),
		"state": mapOf(dialect.OneOf(dialect.Scalar, dialect.Of(formed(fieldShape, map[string]dialect.Form{
			"type": dialect.Scalar, "reducer": dialect.OneWord("add", "last_value", "sorted_add"), "description": dialect.Scalar,
		})))),
		"tools": mapOf(dialect.OneOf(dialect.Of(formed(toolShape, toolForms)), dialect.Of(manifestToolShape),
			dialect.Of(formed(slotShape, map[string]dialect.Form{"slot": dialect.Flag, "contract": dialect.Map, "description": dialect.Scalar}, "slot")))),
		"nodes": mapOf(dialect.OneOf(nodeForms(true)...)),
		"edges": dialect.ListOf(dialect.Of(formed(edgeShape, map[string]dialect.Form{
			"from": dialect.Scalar, "to": dialect.OneOf(dialect.Scalar, dialect.Names), "condition": dialect.Scalar, "type": dialect.OneWord("conditional", "simple"),
		}))),
		"loop_limits": mapOf(dialect.Count), "loop_exits": mapOf(dialect.Scalar), "inputs": dialect.Map,
	})))
}

func mapOf(f dialect.Form) dialect.Form { return dialect.Form{Kind: dialect.FormMap, Elem: &f} }

// formed is a shape whose keys say what may be there. Those that are named besides are required.
func formed(s *dialect.Shape, forms map[string]dialect.Form, required ...string) *dialect.Shape {
	own := *s
	own.Keys = slices.Clone(s.Keys)
	for i, k := range own.Keys {
		if f, ok := forms[k.Name]; ok {
			own.Keys[i].Form = f
		}
		own.Keys[i].Required = k.Required || slices.Contains(required, k.Name)
	}
	return &own
}

var toolForms = map[string]dialect.Form{
	"type": dialect.OneWord("shell", "python", "websearch", "graph", "manifest"), "description": dialect.Scalar, "module": dialect.Scalar, "function": dialect.Scalar, "path": dialect.Scalar,
	"command": dialect.Scalar, "parse": dialect.OneWord("text", "json", "none"), "timeout": dialect.Scalar, "working_dir": dialect.Scalar, "env": mapOf(dialect.Scalar),
	"success_codes": dialect.ListOf(dialect.Count), "provider": dialect.Scalar, "max_results": dialect.Count,
}

// nodeForms are the forms of nodes by their types; outer says that they are not those of a map.
func nodeForms(outer bool) []dialect.Form {
	some := dialect.OneOf(dialect.Scalar, mapOf(dialect.Scalar))
	forms := map[string]dialect.Form{
		"state_key": dialect.Scalar, "on_error": dialect.OneWord("skip", "fail", "retry", "fallback"), "description": dialect.Scalar,
		"prompt": dialect.Scalar, "variables": dialect.Map, "provider": dialect.Scalar, "model": dialect.Scalar, "temperature": dialect.Scalar, "requires": dialect.Names,
		"skip_if_exists": dialect.Flag, "parse_json": dialect.Flag, "stream": dialect.Flag, "max_retries": dialect.Count, "fallback": dialect.Map, "loop_limit": dialect.Count,
		"output_model": dialect.Scalar, "routes": mapOf(dialect.Scalar), "default_route": dialect.Scalar, "route_field": dialect.Scalar,
		"tools": dialect.Names, "max_iterations": dialect.Count, "tool_results_key": dialect.Scalar, "tool": dialect.Scalar, "function": dialect.Scalar,
		"args": dialect.OneOf(dialect.Scalar, dialect.Map), "output": dialect.Map, "outputs": dialect.Map,
		"message": dialect.OneOf(dialect.Scalar, dialect.Map), "resume_key": dialect.Scalar, "idempotent": dialect.Flag,
		"graph": dialect.Scalar, "mode": dialect.OneWord("invoke", "direct"), "input_mapping": some, "output_mapping": some, "interrupt_output_mapping": some,
		"over": dialect.OneOf(dialect.Scalar, dialect.ListOf(dialect.Form{})), "as": dialect.Scalar, "collect": dialect.Scalar, "max_items": dialect.Count, "failures": dialect.Scalar, "min_success": dialect.Count, "flatten_output": dialect.Flag,
	}
	if outer {
		forms["node"] = dialect.OneOf(nodeForms(false)...)
	}
	var out []dialect.Form
	for _, kind := range words {
		shape := kinds[kind]
		if other := map[string]*dialect.Shape{"pipeline": pipelineShape, "interactive_tool": talkShape}[kind]; other != nil {
			shape = other
		}
		if shape == nil || !outer && kind == "map" {
			continue
		}
		forms["type"] = dialect.OneWord(kind)
		switch kind {
		case "llm": // the type of a node that says none
			out = append(out, dialect.Of(formed(shape, forms, "prompt")))
		case "router":
			out = append(out, dialect.Of(formed(shape, forms, "type", "prompt", "routes")))
		default:
			out = append(out, dialect.Of(formed(shape, forms, "type")))
		}
	}
	return out
}
