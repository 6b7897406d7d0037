package yamlgraph

import (
	"slices"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/dynamic/py"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// An Agent is a model that calls tools. It is read-only once it is used, and safe for concurrent use.
type Agent struct {
	Model         *Model
	Tools         []agent.Tool
	Key           string // the field of its answer
	MaxIterations int
	Results       string // the field of what its tools gave; empty: none
	Fail          Fail

	once sync.Once
	spec agent.Spec
	err  *value.ToolError
}

// Agent runs an agent node. Its conversation is added to the field messages, and goes on with what is there.
func (f *Flow) Agent(r *flow.Run, n *flow.Node, a *Agent, p Prompt) error {
	x := f.ruled()
	if skip, err := x.before(r, n); err != nil {
		return err
	} else if skip {
		f.skipped(n, a.Key, "Agent node '"+n.ID+"' skipped by pre-guard")
		return nil
	}
	var out agent.Outputs
	var end agent.Ending
	var said []value.Value
	_, err := x.run(r, n, func() (_ value.Value, err error) {
		out, end, said, err = f.work(r, n, a, p)
		return value.String(out.Response), err
	})
	switch {
	case err == nil:
	case a.Fail == Stop || halted(err) || flow.Skipped(err) != nil:
		return err
	case a.Fail == Skip:
		f.step(n)
		return nil
	default:
		f.write("errors", value.List(entry(f.called(n), err)))
		f.step(n)
		return nil
	}
	answer := value.String(out.Response)
	if end.Capped && len(said) > 0 { // the engine takes the last message, whoever has written it
		answer = get(said[len(said)-1], "content")
	}
	f.write(a.Key, answer)
	f.write("messages", value.List(said...))
	f.write("_agent_iterations", value.Int(int64(end.Turns)))
	if end.Capped {
		f.write("_agent_limit_reached", value.Bool(true))
	}
	results := value.List(results(&out)...)
	f.write("_tool_results", results)
	if a.Results != "" && results.Len() > 0 {
		f.write(a.Results, results)
	}
	f.step(n)
	return nil
}

// work lets the agent work. said are the messages that are new.
func (f *Flow) work(r *flow.Run, n *flow.Node, a *Agent, p Prompt) (out agent.Outputs, end agent.Ending, said []value.Value, err error) {
	prompt, err := p()
	if err != nil {
		return out, end, nil, r.Fail(n, err)
	}
	a.once.Do(func() {
		a.spec.Tools, a.spec.MaxIterations, a.spec.MaxToolCalls, a.spec.Tell = a.Tools, a.MaxIterations, agent.Unbounded, tell
		a.spec.Model, a.err = a.Model.use()
	})
	if a.err != nil {
		return out, end, nil, r.Fail(n, a.err)
	}
	c := &llm.Conversation{System: prompt.System}
	before := f.get("messages")
	if before.Len() > 0 {
		c.System, c.Messages = spoken(before)
	} else if prompt.System != "" {
		said = append(said, message("system", prompt.System))
	}
	c.Messages = append(c.Messages, llm.Message{Role: llm.User, Text: prompt.Text})
	from := len(c.Messages) - 1
	out, end, err = agent.Continue(r, n, &a.spec, c)
	for _, m := range c.Messages[from:] {
		said = append(said, shown(m)...)
	}
	return out, end, said, err
}

// tell is what a tool gave as the engine says it: its text in Python, or the error.
func tell(e *agent.Envelope) string {
	if x := e.Error; x != nil && x.Code == value.PolicyDenied && strings.HasPrefix(x.Message, "the agent has no tool ") {
		return "Error: Unknown tool '" + e.Tool + "'"
	} else if x != nil && x.Code == value.Unknown {
		return "Error: " + exceptionName.ReplaceAllString(x.Message, "")
	} else if x != nil {
		return "Error: " + x.Message
	}
	return py.Str(dynamic.Of(e.Output))
}

// results are what tools gave, as the engine keeps it.
func results(out *agent.Outputs) []value.Value {
	all := make([]value.Value, 0, len(out.ToolOrder))
	for _, id := range out.ToolOrder {
		e := out.ToolsByID[id]
		all = append(all, value.Map(value.Entry{Key: "tool", Value: value.String(e.Tool)}, value.Entry{Key: "args", Value: e.Input},
			value.Entry{Key: "output", Value: value.String(tell(&e))}, value.Entry{Key: "success", Value: value.Bool(e.Error == nil)}))
	}
	return all
}

func message(kind, text string, more ...value.Entry) value.Value {
	return value.Map(append([]value.Entry{{Key: "type", Value: value.String(kind)}, {Key: "content", Value: value.String(text)}}, more...)...)
}

// shown is a message as it is in the state.
func shown(m llm.Message) []value.Value {
	switch m.Role {
	case llm.User:
		return []value.Value{message("human", m.Text)}
	case llm.Tools:
		var out []value.Value
		for _, x := range m.Results {
			out = append(out, message("tool", x.Text, value.Entry{Key: "name", Value: value.String(x.Name)}, value.Entry{Key: "tool_call_id", Value: value.String(x.ID)}))
		}
		return out
	}
	var calls []value.Value
	for _, x := range m.Calls {
		args, err := value.Parse([]byte(x.Args))
		if err != nil {
			args = value.String(x.Args)
		}
		calls = append(calls, value.Map(value.Entry{Key: "name", Value: value.String(x.Name)}, value.Entry{Key: "args", Value: args}, value.Entry{Key: "id", Value: value.String(x.ID)}))
	}
	if calls == nil {
		return []value.Value{message("ai", m.Text)}
	}
	return []value.Value{message("ai", m.Text, value.Entry{Key: "tool_calls", Value: value.List(calls...)})}
}

// spoken is a conversation as it is in the state; what is not a message of it is left out.
func spoken(list value.Value) (system string, out []llm.Message) {
	for i := range list.Len() {
		m := dynamic.Of(list.Index(i))
		text := m.At("content").Value().String()
		kind := m.At("type").Value().String()
		if kind == "null" {
			kind = m.At("role").Value().String()
		}
		switch kind {
		case "system":
			system = text
		case "human", "user":
			out = append(out, llm.Message{Role: llm.User, Text: text})
		case "ai", "assistant":
			out = append(out, llm.Message{Role: llm.Assistant, Text: text, Calls: calls(m.At("tool_calls").Value())})
		case "tool":
			x := llm.Result{ID: m.At("tool_call_id").Value().String(), Name: m.At("name").Value().String(), Text: text}
			if n := len(out); n > 0 && out[n-1].Role == llm.Tools {
				out[n-1].Results = append(slices.Clone(out[n-1].Results), x)
			} else {
				out = append(out, llm.Message{Role: llm.Tools, Results: []llm.Result{x}})
			}
		}
	}
	return system, out
}

func calls(list value.Value) []llm.Call {
	var out []llm.Call
	for i := range list.Len() {
		c := dynamic.Of(list.Index(i))
		args, err := c.At("args").Value().MarshalJSON()
		if err != nil {
			args = []byte("{}")
		}
		out = append(out, llm.Call{ID: c.At("id").Value().String(), Name: c.At("name").Value().String(), Args: string(args)})
	}
	return out
}
