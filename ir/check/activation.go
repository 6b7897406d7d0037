package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// activate computes for every step the formula of when it runs (core: "activation"). A step with several incoming edges
// runs iff one is active (join: any), or iff all are (join: all); one with none runs always. Back edges do not count:
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
			return a.from.act
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

// numberDecisions gives decisions their places in the diagram: the last ones first.
func (b *Body) numberDecisions(limit int) {
	b.diagram = newDiagram(limit)
	b.byIndex = map[int]*Decision{}
	number := func(d *Decision) {
		d.index = b.diagram.decide(len(d.Cases))
		b.byIndex[d.index] = d
	}
	for _, s := range slices.Backward(b.order) {
		for _, d := range slices.Backward(s.after) {
			number(d)
		}
		if s.outcome != nil {
			number(s.outcome)
		}
	}
	if b.start != nil {
		for _, d := range slices.Backward(b.start.after) {
			number(d)
		}
	}
}

func (b *Body) activateWith(join func(*Step) formula) {
	for _, s := range b.order {
		s.act = join(s)
		s.ok = s.act
		if s.outcome != nil {
			s.ok = b.diagram.and(s.act, b.is(s.outcome, 0))
		}
	}
}

// is holds when a decision has taken the case, as seen by what comes after it.
func (b *Body) is(d *Decision, k int) formula {
	switch {
	case !d.ended:
		return b.diagram.is(d.index, k)
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

// active is when an edge is active: its source ran, did not fail, and the condition holds.
func (b *Body) active(a *arc) formula {
	switch {
	case a.decision == nil:
		return a.from.ok
	case a.exhausted: // the bound of the loop is spent, which only an edge for it can see
		return b.diagram.and(a.from.ok, b.diagram.is(a.decision.index, a.cases))
	case a.decision.Kind == Outcome:
		return b.diagram.and(a.from.act, b.is(a.decision, a.cases))
	}
	return b.diagram.and(a.from.ok, b.is(a.decision, a.cases))
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
		case s.ok == always, s == reader: // its own result is read only after success
			return present
		case reader == nil:
			return perhaps
		case b.failed[reader.index].has(s.index):
			return absent
		case b.doms[reader.index].has(s.index) && s.outcome == nil:
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
	return b.diagram.implies(at, b.diagram.without(s.act, s.ok))
}

// unreachable reports steps that can never run: the first of them on every way.
func (c *checker) unreachable(b *Body) {
	for _, s := range b.order {
		if s.act != never || slices.ContainsFunc(s.in, func(a *arc) bool { return a.from.act == never }) {
			continue
		}
		d := diag.Diagnostic{Code: diag.Unreachable, Span: s.Node.ID.Span,
			Message: "node \"" + s.Node.ID.Name + "\" can never run: its incoming edges exclude each other",
			Help:    "let one of them suffice: remove `join: all`"}
		for _, a := range s.in {
			if a.decision != nil && a.decision.ended && a.cases == a.decision.repeats {
				d.Message = "node \"" + s.Node.ID.Name + "\" can never run: the edge that leads back wins when its condition holds"
				d.Help = "to go on when `max` is spent, write `exhausted: " + s.Node.ID.Name + "` on that edge"
			}
		}
		c.report(d)
	}
}
