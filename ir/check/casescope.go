package check

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// A scope is what the key of a call is inside of in an experience: a pipeline or a loop, and the items of a node. Their parts
// of a key have numbers, as in docs[0]/clean and each[1]/each.
type scope struct {
	phase *ir.Phase
	items *Step
}

// enter reports whether a part of a key with a number, and the one after it, lead into a phase or the items of a node.
func (in *scope) enter(p *Program, b *Body, name, next string) bool {
	next, _, _ = strings.Cut(next, "[")
	next, _, _ = strings.Cut(next, "#")
	if in.phase == nil && in.items == nil {
		for _, ph := range p.Phases {
			if ph.IR.Kind != ir.PhaseGraph && ph.IR.ID.Name == name && slices.ContainsFunc(ph.IR.Nodes, func(n *ir.Node) bool { return n.ID.Name == next }) {
				in.phase = ph.IR
				return true
			}
		}
	}
	if s := b.byID[name]; s != nil && in.items == nil && name == next && each(s) {
		in.items = s
		return true
	}
	return false
}

// missing says how the key of a node has to begin that is not inside of what the node is in; empty when it is.
func (in *scope) missing(p *Program, s *Step) string {
	name := s.Node.ID.Name
	if each(s) && in.items != s {
		return "node `" + name + "` runs for the items of a list: write `" + name + "[0]/" + name + "` for the first, `" + name + "[*]/" + name + "` for all"
	}
	for _, ph := range p.Phases {
		if ph.IR.Kind != ir.PhaseGraph && in.phase != ph.IR && in.phase == nil && slices.Contains(ph.IR.Nodes, s.Node) {
			return "node `" + name + "` runs in `" + ph.IR.ID.Name + "`: write `" + ph.IR.ID.Name + "[0]/" + name + "` for the first round"
		}
	}
	return ""
}

func each(s *Step) bool { return s.Node.Dynamic != nil && s.Node.Dynamic.Each != nil }
