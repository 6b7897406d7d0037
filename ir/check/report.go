package check

import (
	"fmt"
	"strings"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/ir/source"
)

// unknownField reports a named value that nothing asks for.
func (c *checker) unknownField(key ir.Ident, to *schema.Type, what string) {
	d := diag.Diagnostic{Code: diag.UnknownField, Span: key.Span, Message: fmt.Sprintf("there is no %s %q", nameOf(what), key.Name)}
	if len(to.Fields) == 0 {
		d.Help = "it takes none; remove it"
	} else {
		diag.Suggest(&d, key.Name, to.FieldNames())
	}
	d.Related = c.declared(to)
	c.report(d)
}

// nameOf turns "input of search" into words that fit before a quoted name.
func nameOf(what string) string { return what }

// missing reports required fields that were not given.
func (c *checker) missing(names []string, at source.Span, to *schema.Type, what string) {
	list := "\"" + strings.Join(names, "\", \"") + "\""
	is := "is"
	if len(names) > 1 {
		is = "are"
	}
	c.report(diag.Diagnostic{Code: diag.MissingField, Span: at, Message: fmt.Sprintf("%s %s %s missing", what, list, is),
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
