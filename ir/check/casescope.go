package check

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// A scope is what the key of a call is inside of in a Block: the rounds of a loop, and the items of a node. Their parts of a
// key have numbers, as in docs[0]/clean and each[1]/each.
type scope struct {
	rounds string // the id of a loop's scope; empty: none
	items  *Step
}

// enter reports whether a part of a key with a number, and the one after it, lead into a loop or the items of a node.
func (in *scope) enter(b *Body, name, next string) bool {
	next, _, _ = strings.Cut(next, "[")
	next, _, _ = strings.Cut(next, "#")
	s := b.byID[next]
	if in.rounds == "" && in.items == nil && s != nil && slices.Contains(b.Rounds()[s], name) {
		in.rounds = name
		return true
	}
	if in.items == nil && name == next && each(s) {
		in.items = s
		return true
	}
	return false
}

// missing says how the key of a node has to begin that is not inside of what the node is in; empty when it is.
func (in *scope) missing(b *Body, s *Step) string {
	name := s.Node.ID.Name
	if each(s) && in.items != s {
		return "node `" + name + "` runs for the items of a list: write `" + name + "[0]/" + name + "` for the first, `" + name + "[*]/" + name + "` for all"
	}
	if around := b.Rounds()[s]; len(around) > 0 && in.rounds == "" {
		return "node `" + name + "` runs in `" + around[0] + "`: write `" + around[0] + "[0]/" + name + "` for the first round"
	}
	return ""
}

// each reports whether a step runs for the items of a list.
func each(s *Step) bool {
	if s == nil {
		return false
	}
	v, ok := s.Node.Verb.(*ir.Perform)
	return ok && v.Items != nil && v.Inside == nil
}

// Rounds are, for the steps of a Block that run in loops with a scope, the ids of those scopes, in order. A loop inside of a
// loop with a scope has none.
func (b *Body) Rounds() map[*Step][]string {
	out := map[*Step][]string{}
	var walk func(p *Plan, in string)
	walk = func(p *Plan, in string) {
		if p.Scope != nil {
			in = p.Scope.ID.Name
		}
		if p.Step != nil && in != "" && !slices.Contains(out[p.Step], in) {
			out[p.Step] = append(out[p.Step], in)
		}
		for _, k := range p.Kids {
			walk(k, in)
		}
	}
	if b.Plan != nil {
		walk(b.Plan, "")
	}
	return out
}
