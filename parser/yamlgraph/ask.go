package yamlgraph

import (
	"slices"
	"strconv"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/jinja"
	"github.com/flowgen-dev/flowgen/runtime/yamlgraph/providers"
)

var askFails = map[AskFail]string{AskSkip: "skip", AskRaise: "stop", AskRetry: "retry", AskFallback: "fallback"}

// question is what a node asks, and what becomes of the answer.
func (l *lowering) question(n *Node) *expr.Node {
	t := n.Token
	a := t.Ask
	fields := []expr.Entry{}
	add := func(name string, set bool, v any) {
		if set {
			fields = append(fields, expr.Put(name, expr.Const(v)))
		}
	}
	if a.Model.Name != "" {
		fields = append(fields, expr.Put("model", l.asked(a.Model)))
	}
	add("key", t.Key.Name != "", t.Key.Name)
	if n.Schema != "" {
		fields = append(fields, expr.Put("schema", expr.Of(expr.UseAnswer, n.ID.Name, &ir.Answer{Name: n.ID.Name, JSON: n.Schema, Tool: n.AnswerAs})))
	}
	add("skip", a.Skips && !l.opts.Upstream, true)
	add("skip_set", a.Skips && l.opts.Upstream, true)
	add("limit", a.Limit > 0, int64(a.Limit))
	if len(t.Requires) > 0 {
		var names []string
		for _, id := range t.Requires {
			names = append(names, id.Name)
		}
		fields = append(fields, expr.Put("requires", textList(names)))
	}
	add("json", a.JSON, true)
	add("copilot", a.Copilot, true)
	if f := fails[askFails[a.Fail]]; f != nil {
		fields = append(fields, expr.Put("fail", expr.Invoke(f)))
	}
	add("retries", a.Fail == AskRetry, int64(a.Retries))
	if a.Fallback.Name != "" {
		fields = append(fields, expr.Put("fallback", l.asked(a.Fallback)))
	}
	if len(a.Candidates) > 0 {
		race := &expr.Node{Op: expr.ListLit}
		for _, c := range a.Candidates {
			race.Kids = append(race.Kids, expr.Struct(candidateType, expr.Put("provider", expr.Const(c.Provider)), expr.Put("model", expr.Const(c.Model)), expr.Put("use", l.asked(c.Use))))
		}
		fields = append(fields, expr.Put("race", race))
	}
	if len(a.Routes) > 0 && !n.Inline {
		fields = append(fields, expr.Put("router", router(a)))
	}
	return expr.Struct(questionType, fields...)
}

func router(a *TokenAsk) *expr.Node {
	var fields []expr.Entry
	if a.Route != "" {
		fields = append(fields, expr.Put("field", expr.Const(a.Route)))
	}
	ways := &expr.Node{Op: expr.ListLit}
	for _, r := range a.Routes {
		ways.Kids = append(ways.Kids, expr.Struct(wayType, expr.Put("label", expr.Const(r.Label)), expr.Put("to", expr.Const(r.To.Name))))
	}
	fields = append(fields, expr.Put("routes", ways))
	if a.Other.Name != "" {
		fields = append(fields, expr.Put("other", expr.Const(a.Other.Name)))
	}
	return expr.Struct(routerType, fields...)
}

// promptOf is the function that makes the prompt of a node.
func (l *lowering) promptOf(n *Node) *expr.Node {
	a := n.Token.Ask
	var args, needs []*expr.Node
	for _, v := range a.Values {
		args = append(args, l.variable(n, v))
	}
	for _, v := range a.Needs {
		needs = append(needs, expr.Struct(variableType, expr.Put("name", expr.Const(v.Key.Name)), expr.Put("value", l.of(v.Value))))
	}
	f := expr.Fn(ir.CallText(a.Prompt.Text, args...))
	if len(needs) == 0 {
		return f
	}
	return expr.Invoke(fnNeeds, append([]*expr.Node{expr.Const(a.Prompt.File.Name), f}, needs...)...)
}

// variable is what a variable of a prompt stands for: absent is undefined.
func (l *lowering) variable(n *Node, v *ir.Entry) *expr.Node {
	if v.Value == nil {
		return expr.Invoke(fnUndefined)
	}
	r, ok := v.Value.(*dialect.Reference)
	switch {
	case !ok:
		return l.of(v.Value)
	case r.Missing == dialect.MissingNull:
		return expr.Invoke(fnOrNull, l.of(r))
	case n.Token.Ask.Agent != nil:
		return l.of(r)
	}
	return expr.Invoke(fnNonNull, l.of(r))
}

// agent is the model of a node that calls tools.
func (l *lowering) agent(n *Node) *ir.PerformAgent {
	if made := l.agents[n]; made != nil {
		return made
	}
	t := n.Token
	a := t.Ask
	out := &ir.PerformAgent{Model: l.model(a.Model), Tools: a.Agent.Tools, Iterations: int64(a.Agent.Iterations), Type: agentType}
	out.Fields = append(out.Fields, expr.Put("key", expr.Const(t.Key.Name)), expr.Put("max_iterations", expr.Const(int64(a.Agent.Iterations))))
	if k := a.Agent.Results; k != "" {
		out.Fields = append(out.Fields, expr.Put("results", expr.Const(k)))
	}
	if f := fails[askFails[a.Fail]]; f != nil {
		out.Fields = append(out.Fields, expr.Put("fail", expr.Invoke(f)))
	}
	l.agents[n] = out
	return out
}

// newModel makes a model whom the environment completes. A program links what its providers speak.
func newModel(c Choice, m *ir.Model) *expr.Node {
	var params, linked []expr.Entry
	if t := m.Params.Temperature; t != nil {
		params = append(params, expr.Put("temperature", expr.Const(*t)))
	}
	if n := m.Params.MaxTokens; n != nil {
		params = append(params, expr.Put("max_tokens", expr.Const(*n)))
	}
	for _, leaf := range []string{"openai", "anthropic", "gemini"} {
		for _, p := range providers.All {
			if p.Speaks == leaf && (c.Provider == "" || c.Provider == p.Name) {
				linked = append(linked, expr.Put(leaf, expr.Invoke(speaks[leaf])))
				break
			}
		}
	}
	return expr.Invoke(fnNewModel, expr.Const(c.Provider), expr.Const(c.Model), expr.Struct(paramsType, params...), expr.Struct(speakersType, linked...))
}

// reads are the environment variables that say whom a model is asked of and where, besides the one with its key.
func reads(c Choice, key string) []string {
	var out []string
	add := func(name string) {
		if name != "" && name != key && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if c.Provider == "" {
		add("PROVIDER")
	}
	for _, p := range providers.All {
		if c.Provider != "" && c.Provider != p.Name {
			continue
		}
		if c.Model == "" {
			add(p.ModelEnv)
		}
		add(p.BaseEnv)
		add(p.Key)
		add(p.OtherKey)
	}
	return out
}

// value is a value that is there: what is absent is null.
func value(n *expr.Node) *expr.Node { return expr.Invoke(dialect.Value, n) }

// text makes the function of a node's prompt. Nodes that share the prompt share it.
func text(n *Node) {
	ask := n.Token.Ask
	if ask == nil || ask.Prompt == nil || ask.Prompt.Text != nil {
		return
	}
	r := ask.Prompt
	f := &ir.TextFunc{Name: ir.Ident{Name: n.ID.Name + "_prompt", Span: n.ID.Span}, Doc: "is the prompt " + strconv.Quote(r.File.Name) + "."}
	var variables []string
	for _, v := range ask.Values {
		variables = append(variables, v.Key.Name)
	}
	parts := []jinja.Part{{Local: "system"}, {Local: "user"}}
	for i, t := range []*PromptTemplate{r.System, r.User} {
		if t != nil {
			parts[i].Body = t.Body
		}
	}
	jinja.Lower(f, variables, parts, fnNewPrompt)
	r.Text = f
}
