package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// steps emits a graph in which several tokens may be on their way: what each node does, and which nodes come after it.
func (b *tokenBody) steps() {
	var first, do, exits []jen.Code
	for _, s := range b.p.Tokens.First {
		first = append(first, b.node(s))
	}
	for _, s := range b.p.Body.Steps {
		do = append(do, jen.Case(b.node(s)).Block(b.branch(s, "flow")...))
		if to := b.exits(s); len(to) > 0 {
			exits = append(exits, jen.Case(b.node(s)).Block(to...))
		}
	}
	at := jen.Id("at").Op("*").Qual(runtimePath, "Node")
	next := []jen.Code{jen.Switch(jen.Id("at")).Block(exits...), jen.Return(jen.Nil())}
	if len(exits) == 0 {
		next = next[1:]
	}
	b.add(jen.If(jen.Err().Op(":=").Id("flow").Dot("Steps").Call(jen.Id("run"), jen.Qual(graphPath, "To").Call(first...),
		jen.Func().Params(jen.Id("run").Op("*").Qual(runtimePath, "Run"), jen.Id("flow").Op("*").Qual(graphPath, "Flow"), at).Error().
			Block(jen.Switch(jen.Id("at")).Block(do...), jen.Return(jen.Nil())),
		jen.Func().Params(at).Index().Op("*").Qual(runtimePath, "Node").Block(next...)),
		jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("out"), jen.Err())))
	b.add(b.done())
}

// exits emits which nodes come after a step: those of all plain edges, and of the first edge whose condition holds.
func (b *tokenBody) exits(s *check.Step) []jen.Code {
	var plain, routed, ways []jen.Code
	tests := 0
	var spent *check.Step
	s.Exits(func(e *ir.Exit, to *check.Step) {
		if e.Spent {
			spent = to
		} else if e.When != nil {
			tests++
		} else if e.Routed {
			routed = append(routed, b.place(to))
			if to != nil {
				ways = append(ways, jen.Case(quote(to.Node.ID.Name)).Block(jen.Return(jen.Qual(graphPath, "To").Call(b.node(to)))))
			}
		} else if to != nil {
			plain = append(plain, b.node(to))
		}
	})
	to := func(nodes []jen.Code) jen.Code {
		if len(nodes) == 0 {
			return jen.Return(jen.Nil())
		}
		return jen.Return(jen.Qual(graphPath, "To").Call(nodes...))
	}
	var out []jen.Code
	if tests > 0 {
		var cases []jen.Code
		s.Exits(func(e *ir.Exit, target *check.Step) {
			if e.When == nil {
				return
			}
			nodes := plain[:len(plain):len(plain)]
			if target != nil {
				nodes = append(nodes, b.node(target))
			}
			cases = append(cases, jen.Case(b.holds(e.When, 0)).Block(to(nodes)))
		})
		if b.limited() {
			nodes := plain[:len(plain):len(plain)]
			if spent != nil {
				nodes = append(nodes, b.node(spent))
			}
			cases = append([]jen.Code{jen.Case(jen.Id("flow").Dot("Limited").Call()).Block(to(nodes))}, cases...)
		}
		out = append(out, jen.Switch().Block(cases...))
	}
	if len(ways) > 0 {
		out = append(out, jen.Switch(jen.Id("flow").Dot("Route").Call(routed...)).Block(ways...))
	}
	if len(plain) > 0 {
		out = append(out, to(plain))
	}
	return out
}
