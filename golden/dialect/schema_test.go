package dialect_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// data is the value of a node as a JSON Schema sees it.
func data(n *yamlnode.Node) any {
	switch n.Kind {
	case yamlnode.Mapping:
		m := map[string]any{}
		for _, e := range n.Entries {
			m[e.Key.Text.Value] = data(e.Value)
		}
		return m
	case yamlnode.Sequence:
		list := []any{}
		for _, it := range n.Items {
			list = append(list, data(it))
		}
		return list
	case yamlnode.Null:
		return nil
	}
	switch yamlnode.Schema(yamlnode.Core).Tag(n) {
	case "!!bool":
		return strings.EqualFold(n.Text.Value, "true")
	case "!!int", "!!float":
		if text, _, ok := yamlnode.Number(n.Text.Value); ok {
			var f float64
			if json.Unmarshal([]byte(text), &f) == nil {
				return f
			}
		}
	}
	return n.Text.Value
}

// TestSchema: the JSON Schema of SirenSpec takes every case without mistakes, and refuses files whose shape is wrong.
func TestSchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(sirenspec.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	schema.Schema = "" // the library knows later drafts; the keywords that are used are the same in all of them
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, name, text string) error {
		t.Helper()
		root, problems := yamlnode.Parse(source.NewFile(name, text))
		if root == nil || len(problems) > 0 {
			t.Skip("no YAML")
		}
		return resolved.Validate(data(root))
	}
	good, bad := 0, 0
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		if s.name != sirenspec.Name {
			continue
		}
		for _, c := range s.cases {
			if c.program == nil {
				continue
			}
			good++
			if err := check(t, c.name, string(c.find("workflow.yaml").Data)); err != nil {
				t.Errorf("%s: a workflow without mistakes is refused: %v", c.name, err)
			}
		}
	}
	for _, text := range []string{
		"agents: {}\n", "nodes: []\n", "nodes: {a: {type: tool}}\n", "nodes: {a: {type: nothing}}\n", "nodes: {a: {agent: x}}\n",
		"nodes: {a: {type: tool, tool: http, config: {method: PUT, url: x}}}\n", "nodes: {a: {type: tool, tool: http, config: {}}}\n",
		"nodes: {a: {type: tool, tool: python, config: {module: x}}}\n", "nodes: {a: {type: swrm, agents: {}}}\n", "nodes: {a: {type: swrm, agents: [{prompt: x}]}}\n",
		"nodes: {a: {type: factory, agent: x, for_each: y}}\n", "nodes: {a: {type: workflow}}\n", "nodes: {a: {type: human, prompt: x, writes: y, on_timeout: maybe}}\n",
		"nodes: {a: {agent: x, writes: y}}\nedges: [{from: a}]\n", "nodes: {a: {agent: x, writes: y}}\nmemory: {backend: redis}\n",
		"nodes: {a: {agent: x, writes: y, retry: 3}}\n", "nodes: {a: {agent: x, writes: y}}\nguardrails: [nothing]\n", "nodes: {a: {agent: x, writes: y}}\nbudget: {on_exceeded: stop}\n",
	} {
		bad++
		if check(t, "bad.yaml", text) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
	if good < 30 {
		t.Errorf("only %d good cases", good)
	}
	t.Logf("%d good cases, %d bad ones", good, bad)
}

// TestSchemaOfPages: the blocks of the page are taken, as nodes of a workflow where they are no whole one.
func TestSchemaOfPages(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(sirenspec.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	schema.Schema = ""
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("sirenspec/page_*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatal("no pages", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name != "workflow.yaml" {
				continue
			}
			root, _ := yamlnode.Parse(source.NewFile(file, string(f.Data)))
			if err := resolved.Validate(data(root)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
