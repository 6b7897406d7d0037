package check

import (
	"fmt"
	"math/rand"
	"testing"
)

// decisionsOf lists the decisions of a checked body with the dice that make them.
func outcomes(b *Body) map[*Decision]string {
	edges := map[any]int{}
	for i, e := range b.IR.Edges {
		edges[e] = i
	}
	out := map[*Decision]string{}
	for _, s := range b.Steps {
		if s.outcome != nil {
			out[s.outcome] = "outcome"
		}
		for _, d := range s.after {
			if d.Kind == Switch {
				out[d] = fmt.Sprintf("switch%d", edges[d.Edge])
			} else {
				out[d] = d.Expr.String()
			}
		}
	}
	return out
}

// caseOf is the case that a decision takes in a run.
func (r *run) caseOf(d *Decision, what string) int {
	i := d.Step.index
	switch d.Kind {
	case Outcome:
		return r.outcome[i]
	case Switch:
		return r.chosen(i, d.Edge)
	}
	if r.holds(i, what) {
		return 0
	}
	return 1
}

// TestActivationAgainstReference compares, for random workflows without loops and every way their decisions can come
// out, which nodes ran and what the checker says about it: exactly below the limit of the diagram, soundly above it.
func TestActivationAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	graphs, pairs, weak := 0, 0, 0
	for range 3000 {
		m := newModel(rng, modelOptions{nodes: 2 + rng.Intn(9), density: rng.Float64(), all: true, catch: true})
		limit := maxDiagram
		if rng.Intn(3) == 0 {
			limit = 3 + rng.Intn(12)
		}
		b, _ := m.checked(limit)
		if b == nil {
			continue
		}
		what := outcomes(b)
		cases := make([]int, 0, len(what))
		var order []*Decision
		total := 1
		for _, s := range b.Steps {
			if s.outcome != nil {
				order, cases = append(order, s.outcome), append(cases, len(s.outcome.Cases))
			}
			for _, d := range s.after {
				order, cases = append(order, d), append(cases, len(d.Cases))
			}
		}
		for _, n := range cases {
			total *= n
		}
		if total > 3000 {
			continue
		}
		graphs++
		if b.weak {
			weak++
		}
		var runs []*run
		for _, row := range newWorld(cases).assign {
			value := map[string]int{}
			byIndex := make([]int, len(b.diagram.cases))
			for i, d := range order {
				value[fmt.Sprint(d.Step.index, what[d])] = row[i]
				if d.Kind == When { // the model asks for the condition without its negations
					text := what[d]
					k := row[i]
					for len(text) > 0 && text[0] == '!' {
						text, k = text[1:], 1-k
					}
					value[fmt.Sprint(d.Step.index, text)] = k
				}
				byIndex[d.index] = row[i]
			}
			r := m.reference(func(node int, what string, _, _ int) int { return value[fmt.Sprint(node, what)] })
			runs = append(runs, r)
			if b.weak {
				continue
			}
			for i, s := range b.Steps {
				if got := b.diagram.eval(s.act, byIndex); got != r.ran[i] {
					t.Fatalf("%s ran: %v, formula: %v for %v\n%s", s.Node.ID.Name, r.ran[i], got, value, m)
				}
				if got := b.diagram.eval(s.ok, byIndex); got != r.ok[i] {
					t.Fatalf("%s succeeded: %v, formula: %v for %v\n%s", s.Node.ID.Name, r.ok[i], got, value, m)
				}
			}
		}
		pairs += comparePresence(t, m, b, runs)
	}
	if graphs < 2000 || weak < 300 || pairs < 20_000 {
		t.Errorf("only %d graphs, %d weak, %d pairs", graphs, weak, pairs)
	}
	t.Logf("%d graphs, %d of them weak, %d pairs of reader and node", graphs, weak, pairs)
}

// comparePresence compares what a reader is told about the result of an earlier node with what happened in all runs.
func comparePresence(t *testing.T, m *model, b *Body, runs []*run) int {
	pairs := 0
	for p, reader := range b.Steps {
		for n, s := range b.Steps {
			if !b.before(s, reader) {
				continue
			}
			pairs++
			some, none, failed := false, false, true
			for _, r := range runs {
				if r.ran[p] {
					some, none = some || r.ok[n], none || !r.ok[n]
					failed = failed && r.ran[n] && !r.ok[n]
				}
			}
			want := perhaps
			switch {
			case !none:
				want = present
			case !some:
				want = absent
			}
			got := b.seen(s, reader, reader.act)
			caught := b.caught(s, reader, reader.act)
			if b.weak || b.diagram.full {
				if !some && !none {
					continue // it never runs, which a weak body does not see
				}
				if got != perhaps && got != want || caught && !failed {
					t.Fatalf("weak: %s at %s is %d, caught %v, want %d %v\n%s", s.Node.ID.Name, reader.Node.ID.Name, got, caught, want, failed, m)
				}
				continue
			}
			if got != want || caught != failed {
				t.Fatalf("%s at %s is %d, caught %v, want %d %v\n%s", s.Node.ID.Name, reader.Node.ID.Name, got, caught, want, failed, m)
			}
		}
	}
	return pairs
}
