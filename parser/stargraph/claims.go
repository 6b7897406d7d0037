package stargraph

import (
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// claim files a capability that a run needs besides those of the tools that its nodes call.
func (p *parser) claim(id ir.Ident) {
	if !slices.ContainsFunc(p.wf.Claims, func(c ir.Ident) bool { return c.Name == id.Name }) {
		p.wf.Claims = append(p.wf.Claims, id)
	}
}

// storeClaims are what the engine derives from stores: to read and to write each.
func (p *parser) storeClaims(stores []dialect.Mapping) {
	for _, m := range stores {
		if n := m.Get("name"); n != nil && n.Text.Value != "" {
			p.claim(ir.Ident{Name: "db." + n.Text.Value + ":read", Span: n.Span})
			p.claim(ir.Ident{Name: "db." + n.Text.Value + ":write", Span: n.Span})
		}
	}
}

// toolClaims are what the tools need that the document lists: the engine looks at them when a run begins, whether nodes call
// them or not.
func (p *parser) toolClaims(tools []dialect.Mapping) {
	for _, m := range tools {
		n := m.Get("id")
		if n == nil {
			continue
		}
		key := n.Text.Value
		if v := m.Get("version"); !strings.Contains(key, "@") && v != nil {
			key += "@" + v.Text.Value
		} else if !strings.Contains(key, "@") {
			key += "@1"
		}
		for _, claim := range p.permissions(key) {
			p.claim(ir.Ident{Name: claim, Span: n.Span})
		}
	}
}

// permissions are those of the tool that a registry key stands for; none when there is no such tool.
func (p *parser) permissions(key string) []string {
	for _, t := range p.wf.Tools {
		if t.FullName() == key {
			return t.Permissions
		}
	}
	if key == pythonExec {
		return []string{execCapability}
	}
	if b, ok := builtins[key]; ok {
		return b.permissions
	}
	if p.opts.Python != nil {
		tools, _ := p.opts.Python.Tools(p.File, modules)
		for _, t := range tools {
			if t.FullName() == key {
				return t.Permissions
			}
		}
	}
	return nil
}
