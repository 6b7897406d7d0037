package native

import (
	"slices"

	"github.com/flowgen-dev/flowgen/parser/yamlnode"
)

// TopKeys are the keys of a workflow file in the order in which they are read best: what it is, what it is given, what
// it uses, what it does, what it returns.
func TopKeys() []string {
	return []string{
		"flowgen", "name", "description", "include", "types", "input", "state", "secrets", "models", "servers", "tools", "agents",
		"policy", "defaults", "nodes", "edges", "output",
	}
}

// spellings are words that have a better form.
var spellings = map[string]string{"read": "reads", "write": "writes"}

// Spellings finds the scalars of a workflow file that are words with a better form: `effects: read` is `reads`. What an
// anchor or an alias makes part of something else is left alone.
func Spellings(root *yamlnode.Node) map[*yamlnode.Node]string {
	out := map[*yamlnode.Node]string{}
	byName := map[string]*Shape{}
	for _, s := range Shapes() {
		byName[s.Name] = s
	}
	var form func(n *yamlnode.Node, f Form)
	mapping := func(n *yamlnode.Node, s *Shape) {
		for _, e := range n.Entries {
			if k := s.key(e.Key.Text.Value); k != nil {
				form(e.Value, k.Value)
			}
		}
	}
	form = func(n *yamlnode.Node, f Form) {
		if n == nil || !n.Alias.IsZero() {
			return
		}
		switch f.Kind {
		case FormWord:
			if better := spellings[n.Text.Value]; n.Kind == yamlnode.Scalar && n.Anchor == "" && n.Style <= yamlnode.DoubleQuoted && slices.Contains(f.Words, better) {
				out[n] = better
			}
		case FormList:
			for _, it := range n.Items {
				form(it, *f.Elem)
			}
			if n.Kind == yamlnode.Scalar { // a list of one
				form(n, *f.Elem)
			}
		case FormMap:
			for _, e := range n.Entries {
				form(e.Value, *f.Elem)
			}
		case FormOneOf:
			for _, alternative := range f.Any {
				form(n, alternative)
			}
		case FormShape:
			if f.Shape != shapeNode.Name {
				mapping(n, byName[f.Shape])
				return
			}
			for _, v := range verbs {
				if n.Get(v) != nil {
					mapping(n, nodeShapes[v])
				}
			}
		}
	}
	if root != nil {
		mapping(root, shapeWorkflow)
	}
	return out
}
