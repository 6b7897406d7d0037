package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// call is one call that the model asked for.
type call struct {
	asked llm.Call
	tool  *Tool // nil: there is no such tool
	node  *flow.Node
	visit int32
	given value.Value
	args  value.Args // of given
	env   Envelope
	done  bool // env is there
}

// calls makes the calls of one answer at the same time. Results, receipts and what is counted have the order in which the
// model asked, however long each call takes.
func (w *work) calls(t *flow.Run, asked []llm.Call) ([]llm.Result, error) {
	all := make([]call, len(asked))
	var ready []*call
	for i := range all {
		c := &all[i]
		c.asked = asked[i]
		if te := w.admit(t, c); te != nil {
			w.refuse(t, c, te)
			continue
		}
		ready = append(ready, c)
	}
	if err := w.perform(t, ready); err != nil {
		for i := range all {
			if all[i].done {
				w.note(&all[i].env)
			}
		}
		return nil, err
	}
	results := make([]llm.Result, len(all))
	for i := range all {
		c := &all[i]
		w.note(&c.env)
		results[i] = llm.Result{ID: c.asked.ID, Name: c.asked.Name, Text: w.told(&c.env), Failed: c.env.Error != nil}
	}
	return results, nil
}

func (w *work) told(e *Envelope) string {
	if w.spec.Tell != nil {
		return cut(w.spec.Tell(e), w.room(), e.CallID)
	}
	return e.text(w.room())
}

func (w *work) room() int {
	if w.spec.MaxResult > 0 {
		return w.spec.MaxResult
	}
	return DefaultMaxResult
}

// admit is the policy guard of the agent (Agent Tools 5.1). It looks at the calls one after the other, before any of them
// is made.
func (w *work) admit(t *flow.Run, c *call) *value.ToolError {
	i, ok := w.spec.index[c.asked.Name]
	if !ok {
		return value.Errorf(value.PolicyDenied, "the agent has no tool %s", strconv.Quote(short(c.asked.Name, 100)))
	}
	c.tool, c.node = &w.spec.Tools[i], &w.nodes[i]
	c.visit = t.Reserve(c.node)
	if most := capped(w.spec.MaxToolCalls, DefaultMaxToolCalls); most >= 0 && w.made >= most {
		return value.Errorf(value.PolicyDenied, "%d tools were called, the maximum of max_tool_calls", most)
	}
	w.made++
	if len(c.asked.Args) > maxArgs {
		return value.Invalid("the arguments have %d bytes; the limit is %d", len(c.asked.Args), maxArgs)
	}
	if strings.TrimSpace(c.asked.Args) == "" {
		return nil
	}
	v, err := value.Parse([]byte(c.asked.Args))
	if te, ok := err.(*value.ToolError); ok {
		return value.Invalid("the arguments are not a JSON object: %s", te.Message)
	}
	c.given, c.args = v, value.ValueArgs(v)
	return nil
}

// perform makes the calls that are allowed.
func (w *work) perform(t *flow.Run, ready []*call) error {
	if len(ready) == 1 {
		return w.make(t, ready[0])
	}
	branches := make([]func(*flow.Run) error, len(ready))
	for i, c := range ready {
		branches[i] = func(r *flow.Run) error { return w.make(r, c) }
	}
	return flow.Parallel(t, branches...)
}

// make makes one call. The error is a run error.
func (w *work) make(t *flow.Run, c *call) error {
	err := c.tool.call(t.Visit(c.node, c.visit, w.room(), func(x engine.Receipt) { c.receive(&x) }), c.node, &c.args, w.fix(c.tool.name))
	if c.done {
		return nil
	}
	if te, ok := err.(*value.ToolError); ok { // before there was a call
		w.refuse(t, c, te)
		return nil
	}
	return err
}

// fix is what the node fixes of a tool's arguments.
func (w *work) fix(name string) any {
	for _, f := range w.fixed {
		if f.name == name {
			return f.in
		}
	}
	return nil
}

// receive makes the envelope of a call.
func (c *call) receive(x *engine.Receipt) {
	h := x.Op.Head()
	e := &c.env
	e.Tool, e.TStart, e.TEnd, e.Cached = c.tool.name, x.Start, x.End, h.Cached
	e.Name, e.Version = engine.SplitTool(h.Tool)
	if b := h.Metadata; b != nil {
		e.Truncated, e.Attachments = b.Truncated, b.Attachments
	}
	in, err := x.Op.EncodeIn(nil)
	if err == nil {
		e.CallID = engine.CallID(h.Tool, in, h.Key())
		e.Input, err = c.input(in)
	}
	if x.Err == nil && err == nil {
		if e.raw, err = x.Op.EncodeOut(nil); err == nil {
			e.Output, err = value.Parse(e.raw)
		}
	}
	e.Error, _ = x.Err.(*value.ToolError)
	if e.Error == nil && err != nil {
		e.Error = value.Invalid("the receipt cannot be written: %v", err)
	}
	if e.CallID == "" {
		e.CallID = engine.CallID(h.Tool, nil, h.Key())
	}
	c.done = true
}

// input is the value of a call's input: what the model wrote, with its order of keys, where nothing was added or changed.
func (c *call) input(in []byte) (value.Value, error) {
	if string(in) == c.asked.Args {
		return c.given, nil
	}
	v, err := value.Parse(in)
	if err == nil && v.Equal(c.given) {
		return c.given, nil
	}
	return v, err
}

// refuse is what becomes of a call that is not made.
func (w *work) refuse(t *flow.Run, c *call, te *value.ToolError) {
	name := short(c.asked.Name, 100)
	if c.tool == nil {
		c.node = &flow.Node{ID: name, Pos: w.node.Pos, Index: -1}
		c.visit = t.Reserve(c.node)
	} else {
		name = c.tool.tool
	}
	w.refused(t, c, te)
	t.Visit(c.node, c.visit, 0, nil).Refuse(c.node, name, c.env.CallID, te)
}

// refused writes the receipt of a call that was not made: it began and ended when the model asked for it. Its input is what the model wrote, as text when it is not JSON.
func (w *work) refused(t *flow.Run, c *call, te *value.ToolError) {
	name := short(c.asked.Name, 100)
	e := &c.env
	e.Tool, e.Name, e.Error, e.TStart, e.TEnd = name, name, te, w.answered, w.answered
	bound := name
	if c.tool != nil {
		bound = c.tool.tool
		e.Name, e.Version = engine.SplitTool(bound)
	}
	var err error
	if e.Input, err = value.Parse([]byte(short(c.asked.Args, maxArgs))); err != nil {
		e.Input = value.String(short(strings.ToValidUTF8(c.asked.Args, "\uFFFD"), 1000))
	}
	in, err := value.AppendCanonical(nil, &e.Input)
	if err != nil {
		e.Input, in = value.Null(), nil
	}
	key := engine.Head{Node: c.node, Scope: t.Scope(), Visit: c.visit}
	e.CallID = engine.CallID(bound, in, key.Key())
	c.done = true
}

// note puts a receipt into the outputs.
func (w *work) note(e *Envelope) {
	if e.Attachments == nil {
		e.Attachments = []tool.Attachment{}
	}
	w.out.ToolsByID[e.CallID] = *e
	w.out.ToolOrder = append(w.out.ToolOrder, e.CallID)
	if e.Error == nil {
		w.last = e
	}
}

// text is what the model is told of a call, at most room bytes and a little: text as it is, anything else as JSON.
func (e *Envelope) text(room int) string {
	if e.Error != nil {
		b, _ := json.Marshal(e.Error)
		return cut(string(b), room, e.CallID)
	}
	var s string
	if e.Output.Kind() == value.StringKind {
		s = e.Output.String()
	} else {
		s = string(e.raw)
		if bytes.Contains(e.raw, []byte(`\u00`)) { // escapes for HTML cost tokens
			if b, err := e.Output.MarshalJSON(); err == nil {
				s = string(b)
			}
		}
	}
	if e.Truncated { // where the whole is kept is not for the model
		if e.Output.Kind() == value.StringKind {
			var bytes int64
			if n := len(e.Attachments); n > 0 {
				bytes = e.Attachments[n-1].Bytes
			}
			return short(s, room) + truncated(bytes, e.CallID)
		}
		if b, err := e.withoutURL().MarshalJSON(); err == nil {
			s = string(b)
		}
	}
	return cut(s, room, e.CallID)
}

// withoutURL is an output that stands for a larger one (runtime.WithBlobs) as the model is told of it: with the call_id by which the
// whole is found in place of its address.
func (e *Envelope) withoutURL() value.Value {
	var entries []value.Entry
	for _, key := range e.Output.Keys() {
		v, _ := e.Output.Get(key)
		if key == "url" {
			key, v = "call_id", value.String(e.CallID)
		}
		entries = append(entries, value.Entry{Key: key, Value: v})
	}
	return value.Map(entries...)
}

// cut is the beginning of s and a word about the rest.
func cut(s string, room int, call string) string {
	if len(s) <= room {
		return s
	}
	return short(s, room) + truncated(int64(len(s)), call)
}

// truncated tells the model that there is more; bytes is 0 where nobody knows how much.
func truncated(bytes int64, call string) string {
	if bytes == 0 {
		return "\n[truncated, call_id " + call + "]"
	}
	return fmt.Sprintf("\n[truncated: the whole has %d bytes, call_id %s]", bytes, call)
}

// short is a beginning of s of at most n bytes.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
