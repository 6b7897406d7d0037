package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// maxArcs bounds what the edges of one body come to: `a, b, c -> d, e, f` is nine.
const maxArcs = 100_000

// maxConditions bounds the conditions on the edges out of one node: they end in one condition of Go.
const maxConditions = 1000

// connect builds the arcs of a body from its edges, its catch clauses and, where no edges are written, from the
// references between its nodes.
func (c *checker) connect(b *Body) {
	b.loose = b.loose || c.unreadEdges(b)
	for _, s := range b.Steps {
		c.connectCatch(b, s)
		s.ownCondition()
	}
	if !b.IR.EdgesWritten {
		c.inferEdges(b)
		return
	}
	for _, e := range b.IR.Edges {
		if len(b.arcs)+max(len(e.To), len(e.Cases)) > maxArcs {
			c.report(diag.Diagnostic{Code: diag.YAMLLimit, Span: e.Span, Message: fmt.Sprintf("the graph has more than %d edges", maxArcs),
				Help: "insert a node to join them"})
			b.loose = true
			return
		}
		c.connectEdge(b, e)
		if from := b.source(e.From); from != nil && len(from.after) > maxConditions {
			c.report(diag.Diagnostic{Code: diag.YAMLLimit, Span: e.Span, Message: fmt.Sprintf("more than %d conditions are on the edges out of %s", maxConditions, e.From.Name),
				Help: "decide in steps, or in a go node"})
			b.loose = true
			return
		}
	}
	c.contradictions(b)
	c.unconnected(b)
}

// unreadEdges reports whether the parser found a mistake where the edges of the body stand, so that some are missing.
func (c *checker) unreadEdges(b *Body) bool {
	if !b.IR.EdgesWritten {
		return false
	}
	at := b.IR.EdgesSpan
	return slices.ContainsFunc(c.early, func(d diag.Diagnostic) bool {
		return d.Span.File == at.File && at.Lo <= d.Span.Lo && d.Span.Hi <= at.Hi
	})
}

func (c *checker) connectCatch(b *Body, s *Step) {
	if len(s.Node.Catch) == 0 {
		return
	}
	if s.pure() { // handling reports it
		for _, k := range s.Node.Catch {
			c.target(b, k.Target)
		}
		return
	}
	s.Catch = true
	s.outcome = &Decision{Step: s, Kind: Outcome, Cases: []Case{{Label: "ok"}}}
	for _, k := range s.Node.Catch {
		s.outcome.Cases = append(s.outcome.Cases, Case{Code: k.Code.Name, Label: "catch " + k.Code.Name})
		if to := c.target(b, k.Target); to != nil {
			b.link(&arc{from: s, to: to, decision: s.outcome, cases: len(s.outcome.Cases) - 1, at: k.Target.Span})
		}
	}
}

// ownCondition makes the decision of a step's `when`. Whether the step went on is told by a variable: its result does not say it.
func (s *Step) ownCondition() {
	w := s.Node.When
	if w == nil || w.Node == nil {
		return
	}
	key, positive := canonical(w.Node)
	text := w.Node.String()
	s.when = &Decision{Step: s, Kind: When, Expr: w.Node, Value: w, key: key, positive: positive, Cases: []Case{{Label: text}, {Label: "!(" + text + ")"}}}
	s.Flag = true
}

func (b *Body) link(a *arc) {
	b.arcs = append(b.arcs, a)
	a.from.out = append(a.from.out, a)
	a.to.in = append(a.to.in, a)
}

// target resolves the end of an edge; nil for `end` and after a mistake.
func (c *checker) target(b *Body, id ir.Ident) *Step {
	if id.Name == "end" || id.Name == "" {
		return nil
	}
	if s := b.byID[id.Name]; s != nil {
		return s
	}
	b.loose = true
	if id.Name == "start" {
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: id.Span, Message: "no edge can lead to start", Help: "start is where the workflow begins; use a `loop` node to repeat it"})
		return nil
	}
	c.unknownNode(b, id)
	return nil
}

func (c *checker) unknownNode(b *Body, id ir.Ident) {
	for o := b.outer; o != nil; o = o.outer {
		if s := o.byID[id.Name]; s != nil {
			c.report(diag.Diagnostic{
				Code: diag.UnknownName, Span: id.Span,
				Message: "node \"" + id.Name + "\" is outside this body",
				Help:    "edges stay within one body; put the edge where the node is",
				Related: []diag.Related{{Span: s.Node.ID.Span, Message: "it is defined here"}},
			})
			return
		}
	}
	for _, s := range b.Steps {
		if inner := s.inside(id.Name); inner != nil {
			d := insideOf(inner, s)
			d.Span, d.Help = id.Span, "edges stay within one body; lead to `"+s.Node.ID.Name+"`"
			c.report(d)
			return
		}
	}
	names := make([]string, 0, len(b.Steps)+1)
	for _, s := range b.Steps {
		names = append(names, s.Node.ID.Name)
	}
	c.reportUnknown(diag.UnknownName, "node \""+id.Name+"\" is not defined", id.Span, id.Name, append(names, "end"))
}

// inside finds a node in the body of a map or loop, at any depth.
func (s *Step) inside(id string) *ir.Node {
	var find func(n *ir.Node) *ir.Node
	find = func(n *ir.Node) *ir.Node {
		b := ir.BodyOf(n.Verb)
		if b == nil {
			return nil
		}
		for _, m := range b.Nodes {
			if m.ID.Name == id && !m.Inline {
				return m
			}
			if found := find(m); found != nil {
				return found
			}
		}
		return nil
	}
	return find(s.Node)
}

func (c *checker) connectEdge(b *Body, e *ir.Edge) {
	from := b.source(e.From)
	if from == nil {
		c.noSource(b, e)
		return
	}
	switch {
	case c.leavesFail(b, e, from):
	case e.Back && from == b.start:
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.From.Span, Message: "no edge leads back from start", Help: "lead back from the last node of the loop"})
		b.loose = true
	case e.Back:
		c.connectBack(b, e, from)
	case e.Switch != nil:
		c.connectSwitch(b, e, from)
	default:
		d, k := b.condition(from, e)
		for _, t := range e.To {
			if to := c.target(b, t); to != nil {
				b.link(&arc{from: from, to: to, decision: d, cases: k, edge: e, at: t.Span})
			}
		}
	}
}

// source is the step that an edge leaves: of `start`, unless a node of a dialect is called that, the one before all others.
func (b *Body) source(id ir.Ident) *Step {
	s := b.byID[id.Name]
	if s == nil && id.Name == "start" {
		if b.start == nil {
			b.start = &Step{Node: &ir.Node{ID: id, Span: id.Span, Result: schema.EmptyType}, body: b, index: -1, pos: -1, gate: always, act: always, ok: always, passed: always}
		}
		return b.start
	}
	return s
}

// noSource reports an edge whose source does not exist, and checks its targets.
func (c *checker) noSource(b *Body, e *ir.Edge) {
	b.loose = true
	switch e.From.Name {
	case "":
	case "end":
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.From.Span, Message: "no edge can leave end", Help: "end is where the workflow stops"})
	default:
		c.unknownNode(b, e.From)
	}
	for _, t := range slices.Concat(e.To, e.Default) {
		c.target(b, t)
	}
	for _, k := range e.Cases {
		for _, t := range k.To {
			c.target(b, t)
		}
	}
}

// maxCases bounds the cases of one switch: every decision about it costs as much as it has cases.
const maxCases = 256

func (c *checker) connectSwitch(b *Body, e *ir.Edge, from *Step) {
	if len(e.Cases) > maxCases {
		c.report(diag.Diagnostic{Code: diag.YAMLLimit, Span: e.Switch.Text.Span, Message: fmt.Sprintf("this switch has more than %d cases", maxCases),
			Help: "decide in steps, or in a go node"})
		b.loose = true
		return
	}
	d := &Decision{Step: from, Kind: Switch, Expr: e.Switch.Node, Value: e.Switch, Edge: e}
	link := func(targets []ir.Ident) {
		for _, t := range targets {
			if to := c.target(b, t); to != nil {
				b.link(&arc{from: from, to: to, decision: d, cases: len(d.Cases) - 1, edge: e, at: t.Span})
			}
		}
	}
	for _, k := range e.Cases {
		d.Cases = append(d.Cases, Case{Value: &Expected{Value: k.Value}, Label: k.Value.Source().Text()})
		link(k.To)
	}
	if e.Default != nil { // without one, a value that has no case ends the run: nothing comes after it
		d.Cases = append(d.Cases, Case{Default: true, Label: "default"})
		link(e.Default)
	}
	from.after = append(from.after, d)
}

// condition finds or makes the decision of an edge's `when`, and which of its cases activates the edge. Two edges out
// of one node whose conditions negate each other share a decision, so that they are known to exclude each other.
func (b *Body) condition(from *Step, e *ir.Edge) (*Decision, int) {
	if e.When == nil {
		return nil, 0
	}
	key, positive := canonical(e.When.Node)
	if b.conds == nil {
		b.conds = map[condition]*Decision{}
	}
	if d := b.conds[condition{from, key}]; d != nil {
		d.also = append(d.also, e.When)
		if d.positive == positive {
			return d, 0
		}
		return d, 1
	}
	text := e.When.Node.String()
	d := &Decision{Step: from, Kind: When, Expr: e.When.Node, Value: e.When, Edge: e, key: key, positive: positive,
		Cases: []Case{{Label: text}, {Label: "!(" + text + ")"}}}
	b.conds[condition{from, key}] = d
	from.after = append(from.after, d)
	return d, 0
}

// negated comparisons, by the operator they negate. Values are never NaN, so that !(a < b) is a >= b.
var negated = map[string]string{"!=": "==", ">=": "<", "<=": ">"}

// canonical is a condition without its negations, and whether it stands as it is (true) or negated.
func canonical(n *expr.Node) (key string, positive bool) {
	positive = true
	for n.Op == expr.Unary && n.Text == "!" {
		n, positive = n.Kids[0], !positive
	}
	if n.Op == expr.Binary && negated[n.Text] != "" {
		flipped := *n
		flipped.Text = negated[n.Text]
		return flipped.String(), !positive
	}
	return n.String(), positive
}

func (c *checker) connectBack(b *Body, e *ir.Edge, from *Step) {
	if len(e.To) != 1 {
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: e.Span, Message: "an edge with `max` leads back to exactly one node",
			Help: "write one edge for each loop"})
		b.loose = true
		return
	}
	header := c.target(b, e.To[0])
	back := &backEdge{edge: e, from: from, header: header}
	if e.Exhausted != nil {
		back.exhausted = c.target(b, *e.Exhausted)
	}
	back.when, back.repeat = b.condition(from, e)
	if header == nil {
		return
	}
	b.loops = append(b.loops, back)
	if back.exhausted != nil {
		b.link(&arc{from: from, to: back.exhausted, decision: back.when, cases: back.repeat, exhausted: true, edge: e, at: e.Exhausted.Span})
	}
}

// contradictions reports edges next to one without a condition between the same two nodes: what they say is never asked.
func (c *checker) contradictions(b *Body) {
	plain := map[[2]*Step]*arc{}
	for _, a := range b.arcs {
		if a.edge != nil && a.decision == nil && !a.exhausted {
			plain[[2]*Step{a.from, a.to}] = a
		}
	}
	for _, a := range b.arcs {
		p := plain[[2]*Step{a.from, a.to}]
		if p == nil || a.edge == nil || a.decision == nil || a.exhausted {
			continue
		}
		c.report(diag.Diagnostic{Code: diag.BadEdge, Span: a.at,
			Message: "the condition of this edge from " + a.from.Node.ID.Name + " to " + a.to.Node.ID.Name + " is never evaluated: another edge between them is unconditional",
			Help:    "remove one of them", Related: []diag.Related{{Span: p.at, Message: "this one is always active"}}})
		b.loose = true
	}
}

// unconnected reports nodes that no written edge mentions: they would start at once, next to everything else.
func (c *checker) unconnected(b *Body) {
	if len(b.Steps) < 2 || b.loose {
		return
	}
	mentioned := map[string]bool{}
	for _, e := range b.IR.Edges {
		mentioned[e.From.Name] = true
		for _, t := range slices.Concat(e.To, e.Default) {
			mentioned[t.Name] = true
		}
		for _, k := range e.Cases {
			for _, t := range k.To {
				mentioned[t.Name] = true
			}
		}
		if e.Exhausted != nil {
			mentioned[e.Exhausted.Name] = true
		}
	}
	for _, s := range b.Steps {
		for _, k := range s.Node.Catch {
			mentioned[k.Target.Name], mentioned[s.Node.ID.Name] = true, true
		}
	}
	for _, s := range b.Steps {
		if !mentioned[s.Node.ID.Name] {
			c.report(diag.Diagnostic{Code: diag.Unconnected, Span: s.Node.ID.Span,
				Message: "node \"" + s.Node.ID.Name + "\" is on no edge",
				Help:    "`edges` must list every node: add it, or remove it"})
			b.loose = true
		}
	}
}

// inferEdges orders a body without edges: a node comes after those whose results it reads, and nodes that write to the
// world keep the order of the file. A node that a catch clause names runs when an error was caught, and only then:
// what else it reads must have ended before, and decides nothing.
func (c *checker) inferEdges(b *Body) {
	for _, s := range b.Steps {
		handler := len(s.in) > 0
		linked := map[*Step]bool{s: true}
		for _, a := range s.in {
			linked[a.from] = true
		}
		for _, ref := range c.references(s.Node) {
			t := b.byID[ref]
			if t != nil && !linked[t] && !t.Node.Inline && !t.fails() {
				linked[t] = true
				b.link(&arc{from: t, to: s, orderOnly: handler, why: ByReference})
			}
		}
	}
	var last *Step
	for _, s := range b.writers() {
		if last != nil && !slices.ContainsFunc(s.in, func(a *arc) bool { return a.from == last }) {
			b.link(&arc{from: last, to: s, orderOnly: true, why: ByWrites})
		}
		last = s
	}
	b.separate()
}

// writers lists the nodes that write to the world in the order of the file, except that what a node needs comes before
// it. It is nil where nodes wait for each other.
func (b *Body) writers() []*Step {
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(b.Steps))
	var out []*Step
	cyclic := false
	var visit func(s *Step)
	visit = func(s *Step) {
		if state[s.index] != unseen {
			cyclic = cyclic || state[s.index] == open
			return
		}
		state[s.index] = open
		before := make([]*Step, 0, len(s.in))
		for _, a := range s.in {
			before = append(before, a.from)
		}
		slices.SortFunc(before, func(x, y *Step) int { return x.index - y.index })
		for _, t := range before {
			visit(t)
		}
		state[s.index] = done
		if s.keepsOrder() {
			out = append(out, s)
		}
	}
	for _, s := range b.Steps {
		if s.keepsOrder() {
			visit(s)
		}
	}
	if cyclic {
		return nil
	}
	return out
}

// insideOf is the mistake of a name that is that of a node in the body of another.
func insideOf(inner *ir.Node, outer *Step) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownName, Message: fmt.Sprintf("node %q is inside %s", inner.ID.Name, outer.Node.ID.Name),
		Related: []diag.Related{{Span: inner.ID.Span, Message: "it is defined here"}}}
}
