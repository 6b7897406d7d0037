package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// activate computes for every step the formula of when it runs (core: "activation"). A step with several incoming edges
// runs iff one is active (JoinAny), or iff all are (JoinAll); one with none runs always. Back edges do not count:
// what is outside a loop sees its last iteration.
//
// When the diagram grows beyond its limit the body is weak: every conditional step gets a decision of its own, which
// says nothing about the others, and dominators prove what certainly ran before. That is sound, and rejects more.
func (b *Body) activate() {
	b.lastRound()
	b.numberDecisions(b.limit)
	b.activateWith(func(s *Step) formula { return b.join(s) })
	if !b.diagram.full {
		b.diagram.limit *= 2 // room for what will be asked
		return
	}
	b.weak = true
	b.dominators()
	b.numberDecisions(maxDiagram)
	b.activateWith(func(s *Step) formula {
		switch a := s.onlyArc(); {
		case b.starts(s):
			return always
		case a != nil && a.decision == nil && a.from.outcome == nil:
			return a.from.passed
		}
		return b.diagram.is(b.diagram.decide(2), 0)
	})
}

// onlyArc is the one arc that decides about a step, or nil when there are none or several.
func (s *Step) onlyArc() *arc {
	var only *arc
	for _, a := range s.in {
		switch {
		case a.orderOnly:
		case only != nil:
			return nil
		default:
			only = a
		}
	}
	return only
}

// lastRound finds the conditions whose outcome is known once their loop has ended: a loop that must not spend its bound
// ends only when its condition has failed.
func (b *Body) lastRound() {
	for _, l := range b.loops {
		if l.when != nil && l.edge.Exhausted == nil {
			l.when.ended, l.when.repeats = true, l.repeat
		}
	}
}

// numberDecisions gives decisions their places in the diagram: the last ones first. Conditions that ask the same of what does
// not change share one, or nobody could know that they agree.
func (b *Body) numberDecisions(limit int) {
	b.diagram = newDiagram(limit)
	b.byIndex = map[int][]*Decision{}
	first, shared := b.agreeing()
	number := func(d *Decision) {
		if first[d] == nil {
			d.index = b.diagram.decide(len(d.Cases))
			b.byIndex[d.index] = append(b.byIndex[d.index], d)
		}
	}
	for _, s := range slices.Backward(b.order) {
		for _, d := range slices.Backward(s.after) {
			number(d)
		}
		if s.outcome != nil {
			number(s.outcome)
		}
		if s.when != nil {
			number(s.when)
		}
	}
	if b.start != nil {
		for _, d := range slices.Backward(b.start.after) {
			number(d)
		}
	}
	for _, d := range shared {
		d.index, d.flip = first[d].index, d.positive != first[d].positive
		b.byIndex[d.index] = append(b.byIndex[d.index], d)
	}
}

// agreeing lists the conditions that another one, before them, agrees with or negates, and that one.
func (b *Body) agreeing() (first map[*Decision]*Decision, shared []*Decision) {
	rounds := map[*Decision]bool{} // asked again in every round
	for _, l := range b.loops {
		rounds[l.when] = true
	}
	first = map[*Decision]*Decision{}
	byKey := map[string]*Decision{}
	b.asks = byKey
	look := func(d *Decision) {
		if d.Kind != When || d.key == "" || rounds[d] || readsState(d.Expr) {
			return
		}
		if leader := byKey[d.key]; leader != nil {
			first[d], shared = leader, append(shared, d)
			return
		}
		byKey[d.key] = d
	}
	if b.start != nil {
		for _, d := range b.start.after {
			look(d)
		}
	}
	for _, s := range b.order {
		if s.when != nil {
			look(s.when)
		}
		for _, d := range s.after {
			look(d)
		}
	}
	return first, shared
}

// takes is the formula of a decision that takes its case k. How a step ended that did not run is its first case: nothing failed.
func (b *Body) takes(d *Decision, k int) formula {
	f := b.diagram.is(d.index, d.at(k))
	switch {
	case d.Kind != Outcome || d.Step.when == nil:
		return f
	case k == 0:
		return b.diagram.or(f, b.takes(d.Step.when, 1))
	}
	return b.diagram.and(f, b.takes(d.Step.when, 0))
}

// at is the place of a case in the diagram, and the other way round: conditions that negate each other share one.
func (d *Decision) at(k int) int {
	if d.flip {
		return 1 - k
	}
	return k
}

func (b *Body) activateWith(join func(*Step) formula) {
	for _, s := range b.order {
		s.gate = join(s)
		s.act, s.passed, s.known = s.gate, s.gate, always
		if s.when != nil {
			s.act = b.diagram.and(s.gate, b.is(s.when, 0))
		}
		s.ok = s.act
		if s.outcome != nil {
			s.passed = b.diagram.and(s.gate, b.is(s.outcome, 0))
			s.ok = b.diagram.and(s.act, s.passed)
		}
		if s.fails() {
			s.ok = never
			if s.when == nil {
				s.passed = never
			} // else survived says that what comes after it runs only if it did not
		}
	}
}

// is holds when a decision has taken the case, as seen by what comes after it.
func (b *Body) is(d *Decision, k int) formula {
	switch {
	case !d.ended:
		return b.takes(d, k)
	case k == d.repeats:
		return never
	}
	return always // a condition has two cases
}

// starts reports whether nothing but the file's order comes before s.
func (b *Body) starts(s *Step) bool {
	return !slices.ContainsFunc(s.in, func(a *arc) bool { return !a.orderOnly })
}

func (b *Body) join(s *Step) formula {
	if b.starts(s) {
		return always
	}
	all := s.joinsAll()
	f := always
	var any []formula
	for _, a := range s.in {
		switch {
		case a.orderOnly:
		case all:
			f = b.diagram.and(f, b.active(a))
		default:
			any = append(any, b.active(a))
		}
	}
	if all {
		return f
	}
	return b.diagram.anyOf(any)
}

// active is when an edge is active: the turn of its source came, it did not fail, and the condition holds.
func (b *Body) active(a *arc) formula {
	switch {
	case a.decision == nil:
		return a.from.passed
	case a.exhausted: // the bound of the loop is spent, which only an edge for it can see
		return b.diagram.and(a.from.passed, b.takes(a.decision, a.cases))
	case a.decision.Kind == Outcome:
		return b.diagram.and(a.from.gate, b.is(a.decision, a.cases))
	}
	return b.diagram.and(a.from.passed, b.is(a.decision, a.cases))
}

// dominators fills doms and failed: the steps that certainly ran, and those that certainly failed, before each one,
// whatever is decided.
func (b *Body) dominators() {
	n := len(b.Steps)
	b.doms, b.failed = make([]bitset, n), make([]bitset, n)
	for _, s := range b.order {
		ran, failed := newBitset(n), newBitset(n)
		first := true
		for _, a := range s.in {
			if a.orderOnly {
				continue
			}
			if a.from == b.start {
				if !s.joinsAll() {
					ran, failed, first = newBitset(n), newBitset(n), false
					break
				}
				continue
			}
			caught := b.failed[a.from.index]
			if a.decision != nil && a.decision.Kind == Outcome {
				caught = slices.Clone(caught)
				caught.set(a.from.index)
			}
			if first || s.joinsAll() {
				ran.union(b.doms[a.from.index])
				failed.union(caught)
			} else {
				ran.intersect(b.doms[a.from.index])
				failed.intersect(caught)
			}
			first = false
		}
		ran.set(s.index)
		b.doms[s.index], b.failed[s.index] = ran, failed
	}
}

// presence says what a reader may assume about a step's result.
type presence uint8

const (
	absent  presence = iota // never there when the reader runs
	perhaps                 // there on some ways
	present                 // always there
)

// seen is what is known about the result of s where at holds; at belongs to reader, nil being the end of the body.
func (b *Body) seen(s, reader *Step, at formula) presence {
	if b.weak {
		switch {
		case s.ok == always, s == reader && (s.when == nil || at == s.ok): // its own result is read only after success
			return present
		case reader == nil:
			return perhaps
		case b.failed[reader.index].has(s.index):
			return absent
		case b.doms[reader.index].has(s.index) && s.outcome == nil && s.when == nil:
			return present
		}
		return perhaps
	}
	switch {
	case b.diagram.implies(at, s.ok):
		return present
	case b.diagram.excludes(at, s.ok):
		return absent
	}
	return perhaps
}

// caught reports whether s has certainly failed, with an error that one of its catch clauses names, where at holds.
func (b *Body) caught(s, reader *Step, at formula) bool {
	if b.weak {
		return reader != nil && b.failed[reader.index].has(s.index)
	}
	return b.diagram.implies(at, b.diagram.without(s.gate, s.passed))
}

// unreachable reports steps that can never run: the first of them on every way.
func (c *checker) unreachable(b *Body) {
	for _, s := range b.order {
		if s.gate != never || slices.ContainsFunc(s.in, func(a *arc) bool { return a.from.gate == never }) {
			continue
		}
		d := diag.Diagnostic{Code: diag.Unreachable, Span: s.Node.ID.Span,
			Message: "node \"" + s.Node.ID.Name + "\" can never run: its incoming edges exclude each other",
			Help:    "let one of them suffice"}
		for _, a := range s.in {
			if a.decision != nil && a.decision.ended && a.cases == a.decision.repeats {
				d.Message = "node \"" + s.Node.ID.Name + "\" can never run: the edge that leads back wins when its condition holds"
				d.Help = "to go on when `max` is spent, write `exhausted: " + s.Node.ID.Name + "` on that edge"
			}
		}
		c.report(d)
	}
}
