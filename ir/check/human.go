package check

import (
	"fmt"
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// HumanTool is what questions are called where calls are counted.
const HumanTool = "human@1"

// A Question is what a human node asks.
type Question struct {
	Text    *Expected
	Out     *schema.Type // of an answer
	Default *Expected    // on_timeout: {default: ...}
	Skips   bool         // on_timeout: skip
}

// human types a question and what stands for an answer that nobody gave.
func (c *checker) human(s *Step, v *ir.Human, e *env) {
	q := &Question{Out: c.answerType(s, v)}
	s.Question = q
	if v.Prompt != nil {
		c.value(v.Prompt, schema.StringType, e)
	}
	q.Text = &Expected{Value: v.Prompt, Type: schema.StringType}
	c.mayAsk(s)
	s.Node.Result = q.Out
	if v.OnTimeout == nil {
		return
	}
	switch v.OnTimeout.Kind {
	case ir.OnErrorSkip:
		q.Skips = true
		s.Node.Result = schema.OptOf(q.Out, s.Node.ID.Name+" may have had no answer (on_timeout: skip)")
	case ir.OnErrorDefault:
		c.value(v.OnTimeout.Default, q.Out, e)
		q.Default = &Expected{Value: v.OnTimeout.Default, Type: q.Out}
	}
}

// mayAsk holds a question to the policy.
func (c *checker) mayAsk(s *Step) {
	if !c.allowed(ir.EffectsReads) {
		c.report(diag.Diagnostic{Code: diag.EffectsDenied, Span: s.Node.ID.Span, Message: "a question to a user has effects reads, which the policy does not allow",
			Help: "allow it in `policy.effects`, or remove the question", Related: related(c.wf.Policy.Span, "the policy is here")})
	}
}

// answerType is the type that `out` declares: text unless it says something else.
func (c *checker) answerType(s *Step, v *ir.Human) *schema.Type {
	if v.Out == nil {
		return schema.StringType
	}
	switch v.Out.Kind {
	case schema.String, schema.Enum, schema.Int, schema.Float, schema.Bool:
		if v.Out.Go == nil {
			return v.Out
		}
	case schema.Invalid:
		return schema.InvalidType
	}
	c.report(diag.Diagnostic{Code: diag.TypeMismatch, Span: s.Node.ID.Span, Message: fmt.Sprintf("a user cannot be asked for %s", v.Out),
		Help: "ask for a string, an enum, an int, a float or a bool: what can be typed on one line"})
	return schema.InvalidType
}

// marks records what a question reads.
func (q *Question) marks() {
	if q == nil {
		return
	}
	ir.ValueExpressions(q.Text.Value, mark)
	if q.Default != nil {
		ir.ValueExpressions(q.Default.Value, mark)
	}
}

// keepsOrder reports whether steps without edges run in the order of the file: those that change the world, and those
// that ask a user, who is asked one thing after the other, and before what comes after the question; and those that fail,
// before what must not happen then.
func (s *Step) keepsOrder() bool {
	return s.effects >= ir.EffectsWrites || asks(s.Node) || s.Approves() || s.fails()
}

// AsksFirst are the calls that a user is asked for before: tools, of an agent by the names that its model knows.
func (s *Step) AsksFirst() []string {
	var out []string
	switch {
	case s.Agent != nil:
		for _, x := range s.Agent.Tools {
			if s.Agent.Approves(x.Tool) {
				out = append(out, x.Name)
			}
		}
	case s.Tool != nil || s.Pick != nil:
		for _, t := range s.Tools() {
			if t.Approve {
				out = append(out, t.FullName())
			}
		}
	}
	return out
}

// Approves reports whether a user is asked before a call that the node makes itself.
func (s *Step) Approves() bool {
	return s.Tool != nil && s.Tool.Approve || s.Pick != nil && slices.ContainsFunc(s.Tools(), func(t *ir.Tool) bool { return t.Approve })
}

func asks(n *ir.Node) bool {
	if _, person := n.Verb.(*ir.Human); person {
		return true
	}
	body := ir.BodyOf(n.Verb)
	if body == nil {
		return false
	}
	for _, n := range body.Nodes {
		if asks(n) {
			return true
		}
	}
	return false
}
