package sirenspec

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// child runs another workflow, whose agents receive what this one was asked. Its result is what has been written below output
// there.
func (s *siren) child(n *sirenspec.Node, v *ir.Flow) {
	id := s.IDs[n.ID.Name]
	inner, _ := v.Flow.Tree.(*sirenspec.Tree)
	with := &ir.With{Span: convert.Below(convert.NodeAt(s.Root, n.Span), "inputs")}
	with.Entries = append(with.Entries, convert.Pair("message", convert.Ref("input.message")))
	parts := len(s.parts)
	if n.Args != nil {
		for _, e := range n.Args.Entries {
			if e.Key.Name != "message" && slices.ContainsFunc(inner.Input, func(f *schema.Field) bool { return f.Name == e.Key.Name }) {
				with.Entries = append(with.Entries, &ir.Entry{Key: e.Key, Value: s.argument(e.Value, n)})
			}
		}
	}
	if s.Inner && len(s.parts) > parts {
		s.Refuse(n.ID.Span, "make the text in a node before it", "an input of %s may be missing, and the engine goes on then", n.ID.Name)
	}
	node := s.add(n, id, &ir.Flow{Path: s.FlowFile(v.Flow), With: with})
	s.stops(node)
	result := ir.Value(convert.Ref(id))
	if len(written(inner)) == 0 {
		result = &ir.Object{}
	}
	s.add(nil, s.said(n), convert.Call(guardPath+"Written", convert.Pair("v", result)))
}

// written are the places below output that a workflow writes, in the order of its nodes.
func written(t *sirenspec.Tree) (list []string) {
	for _, n := range t.Order {
		for _, w := range outputs(n) {
			list = append(list, w[1])
		}
	}
	return list
}

// outputs are the places below output that a node writes. One that runs a workflow has a place of its own there.
func outputs(n *sirenspec.Node) (list [][]string) {
	if len(n.Writes) > 0 && n.Writes[0] == "output" {
		list = append(list, n.Writes)
	}
	own := []string{"output", n.ID.Name}
	if _, flow := n.Verb.(*ir.Flow); flow && !slices.Equal(own, n.Writes) {
		list = append(list, own)
	}
	return list
}

// stops lets a node that fails end the workflow without a failure, when another workflow runs it: what was written until then is
// its result.
func (s *siren) stops(node *ir.Node) {
	if s.Inner {
		node.Catch = []*ir.Catch{{Code: convert.Name("any"), Target: convert.Name("end")}}
	}
}

// inside refuses what a workflow that another one runs cannot do.
func (s *siren) inside() {
	if !s.Inner {
		return
	}
	s.Note(s.tree.Name.Span, "", "a node that fails ends this workflow with what it has written, as where another one runs it; by itself it failed")
	for i, n := range s.order {
		switch n.Verb.(type) {
		case *ir.LLM, *ir.ToolCall, *ir.Flow:
		default:
			s.Refuse(n.ID.Span, "write it into a workflow of its own, or into the one that runs this", "%s may fail, and the engine continues with what this workflow has written so far", n.ID.Name)
			continue
		}
		if s.failed[n] != nil && !isAgent(n) {
			s.Refuse(n.ID.Span, "remove it", "%s always fails here, and nothing comes after it", n.ID.Name)
		}
		if n.Failure != nil || n.Retry != nil && n.Retry.Attempts > 1 || n.Skips {
			s.Refuse(n.ID.Span, "write it without a rule for failures", "the rule for failures of %s is not converted in a workflow that another one runs", n.ID.Name)
		}
		if i > 0 && !s.flow.Before(s.order[i-1], n) && !s.exclusive(s.order[i-1], n) {
			s.Refuse(n.ID.Span, "add an edge from "+s.order[i-1].ID.Name+" to "+n.ID.Name, "a failure of %s ends the workflow before %s, and no edge leads there", s.order[i-1].ID.Name, n.ID.Name)
		}
		texts(n, func(r *dialect.Reference) {
			if r.Root == "inputs" && len(r.Path) > 0 && r.Path[0] == "message" {
				s.Refuse(r.Text.Span, "give it another name in `inputs`", "`inputs.message` is something else in a workflow that another one runs")
			}
		})
	}
}

// blocked reports whether an agent is a block of its own with its guardrails, as a failure of theirs does not fail the workflow.
func (s *siren) blocked(n *sirenspec.Node) bool {
	return s.Inner && isAgent(n) && s.nodes[n.ID.Name] == n && len(s.guards(n, false))+len(s.guards(n, true)) > 0
}

// block adds an agent as a block of its own.
func (s *siren) block(n *sirenspec.Node, ask func()) {
	once := &ir.Loop{Max: 1}
	s.making = &making{node: n, body: &once.Do, block: s.id(n)}
	ask()
	once.Do.Edges, once.Do.Result = s.guarded(n), convert.Ref(s.last(n))
	s.making = nil
	s.stops(s.add(nil, s.said(n), once))
}

// call adds a tool node. Where another workflow runs this one, it is a block of its own with the nodes that make its texts, as a
// failure of theirs does not fail the workflow.
func (s *siren) call(n *sirenspec.Node, add func(id string) *ir.Node) {
	id := s.IDs[n.ID.Name]
	if !s.Inner {
		s.failure(n, add(id))
		return
	}
	once, call, parts := &ir.Loop{Max: 1}, s.FreeID("call_"+id), len(s.parts)
	s.making = &making{node: n, body: &once.Do, block: call}
	s.read[n] = true // a block has a result
	node := add(call)
	s.failure(n, node)
	s.insertParts(&once.Do)
	once.Do.Result = convert.Ref(call)
	if s.making = nil; len(s.parts) > parts {
		node = s.add(nil, id, once)
	} else {
		node.ID = convert.Name(id)
		s.Out.Body.Nodes = append(s.Out.Body.Nodes, node)
	}
	s.stops(node)
}
