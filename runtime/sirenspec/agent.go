package sirenspec

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/llm"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Prompt is what an agent receives besides the message, and what becomes of its answer.
type Prompt struct {
	System Template
	Guards []Guard
	Retry  Retry
}

// Retry says when an agent is asked again. The zero Retry never does.
type Retry struct {
	Attempts int // in total
	Backoff  Backoff
	Base     time.Duration // before the second attempt
	Most     time.Duration // between attempts
	Jitter   bool          // waits differ by up to 20 %
	On       []string      // statuses, network_error and guardrail_violation
	Guards   bool          // an answer that a guardrail refuses is asked for again
}

// Backoff is how waits between attempts grow.
type Backoff uint8

// They stay, grow by the first, or double.
const (
	Steady Backoff = iota
	Linear
	Exponential
)

// wait is the time before the attempt that follows attempt n, which counts from 1.
func (p *Retry) wait(r *flow.Run, node *flow.Node, n int) time.Duration {
	d := p.steps(n)
	if p.Jitter {
		unit := float64(r.Rand(node)>>11) / (1 << 53)
		d = time.Duration(float64(d) * (0.8 + 0.4*unit))
	}
	return d
}

// steps is wait without jitter.
func (p *Retry) steps(n int) time.Duration {
	d := p.Base
	switch p.Backoff {
	case Linear:
		d *= time.Duration(n)
	case Exponential:
		for range min(n-1, 62) {
			if d *= 2; d > p.Most || d < 0 {
				d = p.Most
			}
		}
	}
	return min(max(d, 0), p.Most)
}

// again reports whether an error is one after which an agent is asked again.
func (p *Retry) again(err error) bool {
	var refused *refusal
	if errors.As(err, &refused) {
		return p.Guards || slices.Contains(p.On, "guardrail_violation") || slices.Contains(p.On, "network_error")
	}
	status := statusOf(err)
	for _, on := range p.On {
		if on == "network_error" && status == 0 {
			return true
		}
		if n, err := strconv.Atoi(on); err == nil && status != 0 && n == status {
			return true
		}
	}
	return false
}

// statusOf is the status that a provider answered with; 0 when there was none.
func statusOf(err error) int {
	var te *value.ToolError
	if !errors.As(err, &te) {
		return 0
	}
	v, _ := te.Details.Get("status")
	return int(v.Int())
}

// final reports whether an error is not a failure of the agent: the run is stopped, or a policy of the user who runs it forbids
// the call.
func final(err error) bool {
	var te *value.ToolError
	return !errors.As(err, &te) || te.Code == value.PolicyDenied || isInterpolation(err)
}

// Ask asks an agent. Guardrails look at the message and then at the answer, in their order. An agent that fails ends the
// run.
func (f *Flow) Ask(r *flow.Run, n *flow.Node, m *llm.Model, p Prompt) (string, error) {
	answer, spent, err := f.ask(r, n, m, p)
	if err == nil {
		err = spent
	}
	return answer, err
}

// An Answer is that of an agent which may have failed: then OK is false.
type Answer struct {
	Text string
	OK   bool
}

// Attempt is Ask for a node that says what becomes of its failure: the answer is not OK when all attempts have failed.
func (f *Flow) Attempt(r *flow.Run, n *flow.Node, m *llm.Model, p Prompt) (Answer, error) {
	text, spent, err := f.ask(r, n, m, p)
	return Answer{text, spent == nil}, err
}

// ask is Ask; spent is the error of attempts that all have failed.
func (f *Flow) ask(r *flow.Run, n *flow.Node, m *llm.Model, p Prompt) (answer string, spent, err error) {
	system, err := p.System.text()
	if err != nil {
		return "", nil, crash{r.Fail(n, err)}
	}
	told := f.told()
	if told, err = guarded(p.Guards, told, false); err != nil {
		return "", nil, r.Fail(n, denied(err))
	}
	for attempt := 1; ; attempt++ {
		c := &llm.Conversation{System: system, Messages: []llm.Message{{Role: llm.User, Text: told}}}
		if strings.Contains(system, mark) {
			c.Fill = fillSystem
		}
		reply, err := m.Complete(r, n, c)
		if err != nil && isInterpolation(err) {
			return "", nil, crash{err}
		}
		if err != nil && final(err) {
			return "", nil, err
		}
		if err == nil {
			answer = reply.Message.Text
			if !p.Retry.Guards {
				f.spend(reply)
				break
			}
			if answer, err = guarded(p.Guards, answer, true); err == nil {
				f.spend(reply)
				return answer, nil, nil
			}
		}
		if attempt >= p.Retry.Attempts || !p.Retry.again(err) {
			return "", exhausted(r, n, attempt, err), nil
		}
		if d := p.Retry.wait(r, n, attempt); d > 0 {
			if err := r.Sleep(d); err != nil {
				return "", nil, r.Fail(n, err)
			}
		}
	}
	if answer, err = guarded(p.Guards, answer, true); err != nil {
		return "", nil, r.Fail(n, denied(err))
	}
	return answer, nil, nil
}

// guarded is text as guardrails let it pass, in their order.
func guarded(guards []Guard, text string, answer bool) (string, error) {
	var err error
	for _, g := range guards {
		if text, err = g(text, answer); err != nil {
			return "", err
		}
	}
	return text, nil
}

// exhausted is the error of a node whose attempts are spent, in the engine's words.
func exhausted(r *flow.Run, n *flow.Node, attempts int, err error) error {
	own := value.Errorf(value.PolicyDenied, "%v", err)
	var te *value.ToolError
	if errors.As(err, &te) {
		*own = *te
	}
	own.Message = "Node '" + n.ID + "' failed after " + strconv.Itoa(attempts) + " attempt(s): " + own.Message
	var ne *runtime.NodeError
	if errors.As(err, &ne) {
		return &runtime.NodeError{Node: ne.Node, Key: ne.Key, Err: own}
	}
	return r.Fail(n, own)
}
