package sirenspec

import (
	"encoding/json"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/llm"
)

// An Instance is one of a factory: what it is made for, and what it is told.
type Instance struct {
	Item, Index, Total dynamic.Field
	Inputs             dynamic.Field // a map of texts

	flow *Flow
}

// Making is what a factory does.
type Making struct {
	Items  Items
	Keep   bool                                                // an instance that fails says nothing; else the factory fails with it
	Flow   *Flow                                               // that counts what is spent; nil: nothing does
	Inputs func(each Instance) []Arg                           // nil: none
	Make   func(r *runtime.Run, each Instance) (string, error) // what an instance says
}

// Factory makes an instance for every item, as many at a time as n.Limit says, and puts what they say below own: outputs is
// the list, output all that is not empty, line by line. It gives the list.
func Factory(r *runtime.Run, n *runtime.Node, own *dynamic.Field, m Making) (dynamic.Field, error) {
	items, err := m.Items()
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	said, err := m.run(r, n, items)
	if err != nil {
		return dynamic.Field{}, err
	}
	all := make([]dynamic.Field, len(said))
	for i, s := range said {
		all[i] = dynamic.Text(s)
	}
	out := dynamic.List(all...)
	Set(own, out, "outputs")
	Set(own, dynamic.Text(lines(said)), "output")
	return out, nil
}

func (m *Making) run(r *runtime.Run, n *runtime.Node, items []runtime.Value) ([]string, error) {
	total := dynamic.Whole(int64(len(items)))
	each := func(r *runtime.Run, it runtime.Indexed[runtime.Value]) (string, error) {
		one := Instance{Item: dynamic.Of(it.Value), Index: dynamic.Whole(it.Index), Total: total, flow: m.Flow}
		if m.Inputs != nil {
			in, err := resolveArgs(m.Inputs(one))
			if err != nil {
				return "", r.Fail(n, err)
			}
			one.Inputs = dynamic.Of(in)
		}
		return m.Make(r, one)
	}
	if !m.Keep {
		return runtime.Map(r, n, runtime.Enumerate(items), each)
	}
	kept, err := runtime.MapKeep(r, n, runtime.Enumerate(items), each)
	said := make([]string, len(kept))
	for i, x := range kept {
		if x.Value != nil {
			said[i] = *x.Value
		}
	}
	return said, err
}

// lines joins what is not empty.
func lines(said []string) string {
	var some []string
	for _, s := range said {
		if s != "" {
			some = append(some, s)
		}
	}
	return strings.Join(some, "\n")
}

// Ask asks an agent. The message is the inputs, one on a line.
func (i Instance) Ask(r *runtime.Run, n *runtime.Node, m *llm.Model, p Prompt) (string, error) {
	system, err := p.System.text()
	if err != nil {
		return "", r.Fail(n, err)
	}
	var message []string
	in := i.Inputs.Value()
	for k, key := range in.Keys() {
		message = append(message, key+": "+Text(in.Index(k)))
	}
	c := llm.Conversation{System: system, Messages: []llm.Message{{Role: llm.User, Text: strings.Join(message, "\n")}}}
	if p.System.variables() {
		c.Fill = fillSystem
	}
	return i.flow.question(r, n, m, c, p.Guards)
}

// Swarm asks the agents of a swarm. What they say is what the synthesis says, or their answers, line by line.
func (i Instance) Swarm(r *runtime.Run, n *runtime.Node, own *dynamic.Field, v Voices) (string, error) {
	out, err := Swarm(r, n, own, v)
	if err != nil {
		return "", err
	}
	said, ok := out.Items()
	if !ok {
		return out.Value().String(), nil
	}
	var all []string
	for _, s := range said {
		all = append(all, s.String())
	}
	return lines(all), nil
}

// Items gives what a factory makes instances for.
type Items func() ([]runtime.Value, error)

// Constant is a list that the file holds.
func Constant(list dynamic.Field) Items {
	return func() ([]runtime.Value, error) {
		items, _ := list.Items()
		return items, nil
	}
}

// Each is the list that a placeholder stands for: a list, or text that is one in JSON, also within a fence.
func Each(p Part) Items {
	return func() ([]runtime.Value, error) {
		if items, ok := p.value.Items(); ok {
			return items, nil
		}
		text, err := p.resolved()
		if err != nil {
			return nil, err
		}
		if own := Text(p.value.Value()); p.kind == jsonOrDefault && p.value.Present() && json.Valid([]byte(unfenced(own))) {
			text = own // the filter alone knows no fences
		}
		return parsed(text)
	}
}

// EachUpstream is Each with the engine's rule for filters: their text stands for a value that is missing, and for no other.
func EachUpstream(p Part) Items {
	if p.value.Present() && p.kind != variable {
		p.kind = reference
	}
	return Each(p)
}

// Parsed is the list that a text is in JSON, also within a fence.
func Parsed(t Template) Items {
	return func() ([]runtime.Value, error) {
		text, err := t.text()
		if err != nil {
			return nil, err
		}
		return parsed(text)
	}
}

func parsed(text string) ([]runtime.Value, error) {
	v, err := runtime.ParseValue([]byte(text))
	if err != nil {
		v, err = runtime.ParseValue([]byte(unfenced(text)))
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.ValidationError, "for_each takes a list, and this is no JSON: %s", shown(text))
	}
	items, ok := dynamic.Of(v).Items()
	if !ok {
		return nil, runtime.Errorf(runtime.ValidationError, "for_each takes a list, and this is something else: %s", shown(text))
	}
	return items, nil
}

// unfenced is what stands in the first fence of a text, in which models like to put JSON.
func unfenced(text string) string {
	_, inner, ok := strings.Cut(text, "```")
	if !ok {
		return text
	}
	inner, _, _ = strings.Cut(inner, "```")
	if word, rest, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(word, "[{\"") {
		inner = rest
	} else {
		inner = strings.TrimPrefix(inner, "json")
	}
	return strings.TrimSpace(inner)
}

func shown(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown]) + "..."
	}
	b, _ := json.Marshal(text) // text always has JSON
	return string(b)
}

const (
	maxShown = 100 // characters
	maxSwarm = 100
)

// Times is as many instances as a text says, 1 to 100; the item of each is its index.
func Times(t Template) Items {
	return func() ([]runtime.Value, error) {
		text, err := t.text()
		if err != nil {
			return nil, err
		}
		v, err := runtime.ParseValue([]byte(strings.TrimSpace(text)))
		if err != nil || v.Kind() != runtime.IntKind || v.Int() < 1 || v.Int() > maxSwarm {
			return nil, runtime.Errorf(runtime.ValidationError, "swarm_size is a whole number from 1 to %d, not %s", maxSwarm, shown(text))
		}
		return Count(v.Int())()
	}
}

// Count is n instances.
func Count(n int64) Items {
	return func() ([]runtime.Value, error) {
		items := make([]runtime.Value, n)
		for i := range items {
			items[i] = runtime.IntValue(int64(i))
		}
		return items, nil
	}
}
