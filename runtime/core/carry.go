package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/usage"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Carried is one attempt of a call on its way to the process that makes it. An engine that makes calls elsewhere sends it as JSON.
type Carried struct {
	Tool    string        `json:"tool"` // name@version
	Node    string        `json:"node"`
	Pos     string        `json:"pos,omitempty"`
	Path    string        `json:"path,omitempty"` // of the scope
	Visit   int32         `json:"visit,omitempty"`
	Attempt int32         `json:"attempt,omitempty"`
	Run     string        `json:"run,omitempty"`
	Tenant  string        `json:"tenant,omitempty"`
	Trace   string        `json:"trace,omitempty"` // traceparent of the attempt's span
	Room    int           `json:"room,omitempty"`  // for the output, in bytes; 0: no bound
	Sandbox Tier          `json:"sandbox,omitempty"`
	Limit   *carriedLimit `json:"limit,omitempty"`
	// Continues says that In goes on from earlier calls of the run: the process that makes the attempt also needs, as Before, what
	// Portable.Before returns. It is not sent with each call, as it may grow with each.
	Continues bool            `json:"continues,omitempty"`
	Before    json.RawMessage `json:"-"`
	In        json.RawMessage `json:"in"`
}

// carriedLimit is a Limit on its way.
type carriedLimit struct {
	Left    time.Duration    `json:"left"`
	Of      time.Duration    `json:"of"`
	Written bool             `json:"written,omitempty"`
	Tool    bool             `json:"tool,omitempty"`
	Run     bool             `json:"run,omitempty"`
	Node    string           `json:"node,omitempty"`
	Repeats bool             `json:"repeats,omitempty"` // the node has attempts
	Because *value.ToolError `json:"because,omitempty"`
}

// Timeout returns how long the attempt may take, 0 for as long as it likes. The process that makes it enforces it.
func (c *Carried) Timeout() time.Duration {
	if c.Limit == nil {
		return 0
	}
	return c.Limit.Left
}

// Asked identifies tool and input, in 16 hex digits. An engine compares it with that of the recorded call.
func (c *Carried) Asked() string { return CallID(c.Tool, c.In, "")[:16] }

// Landed is the result of a carried attempt on its way back.
type Landed struct {
	Out         json.RawMessage  `json:"out,omitempty"`
	Error       *value.ToolError `json:"error,omitempty"`
	Asked       string           `json:"asked,omitempty"` // Carried.Asked of the attempt that was made
	Ran         bool             `json:"ran,omitempty"`   // the tool was called
	Cached      bool             `json:"cached,omitempty"`
	Truncated   bool             `json:"truncated,omitempty"`
	Abandoned   bool             `json:"abandoned,omitempty"`
	Cost        usage.USD        `json:"cost,omitempty"`
	Tokens      int64            `json:"tokens,omitempty"`
	Attachments []Attachment     `json:"attachments,omitempty"`
	Sandbox     Tier             `json:"sandbox,omitempty"`
	Logs        string           `json:"logs,omitempty"`
}

// Portable is an Op that another process can make. All Ops are.
type Portable interface {
	Op
	// Callable returns the tool, as Runtime.Make takes it.
	Callable() Callable
	// Carry returns what the other process needs; ok is false for an attempt that a policy or its input's type has refused: Exec
	// returns why.
	Carry() (c Carried, ok bool, err error)
	// Before returns what Carried.Before is about. It may be called until the attempt has ended.
	Before() ([]byte, error)
	// Land takes the result of the other process in place of Exec.
	Land(*Landed) error
}

// Callable is a *Tool of any type.
type Callable interface {
	FullName() string // name@version
	Effects() Effects
	Queue() string // of the workers that may make its calls; empty: that of the workflow
	land(ctx context.Context, rt *Runtime, c *Carried) (Landed, error)
}

var provided []Callable // is written while packages are initialized

// Provide makes a tool of a library known to engines that make calls in other processes: the code of a workflow lists its own. It is
// for variables of packages, and returns t.
func Provide[In, Out any](t *Tool[In, Out]) *Tool[In, Out] {
	provided = append(provided, t)
	return t
}

// Provided returns the tools that libraries of the program provide.
func Provided() []Callable { return slices.Clone(provided) }

// A wire is an input whose record does not hold all that its tool needs.
type wire interface {
	// ToWire encodes what is new; continues says that the tool needs what Before returns as well.
	ToWire() (b []byte, continues bool, err error)
	Before() ([]byte, error)
}

// fromWire is the other half of wire.
type fromWire interface {
	FromWire(r *Run, b, before []byte) error
}

// FullName returns name@version.
func (t *Tool[In, Out]) FullName() string { return t.name }

// Queue returns what the option Queue has said.
func (t *Tool[In, Out]) Queue() string { return t.queue }

// Make makes a carried attempt with the tool t, which another process has sent: it passes the gates behind the engine. The error is
// that of a run, such as a cancellation; a failure of the tool is in Landed.
func (rt *Runtime) Make(ctx context.Context, t Callable, c Carried) (Landed, error) {
	return t.land(rt.valued(ctx), rt, &c)
}

// elsewhere is the engine of an attempt that another process has sent.
type elsewhere struct {
	Goroutines
	limit *Limit
}

// limit is the Limit of an attempt that was carried here.
func (c *Carried) limit(h *Head) *Limit {
	l := &Limit{head: h}
	if x := c.Limit; x != nil {
		*l = Limit{Left: x.Left, Of: x.Of, written: x.Written, tool: x.Tool, run: x.Run, head: h, because: x.Because}
		switch {
		case x.Node == h.Node.ID:
			l.node = h.Node
		case x.Node != "":
			l.node = &Node{ID: x.Node, Index: -1}
		}
		if x.Repeats {
			h.Node.Retry = &Retry{}
		}
	}
	return l
}

func (t *Tool[In, Out]) land(ctx context.Context, rt *Runtime, c *Carried) (l Landed, err error) {
	s := &state{rt: rt, ctx: ctx, tenant: c.Tenant, id: c.Run, blobs: rt.blobs}
	scope := &Scope{item: -1}
	if n := len(c.Path); n > 0 {
		scope = &Scope{parent: scope, node: &Node{ID: c.Path[:n-1]}, item: -1, visit: 1}
	}
	r := &Run{ctx: ctx, state: s, scope: scope}
	s.root = r
	if c.Room > 0 {
		r.receiver = &receiver{take: func(Receipt) {}, room: c.Room}
	}
	if c.Sandbox > Native {
		r.guard = newGuard(&Policy{MinSandbox: c.Sandbox}, nil)
	}
	o := &op[In, Out]{call: call{run: r, head: Head{Node: &Node{ID: c.Node, Pos: c.Pos, Index: -1}, Tool: t.name, Effects: t.effects,
		bounds: t.bounds(), Scope: scope, Visit: c.Visit, Attempt: c.Attempt}}, tool: t}
	r.eng = &elsewhere{limit: c.limit(&o.head)}
	b := o.head.metadata()
	b.parent = c.Trace
	if w, ok := any(&o.in).(fromWire); ok {
		err = w.FromWire(r, c.In, c.Before)
	} else {
		err = value.Unmarshal(c.In, &o.in)
	}
	if err != nil {
		return Landed{Error: value.Invalid("the input of %s does not fit this version of the program: %v", t.name, err)}, nil
	}
	err = o.Exec(ctx)
	l = Landed{Asked: c.Asked(), Ran: b.ran, Cached: o.head.Cached, Truncated: b.Truncated, Abandoned: b.Abandoned, Cost: b.Cost, Tokens: b.Tokens,
		Attachments: b.Attachments, Sandbox: b.Sandbox, Logs: b.Logs}
	if te := (*value.ToolError)(nil); errors.As(err, &te) {
		l.Error = te
		return l, nil
	}
	if err == nil {
		l.Out, err = o.EncodeOut(nil)
	}
	return l, err
}

// Callable implements Portable.
func (o *op[In, Out]) Callable() Callable { return o.tool }

// Carry implements Portable.
func (o *op[In, Out]) Carry() (c Carried, ok bool, err error) {
	h, r := &o.head, o.run
	if h.refused {
		return c, false, nil
	}
	l := r.Limit(h)
	c = Carried{Tool: h.Tool, Node: h.Node.ID, Pos: h.Node.Pos, Path: h.Scope.path(), Visit: h.Visit, Attempt: h.Attempt,
		Run: r.ID(), Tenant: r.state.tenant, Sandbox: r.guard.minSandbox()}
	if l.Left > 0 {
		c.Limit = &carriedLimit{Left: l.Left, Of: l.Of, Written: l.written, Tool: l.tool, Run: l.run, Repeats: h.Node.Retry != nil, Because: l.because}
		if l.node != nil {
			c.Limit.Node = l.node.ID
		}
	}
	if h.Metadata != nil {
		c.Trace = h.Metadata.parent
	}
	if r.receiver != nil {
		c.Room = r.receiver.room
	}
	if w, ok := any(&o.in).(wire); ok {
		c.In, c.Continues, err = w.ToWire()
	} else {
		c.In, err = json.Marshal(&o.in) // canonical JSON would round large numbers
	}
	return c, true, err
}

// Before implements Portable.
func (o *op[In, Out]) Before() ([]byte, error) {
	if w, ok := any(&o.in).(wire); ok {
		return w.Before()
	}
	return nil, nil
}

// Land implements Portable.
func (o *op[In, Out]) Land(l *Landed) error {
	b := o.head.metadata()
	b.began, b.ran, b.Cost, b.Tokens, b.Metered = true, l.Ran, l.Cost, l.Tokens, o.tool.meter != nil
	b.Truncated, b.Abandoned, b.Attachments, b.Sandbox, b.Logs = l.Truncated, l.Abandoned, l.Attachments, l.Sandbox, l.Logs
	o.head.Cached = l.Cached
	if l.Error != nil {
		return l.Error
	}
	if err := o.DecodeOut(l.Out); err != nil {
		return err
	}
	return o.CheckOut()
}

// Asking tells the observers that a question is open, for engines that wait for its answer themselves.
func (r *Run) Asking(h *Head, q *Question) {
	r.emit(Event{Kind: Asking, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Message: q.Text})
}

// JSON returns the answer as the output of the question's call. The error says why it is not one.
func (q *Question) JSON(answer string) ([]byte, error) {
	b, te := q.decode(answer)
	if te != nil {
		return nil, te
	}
	return b, nil
}
