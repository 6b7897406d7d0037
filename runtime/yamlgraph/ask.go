package yamlgraph

import (
	"cmp"
	"maps"
	"slices"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jinja"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Question is what a node asks a model, and what becomes of the answer.
type Question struct {
	Model    *Model
	Key      string      // the field of the answer
	Schema   *llm.Schema // that the answer has to fit; nil: text
	Skip     bool        // nothing is asked when the field has a value that is true in Python
	SkipSet  bool        // nothing is asked when the field has a value
	Limit    int         // how often the node runs; 0: nothing bounds it
	Requires []string    // fields without which nothing is asked
	JSON     bool        // JSON is looked for in the text of the answer
	Fail     Fail
	Retries  int         // of Retry
	Fallback *Model      // of Fallback
	Copilot  bool        // the answer is kept as that of a program
	Race     []Candidate // who is asked until one answers, in place of Model
	Router   *Router
}

// Fail is what becomes of a question that fails.
type Fail uint8

// The error goes into errors, and the run goes on; it goes nowhere; the run ends; the question is asked again, so many
// times, and after that the error goes into errors; another model is asked once, and after that the same.
const (
	Keep Fail = iota
	Skip
	Stop
	Retry
	Fallback
)

// A Router chooses where the token goes by a label in the answer.
type Router struct {
	Field  string // of the answer with the label; empty: tone, else intent
	Routes []Way
	Other  string // where other labels lead
}

// A Way is where a label leads.
type Way struct{ Label, To string }

// A Prompt makes what a model receives, when it is asked.
type Prompt func() (llm.Prompt, error)

// NewPrompt is the prompt of two texts, with the first error of both.
func NewPrompt(system, user *jinja.Text) (llm.Prompt, error) {
	if err := system.Err(); err != nil {
		return llm.Prompt{}, err
	}
	return llm.Prompt{System: system.String(), Text: user.String()}, user.Err()
}

// A Variable is a variable of a prompt with its value.
type Variable struct {
	Name  string
	Value dynamic.Field
}

// Needs is a prompt that cannot be made without some variables: the error names it and those that have no value.
func Needs(name string, p Prompt, variables ...Variable) Prompt {
	return func() (llm.Prompt, error) {
		var missing []string
		for _, v := range variables {
			if v.Value.Value().IsNull() {
				missing = append(missing, v.Name)
			}
		}
		if missing == nil {
			return p()
		}
		slices.Sort(missing)
		text := missing[0]
		for _, name := range missing[1:] {
			text += ", " + name
		}
		return llm.Prompt{}, value.Invalid("Missing required variable(s) for prompt '%s': %s", name, text)
	}
}

// Ask runs a node that asks a model. The error is one of the run, or that of the question when Fail is Stop.
func (f *Flow) Ask(r *flow.Run, n *flow.Node, q *Question, p Prompt) error {
	u, err := f.asked(r, n, q, p)
	if err != nil {
		return err
	}
	for _, e := range u.entries {
		f.write(e.Key, e.Value)
	}
	f.step(n)
	if u.routed {
		f.route = u.route
		f.write("_route", value.String(u.route))
	}
	if u.limited {
		f.limited = true
		f.write("_loop_limit_reached", value.Bool(true))
	}
	if u.counts != nil {
		f.counts = u.counts
		f.write("_loop_counts", counted(u.counts))
	}
	return nil
}

// An update is what a node leaves.
type update struct {
	entries []value.Entry
	counts  map[string]int64
	limited bool
	routed  bool
	route   string
}

// asked asks a question in the engine's order: the limit, the value that is there, what is required, the prompt, the
// answer.
func (f *Flow) asked(r *flow.Run, n *flow.Node, q *Question, p Prompt) (u update, err error) {
	name := cmp.Or(f.name, n.ID)
	count := f.counts[name]
	if q.Limit > 0 && count >= int64(q.Limit) {
		u.limited = true
		return u, nil
	}
	u.counts = maps.Clone(f.counts)
	if u.counts == nil {
		u.counts = map[string]int64{}
	}
	u.counts[name] = count + 1
	if held := f.get(q.Key); q.Skip && py.True(dynamic.Of(held)) || q.SkipSet && !held.IsNull() {
		return u, nil
	}
	for _, name := range q.Requires {
		if f.get(name).IsNull() {
			u.keep(f.called(n), r.Fail(n, value.Invalid("Missing required state: %s", name)))
			return u, nil
		}
	}
	x := f.ruled()
	if end := u.allowed(n, q, &x); end {
		return u, nil
	}
	v, err := u.first(r, n, q, p)
	if err == nil && q.Copilot {
		v = q.Model.copilot(v)
	}
	if err == nil {
		var end bool
		if v, end, err = u.good(r, n, q, p, &x, v); end {
			return u, nil
		}
	}
	switch {
	case err == nil:
		u.take(q.Key, v)
		if q.Router != nil {
			u.routed, u.route = true, q.Router.way(v, q.Schema != nil)
			if label := dynamic.Of(v).At(q.Router.Field); q.Router.Field != "" && !label.Value().IsNull() {
				u.take(q.Key, label.Value()) // newer engines keep the label alone
			}
		}
		return u, nil
	case flow.Skipped(err) != nil:
		return u, err
	}
	if q.Race != nil {
		return u, u.lost(n, q, err)
	}
	switch q.Fail {
	case Stop:
		return u, err
	case Skip:
		return u, nil
	case Retry: // what comes then is taken as it is
		plain := *q
		plain.JSON = false
		for range q.Retries {
			if v, err = question(r, n, q.Model, &plain, p); err == nil {
				u.take(q.Key, v)
				return u, nil
			} else if flow.Skipped(err) != nil {
				return u, err
			}
		}
	case Fallback:
		if v, err = question(r, n, q.Fallback, q, p); err == nil {
			u.take(q.Key, v)
			return u, nil
		} else if flow.Skipped(err) != nil {
			return u, err
		}
	}
	u.keep(f.called(n), err)
	return u, nil
}

func (u *update) take(key string, v value.Value) {
	u.entries = append(u.entries, value.Entry{Key: key, Value: v})
}

// keep puts an error into the state.
func (u *update) keep(node string, err error) {
	u.take("errors", value.List(entry(node, err)))
}

// question asks once. The error is a *runtime.NodeError.
func question(r *flow.Run, n *flow.Node, m *Model, q *Question, p Prompt) (value.Value, error) {
	prompt, err := p()
	if err != nil {
		return value.Null(), r.Fail(n, err)
	}
	model, te := m.use()
	if te != nil {
		return value.Null(), r.Fail(n, te)
	}
	if q.Schema != nil {
		v, err := llm.Ask[value.Value](r, n, model, prompt, llm.Format{Schema: q.Schema})
		if err != nil {
			return v, err
		}
		if v, te = fit(q.Schema, v); te != nil {
			return v, r.Fail(n, te)
		}
		return v, nil
	}
	text, err := llm.Ask[string](r, n, model, prompt, llm.Format{})
	if err != nil {
		return value.Null(), err
	}
	if q.JSON {
		return FindJSON(text), nil
	}
	return value.String(text), nil
}

// way is where an answer leads. Only an answer with a schema has a tone or an intent: a mapping that was found in a text
// has none in the engine.
func (x *Router) way(v value.Value, schema bool) string {
	label := ""
	switch {
	case x.Field != "":
		label = py.Str(dynamic.Of(v).At(x.Field))
	case schema:
		for _, name := range []string{"intent", "tone"} {
			if f := dynamic.Of(v).At(name); py.True(f) {
				label = py.Str(f)
			}
		}
	}
	for _, w := range x.Routes {
		if w.Label == label {
			return w.To
		}
	}
	return x.other()
}

// other is where labels lead that have no way of their own.
func (x *Router) other() string {
	if x.Other != "" || len(x.Routes) == 0 {
		return x.Other
	}
	return x.Routes[0].To
}

// Route is where a router's edge leads: to what the last router chose when that is among the targets, else to the first of
// them.
func (f *Flow) Route(targets ...string) string {
	if f.route != "" && slices.Contains(targets, f.route) {
		return f.route
	}
	return targets[0]
}

// Limited reports whether a node has reached its limit: after that, conditions lead to the end.
func (f *Flow) Limited() bool { return f.limited }

// get is the value of a field; null when there is none.
func (f *Flow) get(name string) value.Value {
	for i := range f.slots {
		if f.slots[i].Name == name {
			return f.slots[i].Field.Value()
		}
	}
	return value.Null()
}

func counted(counts map[string]int64) value.Value {
	var out []value.Entry
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, value.Entry{Key: k, Value: value.Int(counts[k])})
	}
	return value.Map(out...)
}
