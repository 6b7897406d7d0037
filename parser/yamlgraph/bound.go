package yamlgraph

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// bindings reads flowgen.bindings.yaml next to the graph: a tool in it takes the place of the python tool of its name.
func (p *parser) bindings() {
	if p.load == nil {
		return
	}
	p.load.Bindings(p.wf)
	p.bound = map[string]*ir.Tool{}
	for _, t := range p.wf.Tools {
		key, _, _ := strings.Cut(t.Key.Name, "@")
		p.bound[key] = t
	}
}

// replaced are the python tools that others take the place of, in the order of the file: a tool_call node knows them, too.
func (p *parser) replaced(at ir.Ident) []ir.Ident {
	var out []ir.Ident
	for _, name := range p.bindable {
		out = append(out, ir.Ident{Name: name, Span: at.Span})
	}
	return out
}
