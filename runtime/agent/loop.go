package agent

import (
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Run lets the agent work for node n. Errors of tools are told to the model and end nothing. The node fails when its
// model fails, with POLICY_DENIED when a cap of turns, cost or tokens is reached, and with run errors. Outputs of an agent that
// fails have the receipts of its calls, and no response.
func Run(r *flow.Run, n *flow.Node, s *Spec, p llm.Prompt, fixed ...Fixed) (out Outputs, err error) {
	c, te := p.Conversation()
	if te != nil {
		return nothing(), r.Fail(n, te)
	}
	return work{fixed: fixed}.run(r, n, s, c)
}

// Ask is Run for an agent whose last answer is a value. An answer that does not fit is asked for again, f.Reask times, with
// what was wrong; each time is a turn, in which the agent can call tools as in any other. Then the error is VALIDATION_ERROR.
func Ask[Out any](r *flow.Run, n *flow.Node, s *Spec, p llm.Prompt, f llm.Format, fixed ...Fixed) (out Outputs, answer Out, err error) {
	c, te := p.Conversation()
	if te != nil {
		return nothing(), answer, r.Fail(n, te)
	}
	c.Schema = f.Schema
	w := work{fixed: fixed, reask: f.Reask, fits: func(reply *llm.Reply) *value.ToolError {
		answer = *new(Out) // without what one that did not fit has left
		return llm.Decode(reply, f.Schema, &answer)
	}}
	out, err = w.run(r, n, s, c)
	return out, answer, err
}

// An Ending says how an agent that Continue let work has ended.
type Ending struct {
	Turns  int  // answers of the model
	Capped bool // there were as many as are allowed, and the model wanted more tools
}

// Continue is Run in a conversation that may have begun before: its last message is what the agent is asked. What is said
// is added to it. A cap of turns ends the agent with what the model has said last, after the tools that it asked for.
func Continue(r *flow.Run, n *flow.Node, s *Spec, c *llm.Conversation) (Outputs, Ending, error) {
	var end Ending
	out, err := work{end: &end}.run(r, n, s, c)
	return out, end, err
}

// nothing is what an agent gives that made no call.
func nothing() Outputs { return Outputs{ToolsByID: map[string]Envelope{}, ToolOrder: []string{}} }

func (w work) run(r *flow.Run, n *flow.Node, s *Spec, c *llm.Conversation) (out Outputs, err error) {
	s.prepare()
	run := r.Scoped().Within(n)
	w.spec, w.node, w.session = s, n, run.Session(n, s.Policy)
	w.out = nothing()
	w.conv, c.Tools = c, s.told
	w.nodes = make([]flow.Node, len(s.Tools)+1)
	for i, t := range s.Tools {
		w.nodes[i] = flow.Node{ID: t.name, Pos: n.Pos, Index: -1, Timeout: s.ToolTimeout}
	}
	w.model = &w.nodes[len(s.Tools)]
	*w.model = flow.Node{ID: "model", Pos: n.Pos, Index: -1, Retry: n.Retry}
	end := w.session.Begin()
	defer func() { end(err) }()
	w.out.TracesURL = w.session.TraceURL()
	for i := 0; ; i++ {
		done, err := w.turn(i)
		if err == nil && !done {
			continue
		}
		if w.last != nil {
			last := *w.last // alone: the calls of its turn need not stay with it
			w.out.LastTool = &last
		}
		if err != nil {
			w.out.Response = ""
			return w.out, r.Fail(n, err)
		}
		return w.out, nil
	}
}

// work is one visit of an agent node.
type work struct {
	spec    *Spec
	node    *flow.Node
	session *engine.Session
	conv    *llm.Conversation
	end     *Ending                                 // of Continue
	fits    func(reply *llm.Reply) *value.ToolError // of Ask: reads the last answer
	reask   int                                     // of Ask: times that an answer can be asked for again
	fixed   []Fixed                                 // arguments of tools
	nodes   []flow.Node                             // of the tools, in their order, and of the model
	model   *flow.Node
	made    int // calls that count
	out     Outputs
	last    *Envelope // of a call that succeeded

	answered time.Time // when the model's last answer was there
}

// turn asks the model once and makes the calls it asks for.
func (w *work) turn(i int) (done bool, err error) {
	most := capped(w.spec.MaxIterations, DefaultMaxIterations)
	if i == most {
		if w.end == nil {
			return false, exhausted(most)
		}
		w.end.Capped = true
		return true, nil
	}
	t := w.session.Turn(i)
	ask := t.Visit(w.model, t.Reserve(w.model), 0, func(x engine.Receipt) { w.answered = x.End })
	reply, err := w.spec.Model.Complete(ask, w.model, w.conv)
	if err != nil {
		return false, err
	}
	if w.end != nil {
		w.end.Turns, w.out.Response = i+1, reply.Message.Text
	}
	switch calls := reply.Message.Calls; {
	case reply.Stop == llm.Length:
		return false, value.Errorf(value.ProviderError, "%s reached its token limit before the end of the answer", reply.Model)
	case reply.Stop == llm.Refusal:
		return false, value.Errorf(value.ProviderError, "%s refused to answer", reply.Model)
	case len(calls) == 0:
		w.out.Response = reply.Message.Text
		return w.answer(reply, i+1 == most)
	case len(calls) > MaxCallsPerTurn:
		return false, value.Errorf(value.PolicyDenied, "the model requested %d parallel calls; the limit is %d", len(calls), MaxCallsPerTurn)
	case i+1 == most && w.end == nil: // nobody could be told what becomes of them
		return false, exhausted(most)
	default:
		results, err := w.calls(t, calls)
		w.conv.Messages = append(w.conv.Messages, llm.Message{Role: llm.Tools, Results: results})
		return false, err
	}
}

// answer reads the last answer, where it has to fit, or asks for another one.
func (w *work) answer(reply *llm.Reply, last bool) (done bool, err error) {
	if w.fits == nil {
		return true, nil
	}
	te := w.fits(reply)
	switch {
	case te == nil:
		return true, nil
	case w.reask == 0, last, te.Code != value.ValidationError:
		return false, te
	}
	w.reask--
	w.conv.Again(te)
	return false, nil
}

func exhausted(most int) error {
	return value.Errorf(value.PolicyDenied, "the model was called %d times, the maximum of max_iterations, and requests more tools", most)
}
