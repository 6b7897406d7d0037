package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/check"
)

// remembering is the step that reads the memory of a workflow; nil: nothing keeps values after the run.
func remembering(p *check.Program) *check.Step {
	for _, s := range p.Body.Steps {
		if s.Tool != nil {
			if _, ok := s.Tool.Binding.(*ir.MemoryTool); ok {
				return s
			}
		}
	}
	return nil
}

// forgotten declares the memory of a workflow that names one and has none.
func (b *contextBody) forgotten() {
	if b.p.WF.Dynamic.Memory && remembering(b.p) == nil {
		b.add(jen.Id("memory").Op(":=").Qual(dynamicPath, "Object").Call())
	}
}

// recall emits the reading of the memory.
func (b *contextBody) recall(s *check.Step) {
	b.add(jen.List(jen.Id("memory"), jen.Err()).Op(":=").Qual(sirenPath, "Recall").Call(jen.Id("run"), b.node(s), jen.Id(ident(b.g.p.Names.Tools[s.Tool]))), b.returnErr())
}

// remember emits the keeping of what a node has written to memory.
func (b *contextBody) remember(s *check.Step) {
	w, kept := s.Node.Dynamic.Context.Writes, remembering(b.p)
	if len(w) < 2 || w[0] != "memory" || kept == nil {
		return
	}
	b.add(jen.If(jen.Err().Op(":=").Qual(sirenPath, "Remember").Call(jen.Id("run"), b.node(kept), jen.Id(ident(b.g.p.Names.Tools[kept.Tool])), jen.Id("memory"), quote(w[1])),
		jen.Err().Op("!=").Nil()).Block(jen.Return(append(b.fail, jen.Err())...)))
}
