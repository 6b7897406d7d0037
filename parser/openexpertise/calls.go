package openexpertise

import (
	"slices"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// dispatch is one call of a node's tool, one question, or one run of its experience.
func (l *lowering) dispatch(n *Node, flow string) *expr.Node {
	switch v := n.Verb.(type) {
	case *ir.LLM:
		return l.ask(n, v, flow)
	case *ir.Flow:
		return l.child(n, v, flow)
	case *ir.ToolCall:
		tool := expr.Of(expr.UseTool, v.Tool.Key.Name, v.Tool)
		switch {
		case n.Prompt != nil:
			return l.command(n, v.Tool, tool, flow)
		case l.datasets[n] != nil:
			return l.records(n, l.datasets[n], tool, flow)
		}
		if _, module := v.Tool.Binding.(*ir.JSTool); !module || v.Tool.In.Kind != schema.Any {
			args := []*expr.Node{expr.Read(flow), expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, "", nil), tool, l.policy(n)}
			for _, e := range l.taken(n, v.Tool.In) {
				args = append(args, expr.Invoke(dialect.Put, expr.Const(e.Key), e.Value))
			}
			return expr.Invoke(fnBound, args...)
		}
		return l.node(fnTool, n, flow, tool, l.policy(n), expr.Object(l.arguments(n)...))
	}
	return nil
}

// arguments are what a tool is called with: its args, then loop variables, then what nodes before it handed on and the
// state. Of two with the same name the later counts.
func (l *lowering) arguments(n *Node) []expr.Entry {
	out := l.entries(n, n.Args)
	for _, v := range loopVariables {
		for _, name := range v.names {
			if x := l.roots[v.root]; x != nil && (name[0] != '_' || !l.tree.Upstream) {
				out = append(out, expr.Put(name, x))
			}
		}
	}
	return append(out, expr.Put("_edge_inputs", l.edgeInputs(n)), expr.Put("_state", l.readable(n)))
}

// taken are the arguments that a bound tool takes, without the state where that is all of it, which the tool's call reads by
// itself. Those that a struct has no field for are left out, as they would be ignored.
func (l *lowering) taken(n *Node, in *schema.Type) []expr.Entry {
	all := l.arguments(n)
	state := all[len(all)-1]
	named := func(e expr.Entry) bool { return e.Key == state.Key }
	if all = all[:len(all)-1]; l.tree.Upstream || slices.ContainsFunc(all, named) {
		all = append(all, state)
	}
	if in == nil || in.Kind != schema.Struct || in.Open {
		return all
	}
	return slices.DeleteFunc(all, func(e expr.Entry) bool { return in.Field(e.Key) == nil })
}

// loopVariables are the names that tools know what they run for by: the engine's, and those of the page.
var loopVariables = []struct {
	root  string
	names []string
}{
	{"item", []string{"$item", "_item"}}, {"index", []string{"$index", "_item_index"}}, {"pipeline", []string{"$pipeline"}},
	{"iter", []string{"$iter"}}, {"loop", []string{"$loop"}},
}

// edgeInputs are what the nodes that lead to n handed on, by their ids.
func (l *lowering) edgeInputs(n *Node) *expr.Node { return expr.Object(l.handed(n)...) }

// handed are the entries of edgeInputs: in a pipeline what the stage before handed on.
func (l *lowering) handed(n *Node) []expr.Entry {
	if l.staged {
		return l.stage
	}
	var out []expr.Entry
	seen := map[string]bool{}
	for _, r := range n.Routes {
		if !seen[r.From.Name] {
			seen[r.From.Name] = true
			out = append(out, expr.Put(r.From.Name, l.edge(l.parser.nodes[r.From.Name])))
		}
	}
	return out
}

// readable is the state that a node sees: all of it, or with the engine's rule what it reads.
func (l *lowering) readable(n *Node) *expr.Node {
	switch {
	case l.tree.Upstream:
		return expr.Object(l.read(n)...)
	case len(l.tree.State) == 0:
		return expr.Object()
	}
	return expr.Read("state")
}

// read are the fields that a node says it reads.
func (l *lowering) read(n *Node) []expr.Entry {
	var out []expr.Entry
	for _, id := range n.Reads {
		out = append(out, expr.Put(id.Name, l.state(id.Name)))
	}
	return out
}

// child is the run of another experience. Its id is that of the node: runs inside of a run are found by key.
func (l *lowering) child(n *Node, v *ir.Flow, flow string) *expr.Node {
	run := expr.FnDo(ir.Block{
		let("child", expr.Of(expr.UseFlow, v.Flow.Name.Name, v.Flow, expr.Object())),
		&ir.ReturnStmt{Value: of(expr.Object(expr.Put("runId", expr.Const(n.ID.Name)), expr.Put("status", expr.Read("child", "status")), expr.Put("finalState", expr.Read("child", "finalState"))))},
	})
	return l.node(fnChild, n, flow, l.policy(n), run)
}

// ask is the question of an agent or a skill.
func (l *lowering) ask(n *Node, v *ir.LLM, flow string) *expr.Node {
	var prompt []expr.Entry
	if n.System != nil {
		prompt = append(prompt, expr.Put("system", l.mixed(n, n.System)), expr.Put("text", expr.Invoke(dialect.JSIndent, l.visible(n))))
	} else {
		prompt = append(prompt, expr.Put("text", l.mixed(n, n.Prompt)))
	}
	var model *ir.Model
	for _, m := range l.wf.Models {
		if model == nil && m.Name.Name == v.Model.Name {
			model = m
		}
	}
	out := schema.StringType
	var format []expr.Entry
	var answer *expr.Node
	if n.Schema != "" {
		answer = expr.Of(expr.UseAnswer, n.ID.Name, &ir.Answer{Name: n.ID.Name, JSON: n.Schema, Tool: n.AnswerAs})
		out, format = schema.AnyType, append(format, expr.Put("schema", answer))
	}
	question := expr.Fn(expr.Invoke(dialect.Ask(out), expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, "", nil), expr.Of(expr.UseModel, v.Model.Name, model),
		expr.Struct(dialect.PromptType, prompt...), expr.Struct(dialect.FormatType, format...)))
	if answer != nil {
		return l.node(fnValues, n, flow, l.policy(n), &expr.Node{Op: expr.Field, Text: "json", Kids: []*expr.Node{answer}}, question)
	}
	return l.node(fnText, n, flow, l.policy(n), l.into(n), question)
}

// into is the field of the state that a text is written to; empty: none.
func (l *lowering) into(n *Node) *expr.Node {
	if len(n.Writes) == 0 {
		return expr.Const("")
	}
	return expr.Const(n.Writes[0].Name)
}

// command is the call of the program of a cli-agent.
func (l *lowering) command(n *Node, t *ir.Tool, tool *expr.Node, flow string) *expr.Node {
	call := expr.Invoke(dialect.Call(t.In, t.Out), expr.Of(expr.UseRun, "", nil), expr.Of(expr.UseNode, "", nil), tool,
		expr.Struct(t.In, expr.Put(promptField, l.mixed(n, n.Prompt))))
	if !n.JSON {
		return l.node(fnText, n, flow, l.policy(n), l.into(n), expr.Fn(call))
	}
	fits := []byte(nil)
	if n.Schema != "" {
		fits = []byte(n.Schema)
	}
	return l.node(fnValues, n, flow, l.policy(n), expr.Const(fits), expr.FnDo(ir.Block{
		let("text", call), &ir.ReturnStmt{Value: of(expr.Invoke(fnUnwrap, expr.Read("text")))},
	}))
}

// records is the call of a dataset node's tool.
func (l *lowering) records(n *Node, b *dataset, tool *expr.Node, flow string) *expr.Node {
	if !b.served() {
		return l.node(fnDataset, n, flow, tool, l.policy(n), l.into(n))
	}
	rule := fnArray
	if b.Wrap {
		rule = fnWrapped
	}
	return l.node(fnResponse, n, flow, tool, l.policy(n), l.into(n), expr.Fn(expr.Invoke(rule, expr.Read("text")), "text"))
}

// visible is what a skill is told: what it reads, what nodes before it handed on, and its args.
func (l *lowering) visible(n *Node) *expr.Node {
	out := append(l.read(n), l.handed(n)...)
	out = append(out, l.entries(n, n.Args)...)
	for _, v := range loopVariables {
		if x := l.roots[v.root]; x != nil {
			out = append(out, expr.Put(v.names[0], x))
		}
	}
	return expr.Object(out...)
}
