package check_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// shapes are workflows of about n nodes.
var shapes = []struct {
	name string
	make func(n int) string
}{
	{"chain", func(n int) string {
		return large(n, "", func(i int) string { return fmt.Sprintf("{let: {n: %s}}", previous(i, "$n%d.n + 1", "1")) },
			func(i int) string { return fmt.Sprintf("  - n%d -> n%d\n", i-1, i) }, fmt.Sprintf("$n%d.n", n-1))
	}},
	{"inferred chain", func(n int) string {
		return large(n, "", func(i int) string { return fmt.Sprintf("{let: {n: %s}}", previous(i, "$n%d.n + 1", "1")) }, nil, fmt.Sprintf("$n%d.n", n-1))
	}},
	{"inferred writers", func(n int) string {
		return large(n, tools, func(i int) string { return "{tool: store}" }, nil, "1")
	}},
	{"conditional chain", func(n int) string {
		return large(n, "", func(i int) string { return fmt.Sprintf("{let: {n: %s}}", previous(i, "$n%d.n + 1", "1")) },
			func(i int) string { return fmt.Sprintf("  - {from: n%d, to: n%d, when: n%d.n > 0}\n", i-1, i, i-1) }, fmt.Sprintf("\"$default(n%d.n, 0)\"", n-1))
	}},
	{"narrowing chain", func(n int) string {
		return large(n, tools, func(i int) string {
			return fmt.Sprintf("{tool: find, with: {url: %s}}", previous(i, "$n%d.url", "x"))
		}, func(i int) string {
			return fmt.Sprintf("  - {from: n%d, to: n%d, when: n%d.url != null}\n", i-1, i, i-1)
		}, fmt.Sprintf("\"$default(n%d.n, 0)\"", n-1))
	}},
	{"fan-out", func(n int) string {
		return large(n, "", func(i int) string {
			if i == n-1 {
				return "{let: {n: $n1.n}}"
			}
			return fmt.Sprintf("{let: {n: %s}}", map[bool]string{true: "1", false: "$n0.n + 1"}[i == 0])
		}, func(i int) string {
			if i == n-1 {
				return ""
			}
			return fmt.Sprintf("  - n0 -> n%d -> n%d\n", i, n-1)
		}, fmt.Sprintf("$n%d.n", n-1))
	}},
	{"conditional fan-out", func(n int) string {
		return large(n, tools, func(int) string { return "{tool: store}" }, func(i int) string {
			return fmt.Sprintf("  - {from: n0, to: n%d, when: state.n > %d}\n", i, i)
		}, "$state.n")
	}},
	{"diamonds", func(n int) string {
		return large(n, "", func(i int) string {
			switch {
			case i == 0:
				return "{let: {n: 1}}"
			case i%4 == 0:
				return fmt.Sprintf("{let: {n: $n%d.n + n%d.n + n%d.n}}", i-1, i-2, i-3)
			}
			return fmt.Sprintf("{let: {n: $n%d.n}}", i/4*4)
		}, func(i int) string {
			if i%4 != 0 {
				return fmt.Sprintf("  - n%d -> n%d\n", i/4*4, i)
			}
			return fmt.Sprintf("  - n%d, n%d, n%d -> n%d\n", i-1, i-2, i-3, i)
		}, "$n0.n")
	}},
	{"switches", func(n int) string {
		return large(n, tools, func(i int) string {
			if i%4 == 0 {
				return "{tool: find}"
			}
			return "{let: {n: $" + fmt.Sprintf("n%d.n}}", i/4*4)
		}, func(i int) string {
			switch {
			case i%4 == 3:
				return fmt.Sprintf("  - {from: n%d, switch: n%d.kind, cases: {fix: n%d, skip: n%d, ask: n%d}}\n", i-3, i-3, i-2, i-1, i)
			case i%4 == 0:
				return fmt.Sprintf("  - n%d, n%d, n%d -> n%d\n", i-1, i-2, i-3, i)
			}
			return ""
		}, "$n0.n")
	}},
	{"nested switches", func(n int) string {
		return large(n, tools, func(int) string { return "{tool: find}" }, func(i int) string {
			if i%3 != 0 || i < 3 {
				return ""
			}
			return fmt.Sprintf("  - {from: n%d, switch: n%d.kind, cases: {fix: n%d, skip: n%d, ask: n%d}}\n", i-3, i-3, i-2, i-1, i)
		}, "$n0.n")
	}},
	{"one switch of many", func(n int) string {
		var cases strings.Builder
		for i := 1; i < min(n, 250); i++ {
			fmt.Fprintf(&cases, "%d: n%d, ", i, i)
		}
		return large(min(n, 250), tools, func(int) string { return "{tool: find}" }, func(i int) string {
			if i > 1 {
				return ""
			}
			return "  - {from: n0, switch: n0.n, cases: {" + strings.TrimSuffix(cases.String(), ", ") + "}, default: end}\n"
		}, "$n0.n")
	}},
	{"catches", func(n int) string {
		return large(n, tools, func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf("{tool: find, catch: {any: n%d}}", i+1)
			}
			return fmt.Sprintf("{let: {code: $n%d.error.code}}", i-1)
		}, func(i int) string {
			if i%2 == 1 {
				return ""
			}
			return fmt.Sprintf("  - n%d, n%d -> n%d\n", i-2, i-1, i)
		}, "1")
	}},
	{"state", func(n int) string {
		return large(n, tools, func(i int) string { return fmt.Sprintf("{let: {n: $state.n + 1}, set: {n: $n%d.n}}", i) },
			func(i int) string { return fmt.Sprintf("  - n%d -> n%d\n", i-1, i) }, "$state.n")
	}},
	{"state set on the way", func(n int) string {
		return large(n, tools, func(i int) string {
			return fmt.Sprintf("{let: {n: %s}, set: {m: 1}}", previous(i, "$state.m + n%d.n", "1"))
		},
			func(i int) string { return fmt.Sprintf("  - n%d -> n%d\n", i-1, i) }, "$state.m")
	}},
	{"appending fan-out", func(n int) string {
		return large(n, tools, func(i int) string { return fmt.Sprintf("{let: {n: %d}, set: {seen: $n%d.n}}", i, i) },
			func(i int) string { return fmt.Sprintf("  - n0 -> n%d\n", i) }, "$state.seen")
	}},
	{"loops", func(n int) string {
		return large(n, tools, func(int) string { return "{tool: find}" }, func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf("  - {from: n%d, to: n%d, when: n%d.done}\n", i-1, i, i-1)
			}
			return fmt.Sprintf("  - n%d -> n%d\n  - {from: n%d, to: n%d, when: \"!n%d.done\", max: 3}\n", i-1, i, i, i-1, i)
		}, "$n0.n")
	}},
	{"unstructured", func(n int) string {
		return large(n, tools, func(int) string { return "{tool: find}" }, func(i int) string {
			if i < 3 {
				return fmt.Sprintf("  - n%d -> n%d\n", i-1, i)
			}
			return fmt.Sprintf("  - n%d -> n%d\n  - {from: n%d, to: n%d, when: n%d.done}\n", i-2, i, i-3, i, i-3)
		}, "$n0.n")
	}},
}

const tools = `tools:
  find: {command: [find, "{{ url }}"], in: {url: {type: string, default: x}}, out: {n: int, url: opt<string>, kind: enum<fix|skip|ask>, done: bool}, effects: reads}
  store: {command: [store, "{{ n }}"], in: {n: {type: int, default: 1}}, effects: writes}
state: {n: {type: int, init: 0}, m: int, seen: {type: list<int>, merge: append}}
`

func previous(i int, format, first string) string {
	if i == 0 {
		return first
	}
	return fmt.Sprintf(format, i-1)
}

// large writes a workflow of n nodes; edges is nil for none.
func large(n int, sections string, node, edge func(i int) string, output string) string {
	var b strings.Builder
	b.WriteString("flowgen: 1\nname: large\n" + sections + "nodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  n%d: %s\n", i, node(i))
	}
	if edge != nil {
		b.WriteString("edges:\n")
		for i := 1; i < n; i++ {
			b.WriteString(edge(i))
		}
	}
	fmt.Fprintf(&b, "output: {v: %s}\n", output)
	return b.String()
}

// one is a file system of one file.
type one string

func (o one) ReadFile(name string) ([]byte, error) {
	if name != mainFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(o), nil
}

// TestLarge checks that large workflows are workflows like others: no errors, and every node in the plan.
func TestLarge(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			sink := &diag.Sink{}
			wf := parser.Parse(one(s.make(400)), mainFile, sink)
			bind.Resolve(wf, bind.Options{}, sink)
			p := check.Check(wf, sink)
			for _, d := range sink.List() {
				if d.Severity == diag.Error {
					t.Fatalf("%d: %s", d.Span.Start().Line, d.Message)
				}
			}
			count := 0
			var walk func(p *check.Plan)
			walk = func(p *check.Plan) {
				if p.Kind == check.Leaf {
					count++
				}
				for _, k := range p.Kids {
					walk(k)
				}
			}
			walk(p.Body.Plan)
			if count != len(p.Body.Steps) {
				t.Errorf("%d of %d nodes are planned", count, len(p.Body.Steps))
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(s.name, " ", "_"), n), func(b *testing.B) {
				sink := &diag.Sink{}
				wf := parser.Parse(one(s.make(n)), mainFile, sink)
				bind.Resolve(wf, bind.Options{}, sink)
				if sink.HasErrors() {
					b.Fatal(sink.List()[0].Message)
				}
				b.ReportAllocs()
				for b.Loop() {
					sink := &diag.Sink{}
					if check.Check(wf, sink) == nil {
						b.Fatal(sink.List()[0].Message)
					}
				}
			})
		}
	}
}
