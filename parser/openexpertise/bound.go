package openexpertise

import (
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
)

// Tools of flowgen.bindings.yaml take the place of modules: a tool replaces the module whose file has its name, without the
// end and whatever is between its words, or else the module of the node with that id.

// bindings reads them.
func (p *parser) bindings() {
	p.load.Bindings(p.wf)
	for _, t := range p.wf.Tools {
		key, _, _ := strings.Cut(t.Key.Name, "@")
		p.bound[plain(key)] = t
	}
}

// plain is a name without what is between its words.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}

// replaced is the tool that takes the place of a module, nil when none does.
func (p *parser) replaced(impl, id string) *ir.Tool {
	for _, name := range []string{plain(stem(impl)), plain(id)} {
		if t := p.bound[name]; t != nil {
			return t
		}
	}
	return nil
}
