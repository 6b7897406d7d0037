package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir/expr"
)

// around is what holds in the body around b, where e is inside of it.
func (e *env) around(b *Body) formula {
	at := b.outer.survived(b.parent, b.parent.act)
	if f, ok := e.assumed[b.outer]; ok {
		at = b.outer.diagram.and(at, f)
	}
	return at
}

// Assume is e where an expression has tested a condition: conditions of nodes and edges that ask the same come out the same, and a
// node without a result did not run.
func (e *env) Assume(cond *expr.Node, holds bool) expr.Env {
	if e.scope != nil || e.params != nil || e.body == nil || e.c.wf.Public {
		return nil
	}
	more := e
	if !readsState(cond) {
		key, positive := canonical(cond)
		names := cond.Refs()
		for b := e.body; b != nil && !b.weak && !b.loose; b = b.outer {
			if d := b.asks[key]; d != nil {
				k := 0
				if (holds == positive) != d.positive {
					k = 1
				}
				more = more.assuming(b, b.takes(d, k))
			}
			if cond.Op == expr.Binary && (cond.Text == "&&" || cond.Text == "||") {
				more = more.assuming(b, b.implied(cond, holds))
			}
			if slices.ContainsFunc(names, func(n *expr.Node) bool { return b.defines(n.Text) }) {
				break // further out the name means something else
			}
		}
	}
	x, name, only := expr.NullTest(cond)
	if x == nil || name == nil {
		return more.orNil(e)
	}
	s, ok := name.Ref.(*Step)
	if !ok || !only {
		more = more.testing(x, (cond.Text == "==") == holds)
	}
	if !ok || s.body.weak || s.body.loose {
		return more.orNil(e)
	}
	d := s.body.diagram
	if null := (cond.Text == "==") == holds; !null {
		more = more.assuming(s.body, d.and(s.ok, s.known))
	} else if only {
		more = more.assuming(s.body, d.without(always, s.ok))
	}
	return more.orNil(e)
}

// testing is e where an expression has tested whether x is absent, which conditions of nodes have tested, too.
func (e *env) testing(x *expr.Node, absent bool) *env {
	for b := e.body; b != nil && !b.weak && !b.loose; b = b.outer {
		if b.leaves[x.Path()] != nil || b.asksOf(x.Path()) {
			if l := b.leaf(x); l != nil {
				e = e.assuming(b, b.diagram.is(l.index, outcomeOf(absent)))
			}
		}
		if slices.ContainsFunc(x.Refs(), func(n *expr.Node) bool { return b.defines(n.Text) }) {
			break
		}
	}
	return e
}

// found is what holds where the condition of a step of b does: `a != null` says that a has run, and so that the condition of a did hold.
func (b *Body) found(d *Decision) formula {
	f := always
	if b.weak || b.loose || len(b.loops) > 0 {
		return f
	}
	for path := range d.proves(0) {
		name, _, _ := strings.Cut(path, ".")
		if s := b.byID[name]; s != nil {
			f = b.diagram.and(f, b.diagram.and(s.ok, s.known))
		}
	}
	return f
}

// orNil is e, or no Env when that is all that was known before.
func (e *env) orNil(before *env) expr.Env {
	if e == before {
		return nil
	}
	return e
}

func (b *Body) defines(name string) bool {
	return b.byID[name] != nil || slices.ContainsFunc(b.vars, func(v *Var) bool { return v.Name == name })
}

func (e *env) assuming(b *Body, f formula) *env {
	more := *e
	more.assumed = maps.Clone(e.assumed)
	if more.assumed == nil {
		more.assumed = map[*Body]formula{}
	}
	if g, ok := more.assumed[b]; ok {
		f = b.diagram.and(f, g)
	}
	more.assumed[b] = f
	if b == e.body {
		more.at = b.diagram.and(e.at, f)
	}
	return &more
}

// Proves reports whether the conditions that led here prove a path, together with what the expression has tested.
func (e *env) Proves(path string) bool {
	if len(e.assumed) == 0 {
		return false
	}
	name, _, _ := strings.Cut(path, ".")
	at := e.at
	for b := e.body; b != nil; b = b.outer {
		if b.proved(name, at, nil)[path] {
			return true
		}
		for _, l := range b.leaves {
			if l.paths[path] && b.refuted(b.diagram.without(at, b.diagram.is(l.index, 1))) {
				return true
			}
		}
		if b.defines(name) {
			return false
		}
		if b.outer != nil {
			at = e.around(b)
		}
	}
	return false
}
