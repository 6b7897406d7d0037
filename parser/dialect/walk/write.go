package walk

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// around is what is around statements.
type around struct {
	next        int // the point that runs when they end
	head, after int // of the loop that they are in: the points that a Next and a Break lead to
	arm         bool
	outer       []int // points that are written after loops around them
}

// seq writes a point and all that comes after it, until the point that runs next.
func (s *structure) seq(at int, c around) (ir.Block, bool) {
	if s.tries++; s.tries > 100*len(s.points) {
		return nil, false
	}
	if s.cycles[at] != nil {
		return s.loop(at, c)
	}
	return s.plain(at, c)
}

// plain writes a point, its decision, and what comes after its ways have met.
func (s *structure) plain(at int, c around) (ir.Block, bool) {
	meet := nowhere
	for _, k := range s.below[at] {
		if s.ways[k] < 2 || slices.Contains(c.outer, k) {
			continue
		}
		if meet != nowhere {
			return nil, false
		}
		meet = k
	}
	inner := c
	if meet != nowhere {
		inner.next = meet
	}
	ways, ok := s.decision(at, inner)
	if !ok {
		return nil, false
	}
	out := slices.Concat(s.points[at].do, ways)
	if meet == nowhere {
		return out, true
	}
	rest, ok := s.seq(meet, c)
	return append(out, rest...), ok
}

// loop writes a cycle. What comes after it is one of the points that lead out; what is before other ways out is in the loop.
func (s *structure) loop(at int, c around) (ir.Block, bool) {
	for _, after := range s.exits(at) {
		in := around{next: at, head: at, after: after, outer: append(slices.Clone(c.outer), after)}
		body, ok := s.plain(at, in)
		if !ok {
			continue
		}
		out := ir.Block{&ir.WhileStmt{Do: body}}
		if after == nowhere {
			return out, true
		}
		next := s.to
		if after != End && after != c.next && s.through(at, after) && !slices.Contains(c.outer, after) {
			next = s.seq
		}
		if rest, ok := next(after, c); ok {
			return append(out, rest...), true
		}
	}
	return nil, false
}

// exits are the points that may come after a loop, the best first: the only one that it leads to; else where ways out meet.
func (s *structure) exits(head int) []int {
	var out []int
	end := false
	for _, at := range s.order {
		if !s.cycles[head][at] {
			continue
		}
		for _, to := range s.points[at].next() {
			switch {
			case to == End:
				end = true
			case !s.cycles[head][to] && !slices.Contains(out, to):
				out = append(out, to)
			}
		}
	}
	if len(out) > 1 {
		var meets []int
		for _, at := range s.order {
			if s.ways[at] > 1 && !s.cycles[head][at] && s.through(head, at) {
				meets = append(meets, at)
			}
		}
		if out = append(meets, out...); end && len(meets) == 0 {
			return append([]int{End}, out...)
		}
	}
	if end {
		out = append(out, End)
	}
	if len(out) == 0 {
		out = append(out, nowhere)
	}
	return out
}

// to writes how the token gets to a point.
func (s *structure) to(at int, c around) (ir.Block, bool) {
	switch {
	case at == c.next:
		return nil, true
	case at == c.after && !c.arm:
		return ir.Block{&ir.BreakStmt{}}, true
	case at == End:
		return ir.Block{&ir.ReturnStmt{}}, true
	case at == c.head:
		return ir.Block{&ir.NextStmt{}}, true
	case s.ways[at] > 1 || slices.Contains(c.outer, at):
		return nil, false
	}
	return s.seq(at, c)
}

// decision writes the decision of a point.
func (s *structure) decision(at int, c around) (ir.Block, bool) {
	p := &s.points[at]
	switch {
	case p.route != nil:
		if out, ok := s.choose(p.route, c); ok {
			return out, true
		}
		return s.chain(p.route, c)
	case p.when == nil:
		return s.to(p.no, c)
	}
	yes, ok := s.to(p.yes, c)
	if !ok {
		return nil, false
	}
	no, ok := s.to(p.no, c)
	return branch(p.when, yes, no, c), ok
}

// choose writes a route as a switch.
func (s *structure) choose(r *Route, c around) (ir.Block, bool) {
	out := &ir.SwitchStmt{On: &ir.Expr{Node: r.Value}}
	c.arm = true
	for _, w := range r.Ways {
		do, ok := s.to(w.To, c)
		switch {
		case !ok:
			return nil, false
		case len(do) == 0:
		case w.To == End:
			out.Default = do
		default:
			out.Arms = append(out.Arms, ir.SwitchArm{Value: w.Name, Do: do})
		}
	}
	if len(out.Default) > 0 { // which those are not that only go on
		for _, w := range r.Ways {
			if !slices.ContainsFunc(out.Arms, func(a ir.SwitchArm) bool { return a.Value == w.Name }) && w.To != End {
				return nil, false
			}
		}
	}
	return ir.Block{out}, true
}

// chain writes a route as conditions, in which loops can be left.
func (s *structure) chain(r *Route, c around) (ir.Block, bool) {
	var out ir.Block
	for i, w := range slices.Backward(r.Ways) {
		do, ok := s.to(w.To, c)
		if !ok {
			return nil, false
		}
		if i == len(r.Ways)-1 {
			out = do
			continue
		}
		out = branch(same(expr.Read(r.Local), w.Name), do, out, c)
	}
	return append(ir.Block{&ir.LetStmt{Name: ir.Ident{Name: r.Local}, Value: &ir.Expr{Node: r.Value}}}, out...), true
}

// branch writes a decision between two blocks. One that ends its loop or the body stands alone under its condition.
func branch(when *expr.Node, yes, no ir.Block, c around) ir.Block {
	if len(yes) == 0 && len(no) == 0 {
		return nil
	}
	under := func(when *expr.Node, do, other ir.Block) *ir.IfStmt {
		return &ir.IfStmt{Cond: &ir.Expr{Node: when}, Then: do, Else: other}
	}
	guard := func(when *expr.Node, do, rest ir.Block) ir.Block {
		return append(ir.Block{under(when, do, nil)}, rest...)
	}
	leave := leaving(c)
	switch yesEnds, noEnds := ends(yes), ends(no); {
	case len(no) == 0 && leave != nil && branches(yes):
		return guard(negated(when), leave, yes)
	case len(yes) == 0 && leave != nil && branches(no):
		return guard(when, leave, no)
	case yesEnds && (!noEnds || len(yes) <= len(no)):
		return guard(when, yes, no)
	case noEnds:
		return guard(negated(when), no, yes)
	case len(no) == 0:
		return ir.Block{under(when, yes, nil)}
	case len(yes) == 0:
		return ir.Block{under(negated(when), no, nil)}
	}
	return ir.Block{under(when, yes, no)}
}

// leaving is the statement that goes to what runs next; nil: there is none.
func leaving(c around) ir.Block {
	switch c.next {
	case End:
		return ir.Block{&ir.ReturnStmt{}}
	case c.head:
		return ir.Block{&ir.NextStmt{}}
	}
	return nil
}

// branches reports whether a block has a decision or a loop.
func branches(b ir.Block) bool {
	return slices.ContainsFunc(b, func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.IfStmt, *ir.SwitchStmt, *ir.WhileStmt:
			return true
		}
		return false
	})
}

// ends reports whether nothing runs what is after a block.
func ends(b ir.Block) bool {
	if len(b) == 0 {
		return false
	}
	switch s := b[len(b)-1].(type) {
	case *ir.ReturnStmt, *ir.NextStmt, *ir.BreakStmt:
		return true
	case *ir.IfStmt:
		return ends(s.Then) && ends(s.Else)
	case *ir.WhileStmt:
		return s.Cond == nil && s.Max == 0 && !breaks(s.Do)
	}
	return false
}

// breaks reports whether a block ends the loop that it is in.
func breaks(b ir.Block) bool {
	return slices.ContainsFunc(b, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.BreakStmt:
			return true
		case *ir.IfStmt:
			return breaks(s.Then) || breaks(s.Else)
		}
		return false
	})
}
