package dialect_test

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlgraph"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
)

// TestGraphSchema: the JSON Schema of YAMLGraph takes all graphs without mistakes, and refuses those whose shape is wrong.
func TestGraphSchema(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, name, text string) error {
		t.Helper()
		f := source.NewFile(name, text)
		root, problems := yamlnode.Parse(f)
		if root == nil || len(problems) > 0 {
			t.Fatalf("%s is no YAML: %v", name, problems)
		}
		v, err := runtime.ParseValue([]byte(dialect.JSON(dialect.NewReader(f, yamlnode.Core, &diag.Sink{}).Value(root, nil))))
		if err != nil {
			t.Fatal(name, err)
		}
		return jsonschema.Check(yamlgraph.Schema(), v)
	}
	good, bad := 0, 0
	for _, s := range suites {
		if s.name != yamlgraph.Name {
			continue
		}
		for _, c := range s.cases {
			if c.program == nil || c.name == "merge_keys" { // `<<` is not of JSON
				continue
			}
			good++
			if err := check(t, c.name, string(c.find(s.root).Data)); err != nil {
				t.Errorf("%s: the schema refuses a graph without mistakes: %v", c.name, err)
			}
		}
	}
	const edges = "edges: [{from: START, to: a}, {from: a, to: END}]\n"
	for _, text := range []string{
		"edges: []\n", "nodes: {a: {type: passthrough}}\n", "nodes: {a: {type: nothing}}\n" + edges, "nodes: {a: {state_key: x}}\n" + edges, "nodes: {a: {type: router, prompt: p}}\n" + edges,
		"nodes: {a: {type: map, over: x, as: y, collect: z}}\n" + edges, "nodes: {a: {type: map, over: x, as: y, collect: z, node: {type: map, over: x, as: y, collect: z, node: {prompt: p}}}}\n" + edges,
		"nodes: {a: {type: tool_call, tool: x}}\n" + edges, "nodes: {a: {type: subgraph}}\n" + edges, "nodes: {a: {type: passthrough, output: [1]}}\n" + edges,
		"nodes: {a: {type: python, tool: x, on_error: ignore}}\n" + edges, "nodes: {a: {type: passthrough}}\nedges: [{from: START}]\n", "nodes: {a: {prompt: p, requires: {x: 1}}}\n" + edges,
		"nodes: {a: {type: passthrough}}\nstate: {x: [str]}\n" + edges, "nodes: {a: {type: passthrough}}\nloop_limits: {a: many}\n" + edges, "nodes: {a: {type: passthrough}}\ntools: {t: {type: ruby}}\n" + edges,
	} {
		bad++
		if check(t, "bad.yaml", text) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
	if good < 30 {
		t.Errorf("only %d graphs without mistakes", good)
	}
	t.Logf("%d graphs without mistakes, %d wrong ones", good, bad)
}
