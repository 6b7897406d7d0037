package parser

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// migrated migrates a workflow file, twice.
func migrated(t testing.TB, text string, secrets ...string) string {
	t.Helper()
	var sink diag.Sink
	out, _, ok, err := Migrate(source.NewFile("x.flowgen.yaml", text), secrets, &sink)
	if err != nil || !ok {
		t.Fatalf("%v %v in\n%s", err, sink.List(), text)
	}
	again, done, _, err := Migrate(source.NewFile("x.flowgen.yaml", out), secrets, &sink)
	if err != nil || again != out || len(done) > 0 {
		t.Errorf("migrated again (%v %v): %s", done, err, cmp.Diff(out, again))
	}
	return out
}

func TestMigrate(t *testing.T) {
	const head = "flowgen: 1\nname: a\n"
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", "nodes:   {a: {tool: t}} # c\n", "nodes:   {a: {tool: t}} # c\n"},
		{"effects", "tools: {a: {go: x, effects: 'read', in: {effects: read}}}\npolicy: {effects: [read, \"write\", none]}\nagents: {b: {policy: {effects: write}}}\nnodes:\n  c: {map: $x, as: y, do: {nodes: {d: {agent: b, with: {effects: write}, policy: {effects: [write]}}}}}\n",
			"tools: {a: {go: x, effects: 'reads', in: {effects: read}}}\npolicy: {effects: [reads, \"writes\", none]}\nagents: {b: {policy: {effects: writes}}}\nnodes:\n  c: {map: $x, as: y, do: {nodes: {d: {agent: b, with: {effects: write}, policy: {effects: [writes]}}}}}\n"},
		{"status", "state: {state: int}\ntools:\n  a:\n    state: active # s\n    in: {state: int}\n", "state: {state: int}\ntools:\n  a:\n    status: active # s\n    in: {state: int}\n"},
		{"secrets of commands", "secrets: [A, B]\ntools:\n  x: {command: [x], env: {A: A, B: \"B\", C: C, D: 'x {{ A }}'}}\n",
			"secrets: [A, B]\ntools:\n  x: {command: [x], env: {A: {secret: A}, B: {secret: B}, C: C, D: 'x {{ A }}'}}\n"},
		{"secrets in a mapping", "secrets: {A: , B: {from: [org]}}\ntools:\n  x:\n    env:\n      A: A   # of a\n      B: B\n",
			"secrets: {A: , B: {from: [org]}}\ntools:\n  x:\n    env:\n      A: {secret: A}   # of a\n      B: {secret: B}\n"},
		{"secrets of files that include it", "tools:\n  x: {command: [x], env: {A: OUTER}}\n", "tools:\n  x: {command: [x], env: {A: {secret: OUTER}}}\n"},
		{"secrets of servers", "servers: {s: {command: [s], env: {T: ANY}}}\n", "servers: {s: {command: [s], env: {T: {secret: ANY}}}}\n"},
		{"arguments", "nodes:\n  a: {tool_call: $input.x, args: {args: 1}}\n  b: {tool: t, with: {args: 2}}\n", "nodes:\n  a: {tool_call: $input.x, with: {args: 1}}\n  b: {tool: t, with: {args: 2}}\n"},
		{"failures", "agents: {r: {pins: {p: {tool: t, on_missing: error}}}}\nnodes:\n  a: {map: $x, as: i, on_item_error: \"drop\", do: {agent: r, pins: {p: {tool: t, on_missing: null}, q: {on_missing: stale_last_success}}}}\n",
			"agents: {r: {pins: {p: {tool: t, on_missing: fail}}}}\nnodes:\n  a: {map: $x, as: i, on_item_error: \"skip\", do: {agent: r, pins: {p: {tool: t, on_missing: skip}, q: {on_missing: keep}}}}\n"},
		{"tokens", "policy:\n  max_tokens: 5\nmodels: {m: {max_tokens: 6}}\nnodes: {a: {agent: m, policy: {max_tokens: 7}}}\n",
			"policy:\n  max_total_tokens: 5\nmodels: {m: {max_tokens: 6}}\nnodes: {a: {agent: m, policy: {max_total_tokens: 7}}}\n"},
		{"any", "nodes:\n  a: {let: {x: 1}, join: any}\n  b:\n    join: any # of one\n    let: {x: 1}\n  c:\n    let: {x: 1}\n    join: any\n  d: {join: any, let: {x: 1}}\n",
			"nodes:\n  a: {let: {x: 1}}\n  b:\n    # of one\n    let: {x: 1}\n  c:\n    let: {x: 1}\n  d: {let: {x: 1}}\n"},
		{"all without edges", "nodes:\n  a: {let: {x: 1}}\n  b: {let: {x: $a.x}, join: all}\n", "nodes:\n  a: {let: {x: 1}}\n  b: {let: {x: $a.x}}\n"},
		{"all of two", "nodes:\n  a: {let: {x: 1}}\n  b: {let: {x: 1}}\n  c: {let: {x: 1}, join: all}\nedges:\n  - {from: start, to: a, when: input.x}\n  - {from: start, to: b, when: input.y}\n  - a, b -> c -> end # c\n",
			"nodes:\n  a: {let: {x: 1}}\n  b: {let: {x: 1}}\n  c: {let: {x: 1}, when: a != null && b != null}\nedges:\n  - {from: start, to: a, when: input.x}\n  - {from: start, to: b, when: input.y}\n  - a, b -> c\n  - {from: c, to: end, when: c != null} # c\n"},
		{"all of one that may not run", "nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}, join: all}}\nedges: [{from: start, to: a, when: input.x}, b -> c, a -> c]\n",
			"nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}, when: a != null}}\nedges: [{from: start, to: a, when: input.x}, b -> c, a -> c]\n"},
		{"all of what runs together", "nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}, join: all}}\nedges: [{from: start, to: [a, b], when: input.x}, \"a, b -> c\"]\n",
			"nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}}}\nedges: [{from: start, to: [a, b], when: input.x}, \"a, b -> c\"]\n"},
		{"conditions and a condition of its own", "nodes: {a: {let: {x: 1}}, c: {let: {x: 1}, join: all, when: a.x > 1 || input.z}}\nedges: [{from: a, to: c, when: \"a.x == 1 ? input.b : true\"}, {from: start, to: c, when: input.y}]\n",
			"nodes: {a: {let: {x: 1}}, c: {let: {x: 1}, when: \"(a.x == 1 ? input.b : true) && input.y && (a.x > 1 || input.z)\"}}\nedges: [{from: a, to: c, when: \"a.x == 1 ? input.b : true\"}, {from: start, to: c, when: input.y}]\n"},
		{"a switch", "nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}, join: all}}\nedges: [{from: start, switch: input.k, cases: {one: [a, c], two: b}}, a -> c, b -> c]\n",
			"nodes: {a: {let: {x: 1}}, b: {let: {x: 1}}, c: {let: {x: 1}, when: \"input.k == \\\"one\\\" && a != null && b != null\"}}\nedges: [{from: start, switch: input.k, cases: {one: [a, c], two: b}}, a -> c, b -> c]\n"},
		{"a failure, for a person", "nodes: {a: {tool: t, catch: {any: c}}, b: {let: {x: 1}}, c: {let: {x: 1}, join: all}}\nedges: [a -> b -> c]\n",
			"nodes: {a: {tool: t, catch: {any: c}}, b: {let: {x: 1}}, c: {let: {x: 1}, join: all}}\nedges: [a -> b -> c]\n"},
		{"timeouts of one attempt", "nodes:\n  a: {tool: t, timeout: 5s, retry: {attempts: 1}} # c\n  b: {tool: t, timeout: 5s}\n  c: {human: q, timeout: 5s}\n  d: {llm: m, prompt: p, timeout: 5s}\n", "nodes:\n  a: {tool: t, timeout: 5s, retry: {attempts: 1}} # c\n  b: {tool: t, timeout: 5s}\n  c: {human: q, timeout: 5s}\n  d: {llm: m, prompt: p, timeout: 5s}\n"},
		{"timeouts of attempts", "nodes:\n  a: {tool: t, timeout: 5s, retry: {attempts: 2}}\n  b:\n    tool: t\n    timeout: 5s # five\n    retry:\n      attempts: 3 # three\n      base: 1s\n    catch: {any: end}\n  c: {agent: m, timeout: \"5m\", prompt: p}\n  d: {map: $x, as: i, do: {llm: m, retry: {attempts: 1}, reask: 1, timeout: 5s}}\n",
			"nodes:\n  a: {tool: t, retry: {attempts: 2, timeout: 5s}}\n  b:\n    tool: t\n    # five\n    retry:\n      attempts: 3 # three\n      base: 1s\n      timeout: 5s\n    catch: {any: end}\n  c: {agent: m, retry: {timeout: \"5m\"}, prompt: p}\n  d: {map: $x, as: i, do: {llm: m, retry: {attempts: 1, timeout: 5s}, reask: 1}}\n"},
		{"timeouts of defaults", "defaults: {timeout: 5s, retry: {attempts: 2}}\nnodes: {a: {tool: t, timeout: 6s}, b: {tool: t, retry: {attempts: 1}}, c: {tool: t}}\n",
			"defaults: {retry: {attempts: 2, timeout: 5s}}\nnodes: {a: {tool: t, retry: {timeout: 6s}}, b: {tool: t, retry: {attempts: 1}}, c: {tool: t}}\n"},
		{"timeouts of defaults for an agent", "defaults:\n  timeout: 5s\n  on_error: skip\nnodes: {a: {agent: m}, b: {tool: t}}\n", "defaults:\n  retry: {timeout: 5s}\n  on_error: skip\nnodes: {a: {agent: m}, b: {tool: t}}\n"},
		{"timeouts of defaults for single calls", "defaults: {timeout: 5s}\nnodes: {a: {agent: m, timeout: 1s}, b: {tool: t}}\n", "defaults: {timeout: 5s}\nnodes: {a: {agent: m, retry: {timeout: 1s}}, b: {tool: t}}\n"},
		{"timeouts of today", "nodes: {a: {tool: t, timeout: 5s, retry: {attempts: 2}}, b: {tool: t, retry: {timeout: 1s}}}\n", "nodes: {a: {tool: t, timeout: 5s, retry: {attempts: 2}}, b: {tool: t, retry: {timeout: 1s}}}\n"},
		{"values of requests", "tools:\n  a: {http: {url: \"https://a.b/\", query: {a: \"{{ a }}\", b: \"x{{ a }}\", c: '{{ a | upper }}', d: \"{{a}}{{b}}\", e: {}}, headers: {X-A: \"{{ a.b }}\", X-B: \"{{ a + 1 }}\", X-C: plain}, body: {a: \"{{ a }}\"}}}\n  b: {http: \"GET https://a.b/\"}\n  c: {command: [\"{{ a }}\"]}\n",
			"tools:\n  a: {http: {url: \"https://a.b/\", query: {a: $a, b: \"x{{ a }}\", c: '{{ a | upper }}', d: \"{{a}}{{b}}\", e: {}}, headers: {X-A: $a.b, X-B: \"$a + 1\", X-C: plain}, body: {a: \"{{ a }}\"}}}\n  b: {http: \"GET https://a.b/\"}\n  c: {command: [\"{{ a }}\"]}\n"},
		{"text of Python", "input: {n: int, f: {type: float}, k: {type: enum<a|b>}}\nstate: {s: string}\nnodes:\n  a: {let: \"{{ input.n | python }} {{ input.f | python }} {{input.k|python}}\"} # {{ input.f | python }}\n  b:\n    let: |\n      {{ state.s | python }}\n      {{ state.s | json }}\noutput: {o: \"{{ input.n | python }}\"}\n",
			"input: {n: int, f: {type: float}, k: {type: enum<a|b>}}\nstate: {s: string}\nnodes:\n  a: {let: \"{{ input.n }} {{ input.f | python }} {{input.k}}\"} # {{ input.f | python }}\n  b:\n    let: |\n      {{ state.s }}\n      {{ state.s | json }}\noutput: {o: \"{{ input.n }}\"}\n"},
		{"aliases", "nodes:\n  a: &a {tool_call: $x, args: {q: 1}}\n  b: *a\n", "nodes:\n  a: &a {tool_call: $x, with: {q: 1}}\n  b: *a\n"},
		{"line ends of Windows", "nodes:\r\n  a: {let: {x: 1}}\r\n  b:\r\n    let: {x: 1}\r\n    join: any\r\n", "nodes:\r\n  a: {let: {x: 1}}\r\n  b:\r\n    let: {x: 1}\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(head+tt.want, migrated(t, head+tt.in, "OUTER")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMigratePrompt(t *testing.T) {
	for in, want := range map[string]string{
		"Hello\nwith: x\n": "Hello\nwith: x\n",
		"---\nsystem: s\nwith: {x: int} # c\n---\nwith: {{ x }}\n": "---\nsystem: s\nin: {x: int} # c\n---\nwith: {{ x }}\n",
		"\ufeff---\r\nwith:\r\n  with: int\r\n---  \r\nA":          "\ufeff---\r\nin:\r\n  with: int\r\n---  \r\nA",
		"---\n- with\n---\nA": "---\n- with\n---\nA",
	} {
		out, _, err := MigratePrompt(source.NewFile("p.md", in), &diag.Sink{})
		if err != nil || out != want {
			t.Errorf("%v %s", err, cmp.Diff(want, out))
		}
		if again, done, err := MigratePrompt(source.NewFile("p.md", out), &diag.Sink{}); again != out || len(done) > 0 || err != nil {
			t.Errorf("again: %q %v %v", again, done, err)
		}
	}
}

func TestServes(t *testing.T) {
	includes, prompts, secrets := Serves(source.NewFile("x", "flowgen: 1\ninclude: [a.yaml, b.yaml]\nsecrets: {A: , B: }\nagents: {r: {system: {file: s.md}}}\nnodes:\n  m: {map: $x, as: i, do: {llm: x, prompt: {file: p.md}}}\n"))
	if got := strings.Join(append(append(includes, prompts...), secrets...), " "); got != "a.yaml b.yaml p.md s.md A B" {
		t.Error(got)
	}
}
