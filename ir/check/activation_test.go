package check

import (
	"fmt"
	"math/rand"
	"slices"
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
				out[d] = d.Value.Text.Value
			}
		}
		if s.when != nil {
			out[s.when] = s.when.Value.Text.Value
		}
	}
	if b.start != nil {
		for _, d := range b.start.after {
			out[d] = d.Value.Text.Value
			if d.Kind == Switch {
				out[d] = fmt.Sprintf("switch%d", edges[d.Edge])
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
	own := []bool(nil)
	if d.own() {
		own = []bool{true}
	}
	if r.holds(i, what, own...) {
		return 0
	}
	return 1
}

// asked is what the dice are asked about a decision: who asks, and whether the first side is its first case.
func asked(d *Decision, what string) (key string, positive bool) {
	if d.Kind != When {
		return fmt.Sprint(d.Step.index, what), true
	}
	if a, ok := atoms[what]; ok {
		if a.key != "" {
			return fmt.Sprint(start, a.key), a.positive
		}
		own := []bool(nil)
		if d.own() {
			own = []bool{true}
		}
		return fmt.Sprint(d.Step.index, fmt.Sprint("state", own)), a.positive
	}
	positive = true
	for what[0] == '!' { // the model asks for the condition without its negations
		what, positive = what[1:], !positive
	}
	return fmt.Sprint(d.Step.index, what), positive
}

// TestActivationAgainstReference compares, for random workflows without loops and every way their decisions can come
// out, which nodes ran and what the checker says about it: exactly below the limit of the diagram, soundly above it.
func TestActivationAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	graphs, pairs, weak, shared := 0, 0, 0, 0
	for range 3000 {
		m := newModel(rng, modelOptions{nodes: 2 + rng.Intn(9), density: rng.Float64(), all: true, catch: true, when: rng.Intn(2) == 0, fail: rng.Intn(4) == 0})
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
		var keys []string
		var decisions []*Decision
		total := 1
		see := func(list ...*Decision) {
			for _, d := range list {
				if d == nil {
					continue
				}
				decisions = append(decisions, d)
				if key, _ := asked(d, what[d]); !slices.Contains(keys, key) {
					keys, cases = append(keys, key), append(cases, len(d.Cases))
					total *= len(d.Cases)
				}
			}
		}
		for _, s := range b.Steps {
			see(s.outcome, s.when)
			see(s.after...)
		}
		if b.start != nil {
			see(b.start.after...)
		}
		if total > 3000 {
			continue
		}
		graphs++
		shared += len(decisions) - len(keys)
		if b.weak {
			weak++
		}
		var runs []*run
		for _, row := range newWorld(cases).assign {
			value := map[string]int{}
			byIndex := make([]int, len(b.diagram.cases))
			for i, key := range keys {
				value[key] = row[i]
			}
			for _, d := range decisions {
				key, positive := asked(d, what[d])
				k := value[key]
				if !positive {
					k = 1 - k
				}
				byIndex[d.index] = d.at(k)
			}
			r := m.reference(func(node int, what string, _, _ int) int { return value[fmt.Sprint(node, what)] })
			runs = append(runs, r)
			if b.weak {
				continue
			}
			for i, s := range b.Steps {
				if r.ended(b, s) {
					continue
				}
				if got := b.diagram.eval(s.act, byIndex); got != r.ran[i] {
					t.Fatalf("%s ran: %v, formula: %v for %v\n%s", s.Node.ID.Name, r.ran[i], got, value, m)
				}
				if got := b.diagram.eval(s.passed, byIndex); got != r.passed[i] && !(s.fails() && r.ran[i]) {
					t.Fatalf("%s passed: %v, formula: %v for %v\n%s", s.Node.ID.Name, r.passed[i], got, value, m)
				}
				if got := b.diagram.eval(s.ok, byIndex); got != r.ok[i] {
					t.Fatalf("%s succeeded: %v, formula: %v for %v\n%s", s.Node.ID.Name, r.ok[i], got, value, m)
				}
			}
		}
		pairs += comparePresence(t, m, b, runs)
	}
	if graphs < 2000 || weak < 300 || pairs < 20_000 || shared < 500 {
		t.Errorf("only %d graphs, %d weak, %d pairs, %d conditions that agree", graphs, weak, pairs, shared)
	}
	t.Logf("%d graphs, %d of them weak, %d pairs of reader and node, %d conditions that agree", graphs, weak, pairs, shared)
}

// ended reports whether a node that fails ended the run before a step.
func (r *run) ended(b *Body, s *Step) bool {
	return slices.ContainsFunc(b.Steps, func(f *Step) bool { return f.fails() && r.ran[f.index] && b.before(f, s) })
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
				if r.ran[p] && !r.ended(b, reader) {
					some, none = some || r.ok[n], none || !r.ok[n]
					failed = failed && r.ran[n] && !r.ok[n] && !failing(m.body.Nodes[n])
				}
			}
			want := perhaps
			switch {
			case !none:
				want = present
			case !some:
				want = absent
			}
			at := b.survived(reader, reader.act)
			got := b.seen(s, reader, at)
			caught := b.caught(s, reader, at)
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
	return pairs + compareEnd(t, m, b, runs)
}

// compareEnd compares what is known of each node where the body ends, which it does when nothing failed.
func compareEnd(t *testing.T, m *model, b *Body, runs []*run) int {
	end := b.survived(nil, always)
	for n, s := range b.Steps {
		some, none := false, false
		for _, r := range runs {
			if !r.failed && !slices.ContainsFunc(b.failing, func(f *Step) bool { return r.ran[slices.Index(b.Steps, f)] }) {
				some, none = some || r.ok[n], none || !r.ok[n]
			}
		}
		want := perhaps
		switch {
		case !none:
			want = present
		case !some:
			want = absent
		}
		if got := b.seen(s, nil, end); got != want && (some || none) && (got != perhaps || !b.weak && !b.diagram.full) {
			t.Fatalf("%s at the end is %d, want %d\n%s", s.Node.ID.Name, got, want, m)
		}
	}
	return len(b.Steps)
}
