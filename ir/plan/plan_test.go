package plan_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/plan"
	"github.com/flowgen-dev/flowgen/parser"
)

type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	if s, ok := f[name]; ok {
		return []byte(s), nil
	}
	return nil, errors.New("no such file")
}

// program checks a workflow without binding it: Go functions have unknown types.
func program(fs files, name string) (*check.Program, *diag.Sink) {
	sink := &diag.Sink{}
	w := parser.Parse(fs, name, sink)
	if w == nil {
		return nil, sink
	}
	return check.Check(w, sink), sink
}

func of(t *testing.T, fs files) *plan.Plan {
	t.Helper()
	p, sink := program(fs, "w.flowgen.yaml")
	if p == nil {
		t.Fatal(sink.List())
	}
	return plan.Of(p)
}

const head = `flowgen: 1
name: w
input: {n: int, xs: list<string>, mode: enum<a|b|c>}
tools:
  get: {command: [x], out: string, effects: reads}
  put: {command: [y], out: none, effects: writes}
`

func TestWorst(t *testing.T) {
	const timed = ", timeout: 10s"
	tests := []struct {
		name, nodes   string
		get, put, all string // "" is no such tool, "-" is unbounded
		time          string
		why           []string
	}{
		{"nothing", "nodes: {a: {let: {x: $input.n}}}\n", "", "", "0", "0s", nil},
		{"one", "nodes: {a: {tool: get" + timed + "}}\n", "1", "", "1", "10s", nil},
		{"no timeout", "nodes: {a: {tool: get}}\n", "1", "", "1", "5m0s", nil},
		{"defaults", "defaults: {retry: {attempts: 2, backoff: constant, base: 1s, timeout: 5s}}\nnodes: {a: {tool: get}, b: {tool: put}}\nedges: [a -> b]\n", "2", "1", "3", "16s", nil},
		{"attempts", "nodes: {a: {tool: get, retry: {attempts: 5, base: 1s, cap: 3s, timeout: 10s}}}\n", "5", "", "5", "59s", nil}, // 50 + 1 + 2 + 3 + 3
		{"attempts within a bound", "nodes: {a: {tool: get" + timed + ", retry: {attempts: 5}}}\n", "5", "", "5", "10s", nil},
		{"attempts that end before the bound", "nodes: {a: {tool: get" + timed + ", retry: {attempts: 2, base: 1s, timeout: 2s}}}\n", "2", "", "2", "5s", nil},
		{"attempts of the defaults, a bound of the node", "defaults: {retry: {attempts: 2, backoff: constant, base: 1s, timeout: 5s}}\nnodes: {a: {tool: get, retry: {timeout: 7s}}, b: {tool: get" + timed + "}}\nedges: [a -> b]\n", "4", "", "4", "25s", nil},
		{"after each other", "nodes: {a: {tool: get" + timed + "}, b: {tool: put" + timed + "}}\nedges: [a -> b]\n", "1", "1", "2", "20s", nil},
		{"in parallel", "nodes: {s: {let: {x: 1}}, a: {tool: get" + timed + "}, b: {tool: put, timeout: 1m}}\nedges: [s -> a, s -> b]\n", "1", "1", "2", "1m0s", nil},
		{"a choice", "nodes:\n  s: {let: {x: $input.n}}\n  a: {tool: get" + timed + "}\n  b: {tool: put, timeout: 1m}\n  c: {tool: get, retry: {attempts: 3, backoff: constant, base: 1s, timeout: 1s}}\n" +
			"edges:\n  - {from: s, switch: input.mode, cases: {a: a, b: b, c: c}}\n", "3", "1", "3", "1m0s", nil},
		{"a condition", "nodes: {s: {let: {x: $input.n}}, a: {tool: get" + timed + "}}\nedges: [{from: s, to: a, when: s.x > 1}]\n", "1", "", "1", "10s", nil},
		{"a map", "nodes: {m: {map: $input.xs, as: x, parallel: 4, max_items: 10, do: {tool: get" + timed + "}}}\n", "10", "", "10", "30s", nil},
		{"a map as it is", "nodes: {m: {map: $input.xs, as: x, do: {tool: get, timeout: 1s}}}\n", "1000", "", "1000", "2m5s", nil},
		{"a map without bound", "nodes: {m: {map: $input.xs, as: x, max_items: unbounded, do: {tool: get" + timed + "}}}\n", "-", "", "-", "-", []string{"m has no bound on its items"}},
		{"a map of nothing without bound", "nodes: {m: {map: $input.xs, as: x, max_items: unbounded, do: {let: {y: $x}}}}\noutput: {m: $m}\n", "", "", "0", "0s", nil},
		{"a loop", "nodes: {l: {loop: {until: \"size(l) > 3\", max: 7}, do: {tool: get" + timed + "}}}\n", "7", "", "7", "1m10s", nil},
		{"a loop without bound", "nodes: {l: {loop: {until: \"size(l) > 3\", max: unbounded}, do: {tool: get" + timed + "}}}\n", "-", "", "-", "-", []string{"l is unbounded"}},
		{"an edge back", "nodes: {a: {tool: get" + timed + "}, b: {tool: put" + timed + "}}\nedges: [a -> b, {from: b, to: a, when: size(a) > 3, max: 4, exhausted: end}]\n", "4", "4", "8", "1m20s", nil},
		{"an edge back without bound", "nodes: {a: {tool: get" + timed + "}, b: {let: {n: $size(a)}}}\nedges: [a -> b, {from: b, to: a, when: b.n > 3, max: unbounded}]\n", "-", "", "-", "-", []string{"the edge from b back to a is unbounded"}},
		{"an agent", "models: {m: \"ollama:m\"}\nnodes: {a: {agent: m, prompt: x, tools: [get]}}\n", "25", "", "35", "1h40m0s", nil},
		{"an agent without tools", "models: {m: \"ollama:m\"}\nnodes: {a: {agent: m, prompt: x, retry: {timeout: 2s}, policy: {max_iterations: 3}}}\n", "", "", "3", "6s", nil},
		{"an agent within a bound", "models: {m: \"ollama:m\"}\nnodes: {a: {agent: m, prompt: x, tools: [get], timeout: 2m}}\n", "25", "", "35", "2m0s", nil},
		{"an agent within the workflow's bound", "models: {m: \"ollama:m\"}\npolicy: {max_iterations: 4}\nnodes: {a: {agent: m, prompt: x, retry: {timeout: 2s}, policy: {max_iterations: unbounded}}}\n", "", "", "4", "8s", nil},
		{"an agent without bound", "models: {m: \"ollama:m\"}\nnodes: {a: {agent: m, prompt: x, tools: [put], policy: {max_iterations: unbounded, max_tool_calls: unbounded}}}\n", "", "-", "-", "-",
			[]string{"a may ask its model without bound", "a may call its tools without bound"}},
		{"too large", "nodes: {l: {loop: {max: 2000000000}, do: {nodes: {m: {loop: {max: 2000000000}, do: {tool: get" + timed + "}}}, result: {x: $m}}}}\n", "-", "", "-", "-", []string{"the bounds multiply to more than can be said"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := of(t, files{"w.flowgen.yaml": head + tt.nodes})
			got := map[string]string{}
			number := func(b plan.Bound) string {
				j, _ := json.Marshal(b)
				return strings.Replace(string(j), "null", "-", 1)
			}
			for _, c := range p.AtMost.Calls {
				got[c.Tool] = number(c.AtMost)
			}
			time := "-"
			if p.AtMost.Time != nil {
				time = *p.AtMost.Time
			}
			if got["w.get@1"] != tt.get || got["w.put@1"] != tt.put || number(p.AtMost.Total) != tt.all || time != tt.time {
				t.Errorf("get %s, put %s, in all %s, %s", got["w.get@1"], got["w.put@1"], number(p.AtMost.Total), time)
			}
			if diff := cmp.Diff(append([]string{}, tt.why...), p.AtMost.Unbounded); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A workflow that runs another twice, which runs another twice, and so on: the plan has each once and the numbers are right.
func TestFlows(t *testing.T) {
	fs := files{}
	for i := range 12 {
		name := "f" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		next := "f" + string(rune('a'+(i+1)/26)) + string(rune('a'+(i+1)%26))
		body := "nodes: {a: {flow: " + next + ".flowgen.yaml}, b: {flow: " + next + ".flowgen.yaml}}\n"
		if i == 11 {
			body = "tools: {get: {command: [x], effects: reads}}\nnodes: {a: {tool: get, timeout: 1ms}}\n"
		}
		fs[name+".flowgen.yaml"] = "flowgen: 1\nname: " + name + "\n" + body
	}
	fs["w.flowgen.yaml"] = fs["faa.flowgen.yaml"]
	p := of(t, fs)
	if len(p.Flows) != 11 || len(p.AtMost.Calls) != 1 || p.AtMost.Total.N != 1<<11 {
		t.Errorf("%d flows, %+v", len(p.Flows), p.AtMost)
	}
	if len(p.JSON()) > 5_000 {
		t.Errorf("%d bytes of JSON", len(p.JSON()))
	}
}

// TestEveryStepOnce: in the plans of all golden workflows each step stands exactly once.
func TestEveryStepOnce(t *testing.T) {
	archives, err := filepath.Glob("../../golden/native/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	kinds := map[string]bool{}
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fs, main := files{}, ""
		for _, f := range a.Files {
			fs[f.Name] = string(f.Data)
			if main == "" && strings.HasSuffix(f.Name, ".flowgen.yaml") {
				main = f.Name
			}
		}
		p, _ := program(fs, main)
		if p == nil {
			continue // mistakes, or it cannot do without the Go it names
		}
		programs++
		out := plan.Of(p)
		var got, want []string
		var walk func(list []*plan.Part)
		walk = func(list []*plan.Part) {
			for _, x := range list {
				kinds[x.Kind] = true
				if x.Node != "" {
					got = append(got, x.Node)
				}
				if x.Undo != nil {
					walk([]*plan.Part{x.Undo})
				}
				walk(x.Parts)
			}
		}
		walk(out.Parts)
		for _, f := range out.Flows {
			walk(f.Parts)
		}
		for _, s := range p.Table {
			want = append(want, s.Node.ID.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", main, diff)
		}
		if text := out.JSON(); text != plan.Of(p).JSON() || !json.Valid([]byte(text)) || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", main, text)
		}
	}
	if programs < 40 {
		t.Errorf("%d programs only", programs)
	}
	for _, k := range []string{"step", "if", "choose", "parallel", "scheduled", "repeat", "sequence"} {
		if !kinds[k] {
			t.Errorf("no golden has a %s", k)
		}
	}
}
