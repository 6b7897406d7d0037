package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// unknownFields reports named values that nothing asks for, and returns the missing ones that none of them explains: a
// misspelled name, or one that was renamed elsewhere, is one mistake.
func (c *checker) unknownFields(unknown []ir.Ident, missing []string, to *schema.Type, owner, kind string) []string {
	renamed := len(unknown) == 1 && len(missing) == 1
	for _, key := range unknown {
		d := diag.Diagnostic{Code: diag.UnknownField, Span: key.Span, Message: fmt.Sprintf("%s has no %s %q", owner, kind, key.Name), Related: c.declared(to)}
		near := ""
		if c.suggesting() {
			near = diag.Nearest(key.Name, missing)
		}
		if renamed {
			near = missing[0]
		}
		switch {
		case near != "":
			d.Fixes = []diag.Fix{diag.Replace(key.Span, near)}
			d.Help = d.Fixes[0].Title
			missing = slices.DeleteFunc(slices.Clone(missing), func(m string) bool { return m == near })
		case len(to.Fields) == 0:
			d.Help = "it has none; remove it"
		case c.suggesting():
			diag.Suggest(&d, key.Name, to.FieldNames())
		}
		c.report(d)
	}
	return missing
}

// missing reports required fields that were not given.
func (c *checker) missing(names []string, at source.Span, to *schema.Type, owner, kind string) {
	if len(names) > 1 {
		kind += "s"
	}
	c.report(diag.Diagnostic{Code: diag.MissingField, Span: at, Message: fmt.Sprintf("%s needs %s \"%s\"", owner, kind, strings.Join(names, "\", \"")),
		Help: "add " + strings.Join(names, ", "), Related: c.declared(to)})
}

// declared is where a type is declared, when that is known: in the file, or in the Go source of a tool.
func (c *checker) declared(t *schema.Type) []diag.Related {
	if t.Decl != nil {
		return related(t.Decl.Span, t.Decl.Name+" is declared here")
	}
	if b := c.bindingOf(t); b != nil {
		return related(b.PosSpan, b.Package+"."+b.Func+" is declared here")
	}
	for _, tool := range c.wf.Tools {
		if d := tool.Def; d != nil && tool.In == t {
			return related(d.Span, d.Name+" is defined here")
		}
	}
	return nil
}

// bindingOf finds the Go function whose input a type is.
func (c *checker) bindingOf(t *schema.Type) *ir.GoBinding {
	for _, tool := range c.wf.Tools {
		if g, ok := tool.Binding.(*ir.GoTool); ok && g.Func.Bind != nil && (g.Func.Bind.In == t || tool.In == t) {
			return g.Func.Bind
		}
	}
	return nil
}

// blame adds to the last error the place of the Go field or declaration that asks for something else.
func (c *checker) blame(f *schema.Field) {
	switch c.sink.Last() {
	case diag.TypeMismatch, diag.BadLiteral, diag.EnumValue, diag.MissingField, diag.OptionalUse:
	default:
		return // the mistake is inside of the value
	}
	for _, tool := range c.wf.Tools {
		g, ok := tool.Binding.(*ir.GoTool)
		if !ok || g.Func.Bind == nil {
			continue
		}
		for _, in := range g.Func.Bind.In.Fields {
			if in == f {
				c.sink.Relate(related(g.Func.Bind.PosSpan, fmt.Sprintf("%s.%s takes %s %s", g.Func.Bind.Package, g.Func.Bind.Func, f.Name, f.Type)))
				return
			}
		}
	}
	if !f.Span.IsZero() {
		c.sink.Relate(related(f.Span, f.Name+" is declared here as "+f.Type.String()))
	}
}
