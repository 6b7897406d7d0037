package dialect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

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

// misspellings are the files that f becomes when one of its keys is written otherwise, for each that the schema knows there and
// whose mapping takes no other keys.
func misspellings(t *testing.T, schema []byte, f *txtar.File) (lines, texts []string) {
	t.Helper()
	var table map[string]any
	if err := json.Unmarshal(schema, &table); err != nil {
		t.Fatal(err)
	}
	file := source.NewFile(f.Name, string(f.Data))
	tree, _ := yamlnode.Parse(file)
	knownKeys(tree, []any{table}, func(key *yamlnode.Node, _ []string, closed bool) {
		name := key.Text.Value
		if !closed {
			return
		}
		lines = append(lines, fmt.Sprintf("%s in line %d", name, key.Span.Start().Line))
		texts = append(texts, file.Text[:key.Span.Lo]+strings.Replace(key.Span.Text(), name, name+"q", 1)+file.Text[key.Span.Hi:])
	})
	return lines, texts
}

// TestSchema: the JSON Schema that `flowgen schema --dialect` prints takes all files of the dialect without mistakes, and refuses
// those whose shape is wrong and those with a misspelt key. LONG misspells every key, else it is one of ten.
func TestSchema(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	step := 10
	if os.Getenv("LONG") != "" {
		step = 1
	}
	flowgen := filepath.Join(t.TempDir(), "flowgen.exe")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", flowgen, "../cmd/flowgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			schema, err := exec.Command(flowgen, "schema", "--dialect", s.Name).Output()
			if err != nil {
				t.Fatal(err)
			}
			good, wrong, misspelt, taken := 0, 0, 0, []string{}
			for _, c := range s.cases {
				err, ok := fits(t, schema, c.name, string(c.find(s.Root).Data))
				if !ok || c.name == "merge_keys" { // `<<` is not of JSON
					continue
				}
				ignored := slices.ContainsFunc(c.list, func(d diag.Diagnostic) bool {
					return d.Code == diag.IgnoredKey && strings.HasSuffix(d.Message, " (ignored)") && d.Span.File != nil && d.Span.File.Name == c.dir+"/"+s.Root
				})
				switch {
				case ignored:
					if err == nil {
						t.Errorf("%s: the schema takes a key that is ignored", c.name)
					}
				case c.program != nil:
					if good++; err != nil {
						t.Errorf("%s: the schema refuses a file without mistakes: %v", c.name, err)
					}
					lines, texts := misspellings(t, schema, c.find(s.Root))
					for i, text := range texts {
						if misspelt++; misspelt%step != 0 {
							continue
						}
						if err, ok := fits(t, schema, c.name, text); err == nil && ok {
							taken = append(taken, c.name+": "+lines[i])
						}
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
			if len(taken) > 0 {
				t.Errorf("of %d misspelt keys the schema takes\n%s", misspelt, strings.Join(taken, "\n"))
			}
			if misspelt < 500 || good < 25 || wrong < 3 || len(misshapen[s.Name]) < 5 {
				t.Errorf("%d files without mistakes, %d of a wrong shape, %d misspelt keys", good, wrong, misspelt)
			}
		})
	}
}
