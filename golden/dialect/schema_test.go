package dialect_test

import (
	"slices"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const someEdges = "edges: [{from: START, to: a}, {from: a, to: END}]\n"

// misshapen are files of the dialects that have a wrong shape.
var misshapen = map[string][]string{
	"openexpertise": {
		"name: x\nversion: 0.1.0\n", "name: x\nversion: 0.1.0\ngraph: {nodes: [a], edges: []}\n", "name: x\nversion: 0.1.0\ngraph: {nodes: [{id: a, kind: tol, impl: x}], edges: []}\n",
		"name: x\nversion: 0.1.0\ngraph: {nodes: [{id: a, kind: tool}], edges: []}\n", "name: x\nversion: 0.1.0\ngraph: {nodes: [{id: a, kind: tool, impl: x}], edges: [{from: a}]}\n",
		"name: x\nversion: 0.1.0\nnodes: []\ngraph: {nodes: [{id: a, kind: tool, impl: x}], edges: []}\n",
	},
	"sirenspec": {
		"agents: {}\n", "nodes: []\n", "nodes: {a: {type: tool}}\n", "nodes: {a: {type: nothing}}\n", "nodes: {a: {agent: x}}\n",
		"nodes: {a: {type: tool, tool: http, config: {method: PUT, url: x}}}\n", "nodes: {a: {type: tool, tool: http, config: {}}}\n",
		"nodes: {a: {type: tool, tool: python, config: {module: x}}}\n", "nodes: {a: {type: swrm, agents: {}}}\n", "nodes: {a: {type: swrm, agents: [{prompt: x}]}}\n",
		"nodes: {a: {type: factory, agent: x, for_each: y}}\n", "nodes: {a: {type: workflow}}\n", "nodes: {a: {type: human, prompt: x, writes: y, on_timeout: maybe}}\n",
		"nodes: {a: {agent: x, writes: y}}\nedges: [{from: a}]\n", "nodes: {a: {agent: x, writes: y}}\nmemory: {backend: redis}\n",
		"nodes: {a: {agent: x, writes: y, retry: 3}}\n", "nodes: {a: {agent: x, writes: y}}\nguardrails: [nothing]\n", "nodes: {a: {agent: x, writes: y}}\nbudget: {on_exceeded: stop}\n",
	},
	"stargraph": {
		"id: x\nnodes: [a]\n", "id: x\nstate: {a: strange}\nnodes: {a: {kind: halt}}\nroutes: {}\n", "id: x\nnodes: {a: {kind: nothing_known}}\nroutes: {}\n", "ir_version: \"1\"\nid: x\nnodes: {a: {kind: halt}}\n",
		"graph: x\nnodes: {}\n", "id: x\nnodes: {a: {kind: halt}}\nroutes: [a]\n",
	},
	"yamlgraph": {
		"edges: []\n", "nodes: {a: {type: passthrough}}\n", "nodes: {a: {type: nothing}}\n" + someEdges, "nodes: {a: {state_key: x}}\n" + someEdges, "nodes: {a: {type: router, prompt: p}}\n" + someEdges,
		"nodes: {a: {type: map, over: x, as: y, collect: z}}\n" + someEdges, "nodes: {a: {type: map, over: x, as: y, collect: z, node: {type: map, over: x, as: y, collect: z, node: {prompt: p}}}}\n" + someEdges,
		"nodes: {a: {type: tool_call, tool: x}}\n" + someEdges, "nodes: {a: {type: subgraph}}\n" + someEdges, "nodes: {a: {type: passthrough, output: [1]}}\n" + someEdges,
		"nodes: {a: {type: python, tool: x, on_error: ignore}}\n" + someEdges, "nodes: {a: {type: passthrough}}\nedges: [{from: START}]\n", "nodes: {a: {prompt: p, requires: {x: 1}}}\n" + someEdges,
		"nodes: {a: {type: passthrough}}\nstate: {x: [str]}\n" + someEdges, "nodes: {a: {type: passthrough}}\nloop_limits: {a: many}\n" + someEdges, "nodes: {a: {type: passthrough}}\ntools: {t: {type: ruby}}\n" + someEdges,
	},
}

// wrongShapes are the mistakes that a schema sees as well.
var wrongShapes = []diag.Code{diag.UnknownKey, diag.MissingKey, diag.WrongShape, diag.UnknownWord}

// fits holds a file to the JSON Schema of a dialect; ok is false when it is not YAML.
func fits(t *testing.T, schema []byte, name, text string) (err error, ok bool) {
	t.Helper()
	f := source.NewFile(name, text)
	root, problems := yamlnode.Parse(f)
	if root == nil || len(problems) > 0 {
		return nil, false
	}
	v, err := value.Parse([]byte(dialect.JSON(dialect.NewReader(f, yamlnode.Core, &diag.Sink{}).Value(root, nil))))
	if err != nil {
		t.Fatal(name, err)
	}
	return jsonschema.Check(schema, v), true
}

// TestSchema: the JSON Schema of a dialect takes all its files without mistakes, and refuses those whose shape is wrong.
func TestSchema(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			schema := s.Schema()
			good, wrong := 0, 0
			for _, c := range s.cases {
				err, ok := fits(t, schema, c.name, string(c.find(s.Root).Data))
				if !ok || c.name == "merge_keys" { // `<<` is not of JSON
					continue
				}
				switch {
				case c.program != nil:
					if good++; err != nil {
						t.Errorf("%s: the schema refuses a file without mistakes: %v", c.name, err)
					}
				case slices.ContainsFunc(c.list, func(d diag.Diagnostic) bool {
					return d.Severity == diag.Error && slices.Contains(wrongShapes, d.Code) && d.Span.File != nil && d.Span.File.Name == c.dir+"/"+s.Root
				}):
					if wrong++; err == nil && c.name != "jinja_wrong" { // its mistakes are inside of a text
						t.Errorf("%s: the schema takes it", c.name)
					}
				}
			}
			for _, text := range misshapen[s.Name] {
				if err, ok := fits(t, schema, "wrong.yaml", text); err == nil || !ok {
					t.Errorf("the schema takes\n%s", text)
				}
			}
			if good < 25 || wrong < 3 || len(misshapen[s.Name]) < 5 {
				t.Errorf("%d files without mistakes, %d of a wrong shape", good, wrong)
			}
		})
	}
}
