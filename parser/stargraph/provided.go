package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// modules stand in for the engine and for Pydantic.
var modules = &ir.PythonModules{Package: "stargraph", Path: runtimePackage + "/pyclass", Effects: []string{"none", "read", "write", "external"}, Decorator: []string{"name", "namespace", "version", "side_effects",
	"replay_policy", "requires_capability", "input_schema", "output_schema", "description", "idempotency_key", "cost_estimate"}}

// provided is what converted workflows name, and native ones with Python nodes of the engine.
var provided = ir.Provided{
	Functions: append(texts(), dialect.ProvideIn("stargraph/nautilus", "Ask", "Request", schema.AnyType,
		&schema.Field{Name: "agent_id", GoName: "AgentID", Type: schema.StringType}, &schema.Field{Name: "intent", GoName: "Intent", Type: schema.StringType})),
	Instead: map[string]string{nautilusPackage + ".BrokerRequest": nautilusPackage + ".Ask"},
	Modules: []*ir.PythonModules{modules},
}

// texts are the functions that write artifacts, format values, one for each type, and read parts of them.
func texts() (all []*ir.GoBinding) {
	typed := func(name string) *schema.Type {
		return map[string]*schema.Type{"String": schema.StringType, "Text": schema.StringType, "Int": schema.IntType, "Float": schema.FloatType,
			"Bool": schema.BoolType, "Bytes": schema.BytesType, "Value": schema.AnyType}[name]
	}
	for _, name := range []string{"Text", "Bytes", "Value"} {
		b := dialect.Provide("stargraph", "Write"+name, schema.AnyType, param("content", typed(name)), param("name", schema.StringType),
			param("contentType", schema.StringType), param("metadata", schema.AnyType))
		b.Context = true
		all = append(all, b)
	}
	for _, name := range []string{"String", "Int", "Float", "Bool", "Bytes", "Value"} {
		all = append(all, dialect.Provide("stargraph", "Format"+name, schema.StringType, param("value", typed(name)), param("format", schema.StringType)))
	}
	trace := dialect.Provide("stargraph/react", "Trace", schema.AnyType, param("calls", schema.MapOf(schema.EnvelopeType)), param("order", schema.ListOf(schema.StringType)))
	trace.Err = false
	hits := schema.ListOf(schema.ListOf(schema.StringType))
	for _, b := range []*ir.GoBinding{
		dialect.Provide("stargraph", "Citations", schema.ListOf(schema.StringType), param("hits", hits)),
		dialect.Provide("stargraph", "Context", schema.StringType, param("hits", hits)),
	} {
		b.Err = false
		all = append(all, b)
	}
	calculator := dialect.Provide("stargraph/std", "Calculator", schema.AnyType, param("expression", schema.StringType))
	calculator.Context = true
	member := dialect.Provide("stargraph", "FormatMember", schema.StringType, param("member", schema.StringType), param("format", schema.StringType), param("names", schema.MapOf(schema.StringType)))
	return append(all, trace, calculator, member, dialect.PyText(), dialect.Provide("stargraph", "Member", schema.AnyType, param("v", schema.AnyType), param("path", schema.ListOf(schema.StringType))))
}
