package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// provided are the functions that converted workflows call: the guardrails, and text of Python.
var provided = func() ir.Provided {
	number := &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}
	entities := &ir.GoParam{Name: "entities", Type: schema.ListOf(schema.StringType)}
	guard := func(name string, more ...*ir.GoParam) *ir.GoBinding {
		return dialect.Provide("sirenspec", name, schema.StringType, append([]*ir.GoParam{{Name: "text", Type: schema.StringType}}, more...)...)
	}
	return ir.Provided{Functions: []*ir.GoBinding{
		guard("Uninjected"),
		guard("Shortened", &ir.GoParam{Name: "most", Type: number}),
		guard("Short", &ir.GoParam{Name: "most", Type: number}),
		guard("Redacted", entities, &ir.GoParam{Name: "instead", Type: schema.StringType}),
		guard("Impersonal", entities),
		guard("Fitting", &ir.GoParam{Name: "schema", Type: schema.StringType}),
		dialect.PyText(),
	}}
}()
