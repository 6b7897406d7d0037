package yamlgraph

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// perform is the call that runs a node, on the flow of a name.
func (l *lowering) perform(n *Node, flow string) *ir.Perform {
	l.node, l.flow = n, flow
	v := &ir.Perform{}
	switch x := n.Verb.(type) {
	case *ir.LLM, *ir.Agent:
		v.Kind = "llm"
	case *ir.Let:
		v.Kind = "let"
	case *ir.ToolChoice:
		v.Kind = "tool_call"
	case *ir.Flow:
		v.Kind = "flow"
	case *ir.Human:
		v.Kind, v.Person = "human", true
	case *Map:
		v.Kind = "map"
		l.each(n, x, v)
		l.depends(n, v)
		return v
	}
	v.Gives = l.gives(n)
	v.Call = as(l.call(n))
	l.uses(n, v)
	l.depends(n, v)
	return v
}

// uses says how often a node asks its models, and what its agent calls.
func (l *lowering) uses(n *Node, v *ir.Perform) {
	a := n.Token.Ask
	if a == nil || a.Model.Name == "" && len(a.Candidates) == 0 {
		return
	}
	tries := int64(1)
	if r := n.Retry; r != nil {
		tries = int64(r.Attempts)
	}
	if a.Agent != nil {
		v.Agent = l.agent(n)
		return
	}
	asks := map[*ir.Model]int64{}
	var order []*ir.Model
	add := func(id ir.Ident, times int64) {
		m := l.model(id)
		if asks[m] == 0 {
			order = append(order, m)
		}
		asks[m] += times * tries
	}
	if len(a.Candidates) > 0 {
		for _, c := range a.Candidates {
			add(c.Use, 1)
		}
	} else {
		more := int64(0)
		if a.Fail == AskRetry {
			more = int64(a.Retries)
		}
		add(a.Model, 1+more)
		if a.Fail == AskFallback {
			add(a.Fallback, 1)
		}
	}
	for _, m := range order {
		if asks[m] > 1 {
			v.AtMost = append(v.AtMost, ir.UseBound{Of: m, N: asks[m]})
		}
	}
}

// model is a model of the graph; nil when there is none.
func (l *lowering) model(id ir.Ident) *ir.Model {
	i := slices.IndexFunc(l.wf.Models, func(m *ir.Model) bool { return m.Name.Name == id.Name && id.Name != "" })
	if i < 0 {
		return nil
	}
	return l.wf.Models[i]
}

func (l *lowering) asked(id ir.Ident) *expr.Node {
	return expr.Of(expr.UseModel, id.Name, l.model(id))
}

// on calls a method of the node's flow, which runs the node.
func (l *lowering) on(f *expr.Func, n *Node, args ...*expr.Node) *expr.Node {
	return expr.Invoke(f, append([]*expr.Node{l.ruled(n), runHandle(), l.at(n)}, args...)...)
}

// call is the call that runs a node that is not a map.
func (l *lowering) call(n *Node) *expr.Node {
	t := n.Token
	switch v := n.Verb.(type) {
	case *ir.LLM:
		return l.on(fnAsk, n, l.question(n), l.promptOf(n))
	case *ir.Agent:
		return l.on(fnAgent, n, expr.Of(expr.UseAgent, n.ID.Name, l.agent(n)), l.promptOf(n))
	case *ir.Let:
		return l.sets(n, v)
	case *ir.ToolCall:
		return l.tool(n, v)
	case *ir.ToolChoice:
		if t.Stops || t.Parsed.Name != "" {
			return l.on(fnChoosing, n, append([]*expr.Node{l.choosing(t)}, l.choice(n, v)...)...)
		}
		f := fnToolCall
		if l.tree.Upstream {
			f = fnToolCallLoose
		}
		return l.on(f, n, append([]*expr.Node{expr.Const(t.Key.Name)}, l.choice(n, v)...)...)
	case *ir.Flow:
		return l.child(n, v)
	case *ir.Human:
		return l.person(n)
	}
	return nil
}

// sets is the call of a node that sets fields, or that looks at the end of a graph.
func (l *lowering) sets(n *Node, v *ir.Let) *expr.Node {
	if final := n.Token.Final; len(final) > 0 {
		args := []*expr.Node{expr.Read(l.flow), runHandle(), l.at(n)}
		for _, r := range final {
			args = append(args, l.rule(r))
		}
		return expr.Invoke(fnVerify, args...)
	}
	args := []*expr.Node{l.ruled(n), l.at(n)}
	for _, f := range v.Fields {
		args = append(args, l.put(f.Key.Name, l.of(f.Value)))
	}
	return expr.Invoke(fnSet, args...)
}

func (l *lowering) put(key string, v *expr.Node) *expr.Node {
	return expr.Invoke(dialect.Put, expr.Const(key), v)
}

// tool is the call of a node that calls one tool.
func (l *lowering) tool(n *Node, v *ir.ToolCall) *expr.Node {
	d := n.Token
	t := v.Tool
	tool := expr.Of(expr.UseTool, t.Key.Name, t)
	key, policy := expr.Const(d.Key.Name), expr.Invoke(policies[d.OnError == TokenNull])
	switch l.kindOf(t) {
	case "copilot":
		resume := expr.Invoke(fnUndefined)
		if d.Payload != nil {
			resume = l.of(d.Payload)
		}
		return l.on(fnCopilot, n, tool, key, resume, l.promptOf(n))
	case "shell":
		var args []expr.Entry
		for _, e := range d.Values {
			args = append(args, expr.Put(e.Key.Name, value(l.of(e.Value))))
		}
		return l.on(fnTool, n, tool, key, policy, expr.Object(args...))
	}
	if t.File != l.File { // of flowgen.bindings.yaml
		return l.on(fnBoundTool, n, tool, key, policy, l.given(d))
	}
	return l.on(fnPython, n, tool, key, policy, expr.Object(expr.Put(parameter(t), l.given(d))))
}

// parameter is the name of a function's parameter for the state.
func parameter(t *ir.Tool) string {
	if t.Def != nil && t.Def.In != nil && len(t.Def.In.Fields) > 0 {
		return t.Def.In.Fields[0].Name
	}
	return "state" // it could not be read
}

// given is what a function is called with: the state, and what the node gives it besides.
func (l *lowering) given(t *Token) *expr.Node {
	if len(t.Values) == 0 {
		return l.whole()
	}
	args := []*expr.Node{l.whole()}
	for _, e := range t.Values {
		args = append(args, l.put(e.Key.Name, expr.Invoke(fnOrNull, l.of(e.Value))))
	}
	return expr.Invoke(fnEntries, args...)
}

// choice are the arguments of a tool that the state names.
func (l *lowering) choice(n *Node, v *ir.ToolChoice) []*expr.Node {
	return []*expr.Node{l.of(v.ID), l.of(v.Tool), l.operand(v.Args), expr.Of(expr.UseChoice, n.ID.Name, l.pick(v))}
}

// pick is a choice of tools. tool_call nodes know neither commands nor searches.
func (l *lowering) pick(v *ir.ToolChoice) *ir.ToolChoice {
	if made := l.picks[v]; made != nil {
		return made
	}
	out := *v
	l.picks[v] = &out
	hidden := func(t *ir.Tool) bool {
		return slices.Contains([]string{"shell", "websearch", "copilot"}, l.kindOf(t))
	}
	if !slices.ContainsFunc(l.wf.Tools, hidden) {
		return &out
	}
	out.Open, out.Allow = false, []ir.Ident{}
	for _, t := range l.wf.Tools {
		if t.File == l.File && !hidden(t) {
			out.Allow = append(out.Allow, ir.Ident{Name: t.Key.Name, Span: v.Tool.Source()})
		}
	}
	out.Allow = append(out.Allow, v.Allow...)
	return &out
}

// choosing says what becomes of the result of a tool that the state names.
func (l *lowering) choosing(t *Token) *expr.Node {
	fields := []expr.Entry{expr.Put("key", expr.Const(t.Key.Name))}
	if t.Stops {
		fields = append(fields, expr.Put("stops", expr.Const(true)))
	}
	if t.Parsed.Name != "" {
		var graphs []string
		for _, tool := range l.wf.Tools {
			if l.kindOf(tool) == "graph" {
				graphs = append(graphs, tool.Key.Name)
			}
		}
		fields = append(fields, expr.Put("parsed", expr.Const(t.Parsed.Name)), expr.Put("graphs", textList(graphs)))
	}
	return expr.Struct(choosingType, fields...)
}

func textList(list []string) *expr.Node {
	out := &expr.Node{Op: expr.ListLit}
	for _, w := range list {
		out.Kids = append(out.Kids, expr.Const(w))
	}
	return out
}

// each writes a map: its node runs for every item.
func (l *lowering) each(n *Node, v *Map, out *ir.Perform) {
	over := l.of(v.Over)
	inner := v.Do
	one := inner.made()
	l.nodes[inner] = one
	flow := l.ruled(n)
	outer := l.flow
	l.item, l.node, l.flow = v.As.Name, inner, "job"
	var do, call *expr.Node
	d := n.Token
	head := []*expr.Node{flow, runHandle(), l.at(n)}
	if pick, ok := inner.Verb.(*ir.ToolChoice); ok && d.Gather == nil && !calculated(pick.Args) && !calculated(pick.Tool) {
		f := fnChoose
		if l.tree.Upstream {
			f = fnChooseLoose
		}
		do = expr.Fn(expr.Invoke(f, append([]*expr.Node{runHandle(), l.at(inner)}, l.choice(inner, pick)...)...), "run", "item")
		call = expr.Invoke(fnMap, append(head, expr.Const(d.Key.Name), over, do)...)
	} else {
		do = expr.FnDo(l.once(inner), "run", "job", "item")
		call = expr.Invoke(fnMapNode, append(head, expr.Struct(gatherType, gather(d, v)...), over, do)...)
	}
	out.Call = as(call)
	out.Items = &ir.Inside{Do: do, Most: int64(v.MaxItems), Limit: v.Parallel}
	within := l.within(inner, do)
	one.Verb = within
	out.Inside = &ir.Body{Nodes: []*ir.Node{one}, Span: v.Do.Span, Block: ir.Block{&ir.RunStmt{Node: one}}}
	l.item, l.node, l.flow = "", n, outer
}

// once are the statements that run the node of a map.
func (l *lowering) once(n *Node) ir.Block {
	return ir.Block{&ir.DoStmt{Call: as(l.call(n))}}
}

// within says what the node of a map uses: the call of the map is handed it.
func (l *lowering) within(n *Node, do *expr.Node) *ir.Perform {
	v := &ir.Perform{Gives: l.gives(n)}
	switch n.Verb.(type) {
	case *ir.LLM, *ir.Agent:
		v.Kind = "llm"
	case *ir.Let:
		v.Kind = "let"
	case *ir.ToolChoice:
		v.Kind = "tool_call"
	case *ir.Flow:
		v.Kind = "flow"
	}
	l.uses(n, v)
	for _, u := range ir.Uses(do) {
		if !slices.ContainsFunc(v.AtMost, func(b ir.UseBound) bool { return b.Of == u.Ref }) {
			v.AtMost = append(v.AtMost, ir.UseBound{Of: u.Ref, N: 1})
		}
	}
	return v
}

// gather says what becomes of the results of a map.
func gather(t *Token, v *Map) []expr.Entry {
	out := []expr.Entry{expr.Put("into", expr.Const(t.Key.Name)), expr.Put("as", expr.Const(v.As.Name))}
	g := t.Gather
	if g == nil {
		return append(out, expr.Put("key", expr.Const("result")))
	}
	out = append(out, expr.Put("key", expr.Const(g.Key)))
	add := func(name string, set bool, v any) {
		if set {
			out = append(out, expr.Put(name, expr.Const(v)))
		}
	}
	add("max_items", g.MaxItems > 0, int64(g.MaxItems))
	add("failures", g.Failures != "", g.Failures)
	add("least", g.Least > 0, int64(g.Least))
	add("share", g.Share > 0, g.Share)
	add("strict", g.Strict, true)
	add("fail", g.Fail, true)
	add("flat", g.Flat, true)
	return out
}

// child is the run of another graph: what it is given, and which of its fields go into the state.
func (l *lowering) child(n *Node, v *ir.Flow) *expr.Node {
	sub := n.Token.Sub
	var given []expr.Entry
	for _, f := range v.Flow.Input {
		if x := l.handed(sub, f.Name); x != nil {
			given = append(given, expr.Put(f.Name, x))
		}
	}
	var taken []expr.Entry
	result := func(name string) *expr.Node {
		if v.Flow.StateField(name) == nil {
			return expr.Const(nil)
		}
		return expr.Read("child", name)
	}
	for _, pair := range sub.Out {
		if pair.Kept != "" {
			taken = append(taken, expr.Put(pair.Parent.Name, expr.Read("child", pair.Kept)))
			continue
		}
		taken = append(taken, expr.Put(pair.Parent.Name, l.valueOf(result(pair.Child.Name))))
	}
	if sub.AllOut {
		for _, s := range l.tree.State {
			if s.Name.Name == "current_step" || v.Flow.StateField(s.Name.Name) == nil {
				continue
			}
			x := result(s.Name.Name)
			if s.Merge.Kind == ir.MergeAppend && !sums(s) && sub.AllIn {
				x = expr.Invoke(fnGrown, expr.Read("state", s.Name.Name), x)
			}
			taken = append(taken, expr.Put(s.Name.Name, x))
		}
	}
	run := expr.FnDo(ir.Block{
		let("child", expr.Of(expr.UseFlow, v.Flow.Name.Name, v.Flow, expr.Object(given...), expr.Invoke(fnRunIn, runHandle(), l.at(n)))),
		&ir.ReturnStmt{Value: as(expr.Object(taken...))},
	})
	return expr.Invoke(fnChild, expr.Read(l.flow), l.at(n), run)
}

// valueOf is a value that is there, be it null.
func (l *lowering) valueOf(n *expr.Node) *expr.Node {
	if n.Op == expr.Lit {
		return n
	}
	return value(n)
}

// handed is what another graph is given for a field; nil: nothing.
func (l *lowering) handed(sub *SubGraph, name string) *expr.Node {
	for _, pair := range sub.In {
		if pair.Child.Name == name {
			return l.of(pair.Ref)
		}
	}
	switch {
	case !sub.AllIn:
		return nil
	case l.item != "" && name == l.item:
		return expr.Read("item")
	case l.tree.StateField(name) != nil:
		return expr.Read("state", name)
	}
	return nil
}

// person is the question to a user.
func (l *lowering) person(n *Node) *expr.Node {
	t := n.Token
	held := l.of(&dialect.Reference{Root: "state", Path: []string{t.Key.Name}})
	if t.Fresh {
		held = expr.Invoke(fnUndefined)
	}
	key, resume := expr.Const(t.Key.Name), expr.Const(t.Resume.Name)
	if t.Ask == nil {
		return l.on(fnInterrupt, n, key, resume, held, l.of(t.Payload))
	}
	model := expr.Const(nil)
	if t.Ask.Model.Name != "" {
		model = l.asked(t.Ask.Model)
	}
	return l.on(fnInterruptPrompt, n, key, resume, held, model, l.promptOf(n))
}
