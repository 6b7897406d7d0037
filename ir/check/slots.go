package check

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/goname"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// Slots are the tools of a program that the one which embeds it brings, in the order of the files: the first of each that
// steps call.
func (p *Program) Slots() []*ir.Tool {
	used := map[*ir.Tool]bool{}
	for _, s := range p.Table {
		for _, t := range s.Tools() {
			used[t] = true
		}
	}
	var out []*ir.Tool
	seen := map[string]bool{}
	for _, f := range append([]*Program{p}, p.Flows...) {
		for _, t := range f.WF.Tools {
			if s, ok := t.Binding.(*ir.SlotTool); ok && s.StandIn == nil && used[t] && !seen[s.Name.Name] {
				seen[s.Name.Name] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// slots names the methods of the interface Slots, which are called as what they stand for: FetchPage for
// acme.nodes:FetchPage. Where two of them meet, the later one has the entire name.
func (n *Names) slots(programs []*Program) {
	methods, taken := map[string]string{}, map[string]bool{}
	for _, p := range programs {
		for _, t := range p.WF.Tools {
			s, ok := t.Binding.(*ir.SlotTool)
			if !ok {
				continue
			}
			n.taken["Slots"] = source.Span{}
			name := s.Name.Name
			if methods[name] == "" {
				short := goname.Exported(name[strings.LastIndexAny(name, ".:")+1:])
				if taken[short] {
					short = free(goname.Exported(strings.NewReplacer(".", "_", ":", "_").Replace(name)), func(s string) bool { return taken[s] })
				}
				methods[name], taken[short] = short, true
			}
			n.Slots[t] = methods[name]
		}
	}
}

// Providers are the providers of models that the program which embeds this one brings, as they are declared, in the order
// in which steps ask their models.
func (p *Program) Providers() []ir.Ident {
	var out []ir.Ident
	for _, s := range p.Table {
		for _, m := range s.Models() {
			if !m.Provided {
				continue
			}
			name, _ := m.Split()
			if !slices.ContainsFunc(out, func(x ir.Ident) bool { return x.Name == name }) {
				out = append(out, ir.Ident{Name: name, Span: m.Model.Span})
			}
		}
	}
	return out
}
