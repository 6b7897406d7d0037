package core

import (
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// An agent works in turns: it asks its model, and makes the calls that the answer asks for, all at the same time. Its
// keys are review[turn]/model and review[turn]/search#i, where i counts the calls of a tool in the order in which the
// model asked for them.

// Scoped returns r, or a Run with a scope when r has none, so that calls have keys and receipts without an engine.
func (r *Run) Scoped() *Run {
	if r.eng != nil {
		return r
	}
	c := &struct {
		run   Run
		scope Scope
	}{run: *r, scope: Scope{item: -1}}
	c.run.eng, c.run.scope, c.run.skip = Goroutines{}, &c.scope, 0
	return &c.run
}

// Session is one visit of a node that works in turns. It is used by one goroutine.
type Session struct {
	run   *Run
	node  *Node
	visit int32
}

// Session begins a visit of n under one more policy, which may be nil: about what the model asks for, and what asking it
// takes. r must have a scope.
func (r *Run) Session(n *Node, p *Policy) *Session {
	s := &Session{run: r, node: n, visit: r.scope.enter(n)}
	if p != nil {
		c := *r
		s.run = &c
		s.run.enter(p, strings.TrimSuffix(s.Turn(0).scope.path(), "0]/"))
		s.run.guard.turns = true
	}
	return s
}

// AgentTool is the tool that events name for the visit of an agent's node as a whole.
const AgentTool = "agent@1"

// Begin tells the observers that the visit begins, and returns what tells them how it has ended.
func (s *Session) Begin() (end func(error)) {
	h := &Head{Node: s.node, Tool: AgentTool, Scope: s.run.scope, Visit: s.visit}
	begin := s.run.nodeStart(h)
	return func(err error) { s.run.nodeEnd(h, begin, err) }
}

// Turn opens the scope of turn i, from 0.
func (s *Session) Turn(i int) *Run { return s.run.open(s.node, i, s.visit) }

// Reserve counts one more visit of n in r's scope and returns its number, for Visit.
func (r *Run) Reserve(n *Node) int32 { return r.scope.enter(n) }

// Receipt is what became of a call of Visit.
type Receipt struct {
	Op         Op        // of the last attempt; valid during the function it is given to
	Err        error     // *ToolError, or nil
	Start, End time.Time // of the last attempt
}

// receiver is who wants the receipt of a call, and how many bytes of its output there is room for.
type receiver struct {
	take func(Receipt)
	room int
}

// Visit returns a Run for the reserved visit of n, under the keys of r. take is given the receipt of its call, in the
// call's goroutine, unless a run error ended it. Text of more than room bytes, and values of type Value whose JSON has more, are cut
// and kept whole where there is a store for that, as MaxOutput says; 0 means no bound.
func (r *Run) Visit(n *Node, visit int32, room int, take func(Receipt)) *Run {
	c := &struct {
		run   Run
		scope Scope
		recv  receiver
	}{run: *r, recv: receiver{take, room}}
	c.scope.parent, c.scope.item = r.scope, transparent
	c.scope.few[0] = counter{n, visit - 1}
	c.run.scope, c.run.receiver = &c.scope, &c.recv
	return &c.run
}

// Refuse makes a call of a tool that was never made a visit of n like any other, and tells the observers, with its call id.
func (r *Run) Refuse(n *Node, tool, id string, te *value.ToolError) { r.refuse(n, tool, id, te) }

// Beginner is an Engine whose Head.Start and Head.End count from a time that it knows.
type Beginner interface{ Begin() time.Time }

// began is the time at which an attempt begins, if somebody wants to know.
func (r *Run) began() time.Time {
	if r.receiver == nil {
		return time.Time{}
	}
	if _, ok := r.eng.(Beginner); ok {
		return time.Time{}
	}
	return r.Now()
}

// receive hands over the receipt of a call that has ended with err.
func (r *Run) receive(op Op, began time.Time, err error) {
	if r.receiver == nil || runError(err) != nil {
		return
	}
	c := Receipt{Op: op, Start: began}
	if te := value.ToolErrorOf(err); te != nil {
		c.Err = te
	}
	if b, ok := r.eng.(Beginner); ok {
		h, begin := op.Head(), b.Begin()
		c.Start, c.End = begin.Add(h.Start).UTC().Round(0), begin.Add(h.End).UTC().Round(0)
	} else {
		c.Start, c.End = began.UTC().Round(0), r.Now().UTC().Round(0)
	}
	r.receiver.take(c)
}

// TraceLinker is an Observer that knows where the trace of a run is shown.
type TraceLinker interface {
	// TraceURL returns the address for the node of that key in the run under ctx; "" when there is none.
	TraceURL(r *Run, key string) string
}

// TraceURL returns where the trace of n's current visit is shown (Agent Tools 3.1, traces_url), nil when nowhere.
func (s *Session) TraceURL() *string {
	for _, o := range s.run.state.rt.observers {
		if l, ok := o.(TraceLinker); ok {
			if url := l.TraceURL(s.run, s.run.scope.key(s.node.ID, s.visit)); url != "" {
				return &url
			}
		}
	}
	return nil
}
