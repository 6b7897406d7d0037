package expr

import (
	"maps"

	"github.com/flowgen-dev/flowgen/ir/schema"
)

// Facts are the paths known to hold a value where an expression stands: "post", "post.url". A nil map has no facts.
//
// A fact is about the value that the path had when the condition was evaluated. It holds wherever that value cannot have
// changed since: results of nodes do not change within their scope, state may.
type Facts map[string]bool

// IsVariant is the fact that the value of a path is the variant of a union with a tag.
func IsVariant(path, tag string) string { return path + ".=" + tag }

// TagOf is the union whose tag n reads, and its path; nil when n reads no tag.
func TagOf(n *Node) (union *schema.Type, path string) {
	if n.Op != Field || n.Sym != nil || n.Kids[0].Type == nil || n.Kids[0].Type.Kind != schema.Union {
		return nil, ""
	}
	return n.Kids[0].Type, n.Kids[0].Path()
}

// tagTest is the fact that a comparison of a tag with a constant proves, or "".
func tagTest(n *Node) string {
	x, y := n.Kids[0], n.Kids[1]
	if x.Op == Lit {
		x, y = y, x
	}
	tag, text := y.Value.(string)
	if _, path := TagOf(x); path != "" && y.Op == Lit && text {
		return IsVariant(path, tag)
	}
	return ""
}

// FactsOf gives the paths that are present when the checked condition cond has come out as want.
func FactsOf(cond *Node, want bool) Facts {
	yes, no := outcomes(cond)
	if want {
		return yes
	}
	return no
}

// ItemFacts are the facts about a variable that holds an item of a list of type t.
func ItemFacts(name string, t *schema.Type) Facts {
	facts := Facts{}
	for _, f := range t.Known {
		facts[name+"."+f] = true
	}
	return facts
}

// outcomes gives what is known when n is true, and when it is false. One pass: both are needed at every level.
func outcomes(n *Node) (yes, no Facts) {
	switch n.Op {
	case Unary:
		if n.Text == "!" {
			no, yes = outcomes(n.Kids[0])
		}
	case Binary:
		switch n.Text {
		case "&&", "||", "==", "!=":
			return binaryOutcomes(n)
		}
	case Cond:
		cy, cn := outcomes(n.Kids[0])
		ay, an := outcomes(n.Kids[1])
		by, bn := outcomes(n.Kids[2])
		return common(union(cy, ay), union(cn, by)), common(union(cy, an), union(cn, bn))
	}
	return yes, no
}

func binaryOutcomes(n *Node) (yes, no Facts) {
	if n.Text == "==" || n.Text == "!=" {
		tested := nullTested(n)
		if is := tagTest(n); is != "" && n.Text == "==" {
			return Facts{is: true}, nil
		} else if is != "" {
			return nil, Facts{is: true}
		}
		if tested == nil {
			return nil, nil
		}
		if n.Text == "!=" {
			return present(tested), nil
		}
		return nil, present(tested)
	}
	ly, ln := outcomes(n.Kids[0])
	ry, rn := outcomes(n.Kids[1])
	if n.Text == "&&" {
		return union(ly, ry), common(ln, union(ly, rn))
	}
	return common(ly, union(ln, ry)), union(ln, rn)
}

// nullTested is the operand that n compares with null, or nil.
func nullTested(n *Node) *Node {
	if n.Op != Binary || n.Text != "==" && n.Text != "!=" {
		return nil
	}
	a, b := n.Kids[0], n.Kids[1]
	switch {
	case isNull(b) && !isNull(a):
		return a
	case isNull(a) && !isNull(b):
		return b
	}
	return nil
}

func isNull(n *Node) bool { return n.Op == Lit && n.Value == nil }

// present is what is known when n has a value: itself, and every receiver on the way. A pseudo-field such as node.error
// is not a part of its node's value, which is absent exactly then.
func present(n *Node) Facts {
	facts := Facts{}
	for p := n.Path(); p != ""; p = n.Path() {
		facts[p] = true
		if n.Op == Name || n.Sym != nil {
			break
		}
		n = n.Kids[0]
	}
	return facts
}

func union(a, b Facts) Facts {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func common(a, b Facts) Facts {
	out := Facts{}
	for p := range a {
		if b[p] {
			out[p] = true
		}
	}
	return out
}
