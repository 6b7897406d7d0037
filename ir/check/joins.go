package check

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// joinWrites puts every deferred write at the end of the outermost parallel part in which another branch writes the same
// field: there, and not earlier, all of them are known.
func (b *Body) joinWrites(plan *Plan) {
	if slices.ContainsFunc(b.Steps, func(s *Step) bool { return len(s.deferred()) > 0 }) {
		b.joinIn(plan, map[*SetState]bool{})
	}
}

// deferred are the writes of the step's own `set:` that are applied at a join.
func (s *Step) deferred() []*SetState {
	var out []*SetState
	for _, x := range s.Sets {
		if x.Deferred {
			out = append(out, x)
		}
	}
	return out
}

func (b *Body) joinIn(plan *Plan, placed map[*SetState]bool) {
	if plan.Kind == Par || plan.Kind == Scheduled {
		plan.Joins = b.meet(plan, placed)
	}
	for _, k := range plan.Kids {
		b.joinIn(k, placed)
	}
}

// meet lists the writes in a plan, not placed yet, next to which another kid of it writes the same field.
func (b *Body) meet(plan *Plan, placed map[*SetState]bool) []*SetState {
	type write struct {
		kid  int
		step *Step
		set  *SetState
	}
	byField := map[string][]write{}
	for i, k := range plan.Kids {
		for _, s := range k.steps() {
			for _, x := range s.deferred() {
				byField[x.State.Name.Name] = append(byField[x.State.Name.Name], write{i, s, x})
			}
		}
	}
	var found []write
	for _, f := range sortedKeys(byField) {
		all := byField[f]
		for _, w := range all {
			if !placed[w.set] && slices.ContainsFunc(all, func(o write) bool { return o.kid != w.kid && b.together(o.step, w.step) }) {
				placed[w.set] = true
				found = append(found, w)
			}
		}
	}
	slices.SortStableFunc(found, func(v, w write) int { return v.step.index - w.step.index })
	var out []*SetState
	for _, w := range found {
		out = append(out, w.set)
	}
	return out
}

// together reports whether two steps may run at the same time.
func (b *Body) together(s, t *Step) bool {
	return !b.before(s, t) && !b.before(t, s) && (b.weak || !b.diagram.excludes(s.act, t.act))
}

// steps are the steps of a plan.
func (plan *Plan) steps() []*Step {
	if plan.Kind == Leaf {
		return []*Step{plan.Step}
	}
	var out []*Step
	for _, k := range plan.Kids {
		out = append(out, k.steps()...)
	}
	return out
}

// lateReads reports steps that would use a field before the writes of the branches they come after are applied: they
// are in the same parallel part.
func (c *checker) lateReads(b *Body) {
	var walk func(plan *Plan)
	walk = func(plan *Plan) {
		if len(plan.Joins) > 0 {
			c.lateIn(b, plan)
		}
		for _, k := range plan.Kids {
			walk(k)
		}
	}
	walk(b.Plan)
}

func (c *checker) lateIn(b *Body, plan *Plan) {
	steps := plan.steps()
	told := map[string]bool{}
	users := map[string][]*Step{} // of a field, other than those that only write to the join
	for _, x := range plan.Joins {
		name := x.State.Name.Name
		if _, done := users[name]; done {
			continue
		}
		users[name] = []*Step{}
		for _, t := range steps {
			if a := c.stateUse(t); a.touches(name) && !(a.onlyWrites(name) && len(t.deferred()) > 0) {
				users[name] = append(users[name], t)
			}
		}
	}
	for _, s := range steps {
		for _, x := range s.deferred() {
			name := x.State.Name.Name
			i := slices.IndexFunc(users[name], func(t *Step) bool { return b.before(s, t) })
			if i < 0 || told[name] || !slices.Contains(plan.Joins, x) {
				continue
			}
			told[name] = true
			t := users[name][i]
			c.report(diag.Diagnostic{Code: diag.StateRace, Span: t.Node.ID.Span,
				Message: "state." + name + " is put together after these branches, and " + t.Node.ID.Name + " uses it among them",
				Help:    "let all that write it come before " + t.Node.ID.Name,
				Related: []diag.Related{{Span: s.Node.ID.Span, Message: "this writes it in parallel with another branch"}}})
		}
	}
}
