package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// stateAccess is what a step, with everything inside it, does to state; inReads and inWrites are those of its body.
type stateAccess struct {
	reads, writes     map[string]source.Span
	inReads, inWrites map[string]source.Span
}

// touches reports whether the step uses a field of state.
func (a *stateAccess) touches(field string) bool {
	_, r := a.reads[field]
	_, w := a.writes[field]
	return r || w
}

// onlyWrites reports whether the step writes a field and does not read it.
func (a *stateAccess) onlyWrites(field string) bool {
	_, r := a.reads[field]
	_, w := a.writes[field]
	return w && !r
}

// stateUse collects the state fields a step touches.
func (c *checker) stateUse(s *Step) *stateAccess {
	if a := c.access[s]; a != nil {
		return a
	}
	a := &stateAccess{reads: map[string]source.Span{}, writes: map[string]source.Span{}, inReads: map[string]source.Span{}, inWrites: map[string]source.Span{}}
	c.access[s] = a
	into := func(m map[string]source.Span) func(*expr.Node) {
		return func(n *expr.Node) {
			fieldsOf(n, "state", func(f string, _ *expr.Node) {
				if f != "*" {
					m[f] = s.Node.ID.Span
					return
				}
				for _, x := range c.wf.State {
					m[x.Name.Name] = s.Node.ID.Span
				}
			})
		}
	}
	ir.Expressions(s.Node, into(a.reads))
	for _, d := range s.after {
		into(a.reads)(d.Expr)
	}
	for _, x := range s.Node.Set {
		a.writes[x.Field.Name] = x.Field.Span
	}
	if body := ir.BodyOf(s.Node.Verb); body != nil {
		ir.BodyExpressions(body, into(a.inReads))
	}
	if s.Body != nil {
		for _, t := range s.Body.Steps {
			for f, at := range c.stateUse(t).writes {
				a.writes[f], a.inWrites[f] = at, at
			}
		}
	}
	return a
}

// readsState reports whether an expression depends on state.
func readsState(n *expr.Node) bool {
	found := false
	fieldsOf(n, "state", func(string, *expr.Node) { found = true })
	return found
}

// merges reports whether several branches may write the field at the same time: its rule does not depend on their order,
// or is applied at the join, in file order.
func merges(s *ir.State) bool {
	return s.Merge.Kind == ir.MergeAppend || s.Merge.Kind == ir.MergeReducer
}

// stateRaces reports fields written in one branch and touched in another, one race for a field, and marks the writes
// that are applied at the join. Every item of a map is a branch next to the others.
func (c *checker) stateRaces(b *Body) {
	for _, f := range c.wf.State {
		name := f.Name.Name
		var users []*Step
		written := false
		for _, s := range b.order {
			if a := c.stateUse(s); a.touches(name) {
				users = append(users, s)
				_, w := a.writes[name]
				written = written || w
			}
		}
		if !written || c.itemsRace(f, users) || b.inLine(users) {
			continue
		}
		slices.SortFunc(users, func(s, t *Step) int { return s.index - t.index })
		c.branchesRace(b, f, users)
	}
}

// inLine reports whether steps, which are in topological order, come one after the other.
func (b *Body) inLine(steps []*Step) bool {
	for i := 1; i < len(steps); i++ {
		if !b.before(steps[i-1], steps[i]) {
			return false
		}
	}
	return true
}

// itemsRace reports a race between the items of one map.
func (c *checker) itemsRace(f *ir.State, users []*Step) bool {
	name := f.Name.Name
	for _, s := range users {
		m, isMap := s.Node.Verb.(*ir.Map)
		if !isMap {
			continue
		}
		a := c.stateUse(s)
		at, writes := a.inWrites[name]
		if !writes {
			continue
		}
		_, reads := a.inReads[name]
		if merges(f) && !reads && !slices.ContainsFunc(s.Body.Steps, func(t *Step) bool { return c.mapWrites(t, name) }) {
			for _, t := range s.Body.Steps {
				t.deferSets(name)
			}
			continue
		}
		if m.Parallel == 1 && m.OnItemError == ir.ItemFail { // one item after the other, as the rounds of a loop
			s.InOrder = append(s.InOrder, f)
			continue
		}
		help := "return the value from the `do`, and set the field on " + s.Node.ID.Name + " from the list of results; or write `parallel: 1`"
		if !merges(f) {
			help += "; or declare it with `merge: append` or a reducer"
		}
		c.report(diag.Diagnostic{Code: diag.StateRace, Span: at, Help: help,
			Message: fmt.Sprintf("state.%s is written by all items of %s at the same time", name, s.Node.ID.Name)})
		return true
	}
	return false
}

// mapWrites reports whether a map somewhere in t writes the field in its body.
func (c *checker) mapWrites(t *Step, name string) bool {
	if _, writes := c.stateUse(t).inWrites[name]; !writes {
		return false
	}
	if _, isMap := t.Node.Verb.(*ir.Map); isMap {
		return true
	}
	return slices.ContainsFunc(t.Body.Steps, func(u *Step) bool { return c.mapWrites(u, name) })
}

// branchesRace looks for two steps that use a field at the same time.
func (c *checker) branchesRace(b *Body, f *ir.State, steps []*Step) {
	type user struct {
		*Step
		at       source.Span
		writes   bool
		nested   bool // inside its body
		joinable bool // what it writes can be kept apart until the join
		deferred bool
	}
	name := f.Name.Name
	users := make([]user, len(steps))
	for i, s := range steps {
		a := c.stateUse(s)
		u := user{Step: s}
		u.at, u.writes = a.writes[name]
		_, u.nested = a.inWrites[name]
		u.joinable = merges(f) && !u.nested && a.onlyWrites(name)
		users[i] = u
	}
	for i := range users {
		s := &users[i]
		for j := i + 1; j < len(users); j++ {
			t := &users[j]
			joinable := s.joinable && t.joinable
			switch {
			case joinable && s.deferred && t.deferred, !s.writes && !t.writes, !b.together(s.Step, t.Step):
			case joinable:
				s.deferred, t.deferred = true, true
			default:
				if !s.writes {
					s, t = t, s
				}
				c.report(diag.Diagnostic{Code: diag.StateRace, Span: s.at,
					Message: fmt.Sprintf("state.%s is written while %s may be using it", name, t.Node.ID.Name),
					Help:    raceHelp(f, s.nested || t.nested),
					Related: []diag.Related{{Span: t.Node.ID.Span, Message: "no edges order it before or after " + s.Node.ID.Name}}})
				return
			}
		}
	}
	for _, u := range users {
		if u.deferred {
			u.deferSets(name)
		}
	}
}

func raceHelp(f *ir.State, nested bool) string {
	switch {
	case nested && merges(f):
		return "put the nodes one after the other: what is written inside a map or a loop is not kept apart from other branches"
	case merges(f):
		return "put the nodes one after the other, or only write the field in them"
	}
	return "put the nodes one after the other, or declare the field with `merge: append` or a reducer and only write it"
}

// deferSets marks the writes of a step, and of its body, as applied at the join.
func (s *Step) deferSets(name string) {
	for _, x := range s.Sets {
		if x.State.Name.Name == name {
			x.Deferred = true
		}
	}
	if s.Body != nil {
		for _, t := range s.Body.Steps {
			t.deferSets(name)
		}
	}
}
