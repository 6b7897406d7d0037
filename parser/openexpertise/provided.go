package openexpertise

import (
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/schema"
	"github.com/flowgen-dev/flowgen/parser/dialect"
)

// provided is what converted workflows name.
var provided = func() ir.Provided {
	shown := dialect.Provide("openexpertise", "Shown", schema.StringType, &ir.GoParam{Name: "in", Type: schema.AnyType},
		&ir.GoParam{Name: "path", Type: schema.ListOf(schema.StringType)}, &ir.GoParam{Name: "placeholder", Type: schema.StringType})
	shown.Err = false
	told := dialect.Provide("openexpertise", "Told", schema.StringType, &ir.GoParam{Name: "in", Type: schema.AnyType})
	seen := dialect.Provide("openexpertise", "Seen", schema.MapOf(schema.AnyType), &ir.GoParam{Name: "in", Type: schema.MapOf(schema.AnyType)})
	told.Err, seen.Err = false, false
	return ir.Provided{Functions: []*ir.GoBinding{shown, told, seen,
		dialect.Provide("openexpertise", "When", schema.BoolType, &ir.GoParam{Name: "condition", Type: schema.StringType}, &ir.GoParam{Name: "state", Type: schema.AnyType}),
		dialect.ProvideIn("openexpertise", "Records", "RecordsFile", schema.ListOf(schema.AnyType),
			&schema.Field{Name: "uri", GoName: "URI", Type: schema.StringType},
			&schema.Field{Name: "format", GoName: "Format", Type: &schema.Type{Kind: schema.Enum, Values: []string{"json", "jsonl", "csv", "parquet"}, Go: &schema.Go{Name: "string"}}}),
		dialect.ProvideIn("openexpertise/sqlite", "Records", "Query", schema.ListOf(schema.AnyType),
			&schema.Field{Name: "uri", GoName: "URI", Type: schema.StringType}, &schema.Field{Name: "query", GoName: "Query", Type: schema.StringType}),
	}}
}()
