package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir/diag"
)

// Fallback is the step that runs instead of an agent of SirenSpec that fails; nil when none does.
func (s *Step) Fallback() *Step {
	f := s.Node.Dynamic.Context.Failure
	if f == nil || f.Action != "fallback" {
		return nil
	}
	return s.body.byID[f.Node.Name]
}

// Rescues reports whether a step is the fallback of another.
func (s *Step) Rescues() bool {
	for _, other := range s.body.Steps {
		if other.Fallback() == s {
			return true
		}
	}
	return false
}

// rescues puts fallbacks after the nodes that they stand in for. The engine does not, so that one which comes earlier in
// its order never runs, and one that no edge leads to always does.
func (c *checker) rescues(b *Body) {
	for _, s := range b.Steps {
		to := s.Fallback()
		if to == nil {
			continue
		}
		at := s.Node.Dynamic.Context.Failure.Node.Span
		if to == s || b.leads(to, s, map[*Step]bool{}) {
			c.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownName, Span: at,
				Message: fmt.Sprintf("%q runs before %q: it cannot run instead of it", to.Node.ID.Name, s.Node.ID.Name)})
			continue
		}
		if c.wf.Dynamic.Upstream {
			if len(to.in) == 0 {
				c.report(diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: at,
					Message: fmt.Sprintf("no edge leads to %q, so that it always runs in the engine; by the pages it runs when %q fails", to.Node.ID.Name, s.Node.ID.Name)})
			}
			continue
		}
		if len(to.in) == 0 {
			c.report(diag.Diagnostic{Severity: diag.Note, Code: diag.DialectDiffers, Span: at,
				Message: fmt.Sprintf("%q runs when %q fails; in the engine it always runs, as no edge leads to it", to.Node.ID.Name, s.Node.ID.Name)})
		}
		a := &arc{from: s, to: to, at: at, orderOnly: true}
		s.out, to.in, b.arcs = append(s.out, a), append(to.in, a), append(b.arcs, a)
	}
}

// leads reports whether one step comes after another.
func (b *Body) leads(from, to *Step, seen map[*Step]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, a := range from.out {
		if !seen[a.to] && b.leads(a.to, to, seen) {
			return true
		}
	}
	return false
}

// Always reports whether a step of a SirenSpec workflow runs whatever its conditions say: nothing leads to it, or something
// that always runs and always goes on does without a condition.
func (s *Step) Always() bool {
	if len(s.in) == 0 {
		return true
	}
	for _, a := range s.in {
		if a.decision == nil && !a.orderOnly && a.from.goesOn() && a.from.Always() {
			return true
		}
	}
	return false
}

// goesOn reports whether the edges of a step are looked at when it fails and the run does not end.
func (s *Step) goesOn() bool {
	f := s.Node.Dynamic.Context.Failure
	return f == nil || f.Action != "fallback"
}
