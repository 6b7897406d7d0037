package yamlgraph

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// provided is what converted graphs name, so that most of them need no Go module.
var provided = func() ir.Provided {
	param := func(name string, t *schema.Type) *ir.GoParam { return &ir.GoParam{Name: name, Type: t} }
	dyn, text := schema.AnyType, schema.StringType
	of, path := param("of", dyn), schema.ListOf(schema.StringType)
	never := func(f *ir.GoBinding) *ir.GoBinding {
		f.Err = false
		return f
	}
	either := never(dialect.Provide("yamlgraph", "Either", dyn, of, param("other", dyn)))
	either.Reducer = true // by its form
	return ir.Provided{Functions: []*ir.GoBinding{
		never(dialect.Provide("yamlgraph", "FindJSON", dyn, param("text", text))),
		never(dialect.Provide("yamlgraph", "Holds", schema.BoolType, of, param("at", path), param("is", text), param("than", dyn))),
		never(dialect.Provide("yamlgraph", "Truth", schema.BoolType, of)),
		never(dialect.Provide("yamlgraph", "At", dyn, of, param("path", path))),
		either,
		never(dialect.Provide("yamlgraph", "Label", text, of, param("field", text))),
		never(dialect.Provide("yamlgraph", "Filled", text, of, param("written", text))),
		never(dialect.Provide("yamlgraph", "Joined", text, of)),
		dialect.Provide("yamlgraph", "Calculate", dyn, param("left", dyn), param("op", text), param("right", dyn)),
		never(dialect.Provide("yamlgraph", "Calculated", dyn, param("left", dyn), param("op", text), param("right", dyn))),
		dialect.Provide("yamlgraph", "Items", schema.ListOf(schema.AnyType), of, param("node", text)),
	}}
}()
