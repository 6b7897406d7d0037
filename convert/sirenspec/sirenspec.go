// Package sirenspec converts SirenSpec workflows to native ones.
package sirenspec

import (
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/convert/doc"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// A siren is a SirenSpec workflow while it is converted. An agent receives what the agent before it has said.
type siren struct {
	*convert.Converter
	tree  *sirenspec.Tree
	nodes map[string]*sirenspec.Node
	order []*sirenspec.Node // in which the engine runs them
	flow  *convert.Order[*sirenspec.Node]
	extra map[*sirenspec.Node][]*sirenspec.Node // nodes that have to come before one that no edge leads to
	late  map[*sirenspec.Node]*sirenspec.Node   // nodes at which the edges to one begin, see delay
	read  map[*sirenspec.Node]bool              // tools whose result something reads
	given []*ir.Output                          // that the context begins with

	memory *memory         // nil: none is kept
	asks   map[string]bool // the nodes that conditions ask
	parts  []part
	making *making                                // the factory whose instances are written; nil: none
	lists  map[*sirenspec.Node]string             // of factories: the nodes that read their lists
	failed map[*sirenspec.Node]*dialect.Reference // nodes that end every run that gets to them, and what they miss
}

// keys are the keys of workflows and of their nodes that become native ones.
var keys = map[string]string{
	"state": "state", "input.*": "input.*", "llm": "agent", "human": "prompt", "tool": "tool", "timeout": "timeout config.timeout", "on_timeout": "on_timeout",
	"method": "config.method", "url": "config.url", "headers": "config.headers", "body": "config.body",
}

// Convert converts a workflow. Its result is the bucket `output` of the context.
func Convert(c *convert.Converter) {
	tree, _ := c.Workflow.Tree.(*sirenspec.Tree)
	s := &siren{Converter: c, tree: tree, nodes: map[string]*sirenspec.Node{}, extra: map[*sirenspec.Node][]*sirenspec.Node{}, late: map[*sirenspec.Node]*sirenspec.Node{}, asks: map[string]bool{}, read: map[*sirenspec.Node]bool{}, failed: map[*sirenspec.Node]*dialect.Reference{}, lists: map[*sirenspec.Node]string{}}
	s.flow = &convert.Order[*sirenspec.Node]{Leads: s.leads, Fails: s.skipped}
	c.Keys, c.Words = keys, words
	s.sections()
	for _, n := range s.tree.Nodes {
		s.nodes[n.ID.Name] = n
	}
	s.order = s.tree.Order
	if c.Refused {
		return
	}
	for _, n := range s.order {
		if r := s.unfilled(n); r != nil {
			s.failed[n] = r
		}
	}
	s.chain()
	s.inside()
	c.Out.Input, c.Out.Secrets = s.tree.Input, slices.Clone(s.tree.Secrets)
	for _, n := range s.tree.Nodes {
		s.node(n)
	}
	s.edges()
	s.insertParts(&c.Out.Body)
	for _, m := range s.tree.Models {
		own := *m
		own.Span = s.Entry("agents", m.Name.Name)
		c.Out.Models = append(c.Out.Models, &own)
	}
	s.output()
}

// words are what users call the parts that have no counterpart.
var words = map[string]convert.Word{
	"Seeds": {Is: "values in `context`", Native: "write `init` on the native state fields"},
}

// sections refuses what is next to the nodes and has no counterpart.
func (s *siren) sections() {
	for _, b := range s.tree.Budgets {
		if b.Exceeded == "warn" {
			s.Note(b.Span, "`--usage FILE` writes what each call took", "the budget only warns, and the native program does not")
			continue
		}
		s.Refuse(b.Span, "write `policy: {max_tokens: ..., max_cost_usd: ...}` in the native file", "the engine looks at a budget after each node, and a native policy before each call: they stop at other places")
		break
	}
	if s.tree.EnvFile != "" {
		s.Note(s.Entry("env_file"), "set its other variables where the program runs", "`%s` is not read: a native program takes its secrets from a file `.env` in the folder that it runs in, and other variables from the environment", s.tree.EnvFile)
	}
	s.Only(s.tree.Name.Span, "the workflow", s.tree.Workflow, "Public Origin ShortKeys Tree Provided File Name Description Input State Tools Body Includes Secrets Models Flows")
	s.seed(s.tree.Seeds)
	s.recalls()
	s.Only(s.tree.Name.Span, "the workflow", s.tree, "Workflow Nodes Order Upstream Seeds Budgets Memory EnvFile")
}

// add adds a native node. Of one that is made of a node of the file, its comments come along.
func (s *siren) add(of *sirenspec.Node, id string, v ir.Verb) *ir.Node {
	n := &ir.Node{ID: convert.Name(id), Verb: v}
	if of != nil {
		n.Span = convert.Join(of.ID.Span, of.Span)
	}
	b := s.within()
	b.Nodes = append(b.Nodes, n)
	return n
}

// within is the body that nodes are added to.
func (s *siren) within() *ir.Body {
	if s.making != nil {
		return s.making.body
	}
	return &s.Out.Body
}

// node rewrites a node, with what looks at its text before and after it.
func (s *siren) node(n *sirenspec.Node) {
	s.Only(n.ID.Span, "the node "+n.ID.Name, n, "ID Verb Span Routes Attempts Skips System Prompt Args OutputKey Writes Request Guards Retry Failure Counted Limit Store")
	if r := s.failed[n]; r != nil {
		s.fail(n, r)
		return
	}
	id := s.IDs[n.ID.Name]
	if n.Store != nil {
		s.recall(n)
		return
	}
	if s.remembers(n) {
		defer s.remember(n)
	}
	switch v := n.Verb.(type) {
	case *ir.LLM:
		s.ask(n, v)
	case *ir.Human:
		s.add(n, id, &ir.Human{Prompt: convert.Text(s.text(n.Prompt, n)), Timeout: v.Timeout, OnTimeout: v.OnTimeout})
	case *sirenspec.Swarm:
		s.swarm(n, v)
	case *sirenspec.Factory:
		s.factory(n, v)
	case *ir.ToolCall:
		s.call(n, func(id string) *ir.Node { return s.toolNode(n, v, id) })
	case *ir.Flow:
		s.child(n, v)
	case *ir.ToolChoice:
		s.choice(n, v)
	default:
		s.NoNode(n.ID, n.Verb)
	}
}

// toolNode calls the tool of a node.
func (s *siren) toolNode(n *sirenspec.Node, v *ir.ToolCall, id string) *ir.Node {
	call := &ir.ToolCall{Name: convert.Name(s.IDs[n.ID.Name])}
	node := s.add(n, id, call)
	b, python := v.Tool.Binding.(*ir.PythonTool)
	switch {
	case n.Request != nil:
		call.With = s.request(n)
		node.Timeout = convert.Duration(time.Duration(n.Request.Seconds) * time.Second)
	case python:
		call.With = s.pythonCall(n, v.Tool, b)
	default:
		s.NoNode(n.ID, n.Verb)
	}
	return node
}

// ask rewrites an agent. Its guardrails become nodes around it, which can be taken out.
func (s *siren) ask(n *sirenspec.Node, v *ir.LLM) {
	if collides(n) && n.Failure != nil {
		s.Refuse(n.ID.Span, "write it to `output."+n.Writes[1]+"`", "the text of %s is replaced by what the engine keeps of the node, and the next agent receives that", n.ID.Name)
	}
	llm := &ir.LLM{Model: v.Model}
	if n.System != nil && len(n.System.Segments) > 0 {
		agent := s.Root.Get("agents").Get(convert.NodeAt(s.Root, n.Span).Get("agent").Text.Value)
		llm.System = convert.Text(s.text(n.System, n), convert.Below(agent, "system"))
	}
	told := convert.Ref(s.told(n))
	if s.blocked(n) {
		s.block(n, func() { s.voice(n, told, llm) })
		return
	}
	node := s.voice(n, told, llm)
	s.stops(node)
	s.spent(n, node)
	if collides(n) {
		kept := &ir.Object{Entries: []*ir.Entry{convert.Pair("output", convert.Ref(s.said(n)))}}
		s.add(nil, s.kept(n), convert.Call(convert.PyText, convert.Pair("v", kept)))
	}
}

// kept is the node that writes what the engine keeps of one that collides, as the next agent receives it.
func (s *siren) kept(n *sirenspec.Node) string { return s.id(n) + "_kept" }

// voice adds an agent that is told a value, between its guardrails.
func (s *siren) voice(n *sirenspec.Node, told ir.Value, llm *ir.LLM) *ir.Node {
	for _, g := range s.guards(n, false) {
		s.add(nil, g.id, g.call(told))
		told = convert.Ref(g.id)
	}
	if e, is := told.(*ir.Expr); is {
		told = convert.Text("{{ " + e.Text.Value + " }}")
	}
	llm.Prompt = &ir.Prompt{Text: told.(*ir.Template)}
	said := s.id(n)
	if s.retried(n) {
		node := s.retry(n, said, llm)
		if s.rechecked(n) {
			return node // which holds its answers to the guardrails
		}
		s.check(n, said)
		return node
	}
	node := s.add(n, said, llm)
	node.Retry = sirenspec.ClientRetry()
	s.check(n, said)
	return node
}

// check adds the guardrails that look at an answer. It returns the node that has it after them.
func (s *siren) check(n *sirenspec.Node, said string) string {
	for _, g := range s.guards(n, true) {
		s.add(nil, g.id, g.call(convert.Ref(said)))
		said = g.id
	}
	return said
}

// spent says what becomes of an agent whose attempts are spent.
func (s *siren) spent(n *sirenspec.Node, node *ir.Node) {
	f := n.Failure
	if f == nil {
		return
	}
	switch f.Action {
	case "skip":
		node.OnError = &ir.OnError{Kind: ir.OnErrorSkip, Span: f.Span}
	case "use_default":
		for _, g := range s.guards(n, true) {
			if g.name != "injection" {
				s.Refuse(f.Span, "write the guardrail as a node of your own", "the text that stands for the answer of %s is not looked at by its guardrails, and the native one would be", n.ID.Name)
				break
			}
		}
		node.OnError = &ir.OnError{Kind: ir.OnErrorDefault, Default: convert.Literal(f.Default), Span: f.Span}
	case "fallback":
		if s.goesOn(n) {
			node.OnError = &ir.OnError{Kind: ir.OnErrorSkip, Span: f.Span}
			return
		}
		node.Catch = []*ir.Catch{{Code: ir.Ident{Name: "any", Span: f.Span}, Target: convert.Name(s.begins(s.fallback(n)))}}
	}
}

// goesOn reports whether the run goes on without a node that fails, and without its edges: its fallback is none that runs
// instead of it.
func (s *siren) goesOn(n *sirenspec.Node) bool {
	f := n.Failure
	return f != nil && f.Action == "fallback" && s.fallback(n) == nil
}

// swarm asks the agents of a swrm in parallel, and adds what is asked about what they say. When that fails, their answers
// are the result.
func (s *siren) swarm(n *sirenspec.Node, v *sirenspec.Swarm) {
	if v.Parallel > 0 && v.Parallel < len(v.Agents()) {
		s.Note(n.ID.Span, "", "the agents of %s are asked all at the same time", n.ID.Name)
	}
	all := &ir.List{}
	for _, a := range v.Agents() {
		if s.silent(a) {
			all.Items = append(all.Items, convert.Literal(""))
			continue
		}
		s.asked(a, v.Keep)
		said := s.said(a)
		if v.Keep {
			said = "default(" + said + `, "")`
		}
		all.Items = append(all.Items, convert.Ref(said))
	}
	if last := v.Last(); last != nil {
		s.asked(last, true)
		s.add(n, s.IDs[n.ID.Name], convert.Call(guardPath+"Concluded", convert.Pair("text", convert.Ref(s.said(last))), convert.Pair("answers", all)))
		return
	}
	s.add(n, s.IDs[n.ID.Name], &ir.Let{Fields: []*ir.Entry{convert.Pair("said", all)}}).Join = ir.JoinAll
}

// silent reports whether an agent of a swrm says nothing in any run: what it is asked has no value, and the others go on.
func (s *siren) silent(a *sirenspec.Node) bool {
	by, ok := s.by(a).Verb.(*sirenspec.Swarm)
	return ok && by.Keep && a != by.Last() && s.unfilled(a) != nil
}

// asked asks an agent of a swrm. keep: nothing is said when it fails; with guardrails, or a text that may not be made, it is a
// block of its own then, which fails as a whole.
func (s *siren) asked(a *sirenspec.Node, keep bool) {
	ask := func() *ir.Node {
		return s.voice(a, convert.Text(s.text(a.Prompt, a)), &ir.LLM{Model: a.Verb.(*ir.LLM).Model})
	}
	skip := &ir.OnError{Kind: ir.OnErrorSkip}
	switch {
	case !keep:
		ask()
	case !s.wrapped(a):
		ask().OnError = skip
	default:
		once := &ir.Loop{Max: 1}
		s.making = &making{node: s.by(a), body: &once.Do}
		ask()
		once.Do.Edges, once.Do.Result = s.guarded(a), convert.Ref(s.last(a))
		s.insertParts(&once.Do)
		s.making = nil
		s.add(nil, s.said(a), once).OnError = skip
	}
}

// wrapped reports whether an agent of a swrm is a block of its own with what comes before and after it.
func (s *siren) wrapped(a *sirenspec.Node) bool {
	by := s.by(a)
	if by == nil || by == a {
		return s.blocked(a)
	}
	v, ok := by.Verb.(*sirenspec.Swarm)
	return ok && (v.Keep || v.Last() == a) && (s.mayLack(a) || len(s.guards(a, false))+len(s.guards(a, true)) > 0)
}

// output is the bucket output.
func (s *siren) output() {
	for n := range s.failed {
		if s.flow.Always(n) {
			return // no run gets so far
		}
	}
	var names []string
	by := map[string][]*sirenspec.Node{}
	for _, n := range s.order {
		if s.failed[n] != nil {
			continue
		}
		for _, w := range outputs(n) {
			if len(w) != 2 {
				s.Refuse(n.ID.Span, "write it to `output."+w[1]+"`", "a place below a name is not converted")
				continue
			}
			if by[w[1]] == nil {
				names = append(names, w[1])
			}
			by[w[1]] = append(by[w[1]], n)
		}
	}
	for _, o := range s.given {
		if by[o.Name.Name] == nil {
			s.Out.Output = append(s.Out.Output, o)
		}
	}
	for _, name := range names {
		list := by[name]
		var parts []string
		for i := len(list) - 1; i >= 0; i-- {
			parts = append(parts, s.said(list[i]))
			for _, other := range list[:i] {
				if !s.flow.Before(other, list[i]) && !s.exclusive(list[i], other) {
					s.Refuse(list[i].ID.Span, "write to a name of its own", "two nodes write output.%s, in an order that no edges tell", name)
				}
			}
		}
		value := parts[0]
		if len(parts) > 1 {
			value = "first(" + strings.Join(parts, ", ") + ")"
		}
		s.Out.Output = append(s.Out.Output, &ir.Output{Name: ir.Ident{Name: name, Span: list[0].ID.Span}, Value: convert.Ref(value)})
	}
}

// seed makes state of what the context begins with.
func (s *siren) seed(o *ir.Object) {
	if o == nil {
		return
	}
	for _, bucket := range o.Entries {
		values, ok := bucket.Value.(*ir.Object)
		if !ok {
			s.Refuse(bucket.Key.Span, "write `init` on native state fields", "a native workflow has no such context value")
			continue
		}
		for _, e := range values.Entries {
			typ := s.seedType(e.Value)
			if bucket.Key.Name == "output" {
				typ = schema.AnyType
				s.given = append(s.given, &ir.Output{Name: e.Key, Value: convert.Ref("state." + e.Key.Name), Span: e.Key.Span})
			}
			s.Out.State = append(s.Out.State, &ir.State{Name: e.Key, Type: typ, Init: &schema.Default{JSON: dialect.JSON(e.Value)}, Span: convert.Join(e.Key.Span, e.Value.Source())})
		}
	}
}

// seedType is the type of a constant.
func (s *siren) seedType(v ir.Value) *schema.Type {
	switch v := v.(type) {
	case *ir.Scalar:
		return convert.TypeOf(v)
	case *ir.List:
		for _, it := range v.Items {
			s.seedType(it)
		}
	case *ir.Object:
		t := convert.Struct()
		for _, e := range v.Entries {
			t.Fields = append(t.Fields, convert.Field(e.Key.Name, s.seedType(e.Value)))
		}
		if len(t.Fields) > 0 && !slices.ContainsFunc(t.Fields, func(f *schema.Field) bool { return !doc.FieldForm.MatchString(f.Name) }) {
			return t
		}
	default:
		s.Refuse(v.Source(), "", "this value cannot be written in the native language")
	}
	return schema.AnyType
}

// at is when the engine runs a node.
func (s *siren) at(n *sirenspec.Node) int { return slices.Index(s.order, n) }
