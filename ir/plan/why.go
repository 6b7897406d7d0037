package plan

import "github.com/flowgen-dev/flowgen/ir/check"

// Why describes a workflow as Of does, and says of each step which nodes it comes after, and why. Programs carry their plan
// without that: who reads the order has the source.
func Why(p *check.Program) *Plan {
	out := Of(p)
	explain(out.Parts, p.Body)
	for i, f := range p.Flows {
		explain(out.Flows[i].Parts, f.Body)
	}
	return out
}

func explain(parts []*Part, b *check.Body) {
	if b == nil || b.IR.Block != nil {
		return
	}
	for _, p := range parts {
		inside := b
		if p.Kind == "step" {
			s := b.Step(p.Node)
			if s == nil {
				continue
			}
			for _, f := range s.Follows() {
				p.Follows = append(p.Follows, Follows{f.Step.Node.ID.Name, f.Why})
			}
			inside = s.Body
		}
		explain(p.Parts, inside)
	}
}
