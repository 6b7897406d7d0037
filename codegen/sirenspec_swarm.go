package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// swarm emits a swrm node.
func (b *contextBody) swarm(s *check.Step, v *ir.Swarm) {
	id := s.Node.ID.Name
	own, _ := b.place("working", []string{id})
	said := jen.Id(ident(b.local(s)))
	b.add(jen.List(said, jen.Err()).Op(":=").Qual(sirenPath, "Swarm").Call(b.voices(s, v, jen.Op("&").Add(own))...), b.returnErr())
	b.gave(s, said)
}

// voices are the arguments of the call of a swarm, which puts what its agents say below own.
func (b *contextBody) voices(s *check.Step, v *ir.Swarm, own jen.Code) []jen.Code {
	var agents []jen.Code
	for i := range v.Agents() {
		agents = append(agents, jen.Custom(braces(true), b.voice(s.Body.Steps[i])...))
	}
	fields := []jen.Code{field("Agents", jen.Index().Qual(sirenPath, "Voice").Custom(braces(true), agents...))}
	if v.Parallel > 0 && v.Parallel < len(agents) {
		fields = append(fields, field("Side", jen.Lit(v.Parallel)))
	}
	if v.Keep {
		fields = append(fields, field("Keep", jen.True()))
	}
	if b.counts() {
		fields = append(fields, field("Flow", jen.Id("flow")))
	}
	if v.Synthesis {
		last := s.Body.Steps[len(s.Body.Steps)-1]
		fields = append(fields, field("Last", jen.Func().Params().Qual(sirenPath, "Voice").Block(
			jen.Return(jen.Qual(sirenPath, "Voice").Custom(braces(true), b.voice(last)...)))))
	}
	return []jen.Code{jen.Id("run"), b.node(s), own, jen.Qual(sirenPath, "Voices").Custom(braces(true), fields...)}
}

// voice is what an agent of a swarm is asked.
func (b *contextBody) voice(s *check.Step) []jen.Code {
	d := s.Node.Dynamic
	var fields []jen.Code
	if id := d.Context.OutputKey; id != "" {
		fields = append(fields, field("ID", quote(id)))
	}
	fields = append(fields, field("Node", b.node(s)), field("Model", jen.Id(ident(b.g.p.Names.Models[s.Ask.Model]))), field("Prompt", b.template(d.Prompt)))
	if len(d.Context.Guards) > 0 {
		fields = append(fields, field("Guards", b.guards(d.Context.Guards)))
	}
	return fields
}
