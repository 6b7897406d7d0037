package expr

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// An Env may know more where a condition has come out in a certain way: what hangs on the same condition then ran, or did not.
type assumer interface {
	Assume(cond *Node, holds bool) Env // nil: it knows no more
	Proves(path string) bool           // because of what is assumed
}

// assume is env where the checked condition cond has come out as holds.
func assume(env Env, cond *Node, holds bool) Env {
	switch {
	case cond.Op == Unary && cond.Text == "!":
		return assume(env, cond.Kids[0], !holds)
	case cond.Op == Binary && (cond.Text == "&&" && holds || cond.Text == "||" && !holds):
		return assume(assume(env, cond.Kids[0], holds), cond.Kids[1], holds)
	}
	if a, ok := env.(assumer); ok {
		if more := a.Assume(cond, holds); more != nil {
			return more
		}
	}
	return env
}

// isAbsent is the condition that n is null.
func isAbsent(n *Node) *Node {
	return &Node{Op: Binary, Text: "==", Lo: n.Lo, Hi: n.Hi, Kids: []*Node{n, {Op: Lit}}}
}

// proves reports whether the env knows of a path, because of what is assumed, that it has a value.
func (c *checker) proves(path string) bool {
	a, ok := c.env.(assumer)
	return ok && a.Proves(path)
}

// within runs f where env is what names mean.
func (c *checker) within(env Env, f func()) {
	outer := c.env
	c.env = env
	f()
	c.env = outer
}

// fallback types the second argument of `default`. What is proved only where the first one is absent makes the call lazy.
func (c *checker) fallback(n *Node, facts Facts, want *schema.Type) {
	x, v := n.Kids[0], n.Kids[1]
	before := len(c.probs)
	c.check(v, facts, want)
	n.Lazy = false
	env := assume(c.env, isAbsent(x), true)
	if env == c.env || len(c.probs) == before && v.Type.Kind != schema.Opt {
		return
	}
	plain := c.probs[before:len(c.probs):len(c.probs)]
	c.probs = c.probs[:before:before]
	c.within(env, func() { c.check(v, facts, want) })
	if n.Lazy = len(c.probs) == before; !n.Lazy {
		c.probs = c.probs[:before]
		c.check(v, facts, want)
		c.probs = append(c.probs[:before], plain...)
	}
}

// covered reports whether one of the arguments of `first` is there wherever all others are absent.
func (c *checker) covered(n *Node, facts Facts) bool {
	for i, k := range n.Kids {
		env := c.env
		for j, other := range n.Kids {
			if j != i {
				env = assume(env, isAbsent(other), true)
			}
		}
		if env == c.env {
			continue
		}
		before, there := len(c.probs), false
		c.within(env, func() {
			c.lenient(k, facts, nil)
			there = k.Type.Kind != schema.Opt && k.Type.Kind != schema.Invalid && len(c.probs) == before
		})
		c.probs = c.probs[:before]
		c.lenient(k, facts, nil)
		c.probs = c.probs[:before]
		if there {
			return true
		}
	}
	return false
}

// NullTest is what a condition compares with null, or nil; name is the symbol that it begins with, and only says that it is absent
// exactly where the node that the name stands for did not run.
func NullTest(cond *Node) (x *Node, name *Symbol, only bool) {
	x = nullTested(cond)
	if x == nil {
		return nil, nil, false
	}
	root := x
	for root.Op == Field || root.Op == OptField {
		if root.Sym != nil {
			return x, nil, false
		}
		root = root.Kids[0]
	}
	if root.Op != Name {
		return x, nil, false
	}
	return x, root.Sym, root.Sym != nil && absentNode(x) == root.Sym
}

// absentInside reports whether typing the first argument of `default`, whose problems begin at before, has found a value inside it that
// may be absent. What calls a method of that value needs the default there.
func (c *checker) absentInside(x, v *Node, before int) bool {
	found := false
	for i := range c.probs[before:] {
		p := &c.probs[before+i]
		if p.Code != diag.OptionalUse {
			continue
		}
		found = true
		recv := x
		for len(recv.Kids) > 0 && recv.Lo == p.Lo && recv.Hi != p.Hi {
			recv = recv.Kids[0]
		}
		if rest, ok := strings.CutPrefix(x.String(), recv.String()+"."); ok && recv.Lo == p.Lo && recv.Hi == p.Hi && v.Op == ListLit && len(v.Kids) == 0 {
			p.Help = "give the value the default: `default(" + recv.String() + ", [])." + rest + "`"
		}
	}
	return found
}

// neverAbsent reports that x has a value always, where lo to hi asks whether it has.
func (c *checker) neverAbsent(x *Node, lo, hi int, help string) *Problem {
	return c.report(diag.NeverAbsent, lo, hi, help, "%s is never absent", x)
}
