package stargraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/internal/lazyregexp"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// A block is nodes that run in parallel. A run enters it where the first of them would come next.
type block struct {
	targets []*node
	at      source.Span
	join    ir.Ident // empty: the run ends
	first   bool     // of a race, which is decided for the first
}

var quorum = lazyregexp.New(`^quorum:[0-9]+$`)

// parallel reads the blocks of a document.
func (p *parser) parallel(n *yamlnode.Node) {
	if n == nil {
		return
	}
	for _, m := range p.recordsOf(n, "`parallel`", parallelShape) {
		b, ok := p.block(m)
		if ok && len(b.targets) > 0 { // the engine takes the first block that a node begins
			p.blocks = append(p.blocks, b)
		}
	}
}

func (p *parser) block(m dialect.Mapping) (*block, bool) {
	b, ok := &block{at: dialect.Head(m.Node)}, true
	targets := m.Get("targets")
	if targets == nil || targets.Kind != yamlnode.Sequence {
		if targets != nil {
			p.WrongShape(targets, "`targets` is a list of nodes")
		}
		return b, false
	}
	for _, it := range targets.Items {
		id, is := p.Text(it, "a node")
		if !is {
			return b, false
		}
		x := p.from(id)
		switch {
		case x == nil:
			ok = false
		case slices.Contains(b.targets, x):
			p.Error(diag.DuplicateName, id.Span, "remove one", "the node `%s` appears twice in `targets`", id.Name)
			ok = false
		case x.kind.Name == "interrupt":
			p.Error(diag.NotSupported, id.Span, "ask before the nodes that run in parallel, or after them", "the engine's run fails when a node among them asks a user")
			ok = false
		default:
			b.targets = append(b.targets, x)
		}
	}
	if id, is := p.Text(m.Get("join"), "`join`"); is && id.Name != "" {
		if to := p.from(id); to != nil {
			b.join = to.target(id.Span)
		} else {
			ok = false
		}
	}
	return b, p.strategy(m.Get("strategy"), b) && ok
}

// strategy reads which of the nodes have to succeed.
func (p *parser) strategy(n *yamlnode.Node, b *block) bool {
	if n == nil {
		return true
	}
	id, ok := p.Text(n, "`strategy`")
	switch {
	case !ok:
		return false
	case id.Name == "all":
	case id.Name == "any" || id.Name == "race":
		b.first = true
		if len(b.targets) > 1 {
			p.Differs(id.Span, "write `all` if the others matter", "a race is decided for the first of the targets, so that a run can be replayed: the others do not run")
		}
	case quorum.MatchString(id.Name):
		p.Error(diag.NotSupported, id.Span, "write `all`", "the engine's run fails here: a quorum needs a time limit, which no block can have")
		return false
	default:
		p.Word(n, "`strategy`", "all", "any", "race")
		return false
	}
	return true
}

// fork puts blocks where the first of their nodes would come next: a node of their own, before it.
func (p *parser) fork(exits [][]choice) [][]choice {
	for k, b := range p.blocks {
		head := b.targets[0]
		if slices.ContainsFunc(p.blocks[:k], func(o *block) bool { return o.targets[0] == head }) || !p.enter(b, head, exits) {
			continue
		}
		x := &node{id: ir.Ident{Name: p.free(head.id.Name + "_all"), Span: b.at}, at: head.at, kind: ir.Ident{Name: "parallel", Span: b.at}, block: b}
		p.byID[x.id.Name] = x
		for i := range exits {
			if p.opens(p.list[i]) {
				for j := range exits[i] {
					if exits[i][j].target.Name == head.id.Name {
						exits[i][j].target.Name = x.id.Name
					}
				}
			}
		}
		p.list = slices.Insert(p.list, head.index, x)
		exits = slices.Insert(exits, head.index, []choice{{target: b.join, span: b.at}})
		for i, y := range p.list {
			y.index = i
		}
	}
	return exits
}

// opens reports whether the engine looks for a block after a node: not after another block, and not after a question.
func (p *parser) opens(x *node) bool { return x.block == nil && x.kind.Name != "interrupt" }

// enter reports whether some node leads into a block.
func (p *parser) enter(b *block, head *node, exits [][]choice) bool {
	for i := range exits {
		for _, c := range exits[i] {
			if p.opens(p.list[i]) && c.target.Name == head.id.Name {
				return true
			}
		}
	}
	p.Warn(diag.IgnoredKey, b.at, "add a node before them", "no node leads to `%s`, the first of these nodes: they do not run in parallel", head.written())
	return false
}

// inside reports whether a node runs in a block that is reached.
func (p *parser) inside(x *node, reached []bool) bool {
	for i, y := range p.list {
		if y.block != nil && reached[i] && slices.Contains(y.block.targets, x) {
			return true
		}
	}
	return false
}

// forked makes the nodes of a block, and of what their branches write one node behind them, which it adds last.
func (p *parser) forked(body *ir.Body, x *node, alone func(*node) bool) {
	b := x.block
	open := &ir.Node{ID: x.id, Verb: &ir.Let{}, Span: b.at}
	done := &ir.Node{ID: p.part(x, "done"), Verb: &ir.Let{}, Span: b.at}
	targets := b.targets
	if b.first {
		targets = targets[:1]
	}
	if len(targets) > 1 {
		done.Join = ir.JoinAll
	}
	body.Nodes = append(body.Nodes, open)
	for i, t := range targets {
		was, texts := t.id, t.texts
		t.texts = nil // its rules do not count
		if alone(t) { // it is a node of its own, too
			t.id = p.part(t, "branch")
		}
		steps := p.steps(t)
		t.id, t.texts = was, texts
		sets := p.results(&steps, t)
		switch {
		case i == len(targets)-1:
			done.Set = append(done.Set, sets...)
		case len(sets) > 0 && p.opts.Upstream:
			p.Differs(t.id.Span, "", "what this node writes is lost: the engine keeps the state of the last of the nodes that run in parallel")
		case len(sets) > 0:
			p.Differs(t.id.Span, "", "the engine keeps the state of the last of the nodes that run in parallel, and what this node writes is lost there")
			done.Set = append(done.Set, sets...)
		}
		body.Nodes = append(body.Nodes, steps...)
		p.chain(body, steps)
		body.Edges = append(body.Edges, &ir.Edge{From: steps[len(steps)-1].ID, To: []ir.Ident{done.ID}, Span: b.at})
		p.opening(body, x.id, steps[0].ID, b.at)
	}
	done.Set = once(done.Set)
	body.Nodes = append(body.Nodes, done)
}

// opening adds a target to the edge that opens a block.
func (p *parser) opening(body *ir.Body, from, to ir.Ident, at source.Span) {
	for _, e := range body.Edges {
		if e.From.Name == from.Name {
			e.To = append(e.To, to)
			return
		}
	}
	body.Edges = append(body.Edges, &ir.Edge{From: from, To: []ir.Ident{to}, Span: at})
}

// once keeps the last write of each field, in the order of the writes.
func once(sets []*ir.Set) []*ir.Set {
	var out []*ir.Set
	for i, s := range sets {
		if !slices.ContainsFunc(sets[i+1:], func(o *ir.Set) bool { return o.Field.Name == s.Field.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// results takes what the steps of a branch write out of them, so that it can be written behind the block: all branches see the
// state as it was before. What is not a result of a step is computed by one more step.
func (p *parser) results(steps *[]*ir.Node, x *node) []*ir.Set {
	var sets []*ir.Set
	let := &ir.Let{}
	var id ir.Ident
	for _, n := range *steps {
		for _, s := range n.Set {
			if !ofStep(s.Value, *steps) {
				if id.Name == "" {
					if id = p.part(x, "value"); len(*steps) == 1 && empty(n) {
						id = n.ID
					}
				}
				key := ir.Ident{Name: "v" + strconv.Itoa(len(let.Fields)+1), Span: s.Field.Span}
				if fieldForm.MatchString(s.Field.Name) {
					key.Name = s.Field.Name
				}
				let.Fields = append(let.Fields, &ir.Entry{Key: key, Value: s.Value})
				s.Value = resultField(s.Field.Span, id.Name, key.Name)
			}
			sets = append(sets, s)
		}
		n.Set = nil
	}
	if len(let.Fields) == 0 {
		return sets
	}
	if first := (*steps)[0]; id.Name == first.ID.Name {
		first.Verb = let
	} else {
		*steps = append(*steps, &ir.Node{ID: id, Verb: let, Span: x.at.Span})
	}
	return sets
}

func empty(n *ir.Node) bool {
	l, ok := n.Verb.(*ir.Let)
	return ok && len(l.Fields) == 0
}

// ofStep reports whether a value is the result of a step, or a part of it.
func ofStep(v ir.Value, steps []*ir.Node) bool {
	e, ok := v.(*ir.Expr)
	if !ok || e.Node == nil {
		return false
	}
	n := e.Node
	for n.Op == expr.Field {
		n = n.Kids[0]
	}
	return n.Op == expr.Name && slices.ContainsFunc(steps, func(s *ir.Node) bool { return s.ID.Name == n.Text })
}
