package dialect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// TestMisspeltKeys compiles the files of every case with one key misspelt, each in its turn: what the dialect knows as a key
// and is written otherwise is refused or warned of on its line, in 99 of 100. CAMPAIGN=full
// tries all keys, LONG one of eight, else it is one of fifty.
func TestMisspeltKeys(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	step := 50
	switch {
	case os.Getenv("CAMPAIGN") == "full":
		step = 1
	case os.Getenv("LONG") != "":
		step = 8
	}
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			var table map[string]any
			if err := json.Unmarshal(s.Schema(), &table); err != nil {
				t.Fatal(err)
			}
			seen, tried := 0, 0
			var silent []string
			for _, c := range s.cases {
				m := &misspelling{testcase: c}
				for _, tree := range c.workflows() {
					knownKeys(tree, []any{table}, func(key *yamlnode.Node, known []string, _ bool) {
						if seen++; seen%step != 0 {
							return
						}
						tried++
						if said := m.try(t, key, known); said != "" {
							silent = append(silent, said)
						}
					})
				}
			}
			t.Logf("%d of %d keys tried, %.1f %% found", tried, seen, 100-100*float64(len(silent))/float64(max(tried, 1)))
			if seen < 500 && *only == "*/*" || len(silent)*100 > tried {
				t.Errorf("misspelt without a word:\n%s", strings.Join(silent, "\n"))
			}
		})
	}
}

// workflows are the trees of the files of the case that are workflows of its dialect, without those that are no YAML.
func (c *testcase) workflows() []*yamlnode.Node {
	var out []*yamlnode.Node
	for _, f := range c.archive.Files {
		if !strings.HasSuffix(f.Name, ".yaml") || strings.HasPrefix(f.Name, "want/") {
			continue
		}
		tree, problems := yamlnode.Parse(source.NewFile(f.Name, string(f.Data)))
		if tree != nil && len(problems) == 0 && (f.Name == c.suite.Root || c.suite.Is(tree)) {
			out = append(out, tree)
		}
	}
	return out
}

// knownKeys visits the keys below n that a JSON Schema has a property for, with all names that it has there; closed says that it
// takes no others.
func knownKeys(n *yamlnode.Node, schemas []any, visit func(key *yamlnode.Node, known []string, closed bool)) {
	var parts []map[string]any
	for len(schemas) > 0 {
		if s, ok := schemas[0].(map[string]any); ok {
			parts = append(parts, s)
			any, _ := s["anyOf"].([]any)
			schemas = append(schemas, any...)
		}
		schemas = schemas[1:]
	}
	for _, item := range n.Items {
		var below []any
		for _, s := range parts {
			below = append(below, s["items"])
		}
		knownKeys(item, below, visit)
	}
	var known []string
	for _, s := range parts {
		properties, _ := s["properties"].(map[string]any)
		known = slices.AppendSeq(known, maps.Keys(properties))
	}
	for _, e := range n.Entries {
		var below, others []any
		closed := true
		for _, s := range parts {
			properties, _ := s["properties"].(map[string]any)
			if p := properties[e.Key.Text.Value]; p != nil {
				below = append(below, p)
			}
			closed = closed && (s["type"] != "object" || s["additionalProperties"] == false)
			others = append(others, s["additionalProperties"])
		}
		if below == nil {
			below = others
		} else {
			visit(e.Key, known, closed)
		}
		knownKeys(e.Value, below, visit)
	}
}

// A misspelling compiles a case again and again.
type misspelling struct {
	*testcase
}

// try compiles the case with the key written otherwise, and says where when nothing more than before is said of its line.
func (m *misspelling) try(t *testing.T, key *yamlnode.Node, known []string) (silent string) {
	t.Helper()
	name, file := key.Text.Value, key.Span.File
	wrong := name[:len(name)-1] + "q" + name[len(name)-1:]
	for slices.Contains(known, wrong) {
		wrong += "q"
	}
	changed := &testcase{suite: m.suite, name: m.name, dir: m.dir, archive: &txtar.Archive{Comment: m.archive.Comment}}
	for _, f := range m.archive.Files {
		if f.Name == file.Name {
			f.Data = []byte(file.Text[:key.Span.Lo] + strings.Replace(key.Span.Text(), name, wrong, 1) + file.Text[key.Span.Hi:])
		}
		changed.archive.Files = append(changed.archive.Files, f)
	}
	changed.compile()
	line := func(d diag.Diagnostic) bool {
		return d.Severity != diag.Note && d.Span.File != nil && d.Span.File.Name == m.dir+"/"+file.Name && d.Span.Start().Line == key.Span.Start().Line
	}
	was := map[string]bool{}
	for _, d := range m.list {
		was[d.Message] = was[d.Message] || line(d)
	}
	for _, d := range changed.list {
		if line(d) && !was[d.Message] {
			return ""
		}
	}
	return fmt.Sprintf("%s/%s:%d: %s instead of %s", m.dir, file.Name, key.Span.Start().Line, wrong, name)
}
