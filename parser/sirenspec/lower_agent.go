package sirenspec

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
)

// agent writes a node that asks an agent.
func (l *lowering) agent(b *ir.Block, s *point, v *ir.LLM) {
	failure := s.node.Failure
	args := []*expr.Node{expr.Read("job"), runHandle(), expr.Of(expr.UseNode, "", nil), l.model(v.Model.Name), l.prompt(s.node)}
	if failure == nil || failure.Action == "abort" {
		*b = append(*b, l.perform(s.node, "llm", expr.Invoke(fnAsk, args...)))
		l.answered(b, s.node, expr.Read(l.local[s.node]))
		l.after(b, s)
		return
	}
	*b = append(*b, l.perform(s.node, "llm", expr.Invoke(fnAttempt, args...)))
	var well, spent ir.Block
	l.answered(&well, s.node, expr.Read(l.local[s.node], "text"))
	l.after(&well, s)
	l.failed(&spent, s, failure)
	*b = append(*b, &ir.IfStmt{Cond: as(expr.Read(l.local[s.node], "ok")), Label: s.node.ID.Name + " succeeded", Then: well, Else: spent})
}

// model is the Handle of a model.
func (l *lowering) model(name string) *expr.Node {
	return expr.Of(expr.UseModel, name, l.modelOf(name))
}

func (l *lowering) modelOf(name string) *ir.Model {
	i := slices.IndexFunc(l.wf.Models, func(m *ir.Model) bool { return m.Name.Name == name })
	if i < 0 {
		return nil
	}
	return l.wf.Models[i]
}

// answered puts an answer where it goes.
func (l *lowering) answered(b *ir.Block, n *Node, answer *expr.Node) {
	l.wrote(b, n, answer)
	*b = append(*b, do(fnSet, expr.Address(l.own(n)), answer, expr.Const("output")))
}

func (l *lowering) wrote(b *ir.Block, n *Node, answer *expr.Node) {
	w := n.Writes
	to, path := l.place(w[0], w[1:])
	*b = append(*b, do(fnWrote, append([]*expr.Node{expr.Read("job"), expr.Address(to), answer}, words(path)...)...))
	l.remember(b, n)
}

// failed is what becomes of an agent whose attempts are spent.
func (l *lowering) failed(b *ir.Block, s *point, f *AgentFailure) {
	switch f.Action {
	case "use_default":
		l.wrote(b, s.node, expr.Const(f.Default))
		l.edges(b, s)
	case "skip":
		l.edges(b, s)
	case "fallback":
		if to := s.fallback(); to != nil && l.active[to.node] != "" {
			*b = append(*b, set(expr.Read(l.active[to.node]), expr.Const(true)))
		}
	}
}

// prompt is what an agent receives besides the message, and what becomes of its answer.
func (l *lowering) prompt(d *Node) *expr.Node {
	var fields []expr.Entry
	if d.System != nil && len(d.System.Segments) > 0 {
		fields = append(fields, expr.Put("system", l.template(d.System)))
	}
	if len(d.Guards) > 0 {
		fields = append(fields, expr.Put("guards", guards(d.Guards)))
	}
	if r := d.Retry; r != nil && r.Attempts > 1 {
		fields = append(fields, expr.Put("retry", retry(r)))
	}
	return expr.Struct(promptType, fields...)
}

var backoffs = map[string]*expr.Func{"linear": cLinear, "exponential": cExponential}

// retry is when an agent is asked again.
func retry(r *AgentRetry) *expr.Node {
	fields := []expr.Entry{expr.Put("attempts", expr.Const(int64(r.Attempts)))}
	if f := backoffs[r.Backoff]; f != nil {
		fields = append(fields, expr.Put("backoff", expr.Invoke(f)))
	}
	if r.Base > 0 {
		fields = append(fields, expr.Put("base", expr.Const(duration(r.Base))))
	}
	if r.Most > 0 {
		fields = append(fields, expr.Put("most", expr.Const(duration(r.Most))))
	}
	if r.Jitter {
		fields = append(fields, expr.Put("jitter", expr.Const(true)))
	}
	if len(r.On) > 0 {
		fields = append(fields, expr.Put("on", textList(r.On)))
	}
	if r.Guards {
		fields = append(fields, expr.Put("guards", expr.Const(true)))
	}
	return expr.Struct(retryType, fields...)
}

// duration is a time of so many seconds.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

func textList(words_ []string) *expr.Node {
	return &expr.Node{Op: expr.ListLit, Kids: words(words_)}
}

// guards are guardrails.
func guards(list []Guard) *expr.Node {
	out := &expr.Node{Op: expr.ListLit}
	for _, g := range list {
		out.Kids = append(out.Kids, guardrail(g))
	}
	return out
}

var actions = map[string]*expr.Func{"block": cBlock, "flag": cFlag}

func guardrail(g Guard) *expr.Node {
	switch g.Name {
	case "length":
		f := fnLength
		if g.Raise {
			f = fnLengthOrFail
		}
		return expr.Invoke(f, expr.Const(g.Most))
	case "schema":
		return expr.Invoke(fnSchema, expr.Const(g.Schema))
	case "pii":
		var fields []expr.Entry
		if g.What != nil {
			fields = append(fields, expr.Put("entities", textList(g.What)))
		}
		if f := actions[g.Action]; f != nil {
			fields = append(fields, expr.Put("action", expr.Invoke(f)))
		} else {
			fields = append(fields, expr.Put("instead", expr.Const(g.Instead)))
		}
		return expr.Invoke(fnGuard, expr.Struct(piiType, fields...))
	}
	return expr.Invoke(cInjection)
}

var exceeded = map[string]*expr.Func{"warn": cWarn, "skip_remaining": cSkipRest}

// limits gives the run its budgets.
func (l *lowering) limits(b *ir.Block) {
	args := []*expr.Node{expr.Read("job"), runHandle()}
	for _, budget := range l.tree.Budgets {
		var fields []expr.Entry
		if budget.Tokens > 0 {
			fields = append(fields, expr.Put("tokens", expr.Const(budget.Tokens)))
		}
		if budget.USD != "" {
			usd, _ := strconv.ParseFloat(budget.USD, 64)                             // the reader has read it
			fields = append(fields, expr.Put("usd", expr.Const(int64(usd*1e9+0.5)))) // in billionths, as the runtime counts
		}
		if budget.Seconds > 0 {
			fields = append(fields, expr.Put("duration", expr.Const(duration(budget.Seconds))))
		}
		if f := exceeded[budget.Exceeded]; f != nil {
			fields = append(fields, expr.Put("exceeded", expr.Invoke(f)))
		}
		if budget.Declared {
			fields = append(fields, expr.Put("declared", expr.Const(true)))
		}
		args = append(args, expr.Struct(budgetType, fields...))
	}
	if len(args) > 2 {
		*b = append(*b, do(fnLimit, args...))
	}
}

// counts reports whether something may want to know what is spent: here, or in a workflow that runs this one.
func (l *lowering) counts() bool {
	return l.opts.Child || len(l.tree.Budgets) > 0 || l.tree.StateField("working._budget") != nil
}
