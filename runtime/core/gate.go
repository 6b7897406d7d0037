package core

import (
	"bytes"
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// admission is what an attempt passes before the engine sees it. A gate that refuses it sets Head.refused: the attempt is
// recorded all the same, and goes no further.
var admission = []struct {
	name string
	pass func(c *call, eng Engine, o typed)
}{
	{"policy", (*call).policed}, // effects, permissions, caps and budgets, of which it reserves what the attempt can take
	{"input", (*call).checked},
}

// passage is what an attempt passes behind the engine, which has written down the intent: an attempt enters the gates in this
// order, the tool is behind the last, and its result comes back through them. A tool has the gates that `of` says; nil is
// every tool.
var passage = []gate{
	{"cache", func(t *toolOptions) bool { return t.caching }, (*call).cached},
	{"rate", func(t *toolOptions) bool { return t.rate != nil }, (*call).paced},
	{"timeout", nil, (*call).timed},
	{"panic", nil, (*call).recovered},
	{"secrets", func(t *toolOptions) bool { return len(t.secrets) > 0 }, (*call).authorized},
	{"sandbox", func(t *toolOptions) bool { return t.tier > Native || t.obtain != nil }, (*call).isolated},
	{"size", func(t *toolOptions) bool { return t.maxOutput > 0 }, (*call).sized},
	{"output", nil, (*call).admitted}, // without secrets, and what its schema says
	{"usage", func(t *toolOptions) bool { return t.cost > 0 || t.meter != nil || t.spends != nil }, (*call).accounted},
}

// A gate is what may keep an attempt from its tool, and a result from its caller. pass goes on with next, unless it refuses
// the attempt or has an answer.
type gate struct {
	name string
	of   func(*toolOptions) bool
	pass func(c *call, ctx context.Context, o typed, rest []gate) error
}

// next passes the rest of the gates, and runs the tool behind the last.
func (c *call) next(ctx context.Context, o typed, rest []gate) error {
	if len(rest) > 0 {
		return rest[0].pass(c, ctx, o, rest[1:])
	}
	if b := c.head.Metadata; b != nil {
		b.ran = true
	}
	return o.invoke(ctx)
}

// passageOf are the gates of a tool.
func passageOf(t *toolOptions) []gate {
	own := make([]gate, 0, len(passage))
	for _, g := range passage {
		if g.of == nil || g.of(t) {
			own = append(own, g)
		}
	}
	return own
}

// call is an attempt without its types.
type call struct {
	head Head
	run  *Run
	ctx  context.Context // the tool's, when it asks for it
}

// typed is an attempt as the gates use it: what they need of its types.
type typed interface {
	caller
	exactIn() ([]byte, error)
	checkIn() *value.ToolError
	invoke(context.Context) error
	faked() bool // what runs is not a tool, so that it needs none of what the tool does
	meters()
	metered(error)
	output() any // the pointer to it
	fits(limit int) bool
	checkOut() *value.ToolError
	clear()
}

// admit passes the gates of admission, and returns what they have decided for settle: an engine may put what a record says in
// the place of Head.Metadata.
func (c *call) admit(eng Engine, o typed) *Metadata {
	for i := range admission {
		admission[i].pass(c, eng, o)
	}
	return c.head.Metadata
}

// settle gives back what admission has reserved and the attempt did not take.
func (c *call) settle(o typed, decided *Metadata, err error) error {
	if decided == nil {
		return err
	}
	_, t := o.place()
	return c.run.settled(decided, &c.head, t, err)
}

// enter passes the gates behind the engine. An output for which its reader has no room is cut, and errors lose their secrets.
func (c *call) enter(ctx context.Context, o typed, gates []gate) error {
	if b := c.head.Metadata; b != nil {
		b.began = true
	}
	if c.head.refused {
		return c.run.redacted(c.refusal(o))
	}
	err := c.next(ctx, o, gates)
	if err == nil && c.run.receiver != nil {
		err = c.fit(ctx, o, c.run.receiver.room)
	}
	if b := c.head.Metadata; b != nil && b.logs != nil {
		b.Logs, b.logs = b.logs.end(), nil
	}
	return c.run.redacted(err)
}

func (c *call) policed(eng Engine, o typed) {
	if r, t := o.place(); r.guard != nil || t.state == blocked {
		r.guarded(eng, &c.head, t, o.Cost())
	}
}

func (c *call) checked(_ Engine, o typed) {
	if o.checkIn() != nil {
		c.head.refused = true
	}
}

// refusal is why admission has refused the attempt.
func (c *call) refusal(o typed) error {
	if b := c.head.Metadata; b != nil && b.refused != nil {
		return b.refused
	}
	return o.checkIn() // rare: checked once more rather than kept
}

// fit cuts an output that has more than room bytes, if it can be cut. A typed output stays as it is.
func (c *call) fit(ctx context.Context, o typed, room int) error {
	switch out := o.output().(type) {
	case *string:
		if len(*out) <= room {
			return nil
		}
	case *value.Value:
	default:
		return nil
	}
	if c.run.state.rt.blobs == nil { // the receipt has the whole, its reader cuts it
		return nil
	}
	b, err := o.EncodeOut(nil)
	if room <= 0 || err != nil || len(b) <= room {
		return nil
	}
	_, err = c.run.truncate(ctx, &c.head, o.output(), room)
	return err
}

// cached answers from the cache, or puts there what the tool gives. The secrets are looked up before: a result that was made
// with some is for nobody who does not have them.
func (c *call) cached(ctx context.Context, o typed, rest []gate) error {
	if o.faked() {
		return c.next(ctx, o, rest) // results of the real thing are not for tests, nor the other way round
	}
	r, t := o.place()
	in, err := o.exactIn()
	if err != nil {
		return value.Invalid("input: %v", err)
	}
	var s secrets
	if err := r.lookUp(&s, t); err != nil {
		return err
	}
	key := t.cacheKey(c.head.Tool, in, r.state.tenant, s.names, s.values)
	if kept, ok := r.cached(ctx, key, t.ttl); ok && c.restore(ctx, o, kept.Output) {
		c.head.Cached = true
		if kept.Truncated || kept.Attachments != nil {
			b := c.head.metadata()
			b.Truncated, b.Attachments = kept.Truncated, kept.Attachments
		}
		return nil
	}
	o.clear()
	if err := c.next(ctx, o, rest); err != nil {
		return err
	}
	if out, err := o.EncodeOut(nil); err == nil {
		r.keep(ctx, key, &c.head, out, t.ttl)
	}
	return nil
}

// restore takes a cached output as what it is, outside data: it must be an output of this tool, and nothing else.
func (c *call) restore(ctx context.Context, o typed, b []byte) bool {
	if o.DecodeOut(b) != nil || c.accept(o) != nil || c.bound(ctx, o) != nil {
		return false
	}
	again, err := o.EncodeOut(nil)
	return err == nil && bytes.Equal(again, b)
}

func (c *call) paced(ctx context.Context, o typed, rest []gate) error {
	r, t := o.place()
	if err := r.paced(ctx, &c.head, t.rate); err != nil {
		return err
	}
	return c.next(ctx, o, rest)
}

// recovered makes an error of a panic. From here on the attempt is the context of its tool.
func (c *call) recovered(ctx context.Context, o typed, rest []gate) (err error) {
	defer func() {
		if p := recover(); p != nil {
			what := p
			if pe, ok := p.(*PanicError); ok && c.head.bounds != nil && c.head.bounds.apart {
				what = pe.Value
			}
			err = value.Errorf(value.Unknown, "panic: %s", value.Clip(c.run.state.rt.redactor.Load().Text(fmt.Sprint(what)), 1000)).From(c.run.panicOf(p))
		}
	}()
	c.ctx = ctx
	return c.next(o, o, rest)
}

func (c *call) authorized(ctx context.Context, o typed, rest []gate) error {
	if o.faked() {
		return c.next(ctx, o, rest)
	}
	r, t := o.place()
	ctx, err := r.authorize(ctx, t)
	if err != nil {
		return err
	}
	return c.next(ctx, o, rest)
}

func (c *call) isolated(ctx context.Context, o typed, rest []gate) error {
	if r, t := o.place(); r.state.rt.standIn == nil && !o.faked() {
		if err := r.isolate(ctx, &c.head, t); err != nil {
			return err
		}
	}
	return c.next(ctx, o, rest)
}

func (c *call) admitted(ctx context.Context, o typed, rest []gate) error {
	if err := c.next(ctx, o, rest); err != nil {
		return err
	}
	return c.accept(o)
}

// accept takes what a tool returned for outside data until it fits the schema.
func (c *call) accept(o typed) error {
	if r := c.run.state.rt.redactor.Load(); r != nil {
		if err := r.Output(o.output(), func() error { return copyOut(o) }); err != nil {
			return err
		}
	}
	if te := o.checkOut(); te != nil {
		te.Message = "output: " + te.Message
		return te
	}
	return nil
}

func (c *call) sized(ctx context.Context, o typed, rest []gate) error {
	if err := c.next(ctx, o, rest); err != nil {
		return err
	}
	return c.bound(ctx, o)
}

// bound cuts or refuses an output that is larger than its tool may give.
func (c *call) bound(ctx context.Context, o typed) error {
	_, t := o.place()
	if t.maxOutput <= 0 || o.fits(t.maxOutput) {
		return nil
	}
	b, err := o.EncodeOut(nil)
	if err != nil {
		return value.Invalid("output: %v", err)
	}
	if len(b) <= t.maxOutput {
		return nil
	}
	if cut, err := c.run.truncate(ctx, &c.head, o.output(), t.maxOutput); cut || err != nil {
		return err
	}
	return c.run.refuseLarge(ctx, &c.head, b, t.maxOutput)
}

// copyOut makes the output a copy of itself.
func copyOut(o typed) error {
	b, err := o.EncodeOut(nil)
	if err != nil {
		return err
	}
	return o.DecodeOut(b)
}

// accounted notes next to the call what it costs, before it is made, and what a model took.
func (c *call) accounted(ctx context.Context, o typed, rest []gate) error {
	_, t := o.place()
	if t.cost > 0 {
		c.head.metadata().Cost = t.cost
	}
	if t.meter == nil {
		err := c.next(ctx, o, rest)
		if err == nil && t.spends != nil {
			if u := t.spends(o.output()); u != nil {
				b := c.head.metadata()
				if b.Tokens = u.InputTokens + u.OutputTokens; u.CostUSD != nil {
					b.Cost = *u.CostUSD
				}
			}
		}
		return err
	}
	o.meters()
	err := c.next(ctx, o, rest)
	o.metered(err)
	return err
}
