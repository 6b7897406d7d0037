package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// call names an attempt.
type call struct {
	key     string
	attempt int
}

func callOf(h *engine.Head) call { return call{h.Key(), int(h.Attempt)} }

func (c call) String() string { return fmt.Sprintf("%s, attempt %d", c.key, c.attempt) }

// nature is what all worlds of a trial have in common: what tools do follows from the seed and the call alone, never from
// the schedule.
type nature struct {
	seed    uint64
	real    map[string]bool            // tools that run
	gives   map[string]json.RawMessage // see Options
	faulty  bool
	problem func(check, at, format string, args ...any)

	mu      sync.Mutex // real tools may have goroutines of their own; guards what follows
	models  map[string]bool
	faults  int
	unfit   int
	outputs map[string]string   // of pure tools that run, by tool and input
	told    map[string]llm.Turn // what models were told at first, by node
}

// world is what is outside of a run. It counts what was done to it, and outlives the crash of the run.
type world struct {
	*nature
	before   map[call]int  // what was done before this run
	done     map[call]int  // and since
	finished map[call]bool // in the journal: must not be done again
	doubtful map[call]bool // begun and not finished; true: must not be done again, because nobody has decided about it
	closed   string        // why nothing may be done any more; empty: it may
}

func newWorld(seed uint64, real map[string]bool, faulty bool, problem func(check, at, format string, args ...any)) *world {
	n := &nature{seed: seed, real: real, faulty: faulty, problem: problem, models: map[string]bool{},
		outputs: map[string]string{}, told: map[string]llm.Turn{}}
	return (&world{nature: n}).fresh()
}

// fresh is the world before anything was done.
func (w *world) fresh() *world { return &world{nature: w.nature, done: map[call]int{}} }

// close says that from now on nothing may be done.
func (w *world) close(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = why
}

// injected is how the messages of injected faults begin.
const injected = "injected"

// codes are those of injected faults.
var codes = []value.Code{value.ValidationError, value.Timeout, value.RateLimit, value.PolicyDenied, value.AuthRequired,
	value.ProviderError, value.NetworkError, value.SandboxError, value.Unknown}

// standIn is the runtime.StandIn.
func (w *world) standIn(_ context.Context, op engine.Op, out any, tool func() error) error {
	h := op.Head()
	c := callOf(h)
	in, err := op.EncodeIn(nil)
	if err != nil {
		return err
	}
	_, model := out.(*llm.Reply)
	w.enter(c, h, model)
	fault, after := w.fault(c)
	if fault != nil && !after {
		return fault
	}
	if w.real[h.Tool] {
		err = tool()
		w.steady(op, string(in), err)
	} else {
		err = w.fake(h, in, out)
	}
	if fault != nil {
		return fault // it was done, and nobody hears of it
	}
	return err
}

// enter counts the attempt and checks that it may be done.
func (w *world) enter(c call, h *engine.Head, model bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[c]++
	if model {
		w.models[h.Tool] = true
	}
	switch {
	case w.closed != "" && !(w.closed == afterCancel && journal.IsUndo(c.key)):
		w.problem("offline", h.Node.Pos, "call %s of tool %s was executed %s", c, h.Tool, w.closed)
	case w.finished[c]:
		w.problem("repeated", h.Node.Pos, "call %s of tool %s was executed again, although its result was in the journal", c, h.Tool)
	case w.doubtful[c] && h.Effects >= flow.Writes && !settles(h): // a disk may have failed behind the record that it began
		w.problem("doubt", h.Node.Pos, "call %s of tool %s (%s) was executed again, although it had begun before the crash and nobody has decided about it", c, h.Tool, h.Effects)
	}
}

// settles reports whether the workflow says what becomes of a call in doubt.
func settles(h *engine.Head) bool {
	return h.InDoubt != nil && h.InDoubt.Policy != flow.FailInDoubt
}

// fault is what goes wrong with an attempt; after says that the tool has done its work by then.
func (w *world) fault(c call) (te *value.ToolError, after bool) {
	if !w.faulty {
		return nil, false
	}
	r := from(w.seed, "fault", c.String())
	if !r.one(6) {
		return nil, false
	}
	w.mu.Lock()
	w.faults++
	w.mu.Unlock()
	te = value.Errorf(codes[r.n(len(codes))], injected+" into %s", c.key)
	if te.Code == value.RateLimit && r.one(2) {
		te.RetryAfterS = flow.Ptr(float64(r.n(100)) / 10)
	}
	return te, r.one(3)
}

// steady checks that a pure tool gives the same for the same input.
func (w *world) steady(op engine.Op, in string, err error) {
	h := op.Head()
	if h.Effects != flow.None {
		return
	}
	got := ""
	if err != nil {
		got = "error: " + err.Error()
	} else if b, err := op.EncodeOut(nil); err == nil {
		got = string(b)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := h.Tool + " " + in
	if before, ok := w.outputs[id]; ok && before != got {
		w.problem("deterministic", h.Node.Pos, "tool %s has effects none and gave two results for the same input %s: %s, and %s", h.Tool, short(in), short(before), short(got))
	}
	w.outputs[id] = got
}

// fake sets out, which points to a tool's output.
func (w *world) fake(h *engine.Head, in []byte, out any) error {
	place := h.Key()
	if h.Effects == flow.None {
		place = ""
	}
	r := from(w.seed, "output", h.Tool, place, string(in))
	if reply, ok := out.(*llm.Reply); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.answer(r, h, in, reply)
	}
	v := reflect.ValueOf(out).Elem()
	if h.Tool == engine.HumanTool {
		return w.person(r, in, out)
	}
	if s := w.gives[h.Node.Pos]; s != nil && r.shaped(v, s) {
		return nil
	}
	for range 5 {
		r.fill(v, rule{}, 0)
		if value.Validate(out) == nil {
			return nil
		}
	}
	w.mu.Lock()
	w.unfit++
	w.mu.Unlock()
	return nil // the gate behind it says what does not fit
}

// shaped sets v, which holds any value or text, to a value that fits a schema, or to its JSON.
func (r *random) shaped(v reflect.Value, schema json.RawMessage) bool {
	text := r.fitting(schema)
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Type() == valueType:
		val, err := value.Parse([]byte(text))
		if err != nil {
			return false
		}
		v.Set(reflect.ValueOf(val))
	default:
		return false
	}
	return true
}

// person answers a question.
func (w *world) person(r *random, in []byte, out any) error {
	var q runtime.Question
	if err := json.Unmarshal(in, &q); err != nil {
		return err
	}
	v := reflect.ValueOf(out).Elem()
	if len(q.Choices) > 0 && v.Kind() == reflect.String {
		v.SetString(q.Choices[r.n(len(q.Choices))])
		return nil
	}
	r.fill(v, rule{}, 0)
	return nil
}

// answer is what a model says: text, JSON of the schema, or calls of the tools it was told of; at times something wrong.
func (w *world) answer(r *random, h *engine.Head, in []byte, reply *llm.Reply) error {
	var t llm.Turn
	if err := json.Unmarshal(in, &t); err != nil {
		return err
	}
	at := h.Node.Pos + " " + h.Node.ID
	if t.Schema != nil || t.Tools != nil {
		w.told[at] = llm.Turn{Schema: t.Schema, Tools: t.Tools}
	}
	first := w.told[at]
	wrong := w.faulty && r.one(8)
	m := llm.Message{Role: llm.Assistant, Text: r.text()}
	reply.Stop = llm.End
	switch {
	case wrong && r.one(4):
		reply.Stop = []llm.Stop{llm.Length, llm.Refusal}[r.n(2)]
	case first.Schema != nil && !wrong && (len(first.Tools) == 0 || r.one(2)):
		m.Text = r.fitting(first.Schema.JSON)
	case len(first.Tools) > 0 && (first.Schema != nil || !r.one(3)):
		reply.Stop = llm.CallStop
		for i := range 1 + r.n(3) {
			tool := first.Tools[r.n(len(first.Tools))]
			c := llm.Call{ID: fmt.Sprint("call", i), Name: tool.Name, Args: r.fitting(tool.Schema)}
			if wrong {
				c = []llm.Call{{ID: c.ID, Name: "nosuch", Args: "{}"}, {ID: c.ID, Name: c.Name, Args: `{"a":`}, {ID: c.ID, Name: c.Name, Args: `{"nosuch":1}`}}[r.n(3)]
			}
			m.Calls = append(m.Calls, c)
		}
	}
	reply.Model, reply.Message = "fake", m
	reply.Usage = llm.Usage{Input: 1 + int64(r.n(5)), Output: 1 + int64(r.n(5))}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// short bounds text for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}

// input makes an input of type In, in JSON. Fields that have a default have it at times.
func (r *random) input(in any, info *flow.Info) []byte {
	v := reflect.ValueOf(in)
	for range 5 {
		r.fill(v.Elem(), rule{}, 0)
		if value.Validate(in) == nil {
			break
		}
	}
	text, err := json.Marshal(in)
	if err != nil {
		return []byte("{}")
	}
	often := r.one(2)
	return withDefaults(text, info, func(bool) bool { return often && !r.one(3) })
}

// withDefaults sets the fields of an input that have a default, and for which use says so, to that.
func withDefaults(input []byte, info *flow.Info, use func(given bool) bool) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return input
	}
	for _, f := range info.Input {
		if _, given := fields[f.Name]; f.Default != "" && use(given) {
			fields[f.Name] = json.RawMessage(f.Default)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(fields) != nil {
		return input
	}
	return bytes.TrimSpace(b.Bytes())
}
