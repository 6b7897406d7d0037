package check

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// machine executes a plan as generated code would, and refuses what generated code could not do: a node before another
// that it depends on, or a condition about something that has not happened.
type machine struct {
	*run
	b       *Body
	what    map[*Decision]string
	rng     *rand.Rand
	decided []bool
	err     string
}

func (x *machine) fail(format string, args ...any) {
	if x.err == "" {
		x.err = fmt.Sprintf(format, args...)
	}
}

func (x *machine) exec(p *Plan) {
	if x.failed || x.err != "" {
		return
	}
	switch p.Kind {
	case Leaf:
		x.leaf(p.Step)
	case Seq:
		for _, k := range p.Kids {
			x.exec(k)
		}
	case If:
		if x.cond(p.Cond) {
			x.exec(p.Kids[0])
		} else {
			x.skip(p.Kids[0])
		}
	case Choose:
		x.choose(p)
	case Par: // any order must do
		for _, i := range x.rng.Perm(len(p.Kids)) {
			x.exec(p.Kids[i])
		}
	case Scheduled:
		x.scheduled(p)
	case Repeat:
		x.repeatPlan(p)
	}
}

func (x *machine) leaf(s *Step) {
	for _, a := range s.in {
		if a.from != x.b.start && !x.decided[a.from.index] {
			x.fail("%s runs before %s is decided", s.Node.ID.Name, a.from.Node.ID.Name)
		}
	}
	if x.decided[s.index] {
		x.fail("%s stands in the plan twice", s.Node.ID.Name)
	}
	x.decided[s.index] = true
	x.do(s.index)
	x.failed = x.failed || x.ran[s.index] && s.fails()
}

// skip decides everything in a part that is not executed.
func (x *machine) skip(p *Plan) {
	for _, s := range p.steps() {
		for _, a := range s.in { // what it hangs on must be decided, or be skipped with it
			if a.from != x.b.start && !x.decided[a.from.index] && !slices.Contains(p.steps(), a.from) {
				x.fail("%s is skipped before %s is decided", s.Node.ID.Name, a.from.Node.ID.Name)
			}
		}
		x.decided[s.index] = true
	}
}

func (x *machine) choose(p *Plan) {
	k := x.decision(p.Decision)
	if len(p.Arms) != len(p.Kids) {
		x.fail("%d arms for %d kids", len(p.Arms), len(p.Kids))
	}
	hit := -1
	for i, cases := range p.Arms {
		if slices.Contains(cases, k) {
			if hit >= 0 {
				x.fail("case %d stands in two arms", k)
			}
			hit = i
		}
	}
	for i, kid := range p.Kids {
		if i == hit {
			x.exec(kid)
		} else {
			x.skip(kid)
		}
	}
}

// decision evaluates a decision, which is possible once its node has succeeded, or for an outcome, has ended.
func (x *machine) decision(d *Decision) int {
	i := d.Step.index
	if i != start && (!x.decided[i] || !x.passed[i] && (d.Kind != Outcome || !x.ran[i])) {
		x.fail("the decision %s after %s is asked for, which has no result", x.what[d], d.Step.Node.ID.Name)
		return 0
	}
	if d.Used == 0 {
		x.fail("the decision %s after %s is not marked as used", x.what[d], d.Step.Node.ID.Name)
	}
	return x.caseOf(d, x.what[d])
}

func (x *machine) cond(c *Cond) bool {
	if len(c.Any) == 0 {
		x.fail("an empty condition")
	}
	for _, t := range c.Any {
		if x.term(t) != c.All {
			return !c.All
		}
	}
	return c.All
}

func (x *machine) term(t Term) bool {
	if t.Ran == nil && t.Decision == nil {
		x.fail("an empty term")
	}
	if t.Ran != nil {
		i := t.Ran.index
		switch {
		case !x.decided[i]:
			x.fail("whether %s ran is asked for before it is decided", t.Ran.Node.ID.Name)
		case !t.Ran.Flag && !t.Ran.Maybe:
			x.fail("nothing says whether %s ran", t.Ran.Node.ID.Name)
		}
		if !x.passed[i] {
			return false
		}
	}
	if t.Decision == nil {
		return true
	}
	if len(t.Cases) == 0 {
		x.fail("a term without cases")
	}
	if t.Decision.Kind == Outcome { // a node that has not run has no error
		if !x.decided[t.Decision.Step.index] {
			x.fail("the outcome of %s is asked for before it is decided", t.Decision.Step.Node.ID.Name)
		}
		if i := t.Decision.Step.index; !x.ran[i] && !x.passed[i] {
			return false
		}
	}
	return slices.Contains(t.Cases, x.decision(t.Decision))
}

func (x *machine) scheduled(p *Plan) {
	left := map[int]bool{}
	for i := range p.Kids {
		left[i] = true
	}
	for len(left) > 0 && !x.failed && x.err == "" {
		var ready []int
		for i := range p.Kids {
			if left[i] && !slices.ContainsFunc(p.After[i], func(j int) bool { return left[j] }) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			x.fail("nothing is ready")
			return
		}
		i := ready[x.rng.Intn(len(ready))]
		delete(left, i)
		x.exec(p.Kids[i])
	}
}

func (x *machine) repeatPlan(p *Plan) {
	l := p.Loop
	for round := 1; ; round++ {
		for _, s := range l.Members {
			x.decided[s.index] = false
			x.reset(s.index)
		}
		x.exec(p.Kids[0])
		if x.failed || x.err != "" {
			return
		}
		for _, s := range l.Members {
			if !x.decided[s.index] {
				x.fail("%s is left out of its loop", s.Node.ID.Name)
			}
		}
		if !x.passed[l.From.index] || l.When != nil && x.decision(l.When) != l.Case {
			return
		}
		if round == l.Max {
			x.failed = !l.Exhausted
			return
		}
	}
}

// count counts the parts of a plan by kind.
func (p *Plan) count(into map[PlanKind]int) {
	into[p.Kind]++
	for _, k := range p.Kids {
		k.count(into)
	}
}

// String shows a plan in a failed test.
func (p *Plan) String() string {
	var b strings.Builder
	p.write(&b, "")
	return b.String()
}

func (p *Plan) write(b *strings.Builder, indent string) {
	kind := [...]string{"seq", "leaf", "if", "choose", "par", "scheduled", "repeat"}[p.Kind]
	b.WriteString(indent + kind)
	switch p.Kind {
	case Leaf:
		b.WriteString(" " + p.Step.Node.ID.Name)
	case If:
		for _, t := range p.Cond.Any {
			if t.Ran != nil {
				b.WriteString(" ran " + t.Ran.Node.ID.Name)
			}
			if t.Decision != nil {
				fmt.Fprintf(b, " %s after %s is %v", t.Decision.Expr, t.Decision.Step.Node.ID.Name, t.Cases)
			}
			b.WriteString(";")
		}
	case Choose:
		fmt.Fprintf(b, " after %s %v", p.Decision.Step.Node.ID.Name, p.Arms)
	case Scheduled:
		fmt.Fprintf(b, " %v", p.After)
	}
	b.WriteByte('\n')
	for _, k := range p.Kids {
		k.write(b, indent+"  ")
	}
}

// hashDice are dice that fall the same way whoever asks, in whatever order.
func hashDice(seed int64) dice {
	return func(node int, what string, visit, sides int) int {
		h := fnv.New64a()
		fmt.Fprint(h, seed, node, what, visit)
		return int(h.Sum64() % uint64(sides))
	}
}

// TestPlanAgainstReference executes the plans of random workflows, loops of edges included, with parallel parts in every
// order and compares what ran, and how often, with an interpreter of the edges.
func TestPlanAgainstReference(t *testing.T) {
	kinds := map[PlanKind]int{}
	plans, loops, compared, spent := 0, 0, 0, 0
	for seed := range int64(8_000) {
		rng := rand.New(rand.NewSource(seed))
		o := modelOptions{nodes: 2 + rng.Intn(11), density: rng.Float64() * 1.2, all: rng.Intn(2) == 0, catch: rng.Intn(2) == 0, when: rng.Intn(2) == 0, fail: rng.Intn(4) == 0}
		if rng.Intn(2) == 0 {
			o.back = 1 + rng.Intn(3)
		}
		m := newModel(rng, o)
		limit := maxDiagram
		if rng.Intn(4) == 0 {
			limit = 3 + rng.Intn(40)
		}
		b, _ := m.checked(limit)
		if b == nil {
			continue
		}
		plan := b.makePlan()
		plan.count(kinds)
		plans++
		loops += len(b.loops)
		what := outcomes(b)
		for range 6 {
			d := hashDice(rng.Int63())
			want := m.reference(d)
			for i, n := range m.body.Nodes {
				want.failed = want.failed || failing(n) && want.runs[i] > 0
			}
			x := &machine{run: m.newRun(d), b: b, what: what, rng: rng, decided: make([]bool, len(b.Steps))}
			x.exec(plan)
			switch {
			case x.err != "":
			case x.failed != want.failed:
				x.fail("failed: %v, want %v", x.failed, want.failed)
			case want.failed:
				spent++
			default:
				x.compare(want)
			}
			if x.err != "" {
				t.Fatalf("seed %d: %s (limit %d)\n%s\n%s", seed, x.err, limit, m, plan)
			}
			compared++
		}
	}
	t.Logf("%d plans with %d loops, %d runs equal, %d failed; parts: seq %d leaf %d if %d choose %d par %d scheduled %d repeat %d", plans, loops, compared, spent,
		kinds[Seq], kinds[Leaf], kinds[If], kinds[Choose], kinds[Par], kinds[Scheduled], kinds[Repeat])
	if plans < 4000 || loops < 1000 || kinds[Choose] < 500 || kinds[Par] < 1000 || kinds[Scheduled] < 500 || kinds[If] < 5000 {
		t.Error("too few of something to prove anything")
	}
}

// compare compares a run with the reference.
func (x *machine) compare(want *run) {
	for i, s := range x.b.Steps {
		id := s.Node.ID.Name
		switch {
		case !x.decided[i]:
			x.fail("%s is not decided at the end", id)
		case x.runs[i] != want.runs[i]:
			x.fail("%s ran %d times, want %d", id, x.runs[i], want.runs[i])
		case x.ran[i] != want.ran[i] || x.ok[i] != want.ok[i]:
			x.fail("%s ran %v and succeeded %v, want %v and %v", id, x.ran[i], x.ok[i], want.ran[i], want.ok[i])
		case x.passed[i] != want.passed[i]:
			x.fail("%s went on: %v, want %v", id, x.passed[i], want.passed[i])
		}
	}
}
