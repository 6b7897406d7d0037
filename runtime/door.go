package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// door is the one way to the outside for calls that something records, checks or bounds. The gates stand in this order,
// the numbers are those of the design:
//
//	1 policy guard, caps, budget   Run.guarded
//	2 input schema                 door
//	3 journal                      Engine.Do: answers, or makes the intent durable and goes on to op.Exec
//	4 cache                        op.fromCache, op.intoCache
//	5 rate limit                   Run.paced
//	6 secrets                      Run.authorize
//	7 sandbox, execution           Run.isolate, op.bounded; the repetition stands here, so that every engine has it
//	8 output schema and size       op.admit
//	9 envelope, event              Engine.Do for the record, emit for the event
//
// What gates 1 and 2 refuse passes the journal all the same, so that it is recorded; nothing behind it runs.
//
//go:noinline
func door[In, Out any](r *Run, n *Node, t *Tool[In, Out], in In) (Out, error) {
	o := &op[In, Out]{head: Head{Node: n, Tool: t.name, Effects: t.effects, Replay: t.replay, InDoubt: t.doubt(n), Scope: r.scope, Visit: r.scope.enter(n), Attempt: 1},
		run: r, tool: t, in: in}
	invalid := t.checkIn != nil && t.checkIn.value(&o.in) != nil
	eng := r.carrier()
	begin := r.nodeStart(&o.head)
	var began time.Time
	if t.state == deprecated {
		r.warnDeprecated(&o.head)
	}
	for {
		err := r.state.broken
		at := r.attempt(&o.head, r.guard != nil || t.state == blocked)
		if err == nil {
			var b *Beside
			if r.guard != nil || t.state == blocked {
				b = r.guarded(eng, &o.head, &t.toolOptions, t.most(&o.in))
			}
			o.head.refused = o.head.refused || invalid
			began = r.began()
			at.admitted(r, &o.head)
			err = eng.Do(r, o)
			if b != nil {
				err = r.settled(b, &o.head, &t.toolOptions, err)
			}
		}
		at.ended(r, o, &o.out, err)
		if err == nil {
			r.nodeEnd(&o.head, begin, nil, &o.out)
			r.receive(o, began, nil)
			return o.out, nil
		}
		again, err := r.again(&o.head, err)
		if !again {
			err = r.fail(&o.head, err)
			r.nodeEnd(&o.head, begin, err, nil)
			r.receive(o, began, err)
			var zero Out
			return zero, err
		}
		next := *o // engines keep what they have seen
		next.out = *new(Out)
		next.head = Head{Node: n, Tool: t.name, Effects: t.effects, Replay: t.replay, InDoubt: t.doubt(n), Scope: r.scope, Visit: o.head.Visit, Attempt: o.head.Attempt + 1}
		o = &next
	}
}

// op is the Op of one attempt: the only allocation of a recorded call.
type op[In, Out any] struct {
	head Head
	run  *Run
	tool *Tool[In, Out]
	ctx  context.Context // the tool's, when it asks o for it
	in   In
	out  Out
}

func (o *op[In, Out]) Head() *Head { return &o.head }

// An op is the context of its tool, so that telling about the call costs nothing.

func (o *op[In, Out]) Deadline() (time.Time, bool) { return o.ctx.Deadline() }
func (o *op[In, Out]) Done() <-chan struct{}       { return o.ctx.Done() }
func (o *op[In, Out]) Err() error                  { return o.ctx.Err() }

func (o *op[In, Out]) Value(key any) any {
	if key == (callKey{}) {
		return caller(o)
	}
	return o.ctx.Value(key)
}

func (o *op[In, Out]) place() (*Run, *toolOptions) { return o.run, &o.tool.toolOptions }

func (o *op[In, Out]) idempotencyKey() string {
	if key, ok := o.tool.key.(func(In) string); ok {
		return key(o.in)
	}
	return ""
}

func (o *op[In, Out]) Cost() Spend { return o.tool.most(&o.in) }

// EncodeIn is what is written of the input: without secrets, should there be one in it all the same.
func (o *op[In, Out]) EncodeIn(b []byte) ([]byte, error) {
	out, err := AppendCanonical(b, &o.in)
	if r := o.run.state.rt.redactor.Load(); r != nil && err == nil && r.Found(string(out[len(b):])) {
		return Canonicalize(b, r.JSON(out[len(b):]))
	}
	return out, err
}

func (o *op[In, Out]) EncodeOut(b []byte) ([]byte, error) {
	j, err := json.Marshal(&o.out)
	if b == nil {
		return j, err
	}
	return append(b, j...), err
}

func (o *op[In, Out]) DecodeOut(b []byte) error {
	var out Out
	if err := json.Unmarshal(b, &out); err != nil {
		return misfit(err)
	}
	o.out = out
	return nil
}

// CheckOut holds an output that did not come from the tool to what its type says. Journals ask for it.
func (o *op[In, Out]) CheckOut() error {
	if c := o.tool.checkOut; c != nil {
		if te := c.value(&o.out); te != nil {
			return te
		}
	}
	return nil
}

// Exec is gates 4 to 8.
func (o *op[In, Out]) Exec(ctx context.Context) error {
	if b := o.head.Beside; b != nil {
		b.began = true
	}
	err := o.pass(ctx)
	if err == nil && o.run.receiver != nil {
		err = o.fit(ctx, o.run.receiver.room)
	}
	return o.run.redacted(err)
}

func (o *op[In, Out]) pass(ctx context.Context) error {
	if o.head.refused {
		return o.refusal()
	}
	if !o.tool.caching {
		return o.execute(ctx)
	}
	key, err := o.fromCache(ctx)
	if err != nil || o.head.Cached {
		return err
	}
	if err = o.execute(ctx); err == nil {
		o.intoCache(ctx, key)
	}
	return err
}

// fromCache is gate 4: head.Cached says whether there was an answer. The secrets are looked up before: a result that was
// made with some is for nobody who does not have them.
func (o *op[In, Out]) fromCache(ctx context.Context) (key string, err error) {
	in, err := AppendCanonical(nil, &o.in)
	if err != nil {
		return "", Invalid("input: %v", err)
	}
	var s secrets
	if err := o.run.lookUp(&s, o.tool.secrets); err != nil {
		return "", err
	}
	key = o.tool.cacheKey(o.tool.name, in, o.run.state.tenant, s.names, s.values)
	c, ok := o.run.cached(ctx, key, o.tool.ttl)
	if !ok || !o.restore(ctx, c.Output) {
		o.out = *new(Out)
		return key, nil
	}
	o.head.Cached = true
	if c.Truncated || c.Attachments != nil {
		b := o.head.beside()
		b.Truncated, b.Attachments = c.Truncated, c.Attachments
	}
	return key, nil
}

// restore takes a cached output as what it is, outside data: it must be an output of this tool, and nothing else.
func (o *op[In, Out]) restore(ctx context.Context, b []byte) bool {
	if o.DecodeOut(b) != nil || o.admit(ctx) != nil {
		return false
	}
	again, err := o.EncodeOut(nil)
	return err == nil && bytes.Equal(again, b)
}

func (o *op[In, Out]) intoCache(ctx context.Context, key string) {
	if out, err := o.EncodeOut(nil); err == nil {
		o.run.keep(ctx, key, &o.head, out, o.tool.ttl)
	}
}

// execute is gates 5 to 8.
func (o *op[In, Out]) execute(ctx context.Context) error {
	if l := o.tool.rate; l != nil {
		if err := o.run.paced(ctx, o.tool.name, l); err != nil {
			return err
		}
	}
	if o.head.Node.Timeout > 0 {
		tctx, cancel := context.WithTimeout(ctx, o.head.Node.Timeout)
		defer cancel()
		return o.bounded(ctx, tctx)
	}
	if err := o.exec(ctx); err != nil {
		return o.run.classify(ctx, err)
	}
	return nil
}

// refusal is what gate 1 or 2 says.
func (o *op[In, Out]) refusal() error {
	if b := o.head.Beside; b != nil && b.refused != nil {
		return b.refused
	}
	return o.tool.checkIn.value(&o.in) // rare: checked once more rather than kept
}

// bounded runs the tool under tctx, ctx with the node's timeout.
func (o *op[In, Out]) bounded(ctx, tctx context.Context) error {
	err := o.exec(tctx)
	if err == nil {
		return nil
	}
	if te := toolError(err); te == nil && tctx.Err() != nil && ctx.Err() == nil {
		return TimedOut(o.head.Node)
	}
	return o.run.classify(ctx, err)
}

// TimedOut is the error of an attempt of n that took longer than n.Timeout.
func TimedOut(n *Node) *ToolError { return Errorf(Timeout, "no result after %v", n.Timeout) }

// exec is gates 6 to 8.
func (o *op[In, Out]) exec(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Errorf(Unknown, "panic: %s", clip(o.run.state.rt.redactor.Load().Text(fmt.Sprint(p)), 1000))
		}
	}()
	t := o.tool
	o.ctx = ctx
	if ctx, err = o.run.authorize(o, t.secrets); err != nil {
		return err
	}
	standIn := o.run.state.rt.standIn
	if (t.tier > Native || t.obtain != nil) && standIn == nil {
		if err := o.run.isolate(ctx, &o.head, &t.toolOptions); err != nil {
			return err
		}
	}
	if t.cost > 0 {
		o.head.beside().Cost = t.cost
	}
	if t.meter != nil {
		o.meters()
	}
	if b := o.head.Beside; b != nil {
		b.ran = true
	}
	if standIn == nil {
		o.out, err = t.fn(ctx, o.in)
	} else {
		err = o.stoodIn(ctx, standIn)
	}
	if t.meter != nil {
		o.metered(err)
	}
	if err != nil {
		return err
	}
	return o.admit(ctx)
}

// fit cuts an output for which its reader has no room, if it can be cut. A typed output stays as it is.
func (o *op[In, Out]) fit(ctx context.Context, room int) error {
	switch out := any(&o.out).(type) {
	case *string:
		if len(*out) <= room {
			return nil
		}
	case *Value:
	default:
		return nil
	}
	b, err := o.EncodeOut(nil)
	if room <= 0 || err != nil || len(b) <= room {
		return nil
	}
	_, err = o.run.truncate(ctx, &o.head, &o.out, room)
	return err
}

// admit is gate 8: what a tool returned is outside data until it fits the schema.
func (o *op[In, Out]) admit(ctx context.Context) error {
	if r := o.run.state.rt.redactor.Load(); r != nil {
		if err := r.cleanse(&o.out, o.copyOut); err != nil {
			return err
		}
	}
	if c := o.tool.checkOut; c != nil {
		if te := c.value(&o.out); te != nil {
			te.Message = "output: " + te.Message
			return te
		}
	}
	if limit := o.tool.maxOutput; limit > 0 {
		b, err := o.EncodeOut(nil)
		if err != nil {
			return Invalid("output: %v", err)
		}
		if len(b) > limit {
			if cut, err := o.run.truncate(ctx, &o.head, &o.out, limit); cut || err != nil {
				return err
			}
			return tooLarge(len(b), limit)
		}
	}
	return nil
}

// copyOut makes the output a copy of itself.
func (o *op[In, Out]) copyOut() error {
	b, err := o.EncodeOut(nil)
	if err != nil {
		return err
	}
	return o.DecodeOut(b)
}

// again decides whether another attempt follows, and waits for it. A wait cut short gives the cancelled error.
func (r *Run) again(h *Head, err error) (bool, error) {
	retry := h.Node.Retry
	te := toolError(err)
	refused := h.refused || h.Beside != nil && h.Beside.Denied // also when a journal says so
	if retry == nil || te == nil || refused || int(h.Attempt) >= retry.Attempts || !retry.covers(te.Code) {
		return false, err
	}
	wait := retry.wait(int(h.Attempt), te.RetryAfterS, func() float64 {
		return float64(r.jitter(h)>>11) / (1 << 53)
	})
	if r.observed() {
		r.emit(Event{Kind: Retrying, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Duration: h.End - h.Start,
			Attempt: int(h.Attempt), Wait: wait, Err: te, Replayed: h.Replayed})
	}
	if h.Replayed {
		// Waited when it was recorded, unless the run stopped then; whether the scope is cancelled is for Do to see (R1).
		if wait = r.rest(h, wait); wait <= 0 {
			return true, nil
		}
	}
	if err := r.Sleep(wait); err != nil {
		return false, err
	}
	return true, nil
}

// rest is what is left of the wait after an attempt that was answered from a journal: nothing when the next one is, too.
func (r *Run) rest(h *Head, wait time.Duration) time.Duration {
	b, began := r.eng.(Beginner)
	a, answers := r.eng.(Answerer)
	next := Head{Node: h.Node, Tool: h.Tool, Effects: h.Effects, Scope: h.Scope, Visit: h.Visit, Attempt: h.Attempt + 1}
	if !began || !answers || a.Answers(&next) {
		return 0
	}
	return min(wait, b.Begin().Add(h.End).Add(wait).Sub(r.Now()))
}

// jitter is the random number of one wait. Unlike Rand it needs no counter: the attempt is one.
func (r *Run) jitter(h *Head) uint64 {
	if r.scope == nil {
		return r.Rand(h.Node)
	}
	return r.hash(h.Key(), h.Attempt)
}

var transient = []Code{RateLimit, Timeout, NetworkError, ProviderError}

func (p *Retry) covers(c Code) bool {
	if len(p.Codes) == 0 {
		return slices.Contains(transient, c)
	}
	return slices.Contains(p.Codes, c)
}

// longestWait bounds a wait that the other side asked for.
const longestWait = 24 * time.Hour

// wait is the pause after a failed attempt (from 1): the longer of the backoff and what the error asks for.
// random gives a number in [0, 1).
func (p *Retry) wait(attempt int, after *float64, random func() float64) time.Duration {
	d := float64(p.Base)
	if !p.Constant {
		d = math.Ldexp(d, attempt-1)
	}
	if p.Cap > 0 {
		d = min(d, float64(p.Cap))
	}
	if p.Jitter > 0 {
		d *= 1 - min(p.Jitter, 1)*random() // only downwards: Cap stays the bound
	}
	if after != nil && *after > 0 { // false for NaN
		d = max(d, *after*float64(time.Second))
	}
	return time.Duration(min(d, float64(longestWait)))
}

// fail makes the call's NodeError and remembers run errors that no catch may hide.
func (r *Run) fail(h *Head, err error) error {
	ne := &NodeError{Node: h.Node, Key: h.Key(), Err: r.classify(r.ctx, err)}
	if isFatal(ne) {
		r.state.fatal.CompareAndSwap(nil, ne)
	}
	return ne
}

// warnDeprecated tells observers once for each run and tool (Agent Tools 7.2).
func (r *Run) warnDeprecated(h *Head) {
	if !r.observed() {
		return
	}
	if _, told := r.state.warned.LoadOrStore(h.Tool, true); !told {
		r.emit(Event{Kind: Warning, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: r.Now(), Message: "tool " + h.Tool + " is deprecated"})
	}
}

func (r *Run) nodeStart(h *Head) time.Time {
	if !r.observed() {
		return time.Time{}
	}
	now := r.Now()
	r.emit(Event{Kind: NodeStart, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now})
	return now
}

// nodeEnd tells observers. out points to the output, or is nil.
func (r *Run) nodeEnd(h *Head, begin time.Time, err error, out any) {
	if !r.observed() {
		return
	}
	now := r.Now()
	r.emit(Event{Kind: NodeEnd, Key: h.Key(), Node: h.Node, Tool: h.Tool, Time: now, Duration: now.Sub(begin),
		Attempt: int(h.Attempt), Err: err, Replayed: h.Replayed, Cached: h.Cached, Usage: spent(out)})
}
