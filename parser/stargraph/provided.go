package stargraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// modules stand in for the engine and for Pydantic.
var modules = &ir.PythonModules{Package: "stargraph", Path: runtimePackage + "/pyclass"}

// provided is what converted workflows name, and native ones with Python nodes of the engine.
var provided = ir.Provided{
	Functions: append(texts(), dialect.ProvideIn("stargraph/nautilus", "Ask", "Request", schema.AnyType,
		&schema.Field{Name: "agent_id", GoName: "AgentID", Type: schema.StringType}, &schema.Field{Name: "intent", GoName: "Intent", Type: schema.StringType})),
	Instead: map[string]string{nautilusPackage + ".BrokerRequest": nautilusPackage + ".Ask"},
	Modules: []*ir.PythonModules{modules},
}

// texts are the functions that write artifacts, and those that format values, one for each type.
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
	return all
}
