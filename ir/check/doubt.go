package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// doubt checks what is to become of calls in doubt: of the tools that can be meant, those that change something must be
// able to do it. who is the node or the tool that says it.
func (c *checker) doubt(d *ir.Doubt, who string, tools []*ir.Tool) {
	if d == nil || len(tools) == 0 {
		return
	}
	report := func(message, help string) {
		c.report(diag.Diagnostic{Code: diag.DoubtUnfit, Span: d.Span, Message: message, Help: help})
	}
	writers := slices.DeleteFunc(slices.Clone(tools), func(t *ir.Tool) bool { return effectsOf(t) < ir.EffectsWrites })
	if len(writers) == 0 {
		report(fmt.Sprintf("calls of %q are never in doubt: they change nothing, and a resumed run makes them again", who), "remove `on_in_doubt`, or correct `effects`")
		return
	}
	for _, t := range writers {
		out := toolOut(t)
		switch {
		case d.Policy == "assume_done" && !schema.Equal(out, toolOut(writers[0])):
			report(fmt.Sprintf("tools %q and %q return different types, and one value cannot have both", writers[0].Key.Name, t.Key.Name), "write `on_in_doubt` on the tools")
		case d.Policy == "retry_with_key" && !t.Idempotency:
			report(fmt.Sprintf("tool %q has no idempotency key, so a repeated call cannot be recognized", t.Key.Name),
				"add `idempotency_key: call_id` to the tool if the other side recognizes a call by it, or write `ask`")
		case d.Policy == "assume_done" && d.Value != nil:
			before := c.sink.Errors()
			if out.Kind != schema.Invalid {
				c.value(d.Value, out, &env{c: c})
			}
			if c.sink.Errors() == before {
				continue
			}
		case d.Policy == "assume_done" && !nothing(out):
			report(fmt.Sprintf("tool %q returns %s, and the result of a call in doubt is unknown", t.Key.Name, out), "write `{assume_done: ...}` with a result that the workflow can use")
		default:
			continue
		}
		return
	}
}

// nothing reports whether there need not be a result.
func nothing(t *schema.Type) bool {
	switch t.Kind {
	case schema.Opt, schema.Null, schema.Invalid:
		return true
	}
	return t.Kind == schema.Struct && len(t.Fields) == 0
}

// DoubtOutput is the result of a call in doubt of t that is taken to have happened, as the JSON in which a journal has it:
// what is left out has its default.
func DoubtOutput(d *ir.Doubt, t *ir.Tool) string {
	out := toolOut(t)
	if d.JSON == nil {
		if out.Kind == schema.Struct {
			return "{}"
		}
		return "null"
	}
	return string(journalled(json.RawMessage(d.JSON.JSON), out))
}

// journalled is a constant, which fits its type, as Go's encoding writes a value of the type.
func journalled(data json.RawMessage, t *schema.Type) json.RawMessage {
	switch t.Kind {
	case schema.Duration:
		var s string
		if json.Unmarshal(data, &s) == nil {
			if d, ok := ir.ParseDuration(s); ok {
				return strconv.AppendInt(nil, int64(d), 10)
			}
		}
	case schema.Opt:
		if string(data) != "null" {
			return journalled(data, t.Elem)
		}
	case schema.List:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) == nil {
			for i := range items {
				items[i] = journalled(items[i], t.Elem)
			}
			return slices.Concat(json.RawMessage("["), bytes.Join(rawBytes(items), []byte(",")), json.RawMessage("]"))
		}
	case schema.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) == nil {
			for k := range members {
				members[k] = journalled(members[k], t.Elem)
			}
			if out, err := json.Marshal(members); err == nil {
				return out
			}
		}
	case schema.Struct:
		return journalledStruct(data, t)
	}
	return data
}

func rawBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, x := range items {
		out[i] = x
	}
	return out
}

func journalledStruct(data json.RawMessage, t *schema.Type) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return data
	}
	var fields [][]byte
	for _, f := range t.Fields {
		v, ok := members[f.Name]
		if !ok && f.Default != nil {
			v, ok = json.RawMessage(f.Default.JSON), true
		}
		if ok {
			name, err := json.Marshal(f.Name)
			if err != nil {
				return data
			}
			fields = append(fields, slices.Concat(name, []byte(":"), journalled(v, f.Type)))
		}
	}
	return slices.Concat(json.RawMessage("{"), bytes.Join(fields, []byte(",")), json.RawMessage("}"))
}
