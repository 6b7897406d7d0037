package check

import (
	"cmp"
	"slices"
)

// Before lists the steps that edges lead from to s, written or inferred, each once, in the order of the file. An order
// that decides nothing, such as that of two nodes which write to the world, is not an edge.
func (s *Step) Before() []*Step {
	var out []*Step
	add := func(t *Step) {
		if t != s.body.start {
			out = append(out, t)
		}
	}
	for _, a := range s.in {
		if !a.orderOnly {
			add(a.from)
		}
	}
	for _, l := range s.body.loops {
		if l.header == s {
			add(l.from)
		}
	}
	slices.SortFunc(out, func(a, b *Step) int { return cmp.Compare(a.index, b.index) })
	return slices.Compact(out)
}

// MayFollow reports whether s can run after t has ended, in the same run of the workflow: because edges lead there, or
// because a loop or a map that holds both begins again.
func (s *Step) MayFollow(t *Step) bool {
	for a := s; a != nil; a = a.body.parent {
		for b := t; b != nil; b = b.body.parent {
			if a.body == b.body {
				return a.body.parent != nil || a.body.reach == nil || a.body.before(b, a) || a.body.repeats(a, b) || a == b && a == s && t != s
			}
		}
	}
	return false
}

// repeats reports whether a loop of edges holds both steps.
func (b *Body) repeats(s, t *Step) bool {
	for _, l := range b.loops {
		if slices.Contains(l.members, s) && slices.Contains(l.members, t) {
			return true
		}
	}
	return false
}
