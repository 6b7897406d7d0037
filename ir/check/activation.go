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
	b.numberDecisions()
	b.activateWith(func(s *Step) formula { return b.join(s) })
	if b.diagram.full {
		b.weak = true
		b.dominators()
		b.numberDecisions()
		b.activateWith(func(s *Step) formula {
			if len(s.in) == 1 && s.in[0].decision == nil && !s.in[0].orderOnly && s.in[0].from.outcome == nil {
				return s.in[0].from.act
			}
			if b.starts(s) {
				return always
			}
			return b.diagram.is(b.diagram.decide(2), 0)
		})
	}
}

// numberDecisions gives decisions their order in the diagram: that of the steps after which they fall.
func (b *Body) numberDecisions() {
	b.diagram = newDiagram()
	b.byIndex = map[int]*Decision{}
	for _, s := range b.order {
		if s.outcome != nil {
			s.outcome.index = b.diagram.decide(len(s.outcome.Cases))
			b.byIndex[s.outcome.index] = s.outcome
		}
		for _, d := range s.after {
			d.index = b.diagram.decide(len(d.Cases))
			b.byIndex[d.index] = d
		}
	}
}

func (b *Body) activateWith(join func(*Step) formula) {
	for _, s := range b.order {
		s.act = join(s)
		s.ok = s.act
		if s.outcome != nil {
			s.ok = b.diagram.and(s.act, b.diagram.is(s.outcome.index, 0))
		}
	}
}

// starts reports whether nothing but the file's order comes before s.
func (b *Body) starts(s *Step) bool {
	return !slices.ContainsFunc(s.in, func(a *arc) bool { return !a.orderOnly })
}

func (b *Body) join(s *Step) formula {
	if b.starts(s) {
		return always
	}
	f := never
	all := s.joinsAll()
	if all {
		f = always
	}
	for _, a := range s.in {
		switch {
		case a.orderOnly:
		case all:
			f = b.diagram.and(f, b.active(a))
		default:
			f = b.diagram.or(f, b.active(a))
		}
	}
	return f
}

// active is when an edge is active: its source ran, did not fail, and the condition holds.
func (b *Body) active(a *arc) formula {
	switch {
	case a.decision == nil:
		return a.from.ok
	case a.decision.Kind == Outcome:
		return b.diagram.and(a.from.act, b.diagram.is(a.decision.index, a.cases))
	}
	return b.diagram.and(a.from.ok, b.diagram.is(a.decision.index, a.cases))
}

// dominators fills doms: the steps that certainly ran before each one, whatever is decided.
func (b *Body) dominators() {
	n := len(b.Steps)
	b.doms = make([]bitset, n)
	for _, s := range b.order {
		var d bitset
		for _, a := range s.in {
			if a.orderOnly {
				continue
			}
			from := b.doms[a.from.index]
			if d == nil {
				d = slices.Clone(from)
				continue
			}
			for i := range d {
				if s.joinsAll() {
					d[i] |= from[i]
				} else {
					d[i] &= from[i]
				}
			}
		}
		if d == nil {
			d = newBitset(n)
		}
		d.set(s.index)
		b.doms[s.index] = d
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
		if reader != nil && reader != s && b.doms[reader.index].has(s.index) && s.outcome == nil {
			return present
		}
		if s.ok == always {
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

// unreachable reports steps that can never run.
func (c *checker) unreachable(b *Body) {
	for _, s := range b.order {
		if s.act == never {
			c.report(diag.Diagnostic{Code: diag.Unreachable, Span: s.Node.ID.Span,
				Message: "node \"" + s.Node.ID.Name + "\" can never run: no way through the edges leads to it",
				Help:    "its incoming edges exclude each other (join: all), or their sources can never run"})
		}
	}
}
