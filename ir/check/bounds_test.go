package check

import (
	"testing"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// TestDiagramLimits: a diagram is full when a node more than its limit is asked for, or a child more than there may be.
func TestDiagramLimits(t *testing.T) {
	d := newDiagram(4) // two of them are never and always
	for range 3 {
		d.decide(2)
	}
	a, b := d.is(0, 0), d.is(1, 0)
	if a == unknown || b == unknown || d.full {
		t.Fatal("full below its limit")
	}
	if d.is(0, 0) != a || d.full {
		t.Error("what is known takes no room")
	}
	if d.is(2, 0) != unknown || !d.full {
		t.Error("not full at its limit")
	}

	d = newDiagram(100)
	d.kids = maxKids - 4
	for range 3 {
		d.decide(2)
	}
	if d.is(0, 0) == unknown || d.is(1, 0) == unknown || d.full {
		t.Error("full before the last child")
	}
	if d.is(2, 0) != unknown || !d.full {
		t.Error("a child more than there may be")
	}
}

func TestSupportIsBounded(t *testing.T) {
	d := newDiagram(100)
	f := always
	for range 5 {
		d.decide(2)
	}
	for i := range 5 {
		f = d.and(f, d.is(i, 0))
	}
	if got := d.support(f, 5); len(got) != 5 {
		t.Errorf("%d decisions in five nodes", len(got))
	}
	if got := d.support(f, 4); got != nil {
		t.Errorf("four nodes were enough for %v", got)
	}
}

// TestWeakBody: when the diagram is full, what follows from one plain edge is still known, and who catches knows what has failed.
func TestWeakBody(t *testing.T) {
	m := &model{body: &ir.Body{EdgesWritten: true}, ids: map[string]int{}}
	for i := range 7 {
		m.ids[name(i).Name] = i
		m.body.Nodes = append(m.body.Nodes, &ir.Node{ID: name(i), Verb: &ir.ToolCall{}, Result: schema.StringType})
	}
	edge := func(from, to int, when string) {
		e := &ir.Edge{From: name(from), To: []ir.Ident{name(to)}}
		if when != "" {
			e.When = expression(when)
		}
		m.body.Edges = append(m.body.Edges, e)
	}
	edge(0, 1, "")
	edge(1, 2, "w0")
	edge(1, 3, "w1")
	edge(2, 4, "w0")
	edge(3, 4, "w1")
	edge(4, 5, "")
	m.body.Nodes[5].Catch = []*ir.Catch{{Code: ident("any"), Target: name(6)}}
	b, _ := m.checked(3)
	if b == nil || !b.weak {
		t.Fatal("the body is not weak")
	}
	step := func(i int) *Step { return b.Steps[i] }
	for _, tt := range []struct {
		what      string
		s, reader *Step
		want      presence
		caught    bool
	}{
		{"the first, at the end", step(0), nil, present, false},
		{"the one behind it, at the end", step(1), nil, present, false},
		{"a conditional one, at the end", step(2), nil, perhaps, false},
		{"one that every way leads over", step(4), step(5), present, false},
		{"one of two ways", step(2), step(4), perhaps, false},
		{"what has failed", step(5), step(6), absent, true},
		{"what led there", step(4), step(6), present, false},
	} {
		at := always
		if tt.reader != nil {
			at = tt.reader.act
		}
		if got := b.seen(tt.s, tt.reader, at); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, got, tt.want)
		}
		if got := b.caught(tt.s, tt.reader, at); got != tt.caught {
			t.Errorf("%s: caught: %v", tt.what, got)
		}
	}
	for _, tt := range []struct {
		setter, reader *Step
		want           bool
	}{{step(4), step(5), true}, {step(2), step(4), false}, {step(0), nil, true}, {step(2), nil, false}} {
		b.setters = map[string][]*Step{"f": {tt.setter}}
		if got := b.wrote("f", &env{body: b, step: tt.reader, at: always}); got != tt.want {
			t.Errorf("a field that %s sets: %v, want %v", tt.setter.Node.ID.Name, got, tt.want)
		}
	}
}
