package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// grower makes random workflows. The same seed gives the same.
type grower struct {
	*rand.Rand
	size  int
	count int
	flow  *flow
}

// newFlow is the workflow of a seed; size is about the number of its nodes.
func newFlow(seed uint64, size int) *flow {
	g := &grower{Rand: rand.New(rand.NewPCG(seed, 42)), size: size}
	var subs []*flow
	for i := range g.IntN(3) {
		if size < 4 {
			break
		}
		subs = append(subs, g.workflow(fmt.Sprintf("w%03d_sub%d", seed, i), 2+g.IntN(4), slices.Clone(subs), true))
	}
	return g.workflow(fmt.Sprintf("w%03d", seed), size, subs, false)
}

func (g *grower) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *grower, list []T) T { return list[g.IntN(len(list))] }

func (g *grower) workflow(name string, size int, subs []*flow, sub bool) *flow {
	f := &flow{name: name, subs: subs, sub: sub}
	f.fields = []*field{
		{"last", "int", "last", "0"}, {"other", "int", "last", "5"}, {"seen", "list<int>", "append", ""},
		{"once", "int", "set_once", "1"}, {"fold", "int", "reducer", "2"},
	}
	saved := g.flow
	g.flow = f
	f.body = g.body(size, spot{nested: sub})
	end := spot{body: f.body, before: f.body.nodes}
	f.v, f.ok = g.number(end, 2), g.truth(end, 1)
	g.flow = saved
	return f
}

// spot is where a value stands: what can be read there.
type spot struct {
	body   *body
	self   *node // whose own result can be read too
	before []*node
	outer  []*node
	vars   []*item
	depth  int
	nested bool // in a scope whose failure may be handled, or that may run several times at once
}

func (g *grower) newNode(b *body) *node {
	g.count++
	return &node{id: fmt.Sprintf("n%d", g.count), in: b}
}

// body makes a body of about n nodes.
func (g *grower) body(n int, at spot) *body {
	b := &body{}
	for range n {
		b.nodes = append(b.nodes, g.newNode(b))
	}
	b.inferred = g.chance(15)
	out := make([][]int, n)
	if !b.inferred {
		g.topology(out)
		g.backs(b, out)
	}
	before := reach(out)
	for i, nd := range b.nodes {
		here := at
		here.body, here.before = b, nil
		for j := range i {
			if b.inferred || before[j][i] {
				here.before = append(here.before, b.nodes[j])
			}
		}
		g.fill(nd, here)
		if !b.inferred {
			g.leave(nd, out[i], here)
		} else if g.mayFail(nd) && i+1 < n && g.chance(40) {
			to := b.nodes[i+1+g.IntN(n-i-1)]
			nd.catch = append(nd.catch, clause{"any", to})
			b.arcs = append(b.arcs, &arc{from: nd, to: to, clause: 1})
		}
		g.sets(nd, here)
	}
	// Where there are only catch clauses no edge is written.
	b.inferred = b.inferred || len(b.backs) == 0 && !slices.ContainsFunc(b.arcs, func(a *arc) bool { return a.clause == 0 })
	b.file = slices.Clone(b.nodes)
	if !b.inferred && g.chance(25) {
		g.Shuffle(n, func(i, j int) { b.file[i], b.file[j] = b.file[j], b.file[i] })
	}
	g.orderWrites(b)
	return b
}

// orderWrites leaves writes to one field in parallel only where the order of the file is that of the edges and no
// loop repeats one of them. Otherwise it would have to be said which order between branches that of the file is.
func (g *grower) orderWrites(b *body) {
	arcs := b.edges()
	for _, f := range g.flow.fields {
		var writers []*node
		for _, n := range b.nodes {
			if n.writesTo(f) {
				writers = append(writers, n)
			}
		}
		together, repeated := false, false
		for i, n := range writers {
			for _, m := range writers[i+1:] {
				together = together || !reaches(arcs, n, m)
			}
			for _, l := range b.backs {
				repeated = repeated || slices.Contains(b.members(l), n)
			}
		}
		if together && (repeated || !slices.Equal(b.file, b.nodes)) {
			for _, n := range writers[1:] {
				n.dropWrites(f)
			}
		}
	}
}

// writesTo reports whether a node or what is inside it writes a field.
func (n *node) writesTo(f *field) bool {
	return slices.ContainsFunc(n.sets, func(s *set) bool { return s.field == f }) ||
		n.do != nil && slices.ContainsFunc(n.do.nodes, func(m *node) bool { return m.writesTo(f) })
}

func (n *node) dropWrites(f *field) {
	n.sets = slices.DeleteFunc(n.sets, func(s *set) bool { return s.field == f })
	if n.do != nil {
		for _, m := range n.do.nodes {
			m.dropWrites(f)
		}
	}
}

// topology makes edges from lower to higher nodes so that every node is on one: nested chains and fans as people write
// them, with shortcuts, or no structure at all.
func (g *grower) topology(out [][]int) {
	n := len(out)
	add := func(i, j int) {
		if i < j && !slices.Contains(out[i], j) {
			out[i] = append(out[i], j)
		}
	}
	var build func(lo, hi int)
	build = func(lo, hi int) {
		switch {
		case hi-lo <= 2:
			for i := lo; i+1 < hi; i++ {
				add(i, i+1)
			}
		case hi-lo < 4 || g.chance(40):
			m := lo + 1 + g.IntN(hi-lo-1)
			build(lo, m)
			build(m, hi)
			add(m-1, m)
		default:
			k := lo + 2 + g.IntN(hi-lo-3)
			build(lo+1, k)
			build(k, hi-1)
			for _, x := range []int{lo + 1, k} {
				add(lo, x)
			}
			add(k-1, hi-1)
			add(hi-2, hi-1)
		}
	}
	switch style := g.IntN(4); style {
	case 0:
		for j := 1; j < n; j++ {
			for i := range j {
				if g.Float64() < 1.4/float64(n) {
					add(i, j)
				}
			}
			if !g.chance(10) || j == n-1 {
				add(g.IntN(j), j)
			}
		}
		for i := range n - 1 { // nobody stands alone
			lonely := len(out[i]) == 0
			for j := range i {
				lonely = lonely && !slices.Contains(out[j], i)
			}
			if lonely {
				add(i, i+1+g.IntN(n-i-1))
			}
		}
	default:
		build(0, n)
		for range style - 1 {
			if n > 2 {
				i := g.IntN(n - 1)
				add(i, i+1+g.IntN(n-1-i))
			}
		}
	}
}

func reach(out [][]int) [][]bool {
	n := len(out)
	r := make([][]bool, n)
	for i := n - 1; i >= 0; i-- {
		r[i] = make([]bool, n)
		for _, j := range out[i] {
			r[i][j] = true
			for k := range n {
				r[i][k] = r[i][k] || r[j][k]
			}
		}
	}
	return r
}

// backs closes loops that have one entry and nest. out may get an edge more, for what follows a spent loop.
func (g *grower) backs(b *body, out [][]int) {
	n := len(out)
	type loop struct{ h, f, to int }
	var loops []loop
	inside := func(l loop, r [][]bool, i int) bool { return i == l.h || i == l.f || r[l.h][i] && r[i][l.f] }
	proper := func(loops []loop) bool {
		r := reach(out)
		for i, l := range loops {
			for a := range n {
				for _, c := range out[a] {
					if c != l.h && inside(l, r, c) && !inside(l, r, a) {
						return false
					}
				}
			}
			if l.to > 0 && inside(l, r, l.to) {
				return false
			}
			for _, m := range loops[:i] {
				shared, sl, sm := 0, 0, 0
				for k := range n {
					x, y := inside(l, r, k), inside(m, r, k)
					if x {
						sl++
					}
					if y {
						sm++
					}
					if x && y {
						shared++
					}
				}
				if l.h == m.h || l.f == m.f || shared > 0 && shared != sl && shared != sm {
					return false
				}
			}
		}
		return true
	}
	for range g.IntN(3) {
		h := g.IntN(n)
		f := h + g.IntN(n-h)
		l := loop{h: h, f: f}
		if h != f && !reach(out)[h][f] || !proper(append(slices.Clone(loops), l)) {
			continue
		}
		if f+1 < n && g.chance(40) {
			to := f + 1 + g.IntN(n-f-1)
			if !slices.Contains(out[f], to) {
				out[f] = append(out[f], to)
				l.to = to
				if !proper(append(slices.Clone(loops), l)) {
					out[f] = out[f][:len(out[f])-1]
					l.to = 0
				}
			}
		}
		loops = append(loops, l)
		back := &back{from: b.nodes[f], header: b.nodes[h], max: 1 + g.IntN(3), exhausted: pick(g, []string{"", "end", "end"})}
		if l.to > 0 {
			back.exhausted, back.to = "node", b.nodes[l.to]
		}
		b.backs = append(b.backs, back)
	}
}

// fill decides what a node does.
func (g *grower) fill(n *node, at spot) {
	switch x := g.IntN(100); {
	case x < 50 || at.depth >= 2 && x < 86:
		g.tool(n, at)
	case x < 60:
		n.verb, n.kind = "let", isPair
		n.a, n.ok = g.number(at, 2), g.truth(at, 1)
	case x < 66:
		n.verb, n.kind, n.tool = "go", isInt, pick(g, []string{"Mix", "MixOdd"})
		n.a, n.b = g.number(at, 1), g.number(at, 1)
	case x < 78 && at.depth < 2:
		g.mapNode(n, at)
	case x < 86 && at.depth < 2:
		g.loopNode(n, at)
	case len(g.flow.subs) > 0:
		n.verb, n.kind, n.flow = "flow", isPair, pick(g, g.flow.subs)
		n.a, n.b = g.number(at, 1), g.number(at, 1)
	default:
		g.tool(n, at)
	}
	if g.mayFail(n) && n.onError == "" && n.onItem != "skip" && g.chance(20) {
		n.onError, n.fallback = pick(g, []string{"skip", "default"}), int64(g.IntN(50))
		if n.kind == isNone {
			n.onError = "skip"
		}
		if n.onError == "default" && n.kind == isMaybe {
			n.onError = "skip"
		}
	}
}

// mayFail reports whether catch and on_error mean something on the node.
func (g *grower) mayFail(n *node) bool {
	return n.verb != "let" && n.verb != "go" && n.onItem != "skip"
}

var toolKinds = map[string]kind{"calc": isOut, "look": isOut, "save": isOut, "plain": isBare, "note": isNone, "maybe": isMaybe}

func (g *grower) tool(n *node, at spot) {
	n.verb, n.tool = "tool", pick(g, []string{"calc", "calc", "look", "save", "plain", "note", "maybe"})
	n.kind = toolKinds[n.tool]
	n.a, n.b, n.s = g.number(at, 2), g.number(at, 1), g.text(at)
	switch {
	case g.chance(15) && !at.nested:
		n.flaky = 1 + g.IntN(2)
		n.attempts = n.flaky + 1
	case g.chance(30):
		n.fail = 10 + g.IntN(60)
		if g.chance(30) {
			n.attempts = 2
		}
	}
}

// inner is the body of a map or loop: a node, or a graph.
func (g *grower) inner(n *node, at spot) {
	at.outer = slices.Concat(at.outer, at.before)
	at.before, at.self, at.depth, at.nested = nil, nil, at.depth+1, true
	if g.chance(40) {
		b := &body{inline: true, parent: n}
		only := g.newNode(b)
		at.body = b
		switch g.IntN(5) {
		case 0:
			only.verb, only.kind = "let", isPair
			only.a, only.ok = g.number(at, 2), g.truth(at, 1)
		case 1:
			only.verb, only.kind, only.tool = "go", isInt, pick(g, []string{"Mix", "MixOdd"})
			only.a, only.b = g.number(at, 1), g.number(at, 1)
		default:
			g.tool(only, at)
			if only.kind == isNone || only.kind == isMaybe {
				only.tool, only.kind = "calc", isOut
			}
		}
		b.nodes, b.file = []*node{only}, []*node{only}
		n.do, n.elem = b, only.kind
		return
	}
	n.do, n.elem = g.body(1+g.IntN(4), at), isPair
	n.do.parent = n
	at.body, at.before = n.do, n.do.nodes
	n.do.v, n.do.ok = g.number(at, 1), g.truth(at, 1)
}

func (g *grower) mapNode(n *node, at spot) {
	n.verb, n.kind = "map", isList
	n.over = g.items(at)
	n.as = "t" + n.id
	at.vars = append(slices.Clone(at.vars), &item{name: n.as})
	if n.over.elem != isInt {
		at.vars[len(at.vars)-1].path = "v"
	}
	if g.chance(40) {
		n.index = "i" + n.id
		at.vars = append(at.vars, &item{name: n.index})
	}
	if g.chance(50) {
		n.parallel = 1 + g.IntN(3)
	}
	n.onItem = pick(g, []string{"fail", "keep", "skip"})
	g.inner(n, at)
	if n.onItem == "keep" {
		n.kind = isItems
	}
}

// items is a list to map over.
func (g *grower) items(at spot) *items {
	var nodes []*node
	for _, m := range slices.Concat(at.before, at.outer) {
		if m.kind == isOut || m.kind == isList {
			nodes = append(nodes, m)
		}
	}
	if len(nodes) == 0 || g.chance(40) {
		return &items{input: true, elem: isInt}
	}
	m := pick(g, nodes)
	if m.kind == isOut {
		return &items{node: m, path: "items", elem: isInt, form: defaulted}
	}
	return &items{node: m, elem: m.elem, form: defaulted}
}

func (g *grower) loopNode(n *node, at spot) {
	n.verb = "loop"
	g.inner(n, at)
	n.kind, n.max = n.elem, 1+g.IntN(4)
	if g.chance(75) {
		at.self = n
		n.until = g.truth(at, 1)
	}
}

// sets decides what a node writes to state.
func (g *grower) sets(n *node, at spot) {
	if !g.chance(40) {
		return
	}
	at.self = n
	f := pick(g, g.flow.fields)
	s := &set{node: n, field: f}
	if f.list() && n.kind == isOut && n.onError != "skip" && g.chance(40) {
		s.list = &items{node: n, path: "items"}
	} else {
		s.value = g.number(at, 1)
	}
	n.sets = append(n.sets, s)
}

var catchable = []string{"VALIDATION_ERROR", "TIMEOUT", "RATE_LIMIT", "POLICY_DENIED", "AUTH_REQUIRED", "PROVIDER_ERROR", "NETWORK_ERROR", "SANDBOX_ERROR", "UNKNOWN"}

// leave makes the edges out of a node.
func (g *grower) leave(n *node, out []int, at spot) {
	b := n.in
	at.self = n
	var targets []*node
	for _, j := range out {
		targets = append(targets, b.nodes[j])
	}
	for _, l := range b.backs {
		if l.from != n {
			continue
		}
		if l.exhausted == "" || g.chance(85) {
			l.cond = g.condition(n, at)
		}
		if l.to != nil {
			targets = slices.DeleteFunc(targets, func(t *node) bool { return t == l.to })
			b.arcs = append(b.arcs, &arc{from: n, to: l.to, back: l})
		}
	}
	if g.mayFail(n) && g.chance(35) {
		targets = g.catches(n, targets)
	}
	add := func(to *node, c *choice, cases ...int) {
		b.arcs = append(b.arcs, &arc{from: n, to: to, choice: c, cases: cases})
	}
	switch {
	case len(targets) == 0:
	case n.kind == isOut && g.chance(60) || len(targets) > 2 && n.kind == isOut:
		g.switches(n, targets, at)
	case g.chance(40):
		c := g.condition(n, at)
		for i, t := range targets {
			switch k := g.IntN(4); {
			case i == 0:
				add(t, c, 0)
			case k == 0:
				add(t, nil)
			case k == 1 && len(targets) > 2:
				add(t, g.condition(n, at), g.IntN(2))
			default:
				add(t, c, 1)
			}
		}
	default:
		for _, t := range targets {
			add(t, nil)
		}
	}
}

// condition is a `when` after a node.
func (g *grower) condition(n *node, at spot) *choice {
	c := &choice{from: n, cond: g.truth(at, 1)}
	n.in.choices = append(n.in.choices, c)
	return c
}

// catches turns some edges into catch clauses and returns the others.
func (g *grower) catches(n *node, targets []*node) []*node {
	clause := func(code string) {
		c := clause{code: code}
		if len(targets) > 0 && g.chance(80) {
			i := g.IntN(len(targets))
			c.to = targets[i]
			targets = slices.Delete(slices.Clone(targets), i, i+1)
		}
		n.catch = append(n.catch, c)
		if c.to != nil {
			n.in.arcs = append(n.in.arcs, &arc{from: n, to: c.to, clause: len(n.catch)})
		}
	}
	if g.chance(40) {
		clause(pick(g, catchable))
	}
	if g.chance(75) || len(n.catch) == 0 {
		clause("any")
	}
	if len(n.catch) == 2 && g.chance(30) { // the order of clauses means nothing
		n.catch[0], n.catch[1] = n.catch[1], n.catch[0]
		for _, a := range n.in.arcs {
			if a.from == n && a.clause > 0 {
				a.clause = 3 - a.clause
			}
		}
	}
	return targets
}

// switches leaves a node by a switch over its route or its number.
func (g *grower) switches(n *node, targets []*node, at spot) {
	b := n.in
	c := &choice{from: n, values: []any{"red", "green", "blue"}}
	path, def := "route", any("blue")
	if g.chance(25) {
		path, def, c.values = "few", int64(1), []any{int64(0), int64(1), int64(2)}
		c.other = !g.chance(15)
	} else if g.chance(40) {
		c.values, c.other = c.values[:1+g.IntN(2)], true
	}
	c.on = &ref{node: n, path: path, def: def, form: plain}
	if n.onError == "skip" {
		c.on.(*ref).form = defaulted
	}
	b.choices = append(b.choices, c)
	count := len(c.values)
	if c.other {
		count++
	}
	taken := map[int]bool{}
	for _, t := range targets {
		a := &arc{from: n, to: t, choice: c}
		for k := range count {
			if !taken[k] && g.IntN(count) == 0 || g.chance(8) {
				a.cases = append(a.cases, k)
				taken[k] = true
			}
		}
		if len(a.cases) == 0 {
			a.cases = []int{g.IntN(count)}
			taken[a.cases[0]] = true
		}
		b.arcs = append(b.arcs, a)
	}
	for k := range count {
		if !taken[k] {
			c.ends = append(c.ends, k)
		}
	}
}

// number is an expression of type int. Results are small, so that nothing overflows.
func (g *grower) number(at spot, depth int) value {
	switch x := g.IntN(20); {
	case x < 9:
		if r := g.ref(at, false); r != nil {
			return r
		}
		return &input{pick(g, []string{"x", "y"})}
	case x < 11 && depth > 0:
		var refs []*ref
		for range 2 + g.IntN(2) {
			if r := g.ref(at, false); r != nil && r.path != "size" && r.path != "failures" &&
				!slices.ContainsFunc(refs, func(o *ref) bool { return o.node == r.node }) {
				r.form = plain
				refs = append(refs, r)
			}
		}
		if len(refs) > 1 {
			return &firstOf{refs: refs, def: int64(-2), form: defaulted}
		}
		return lit{int64(g.IntN(9))}
	case x < 13 && len(at.vars) > 0:
		return pick(g, at.vars)
	case x < 15:
		return &state{pick(g, g.flow.fields)}
	case x < 17 && depth > 0:
		return &op{pick(g, []string{"+", "-"}), g.number(at, depth-1), g.number(at, depth-1)}
	case x < 18 && depth > 0:
		return &ternary{g.truth(at, 0), g.number(at, depth-1), g.number(at, depth-1)}
	case x < 19:
		return &input{pick(g, []string{"x", "y"})}
	}
	return lit{int64(g.IntN(9))}
}

// truth is an expression of type bool.
func (g *grower) truth(at spot, depth int) value {
	switch x := g.IntN(12); {
	case x < 4:
		if r := g.ref(at, true); r != nil {
			return r
		}
	case x < 5 && depth > 0:
		return &op{pick(g, []string{"&&", "||"}), g.truth(at, depth-1), g.truth(at, depth-1)}
	case x < 6 && depth > 0:
		return &op{op: "!", a: g.truth(at, depth-1)}
	case x < 8:
		return &op{pick(g, []string{"<", ">="}), &state{pick(g, g.flow.fields)}, lit{int64(g.IntN(6))}}
	}
	if r := g.ref(at, false); r != nil {
		limit := int64(2)
		if r.path == "v" || r.path == "" {
			limit = 500
		}
		return &op{pick(g, []string{"<", ">=", "==", "!="}), r, lit{limit}}
	}
	return &op{pick(g, []string{"<", ">="}), &input{"x"}, lit{int64(g.IntN(6))}}
}

// ref reads a node; nil when there is none to read.
func (g *grower) ref(at spot, truth bool) *ref {
	nodes := slices.Concat(at.before, at.before, at.outer)
	if at.self != nil {
		nodes = append(nodes, at.self, at.self, at.self)
	}
	nodes = slices.DeleteFunc(nodes, func(n *node) bool {
		switch n.kind {
		case isNone:
			return true
		case isInt, isList, isItems:
			return truth
		}
		return false
	})
	if len(nodes) == 0 {
		return nil
	}
	n := pick(g, nodes)
	r := &ref{node: n, def: int64(-1), form: form(g.IntN(3)), hook: g.IntN(2)}
	switch {
	case truth:
		r.path, r.def = "ok", g.chance(50)
	case n.kind == isInt:
	case n.kind == isList || n.kind == isItems:
		r.path, r.def = "size", int64(0)
		if n.onItem == "skip" && g.chance(30) {
			r.path, r.form = "failures", plain
		}
	case n.kind == isOut || n.kind == isBare:
		r.path = pick(g, []string{"v", "few"})
	default:
		r.path = "v"
	}
	return r
}

// text is an expression of type string.
func (g *grower) text(at spot) value {
	switch g.IntN(6) {
	case 0:
		return &concat{[]value{lit{"s"}, g.number(at, 0), lit{":"}, g.number(at, 0)}}
	case 1, 2:
		for _, n := range at.before {
			for _, a := range n.in.arcs {
				if a.from == n && a.clause > 0 && (g.chance(30) || g.chance(60) && !slices.Contains(at.before, a.to)) {
					return &caught{node: n}
				}
			}
		}
	}
	return lit{pick(g, []string{"", "a", "b"})}
}
