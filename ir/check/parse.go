package check

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/schema"
)

// parse types a node that reads a typed value out of dynamic data.
func (c *checker) parse(s *Step, v *ir.Parse, e *env) {
	if v.Out != nil {
		s.Node.Result = v.Out
	}
	if v.Value == nil {
		return
	}
	t := c.inferred(v.Value, e)
	s.Data = &Expected{Value: v.Value, Type: t}
	d := diag.Diagnostic{Code: diag.TypeMismatch, Span: v.Value.Source(), Message: fmt.Sprintf("`parse` reads a value of type any, string or bytes, and this is %s", t),
		Help: "remove the node: the value has a type already"}
	switch t.Kind {
	case schema.Any, schema.String, schema.Bytes, schema.Invalid:
		return
	case schema.Opt:
		d.Code = diag.OptionalUse
		d.Message = "`parse` needs a value, and this may be absent: " + t.Why
		d.Help = "add `when: " + exprText(v.Value) + " != null` to the node, or make the node depend on it"
	}
	c.report(d)
}
