package parser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// validator knows the part of draft 7 that JSONSchema writes, and refuses to guess about the rest.
type validator struct {
	defs map[string]any
}

func newValidator(t testing.TB) (*validator, map[string]any) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	v := &validator{defs: root["definitions"].(map[string]any)}
	return v, root
}

// check returns the first thing that is wrong; "" when nothing is.
func (v *validator) check(s map[string]any, x any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		def, ok := v.defs[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		if !ok {
			panic("no definition " + ref)
		}
		return v.check(def, x, at)
	}
	for key := range s {
		if !slices.Contains([]string{"$schema", "title", "description", "definitions", "type", "properties", "additionalProperties", "required", "oneOf", "anyOf", "allOf",
			"if", "then", "else", "items", "enum", "pattern", "minimum", "maximum", "minLength", "minItems", "maxItems", "default", "examples"}, key) {
			panic("the validator does not know " + key)
		}
	}
	if !v.hasType(s["type"], x) {
		return fmt.Sprintf("%s: %v is not %v", at, x, s["type"])
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, x) {
		return fmt.Sprintf("%s: %v is none of %v", at, x, enum)
	}
	for _, why := range []string{v.scalars(s, x, at), v.members(s, x, at), v.combined(s, x, at)} {
		if why != "" {
			return why
		}
	}
	return ""
}

func (v *validator) hasType(types, x any) bool {
	if types == nil {
		return true
	}
	list, ok := types.([]any)
	if !ok {
		list = []any{types}
	}
	for _, name := range list {
		ok := false
		switch x := x.(type) {
		case nil:
			ok = name == "null"
		case string:
			ok = name == "string"
		case bool:
			ok = name == "boolean"
		case float64:
			ok = name == "number" || name == "integer" && x == float64(int64(x))
		case []any:
			ok = name == "array"
		case map[string]any:
			ok = name == "object"
		}
		if ok {
			return true
		}
	}
	return false
}

func (v *validator) scalars(s map[string]any, x any, at string) string {
	switch x := x.(type) {
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(x) {
			return fmt.Sprintf("%s: %q does not match %s", at, x, p)
		}
		if n, ok := s["minLength"].(float64); ok && len(x) < int(n) {
			return at + ": too short"
		}
	case float64:
		if m, ok := s["minimum"].(float64); ok && x < m {
			return fmt.Sprintf("%s: %v is less than %v", at, x, m)
		}
		if m, ok := s["maximum"].(float64); ok && x > m {
			return fmt.Sprintf("%s: %v is more than %v", at, x, m)
		}
	}
	return ""
}

func (v *validator) members(s map[string]any, x any, at string) string {
	if list, ok := x.([]any); ok {
		if n, ok := s["minItems"].(float64); ok && len(list) < int(n) {
			return at + ": too few"
		}
		if n, ok := s["maxItems"].(float64); ok && len(list) > int(n) {
			return at + ": too many"
		}
		if items, ok := s["items"].(map[string]any); ok {
			for i, it := range list {
				if why := v.check(items, it, fmt.Sprintf("%s[%d]", at, i)); why != "" {
					return why
				}
			}
		}
	}
	m, ok := x.(map[string]any)
	if !ok {
		return ""
	}
	for _, r := range anyList(s["required"]) {
		if _, ok := m[r.(string)]; !ok {
			return at + ": needs " + r.(string)
		}
	}
	props, _ := s["properties"].(map[string]any)
	for key, val := range m {
		switch sub := props[key]; {
		case sub != nil:
			if why := v.check(sub.(map[string]any), val, at+"."+key); why != "" {
				return why
			}
		case s["additionalProperties"] == false:
			return at + ": unknown key " + key
		default:
			if add, ok := s["additionalProperties"].(map[string]any); ok {
				if why := v.check(add, val, at+"."+key); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

func (v *validator) combined(s map[string]any, x any, at string) string {
	for _, sub := range anyList(s["allOf"]) {
		if why := v.check(sub.(map[string]any), x, at); why != "" {
			return why
		}
	}
	for _, kind := range []string{"anyOf", "oneOf"} {
		list := anyList(s[kind])
		fits, whys := 0, []string{}
		for _, sub := range list {
			if why := v.check(sub.(map[string]any), x, at); why == "" {
				fits++
			} else {
				whys = append(whys, why)
			}
		}
		if len(list) > 0 && (fits == 0 || kind == "oneOf" && fits > 1) {
			return fmt.Sprintf("%s: %d of %s: %s", at, fits, kind, strings.Join(whys, "; "))
		}
	}
	if cond, ok := s["if"].(map[string]any); ok {
		branch := "then"
		if v.check(cond, x, at) != "" {
			branch = "else"
		}
		if sub, ok := s[branch].(map[string]any); ok {
			return v.check(sub, x, at)
		}
	}
	return ""
}

func anyList(x any) []any {
	list, _ := x.([]any)
	return list
}

// plain is a tree as an editor's YAML reader sees it.
func plain(n *yamlnode.Node) any {
	switch n.Kind {
	case yamlnode.Mapping:
		m := map[string]any{}
		for _, e := range n.Entries {
			m[e.Key.Text.Value] = plain(e.Value)
		}
		return m
	case yamlnode.Sequence:
		list := []any{}
		for _, it := range n.Items {
			list = append(list, plain(it))
		}
		return list
	case yamlnode.Null:
		return nil
	}
	switch n.Tag {
	case "!!bool":
		return n.Text.Value == "true"
	case "!!int", "!!float":
		if f, err := strconv.ParseFloat(n.Text.Value, 64); err == nil {
			return f
		}
		if i, err := strconv.ParseInt(n.Text.Value, 0, 64); err == nil {
			return float64(i)
		}
	}
	return n.Text.Value
}

// good collects the workflow files of the examples, the golden cases and the table of codes that parse without an error,
// with the files beside them.
func good(t testing.TB) map[string]memory {
	t.Helper()
	out := map[string]memory{}
	add := func(name string, files memory) {
		var sink diag.Sink
		if w := Parse(files, name, &sink); w != nil && !sink.HasErrors() {
			out[name] = files
		}
	}
	disk := memory{}
	for _, pattern := range []string{"../examples/*/*.yaml", "../examples/*/*/*.md", "../templates/*/*.yaml", "../templates/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			disk[filepath.ToSlash(name)] = string(text)
		}
	}
	for name := range disk {
		if strings.HasSuffix(name, ".flowgen.yaml") {
			add(name, disk)
		}
	}
	archives, err := filepath.Glob("../golden/native/*.txtar")
	if err != nil || len(archives) < 50 {
		t.Fatal(len(archives), err)
	}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dir, files := filepath.Base(name), memory{}
		for _, f := range a.Files {
			files[dir+"/"+f.Name] = string(f.Data)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".flowgen.yaml") {
				add(dir+"/"+f.Name, files)
			}
		}
	}
	for _, e := range diag.Codes() {
		if strings.HasPrefix(e.Right, "flowgen:") { // not of a dialect
			add(string(e.Code), memory{string(e.Code): e.Right})
		}
	}
	if len(out) < 100 {
		t.Fatalf("%d good files only", len(out))
	}
	return out
}

func treeOf(t testing.TB, text string) *yamlnode.Node {
	t.Helper()
	root, problems := yamlnode.Parse(source.NewFile("x", text))
	if root == nil || len(problems) > 0 {
		t.Fatalf("%v in %s", problems, text)
	}
	return root
}

// TestJSONSchemaAccepts: what the parser accepts, the schema accepts.
func TestJSONSchemaAccepts(t *testing.T) {
	v, root := newValidator(t)
	for name, files := range good(t) {
		if why := v.check(root, plain(treeOf(t, files[name])), ""); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
	for _, text := range []string{
		"flowgen: 1\ntypes: {A: {type: {x: int, type: {type: string}}}, B: {type: enum<a|b>, description: d}}\nsecrets: [A]\nname: a\nnodes: {}\n",
		"flowgen: 1\ntools: {a: {http: 'GET https://example.com'}, b@2: {command: [x], max_output: 2MiB}, c: {command: [x], max_output: 1000}}\n",
		"flowgen: 1\nname: a\nnodes: {a: {llm: fast, prompt: {file: p.md}, out: {x: int}}, b: {agent: r, pins: {h: {tool: s, on_missing: skip}}}}\nedges: ['a -> b']\n",
	} {
		if why := v.check(root, plain(treeOf(t, text)), ""); why != "" {
			t.Errorf("%s: %s", text, why)
		}
	}
}

// TestJSONSchemaRefusesTypos misspells every key of the good files: where the parser says that there is no such key,
// the schema says so, too.
func TestJSONSchemaRefusesTypos(t *testing.T) {
	v, root := newValidator(t)
	typos := 0
	for name, files := range good(t) {
		text := files[name]
		var keys []source.Span
		var walk func(n *yamlnode.Node)
		walk = func(n *yamlnode.Node) {
			for _, e := range n.Entries {
				if e.Key.Style == yamlnode.Plain && e.Key.Alias.IsZero() {
					keys = append(keys, e.Key.Span)
				}
				walk(e.Value)
			}
			for _, it := range n.Items {
				walk(it)
			}
		}
		walk(treeOf(t, text))
		for _, k := range keys {
			wrong := text[:k.Hi] + "z" + text[k.Hi:]
			changed := memory{}
			for n, s := range files {
				changed[n] = s
			}
			changed[name] = wrong
			var sink diag.Sink
			Parse(changed, name, &sink)
			unknown := slices.ContainsFunc(sink.List(), func(d diag.Diagnostic) bool { return d.Code == diag.UnknownKey && d.Span.File.Name == name })
			if !unknown {
				continue // a name, or another mistake altogether
			}
			typos++
			if why := v.check(root, plain(treeOf(t, wrong)), ""); why == "" {
				t.Errorf("%s:%d: the schema knows the key %sz", name, k.Start().Line, k.Text())
			}
		}
	}
	if typos < 1000 {
		t.Errorf("%d typos only", typos)
	}
}

func TestJSONSchemaRefuses(t *testing.T) {
	v, root := newValidator(t)
	for _, text := range []string{
		"name: a\nnodes: {}\n", "flowgen: 2\nname: a\nnodes: {}\n", "flowgen: 1\nnodes: {}\n", "flowgen: 1\nname: a\ninput: {}\n",
		"flowgen: 1\nname: a\nnodes: {a: {}}\n", "flowgen: 1\nname: a\nnodes: {a: {tool: x, let: {}}}\n", "flowgen: 1\nname: A\nnodes: {}\n",
		"flowgen: 1\nname: a\nnodes: {a: {tool: x, timeout: 30}}\n", "flowgen: 1\nname: a\nnodes: {a: {tool: x, join: some}}\n",
		"flowgen: 1\nname: a\nnodes: {a: {map: $x, as: y, parallel: 0, do: {let: {z: 1}}}}\n", "flowgen: 1\nname: a\nnodes: {a: {map: $x, do: {let: {z: 1}}}}\n",
		"flowgen: 1\ntools: {a: {go: x, command: [y]}}\n", "flowgen: 1\ntools: {a: {effects: none}}\n", "flowgen: 1\ntools: {a: {go: x, effects: some}}\n",
		"flowgen: 1\nname: a\nnodes: {}\nedges: [{from: a, too: b}]\n", "flowgen: 1\nname: a\nnodes: {}\npolicy: {max_cost_usd: true}\n", "- a\n", "flowgen: 1\nnamed: a\n",
	} {
		if why := v.check(root, plain(treeOf(t, text)), ""); why == "" {
			t.Errorf("accepted: %s", text)
		}
	}
}

// Every key has a description, and the bytes do not depend on anything.
func TestJSONSchemaIsStable(t *testing.T) {
	a := JSONSchema()
	if !bytes.Equal(a, JSONSchema()) || !bytes.HasSuffix(a, []byte("}\n")) {
		t.Error("written twice, the schema differs")
	}
	_, root := newValidator(t)
	walk := func(at string, s map[string]any) {
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			if doc, _ := p.(map[string]any)["description"].(string); doc == "" {
				t.Errorf("%s.%s has no description", at, name)
			}
		}
	}
	walk("", root)
	for name, d := range root["definitions"].(map[string]any) {
		walk(name, d.(map[string]any))
	}
}

// TestJSONSchemaHints: the default and the examples of each key are values that the key may have, and a key whose description names a
// default has one.
func TestJSONSchemaHints(t *testing.T) {
	v, root := newValidator(t)
	defaults, examples := 0, 0
	look := func(what string, s map[string]any) {
		props, _ := s["properties"].(map[string]any)
		for name, p := range props {
			key, ok := p.(map[string]any)
			if !ok {
				continue
			}
			at := what + "." + name
			unless, has := key["default"]
			if has {
				defaults++
				if why := v.check(key, unless, at); why != "" {
					t.Error(why)
				}
			}
			list, _ := key["examples"].([]any)
			for _, x := range list {
				examples++
				if why := v.check(key, x, at); why != "" {
					t.Error(why)
				}
			}
			doc, _ := key["description"].(string)
			if m := regexp.MustCompile(`(\S+) (?:unless written|\(default\))`).FindStringSubmatch(doc); m != nil && m[1] != "holds" && fmt.Sprint(unless) != strings.Trim(m[1], "`;:,") {
				t.Errorf("%s: the default is %v, and its description says %s", at, unless, doc)
			}
		}
	}
	look("workflow", root)
	for name, d := range v.defs {
		look(name, d.(map[string]any))
	}
	if defaults < 20 || examples < 50 {
		t.Errorf("%d defaults and %d examples", defaults, examples)
	}
}
