package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// A routed graph is a random graph of Stargraph whose nodes write a letter each, with what the engine's routing makes of
// it. Rules test how long the trace is in the last field that it was copied to, and a bool and an int that do not change.
type routed struct {
	rules [][]routedRule // by node
	done  bool
	count int
}

type routedRule struct {
	value  string // of the field v; "": it is not tested
	done   string
	count  string
	halt   bool
	target int
	every  bool // it names no node
	text   bool // in CLIPS
}

const maxRoutedSteps = 60

// randomGraph makes a graph that ends.
func randomGraph(r *rand.Rand) (*routed, []int) {
	for {
		n := 2 + r.IntN(6)
		g := &routed{rules: make([][]routedRule, n), done: r.IntN(2) == 0, count: r.IntN(3)}
		for i := range g.rules {
			for range r.IntN(4) {
				rule := routedRule{halt: r.IntN(5) == 0, target: r.IntN(n), every: r.IntN(12) == 0, text: r.IntN(2) == 0}
				if r.IntN(5) > 0 {
					rule.value = strings.Repeat("x", r.IntN(7)) + "."
				}
				if r.IntN(4) == 0 {
					rule.done = []string{"True", "False", "yes"}[r.IntN(3)]
				}
				if r.IntN(4) == 0 {
					rule.count = strconv.Itoa(r.IntN(3))
				}
				g.rules[i] = append(g.rules[i], rule)
			}
		}
		if trace := g.run(); trace != nil {
			return g, trace
		}
	}
}

// run is what the engine does: a tick runs a node and then the rules; a halt counts before a goto, and the first of its
// kind. It is nil when there is no end.
func (g *routed) run() []int {
	var trace []int
	for at := 0; at >= 0; {
		if len(trace) == maxRoutedSteps {
			return nil
		}
		trace = append(trace, at)
		at = g.next(at, strings.Repeat("x", len(trace))+".")
	}
	return trace
}

func (g *routed) next(at int, v string) int {
	to, found := at+1, false
	for i, rules := range g.rules {
		for _, r := range rules {
			if !r.every && i != at || r.value != "" && r.value != v || r.done != "" && r.done != map[bool]string{true: "True", false: "False"}[g.done] ||
				r.count != "" && r.count != strconv.Itoa(g.count) {
				continue
			}
			if r.halt {
				return -1
			}
			if !found {
				to, found = r.target, true
			}
		}
	}
	if to == len(g.rules) {
		return -1
	}
	return to
}

// document is the graph as an IR document.
func (g *routed) document(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ir_version: 1.1.0\nid: %s\nstate_schema: {v: str, trace: str, done: bool, count: int}\nnodes:\n", name)
	for i := range g.rules {
		fmt.Fprintf(&b, "  - {id: n%d, kind: tool, config: {tool: desk.add@1, inputs: {v: v}, static: {letter: %d}, out: v}}\n", i, i)
	}
	b.WriteString("rules:\n")
	n := 0
	for i, rules := range g.rules {
		for _, r := range rules {
			n++
			fmt.Fprintf(&b, "  - id: r%d\n    when: %s\n    then: [", n, r.when(i))
			if r.halt {
				b.WriteString("{kind: halt}]\n")
			} else {
				fmt.Fprintf(&b, "{kind: goto, target: n%d}]\n", r.target)
			}
		}
	}
	return b.String()
}

func (r *routedRule) when(node int) string {
	var all []string
	add := func(name, value string) {
		switch {
		case value == "":
		case r.text:
			all = append(all, "("+name+` (value "`+value+`"))`)
		default:
			all = append(all, name+": "+strconv.Quote(value))
		}
	}
	switch {
	case r.every:
	case r.text:
		all = append(all, fmt.Sprintf("?n <- (node-id (id n%d))", node))
	default:
		all = append(all, fmt.Sprintf("node: n%d", node))
	}
	add("v", r.value)
	add("done", r.done)
	add("count", r.count)
	switch {
	case r.text && len(all) == 0:
		return "'(node-id (id ?x))'"
	case r.text:
		return "'" + strings.Join(all, " ") + "'"
	case len(all) == 0:
		return "'(node-id)'"
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// TestRouting: random graphs, with every shape of loop, go where the engine goes.
func TestRouting(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	d, ok := parser.LanguageOf("stargraph")
	if !ok {
		t.Skip("the dialect is not there")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	const tool = "def add(v: str, letter: int) -> str:\n    print(letter)\n    return v.replace('.', 'x') + '.'\n"
	s := &suite{Language: d}
	var cases []*testcase
	var want [][]string // the nodes that run
	machines := 0
	for seed := range 24 {
		g, trace := randomGraph(rand.New(rand.NewPCG(7, uint64(seed))))
		name := fmt.Sprintf("random%d", seed)
		c := &testcase{suite: s, name: name, dir: s.Name + "/" + name, archive: &txtar.Archive{Files: []txtar.File{
			{Name: "graph.yaml", Data: []byte(g.document(name))}, {Name: "desk.py", Data: []byte(tool)},
			{Name: "flowgen.bindings.yaml", Data: []byte("flowgen: 1\ntools:\n  desk.add@1: {python: \"desk:add\", effects: none}\n")},
		}}}
		c.compile()
		for _, d := range c.list {
			if d.Severity == diag.Error {
				t.Fatalf("%s\n%s: %s", g.document(name), d.Span.Text(), d.Message)
			}
		}
		c.generate(t)
		if strings.Contains(c.code, "runNode") {
			machines++
		}
		cases = append(cases, c)
		var ids []string
		for _, at := range trace {
			ids = append(ids, fmt.Sprintf("n%d", at))
		}
		want = append(want, ids)
		g.archive(c)
	}
	t.Logf("%d of %d graphs are machines", machines, len(cases))
	exe := link(t, t.TempDir(), cases)
	for i, c := range cases {
		dir := t.TempDir()
		for _, f := range c.archive.Files {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(exe, c.dir, "{}")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, c.archive.Files[0].Data)
		}
		line, keys, _ := strings.Cut(string(out), "\n")
		var made struct{ V string }
		if err := json.Unmarshal([]byte(line), &made); err != nil || made.V != strings.Repeat("x", len(want[i]))+"." {
			t.Errorf("%s\ngives %s, want %v\n%s", c.archive.Files[0].Data, line, want[i], c.code)
		}
		var went []string
		for key := range strings.Lines(keys) {
			went = append(went, strings.TrimSpace(key[strings.LastIndexAny(key, "/ ")+1:]))
		}
		slices.Sort(went)
		if slices.Sort(want[i]); !slices.Equal(went, want[i]) {
			t.Errorf("%s\nruns %v, want %v", c.archive.Files[0].Data, went, want[i])
		}
	}
}

// archive adds the inputs of the graph to its case.
func (g *routed) archive(c *testcase) {
	c.archive.Files = append(c.archive.Files, txtar.File{Name: "inputs.jsonl", Data: fmt.Appendf(nil, `{"v":".","trace":"","done":%t,"count":%d}`+"\n", g.done, g.count)})
}
