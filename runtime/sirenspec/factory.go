package sirenspec

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// An Instance is one of a factory: what it is made for, and what it receives.
type Instance struct {
	Item, Index, Total dynamic.Field // Item is absent when instances are counted, and for null
	Inputs             dynamic.Field // a map of texts

	flow *Flow
	name string    // as in chapters[2]
	late time.Time // when it has to be done
}

// FactorySpec is what a factory does.
type FactorySpec struct {
	Items  Items
	Keep   bool                                                    // an instance that fails says nothing; else the factory fails with it
	Flow   *Flow                                                   // that counts what is spent; nil: nothing does
	Limit  time.Duration                                           // of an instance
	Inputs func(each Instance) []Arg                               // nil: none
	Make   func(r *flow.Run, each Instance) (dynamic.Field, error) // what an instance says
}

// Factory makes an instance for every item, as many at a time as n.Limit says, and puts what they say below own: outputs is
// the list, output all that is not empty, line by line. It gives the list. All instances are made, also when one fails; the
// error is that of the first.
func Factory(r *flow.Run, n *flow.Node, own *dynamic.Field, m FactorySpec) (dynamic.Field, error) {
	items, err := m.Items()
	if err != nil {
		return dynamic.Field{}, r.Fail(n, err)
	}
	said, err := m.run(r, n, items)
	if err != nil {
		return dynamic.Field{}, err
	}
	out := dynamic.List(said...)
	Set(own, out, "outputs")
	Set(own, dynamic.Text(lines(said)), "output")
	return out, nil
}

func (m *FactorySpec) run(r *flow.Run, n *flow.Node, items []Item) ([]dynamic.Field, error) {
	total := dynamic.Whole(int64(len(items)))
	failed := make([]error, len(items))
	kept, err := flow.MapKeep(r, n, flow.Enumerate(items), func(r *flow.Run, it flow.Indexed[Item]) (dynamic.Field, error) {
		one := Instance{Item: it.Value, Index: dynamic.Whole(it.Index), Total: total, flow: m.Flow, name: n.ID + "[" + strconv.FormatInt(it.Index, 10) + "]"}
		if m.Limit > 0 {
			one.late = time.Now().Add(m.Limit)
		}
		out, err := m.one(r, n, one)
		failed[it.Index] = err
		return out, err
	})
	if err != nil {
		return nil, err
	}
	said := make([]dynamic.Field, len(kept))
	var unmade promptError
	for i, x := range kept {
		switch {
		case x.Value != nil:
			said[i] = *x.Value
		case errors.As(failed[i], &unmade):
			return nil, unmade.error // which no policy is for
		default:
			said[i] = dynamic.Text("")
		}
	}
	if m.Keep {
		return said, nil
	}
	for i, err := range failed {
		if err != nil {
			return nil, m.explained(n, i, err)
		}
	}
	return said, nil
}

// one makes an instance.
func (m *FactorySpec) one(r *flow.Run, n *flow.Node, one Instance) (dynamic.Field, error) {
	if m.Inputs != nil {
		in, err := resolveArgs(m.Inputs(one))
		if err != nil {
			return dynamic.Field{}, unfilled(r, n, err)
		}
		one.Inputs = dynamic.Of(in)
	}
	return m.Make(r, one)
}

// explained is the error of a factory whose instance i has failed, in the engine's words.
func (m *FactorySpec) explained(n *flow.Node, i int, err error) error {
	return explained(err, func(e *value.ToolError) {
		if e.Code == value.Timeout && m.Limit > 0 {
			e.Message = "Instance timed out after " + strconv.FormatFloat(m.Limit.Seconds(), 'f', -1, 64) + "s"
		}
		e.Message = "Factory node '" + n.ID + "'[" + strconv.Itoa(i) + "] failed: " + e.Message
	})
}

// promptError marks the error of an instance whose texts cannot be made: the node fails then, whatever its on_failure says.
type promptError struct{ error }

func (e promptError) Unwrap() error { return e.error }

func unfilled(r *flow.Run, n *flow.Node, err error) error { return promptError{r.Fail(n, err)} }

// lines joins what is not empty, lists line by line, too.
func lines(said []dynamic.Field) string {
	var some []string
	for _, s := range said {
		text := Text(s.Value())
		if list, ok := s.Items(); ok {
			text = lines(fields(list))
		}
		if text != "" {
			some = append(some, text)
		}
	}
	return strings.Join(some, "\n")
}

func fields(list []value.Value) []dynamic.Field {
	out := make([]dynamic.Field, len(list))
	for i, v := range list {
		out[i] = dynamic.Of(v)
	}
	return out
}

// Ask asks an agent. The message is the inputs, one on a line.
func (i Instance) Ask(r *flow.Run, n *flow.Node, m *llm.Model, p Prompt) (dynamic.Field, error) {
	system, err := p.System.text()
	if err != nil {
		return dynamic.Field{}, unfilled(r, n, err)
	}
	var message []string
	in := i.Inputs.Value()
	for k, key := range in.Keys() {
		message = append(message, key+": "+Text(in.Index(k)))
	}
	c := llm.Conversation{System: system, Messages: []llm.Message{{Role: llm.User, Text: strings.Join(message, "\n")}}}
	if strings.Contains(system, mark) || strings.Contains(c.Messages[0].Text, mark) {
		c.Fill = fillAll
	}
	answer, err := i.flow.question(r, n, m, c, p.Guards, i.name)
	return dynamic.Text(answer), err
}

// Swarm asks the agents of a swarm. What they say is what the synthesis says, or the list of their answers.
func (i Instance) Swarm(r *flow.Run, n *flow.Node, own *dynamic.Field, v Voices) (dynamic.Field, error) {
	v.late = i.late
	out, failed, err := v.run(r, n, own)
	if err == nil {
		err = failed
	}
	return out, err
}

// An Item is what an instance is made for; it is absent when instances are counted.
type Item = dynamic.Field

// Items gives what a factory makes instances for.
type Items func() ([]Item, error)

// Constant is a list that the file holds.
func Constant(list dynamic.Field) Items {
	return func() ([]Item, error) {
		items, _ := list.Items()
		return each(items), nil
	}
}

// each are the items of a list. Python takes null for an item that is not there.
func each(list []value.Value) []Item {
	out := fields(list)
	for i, v := range list {
		if v.IsNull() {
			out[i] = Item{}
		}
	}
	return out
}

// Each is the list that a placeholder stands for: a list, or text that is one in JSON, also within a fence. expr is the
// whole text of the file.
func Each(expr string, p Part) Items {
	return func() ([]Item, error) {
		if items, ok := p.value.Items(); ok {
			return each(items), nil
		}
		text, err := Template{p}.text()
		if err == nil {
			text, err = filled(text)
		}
		if err != nil {
			return nil, err
		}
		if own := Text(p.value.Value()); p.kind == jsonOrDefault && p.value.Present() && json.Valid([]byte(unfenced(own))) {
			text = own // the filter alone knows no fences
		}
		return parsed(expr, text)
	}
}

// EachUpstream is Each with the engine's rule for filters: their text stands for a value that is missing, and for no other.
func EachUpstream(expr string, p Part) Items {
	if p.value.Present() && p.kind != variable {
		p.kind = reference
	}
	return Each(expr, p)
}

// Parsed is the list that a text is in JSON, also within a fence. The engine puts nothing into it when it is more than a
// placeholder.
func Parsed(expr string, t Template) Items {
	return func() ([]Item, error) {
		text, err := t.text()
		if err == nil {
			text, err = filled(text)
		}
		if err != nil {
			return nil, err
		}
		return parsed(expr, text)
	}
}

func parsed(expr, text string) ([]Item, error) {
	v, err := value.Parse([]byte(text))
	if err != nil {
		text = unfenced(text)
		v, err = value.Parse([]byte(text))
	}
	if err != nil {
		return nil, interpolation(expr, "for_each", "Result is not valid JSON: "+notJSON(text, err))
	}
	items, ok := dynamic.Of(v).Items()
	if !ok {
		return nil, interpolation(expr, "for_each", "Expected a JSON list but got "+py.TypeName(v))
	}
	return each(items), nil
}

// unfenced is what is in the fence that a text consists of: in those, models like to put JSON.
func unfenced(text string) string {
	bare := strings.TrimFunc(text, unicode.IsSpace)
	first, last := strings.IndexByte(bare, '\n'), strings.LastIndex(bare, "```")
	if !strings.HasPrefix(bare, "```") || first < 0 || last <= first {
		return text
	}
	return strings.TrimFunc(bare[first:last], unicode.IsSpace)
}

// maxSwarm is how many instances a factory that counts them makes at most.
const maxSwarm = 100

// Times is as many instances as a text says, 1 to 100. expr is the text of the file.
func Times(expr string, t Template) Items {
	return func() ([]Item, error) {
		text, err := t.text()
		if err == nil {
			text, err = filled(text)
		}
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(digits(strings.TrimFunc(text, unicode.IsSpace)), 10, 64)
		switch {
		case err != nil:
			return nil, interpolation(expr, "swarm_size", "Template resolved to non-integer value: '"+text+"'")
		case n < 1:
			return nil, value.Errorf(value.ValidationError, "swarm_size resolved to %d; must be >= 1", n)
		case n > maxSwarm:
			return nil, value.Errorf(value.ValidationError, "swarm_size resolved to %d; exceeds MAX_SWARM_SIZE=%d", n, maxSwarm)
		}
		return Count(n)()
	}
}

// Count is n instances.
func Count(n int64) Items {
	return func() ([]Item, error) { return make([]Item, n), nil }
}
