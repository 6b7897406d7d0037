package sirenspec

import (
	"slices"

	"github.com/flowgen-dev/flowgen/convert"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/dialect"
	"github.com/flowgen-dev/flowgen/parser/sirenspec"
)

// open reports whether only a run knows which function a node calls.
func open(v *ir.ToolChoice) bool {
	name, is := v.Tool.(*dialect.Mixed)
	return is && !constant(name)
}

// choice calls a function that flowgen.bindings.yaml has: the one that the file names, or one out of several by its name. The
// failure of the latter is data in the native language, and a node after it ends the run with it.
func (s *siren) choice(n *sirenspec.Node, v *ir.ToolChoice) {
	id := s.IDs[n.ID.Name]
	with := &ir.With{Span: convert.Below(convert.NodeAt(s.Root, n.Span), "config")}
	if n.Args != nil {
		for _, e := range n.Args.Entries {
			with.Entries = append(with.Entries, &ir.Entry{Key: e.Key, Value: s.argument(e.Value, n)})
		}
	}
	for _, t := range s.tree.Tools {
		if slices.ContainsFunc(v.Allow, func(a ir.Ident) bool { return a.Name == t.Key.Name }) && !slices.Contains(s.Out.Tools, t) {
			s.Out.Tools = append(s.Out.Tools, t)
		}
	}
	name := v.Tool.(*dialect.Mixed)
	if !open(v) {
		s.failure(n, s.add(n, id, &ir.ToolCall{Name: convert.Name(literal(name)), With: with}))
		return
	}
	node := s.add(n, id, &ir.ToolChoice{Tool: convert.Text(s.text(name, n)), Args: convert.Object(with.Entries...), Allow: v.Allow})
	s.failure(n, node)
	node.OnError = nil
	skip := convert.Pair("skip", flag(n.Skips))
	s.add(nil, s.said(n), convert.Call(guardPath+"Chosen", convert.Pair("answer", convert.Ref(id)), skip))
}
