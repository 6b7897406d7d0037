package dialect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// TestMisspeltKeys misspells each key of the dialect's own, once, in all cases that compile. 99 % have to be reported where the key
// stands or where its mapping begins. Of mappings with the same keys one is taken, all with LONG.
func TestMisspeltKeys(t *testing.T) {
	if err := load(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		t.Run(s.Name, func(t *testing.T) {
			root := jsonSchema(t, s.Schema())
			keys, missed, seen := 0, map[string]int{}, map[string]bool{}
			for _, c := range s.cases {
				if c.program == nil {
					continue
				}
				text := string(c.find(s.Root).Data)
				f := source.NewFile(c.dir+"/"+s.Root, text)
				tree, _ := yamlnode.Parse(f)
				if tree == nil {
					t.Fatal(c.name)
				}
				before := c.reports(s.Name, text)
				root.walk(tree, []map[string]any{root.all}, func(m *yamlnode.Node, key *yamlnode.Node) {
					if key.Span.Hi-key.Span.Lo != len(key.Text.Value) { // quoted
						return
					}
					same := key.Text.Value + " " + keysOf(m)
					if seen[same] && os.Getenv("LONG") == "" {
						return
					}
					seen[same] = true
					keys++
					wrong := misspelt(m, key.Text.Value)
					after := c.reports(s.Name, text[:key.Span.Lo]+wrong+text[key.Span.Hi:])
					for place := range before {
						delete(after, place)
					}
					lines := []int{f.Pos(m.Span.Lo).Line, f.Pos(key.Span.Lo).Line}
					for _, line := range after {
						if slices.Contains(lines, line) {
							return
						}
					}
					missed[key.Text.Value]++
					if testing.Verbose() {
						t.Logf("%s:%d: %s as %s: %v", c.name, lines[1], key.Text.Value, wrong, after)
					}
				})
			}
			n := 0
			for _, times := range missed {
				n += times
			}
			t.Logf("%d keys misspelt, %d not reported in place: %v", keys, n, missed)
			if keys < 100 || n*100 > keys {
				t.Errorf("of %d misspelt keys %d are not reported in place", keys, n)
			}
		})
	}
}

func keysOf(m *yamlnode.Node) string {
	var names []string
	for _, e := range m.Entries {
		names = append(names, e.Key.Text.Value)
	}
	return strings.Join(names, " ")
}

// misspelt is a key with two letters exchanged, or the last one twice: none that the mapping has.
func misspelt(m *yamlnode.Node, key string) string {
	for i := len(key) / 2; i+1 < len(key); i++ {
		if wrong := key[:i] + key[i+1:i+2] + key[i:i+1] + key[i+2:]; wrong != key && m.Entry(wrong) == nil && !strings.HasPrefix(wrong, "_") {
			return wrong
		}
	}
	return key + key[len(key)-1:]
}

// reports are the mistakes and warnings of a text of the case, with their lines.
func (c *testcase) reports(dialect, text string) map[string]int {
	opts := parser.Options{Dialect: dialect}
	if strings.HasPrefix(string(c.archive.Comment), "compat: upstream\n") {
		opts.Compat = parser.Upstream
	}
	sink := &diag.Sink{}
	if wf := parser.ParseAs(instead{c, text}, c.dir+"/"+c.suite.Root, opts, sink); wf != nil {
		check.Check(wf, sink)
	}
	out := map[string]int{}
	for _, d := range sink.List() {
		if d.Span.File != nil && d.Span.File.Name == c.dir+"/"+c.suite.Root {
			line := d.Span.Start().Line
			out[fmt.Sprintf("%d %s %s", line, d.Code, d.Message)] = line
		}
	}
	return out
}

// instead are the files of a case with another text of its workflow.
type instead struct {
	*testcase
	text string
}

func (i instead) ReadFile(name string) ([]byte, error) {
	if name == i.dir+"/"+i.suite.Root {
		return []byte(i.text), nil
	}
	return i.testcase.ReadFile(name)
}

// A schemaTree finds the keys of a dialect in a file.
type schemaTree struct{ all map[string]any }

func jsonSchema(t *testing.T, text []byte) schemaTree {
	t.Helper()
	var s schemaTree
	if err := json.Unmarshal(text, &s.all); err != nil {
		t.Fatal(err)
	}
	return s
}

// walk visits the keys that one of the schemas of their mapping has.
func (s schemaTree) walk(n *yamlnode.Node, schemas []map[string]any, visit func(m, key *yamlnode.Node)) {
	if len(schemas) == 0 || !n.Alias.IsZero() {
		return
	}
	schemas = s.parts(schemas, nil, 0)
	for _, e := range n.Entries {
		var below []map[string]any
		known := false
		for _, x := range schemas {
			if properties, ok := x["properties"].(map[string]any); ok {
				if p, ok := properties[e.Key.Text.Value]; ok {
					known = true
					below = appendSchema(below, p)
					continue
				}
			}
			below = appendSchema(below, x["additionalProperties"])
		}
		if known {
			visit(n, e.Key)
		}
		s.walk(e.Value, below, visit)
	}
	for _, it := range n.Items {
		var below []map[string]any
		for _, x := range schemas {
			below = appendSchema(below, x["items"])
		}
		s.walk(it, below, visit)
	}
}

func appendSchema(to []map[string]any, v any) []map[string]any {
	if m, ok := v.(map[string]any); ok {
		to = append(to, m)
	}
	return to
}

// parts are the schemas that schemas consist of.
func (s schemaTree) parts(schemas, out []map[string]any, depth int) []map[string]any {
	for _, x := range schemas {
		out = append(out, x)
		if depth > 8 {
			continue
		}
		var inside []map[string]any
		for _, word := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := x[word].([]any)
			for _, v := range list {
				inside = appendSchema(inside, v)
			}
		}
		for _, word := range []string{"if", "then", "else"} {
			inside = appendSchema(inside, x[word])
		}
		if ref, ok := x["$ref"].(string); ok {
			at := any(s.all)
			for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := at.(map[string]any)
				at = m[step]
			}
			inside = appendSchema(inside, at)
		}
		out = s.parts(inside, out, depth+1)
	}
	return out
}
