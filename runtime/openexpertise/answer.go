package openexpertise

import (
	"errors"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/js"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/jsonschema"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Text runs a node whose answer is text, which becomes the value of one field; of none when into is empty.
func (f *Flow) Text(r *flow.Run, n *flow.Node, p Policy, into string, ask func() (string, error)) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		text, err := ask()
		if err != nil || into == "" {
			return result{}, err
		}
		return result{delta: dynamic.Object(dynamic.Put(into, dynamic.Text(text))).Value()}, nil
	})
}

// Values runs a node whose answer is an object: each of its keys becomes the value of a field. It has to fit the JSON Schema,
// if there is one.
func (f *Flow) Values(r *flow.Run, n *flow.Node, p Policy, schema []byte, ask func() (value.Value, error)) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		v, err := ask()
		if err == nil && schema != nil {
			if why := jsonschema.Check(schema, v); why != nil {
				err = value.Errorf(value.ValidationError, "Node %q gave an answer that does not fit its schema: %s", n.ID, message(why))
			}
		}
		if err == nil && v.Kind() != value.MapKind {
			err = value.Errorf(value.ValidationError, "Node %q answered %s, and not an object", n.ID, kind(v))
		}
		return result{delta: v}, err
	})
}

// message is what an error says, without its code.
func message(err error) string {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Message
	}
	return err.Error()
}

// Child runs a node that is another experience, whose outcome is handed on: a run that has failed is not a failure of the node.
func (f *Flow) Child(r *flow.Run, n *flow.Node, p Policy, child func() (dynamic.Field, error)) (Ended, error) {
	return f.run(r, n, p, func() (result, error) {
		edge, err := child()
		return result{edge: edge}, err
	})
}

// Fill is what stands for a placeholder in a prompt: strings as they are, other values as JSON, and the placeholder itself
// where there is no value.
func Fill(f dynamic.Field, placeholder string) string {
	if !f.Present() {
		return placeholder
	}
	return js.Text(f)
}

// Or is the first value, and the second one where there is none.
func Or(first, second dynamic.Field) dynamic.Field {
	if first.Present() {
		return first
	}
	return second
}

// Length is the length of a value that is there.
func Length(f dynamic.Field) dynamic.Field {
	if !f.Present() {
		return f
	}
	return js.Length(f)
}

// envelopes bounds how many envelopes the programs of agents put around an answer.
const envelopes = 20

// Unwrap reads the JSON that the program of an agent prints: out of an envelope {"result": "..."}, out of the first fenced
// block, as it is. What is not JSON is an error.
func Unwrap(text string) (value.Value, error) {
	for range envelopes {
		v, err := js.Parse([]byte(text))
		if err != nil {
			break
		}
		inner, ok := v.Get("result")
		if !ok || inner.Kind() != value.StringKind {
			return v, nil
		}
		text = inner.String()
	}
	v, err := js.Parse([]byte(strings.TrimSpace(fenced(text))))
	if err != nil {
		return v, value.Errorf(value.ValidationError, "the output is not JSON: %v", err)
	}
	return v, nil
}

// fenced is the text between the first pair of fences, or all of it.
func fenced(text string) string {
	_, inner, ok := strings.Cut(text, "```")
	if !ok {
		return text
	}
	if _, rest, ok := strings.Cut(inner, "\n"); ok {
		inner = rest // the language
	}
	inner, _, _ = strings.Cut(inner, "```")
	return inner
}
