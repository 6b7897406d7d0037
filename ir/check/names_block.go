package check

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/expr"
	"github.com/flowgen-dev/flowgen/ir/goname"
)

// blockLocals names the locals of a Block. What the translator declares has the name that it says; results of nodes, whose
// names are those of the file, give way.
func (n *Names) blockLocals(b *Body) {
	own := map[string]string{} // by name, what it stands for: blocks next to each other may have locals of one name
	for _, l := range b.Locals {
		if l.Step == nil {
			name := goname.Local(l.Name)
			for n.Taken(name) || own[name] != "" && own[name] != l.Name {
				name += "_"
			}
			n.Blocks[l] = name
			own[name] = l.Name
		}
	}
	for _, name := range paramsOf(b.IR.Block) {
		own[name] = name
	}
	for _, l := range b.Locals {
		if l.Step == nil {
			continue
		}
		name := n.Locals[l.Step]
		for own[name] != "" || n.Taken(name) {
			name += "_"
		}
		n.Blocks[l] = name
		own[name] = name
	}
}

// paramsOf are the parameters of the Lambdas in a block.
func paramsOf(b ir.Block) []string {
	var out []string
	b.Walk(func(n *expr.Node) bool {
		if n.Op == expr.Lambda {
			for _, p := range n.Function.Params {
				out = append(out, p.Name)
			}
		}
		return true
	})
	return out
}

// answers names what the answers that a step asks for have to fit.
func (n *Names) answers(s *Step) {
	for _, a := range s.Answers() {
		if n.Answers[a] == "" {
			n.Answers[a] = n.take(n.beside(s, "Schema", "AnswerSchema"), s.Node.ID.Span)
		}
	}
}

// beside is a name made of a node's, which is not that of another node: the first suffix that fits, or else the last.
func (n *Names) beside(s *Step, suffixes ...string) string {
	locals := map[string]bool{}
	for _, name := range n.Locals {
		locals[name] = true
	}
	name := ""
	for _, suffix := range suffixes {
		if name = strings.TrimSuffix(n.Nodes[s], "Node") + suffix; !locals[name] && !n.Taken(name) {
			break
		}
	}
	return name
}

// texts names the text functions. The name of none of them is that of a result.
func (n *Names) texts(p *Program, idPrefix string) {
	locals := map[string]bool{}
	for _, name := range n.Locals {
		locals[name] = true
	}
	for _, t := range p.Texts {
		if n.Texts[t.IR] != "" {
			continue
		}
		name := goname.Local(idPrefix + t.IR.Name.Name)
		if locals[name] || n.Taken(name) {
			name += "Text"
		}
		n.Texts[t.IR] = n.take(name, t.IR.Name.Span)
	}
}

// scopes names the nodes that the rounds of loops are scopes of.
func (n *Names) scopes(b *Body, idPrefix string) {
	for _, at := range b.Scopes() {
		if n.Scopes[at] != "" {
			continue
		}
		name := at.Name
		if name == "" {
			name = at.ID.Name
		}
		n.Scopes[at] = n.take(goname.Local(idPrefix+name+"_node"), at.ID.Span)
	}
}
