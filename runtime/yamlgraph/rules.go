package yamlgraph

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Rule is a condition that has to hold before or after a node, or at the end of a graph.
type Rule struct {
	Check   string                          // as the file has it
	Message string                          // what is said when it does not hold; empty: the engine's words
	Fail    Fail                            // Keep: it is noted; Stop; Skip: the node does nothing; Retry: it runs again
	Tries   int                             // Retry: so often
	Holds   func(output dynamic.Field) bool // of the node's output, absent before it
}

// Rules are what holds around a node.
type Rules struct {
	Limit         int // how often the node runs; 0: nothing bounds it
	Before, After []Rule
}

// With has rules hold for the node that runs next, with the method that it is called on.
func (f *Flow) With(x Rules) *Flow {
	f.rules = x
	return f
}

// ruled takes the rules of the node that runs now.
func (f *Flow) ruled() Rules {
	x := f.rules
	f.rules = Rules{}
	return x
}

// reached reports whether a node has run as often as it may, and counts this run.
func (f *Flow) reached(n *flow.Node, limit int) bool {
	if limit == 0 {
		return false
	}
	name := cmp.Or(f.name, n.ID)
	if f.counts[name] >= int64(limit) {
		f.step(n)
		f.limited = true
		f.write("_loop_limit_reached", value.Bool(true))
		return true
	}
	f.counts = maps.Clone(f.counts)
	if f.counts == nil {
		f.counts = map[string]int64{}
	}
	f.counts[name]++
	f.write("_loop_counts", counted(f.counts))
	return false
}

// A broken is a rule that does not hold.
type broken struct {
	*Rule
	phase string
}

func (b *broken) text() string {
	return cmp.Or(b.Message, "Guard "+b.phase+" check failed: "+b.Check)
}

// entry is the rule in errors.
func (b *broken) entry(n *flow.Node) value.Value {
	fail := map[Fail]string{Keep: "warn", Stop: "halt", Skip: "skip", Retry: "retry"}[b.Fail]
	text := func(key, v string) value.Entry { return value.Entry{Key: key, Value: value.String(v)} }
	return value.Map(text("type", "guard_error"), text("message", b.text()), text("node", n.ID), text("phase", b.phase), text("check", b.Check), text("on_fail", fail))
}

// An errHalt is an error of a rule, which on_error does not catch.
type errHalt struct{ error }

func (e errHalt) Unwrap() error { return e.error }

// halts is a rule that ends the run.
func (b *broken) halts(r *flow.Run, n *flow.Node) error {
	return errHalt{r.Fail(n, value.Errorf(value.ValidationError, "%s", b.text()))}
}

func halted(err error) bool {
	var h errHalt
	return errors.As(err, &h)
}

// hold looks at rules in their order, up to the first that does not hold and is more than a warning.
func hold(rules []Rule, phase string, output dynamic.Field) (warned []*broken, wrong *broken) {
	for i := range rules {
		if rules[i].Holds(output) {
			continue
		}
		b := &broken{&rules[i], phase}
		if b.Fail != Keep {
			return warned, b
		}
		warned = append(warned, b)
	}
	return warned, nil
}

// before looks at the rules before a node that asks nobody. skip says that the node does nothing.
func (x *Rules) before(r *flow.Run, n *flow.Node) (skip bool, err error) {
	_, wrong := hold(x.Before, "pre", dynamic.Field{})
	switch {
	case wrong == nil:
		return false, nil
	case wrong.Fail == Skip:
		return true, nil
	}
	return false, wrong.halts(r, n)
}

// run runs a node that asks nobody until the rules after it hold, or until its tries are spent.
func (x *Rules) run(r *flow.Run, n *flow.Node, call func() (value.Value, error)) (value.Value, error) {
	left := map[*Rule]int{}
	for {
		v, err := call()
		if err != nil {
			return v, err
		}
		_, wrong := hold(x.After, "post", dynamic.Of(v))
		if wrong == nil {
			return v, nil
		}
		if wrong.Fail != Retry || left[wrong.Rule] >= wrong.Tries {
			return v, wrong.halts(r, n)
		}
		left[wrong.Rule]++
	}
}

// skipped leaves what a node leaves that a rule has kept from running.
func (f *Flow) skipped(n *flow.Node, key, message string) {
	f.write(key, value.Null())
	f.write("errors", value.List(value.Map(value.Entry{Key: "type", Value: value.String("unknown_error")},
		value.Entry{Key: "message", Value: value.String(message)}, value.Entry{Key: "node", Value: value.String(n.ID)})))
	f.step(n)
}

// allowed looks at the rules before a question; end says that it is not asked.
func (u *update) allowed(n *flow.Node, q *Question, x *Rules) (end bool) {
	warned, wrong := hold(x.Before, "pre", dynamic.Field{})
	if wrong != nil {
		warned = append(warned, wrong)
	}
	if len(warned) > 0 {
		u.take("errors", entries(n, warned))
	}
	if wrong != nil && wrong.Fail == Skip {
		u.take(q.Key, value.Null())
	}
	return wrong != nil
}

// good looks at the rules after a question, which is asked again while they say so. end says that the node ends with the
// answer, and with what is wrong with it in errors.
func (u *update) good(r *flow.Run, n *flow.Node, q *Question, p Prompt, x *Rules, v value.Value) (_ value.Value, end bool, err error) {
	return u.held(n, q.Key, x, v, func() (value.Value, error) { return question(r, n, q.Model, q, p) })
}

// held is good for a question of any kind.
func (u *update) held(n *flow.Node, key string, x *Rules, v value.Value, ask func() (value.Value, error)) (_ value.Value, end bool, err error) {
	var all []*broken
	left := map[*Rule]int{}
	for {
		warned, wrong := hold(x.After, "post", dynamic.Of(v))
		all = append(all, warned...)
		switch {
		case wrong == nil:
		case wrong.Fail == Retry && left[wrong.Rule] < wrong.Tries:
			left[wrong.Rule]++
			if v, err = ask(); err != nil {
				return v, false, err
			}
			continue
		default:
			all = append(all, wrong)
			u.take(key, v)
		}
		if len(all) > 0 {
			u.take("errors", entries(n, all))
		}
		return v, wrong != nil, nil
	}
}

// Verify looks at the rules at the end of a graph: those that only warn go into errors, the first of the others ends the
// run.
func (f *Flow) Verify(r *flow.Run, n *flow.Node, rules ...Rule) error {
	warned, wrong := hold(rules, "verify", dynamic.Field{})
	if wrong != nil {
		return wrong.halts(r, n)
	}
	if len(warned) > 0 {
		f.write("errors", entries(n, warned))
	}
	f.step(n)
	return nil
}

func entries(n *flow.Node, rules []*broken) value.Value {
	var out []value.Value
	for _, b := range rules {
		out = append(out, b.entry(n))
	}
	return value.List(out...)
}

// In reports whether a list has an item, a map a key, or a text a part.
func In(item, of dynamic.Field) bool {
	switch v := of.Value(); v.Kind() {
	case value.ListKind:
		for i := range v.Len() {
			if py.Equal(item, dynamic.Of(v.Index(i))) {
				return true
			}
		}
	case value.MapKind:
		_, ok := v.Get(item.Value().String())
		return ok && item.Value().Kind() == value.StringKind
	case value.StringKind:
		return item.Value().Kind() == value.StringKind && strings.Contains(v.String(), item.Value().String())
	}
	return false
}

// NotIn is the opposite of In; both are false of what holds nothing, such as a number.
func NotIn(item, of dynamic.Field) bool {
	switch of.Value().Kind() {
	case value.ListKind, value.MapKind:
		return !In(item, of)
	case value.StringKind:
		return item.Value().Kind() == value.StringKind && !In(item, of)
	}
	return false
}

// Length is how long a text, a list or a map is; 0 of other values.
func Length(f dynamic.Field) dynamic.Field {
	v := f.Value()
	switch v.Kind() {
	case value.StringKind:
		return dynamic.Whole(int64(len([]rune(v.String()))))
	case value.ListKind, value.MapKind:
		return dynamic.Whole(int64(v.Len()))
	}
	return dynamic.Whole(0)
}

// TypeName is what Python calls the type of a value.
func TypeName(f dynamic.Field) dynamic.Field { return dynamic.Text(py.TypeName(f.Value())) }

// Keys are the keys of a map; none of other values.
func Keys(f dynamic.Field) dynamic.Field {
	var out []dynamic.Field
	if f.Value().Kind() == value.MapKind {
		for _, key := range f.Value().Keys() {
			out = append(out, dynamic.Text(key))
		}
	}
	return dynamic.List(out...)
}

// FileExists and DirExists report whether a path is that of a file or of a folder. Like all that a run learns from outside
// the answer is recorded.
func FileExists(r *flow.Run, n *flow.Node, f dynamic.Field) dynamic.Field {
	return exists(r, n, fileExists, f)
}

// DirExists is FileExists for folders.
func DirExists(r *flow.Run, n *flow.Node, f dynamic.Field) dynamic.Field {
	return exists(r, n, dirExists, f)
}

func exists(r *flow.Run, n *flow.Node, t *flow.Tool[string, bool], f dynamic.Field) dynamic.Field {
	if f.Value().Kind() != value.StringKind {
		return dynamic.Flag(false)
	}
	ok, err := flow.Call(r, n, t, f.Value().String())
	return dynamic.Flag(ok && err == nil)
}

var (
	fileExists = engine.Provide(flow.Bind("yamlgraph.file_exists@1", flow.Reads, func(_ context.Context, path string) (bool, error) {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular(), nil
	}, tool.Cancellable()))
	dirExists = engine.Provide(flow.Bind("yamlgraph.dir_exists@1", flow.Reads, func(_ context.Context, path string) (bool, error) {
		info, err := os.Stat(path)
		return err == nil && info.IsDir(), nil
	}, tool.Cancellable()))
)
