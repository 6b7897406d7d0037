package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// dynamicField is the Go type of values that nothing is known about.
var dynamicField = &schema.Go{Path: schema.RuntimePath + "/dynamic", Name: "Field"}

// given declares an input that a placeholder reads: what a workflow that runs this one binds to it, or the command line.
func (p *parser) given(r *ir.Reference) {
	name := r.Path[0]
	if !idForm.MatchString(name) {
		return // nothing can have that name: the node fails when it runs
	}
	for _, f := range p.wf.Input {
		if f.Name == name {
			return
		}
	}
	t := *schema.OptOf(schema.AnyType, "")
	t.Go = dynamicField
	p.wf.Input = append(p.wf.Input, &schema.Field{Name: name, Type: &t, Span: r.Text.Span, Omit: true})
}
