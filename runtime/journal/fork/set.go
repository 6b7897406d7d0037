package fork

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/editdistance"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Set sets a field of the input, "input.pr", or of the recorded result of a node, "plan.route" or "plan". The text is JSON where it
// can be read as such and what it replaces is not text. The input that it returns is the changed one; results change in j.
func Set(info *flow.Info, j *journal.Journal, input []byte, path, text string) ([]byte, error) {
	root, fields, _ := strings.Cut(path, ".")
	if root == "input" {
		if fields == "" {
			return nil, errors.New("name a field of the input, as in input.pr")
		}
		return setAt(input, fields, text)
	}
	r, ok := lastResult(j, root)
	if !ok {
		return nil, noResult(info, j, root)
	}
	out, err := given(&r, fields, text)
	if err != nil {
		return nil, err
	}
	r.Output, r.Given = out, true
	j.Put(r)
	return input, nil
}

// lastResult is the record with the result of a node. A model that was asked again has answered with its last answer.
func lastResult(j *journal.Journal, key string) (found journal.Record, ok bool) {
	visit := 0
	for _, r := range j.Records() {
		if r.Error != nil {
			continue
		}
		n := 1
		if again, is := strings.CutPrefix(r.Key, key+"#"); is && asksModel(&r) {
			n, _ = strconv.Atoi(again)
		} else if r.Key != key {
			continue
		}
		if n > visit || n == visit && r.Attempt > found.Attempt {
			found, visit, ok = r, n, true
		}
	}
	return found, ok
}

// noResult says why a node cannot be set.
func noResult(info *flow.Info, j *journal.Journal, root string) error {
	for _, r := range j.Records() {
		if journal.Below(r.Key, root) && r.Key != root {
			return fmt.Errorf("%s makes calls of its own; set the result of one of them by its key, such as %s", root, r.Key)
		}
	}
	names := make([]string, len(info.Nodes))
	for i, n := range info.Nodes {
		names[i] = n.ID
	}
	if near := editdistance.Nearest(root, names); near != "" && !slices.Contains(names, root) {
		return fmt.Errorf("the run has no result of a node %s; did you mean %s?", root, near)
	}
	return fmt.Errorf("the run has no result of a node %s that is kept; a node that is executed again cannot be set", root)
}

// asksModel tells calls of models, whose result is in the text of an answer, by their tool: provider:name@1.
func asksModel(r *journal.Record) bool {
	name, _ := engine.SplitTool(r.Tool)
	return strings.Contains(name, ":")
}

// bare returns a tool error's message without its code, which is no help here.
func bare(err error) string {
	if te := value.ToolErrorOf(err); te != nil {
		return te.Message
	}
	return err.Error()
}

// given is the output of a call with something else in the place of what it has given at path.
func given(r *journal.Record, path, text string) ([]byte, error) {
	switch {
	case r.Tool == engine.HumanTool:
		var q runtime.Question
		if err := value.Decode(r.Input, &q); err != nil {
			return nil, fmt.Errorf("the recorded question cannot be read: %s", bare(err))
		}
		if err := q.Check(text); path == "" && err != nil {
			return nil, errors.New(bare(err))
		}
	case asksModel(r):
		return answerWith(r, path, text)
	}
	return setAt(r.Output, path, text)
}

// answerWith puts something into the answer of a model: into its text, or where it was asked for JSON into that.
func answerWith(r *journal.Record, path, text string) ([]byte, error) {
	var reply struct {
		Message struct {
			Text string `json:"text"`
		} `json:"message"`
	}
	asked, err := value.Parse(r.Input)
	if err != nil {
		return nil, fmt.Errorf("the recorded question cannot be read: %s", bare(err))
	}
	format, _ := asked.Get("schema")
	schema, typed := format.Get("json")
	if err := value.DecodeKnown(r.Output, &reply); err != nil {
		return nil, fmt.Errorf("the recorded answer cannot be read: %s", bare(err))
	}
	answer := text
	switch {
	case typed:
		doc, err := value.Parse([]byte(reply.Message.Text))
		if err != nil {
			return nil, errors.New("the recorded answer is not JSON")
		}
		if keys := doc.Keys(); len(keys) == 1 && keys[0] == "value" && path != "value" && !strings.HasPrefix(path, "value.") {
			path = strings.TrimSuffix("value."+path, ".") // what is no struct is asked for as the field of one
		}
		changed, err := setAt([]byte(reply.Message.Text), path, text)
		if err != nil {
			return nil, err
		}
		if err := allowed(schema, changed, path); err != nil {
			return nil, err
		}
		answer = string(changed)
	case path != "":
		return nil, fmt.Errorf("unknown field %s: the answer is text", path)
	}
	return setAt(r.Output, "message.text", answer)
}

// allowed holds the new value at path to the schema that the model was told. What it says beyond types and choices is seen
// when the answer is read; then the model would be asked again.
func allowed(schema value.Value, answer []byte, path string) error {
	v, err := value.Parse(answer)
	if err != nil {
		return err
	}
	for _, field := range strings.Split(path, ".") {
		if path == "" {
			break
		}
		switch v.Kind() {
		case value.MapKind:
			v, _ = v.Get(field)
			schema, _ = schema.Get("properties")
			schema, _ = schema.Get(field)
		case value.ListKind:
			i, _ := strconv.Atoi(field) // setAt has found it
			v = v.Index(i)
			schema, _ = schema.Get("items")
		}
	}
	enum, _ := schema.Get("enum")
	var choices []string
	for i := range enum.Len() {
		if enum.Index(i).Equal(v) {
			return nil
		}
		choices = append(choices, enum.Index(i).String())
	}
	if choices != nil {
		return fmt.Errorf("%s is none of %s", v, strings.Join(choices, ", "))
	}
	want, _ := schema.Get("type")
	kinds, ok := map[string][]value.Kind{
		"string": {value.StringKind}, "integer": {value.IntKind}, "number": {value.IntKind, value.FloatKind},
		"boolean": {value.BoolKind}, "array": {value.ListKind}, "object": {value.MapKind},
	}[want.String()]
	if ok && !slices.Contains(kinds, v.Kind()) {
		return fmt.Errorf("%s is needed here, %s is a %s", kinds[len(kinds)-1], v, v.Kind())
	}
	return nil
}

// setAt replaces what is at a path of fields and list places in JSON. The new value is JSON where it can be read as
// such and what it replaces is not text; otherwise it is text.
func setAt(doc []byte, path, text string) ([]byte, error) {
	v, err := value.Parse(doc)
	if err != nil {
		return nil, err
	}
	var fields []string
	if path != "" {
		fields = strings.Split(path, ".")
	}
	v, err = setValue(v, fields, text)
	if err != nil {
		return nil, err
	}
	return v.MarshalJSON()
}

func setValue(v value.Value, fields []string, text string) (value.Value, error) {
	if len(fields) == 0 {
		if v.Kind() == value.StringKind {
			return value.String(text), nil
		}
		if parsed, err := value.Parse([]byte(text)); err == nil {
			return parsed, nil
		}
		return value.String(text), nil
	}
	switch v.Kind() {
	case value.MapKind:
		old, ok := v.Get(fields[0])
		if !ok {
			if near := editdistance.Nearest(fields[0], v.Keys()); near != "" {
				return v, fmt.Errorf("unknown field %s; did you mean %s?", fields[0], near)
			}
			return v, fmt.Errorf("unknown field %s", fields[0])
		}
		sub, err := setValue(old, fields[1:], text)
		if err != nil {
			return v, err
		}
		entries := make([]value.Entry, 0, v.Len())
		for _, key := range v.Keys() {
			item, _ := v.Get(key)
			if key == fields[0] {
				item = sub
			}
			entries = append(entries, value.Entry{Key: key, Value: item})
		}
		return value.Map(entries...), nil
	case value.ListKind:
		i, err := strconv.Atoi(fields[0])
		if err != nil || i < 0 || i >= v.Len() {
			return v, fmt.Errorf("the list has no place %s: it has %d", fields[0], v.Len())
		}
		items := make([]value.Value, v.Len())
		for k := range items {
			items[k] = v.Index(k)
		}
		if items[i], err = setValue(items[i], fields[1:], text); err != nil {
			return v, err
		}
		return value.List(items...), nil
	}
	return v, fmt.Errorf("unknown field %s: the value is not an object", fields[0])
}
