package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/parser"
)

// tangle is a workflow whose activation formulas would grow without end: layers of nodes, every one of them behind
// conditions of several in the layer before.
func tangle(layers, width int) string {
	var b strings.Builder
	b.WriteString("flowgen: 1\nname: tangle\n" + tools + "nodes:\n")
	for l := range layers {
		for i := range width {
			fmt.Fprintf(&b, "  n%dx%d: {tool: find}\n", l, i)
		}
	}
	b.WriteString("edges:\n")
	for l := 1; l < layers; l++ {
		for i := range width {
			for k := range 3 {
				from := fmt.Sprintf("n%dx%d", l-1, (i+k*k+l)%width)
				fmt.Fprintf(&b, "  - {from: %s, to: n%dx%d, when: %s.n > %d}\n", from, l, i, from, k)
			}
		}
	}
	fmt.Fprintf(&b, "output: {n: $n0x0.n, last: $n%dx0}\n", layers-1)
	return b.String()
}

// TestTangle checks that a hostile workflow is checked in bounded time, with less proved about it, and planned.
func TestTangle(t *testing.T) {
	sink := &diag.Sink{}
	wf := parser.Parse(one(tangle(40, 25)), mainFile, sink)
	p := check.Check(wf, sink)
	for _, d := range sink.List() {
		if d.Severity == diag.Error {
			t.Fatalf("%v %s", d.Span.Start(), d.Message)
		}
	}
	if p == nil || p.Body.Plan == nil {
		t.Fatal("no plan")
	}
}

// TestLimits checks that what grows with the square of the file is bounded, by one message.
func TestLimits(t *testing.T) {
	var from, to []string
	for i := range 400 {
		from, to = append(from, fmt.Sprintf("n%d", i)), append(to, fmt.Sprintf("n%d", 400+i))
	}
	nodes := func(n int) string {
		var b strings.Builder
		b.WriteString("flowgen: 1\nname: limits\nnodes:\n")
		for i := range n {
			fmt.Fprintf(&b, "  n%d: {let: {n: %d}}\n", i, i)
		}
		return b.String()
	}
	var cases strings.Builder
	for i := range 400 {
		fmt.Fprintf(&cases, "%d: n1, ", i)
	}
	for _, c := range []struct{ name, text, message string }{
		{"edges", nodes(800) + "edges:\n  - " + strings.Join(from, ", ") + " -> " + strings.Join(to, ", ") + "\n", "the graph has more than 100000"},
		{"nodes", nodes(20_001), "more than 20000 nodes"},
		{"cases", nodes(2) + "edges:\n  - {from: n0, switch: n0.n, cases: {" + cases.String() + "}, default: end}\n", "more than 256 cases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sink := &diag.Sink{}
			wf := parser.Parse(one(c.text), mainFile, sink)
			check.Check(wf, sink)
			list := sink.List()
			if len(list) != 1 || list[0].Code != diag.YAMLLimit || !strings.Contains(list[0].Message, c.message) {
				t.Errorf("%d diagnostics: %v", len(list), list[:min(len(list), 3)])
			}
		})
	}
}

// FuzzCheck feeds the checker whatever the parser lets through. It must not panic, and a program has a plan.
func FuzzCheck(f *testing.F) {
	for _, e := range diag.Codes() {
		f.Add(e.Wrong)
		f.Add(e.Right)
	}
	for _, s := range shapes {
		f.Add(s.make(12))
	}
	f.Add(tangle(3, 3))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 || strings.Contains(text, "go") && strings.Contains(text, ".") && (strings.Contains(text, "go:") || strings.Contains(text, "{go")) {
			t.Skip("Go is looked up by running the go command")
		}
		sink := &diag.Sink{}
		wf := parser.Parse(one(text), mainFile, sink)
		if wf == nil {
			return
		}
		p := check.Check(wf, sink)
		if (p == nil) != sink.HasErrors() {
			t.Fatalf("program %v, errors %v", p != nil, sink.HasErrors())
		}
		if p != nil && p.Body.Plan == nil {
			t.Fatal("a program without a plan")
		}
		for _, d := range sink.List() {
			if d.Message == "" || d.Code == "" {
				t.Errorf("an empty diagnostic: %+v", d)
			}
		}
	})
}
