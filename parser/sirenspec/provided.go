package sirenspec

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// provided are the functions that converted workflows call: the guardrails, placeholders, what becomes of failures, and text
// of Python.
var provided = func() ir.Provided {
	number := &schema.Type{Kind: schema.Int, Go: &schema.Go{Name: "int"}}
	entities := &ir.GoParam{Name: "entities", Type: schema.ListOf(schema.StringType)}
	guard := func(name string, more ...*ir.GoParam) *ir.GoBinding {
		return dialect.Provide("sirenspec", name, schema.StringType, append([]*ir.GoParam{{Name: "text", Type: schema.StringType}}, more...)...)
	}
	param := func(name string, t *schema.Type) *ir.GoParam { return &ir.GoParam{Name: name, Type: t} }
	v, path, place := param("v", schema.AnyType), param("path", schema.ListOf(schema.StringType)), param("place", schema.StringType)
	instead := param("instead", schema.StringType)
	function := func(name string, out *schema.Type, params ...*ir.GoParam) *ir.GoBinding {
		return dialect.Provide("sirenspec", name, out, params...)
	}
	sure := func(b *ir.GoBinding) *ir.GoBinding {
		b.Err = false
		return b
	}
	return ir.Provided{Functions: []*ir.GoBinding{
		guard("Uninjected"),
		guard("Shortened", &ir.GoParam{Name: "most", Type: number}),
		guard("Short", &ir.GoParam{Name: "most", Type: number}),
		guard("Redacted", entities, &ir.GoParam{Name: "instead", Type: schema.StringType}),
		guard("Impersonal", entities),
		guard("Fitting", &ir.GoParam{Name: "schema", Type: schema.StringType}),
		function("PartText", schema.StringType, v, path),
		function("PartOr", schema.StringType, v, path, instead),
		function("JSONOr", schema.StringType, v, path, instead),
		function("GivenText", schema.StringType, v, place),
		function("GivenOr", schema.StringType, v, place, instead),
		function("ItemText", schema.StringType, v),
		function("ItemOr", schema.StringType, v, instead),
		sure(function("Lines", schema.StringType, v)),
		function("ListOf", schema.ListOf(schema.AnyType), v, path),
		function("ListOr", schema.ListOf(schema.AnyType), v, path, instead),
		function("Instances", schema.AnyType, param("results", schema.AnyType), param("continued", schema.BoolType)),
		sure(function("Concluded", schema.AnyType, param("text", schema.OptOf(schema.StringType, "")), param("answers", schema.ListOf(schema.StringType)))),
		sure(function("Truth", schema.OptOf(schema.BoolType, ""), v, path)),
		sure(function("Size", schema.OptOf(schema.IntType, ""), v, path)),
		sure(function("Compare", schema.OptOf(schema.BoolType, ""), v, path, param("is", schema.StringType), param("to", schema.AnyType))),
		sure(function("CompareParts", schema.OptOf(schema.BoolType, ""), v, path, param("is", schema.StringType), param("to", schema.AnyType), param("below", schema.ListOf(schema.StringType)))),
		function("Recalled", schema.AnyType, param("dir", schema.StringType), param("ttl", number)),
		function("Remembered", schema.AnyType, param("dir", schema.StringType), param("memory", schema.AnyType), path, v),
		sure(function("Written", schema.AnyType, v)),
		function("Chosen", schema.AnyType, param("answer", schema.AnyType), param("skip", schema.BoolType)),
		function("Again", schema.DurationType, param("code", schema.StringType), param("message", schema.StringType), param("details", schema.AnyType),
			param("tried", number), param("attempts", number), param("on", schema.ListOf(schema.StringType)), param("guards", schema.BoolType),
			param("backoff", schema.StringType), param("base", schema.FloatType), param("most", schema.FloatType)),
		dialect.PyText(),
	}}
}()
