package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/agent"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// script is a model that answers as a function of how many answers the conversation has, and what was told since.
type script func(turn int, c *llm.Conversation) (llm.Message, error)

func (s script) Complete(_ context.Context, req *llm.Request) (*llm.Reply, error) {
	turn := 0
	for _, m := range req.Conv.Messages {
		if m.Role == llm.Assistant {
			turn++
		}
	}
	m, err := s(turn, req.Conv)
	if err != nil {
		return nil, err
	}
	m.Role = llm.Assistant
	r := &llm.Reply{Model: "scripted", Message: m, Stop: llm.End, Usage: llm.Usage{Input: 100, Output: 10}}
	if len(m.Calls) > 0 {
		r.Stop = llm.CallStop
	}
	return r, nil
}

func model(s script, o ...llm.ModelOption) *llm.Model {
	return llm.NewModel("test:scripted", "scripted", s, o...)
}

func say(text string) llm.Message { return llm.Message{Text: text} }

// ask makes calls of "name args".
func ask(calls ...string) llm.Message {
	var m llm.Message
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: name, Args: args})
	}
	return m
}

// plays answers with the given messages in turn, and then "done".
func plays(messages ...llm.Message) script {
	return func(turn int, _ *llm.Conversation) (llm.Message, error) {
		if turn < len(messages) {
			return messages[turn], nil
		}
		return say("done"), nil
	}
}

// forever makes the same calls in every turn.
func forever(calls ...string) script {
	return func(int, *llm.Conversation) (llm.Message, error) { return ask(calls...), nil }
}

type query struct {
	Q string `json:"q"`
}

type found struct {
	Hits []string `json:"hits"`
}

func queryArgs(a *value.Args) query { return query{Q: value.Arg(a, "q", value.AsString[string])} }

const querySchema = `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`

var (
	search = flow.Bind("t.search@3", flow.Reads, find)
	echo   = flow.Bind("t.echo@1", flow.None, repeated)
)

func find(_ context.Context, in query) (found, error) {
	switch {
	case strings.HasPrefix(in.Q, "bad"):
		return found{}, &value.ToolError{Code: value.RateLimit, Message: "slow down", RetryAfterS: flow.Ptr(2.0)}
	case strings.HasPrefix(in.Q, "panic"):
		panic("oh")
	}
	return found{[]string{in.Q, in.Q + "!"}}, nil
}

func repeated(_ context.Context, in query) (string, error) { return in.Q, nil }

func tools() []agent.Tool {
	return []agent.Tool{
		agent.Use("search", "Finds things.", search, queryArgs, querySchema),
		agent.Use("echo", "", echo, queryArgs, querySchema),
	}
}

// counter is a tool that counts its calls.
func counter(n *atomic.Int64, e flow.Effects) agent.Tool {
	t := flow.Bind("t.count@1", e, func(_ context.Context, in query) (string, error) { n.Add(1); return in.Q, nil })
	return agent.Use("count", "", t, queryArgs, querySchema)
}

var node = &flow.Node{ID: "review", Pos: "w.flowgen.yaml:3:5", Index: 0}

func start(t testing.TB, opts ...runtime.Option) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "w", Nodes: []*flow.Node{node}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

func run(t testing.TB, s *agent.Spec, opts ...runtime.Option) (agent.Outputs, error) {
	t.Helper()
	return agent.Run(start(t, opts...), node, s, llm.Prompt{System: "Be good.", Text: "Go"})
}

func mustRun(t testing.TB, s *agent.Spec, opts ...runtime.Option) agent.Outputs {
	t.Helper()
	out, err := run(t, s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func codeOf(err error) value.Code {
	var te *value.ToolError
	if errors.As(err, &te) {
		return te.Code
	}
	return ""
}

// ordered lists the receipts in the order of request.
func ordered(out agent.Outputs) []agent.Envelope {
	var all []agent.Envelope
	for _, id := range out.ToolOrder {
		all = append(all, out.ToolsByID[id])
	}
	return all
}

func codes(out agent.Outputs) []string {
	all := []string{}
	for _, e := range ordered(out) {
		if e.Error == nil {
			all = append(all, e.Name+"@"+e.Version+" ok")
		} else {
			all = append(all, e.Name+"@"+e.Version+" "+string(e.Error.Code))
		}
	}
	return all
}
